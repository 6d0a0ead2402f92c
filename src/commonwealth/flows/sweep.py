"""From a session's end to the queue: read the transcript, draft, judge, stage, and remember how far it was.

The story is the same whoever asks for it, and however often: the notes of a session depend on what its transcript says
and on what people decided since, not on the moments at which it was swept. Whatever ends the process between two steps,
the next sweep finishes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from commonwealth.conversation import Conversation
from commonwealth.errors import Busy, Refused
from commonwealth.faults import fault
from commonwealth.flows import (
    allowed,
    belonging,
    capturelog,
    cursors,
    drafting,
    harvest,
    indexing,
    landing,
    queueing,
    touched,
)
from commonwealth.flows.belonging import Belonging
from commonwealth.flows.brains import Brain
from commonwealth.flows.cursors import Cursor
from commonwealth.flows.drafting import Drafts
from commonwealth.flows.harvest import Ground, Judged
from commonwealth.flows.identity import Session
from commonwealth.flows.queueing import Placed
from commonwealth.hosts import transcript as transcripts
from commonwealth.model import Candidate, Item, Receipt
from commonwealth.repo.common import git_dir
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.safetext import one_line

Drafter = Callable[[Conversation], Sequence[Candidate]]
"""Where drafts come from, in the place of `drafting.drafts`."""

FOREIGN = "of another repository"
NOTHING_NEW, EMPTY, SWEPT, UNREADABLE, VANISHED = "nothing new", "no drafts", "swept", "unreadable", "vanished"
FAILED, BUSY = "failed", "busy"
DRY = "looked at"

_PATIENCE = 30.0
"""Seconds that a sweep waits for another one of the same brain."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a host says of a session: where its transcript lies and, where it says so, its name."""

    host: str
    transcript: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """One draft of a session: what it says, the gate's verdict, and what became of it.

    `id` is that of the note which waits or is canon; None where nothing was kept.
    """

    judged: Judged
    state: str
    reason: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """The outcome of a sweep: `outcome` is one word or two for the log, `lines` what was looked at (0 where nothing
    was), `model` what became of asking a model, None where none was to be asked, `left` how many entries were left out
    because they are of other repositories."""

    outcome: str
    receipt: Receipt
    drafts: tuple[Drafted, ...] = ()
    lines: tuple[int, int] = (0, 0)
    model: str | None = None
    left: int = 0

    @property
    def kept(self) -> int:
        """How many drafts wait or became canon by this sweep."""
        return sum(one.state in ("staged", "committed") for one in self.drafts)


def sweep(  # noqa: PLR0913 - each is a choice of the caller's
    brain: Brain,
    told: Told,
    *,
    trigger: str,
    now: str,
    dry_run: bool = False,
    complete: bool = True,
    drafter: Drafter | None = None,
    seconds: float = drafting.SECONDS,
    anyway: bool = False,
) -> Swept:
    """Draw from a session's transcript what its notes are, and put them where the person's settings say.

    `complete` says that the session is over or rests, so that its last turn is final. `trigger` is what asked, for the
    log. With `dry_run` nothing is written. A session of a repository whose notes go elsewhere is an outcome too, unless
    it is to be taken `anyway`. `seconds` are left for asking a model, where the person lets one draft. A
    transcript that cannot be read is an outcome; raises Busy where another sweep takes too long, Damaged and Refused
    where the brain or the disk does not take the drafts.
    """
    told = replace(told, transcript=os.path.realpath(told.transcript))
    asked = _Asked(brain, told, now, complete, dry_run, drafter, seconds, anyway)
    if dry_run:
        return _swept(asked)
    swept = Swept(FAILED, Receipt("refused"))
    try:
        with _alone(brain):
            swept = _swept(asked)
    except Busy:
        swept = replace(swept, outcome=BUSY)
        raise
    finally:
        _log(asked, trigger, swept)
    return swept


