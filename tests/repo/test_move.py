"""The work tree follows the branch: interrupted anywhere it is finished or taken back, and no edit is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonwealth.errors import Busy, Refused
from commonwealth.repo.git import Git
from commonwealth.repo.kept import read_bases
from commonwealth.repo.move import move
from commonwealth.repo.recovery import recover

from .brains import first_brain, head, plain, put, status, tree
from .linenotes import CONTENT, remember

A, B, C = (f"memory/2026-07/{name}.md" for name in "abc")


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    folder = first_brain(tmp_path / "brain")
    for path in (A, B):
        put(folder, path, "tags: x\ntitle: t\n")
    put(folder, ".gitignore", "/index/\n")
    plain(folder, "add", "-A")
    plain(folder, "commit", "-qm", "base")
    return folder


def elsewhere(brain: Path, tmp_path: Path, files: dict[str, str | None]) -> str:
    """A commit on top of HEAD made in another clone, whose objects are here."""
    other = tmp_path / "other"
    plain(tmp_path, "clone", "-q", str(brain), str(other))
    for path, text in files.items():
        if text is None:
            (other / path).unlink()
        else:
            put(other, path, text)
    plain(other, "add", "-A")
    plain(other, "commit", "-qm", "elsewhere")
    plain(brain, "fetch", "-q", str(other), "main:refs/heads/elsewhere")
    return head(other)


def go(brain: Path, new: str) -> tuple[str, ...]:
    return move(Git(brain), "main", head(brain), new, CONTENT)


CHANGES: dict[str, str | None] = {A: "tags: x\ntitle: new\n", B: None, C: "title: c\n"}


def test_files_index_and_branch_follow(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    assert go(brain, new) == ()
    assert head(brain) == new
    assert status(brain) == ""
    assert tree(brain) == tree(tmp_path / "other")
    assert not (brain / ".git/commonwealth/journal").exists()


def test_an_edit_by_hand_is_merged_and_stays_uncommitted(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    put(brain, A, "tags: mine\ntitle: t\n")
    go(brain, new)
    assert (brain / A).read_text(encoding="utf-8") == "tags: mine\ntitle: new\n"
    assert status(brain) == f" M {A}\n"


def test_a_file_added_by_hand_meets_the_same_file(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    put(brain, C, "text: mine\n")
    go(brain, new)
    assert (brain / C).read_text(encoding="utf-8") == "text: mine\ntitle: c\n"


def test_an_edit_outlives_a_deletion_elsewhere_and_a_deletion_does_not_outlive_an_edit(
    brain: Path, tmp_path: Path
) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    put(brain, B, "tags: mine\ntitle: t\n")
    (brain / A).unlink()
    warnings = go(brain, new)
    assert (brain / B).read_text(encoding="utf-8") == "tags: mine\ntitle: t\n"
    assert (brain / A).read_text(encoding="utf-8") == "tags: x\ntitle: new\n"
    assert len(warnings) == 2
    assert status(brain) == f"?? {B}\n"


def test_an_unreadable_edit_is_kept_with_what_it_was_made_from(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    base = plain(brain, "rev-parse", f"HEAD:{A}").strip()
    put(brain, A, "half a line")
    warnings = go(brain, new)
    assert (brain / A).read_text(encoding="utf-8") == "half a line"
    assert A in warnings[0]
    assert read_bases(Git(brain)) == {A: base}


def test_a_stray_in_the_way_is_kept(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, {"README.md": "theirs\n", "extra.txt": "theirs\n"})
    put(brain, "README.md", "mine\n")
    put(brain, "extra.txt", "mine\n")
    assert len(go(brain, new)) == 2
    assert (brain / "README.md").read_text(encoding="utf-8") == "mine\n"
    assert (brain / "extra.txt").read_text(encoding="utf-8") == "mine\n"


def test_what_is_staged_elsewhere_stays_staged(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    put(brain, "README.md", "mine\n")
    plain(brain, "add", "README.md")
    go(brain, new)
    assert status(brain) == "M  README.md\n"


def test_a_branch_moved_by_other_hands_is_busy_and_changes_nothing(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    with pytest.raises(Busy):
        move(Git(brain), "main", new, new, CONTENT)
    assert status(brain) == ""


POINTS = ("move-journal", "move-half", "move-files", "move-index", "move-done")


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_interrupted_move_is_finished(
    brain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, error: str
) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    put(brain, "memory/2026-07/mine.md", "title: mine\n")
    monkeypatch.setenv("COMMONWEALTH_FAULT", f"{point}={error}")
    monkeypatch.setattr("commonwealth.faults._seen", {})
    with pytest.raises(OSError, match="move-"):
        go(brain, new)
    monkeypatch.delenv("COMMONWEALTH_FAULT")
    recover(Git(brain), CONTENT)
    assert head(brain) == new
    assert status(brain) == "?? memory/2026-07/mine.md\n"
    (brain / "memory/2026-07/mine.md").unlink()
    assert tree(brain) == tree(tmp_path / "other")
    assert recover(Git(brain), CONTENT) == ()


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_commit_by_hand_after_an_interrupted_move_reverts_nothing(
    brain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    monkeypatch.setenv("COMMONWEALTH_FAULT", f"{point}=EIO")
    monkeypatch.setattr("commonwealth.faults._seen", {})
    with pytest.raises(OSError, match="move-"):
        go(brain, new)
    monkeypatch.delenv("COMMONWEALTH_FAULT")
    put(brain, "README.md", "by hand\n")
    plain(brain, "commit", "-q", "-am", "by hand")
    assert plain(brain, "merge-base", "--is-ancestor", new, "HEAD", check=False) == ""
    recover(Git(brain), CONTENT)
    assert status(brain) == ""
    assert tree(brain)["README.md"] == b"by hand\n"
    assert not (brain / ".git/commonwealth/journal").exists()


def test_recovery_on_another_branch_waits_and_says_so(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    journal = brain / ".git/commonwealth/journal"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text(json.dumps({"branch": "main", "old": head(brain), "new": new}), encoding="utf-8")
    plain(brain, "switch", "-qc", "other")
    with pytest.raises(Refused, match="main"):
        recover(Git(brain), CONTENT)
    assert journal.exists()
    plain(brain, "switch", "-q", "main")
    recover(Git(brain), CONTENT)
    assert head(brain) == new


def test_a_write_finishes_an_interrupted_move_first(brain: Path, tmp_path: Path) -> None:
    new = elsewhere(brain, tmp_path, CHANGES)
    journal = brain / ".git/commonwealth/journal"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text(json.dumps({"branch": "main", "old": head(brain), "new": new}), encoding="utf-8")
    sha = remember(brain, "d", "title: d\n")
    assert plain(brain, "rev-parse", f"{sha}^").strip() == new
    assert status(brain) == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"branch": 1}', '{"branch": "main", "old": null, "new": "0"}'])
def test_a_journal_that_makes_no_sense_is_dropped(brain: Path, text: str) -> None:
    journal = brain / ".git/commonwealth/journal"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text(text, encoding="utf-8")
    recover(Git(brain), CONTENT)
    assert not journal.exists()
    assert status(brain) == ""


@pytest.mark.parametrize("links", ["true", "false"])
def test_a_link_from_elsewhere_is_a_text_file_and_stays_unstaged(brain: Path, tmp_path: Path, links: str) -> None:
    plain(brain, "config", "core.symlinks", links)
    other = tmp_path / "elsewhere"
    plain(tmp_path, "clone", "-q", str(brain), str(other))
    (other / "memory/link.md").symlink_to("/etc/passwd")
    plain(other, "add", "-A")
    plain(other, "commit", "-qm", "link")
    new = head(other)
    plain(brain, "fetch", "-q", str(other), new)
    go(brain, new)
    assert not (brain / "memory/link.md").is_symlink()
    assert plain(brain, "diff", "--cached", "--name-only") == ""
    assert plain(brain, "ls-files", "-s", "memory/link.md").startswith("120000")
