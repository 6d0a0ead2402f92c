"""The drafts of one session in this clone's queue: put there, brought up to date, withdrawn, or set aside as dropped.

A file that somebody edited is theirs: it is neither rewritten nor withdrawn. A draft that was there and is gone was
decided on, by whatever hand, and does not come back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.faults import fault
from commonwealth.flows import decided, harvest, identity, ownqueue, saving
from commonwealth.flows.cursors import Cursor, Emitted
from commonwealth.flows.harvest import Ground, Judged
from commonwealth.model import Note, Verdict
from commonwealth.notes import candidate, codec, store, waiting
from commonwealth.notes.waiting import Waiting
from commonwealth.repo.common import git_dir
from commonwealth.repo.lock import WriterLock

SWEEP = "sweep"
"""Where such drafts come from, and who sets aside what a session says no more."""

DECIDED = "it was decided on before"
EDITED = "somebody edited it, so it stays as it is"
WAITS = "it waits already, from the session that this one was forked from"


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits in a clone, seen from one session: its own drafts, those of them that nobody touched, and the rest.
    `rejected` are drafts that somebody turned down, whatever session they are of, as long as they are kept."""

    own: tuple[Waiting, ...] = ()
    untouched: tuple[Waiting, ...] = ()
    others: tuple[Note, ...] = ()
    rejected: tuple[Waiting, ...] = ()

    def of(self, short: str) -> Waiting | None:
        """The session's own draft of a fact."""
        return next((one for one in self.own if _short(one.note.id) == short), None)


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of one draft: `staged`, `unchanged`, `dropped` or `refused`, and why."""

    judged: Judged
    state: str
    reason: str | None = None
    id: str | None = None


def look(root: Path, host: str, session: str | None, cursor: Cursor) -> Queue:
    """The queue of the clone at `root` as it is now."""
    own: list[Waiting] = []
    others: list[Note] = []
    untouched: list[Waiting] = []
    for one in ownqueue.listed(root)[0]:
        known = cursor.emitted.get(_short(one.note.id))
        if not (known or _is_of(one, host, session)):
            others.append(one.note)
            continue
        own.append(one)
        if known is not None and _digest(one.data) in (known.digest, known.earlier):
            untouched.append(one)
        else:
            others.append(one.note)
    rejected = (
        one
        for one in waiting.listed(root, dropped=True)[0]
        if one.origin is not None and one.origin.source == SWEEP and one.origin.dropped_by not in (None, SWEEP)
    )
    return Queue(tuple(own), tuple(untouched), tuple(others), tuple(rejected))


def _is_of(one: Waiting, host: str, session: str | None) -> bool:
    """Whether a sweep of this session made a draft."""
    origin = one.origin
    return origin is not None and (origin.source, origin.host, origin.session) == (SWEEP, host, session)


def _short(note_id: str) -> str:
    return note_id.rpartition("-")[2]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def place(ground: Ground, judged: Sequence[Judged], queue: Queue, cursor: Cursor) -> tuple[list[Placed], Plan]:
    """Say what each draft becomes, and which files that takes. Nothing is written yet."""
    plan = Plan()
    author = identity.whoami(ground.brain)
    placed: list[Placed] = []
    ends = frozenset(_short(note.id) for note in (*queue.others, *(one.note for one in queue.own)))
    past = decided.look(ground.brain, cursor, queue.rejected, ends, (ground.host, ground.session.session))
    for given in judged:
        there = queue.of(given.short)
        note = harvest.note_of(ground, given, author=author)
        one = _without_secret(given, note)
        new = one.short not in cursor.emitted and there is None
        if past.has(one, new=new):
            placed.append(Placed(one, "unchanged", DECIDED))
        elif there is None and one.short in ends:
            placed.append(Placed(one, "unchanged", WAITS, one.id))
        elif there is not None and there not in queue.untouched:
            placed.append(Placed(one, "unchanged", EDITED, there.note.id))
        elif one.kept:
            plan.stage[one.short] = (one, _file(note, there))
            placed.append(Placed(one, "staged", None, there.note.id if there else one.id))
        else:
            placed.append(Placed(one, "dropped", "; ".join(one.verdict.reasons) or None))
            if not one.secret:
                plan.aside.append((one, _file(note, None)[1]))
    since = ground.conversation.events[0].line if ground.conversation.events else 0
    plan.withdraw.extend(
        old for old in queue.untouched if _short(old.note.id) not in plan.stage and _is_within(old, since)
    )
    return placed, plan


def _without_secret(one: Judged, note: Note) -> Judged:
    """The draft, dropped where its note holds a secret that the draft does not: in the name of a branch, say."""
    refusal = saving.refused_for_secret(note)
    if refusal is None or one.secret:
        return one
    return replace(one, verdict=Verdict("drop", (refusal.reason or "secret:",)), secret=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to be changed: by short id what is to wait, what is dropped, and what no longer waits.

    What was drawn from lines before the first that was looked at stays.
    """

    stage: dict[str, tuple[Judged, tuple[str, bytes]]] = field(default_factory=dict)
    aside: list[tuple[Judged, bytes]] = field(default_factory=list)
    withdraw: list[Waiting] = field(default_factory=list)

    def emitted(self, cursor: Cursor, *, staged: bool) -> Mapping[str, Emitted]:
        """What the cursor keeps of this and of earlier sweeps: before the files are changed, and once they are.

        A draft that nobody but us takes away can come back, so it does not count as staged from then on.
        """
        found = dict(cursor.emitted)
        for short in (_short(old.note.id) for old in self.withdraw):
            if short in found:
                found[short] = replace(found[short], staged=False)
        for short, (one, (_, data)) in self.stage.items():
            span, before = one.draft.evidence, found.get(short)
            known = staged or (before is not None and before.staged)
            earlier = before.digest if before is not None and not staged else ""
            found[short] = Emitted(span.first, span.last, _digest(data), earlier, staged=known, place=one.place)
        return found


