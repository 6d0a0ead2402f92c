"""Sync in the background: one process a brain at a time, and no request for it is lost.

A request is a marker file. Whoever cannot get the lock leaves the marker and goes: the holder looks again
after each round, and once more after it has let go of the lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from commonwealth import timeline
from commonwealth.config import replace_file
from commonwealth.errors import BrainError, Busy, Offline, Refused
from commonwealth.faults import fault
from commonwealth.flows import branch_records, heartbeat, identity, requestwatch, tending
from commonwealth.flows.brains import Brain, open_brain
from commonwealth.flows.forges import Connect
from commonwealth.flows.syncing import sync
from commonwealth.model import Receipt
from commonwealth.repo.common import git_dir
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.repo.renamed import REQUESTS

LAST_ROUND = 5.0
"""Seconds. With less time left no further round is begun; the request waits for the next process."""

_STEP = 0.05
_TAKEN_WITHIN = 1.0
"""Seconds within which a daemon that is not busy takes a request up, beyond its debouncing."""
UNHURRIED = 4.0
"""Seconds that a daemon waits for further requests at most, where nobody waits for it."""
_TOLD = ("state", "reason", "next", "pulled", "pushed")
_LOOKING = 20.0
"""Seconds that a question about colleagues' branches may wait for the network."""
_COARSE = 20_000_000
"""Nanoseconds by which a file system's clock may lag behind."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The files of this flow, in a clone's git folder."""

    folder: Path

    @classmethod
    def of(cls, root: Path) -> Marks:
        """Those of the brain at `root`. Raises Damaged where it has no git folder."""
        return cls(Path(git_dir(str(root)), FOLDER))

    @property
    def wanted(self) -> Path:
        """Somebody asks for a round."""
        return self.folder / "wanted"

    @property
    def hurry(self) -> Path:
        """Somebody waits for a round: no debouncing."""
        return self.folder / "hurry"

    @property
    def last(self) -> Path:
        """The receipt of the last round."""
        return self.folder / "worker.json"

    @property
    def lock(self) -> Path:
        """Held by the process that serves."""
        return self.folder / "worker.lock"


@dataclass(frozen=True, slots=True)
class Pace:
    """How eagerly to serve, in seconds: wait `delay` for more requests before a round, `patience` for another
    process; begin nothing new after `seconds`. No `delay` means that somebody is waiting."""

    delay: float
    patience: float = 0
    seconds: float = 100


def serve_at(root: Path, pace: Pace) -> dict[str, object] | None:
    """`serve` for the brain at `root`, told as a worker tells it: what stands in the way is an outcome too."""
    try:
        receipt = serve(open_brain(root, cwd=os.sep), pace)
    except BrainError as error:
        receipt = Receipt("refused", reason=error.message, next=error.hint)
    return outcome(receipt) if receipt else None


def serve(brain: Brain, pace: Pace) -> Receipt | None:
    """Ask for a round of sync and serve what is asked for, this request and those that come in meanwhile.

    None where another process serves: it has been told. The receipt is that of the last round, whoever made
    it. Raises Refused where the brain's git folder cannot be written.
    """
    marks, end = Marks.of(brain.root), time.monotonic() + pace.seconds
    asked = time.time_ns() - _COARSE
    _ask(marks, hurry=pace.delay == 0)
    receipt = None
    lock = FileLock(str(marks.lock), "background sync")
    while marks.wanted.exists() and time.monotonic() < end - LAST_ROUND:
        if not _taken(lock, pace.patience):
            return receipt
        fault("worker-locked")
        try:
            if _left_to_daemon(brain.root, marks, pace, asked):
                break
            receipt = _rounds(brain, marks, pace.delay, end) or receipt
        finally:
            lock.release()
        pace = replace(pace, patience=0)
    return receipt or last_receipt(marks, since=asked)


def _rounds(brain: Brain, marks: Marks, delay: float, end: float) -> Receipt | None:
    receipt = None
    while marks.wanted.exists() and (left := end - time.monotonic()) > LAST_ROUND:
        pause(min(delay, left - LAST_ROUND), marks.hurry)
        receipt = one_round(brain, marks, end - time.monotonic())
    return receipt


def one_round(brain: Brain, marks: Marks, seconds: float, *, trigger: str = "worker") -> Receipt:
    """Serve what is asked for by now; `trigger` is what does it, for the log.

    Raises Refused where the request cannot be taken away: it would be served again and again.
    """
    hurried = marks.hurry.exists()
    with _writing(marks.folder):
        for mark in (marks.wanted, marks.hurry):  # before the round: what is asked for from here on is not in it
            mark.unlink(missing_ok=True)
    fault("worker-taken")
    tending.tend(brain, timeline.now())
    receipt = _round(brain, seconds, trigger)
    if receipt.state not in ("deferred", "refused"):
        receipt = _with_requests(brain, receipt, min(seconds, _LOOKING))
        _look_around(brain, seconds, hurried=hurried)
    _keep(marks, receipt)
    fault("worker-told")
    return receipt


