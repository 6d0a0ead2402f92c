from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.repo.git import Git
from commonwealth.repo.history import Version, at_paths, commit_at, read_at, versions

from .conftest import MakeRepository, PlainGit, write_files

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def brain(make_repository: MakeRepository) -> Git:
    return Git(make_repository("brain", {"memory/é a.md": TEXT}))


def commit(git: PlainGit, brain: Git, message: str, files: dict[str, str] | None = None) -> str:
    root = Path(brain.root)
    write_files(root, files or {})
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD").strip()


def subjects(found: list[Version]) -> list[str]:
    return [version.subject for version in found]


def test_versions_come_newest_first_with_who_and_when(
    brain: Git, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-07-01T12:00:00+02:00")
    sha = commit(git, brain, "second", {"memory/é a.md": TEXT + "more\n"})
    commit(git, brain, "elsewhere", {"b.md": "b"})
    newest, first = versions(brain, "memory/é a.md")
    assert newest == Version(sha, "2026-07-01T10:00:00Z", "Alice", "second", "memory/é a.md")
    assert first.subject == "first"


def test_a_rename_is_followed_and_the_old_path_can_be_read(brain: Git, git: PlainGit) -> None:
    git(Path(brain.root), "mv", "memory/é a.md", "memory/b.md")
    commit(git, brain, "moved")
    commit(git, brain, "edited", {"memory/b.md": TEXT + "more\n"})
    found = versions(brain, "memory/b.md")
    assert [(one.subject, one.path) for one in found] == [
        ("edited", "memory/b.md"),
        ("moved", "memory/b.md"),
        ("first", "memory/é a.md"),
    ]
    assert read_at(brain, found[-1].commit, found[-1].path) == TEXT.encode()


def test_a_note_that_reads_like_another_has_a_history_of_its_own(brain: Git, git: PlainGit) -> None:
    commit(git, brain, "the copy", {"memory/copy.md": TEXT.replace("line 3", "line three")})
    commit(git, brain, "its edit", {"memory/copy.md": TEXT.replace("line 3", "line 3.0")})
    assert subjects(versions(brain, "memory/copy.md")) == ["its edit", "the copy"]


def test_both_sides_of_a_merge_and_a_merge_with_words_of_its_own_are_versions(brain: Git, git: PlainGit) -> None:
    root = Path(brain.root)
    git(root, "switch", "-q", "-c", "side")
    commit(git, brain, "side", {"memory/é a.md": TEXT.replace("line 0", "left")})
    git(root, "switch", "-q", "main")
    commit(git, brain, "main", {"memory/é a.md": TEXT.replace("line 19", "right")})
    git(root, "merge", "-q", "side", "-m", "both")
    git(root, "switch", "-q", "-c", "other")
    commit(git, brain, "other", {"b.md": "b"})
    git(root, "switch", "-q", "main")
    commit(git, brain, "unrelated", {"c.md": "c"})
    git(root, "merge", "-q", "other", "-m", "no version of a")
    found = subjects(versions(brain, "memory/é a.md"))
    assert found[0] == "both"
    assert sorted(found[1:]) == ["first", "main", "side"]


def overruled(git: PlainGit, brain: Git, number: int) -> None:
    """An edit on a side branch that the merge does not take over."""
    root = Path(brain.root)
    git(root, "switch", "-q", "-c", f"side-{number}")
    commit(git, brain, f"lost {number}", {"memory/é a.md": f"lost {number}", "memory/b.md": f"b {number}"})
    git(root, "switch", "-q", "main")
    commit(git, brain, f"kept {number}", {"memory/é a.md": f"kept {number}"})
    git(root, "merge", "-q", "-s", "ours", f"side-{number}", "-m", f"merge {number}")


def test_an_edit_that_a_merge_did_not_take_over_is_a_version(brain: Git, git: PlainGit) -> None:
    overruled(git, brain, 1)
    found = versions(brain, "memory/é a.md")
    assert (found[-1].subject, sorted(subjects(found))) == ("first", ["first", "kept 1", "lost 1"])
    assert subjects(versions(brain, "memory/b.md")) == ["lost 1"]


def test_merges_that_took_over_one_side_do_not_count_as_wanted_versions(
    brain: Git, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonwealth.repo.history._FIRST", 1)
    for number in range(3):
        overruled(git, brain, number)
    every = subjects(versions(brain, "memory/é a.md"))
    assert len(every) == 7
    for limit in range(1, 9):
        assert subjects(versions(brain, "memory/é a.md", limit=limit)) == every[:limit]


def test_several_files_are_asked_about_at_once(brain: Git, git: PlainGit) -> None:
    overruled(git, brain, 1)
    Path(brain.root, "memory/é a.md").unlink()
    commit(git, brain, "both", {"c.md": "c"})
    found = at_paths(brain, ["memory/é a.md", "c.md", "nowhere.md"])
    assert found["memory/é a.md"] == versions(brain, "memory/é a.md")
    assert [(one.subject, one.path, one.deleted) for one in found["c.md"]] == [("both", "c.md", False)]
    assert (found["nowhere.md"], at_paths(brain, [])) == ([], {})


def test_a_subject_and_an_author_with_odd_characters_stay_one_version(brain: Git, git: PlainGit) -> None:
    git(Path(brain.root), "config", "user.name", "Zoë | M\t")
    commit(git, brain, "R100 \x01 | M", {"memory/é a.md": "x"})
    assert subjects(versions(brain, "memory/é a.md")) == ["R100 \x01 | M", "first"]


def test_a_deleted_note_still_has_its_history(brain: Git, git: PlainGit) -> None:
    Path(brain.root, "memory/é a.md").unlink()
    commit(git, brain, "deleted")
    assert subjects(versions(brain, "memory/é a.md")) == ["deleted", "first"]


def test_the_number_of_versions_can_be_bounded(brain: Git, git: PlainGit) -> None:
    for number in range(3):
        commit(git, brain, str(number), {"memory/é a.md": str(number)})
    assert subjects(versions(brain, "memory/é a.md", limit=2)) == ["2", "1"]


def test_what_was_never_committed_has_no_versions(brain: Git, tmp_path: Path, git: PlainGit) -> None:
    assert versions(brain, "memory/nowhere.md") == []
    git(tmp_path, "init", "-q", "empty")
    assert versions(Git(tmp_path / "empty"), "a.md") == []


def test_a_file_is_read_as_it_was(brain: Git, git: PlainGit) -> None:
    old = git(Path(brain.root), "rev-parse", "HEAD").strip()
    commit(git, brain, "second", {"memory/é a.md": "new"})
    assert read_at(brain, old, "memory/é a.md") == TEXT.encode()
    assert read_at(brain, "HEAD", "memory/é a.md") == b"new"
    assert read_at(brain, old, "memory/nowhere.md") is None
    assert read_at(brain, old, "memory") is None


def test_an_unknown_commit_and_a_huge_file_are_refused(brain: Git) -> None:
    with pytest.raises(Refused, match="no commit"):
        read_at(brain, "f" * 40, "memory/é a.md")
    with pytest.raises(Refused, match="larger than 10 bytes"):
        read_at(brain, "HEAD", "memory/é a.md", limit=10)


def test_as_of_is_the_newest_commit_on_the_main_line_dated_before(
    make_repository: MakeRepository, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
    brain = Git(make_repository())
    root = Path(brain.root)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-02T00:00:00Z")
    git(root, "switch", "-q", "-c", "side")
    commit(git, brain, "side", {"b.md": "b"})
    git(root, "switch", "-q", "main")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-03T00:00:00Z")
    git(root, "merge", "-q", "--no-ff", "side", "-m", "merge")
    assert commit_at(brain, "main", "2025-12-31T23:59:59Z") is None
    assert commit_at(brain, "main", "2026-01-01T00:00:00Z") == brain.resolve("main~1")
    assert commit_at(brain, "main", "2026-01-02T12:00:00Z") == brain.resolve("main~1")
    assert commit_at(brain, "main", "2026-01-03T00:00:00Z") == brain.resolve("main")