def _drafts(asked: _Asked, said: Conversation, head: str) -> Drafts:
    """The one place where drafts come from."""
    if asked.drafter is not None:
        return Drafts(tuple(asked.drafter(said)))
    told = asked.told
    session = drafting.Session(
        asked.brain.root, told.host, told.transcript, head, keep=not asked.dry_run, seconds=asked.seconds
    )
    return drafting.drafts(session, said)


@dataclass(frozen=True, slots=True)
class _Asked:
    brain: Brain
    told: Told
    now: str
    complete: bool
    dry_run: bool
    drafter: Drafter | None
    seconds: float
    anyway: bool


def _swept(asked: _Asked) -> Swept:
    root, place = asked.brain.root, asked.told.transcript
    try:
        state, head = os.stat(place), cursors.head_of(place)
    except OSError as error:
        outcome = VANISHED if isinstance(error, (FileNotFoundError, NotADirectoryError)) else UNREADABLE
        return _unread(outcome, f"{one_line(os.path.basename(place), 120)} cannot be read ({error.strerror})")
    cursor = cursors.load(root, asked.told.host, place)
    if cursor.head != head:
        cursor = Cursor(head=head)
    if not asked.dry_run and not asked.anyway and _seen(cursor, state, complete=asked.complete):
        return Swept(NOTHING_NEW, Receipt("unchanged", reason="nothing was said since the last sweep"))
    try:
        reading = transcripts.read(asked.told.host, place, complete=asked.complete)
    except Refused as error:
        return _unread(UNREADABLE, error.message.rstrip("."))
    found = belonging.of(asked.brain, reading.conversation, anyway=asked.anyway)
    if found.foreign:
        return _foreign(asked, found, replace(cursor, size=-1))
    said, asked = found.said, replace(asked, brain=found.brain)
    after = Cursor(state.st_size, state.st_mtime_ns, said.last, complete=asked.complete, head=head)
    swept = _drawn(asked, said, cursor, after)
    return replace(swept, receipt=_with_left(swept.receipt, found), left=found.left) if found.left else swept


def _foreign(asked: _Asked, found: Belonging, cursor: Cursor) -> Swept:
    """The outcome for a session that was held in other repositories. Nothing of it counts as looked at: a rule may come
    to give it to this brain."""
    if not asked.dry_run:
        cursors.save(asked.brain.root, asked.told.host, asked.told.transcript, cursor)
    reason = "the session was held in another repository, whose notes do not go to this brain"
    return Swept(FOREIGN, _with_left(Receipt("refused", reason=reason), found), left=found.left)


def _with_left(receipt: Receipt, found: Belonging) -> Receipt:
    """The receipt for a session of which a part, or all, was held in other repositories."""
    entries = f"{found.left} {'entry' if found.left == 1 else 'entries'}"
    what = f"{entries} of the transcript, from other repositories, left out"
    return replace(receipt, warnings=(*receipt.warnings, what))


def _unread(outcome: str, reason: str) -> Swept:
    return Swept(outcome, Receipt("refused", reason=reason))


def _seen(cursor: Cursor, state: os.stat_result, *, complete: bool) -> bool:
    same = (cursor.size, cursor.mtime_ns) == (state.st_size, state.st_mtime_ns)
    return same and (cursor.complete or not complete)


