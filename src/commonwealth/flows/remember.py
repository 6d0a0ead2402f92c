"""A fact becomes a note: validate, look for doubles, place it by review mode, commit, answer."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from commonwealth import timeline
from commonwealth.flows import curating, identity, indexing, saving, scope
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.drafts import Draft, call_of, note_of, validated
from commonwealth.flows.identity import Identity, Session
from commonwealth.index import lookup
from commonwealth.model import Note, NoteFile, Receipt, Verdict
from commonwealth.notes import candidate, codec, naming, store, waiting
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

__all__ = ["Draft", "remember"]


def remember(brain: Brain, draft: Draft, *, session: Session, now: str) -> Receipt:
    """Record `draft` as a new note.

    The receipt says `committed`, `staged` where the team reviews first, `unchanged` where the same fact is
    there already, or `refused` with the reason. Raises Usage that names every invalid field.
    """
    draft = validated(draft)
    author = identity.whoami(brain)
    note = note_of(draft, brain, author, session, now)
    refusal = saving.refused_for_secret(note)
    if refusal is not None:
        return refusal
    call = call_of(brain, note, draft, author)
    short, double, near = indexing.ask_of_files(
        brain,
        lambda conn: _looked(conn, note, call, now, keyed=bool(draft.idempotency_key)),
        lambda found: [found[1].path] if found[1] else [],
    )
    mode = review_mode(brain)
    if double is not None and (mode != "auto" or saving.is_committed(brain, double.path)):
        return Receipt("unchanged", (double.note.id,), reason=RECORDED)
    if double is not None:
        return _commit(brain, double.note, double.path, author, session, now)
    note = replace(note, id=naming.new_id(note.title, now, short))
    verdict = curating.of_note(note, near)
    doubts: tuple[str, ...] = ()
    if verdict.verdict == "review":
        receipt = hold(brain, note, verdict, session, now)
    else:
        doubts = verdict.reasons
        path = naming.note_path(note.kind, note.id, now, brain.folders)
        receipt = stage(brain, note, mode) if mode != "auto" else _commit(brain, note, path, author, session, now)
    return replace(receipt, warnings=(*scope.missing(brain, note), *doubts, *receipt.warnings))


# The same fact twice


def _looked(
    conn: sqlite3.Connection, note: Note, call: tuple[str, ...], now: str, *, keyed: bool
) -> tuple[str, NoteFile | None, tuple[Note, ...]]:
    """As `_known`, and for a note that is new those of canon that are most like it."""
    short, double = _known(conn, note, call, now, keyed=keyed)
    return short, double, () if double else curating.nearest(conn, curating.candidate_of(note), now)


def _known(
    conn: sqlite3.Connection, note: Note, call: tuple[str, ...], now: str, *, keyed: bool
) -> tuple[str, NoteFile | None]:
    """The short id of a note of this call, and the note that says the same already.

    A call repeated by a client that lost the answer makes the same short id, even while the first is still under
    way. What was recorded and closed since may be true again: then the closed note is part of the call.
    """
    if timeline.holds(note.valid_from, note.valid_until, now):
        for file in lookup.by_title(conn, note.title):
            holds = timeline.holds(file.note.valid_from, file.note.valid_until, now)
            if holds and _same_words(note, file.note) and not _is_closed(conn, file.note, now):
                return "", file
    while True:
        short = naming.short_id("\x1f".join(call).encode("utf-8", "surrogatepass"))
        same = [file for file in lookup.get(conn, short) if file.note.id.endswith(f"-{short}")]
        if not same:
            return short, None
        if keyed or not _is_closed(conn, same[0].note, now):
            return short, same[0]
        call = (*call, same[0].note.id)


def _same_words(one: Note, other: Note) -> bool:
    where = (one.repository or "").casefold() == (other.repository or "").casefold() and one.branch == other.branch
    words = (one.kind, one.title, one.summary, one.body) == (other.kind, other.title, other.summary, other.body)
    return where and words


def _is_closed(conn: sqlite3.Connection, note: Note, now: str) -> bool:
    """Whether a note was retracted or replaced: by its own word, or by that of the note that replaces it."""
    if note.status == "retracted":
        return True
    if note.status == "superseded":
        return note.valid_until is None or note.valid_until <= now
    others = [file.note for relation, file in lookup.backlinks(conn, note.id) if relation == "supersedes"]
    return any(by.status != "retracted" and (by.valid_from or by.observed_at or "") <= now for by in others)


# Where it goes


def stage(brain: Brain, note: Note, mode: str) -> Receipt:
    """Put a note where it waits for a person, unless the same call did so before, or somebody turned it down."""
    short = note.id.rpartition("-")[2]
    there = [file.note.id for file in store.staged(brain.root)[0] if file.note.id.endswith(f"-{short}")]
    if not there and (refusal := _turned_down(brain, short)) is not None:
        return refusal
    if there:
        note = replace(note, id=there[0])
    else:
        store.stage(brain.root, note)
    step = f"A person decides: `brain review show {note.id}`, then `brain review approve` or `reject`."
    if mode == "pull-request":
        step = f"`brain review show {note.id}` shows it, `brain review pr {note.id}` asks the team to take it."
    return Receipt("staged", (note.id,), reason=f"this brain reviews notes first (review: {mode})", next=step)


def _turned_down(brain: Brain, short: str) -> Receipt | None:
    """The answer where somebody turned down what the same call had staged."""
    for one in waiting.listed(brain.root, dropped=True)[0]:
        if one.note.id.endswith(f"-{short}"):
            origin = one.origin or candidate.Origin()
            by = f" by {one_line(origin.dropped_by, 80)}" if origin.dropped_by else ""
            why = f": {one_line(origin.dropped_because, 300)}" if origin.dropped_because else ""
            return Receipt(
                "unchanged",
                (one.note.id,),
                reason=f"it was turned down{by}{why}",
                next=f"`brain review approve {one.note.id}` brings it back, within {waiting.DAYS} days of that.",
            )
    return None


def hold(brain: Brain, note: Note, verdict: Verdict, session: Session, now: str) -> Receipt:
    """Put a note that the gate does not let into canon by itself where it waits for a person, with the reasons."""
    origin = candidate.Origin(
        source="remember", session=session.session, host=session.agent, reasons=verdict.reasons, at=now
    )
    receipt = stage(brain, candidate.with_origin(note, origin), "gate")
    return replace(receipt, reason="; ".join(verdict.reasons)) if receipt.state == "staged" else receipt


RECORDED = "this fact is recorded already"


def _commit(brain: Brain, note: Note, path: str, author: Identity, session: Session, now: str) -> Receipt:
    """Commit a note that is new, or that an earlier call left at `path` when it was killed before its commit."""

    def plan() -> saving.Planned | Receipt:
        there = of_the_same_call(brain, note, path)
        if there is None:
            return saving.Planned([Change(path, codec.to_bytes(note, path)), *saving.people_change(brain, author, now)])
        found, data = there
        if saving.is_committed(brain, found):
            return Receipt("unchanged", (naming.stem(found),), reason=RECORDED)
        changes = [Change(found, data, data), *saving.people_change(brain, author, now, killed=True)]
        return saving.Planned(changes, ids=(naming.stem(found),))

    message = (
        f"{'Decide' if note.kind == 'decision' else 'Remember'}: {one_line(note.title, 60)}{identity.trailers(session)}"
    )
    receipt = saving.save(brain, plan, ids=(note.id,), message=message, author=author, now=now, command="remember")
    if receipt.state == "committed" and note.valid_from and note.valid_from > now:
        return replace(receipt, reason=f"it answers nothing before {note.valid_from}")
    return receipt


def of_the_same_call(brain: Brain, note: Note, path: str) -> tuple[str, bytes] | None:
    """The file that the same call made meanwhile, under another name where another day or title gave it one."""
    if indexing.stat_file(brain, path) is None:
        short = f"-{note.id.rpartition('-')[2]}"
        named = indexing.ask(brain, lambda conn: lookup.get(conn, short.removeprefix("-")))
        there = [file.path for file in named if file.note.id.endswith(short)]
        path = next((one for one in there if indexing.stat_file(brain, one) is not None), "")
    return (path, store.read_bytes(brain.root, path)[0]) if path else None
