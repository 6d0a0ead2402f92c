"""Note commits: exactly the named files, never over bytes that were not read, nothing left behind on refusal."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from commonwealth.errors import BrainError, Busy, Refused
from commonwealth.repo.commit import ANY, Change, commit
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.workfiles import Changed

from .brains import dies, finish, first_brain, head, plain, put, start, status
from .linenotes import CONTENT, NOW, Writer, remember

NOTE = "memory/2026-07/a.md"
FIRST = "memory/2026-07/first.md"


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return first_brain(tmp_path / "brain")


def write(brain: Path, *changes: Change, message: str = "Write") -> str:
    return commit(Git(brain), changes, message, Writer(), now=NOW, content=CONTENT)


def test_a_new_note_is_one_commit_by_its_author_and_leaves_a_clean_status(brain: Path) -> None:
    before = head(brain)
    sha = write(brain, Change(NOTE, b"text: a\n"))
    assert head(brain) == sha
    assert plain(brain, "rev-parse", f"{sha}^").strip() == before
    assert plain(brain, "show", "--name-only", "--format=%an <%ae> %aI %s", sha).split("\n") == [
        "Alice <alice@example.com> 2026-07-01T12:00:00+00:00 Write",
        "",
        NOTE,
        "",
    ]
    assert status(brain) == ""
    assert (brain / NOTE).read_bytes() == b"text: a\n"
    plain(brain, "fsck", "--strict")


def test_an_executable_note_stays_one_and_no_other_becomes_one(brain: Path) -> None:
    (brain / FIRST).chmod(0o755)
    plain(brain, "commit", "-qam", "executable")
    put(brain, NOTE, "text: a\n")
    (brain / NOTE).chmod(0o755)
    write(brain, Change(FIRST, b"title: b\n", ANY), Change(NOTE, b"text: a\n", ANY))
    modes = [line.split(" ")[0] for line in plain(brain, "ls-tree", "HEAD", FIRST, NOTE).splitlines()]
    assert sorted(modes) == ["100644", "100755"]


def test_several_notes_are_edited_added_and_removed_in_one_commit(brain: Path) -> None:
    read = (brain / FIRST).read_bytes()
    new = [Change(f"memory/2026-08/n{number}.md", b"text: n\n") for number in range(5)]
    sha = write(brain, Change(FIRST, None, read), *new)
    assert not (brain / FIRST).exists()
    assert len(plain(brain, "show", "--name-only", "--format=", sha).split()) == 6
    assert status(brain) == ""


def test_the_first_commit_of_an_empty_repository_works(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    plain(folder, "init", "-q", "-b", "main")
    sha = write(folder, Change(NOTE, b"text: a\n"))
    assert plain(folder, "rev-list", "--count", sha).strip() == "1"
    assert status(folder) == ""


def test_what_the_user_has_staged_stays_staged_and_uncommitted(brain: Path) -> None:
    put(brain, "README.md", "Edited.\n")
    put(brain, "notes.txt", "mine\n")
    plain(brain, "add", "README.md", "notes.txt")
    sha = write(brain, Change(NOTE, b"text: a\n"))
    assert plain(brain, "show", "--name-only", "--format=", sha).split() == [NOTE]
    assert status(brain) == "M  README.md\nA  notes.txt\n"


@pytest.mark.parametrize("expect", [None, b"title: something else\n"])
def test_a_file_that_is_not_what_was_read_is_not_written(brain: Path, expect: bytes | None) -> None:
    before = head(brain)
    with pytest.raises(Changed) as caught:
        write(brain, Change(NOTE, b"text: a\n"), Change(FIRST, b"title: b\n", expect))
    assert caught.value.path == FIRST
    assert head(brain) == before
    assert status(brain) == ""


def test_any_content_may_be_expected(brain: Path) -> None:
    write(brain, Change(FIRST, b"title: b\n", ANY))
    assert (brain / FIRST).read_bytes() == b"title: b\n"


def test_writing_what_is_there_already_makes_no_commit(brain: Path) -> None:
    before = head(brain)
    data = (brain / FIRST).read_bytes()
    assert write(brain, Change(FIRST, data, data)) == before


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        (NOTE, b"text: SECRET\n", "Write"),
        ("memory/2026-07/SECRET.md", b"text: a\n", "Write"),
        (NOTE, b"text: a\n", "SECRET"),
        (NOTE, b"<<<<<<< ours\n", "Write"),
        ("README.md", b"x", "Write"),
        ("memory/../README.md", b"x", "Write"),
        ("memory/2026-07/INDEX.md", b"x", "Write"),
    ],
)
def test_a_refused_write_leaves_files_and_index_clean_and_the_next_one_works(
    brain: Path, path: str, data: bytes, message: str
) -> None:
    before = head(brain)
    with pytest.raises(Refused) as caught:
        write(brain, Change("memory/2026-07/b.md", b"text: b\n"), Change(path, data, ANY), message=message)
    assert "SECRET" not in caught.value.message + (caught.value.hint or "")
    assert (head(brain), status(brain)) == (before, "")
    assert not list((brain / "memory").rglob(".commonwealth*"))
    write(brain, Change(NOTE, b"text: good\n"))
    assert status(brain) == ""


def test_a_secret_never_reaches_the_object_database(brain: Path) -> None:
    with pytest.raises(Refused, match=r"^secret: "):
        write(brain, Change(NOTE, b"text: SECRET\n"))
    listed = plain(brain, "cat-file", "--batch-all-objects", "--batch")
    assert "SECRET" not in listed


def test_a_link_instead_of_a_folder_is_refused(brain: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (brain / "decisions").symlink_to(outside)
    with pytest.raises(Refused, match="link"):
        write(brain, Change("decisions/a.md", b"text: a\n"))
    assert list(outside.iterdir()) == []


def test_a_branch_that_git_cannot_read_is_not_taken_for_an_empty_one(brain: Path) -> None:
    tip = head(brain)
    plain(brain, "pack-refs", "--all")
    assert branch_tip(Git(brain), "main") == tip
    shutil.rmtree(brain / ".git/logs")
    (brain / ".git/packed-refs").write_text("no such line\n", encoding="utf-8")
    with pytest.raises(BrainError):
        branch_tip(Git(brain), "main")


def test_a_head_on_another_branch_is_refused_with_the_way_back(brain: Path) -> None:
    write(brain, Change(NOTE, b"text: a\n"))
    plain(brain, "switch", "-q", "-c", "other")
    with pytest.raises(Refused) as caught:
        write(brain, Change("memory/2026-07/b.md", b"text: b\n"))
    assert f"{git_at(brain)} switch main" in (caught.value.hint or "")


def test_a_head_detached_at_the_tip_is_put_back(brain: Path) -> None:
    write(brain, Change(NOTE, b"text: a\n"))
    plain(brain, "switch", "-q", "--detach")
    sha = write(brain, Change("memory/2026-07/b.md", b"text: b\n"))
    assert plain(brain, "rev-parse", "main").strip() == sha
    assert plain(brain, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_a_stranded_rebase_is_named(brain: Path) -> None:
    write(brain, Change(NOTE, b"text: a\n"))
    plain(brain, "switch", "-q", "--detach", "HEAD^")
    (brain / ".git" / "rebase-merge").mkdir()
    with pytest.raises(Refused, match="rebase"):
        write(brain, Change("memory/2026-07/b.md", b"text: b\n"))


def test_an_index_lock_that_a_killed_git_left_just_now_is_waited_out(brain: Path) -> None:
    lock = brain / ".git" / "index.lock"
    lock.touch()
    write(brain, Change(NOTE, b"text: a\n"))
    assert not lock.exists()
    assert status(brain) == ""


def test_an_old_index_lock_that_a_process_holds_open_stays(brain: Path) -> None:
    lock = brain / ".git" / "index.lock"
    with lock.open("wb"):
        os.utime(lock, (0, 0))
        with pytest.raises(Busy, match=r"index\.lock"):
            write(brain, Change(NOTE, b"text: a\n"))
    assert lock.exists()


def test_a_held_lock_is_not_taken_twice(brain: Path) -> None:
    git = Git(brain)
    with WriterLock(git.git_dir) as held:
        commit(git, [Change(NOTE, b"text: a\n")], "a", Writer(), now=NOW, content=CONTENT, held=held)
    assert status(brain) == ""


def test_a_full_disk_after_the_rename_takes_the_write_back(brain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, old = head(brain), (brain / FIRST).read_bytes()
    changes = [Change(FIRST, b"title: b\n", old), Change(NOTE, b"text: a\n")]
    for point in ("commit-temp-written", "commit-object", "commit-half-renamed", "commit-renamed", "commit-indexed"):
        monkeypatch.setenv("COMMONWEALTH_FAULT", f"{point}=ENOSPC")
        with pytest.raises(Refused, match="disk"):
            write(brain, *changes)
        assert (head(brain), status(brain)) == (before, ""), point
        assert (brain / FIRST).read_bytes() == old


def test_a_line_of_a_hostile_environment_does_not_leak_in(brain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(brain / "elsewhere"))
    monkeypatch.setenv("GIT_DIR", str(brain / "nowhere"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Mallory")
    sha = write(brain, Change(NOTE, b"text: a\n"))
    for name in ("GIT_INDEX_FILE", "GIT_DIR", "GIT_AUTHOR_NAME"):
        monkeypatch.delenv(name)
    assert plain(brain, "show", "-s", "--format=%an", sha).strip() == "Alice"
    assert status(brain) == ""


def test_four_processes_that_write_to_one_clone_lose_nothing(brain: Path) -> None:
    writers = [start("many", str(brain), f"w{number}", "8") for number in range(4)]
    for writer in writers:
        finish(writer)
    assert len(list((brain / "memory/2026-07").glob("w*.md"))) == 32
    assert plain(brain, "rev-list", "--count", "HEAD").strip() == "33"
    assert status(brain) == ""


@pytest.mark.parametrize(
    "point",
    [
        "commit-temp-written",
        "commit-object",
        "commit-half-renamed",
        "commit-renamed",
        "commit-indexed",
        "commit-done",
    ],
)
def test_a_killed_write_never_makes_a_later_commit_by_hand_drop_a_note(brain: Path, point: str) -> None:
    remember(brain, "earlier", "text: earlier\n")
    dies(start("remember", str(brain), "late", "text: late\n", fault=f"{point}=kill"))
    put(brain, "README.md", "By hand.\n")
    plain(brain, "commit", "-q", "-am", "by hand")
    assert plain(brain, "ls-tree", "-r", "--name-only", "HEAD", "memory/2026-07/earlier.md")
    if point == "commit-done":
        assert plain(brain, "ls-tree", "-r", "--name-only", "HEAD", "memory/2026-07/late.md")
    remember(brain, "after", "text: after\n")
    assert plain(brain, "ls-tree", "-r", "--name-only", "HEAD", "memory/2026-07/after.md")


@pytest.mark.parametrize("writer", [Writer("SECRET"), Writer("Al", "SECRET@example.com")])
def test_a_secret_in_the_name_or_address_of_the_author_is_refused(brain: Path, writer: Writer) -> None:
    before = head(brain)
    with pytest.raises(Refused, match="secret: author") as caught:
        commit(Git(brain), [Change(FIRST, b"title: x\n", ANY)], "Write", writer, now=NOW, content=CONTENT)
    assert "SECRET" not in f"{caught.value} {caught.value.hint}"
    assert head(brain) == before
    assert status(brain) == ""


def overtake(brain: Path, monkeypatch: pytest.MonkeyPatch, *args: str) -> None:
    """Let a person commit by hand while a write of ours is between git's index and the branch."""

    def meanwhile(name: str) -> None:
        if name == "commit-indexed":
            plain(brain, *args)

    monkeypatch.setattr("commonwealth.repo.commit.fault", meanwhile)