def sync_now(
    brain: Brain,
    now: str,
    *,
    timeout: float,
    accept_deletions: bool = False,
    adopt_remote: bool = False,
    connect: Connect | None = None,
) -> Receipt:
    """A round that a person asks for and waits for: what a worker does, at once and in this process. With `connect`
    the host is asked as well what became of open requests.

    Raises as `syncing.sync` does.
    """
    tending.tend(brain, now)
    receipt = sync(brain, timeout=timeout, accept_deletions=accept_deletions, adopt_remote=adopt_remote, asked=True)
    if receipt.state not in ("deferred", "refused"):
        receipt = _with_requests(brain, receipt, min(timeout, _LOOKING), connect)
        _look_around(brain, timeout, hurried=True)
    return receipt


def _left_to_daemon(root: Path, marks: Marks, pace: Pace, asked: int) -> bool:
    """Whether a daemon has taken the request; whoever waits for the round waits for it here.

    One that does not take it in time, though it is not busy, hangs or is gone: then the request is ours.
    """
    started = idle = time.monotonic()
    while (seen := heartbeat.pulse(root)).fresh and seen.beat is not None:
        now = time.monotonic()
        if not marks.wanted.exists():
            if not pace.patience or now > started + pace.patience or last_receipt(marks, since=asked):
                return True
        elif seen.beat.busy:
            idle = now
            if pace.patience and now > started + pace.patience:
                return True
        elif now > idle + (max(pace.delay, UNHURRIED) if pace.delay else 0) + _TAKEN_WITHIN:
            return False
        time.sleep(_STEP)
    return False


def _round(brain: Brain, seconds: float, trigger: str) -> Receipt:
    try:
        return sync(brain, timeout=seconds, trigger=trigger)
    except (Offline, Busy) as error:
        return Receipt("deferred", reason=error.message, next=error.hint)
    except BrainError as error:
        return Receipt("refused", reason=error.message, next=error.hint)


def _with_requests(brain: Brain, receipt: Receipt, seconds: float, connect: Connect | None = None) -> Receipt:
    """The receipt with what became of requests for notes. What fails is tried again by a later round."""
    with contextlib.suppress(BrainError, OSError):
        told = requestwatch.notice(brain, timeout=seconds, connect=connect)
        items, warnings = (*receipt.items, *told.items), (*receipt.warnings, *told.lines)
        return replace(receipt, items=items, warnings=warnings)
    return receipt


def _look_around(brain: Brain, seconds: float, *, hurried: bool) -> None:
    """Learn what waits on colleagues' branches for requests. Where nothing says that there are any, nobody is made to
    wait for that. What fails is tried again by a later round, and the round itself has succeeded."""
    with contextlib.suppress(BrainError, OSError):
        by_request = branch_records.are_expected(brain)
        if by_request or not hurried:
            own = f"{REQUESTS}{identity.whoami(brain).ref}"
            branch_records.look(brain, own, min(seconds, _LOOKING), by_request=by_request)


def pause(seconds: float, hurry: Path) -> None:
    """Let more requests come in, unless somebody waits for this round."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not hurry.exists():
        time.sleep(min(left, _STEP))


def _ask(marks: Marks, *, hurry: bool) -> None:
    with _writing(marks.folder):
        marks.folder.mkdir(parents=True, exist_ok=True)
        for mark in (marks.hurry, marks.wanted) if hurry else (marks.wanted,):
            mark.touch()


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Tell a refusal of the disk as Refused."""
    try:
        yield
    except OSError as error:
        raise Refused(
            f"{folder} cannot be written ({error.strerror}).",
            hint="The brain's .git folder must be writable for you, on a disk with free space.",
        ) from None


def _taken(lock: FileLock, patience: float) -> bool:
    try:
        lock.acquire(patience)
    except Busy:
        return False
    return True


def _keep(marks: Marks, receipt: Receipt) -> None:
    """Leave the outcome for whoever asks later; it carries no note's text."""
    with contextlib.suppress(BrainError):  # a full disk must not undo a finished round
        replace_file(marks.last, json.dumps(outcome(receipt)) + "\n")


def outcome(receipt: Receipt) -> dict[str, object]:
    """What is told of a round: its state and figures, the reason and the next step."""
    return {key: getattr(receipt, key) for key in _TOLD}


def rests(root: Path, seconds: float) -> bool:
    """Whether a round succeeded within the last `seconds` and nothing was committed since.

    An edit by hand does not count: it waits for the next round that is due anyway.
    """
    marks = Marks.of(root)
    last = last_receipt(marks, since=time.time_ns() - int(seconds * 1e9))
    if last is None or last.state in ("deferred", "refused"):
        return False
    at = committed(root)
    try:
        return at is not None and at < os.stat(marks.last).st_mtime_ns
    except OSError:
        return False


def committed(root: Path) -> int | None:
    """When the branch of the brain at `root` moved last (nanoseconds by the file system's clock), None where nobody
    can tell."""
    try:
        return os.stat(Marks.of(root).folder.parent / "logs" / "HEAD").st_mtime_ns
    except (OSError, BrainError):
        return None


def last_receipt(marks: Marks, *, since: int = 0) -> Receipt | None:
    """The outcome of the last round, if it ended after `since` (nanoseconds since the epoch)."""
    try:
        with open(marks.last, encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mtime_ns < since:
                return None
            told = json.load(file)
        return Receipt(**{key: told[key] for key in _TOLD})
    except (OSError, ValueError, KeyError, TypeError):
        return None
