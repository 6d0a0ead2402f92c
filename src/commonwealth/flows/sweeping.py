"""The worker's round of the spool: each session that is due is swept, what cannot be finished stays for the next."""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress
from pathlib import Path

from commonwealth import timeline
from commonwealth.errors import BrainError
from commonwealth.faults import fault
from commonwealth.flows import brains, capturelog, cursors, due, spool
from commonwealth.flows.due import Due
from commonwealth.flows.spool import Entry, Waiting
from commonwealth.flows.sweep import FAILED, UNREADABLE, VANISHED, Told, sweep
from commonwealth.repo.lock import FileLock

TRIES = 5
"""Sweeps of one transcript that may be killed before it is given up."""

_AWAY = 30 * 86_400.0
"""Seconds that a session waits for a brain which cannot be opened."""


def sweep_all(root: Path, seconds: float, *, asking: float = math.inf) -> int:
    """Sweep what is due at the clone at `root`, the oldest first; how many transcripts were looked at.

    Begins none after `seconds`, and waits for no model after the monotonic time `asking`. What another process is at
    is left to it: it looks again when it is done. Raises nothing of what a transcript, a brain or a disk may hold
    against it: that is in the log, and the entry waits.
    """
    end = time.monotonic() + seconds
    done: set[_Key] = set()
    looked = 0
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
                    done |= {_key(found), (spool.taken_name(found), 0)}
                    looked += 1
                    _serve(root, found, asking)
            finally:
                lock.release()
        cursors.tidy(root)
    return looked


_Key = tuple[str, int]


def _ready(root: Path, done: set[_Key]) -> list[Waiting]:
    """What is due and was not looked at yet; what killed a sweep before comes last."""
    waiting = spool.waiting(spool.of_brain(root))
    ready = [found for found in waiting if _key(found) not in done and due.is_due(root, found)]
    return sorted(ready, key=lambda found: found.newest.tries)


def _key(found: Waiting) -> _Key:
    """What tells a request from a later one for the same transcript."""
    if spool.is_taken(found):
        return found.files[-1], 0
    with suppress(OSError):
        return found.files[-1], os.stat(found.files[-1]).st_mtime_ns
    return found.files[-1], -1


def _serve(root: Path, found: Waiting, asking: float) -> None:
    why = due.is_due(root, found)
    if why is None:
        return
    if found.newest.tries >= TRIES:
        _log(found.newest, "given up")
        spool.done(found)
        return
    found = spool.trying(found)
    why = due.is_due(root, found) or why  # its end may have been told since
    size = _size(found)
    try:
        outcome = _swept(root, found.newest, _trigger(found), why, asking - time.monotonic())
    except BrainError:
        spool.as_before(found)
        return
    fault("swept")
    _settle(found, why, outcome, grew=_size(found) != size)


def _trigger(found: Waiting) -> str:
    """What asked: the newest event that did, or that the session rests."""
    asked = [entry.trigger for entry in found.entries if entry.trigger not in (spool.OPEN, "SessionStart")]
    return asked[-1] if asked else "rested"


def _size(found: Waiting) -> int:
    try:
        return os.stat(found.newest.transcript).st_size
    except OSError:
        return -1


def _swept(root: Path, entry: Entry, trigger: str, why: Due, seconds: float) -> str:
    """The outcome of one sweep. Raises BrainError where it has to be tried again; a fault of ours is told in the log,
    and counts as a try."""
    try:
        brain = brains.open_brain(root, cwd=entry.cwd)
    except BrainError:
        _log(entry, FAILED)
        raise
    told = Told(entry.host, entry.transcript, entry.session)
    return sweep(brain, told, trigger=trigger, now=timeline.now(), complete=why.complete, seconds=seconds).outcome


def _settle(found: Waiting, why: Due, outcome: str, *, grew: bool) -> None:
    """Take what was served out of the spool, unless its session goes on."""
    over = why.complete and not grew
    if outcome == VANISHED and not found.newest.ended and found.age < due.VANISHED:
        over = False
    if over or (outcome == UNREADABLE and found.newest.ended):
        spool.done(found)
    else:
        with suppress(BrainError):
            spool.still_open(found)


def _bring_home(root: Path) -> None:
    """Take over what was left in the user's folder while this brain could not be opened or written. What belongs to
    another brain waits for that, and what no rule gives to any brain for a while. Raises Refused where the brain still
    cannot be written."""
    for found in spool.waiting(spool.of_home()):
        entry = found.newest
        try:
            brain = brains.for_session(entry.cwd, None)
        except BrainError:
            brain = None
        if brain is None:
            if found.age > _AWAY:
                _log(entry, "given up")
                spool.done(found)
        elif os.path.realpath(brain.root) == os.path.realpath(root):
            ours = spool.taken(found)
            try:
                spool.put(spool.of_brain(root), ours.newest)
            except BrainError:
                if found.age <= _AWAY:
                    raise
                _log(entry, "given up")
            spool.done(ours)


def _log(entry: Entry, outcome: str) -> None:
    capturelog.note(at=timeline.now(), trigger=entry.trigger, host=entry.host, session=entry.session, outcome=outcome)
