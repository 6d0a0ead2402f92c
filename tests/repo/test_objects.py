"""Reading many objects through one process: shared while a piece of work lasts, and never a wrong answer."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.repo.git import Git
from commonwealth.repo.head import clear_locks
from commonwealth.repo.objects import Objects, is_commit, reading
from commonwealth.repo.store import Delta, differences

from .brains import first_brain, head, plain, put

FIRST = b"title: first\ntags: a\n"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(first_brain(tmp_path / "brain"))


def read(git: Git) -> bytes | None:
    with Objects(git) as objects:
        return objects.read("HEAD:memory/2026-07/first.md")


def reader_pid(git: Git) -> int:
    assert git.reader is not None
    return git.reader.pid


def test_one_process_serves_all_that_is_read_within_a_piece_of_work(git: Git) -> None:
    with reading(git):
        assert git.reader is None  # what reads nothing starts nothing
        assert read(git) == FIRST
        first = reader_pid(git)
        with reading(git), Objects(git) as outer:
            assert read(git) == FIRST
            assert outer.read("HEAD:README.md") == b"A brain.\n"
        assert read(git) == FIRST
        assert reader_pid(git) == first
    assert (git.reader, git.facts) == (None, None)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_what_was_written_meanwhile_is_found(git: Git) -> None:
    root = Path(git.root)
    with reading(git):
        with Objects(git) as objects:
            assert objects.read("HEAD:memory/2026-07/second.md") is None
        put(root, "memory/2026-07/second.md", "title: second\n")
        plain(root, "add", "-A")
        plain(root, "commit", "-qm", "second")
        plain(root, "gc", "-q")
        with Objects(git) as objects:
            assert objects.read("HEAD:memory/2026-07/second.md") == b"title: second\n"
        assert is_commit(git, head(root))
        assert not is_commit(git, "main")
        assert not is_commit(git, "f" * 40)


def test_an_answer_that_was_not_read_to_its_end_is_nobody_elses(git: Git) -> None:
    with reading(git):
        assert read(git) == FIRST
        assert git.reader is not None
        with contextlib.suppress(Refused), Objects(git):
            git.reader.send(b"contents HEAD:README.md\0")
            raise Refused("Something else went wrong.")
        assert read(git) == FIRST


def test_a_reader_that_was_killed_is_replaced(git: Git) -> None:
    with reading(git):
        assert read(git) == FIRST
        first = reader_pid(git)
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not git.reader or not git.reader.has_ended:
            assert time.monotonic() < deadline
        assert read(git) == FIRST
        assert reader_pid(git) != first


def test_differences_of_commits_are_asked_once_and_those_of_branches_each_time(git: Git) -> None:
    root = Path(git.root)
    old = head(root)
    put(root, "memory/2026-07/second.md", "title: second\n")
    plain(root, "add", "-A")
    plain(root, "commit", "-qm", "second")
    new = head(root)
    with reading(git):
        found = differences(git, old, new)
        assert list(found) == ["memory/2026-07/second.md"]
        assert git.facts is not None
        assert len(git.facts) == 1
        found["other.md"] = Delta(None, None)  # what one caller does to its answer is not the next one's
        assert list(differences(git, old, new)) == ["memory/2026-07/second.md"]
        assert list(differences(git, old, "main")) == ["memory/2026-07/second.md"]
        assert len(git.facts) == 1
        plain(root, "update-ref", "refs/heads/main", old)
        assert differences(git, old, "main") == {}
    assert list(differences(git, old, new)) == ["memory/2026-07/second.md"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="processes can be seen on Linux alone")
def test_our_reader_does_not_keep_the_lock_of_a_dead_git_alive(git: Git) -> None:
    lock = Path(git.root, ".git", "index.lock")
    lock.touch()
    os.utime(lock, (time.time() - 3600,) * 2)
    with reading(git):
        assert read(git) == FIRST
        clear_locks(git)
    assert not lock.exists()
