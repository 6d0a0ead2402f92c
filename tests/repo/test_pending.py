"""People's own edits: committed as theirs, held back where they cannot be, strays only named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.pending import Settled, commit_pending, pending

from .brains import first_brain, head, plain, put, status
from .linenotes import CONTENT, NOW, Writer, remember, run_sync

FIRST = "memory/2026-07/first.md"


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return first_brain(tmp_path / "brain")


def settle(brain: Path, *, accept: bool = False) -> Settled:
    git = Git(brain)
    with WriterLock(git.git_dir) as held:
        return commit_pending(
            git,
            CONTENT,
            Writer("Bob", "bob@example.com"),
            now=NOW,
            held=held,
            tip=branch_tip(git, "main"),
            accept_deletions=accept,
        )


def test_edits_additions_and_deletions_become_one_commit_of_the_person(brain: Path) -> None:
    remember(brain, "old", "text: old\n")
    put(brain, FIRST, "title: edited\n")
    put(brain, "decisions/2026-07/new.md", "title: new\n")
    put(brain, ".commonwealth/config.yaml", "name: renamed\n")
    (brain / "memory/2026-07/old.md").unlink()
    settled = settle(brain)
    assert set(settled.committed) == {
        FIRST,
        "decisions/2026-07/new.md",
        ".commonwealth/config.yaml",
        "memory/2026-07/old.md",
    }
    assert settled.warnings == ()
    assert plain(brain, "show", "-s", "--format=%an %cn %s").strip() == (
        "Bob Bob Notes by hand: 1 added, 2 changed, 1 removed"
    )
    assert status(brain) == ""


def test_nothing_pending_makes_no_commit(brain: Path) -> None:
    before = head(brain)
    assert settle(brain) == Settled(before)
    assert head(brain) == before


def test_strays_are_named_and_never_swept_up(brain: Path) -> None:
    put(brain, "memory/.env", "TOKEN=1\n")
    put(brain, "memory/2026-07/id_rsa", "key\n")
    put(brain, "memory/nested/a.md", "text: a\n")
    plain(brain / "memory/nested", "init", "-q")
    plain(brain, "add", "memory/.env")
    before = head(brain)
    settled = settle(brain)
    assert head(brain) == before
    assert [warning.split(" ")[0] for warning in settled.warnings] == [
        "memory/.env",
        "memory/2026-07/id_rsa",
        "memory/nested/",
    ]


@pytest.mark.parametrize(
    ("text", "cause"),
    [("title: SECRET\n", "secret"), ("<<<<<<< ours\n", "no colon"), ("title: a\n" * 200_000, "larger")],
)
def test_an_edit_that_cannot_be_committed_is_named_and_left_as_it_is(brain: Path, text: str, cause: str) -> None:
    put(brain, FIRST, text)
    put(brain, "memory/2026-07/good.md", "text: good\n")
    settled = settle(brain)
    assert settled.committed == ("memory/2026-07/good.md",)
    (warning,) = settled.warnings
    assert FIRST in warning
    assert cause in warning
    assert "SECRET" not in warning
    assert (brain / FIRST).read_text(encoding="utf-8") == text
    assert "SECRET" not in plain(brain, "log", "-p", "--all")


def test_a_link_in_place_of_a_note_is_not_followed(brain: Path) -> None:
    (brain / FIRST).unlink()
    (brain / FIRST).symlink_to("/etc/hostname")
    settled = settle(brain)
    assert settled.committed == ()
    assert "not a regular file" in settled.warnings[0]


def test_a_note_moved_by_hand_is_no_deletion(brain: Path) -> None:
    for number in range(4):
        remember(brain, f"n{number}", "text: n\n")
    (brain / "memory/2026-07").rename(brain / "memory/2026-08")
    settled = settle(brain)
    assert settled.warnings == ()
    assert status(brain) == ""


def test_deletions_in_bulk_wait_until_they_are_accepted(brain: Path) -> None:
    for number in range(4):
        remember(brain, f"n{number}", "text: n\n")
    for number in range(3):
        (brain / f"memory/2026-07/n{number}.md").unlink()
    put(brain, FIRST, "title: edited\n")
    settled = settle(brain)
    assert settled.committed == (FIRST,)
    assert "accept-deletions" in settled.warnings[0]
    assert plain(brain, "ls-tree", "HEAD", "memory/2026-07/n0.md")
    assert len(settle(brain, accept=True).committed) == 3
    assert status(brain) == ""


def test_one_deletion_in_a_small_brain_is_taken_at_its_word(brain: Path) -> None:
    (brain / FIRST).unlink()
    assert settle(brain).committed == (FIRST,)


def test_a_derived_file_edited_by_hand_is_put_back_and_the_edit_kept_aside(brain: Path) -> None:
    put(brain, "ROUTER.md", "router\n")
    plain(brain, "add", "ROUTER.md")
    plain(brain, "commit", "-qm", "router")
    put(brain, "ROUTER.md", "mine\n")
    settled = settle(brain)
    assert (brain / "ROUTER.md").read_text(encoding="utf-8") == "router\n"
    assert status(brain) == ""
    kept = plain(brain, "for-each-ref", "--format=%(objectname)", "refs/commonwealth/kept").strip()
    assert plain(brain, "cat-file", "-p", kept) == "mine\n"
    assert kept[:12] in settled.warnings[0]


def test_looking_changes_no_byte(brain: Path) -> None:
    put(brain, FIRST, "title: edited\n")
    index = (brain / ".git/index").read_bytes()
    found = pending(Git(brain), CONTENT)
    assert [edit.path for edit in found.edits] == [FIRST]
    assert (brain / ".git/index").read_bytes() == index


def test_an_unfinished_file_of_a_killed_writer_is_cleared_away(brain: Path) -> None:
    put(brain, "memory/2026-07/.commonwealth-0123456789abcdef.tmp", "half")
    assert settle(brain).warnings == ()
    assert status(brain) == ""


def test_a_file_taken_out_of_the_index_alone_is_not_a_deletion(brain: Path) -> None:
    plain(brain, "rm", "-q", "--cached", FIRST)
    before = head(brain)
    assert settle(brain).committed == ()
    assert head(brain) == before
    assert (brain / FIRST).exists()


def test_a_note_that_the_persons_own_excludes_hide_is_committed(brain: Path, tmp_path: Path) -> None:
    (tmp_path / "ignore").write_text("*.md\n*.swp\n", encoding="utf-8")
    plain(brain, "config", "core.excludesFile", str(tmp_path / "ignore"))
    put(brain, "memory/2026-07/hidden.md", "title: hidden\n")
    put(brain, "memory/2026-07/x.swp", "x")
    settled = settle(brain)
    assert settled.committed == ("memory/2026-07/hidden.md",)
    assert settled.warnings == ()
    assert settle(brain).committed == ()


@pytest.mark.parametrize("place", [".gitignore", "memory/.gitignore", ".git/info/exclude"])
def test_a_note_that_the_brain_ignores_is_named(brain: Path, place: str) -> None:
    put(brain, place, "draft-*\n")
    put(brain, "memory/2026-07/draft-a.md", "title: a\n")
    found = pending(Git(brain), CONTENT)
    assert found.held == (("memory/2026-07/draft-a.md", f"git ignores it by {place}, line 1 (draft-*)"),)
    settled = settle(brain)
    assert settled.committed == ()
    assert any("draft-a.md is not committed: git ignores it" in warning for warning in settled.warnings)


@pytest.mark.parametrize("what", ["link", "dangling", "fifo", "folder"])
def test_something_else_in_the_place_of_a_derived_file_stops_nothing(brain: Path, what: str) -> None:
    run_sync(brain)
    place = brain / "memory/2026-07/INDEX.md"
    place.unlink()
    if what in ("link", "dangling"):
        place.symlink_to("first.md" if what == "link" else "nowhere")
    elif what == "fifo":
        os.mkfifo(place)
    else:
        put(brain, "memory/2026-07/INDEX.md/note.md", "title: below\n")
    put(brain, "memory/2026-07/new.md", "title: new\n")
    for _ in range(2):
        outcome = run_sync(brain)
        assert any("memory/2026-07/INDEX.md" in warning for warning in outcome.warnings)
    assert "memory/2026-07/new.md" in plain(brain, "ls-tree", "-r", "--name-only", "HEAD").split()
    remember(brain, "later", "title: later\n")
    run_sync(brain)
    assert "- later.md" in plain(brain, "show", "HEAD:memory/2026-07/INDEX.md")


def test_strays_at_the_root_are_named_and_nothing_below_other_folders(brain: Path, tmp_path: Path) -> None:
    put(brain, ".env", "TOKEN=1\n")
    put(brain, "src/deep.py", "x\n")
    put(brain, "ignored.log", "x\n")
    put(brain, ".git/info/exclude", "*.log\n")
    put(brain, "README.md", "edited\n")
    plain(tmp_path, "init", "-q", str(brain / "nested"))
    put(brain, "nested/a", "a\n")
    assert pending(Git(brain), CONTENT).strays == (".env", "nested/")


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_file_in_the_place_of_a_folder_of_notes_is_named(brain: Path, tmp_path: Path, what: str) -> None:
    put(brain, "decisions/2026-07/kept.md", "title: kept\n")
    settle(brain)
    (brain / "decisions").rename(tmp_path / "away")
    if what == "file":
        put(brain, "decisions", "a file\n")
    else:
        (brain / "decisions").symlink_to(tmp_path)
    put(brain, "memory/2026-07/new.md", "title: new\n")
    settled = settle(brain)
    assert settled.committed == ("memory/2026-07/new.md",)
    assert "decisions/2026-07/kept.md" in plain(brain, "ls-files")
    assert [warning for warning in settled.warnings if warning.startswith("decisions ")]
