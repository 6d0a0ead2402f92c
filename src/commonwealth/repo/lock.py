"""One writer per clone: an operating-system file lock, which dies with its holder and is never stolen."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from types import TracebackType
from typing import Self

from commonwealth.errors import Busy, Refused
from commonwealth.repo.common import common_dir, read_text
from commonwealth.safetext import one_line

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FOLDER = "commonwealth"
"""The folder below a git folder that holds our locks and journals."""

LONGEST_PAUSE = 0.05
"""Seconds: whoever waits for a lock asks for it at least this often."""

_FIRST_PAUSE = 0.002


class FileLock:
    """An exclusive lock on the file `path`; what the file says (process and operation) is only for messages, as is
    `held`: what it means that somebody else has the lock.

    Not re-entrant. The file stays when the lock is released: removing it would let two holders in.
    """

    def __init__(self, path: str, operation: str, held: str = "Another process is writing to this brain") -> None:
        self.path = path
        self.operation = operation
        self._held = held
        self._fd = -1

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it. Raises Refused where the file cannot be written."""
        fd = self._open()
        try:
            taken = _lock(fd)
            if taken:
                line = f"{os.getpid()} {one_line(self.operation, 80)}\n"
                with contextlib.suppress(OSError):  # on a full disk the lock holds, and names nobody
                    os.ftruncate(fd, 0)
                    os.write(fd, line.encode("utf-8"))
                self._fd, fd = fd, -1
        finally:
            if fd >= 0:
                os.close(fd)
        return taken

    def acquire(self, timeout: float) -> None:
        """Take the lock within `timeout` seconds, asking at short random intervals. Raises Busy."""
        deadline = time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while not self.try_acquire():
            left = deadline - time.monotonic()
            if left <= 0:
                raise Busy(
                    f"{self._held}: {self.holder()}.",
                    hint="Try again when it is done; the lock ends with that process.",
                )
            time.sleep(min(left, pause * random.uniform(0.5, 1)))  # noqa: S311 - spreads waiters
            pause = min(pause * 2, LONGEST_PAUSE)

    def release(self) -> None:
        """Let go; without effect if the lock is not held."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def holder(self) -> str:
        """Who wrote itself into the file last, as `process 123 (sync)`."""
        pid, _, operation = (read_text(self.path, 200) or "").strip().partition(" ")
        if not pid.isdecimal():
            return "a process that did not name itself"
        return f"process {pid} ({one_line(operation)})"

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            return os.open(self.path, flags, 0o600)
        except OSError as error:
            raise Refused(
                f"The lock file {self.path} cannot be opened: {error.strerror}.",
                hint="The brain's .git folder must be writable for you, on a disk with free space. Where something "
                "else stands in the file's place, `brain doctor --fix` moves it away.",
            ) from None


class WriterLock:
    """`with WriterLock(git_dir, operation="sync"):` is the only writer of that repository inside the block.

    The lock belongs to the repository and not to one of its worktrees, as they share their branches. Waits up to
    `timeout` seconds, then raises Busy, naming the holder.
    """

    def __init__(self, git_dir: str, *, operation: str = "write", timeout: float = 10) -> None:
        self._lock = FileLock(os.path.join(common_dir(git_dir), FOLDER, "lock"), operation)
        self._timeout = timeout
        self._own = os.path.join(git_dir, FOLDER)

    def __enter__(self) -> Self:
        self._lock.acquire(self._timeout)
        with contextlib.suppress(OSError):  # whoever writes there will say so
            os.makedirs(self._own, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


if sys.platform == "win32":

    def _lock(fd: int) -> bool:
        # A byte far behind the text, as Windows keeps others from reading what is locked.
        os.lseek(fd, 1 << 30, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(fd, 0, os.SEEK_SET)
        return True

else:

    def _lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
