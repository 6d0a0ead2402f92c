from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonwealth.errors import Busy, Refused
from commonwealth.repo.lock import FileLock, WriterLock

_HOLDER = """
import sys
from commonwealth.repo.lock import WriterLock
with WriterLock(sys.argv[1], operation=sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(folder: Path, operation: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock from the first line it prints until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(folder), operation],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_lock_held_elsewhere_is_busy_and_names_the_holder(tmp_path: Path) -> None:
    with (
        another_process(tmp_path, "sync") as holder,
        pytest.raises(Busy, match=rf"process {holder.pid} \(sync\)") as caught,
        WriterLock(tmp_path.as_posix(), timeout=0.05),
    ):
        pass
    assert caught.value.exit_code == 6


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    with another_process(tmp_path, "sync") as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        with WriterLock(str(tmp_path), operation="remember", timeout=0):
            pass


def test_a_waiting_writer_gets_the_lock_when_it_is_let_go(tmp_path: Path) -> None:
    with another_process(tmp_path, "sync") as holder:
        assert holder.stdin is not None
        threading.Thread(target=holder.stdin.close).start()
        with WriterLock(str(tmp_path), timeout=30):
            pass


def test_a_lock_is_never_taken_from_a_living_holder(tmp_path: Path) -> None:
    path = tmp_path / "commonwealth" / "lock"
    with another_process(tmp_path, "sync"):
        os.utime(path, (0, 0))
        path.write_text("999999999 gone\n", encoding="utf-8")
        with pytest.raises(Busy), WriterLock(str(tmp_path), timeout=0.02):
            pass


def test_an_old_lock_file_without_holder_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "commonwealth" / "lock"
    path.parent.mkdir()
    path.write_bytes(b"12345 sync\n\xff\xfe rubbish")
    with WriterLock(str(tmp_path), operation="remember", timeout=0):
        assert path.read_text(encoding="utf-8") == f"{os.getpid()} remember\n"


def test_two_threads_do_not_hold_it_together(tmp_path: Path) -> None:
    with WriterLock(str(tmp_path)), pytest.raises(Busy), WriterLock(str(tmp_path), timeout=0.02):
        pass


def test_a_lock_that_is_held_is_not_taken_at_once_and_one_that_is_let_go_is(tmp_path: Path) -> None:
    path = str(tmp_path / "commonwealth" / "lock")
    with another_process(tmp_path, "sync"):
        assert not FileLock(path, "w").try_acquire()
    lock = FileLock(path, "w")
    assert lock.try_acquire()
    lock.release()
    lock.release()


def test_locks_of_other_names_are_independent(tmp_path: Path) -> None:
    lock = FileLock(str(tmp_path / "commonwealth" / "worker.lock"), "w")
    assert lock.try_acquire()
    with WriterLock(str(tmp_path), timeout=0):
        pass
    lock.release()


def test_no_descriptor_is_left_open_by_waiting(tmp_path: Path) -> None:
    lock = FileLock(str(tmp_path / "lock"), "x")
    assert lock.try_acquire()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        assert not FileLock(str(tmp_path / "lock"), "y").try_acquire()
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    lock.release()


@pytest.mark.skipif(os.name != "posix", reason="links as on POSIX")
def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    (tmp_path / "commonwealth").mkdir()
    (tmp_path / "commonwealth" / "lock").symlink_to(victim)
    with pytest.raises(Refused, match="cannot be opened"), WriterLock(str(tmp_path), timeout=0):
        pass
    assert victim.read_text(encoding="utf-8") == "mine"


def test_worktrees_of_a_repository_have_one_writer_together(tmp_path: Path) -> None:
    own = tmp_path / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    with another_process(own, "sync"), pytest.raises(Busy), WriterLock(str(tmp_path / ".git"), timeout=0.02):
        pass
    assert (own / "commonwealth").is_dir()
