"""Active work as people and tools announce, change and end it: advice to others, never a lock.

A record is one note of its owner's, committed at once like any other, whatever the brain's review mode; what touches
what is compared in `worksearch`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from commonwealth.errors import Refused
from commonwealth.flows import guarding, identity, indexing, leases, recall, remember, saving, workfields, worksearch
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.flows.workfields import Changed, Value, WorkDraft
from commonwealth.flows.worksearch import WorkFound, WorkHit, WorkQuery, search
from commonwealth.index import lookup
from commonwealth.model import DONE_STATUSES, Note, NoteFile, Receipt
from commonwealth.notes import codec, naming, sections, store
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

__all__ = [
    "Started", "WorkDraft", "WorkFound", "WorkHit", "WorkQuery", "abandon", "complete", "search", "start", "update",
]  # fmt: skip

_SUMMARY = 300
"""Characters of an outcome that a record without a summary takes for its summary."""


@dataclass(frozen=True, slots=True)
class Started:
    """The receipt of announced or changed work, and the active records of others that touch the same."""

    receipt: Receipt
    overlaps: tuple[WorkHit, ...] = ()


# Announcing


def start(brain: Brain, draft: WorkDraft, *, session: Session, now: str) -> Started:
    """Announce work as a new record, and tell whose active records it overlaps.

    The receipt is `committed`, `unchanged` where this session has announced it already (or anybody with the same
    idempotency key), or `refused` for a secret. A record that is over or closed is never revived by this.
    Raises Usage that names every invalid field.
    """
    draft = workfields.validated(draft, brain)
    author = identity.whoami(brain)
    note = workfields.note_of(draft, brain, author, session, now)
    refusal = guarding.refused(note)
    if refusal is not None:
        return Started(refusal)
    keyed = bool(draft.idempotency_key)
    call = _call_of(brain, note, draft.idempotency_key)
    short, double = indexing.ask_of_files(
        brain,
        lambda conn: _known(conn, call, now, keyed=keyed),
        lambda found: [found[1].path] if found[1] else [],
    )
    if double is not None and saving.is_committed(brain, double.path):
        known = double.note
        receipt = Receipt("unchanged", (known.id,), reason=_announced(known, now), next=_next(known, now))
        return Started(receipt, _overlaps(brain, known, author, session, now))
    note = double.note if double is not None else replace(note, id=naming.new_id(note.title, now, short))
    path = double.path if double is not None else naming.note_path(note.kind, note.id, now, brain.folders)
    receipt = _warned(_commit(brain, note, path, author, session, now), *_untouching(note))
    return Started(receipt, _overlaps(brain, replace(note, id=receipt.ids[0]), author, session, now))


def _call_of(brain: Brain, note: Note, key: str | None) -> tuple[str, ...]:
    """What makes two announcements the same: the caller's key, or session, title and repository."""
    origin = note.provenance
    said = ("key", key) if key else ("work", origin.session, origin.agent, note.title.casefold(), note.repository)
    return (brain.config.key, note.author_ref or "", *(part or "" for part in said))


def _known(conn: sqlite3.Connection, call: tuple[str, ...], now: str, *, keyed: bool) -> tuple[str, NoteFile | None]:
    """The short id of the record of this call, and the record itself where it is there and counts."""
    while True:
        short = naming.short_id("\x1f".join(call).encode("utf-8", "surrogatepass"))
        same = [file for file in lookup.get(conn, short) if file.note.id.endswith(f"-{short}")]
        if not same or keyed or leases.is_active(same[0].note, now):
            return short, same[0] if same else None
        call = (*call, same[0].note.id)


def _announced(note: Note, now: str) -> str:
    if note.status in DONE_STATUSES:
        return f"this work was announced before, and is {note.status}"
    if not leases.is_active(note, now):
        return f"this work was announced before, and its lease was over at {leases.end_of(note)}"
    return "this work is announced already"


