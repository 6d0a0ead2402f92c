"""Whether a daemon serves this clone, told by the lock that it holds and by the time of a small file that it touches.

The lock alone says that it lives, the file that it still works: one that hangs is passed by.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER, FileLock

MISSED = 2
"""So many polls may be missed before others do the daemon's work."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a daemon says of itself. Times are canonical; `interval` is in seconds, `busy` while it syncs.

    `polled` is the start of its last sync, the other fields what came of it.
    """

    pid: int
    interval: float
    since: str
    polled: str | None = None
    busy: bool = False
    state: str | None = None
    reason: str | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Pulse:
    """A daemon as others see it: `alive` holds the lock, `fresh` has also shown itself within two polls."""

    alive: bool
    fresh: bool
    beat: Beat | None = None


def lock_of(root: Path) -> FileLock:
    """The lock that a daemon of the clone at `root` holds as long as it lives. Raises Damaged without a git folder."""
    return FileLock(_place(root, "daemon.lock"), "daemon", "Another daemon serves this brain")


def pulse(root: Path) -> Pulse:
    """Whether a daemon serves the clone at `root`."""
    try:
        lock = lock_of(root)
        if not os.path.exists(lock.path):
            return Pulse(alive=False, fresh=False)
        alive = not lock.try_acquire()
    except BrainError:
        return Pulse(alive=False, fresh=False)
    if not alive:
        lock.release()
        return Pulse(alive=False, fresh=False, beat=None)
    beat, age = _read(root)
    fresh = beat is not None and abs(age) < MISSED * beat.interval
    return Pulse(alive=True, fresh=fresh, beat=beat)


def _read(root: Path) -> tuple[Beat | None, float]:
    """What the daemon wrote, and for how many seconds it has not shown itself."""
    path = _place(root, "daemon.json")
    try:
        age = time.time() - os.stat(path).st_mtime
        return Beat(**json.loads(read_text(path) or "")), age
    except (OSError, ValueError, TypeError):
        return None, 0.0


def write(root: Path, beat: Beat) -> None:
    """Show the daemon's state. A full disk stops no daemon: others then take its work over."""
    with contextlib.suppress(OSError, BrainError):
        atomic.replace(_place(root, "daemon.json"), json.dumps(asdict(beat)).encode())


def touch(root: Path) -> None:
    """Show that the daemon still works."""
    with contextlib.suppress(OSError, BrainError):
        os.utime(_place(root, "daemon.json"))


def clear(root: Path) -> None:
    """The daemon is gone."""
    with contextlib.suppress(OSError, BrainError):
        os.unlink(_place(root, "daemon.json"))


def _place(root: Path, name: str) -> str:
    return os.path.join(git_dir(str(root)), FOLDER, name)
