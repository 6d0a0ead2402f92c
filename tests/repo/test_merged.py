"""Whether a branch came into the default branch is told from the commits, and a branch without work is not merged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonwealth import timeline
from commonwealth.repo.branchstate import State, told
from commonwealth.repo.changed_here import changed_files, default_ref, is_default
from commonwealth.repo.merged import Merged, merged
from commonwealth.repo.project import Project, repository_of

from .brains import plain

MERGE_DAY = "2026-07-03T09:00:00Z"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A code repository with a branch of two commits; the default branch has gone on beside it."""
    folder = tmp_path / "code"
    plain(tmp_path, "init", "-q", "-b", "main", str(folder))
    (folder / "a.py").write_text("".join(f"line {number}\n" for number in range(40)), encoding="utf-8")
    save(folder, "start")
    plain(folder, "checkout", "-q", "-b", "fix")
    change(folder, "line 3\n", "line three\n")
    save(folder, "one")
    change(folder, "line 5\n", "line five\n")
    save(folder, "two")
    plain(folder, "checkout", "-q", "main")
    change(folder, "line 30\n", "line thirty\n")
    save(folder, "beside")
    return folder


def change(folder: Path, old: str, new: str) -> None:
    text = (folder / "a.py").read_text(encoding="utf-8")
    assert old in text
    (folder / "a.py").write_text(text.replace(old, new), encoding="utf-8")


def save(folder: Path, message: str) -> None:
    plain(folder, "add", "-A")
    plain(folder, "commit", "-q", "-m", message)


def project(folder: Path) -> Project:
    found = repository_of(folder)
    assert found is not None
    return found


def tip(folder: Path, name: str) -> str:
    return plain(folder, "rev-parse", name).strip()


def expected(folder: Path, commit: str) -> Merged:
    seconds = int(plain(folder, "show", "-s", "--format=%ct", commit))
    return Merged(commit, timeline.of_seconds(seconds), "main")


def land(folder: Path, how: str) -> None:
    if how == "merge":
        plain(folder, "merge", "-q", "--no-ff", "-m", "Merge fix", "fix")
    elif how == "squash":
        plain(folder, "merge", "-q", "--squash", "fix")
        plain(folder, "commit", "-q", "-m", "Fix (#1)")
    else:
        plain(folder, "checkout", "-q", "fix")
        plain(folder, "rebase", "-q", "main")
        plain(folder, "checkout", "-q", "main")
        plain(folder, "merge", "-q", "--ff-only", "fix")


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_a_branch_that_landed_is_merged_by_the_commit_that_brought_it(code: Path, how: str) -> None:
    assert merged(project(code), "fix") is None
    land(code, how)
    landed = tip(code, "main")
    assert merged(project(code), "fix") == expected(code, landed)
    change(code, "line 35\n", "later\n")
    save(code, "later")
    assert merged(project(code), "fix") == expected(code, landed)


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_branch_that_is_gone_is_told_by_what_its_tip_was(code: Path, how: str) -> None:
    known = tip(code, "fix")
    land(code, how)
    plain(code, "branch", "-q", "-D", "fix")
    assert merged(project(code), "fix", [known]) == expected(code, tip(code, "main"))
    assert merged(project(code), "fix") is None
    assert merged(project(code), "fix", ["0" * 40, "not a commit"]) is None


def test_a_branch_that_is_gone_without_a_merge_is_not_merged(code: Path) -> None:
    known = tip(code, "fix")
    plain(code, "branch", "-q", "-D", "fix")
    assert merged(project(code), "fix", [known]) is None


def test_a_squash_by_the_server_is_seen_where_the_file_went_on(code: Path) -> None:
    land(code, "squash")
    landed = tip(code, "main")
    change(code, "line 4\n", "line four\n")
    save(code, "right beside it")
    assert merged(project(code), "fix") == expected(code, landed)


def test_a_squash_of_a_binary_file_is_seen_by_what_the_file_became(code: Path) -> None:
    plain(code, "checkout", "-q", "-b", "art", "main")
    (code / "logo.bin").write_bytes(bytes(range(256)) * 4)
    change(code, "line 7\n", "line seven\n")
    save(code, "a logo")
    plain(code, "checkout", "-q", "main")
    assert merged(project(code), "art") is None
    plain(code, "merge", "-q", "--squash", "art")
    plain(code, "commit", "-q", "-m", "A logo (#2)")
    landed = tip(code, "main")
    (code / "logo.bin").write_bytes(b"another\0logo")
    save(code, "later")
    assert merged(project(code), "art") == expected(code, landed)


