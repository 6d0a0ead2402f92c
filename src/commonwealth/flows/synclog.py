"""What was synced and written lately, for whoever asks why: two logs in the clone's git folder, never committed.

They hold states, figures, ids and reasons, but no note's text. A line is one write at the end of a file; a full file
is kept aside once, so that both together stay bounded.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from commonwealth.curate import secrets
from commonwealth.errors import BrainError, Busy, Offline
from commonwealth.model import Receipt
from commonwealth.repo.common import git_dir
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.safetext import one_line

T = TypeVar("T")

KEPT = 200
"""Lines of each log that are shown at most."""

ROUNDS, RECEIPTS = "rounds.jsonl", "receipts.jsonl"
_FULL = 1 << 16
_LONGEST = 300
_IDS = 20


@dataclass(frozen=True, slots=True)
class Round:
    """One sync: when it began, what asked for it (`sync`, `worker`, `daemon` …), what came of it.

    `pulled` and `pushed` count notes, `rounds` how often it began anew because others pushed first, `refused` the
    pushes that lost such a race; `ms` is its wall time.
    """

    at: str
    trigger: str
    state: str
    pulled: int = 0
    pushed: int = 0
    conflicts: int = 0
    rounds: int = 0
    refused: int = 0
    ms: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """One write: what it was told. `ids` are the first of its notes, `count` says how many there were."""

    at: str
    command: str
    state: str
    ids: tuple[str, ...] = ()
    count: int = 0
    commit: str | None = None
    reason: str | None = None


@contextmanager
def noted(root: Path, trigger: str, at: str) -> Iterator[Callable[[Receipt, int, int], None]]:
    """Log the sync that runs inside, whatever comes of it.

    What is yielded takes its receipt, how often it began anew, and its refused pushes.
    """
    started = time.monotonic()
    found: list[tuple[Receipt, int, int]] = []

    def told(receipt: Receipt, rounds: int, refused: int) -> None:
        found.append((receipt, rounds, refused))

    try:
        yield told
    except BrainError as error:
        state = "deferred" if isinstance(error, (Busy, Offline)) else "refused"
        found.append((Receipt(state, reason=error.message), 0, 0))
        raise
    finally:
        receipt, rounds, refused = found[-1] if found else (Receipt("stopped"), 0, 0)
        _append(
            root,
            ROUNDS,
            Round(
                at,
                trigger,
                receipt.state,
                receipt.pulled or 0,
                receipt.pushed or 0,
                len(receipt.conflicts or ()),
                rounds,
                refused,
                round((time.monotonic() - started) * 1000),
                safe(receipt.reason),
            ),
        )


def keep_receipt(root: Path, receipt: Receipt, *, command: str, at: str) -> None:
    """Log what a write was told."""
    ids = receipt.ids[:_IDS]
    line = Written(at, command, receipt.state, ids, len(receipt.ids), receipt.commit, safe(receipt.reason))
    _append(root, RECEIPTS, line)


def rounds(root: Path, number: int = KEPT) -> tuple[Round, ...]:
    """The last syncs, newest first."""
    return _last(root, ROUNDS, number, lambda told: Round(**told))  # type: ignore[arg-type]


def receipts(root: Path, number: int = KEPT) -> tuple[Written, ...]:
    """The last writes, newest first."""
    return _last(root, RECEIPTS, number, _written)


def _written(told: dict[str, object]) -> Written:
    ids = told.pop("ids", None)
    listed = tuple(map(str, ids)) if isinstance(ids, list) else ()
    return Written(ids=listed, **told)  # type: ignore[arg-type]


def safe(reason: str | None) -> str | None:
    """A reason as it may be kept: it can quote a path, or the words of a remote."""
    return one_line(secrets.mask(reason), _LONGEST) if reason else None


def _append(root: Path, name: str, line: Round | Written) -> None:
    """Add a line; a log that cannot be written is no reason to fail what it tells of.

    The line end before it ends what a writer left that was killed within its own line.
    """
    with suppress(OSError, BrainError):
        path = os.path.join(git_dir(str(root)), FOLDER, name)
        data = f"\n{json.dumps(asdict(line))}\n".encode()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        file = os.open(path, flags, 0o600)
        try:
            os.write(file, data)
            size = os.fstat(file).st_size
        finally:
            os.close(file)
        if size > _FULL:
            _turn(path)


def _turn(path: str) -> None:
    """Keep a full log aside. Whoever writes to it at this moment still writes to the file that is kept."""
    lock = FileLock(f"{path}.lock", "keep the log short")
    if not lock.try_acquire():
        return
    try:
        if os.path.getsize(path) > _FULL:
            os.replace(path, f"{path}.old")
    finally:
        lock.release()


def _last(root: Path, name: str, number: int, make: Callable[[dict[str, object]], T]) -> tuple[T, ...]:
    found: list[T] = []
    with suppress(BrainError):
        path = os.path.join(git_dir(str(root)), FOLDER, name)
        for place in (path, f"{path}.old"):
            for line in reversed(_lines(place)):
                with suppress(ValueError, TypeError):  # torn, or of another version
                    told = json.loads(line)
                    if isinstance(told, dict):
                        found.append(make(told))
                if len(found) >= min(number, KEPT):
                    return tuple(found)
    return tuple(found)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