def _next(note: Note, now: str) -> str | None:
    if leases.is_active(note, now):
        return None
    step = "start it under another key" if note.status in DONE_STATUSES else "renew it with an update (`--lease`)"
    return f"If you are at it again, {step}."


def _commit(brain: Brain, note: Note, path: str, author: Identity, session: Session, now: str) -> Receipt:
    """Commit a record that is new, or that an earlier call left at `path` when it was killed before its commit."""

    def plan() -> saving.Planned | Receipt:
        there = remember.of_the_same_call(brain, note, path)
        people = saving.people_change(brain, author, now, killed=there is not None)
        if there is None:
            return saving.Planned([Change(path, codec.to_bytes(note, path)), *people])
        found, data = there
        if saving.is_committed(brain, found):
            return Receipt("unchanged", (naming.stem(found),), reason="this work is announced already")
        return saving.Planned([Change(found, data, data), *people], ids=(naming.stem(found),))

    message = f"Start work: {one_line(note.title, 60)}{identity.trailers(session)}"
    return saving.save(brain, plan, ids=(note.id,), message=message, author=author, now=now, command="work")


def _untouching(note: Note) -> tuple[str, ...]:
    """That nothing can overlap with a record which names nothing."""
    if note.files or note.components:
        return ()
    return ("it names no file and no component, so nobody learns that they change the same: add some with an update",)


def _warned(receipt: Receipt, *warnings: str) -> Receipt:
    """The receipt of a commit with warnings before its own."""
    return replace(receipt, warnings=(*warnings, *receipt.warnings)) if receipt.state == "committed" else receipt


def _overlaps(brain: Brain, note: Note, author: Identity, session: Session, now: str) -> tuple[WorkHit, ...]:
    return worksearch.overlapping(brain, note, author=author, session=session, now=now)


# Changing


def update(
    brain: Brain, note_id: str, changes: Mapping[str, Value], *, session: Session, now: str, force: bool = False
) -> Started:
    """Change a record of one's own, and tell whose active records it overlaps now.

    Keys of `changes` are title, summary, repository, branch, status, files, components, `add_files`, `remove_files`
    (the same for components), `provenance.…`, `lease_minutes`, and `progress`, a text that becomes a section of its
    own. Every change is a sign of life: the lease of an open record begins anew with its length, or the one given.
    `force` changes a record that is somebody else's and active.
    Raises Usage that names every invalid field, Refused for an unknown id and for a record of somebody else's.
    """
    found, there = _located(brain, note_id)
    wanted = workfields.changed(changes, brain, there.repository)
    author = identity.whoami(brain)
    status = wanted.values.get("status")
    if status in DONE_STATUSES:
        _require_may_end(there, author, now, force=force)
    elif not force:
        _require_own(there, author)

    def edit(old: Note) -> Note:
        return _edited(old, wanted, author, now)

    new = edit(there)
    warnings = (*_revived(there, new, now), *_over(there, new))
    if new.files != there.files or new.components != there.components:
        warnings += _untouching(new)
    receipt = _write(brain, found, edit, "Update work", author, session, now)
    if receipt.state not in ("committed", "unchanged"):
        return Started(receipt)
    told = _warned(receipt, *warnings)
    note = _located(brain, found.id)[1]
    return Started(told, _overlaps(brain, note, author, session, now) if leases.is_open(note) else ())


def _edited(old: Note, wanted: Changed, author: Identity, now: str) -> Note:
    new = wanted.of(old)
    status = wanted.values.get("status")
    if isinstance(status, str) and status != old.status:
        new = replace(new, status=status, completed_at=now if status == "completed" else None)
        if status in DONE_STATUSES and _foreign(old, author):
            said = f"{_by(old, author, now)}."
            new = replace(new, body=_with_section(new.body, f"{status.capitalize()} {now}", said, old, None))
    if wanted.progress:
        new = replace(new, body=_with_section(new.body, f"Progress {now}", wanted.progress, old, author))
    if new == old and wanted.lease_minutes is None:
        return old
    if leases.is_open(new):
        length = timedelta(minutes=wanted.lease_minutes) if wanted.lease_minutes else _length(old, now)
        new = replace(new, lease_until=workfields.later(now, length))
    return replace(new, updated_at=now)