@pytest.mark.parametrize("how", ["merge", "squash", "rebase", "pick", "part", "nothing"])
def test_facts_and_work_records_of_a_branch_are_told_the_same(code: Path, how: str) -> None:
    if how == "pick":
        plain(code, "cherry-pick", "fix~1", "fix")
    elif how == "part":
        plain(code, "cherry-pick", "fix~1")
    elif how != "nothing":
        land(code, how)
    state = told(project(code), [("fix", None)], seconds=30)["fix", None].state
    found = merged(project(code), "fix")
    assert (state in (State.MERGED, State.SQUASHED)) == (found is not None) == (how not in ("part", "nothing"))
    if found is not None:
        assert found == expected(code, tip(code, "main"))


def test_a_branch_is_merged_into_a_default_branch_with_a_name_of_the_persons_own(code: Path) -> None:
    plain(code, "branch", "-m", "main", "stable")
    plain(code, "config", "init.defaultBranch", "stable")
    plain(code, "checkout", "-q", "stable")
    plain(code, "merge", "-q", "--no-ff", "-m", "Merge", "fix")
    found = merged(project(code), "fix")
    assert found is not None
    assert (found.commit, found.into) == (tip(code, "stable"), "stable")
    assert merged(project(code), "stable") is None


def test_a_branch_on_which_nothing_was_done_is_not_merged(code: Path) -> None:
    plain(code, "checkout", "-q", "-b", "fresh")
    assert merged(project(code), "fresh", [tip(code, "HEAD")]) is None
    plain(code, "checkout", "-q", "main")
    change(code, "line 35\n", "later\n")
    save(code, "later")
    assert merged(project(code), "fresh") is None
    plain(code, "checkout", "-q", "fresh")
    plain(code, "merge", "-q", "--ff-only", "main")  # brought up to date, still nothing of its own
    assert merged(project(code), "fresh") is None
    plain(code, "checkout", "-q", "main")
    change(code, "line 36\n", "later still\n")
    save(code, "later still")
    plain(code, "checkout", "-q", "fresh")
    plain(code, "rebase", "-q", "main")
    assert merged(project(code), "fresh") is None


def test_only_a_part_of_a_branch_is_no_merge(code: Path) -> None:
    plain(code, "cherry-pick", "fix~1")
    assert merged(project(code), "fix") is None


def test_the_default_branch_itself_and_no_branch_are_not_merged(code: Path) -> None:
    assert merged(project(code), "main") is None
    assert merged(project(code), None, [tip(code, "fix")]) is None


def test_the_default_branch_is_the_one_of_the_remote(code: Path, tmp_path: Path) -> None:
    plain(code, "branch", "-m", "main", "trunk")
    plain(tmp_path, "clone", "-q", str(code), str(tmp_path / "mine"))
    mine = tmp_path / "mine"
    assert default_ref(project(mine)) == "refs/remotes/origin/trunk"
    assert is_default(project(mine), "trunk")
    assert not is_default(project(mine), "fix")
    plain(mine, "pack-refs", "--all")
    assert default_ref(project(mine)) == "refs/remotes/origin/trunk"
    plain(code, "merge", "-q", "--no-ff", "-m", "Merge", "fix")
    assert merged(project(mine), "fix") is None
    plain(mine, "fetch", "-q")
    assert merged(project(mine), "fix") == Merged(tip(code, "trunk"), expected(code, "trunk").at, "trunk")


def test_what_a_branch_changed_and_what_is_not_committed_are_told_by_one_question(code: Path) -> None:
    assert changed_files(project(code), 30) == ()
    plain(code, "checkout", "-q", "fix")
    (code / "b.py").write_text("new\n", encoding="utf-8")
    plain(code, "add", "b.py")
    assert changed_files(project(code), 30) == ("a.py", "b.py")
    assert changed_files(project(code), 0.000001) == ()


def test_a_repository_without_a_commit_or_a_default_branch_has_an_answer(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    plain(tmp_path, "init", "-q", "-b", "work", str(folder))
    assert changed_files(project(folder), 30) == ()
    (folder / "a.py").write_text("a\n", encoding="utf-8")
    save(folder, "one")
    (folder / "a.py").write_text("b\n", encoding="utf-8")
    assert default_ref(project(folder)) is None
    assert changed_files(project(folder), 30) == ("a.py",)
    assert merged(project(folder), "work") is None


def test_no_program_that_the_code_repository_names_runs(code: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("process", "clean", "smudge"):
        plain(code, "config", f"filter.evil.{name}", f"touch '{mark}'; cat")
    for name in ("diff.evil.command", "diff.evil.textconv", "diff.external", "core.fsmonitor"):
        plain(code, "config", name, f"touch '{mark}'; true")
    (code / ".git" / "info").mkdir(exist_ok=True)
    (code / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n", encoding="utf-8")
    os.utime(code / "a.py", (1, 1))
    assert changed_files(project(code), 30) == ("a.py",)
    merged(project(code), "fix")
    told(project(code), [("fix", None)], seconds=30)
    assert not mark.exists()
