"""Reality changed: one commit adds what is true from now on, and closes what was true until then."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Refused, Usage
from commonwealth.flows import curating, drafts, identity, indexing, recall, remember, replaced, saving, scope
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.drafts import Draft
from commonwealth.flows.identity import Session
from commonwealth.flows.replaced import Old
from commonwealth.index import lookup
from commonwealth.model import CLOSED_STATUSES, TYPES, Item, Note, NoteFile, Receipt
from commonwealth.notes import closing, codec, naming
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

_NOTHING = "Nothing was written."
_DONE = "this replacement is recorded already"


def supersede(
    brain: Brain, note_ids: Sequence[str], draft: Draft, *, effective_at: str | None, session: Session, now: str
) -> Receipt:
    """Record `draft` as what replaces the notes `note_ids` from `effective_at` on (None: its `valid_from`, else `now`).

    One commit adds the replacement, which names them in `supersedes`, and ends each of them at that instant. The
    receipt is `committed` with the new id and those that it closed, `staged` where the team reviews first (the old
    notes then stay as they are), `unchanged` where the same call was made before, or `refused` for a secret. Where
    somebody else superseded a note at the same time both replacements are there, and `conflicts` names the other.
    Raises Usage that names an invalid field; Refused for an id that is unknown, ambiguous, no fact's, retracted or
    superseded already.
    """
    given, (draft, starts) = draft, _validated(replace(draft, kind=draft.kind or "memory"), effective_at)
    author = identity.whoami(brain)
    found = _located(brain, note_ids)
    ids = tuple(one.id for one in found)
    before = [replaced.read(brain, one) for one in found]
    draft = _inheriting(draft, given.kind, [old.note for old in before])
    note = drafts.note_of(draft, brain, author, session, now)
    if given.repository is None:
        note = replace(note, repository=draft.repository)
    call = (*drafts.call_of(brain, note, draft, author), "supersedes", *sorted(ids))
    if draft.idempotency_key:
        call = drafts.call_of(brain, note, draft, author)
    note = replace(note, valid_from=starts or now, supersedes=ids)
    if (refusal := saving.refused_for_secret(note)) is not None:
        return refusal
    short, double = indexing.ask(brain, lambda conn: _known(conn, call, keyed=bool(draft.idempotency_key)))
    if double is not None:
        _require_same(double.note, ids)
        if saving.is_committed(brain, double.path):
            return Receipt("unchanged", (double.note.id, *ids), reason=_DONE)
        note, path = double.note, double.path
    else:
        note = replace(note, id=naming.new_id(note.title, now, short))
        path = naming.note_path(note.kind, note.id, now, brain.folders)
    for old in before:
        require_open(old, note)
    if double is None and (verdict := curating.of_note(note, ())).verdict == "review":
        return _staged(remember.hold(brain, note, verdict, session, now), ids)
    if (mode := review_mode(brain)) != "auto":
        return _staged(remember.stage(brain, note, mode), ids)
    write = _Write(brain, note, path, found, author, now)
    message = f"Supersede: {one_line(note.title, 60)}{identity.trailers(session)}"
    receipt = saving.save(
        brain, write.plan, ids=(note.id, *ids), message=message, author=author, now=now, command="supersede"
    )
    warnings = [warning for one in found for warning in one.warnings]
    return _told(receipt, note, before, now, [*warnings, *_gaps(before, note), *scope.missing(brain, note)])


def _validated(draft: Draft, effective_at: str | None) -> tuple[Draft, str | None]:
    """The draft in canonical form, and from when on it holds, where that was given."""
    try:
        at = timeline.canonical(effective_at) if effective_at else None
    except ValueError as error:
        raise Usage(secrets.mask(f"effective_at: {error}."), hint=f"Correct that field. {_NOTHING}") from None
    draft = drafts.validated(replace(draft, valid_from=draft.valid_from or at))
    if at is not None and draft.valid_from != at:
        raise Usage(
            f"valid_from: {draft.valid_from} is not effective_at {at}, from when on the replacement holds.",
            hint=f"Give one of the two. {_NOTHING}",
        )
    return draft, draft.valid_from


def _inheriting(draft: Draft, kind: str, olds: Sequence[Note]) -> Draft:
    """What the caller left out, from the notes that are replaced: what they all say of kind, type and repository, and
    the components and tags of each. A status or a confidence is never taken over: it was that of another fact.

    An empty `kind` is one that was left out.
    """

    def common(name: str) -> str | None:
        values = {getattr(note, name) for note in olds}
        return values.pop() if len(values) == 1 else None

    def every(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for note in olds for value in getattr(note, name)))

    kind = kind or (draft.type is None and common("kind")) or "memory"
    type_ = common("type") if kind == common("kind") else None
    return replace(
        draft,
        kind=kind,
        type=draft.type or (type_ if type_ in TYPES else None),
        repository=draft.repository or common("repository"),
        components=draft.components or every("components"),
        tags=draft.tags or every("tags"),
    )


def _located(brain: Brain, note_ids: Sequence[str]) -> tuple[recall.Located, ...]:
    """The notes to close, each once."""
    found = {one.id: one for one in (recall.located_once(brain, note_id) for note_id in note_ids)}
    if not found:
        raise Usage("id: say which note is superseded.", hint=_NOTHING)
    for one in found.values():
        replaced.require_fact(one, "id", "superseded")
    return tuple(found.values())


def _known(conn: sqlite3.Connection, call: tuple[str, ...], *, keyed: bool) -> tuple[str, NoteFile | None]:
    """The short id of the replacement of this call, and that note where it is there already.

    One that was retracted since replaces nothing any more: then it is part of the call, which makes another.
    """
    while True:
        short = naming.short_id("\x1f".join(call).encode("utf-8", "surrogatepass"))
        same = [file for file in lookup.get(conn, short) if file.note.id.endswith(f"-{short}")]
        if not same:
            return short, None
        if keyed or same[0].note.status != "retracted":
            return short, same[0]
        call = (*call, same[0].note.id)


def _require_same(note: Note, ids: Sequence[str]) -> None:
    """Raises Refused where a key was used for another note."""
    if naming.id_key(note.id) in map(naming.id_key, ids):
        raise Refused(f"id: {note.id} cannot supersede itself.", hint=_NOTHING)
    if set(map(naming.id_key, ids)) - set(map(naming.id_key, note.supersedes)):
        raise Refused(
            f"idempotency_key: it was used for {note.id}, which does not supersede {', '.join(ids)}.",
            hint=f"Give another key. {_NOTHING}",
        )


def require_open(old: Old, by: Note) -> None:
    """Raises Refused or Usage where `by` cannot close a note."""
    note = old.note
    if note.status == "retracted":
        why = f": {one_line(note.retract_reason, 200)}" if note.retract_reason else ""
        raise Refused(
            f"id: {note.id} was retracted, so it was never true{why}.",
            hint=f"Record the fact as a note of its own: `brain remember`. {_NOTHING}",
        )
    first = closing.closer(note, [other for other in old.others if other.id != by.id])
    ended = note.superseded_by if note.status == "superseded" and note.superseded_by != by.id else None
    if first is not None or ended or (note.status == "superseded" and not note.superseded_by):
        last = ended or (first.id if first else None)
        said = f" by {last}" if last else ""
        step = f"Supersede that note, the end of the chain: `brain supersede {last} …`. " if last else ""
        plan = next((other for other in old.others if other.id == last), None)
        if plan is not None and (starts := closing.begins(plan)) and starts > (by.valid_from or ""):
            raise Refused(
                f"id: {note.id} is to be superseded by {plan.id} from {starts} on.",
                hint=f"To move that instant: `brain update {plan.id} --valid-from T`. To cancel the plan: `brain "
                f"retract {plan.id} --reason R`, then supersede {note.id}. {_NOTHING}",
            )
        raise Refused(f"id: {note.id} was superseded{said} already.", hint=f"{step}{_NOTHING}")
    if note.valid_from and by.valid_from and by.valid_from < note.valid_from:
        move = f" To move its beginning: `brain update {note.id} --valid-from T`." if note.supersedes else ""
        raise Usage(
            f"effective_at: {by.valid_from} is before valid_from {note.valid_from} of {note.id}, which would then have "
            "been true at no time.",
            hint="Give a later instant, or retract that note if it was never true, or is a plan that is cancelled: "
            f"`brain retract`.{move} {_NOTHING}",
        )


@dataclass(slots=True)
class _Write:
    """What is committed, planned anew under the lock from what is there by then."""

    brain: Brain
    note: Note
    path: str
    found: Sequence[recall.Located]
    author: identity.Identity
    now: str

    def plan(self) -> saving.Planned | Receipt:
        there = remember.of_the_same_call(self.brain, self.note, self.path)
        note, path, data = self.note, self.path, b""
        if there is not None:
            path, data = there
            note = codec.parse(codec.decode(data, path), path, note.kind)[0]
            if saving.is_committed(self.brain, path):
                return Receipt("unchanged", (note.id, *note.supersedes), reason=_DONE)
        olds = [replaced.read(self.brain, one) for one in self.found]
        for old in olds:
            if old.note.status == "retracted":
                require_open(old, note)
        rivals = [other for old in olds for other in _rivals(old, note)]
        made = Change(path, data, data) if there else Change(path, codec.to_bytes(note, path))
        closed = [Change(old.path, old.edited(self.brain, _others(old, note)), old.data) for old in olds]
        people = saving.people_change(self.brain, self.author, self.now, killed=there is not None)
        return saving.Planned(
            [made, *closed, *people],
            conflicts=tuple(dict.fromkeys(other.id for other in rivals)),
            warnings=tuple(
                f"{old.note.id} was superseded by {other.id} at the same time; both replacements are kept"
                for old in olds
                for other in _rivals(old, note)
            ),
            ids=(note.id, *(old.note.id for old in olds)),
        )


def _others(old: Old, by: Note) -> list[Note]:
    return [*(other for other in old.others if other.id != by.id), by]


def _rivals(old: Old, by: Note) -> list[Note]:
    """The notes that replaced `old` while this call was under way."""
    standing = (other for other in old.others if other.status not in CLOSED_STATUSES)
    return [other for other in standing if other.id != by.id and not closing.replaces(old.note, other)]


def _staged(receipt: Receipt, ids: Sequence[str]) -> Receipt:
    if receipt.state != "staged":
        return receipt
    return replace(
        receipt, reason=f"{receipt.reason}; until it is approved {', '.join(ids)} stays as it is", ids=receipt.ids
    )


def _gaps(olds: Sequence[Old], by: Note) -> list[str]:
    """Where a note had ended before its replacement begins: between the two neither is true."""
    ended = ((old.note, old.note.valid_until) for old in olds if old.note.status not in CLOSED_STATUSES)
    return [
        f"{note.id} had ended at {end} already: from then until {by.valid_from} neither is true"
        for note, end in ended
        if end and by.valid_from and end < by.valid_from
    ]


def _items(note: Note, olds: Sequence[Old]) -> tuple[Item, ...]:
    """What became of each note; one that had an end of its own before keeps that."""
    at = note.valid_from or ""
    ends = ((old.note.id, min(filter(None, (old.note.valid_until, at)), default="")) for old in olds)
    closed = (Item(id_, "closed", f"is true until {end}") for id_, end in ends)
    return (Item(note.id, "added", f"is true from {at}"), *closed)


def _told(receipt: Receipt, note: Note, olds: Sequence[Old], now: str, warnings: Sequence[str]) -> Receipt:
    receipt = replace(receipt, warnings=(*warnings, *receipt.warnings))
    if receipt.state != "committed":
        return receipt
    ids = [old.note.id for old in olds]
    if note.id in receipt.ids and not receipt.conflicts:
        receipt = replace(receipt, items=_items(note, olds))
    if receipt.conflicts:
        step = "`brain conflicts list` shows what is in conflict, `brain conflicts resolve` ends it."
        return replace(receipt, reason="somebody else superseded the note at the same time", next=step)
    if note.valid_from and note.valid_from > now:
        return replace(receipt, reason=f"until {note.valid_from} it is {', '.join(ids)} that is true")
    return receipt