def _length(note: Note, now: str) -> timedelta:
    """The length of a record's lease; of one that was over, the usual one."""
    return (
        min(leases.length(note), timedelta(minutes=workfields.LONGEST_LEASE))
        if leases.is_active(note, now)
        else (leases.USUAL)
    )


def _revived(old: Note, new: Note, now: str) -> tuple[str, ...]:
    if new is old or not leases.is_open(new) or leases.is_active(old, now):
        return ()
    was = f"it was {old.status}" if old.status in DONE_STATUSES else f"its lease was over at {leases.end_of(old)}"
    return (f"{was}; it is active again, until {new.lease_until}",)


_ENDED = re.compile(
    r"^## (?:Completed|Abandoned) \S+\n+Ended for .{1,60}? by (.{1,60}?)(?:; its lease was over at \S+)?\.$",
    re.MULTILINE,
)


def _over(old: Note, new: Note) -> tuple[str, ...]:
    """That a record which has ended was changed and stays ended, with who ended it and when."""
    if new is old or old.status not in DONE_STATUSES or new.status != old.status:
        return ()
    by = _ENDED.findall(old.body)
    when = old.completed_at or old.updated_at
    ended = " ".join((old.status, *([f"by {one_line(by[-1], 60)}"] if by else []), *([f"at {when}"] if when else [])))
    return (f"the work was {ended}, and stays so; the status in-progress reopens it",)


# Ending


def complete(
    brain: Brain, note_id: str, summary: str | None = None, *, session: Session, now: str, force: bool = False
) -> Receipt:
    """End a record as done, with what came of it as `summary`. Raises as `abandon` does."""
    return _end(brain, note_id, "completed", workfields.text("summary", summary), session, now, force=force)


def abandon(
    brain: Brain, note_id: str, reason: str | None = None, *, session: Session, now: str, force: bool = False
) -> Receipt:
    """End a record whose work is given up, for `reason`.

    One's own may be ended at any time, another's once it is stale, or with `force`: it is advice and holds nobody up,
    and the record and the commit say who ended whose. The receipt is `committed`, `unchanged` for one that has ended,
    or `refused` for a secret. Raises Usage for a text that is too long, Refused for an id that is unknown, no work
    record's, or of somebody else's active one.
    """
    return _end(brain, note_id, "abandoned", workfields.text("reason", reason), session, now, force=force)


def _end(
    brain: Brain, note_id: str, status: str, said: str | None, session: Session, now: str, *, force: bool
) -> Receipt:
    found, there = _located(brain, note_id)
    author = identity.whoami(brain)
    if there.status not in DONE_STATUSES:
        _require_may_end(there, author, now, force=force)
    foreign = _foreign(there, author)

    def edit(old: Note) -> Note | Receipt:
        if old.status in DONE_STATUSES:
            return Receipt("unchanged", (old.id,), reason=f"it was {old.status} before")
        done = now if status == "completed" else None
        new = replace(old, status=status, completed_at=done, updated_at=now)
        text = "\n\n".join(filter(None, (f"{_by(old, author, now)}." if foreign else "", said)))
        if said and status == "completed" and not new.summary:
            new = replace(new, summary=one_line(said, _SUMMARY))
        return replace(new, body=_with_section(new.body, f"{status.capitalize()} {now}", text, old, None))

    what = "Complete work" if status == "completed" else "Abandon work"
    about = f"\n\n{_by(there, author, now)}." if foreign else ""
    receipt = _write(brain, found, edit, what, author, session, now, about=about)
    if receipt.state == "committed" and foreign:
        return replace(receipt, reason=_by(there, author, now))
    return receipt