def _drawn(asked: _Asked, said: Conversation, before: Cursor, after: Cursor) -> Swept:
    """The drafts of a conversation, judged and placed."""
    brain, lines = asked.brain, _lines(said, before)
    session = Session(transcripts.HOSTS.get(asked.told.host, asked.told.host), asked.told.session or said.session)
    queue = queueing.look(brain.root, asked.told.host, session.session, before)
    ground = Ground(brain, said, session, asked.told.host, asked.now, queue.others, asked.told.transcript)
    made = _drafts(asked, said, after.head)
    if asked.dry_run:
        with _writing_nothing(ground, any_drafts=bool(made.candidates)) as ground:
            placed, _ = queueing.place(ground, harvest.judged(ground, made.candidates), queue, before)
        return Swept(DRY, _warned(_receipt(placed), made), tuple(map(_told, placed)), lines, made.told)
    judged = harvest.judged(ground, made.candidates)
    fault("drafts-made")
    placed, plan = queueing.place(ground, judged, queue, before)
    touched.files(brain, said, session, asked.now)
    # What is to be staged is kept first: a draft that was never staged is not one that somebody took away.
    cursors.save(
        brain.root, asked.told.host, asked.told.transcript, replace(before, emitted=plan.emitted(before, staged=False))
    )
    fault("drafts-planned")
    queueing.write(brain.root, plan, queue)
    fault("drafts-staged")
    landed, placed = landing.land(ground, placed) if asked.complete else (None, placed)
    cursors.save(
        brain.root, asked.told.host, asked.told.transcript, replace(after, emitted=plan.emitted(before, staged=True))
    )
    fault("cursor-moved")
    receipt = _warned(_receipt(placed), made)
    if landed is not None:
        receipt = replace(receipt, commit=landed.commit, warnings=(*receipt.warnings, *landed.warnings))
    return Swept(SWEPT if judged else EMPTY, receipt, tuple(map(_told, placed)), lines, made.told)


@contextmanager
def _writing_nothing(ground: Ground, *, any_drafts: bool) -> Iterator[Ground]:
    """The ground for judging drafts, where neither the index nor the user's key may be written."""
    with ExitStack() as stack:
        stack.enter_context(allowed.looking_only())
        yield replace(ground, brain=stack.enter_context(indexing.aside(ground.brain))) if any_drafts else ground


def _warned(receipt: Receipt, made: Drafts) -> Receipt:
    return replace(receipt, warnings=(*receipt.warnings, *made.warnings))


def _lines(said: Conversation, before: Cursor) -> tuple[int, int]:
    """The lines that are new to us; all, where the file is another one than before."""
    first = before.last + 1 if 0 < before.last < said.last else said.first
    return (first, said.last) if said.last else (0, 0)


def _told(placed: Placed) -> Drafted:
    return Drafted(placed.judged, placed.state, placed.reason, placed.id)


def _receipt(placed: Sequence[Placed]) -> Receipt:
    """What the caller is told of all drafts: those that wait, what was dropped and why."""
    waits = tuple(one.id for one in placed if one.state == "staged" and one.id)
    landed = tuple(one.id for one in placed if one.state == "committed" and one.id)
    dropped = tuple(one.judged.id for one in placed if one.state == "dropped" and not one.judged.secret)
    items = tuple(
        Item("" if one.judged.secret else one.id or one.judged.id, one.state, one.reason or _why(one)) for one in placed
    )
    state = "staged" if waits else "committed" if landed else "unchanged"
    return Receipt(
        state,
        (*landed, *waits),
        reason=None if waits or landed else "nothing to keep",
        next="`brain review list` shows what waits." if waits else None,
        items=items,
        dropped=dropped,
    )


def _why(placed: Placed) -> str | None:
    return "; ".join(placed.judged.verdict.reasons) or None


@contextmanager
def _alone(brain: Brain) -> Iterator[None]:
    """One sweep of a brain at a time. Raises Busy, and Refused where the git folder cannot be written."""
    path = os.path.join(git_dir(str(brain.root)), FOLDER, "capture.lock")
    lock = FileLock(path, "capture", "Another process is sweeping a session for this brain")
    lock.acquire(_PATIENCE)
    try:
        yield
    finally:
        lock.release()


def _log(asked: _Asked, trigger: str, swept: Swept) -> None:
    capturelog.note(
        at=asked.now,
        trigger=trigger,
        host=asked.told.host,
        session=asked.told.session,
        outcome=swept.outcome,
        lines=swept.lines,
        drafts=len(swept.drafts),
        kept=swept.kept,
        model=swept.model,
        elsewhere=swept.left,
    )
