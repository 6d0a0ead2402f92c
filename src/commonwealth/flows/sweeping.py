"""The worker's round of the spool: each session that is due is swept, and what cannot be finished stays for the next.

A session is due when its host says that it ends or is compacted, at the end of a turn when it was not swept lately, and
when its file has rested: then nobody will say any more that it is over.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commonwealth import timeline
from commonwealth.errors import BrainError
from commonwealth.faults import fault
from commonwealth.flows import brains, capturelog, cursors, spool
from commonwealth.flows.spool import Entry, Waiting
from commonwealth.flows.sweep import FAILED, UNREADABLE, VANISHED, Told, sweep
from commonwealth.repo.lock import FileLock

RESTED = 1800.0
"""Seconds after which a transcript that nobody wrote to is taken for complete."""

BETWEEN = 600.0
"""Seconds between the sweeps of a session that goes on, turn after turn."""

TRIES = 5
"""Sweeps of one transcript that may be killed before it is given up."""

_VANISHED = 86_400.0
_AWAY = 30 * 86_400.0
"""Seconds that a session waits for a brain which cannot be opened."""

_ASKED = frozenset({"PreCompact", "SessionEnd"})


@dataclass(frozen=True, slots=True)
class Due:
    """Why a session is swept now; `complete` where its last turn is final."""

    complete: bool


def is_due(root: Path, found: Waiting) -> Due | None:
    """Whether what waits is to be swept now."""
    rested = _rests(found)
    if found.newest.ended or rested:
        return Due(complete=True)
    if any(entry.trigger in _ASKED for entry in found.entries):
        return Due(complete=False)
    if all(entry.trigger in (spool.OPEN, "SessionStart") for entry in found.entries):
        return None
    entry = found.newest
    lately = cursors.swept_within(root, entry.host, os.path.realpath(entry.transcript), BETWEEN)
    return None if lately else Due(complete=False)


def _rests(found: Waiting) -> bool:
    """Whether nobody has written to the transcript for long; one that does not exist yet may still come."""
    try:
        return time.time() - os.stat(found.newest.transcript).st_mtime > RESTED
    except OSError:
        return found.age > _VANISHED


def anything_due(root: Path) -> bool:
    """Whether a worker would find something to sweep."""
    return any(is_due(root, found) for found in spool.waiting(spool.of_brain(root)))


def sweep_all(root: Path, seconds: float, *, asking: float = math.inf) -> int:
    """Sweep what is due at the clone at `root`, the oldest first; how many transcripts were looked at.

    Begins none after `seconds`, and waits for no model after the monotonic time `asking`. What another process is at
    is left to it: it looks again when it is done. Raises nothing of what a transcript, a brain or a disk may hold
    against it: that is in the log, and the entry waits.
    """
    end = time.monotonic() + seconds
    done: set[tuple[str, str]] = set()
    with suppress(BrainError):
        _bring_home(root)
        lock = FileLock(str(spool.of_brain(root).parent / "sweeps.lock"), "sweeping")
        while (ready := _ready(root, done)) and time.monotonic() < end:
            if not lock.try_acquire():
                break
            try:
                for found in ready:
                    if time.monotonic() >= end:
                        break
                    done.add(_key(found))
                    _serve(root, found, asking)
            finally:
                lock.release()
        cursors.tidy(root)
    return len(done)


def _ready(root: Path, done: set[tuple[str, str]]) -> list[Waiting]:
    """What is due and was not looked at yet; what killed a sweep before comes last."""
    ready = [found for found in spool.waiting(spool.of_brain(root)) if _key(found) not in done and is_due(root, found)]
    return sorted(ready, key=lambda found: found.newest.tries)


def _key(found: Waiting) -> tuple[str, str]:
    return found.newest.host, found.files[-1]


def _serve(root: Path, found: Waiting, asking: float) -> None:
    due = is_due(root, found)
    if due is None:
        return
    if found.newest.tries >= TRIES:
        _log(found.newest, "given up")
        spool.done(found)
        return
    try:
        found = spool.trying(found)
        size = _size(found)
        outcome = _swept(root, found.newest, _trigger(found), due, asking - time.monotonic())
    except BrainError:
        spool.as_before(found)
        return
    fault("swept")
    _settle(found, due, outcome, grew=_size(found) != size)


def _trigger(found: Waiting) -> str:
    """What asked: the newest event that did, or that the session rests."""
    asked = [entry.trigger for entry in found.entries if entry.trigger not in (spool.OPEN, "SessionStart")]
    return asked[-1] if asked else "rested"


def _size(found: Waiting) -> int:
    try:
        return os.stat(found.newest.transcript).st_size
    except OSError:
        return -1


def _swept(root: Path, entry: Entry, trigger: str, due: Due, seconds: float) -> str:
    """The outcome of one sweep. Raises BrainError where it has to be tried again; a fault of ours is told in the log,
    and counts as a try."""
    try:
        brain = brains.open_brain(root, cwd=entry.cwd)
    except BrainError:
        _log(entry, FAILED)
        raise
    told = Told(entry.host, entry.transcript, entry.session)
    return sweep(brain, told, trigger=trigger, now=timeline.now(), complete=due.complete, seconds=seconds).outcome


def _settle(found: Waiting, due: Due, outcome: str, *, grew: bool) -> None:
    """Take what was served out of the spool, unless its session goes on."""
    over = due.complete and not grew
    if outcome == VANISHED and not found.newest.ended and found.age < _VANISHED:
        over = False
    if over or (outcome == UNREADABLE and found.newest.ended):
        spool.done(found)
    else:
        with suppress(BrainError):
            spool.still_open(found)


def _bring_home(root: Path) -> None:
    """Take over what was left in the user's folder while this brain could not be opened. What no rule gives to any
    brain is forgotten; what belongs to another brain waits for that."""
    for found in spool.waiting(spool.of_home()):
        entry = found.newest
        try:
            brain = brains.for_session(entry.cwd, None)
        except BrainError:
            if found.age > _AWAY:
                _log(entry, "given up")
                spool.done(found)
            continue
        if brain is None:
            spool.done(found)
        elif brain.root == root or os.path.realpath(brain.root) == os.path.realpath(root):
            for one in found.entries:
                spool.put(spool.of_brain(root), one)
            spool.done(found)


def _log(entry: Entry, outcome: str) -> None:
    capturelog.note(at=timeline.now(), trigger=entry.trigger, host=entry.host, session=entry.session, outcome=outcome)