def test_a_write_that_loses_the_branch_leaves_the_index_at_the_branch(
    brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(brain, "README.md", "by hand\n")
    overtake(brain, monkeypatch, "commit", "-qm", "by hand", "--only", "README.md")
    with pytest.raises(Busy):
        write(brain, Change(FIRST, b"title: ours\n", ANY))
    monkeypatch.undo()
    assert status(brain) == ""


def test_a_commit_by_hand_that_took_our_note_along_holds_it(brain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overtake(brain, monkeypatch, "commit", "-qm", "by hand")
    made = write(brain, Change("memory/2026-07/new.md", b"title: new\n", None))
    monkeypatch.undo()
    assert made == head(brain)
    assert plain(brain, "show", f"{made}:memory/2026-07/new.md") == "title: new\n"
    assert status(brain) == ""


def test_a_lock_of_git_on_the_branch_is_named_while_it_has_an_owner(brain: Path) -> None:
    locks = [brain / ".git" / name for name in ("HEAD.lock", "refs/heads/main.lock")]
    for lock in locks:
        lock.write_bytes(b"")
        os.utime(lock, (0, 0))
    with locks[1].open("wb"):
        os.utime(locks[1], (0, 0))
        with pytest.raises(Busy, match="refs/heads/main"):
            write(brain, Change(FIRST, b"title: x\n", ANY))
        assert status(brain) == ""
    write(brain, Change(FIRST, b"title: x\n", ANY))
    assert not any(lock.exists() for lock in locks)


def test_a_name_that_git_does_not_take_is_told_with_the_next_step(brain: Path) -> None:
    with pytest.raises(Refused, match="author") as caught:
        commit(Git(brain), [Change(FIRST, b"title: x\n", ANY)], "W", Writer("."), now=NOW, content=CONTENT)
    assert "user.name" in (caught.value.hint or "")
    assert status(brain) == ""


def test_a_signature_that_fails_is_told_with_the_next_step(brain: Path) -> None:
    plain(brain, "config", "commit.gpgSign", "true")
    plain(brain, "config", "gpg.program", "false")
    with pytest.raises(Refused, match="sign") as caught:
        write(brain, Change(FIRST, b"title: x\n", ANY))
    assert "commit.gpgSign" in (caught.value.hint or "")