def _by(note: Note, author: Identity, now: str) -> str:
    """Who ended whose record, and why they could."""
    whose, who = one_line(note.owner or note.author or "somebody", 60), one_line(author.name, 60)
    lease = "" if leases.is_active(note, now) else f"; its lease was over at {leases.end_of(note)}"
    return f"Ended for {whose} by {who}{lease}"


def _with_section(body: str, heading: str, text: str, note: Note, author: Identity | None) -> str:
    """The body with a section of its own for what is said at this time, so that two of them never meet in one."""
    if not text:
        return body
    if author is not None and _foreign(note, author):
        text = f"By {one_line(author.name, 60)}.\n\n{text}"
    return sections.append_to_section(body, f"## {heading}", text)


# Both


def _located(brain: Brain, note_id: str) -> tuple[recall.Located, Note]:
    """A work record and where it lies. Raises Refused for an id that is unknown, ambiguous or another note's."""
    found = recall.located_once(brain, note_id)
    if found.kind != leases.KIND:
        raise Refused(
            f"{found.id} is no work record but a note of kind {found.kind}.",
            hint="`brain work list` shows the work records; nothing was written.",
        )
    return found, _read(brain, found)[2]


def _read(brain: Brain, found: recall.Located) -> tuple[recall.Located, bytes, Note]:
    """The record as it is now; one that was moved since it was found is looked up again."""
    try:
        data = recall.at_its_place(lambda: store.read_bytes(brain.root, found.path)[0], found.path)
    except Refused:
        moved = recall.located_once(brain, found.id)
        if moved.path == found.path:
            raise
        found, data = moved, store.read_bytes(brain.root, moved.path)[0]
    return found, data, codec.parse(codec.decode(data, found.path), found.path, found.kind)[0]


def _write(
    brain: Brain,
    found: recall.Located,
    edit: Callable[[Note], Note | Receipt],
    what: str,
    author: Identity,
    session: Session,
    now: str,
    *,
    about: str = "",
) -> Receipt:
    """One commit of what `edit` makes of the record as it lies there by then."""

    def plan() -> saving.Planned | Receipt:
        place, data, old = _read(brain, found)
        new = edit(old)
        if isinstance(new, Receipt):
            return new
        if new == old:
            return Receipt("unchanged", (old.id,), reason="the record says so already")
        refusal = guarding.refused(new, old)
        if refusal is not None:
            return replace(refusal, ids=(old.id,))
        body = None if new.body == old.body else new.body
        text = codec.edit(codec.decode(data, place.path), codec.changes(old, new), body, place.path)
        return saving.Planned([Change(place.path, text.encode(), data)])

    message = f"{what}: {one_line(found.title, 60)}{about}{identity.trailers(session)}"
    return saving.save(brain, plan, ids=(found.id,), message=message, author=author, now=now, command="work")


def _foreign(note: Note, author: Identity) -> bool:
    return not leases.is_of_person(note, author.ref, author.name)


def _require_own(note: Note, author: Identity) -> None:
    if _foreign(note, author):
        raise Refused(
            f"{note.id} is the work of {one_line(note.owner or note.author or 'somebody else', 60)}.",
            hint="It holds you up in nothing: announce your own with `brain work start`, or change theirs all the same "
            "with `--force`. Nothing was written.",
        )


def _require_may_end(note: Note, author: Identity, now: str, *, force: bool) -> None:
    if force or not _foreign(note, author) or not leases.is_active(note, now):
        return
    raise Refused(
        f"{note.id} is the active work of {one_line(note.owner or note.author or 'somebody else', 60)}, "
        f"until {leases.end_of(note) or 'they end it'}.",
        hint="It holds you up in nothing. Ask them to end it; once it is stale anybody can, or `--force` does so now.",
    )