def _file(note: Note, there: Waiting | None) -> tuple[str, bytes]:
    """Path and bytes of a draft's file. One that says the same as the file that is there is that file."""
    path = f"{store.STAGING}/{note.id}.md"
    if there is not None:
        path = there.path
        note = _as_before(note, there)
    return path, codec.to_bytes(note, path)


def _as_before(note: Note, there: Waiting) -> Note:
    """A draft with what its file says already of when it was made, checked, and at which commit."""
    old = there.note
    verified, commit = note.verified, old.provenance.commit or note.provenance.commit
    if verified is not None and old.verified is not None and verified.result == old.verified.result:
        verified = old.verified
    note = replace(
        note,
        id=old.id,
        created_at=old.created_at,
        updated_at=old.updated_at,
        verified=verified,
        provenance=replace(note.provenance, commit=commit),
    )
    origin = candidate.origin_of(note)
    if origin is None or there.origin is None:
        return note
    return candidate.with_origin(note, replace(origin, at=there.origin.at))


def write(root: Path, plan: Plan, queue: Queue) -> None:
    """Bring the files about: what is new first, then what it replaces, then what was dropped.

    A draft that was decided on since `queue` was looked at stays as it was decided. Raises Damaged where the disk does
    not take a draft, Busy; what was dropped is only a kindness and never fails a sweep.
    """
    there = {one.path: one.data for one in queue.own}
    with WriterLock(git_dir(root), operation="capture"):
        for path, data in (made for _, made in plan.stage.values()):
            if there.get(path) != data and (path not in there or _is_still(root, path, there[path])):
                store.put(root, path, data)
                fault("draft-staged")
        for old in plan.withdraw:
            with suppress(Damaged, Refused, FileNotFoundError):
                _withdraw(root, old)
    for one, data in plan.aside:
        path = f"{store.DROPPED}/{one.id}.md"
        with suppress(Damaged, Refused):
            if not (root / path).exists():
                store.put(root, path, data)


def _is_still(root: Path, path: str, data: bytes) -> bool:
    with suppress(FileNotFoundError, BadNote):
        return store.read_bytes(root, path)[0] == data
    return False


def _is_within(one: Waiting, since: int) -> bool:
    span = one.origin.evidence if one.origin else None
    return span is not None and span.first >= since


def _withdraw(root: Path, one: Waiting) -> None:
    """Set a draft aside that the session says no more; the one that says it better waits already."""
    if one.origin is None or not _is_still(root, one.path, one.data):
        return
    why = "a later sweep of the session no longer draws this from it"
    origin = replace(one.origin, verdict="drop", dropped_at=one.origin.at, dropped_by=SWEEP, dropped_because=why)
    waiting.drop(root, one, origin)
