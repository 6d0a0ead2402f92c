"""A fact becomes a note: validate, look for doubles, place it by review mode, commit, answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commonwealth import timeline
from commonwealth.config import REVIEW_MODES, load_user_config
from commonwealth.errors import Usage
from commonwealth.flows import identity, indexing, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.index import lookup
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Note, Provenance, Receipt
from commonwealth.notes import codec, naming, store
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

MAX_TITLE = 1000
"""Characters. A longer title is a body in the wrong place."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact as a caller hands it in. Times are ISO 8601; what is left out gets the documented default."""

    title: str
    summary: str | None = None
    body: str = ""
    kind: str = "memory"
    type: str | None = None
    status: str | None = None
    confidence: str | None = None
    observed_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    repository: str | None = None
    components: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    relates: tuple[str, ...] = ()
    deciders: tuple[str, ...] = ()
    branch: str | None = None
    provenance: Provenance = field(default_factory=Provenance)
    idempotency_key: str | None = None


def remember(brain: Brain, draft: Draft, *, session: Session, now: str) -> Receipt:
    """Record `draft` as a new note.

    The receipt says `committed`, `staged` where the team reviews first, `unchanged` where the same fact is
    there already, or `refused` with the reason. Raises Usage that names every invalid field.
    """
    draft = _validated(draft)
    author = identity.whoami(brain)
    note = _note(draft, brain, author, session, now)
    refusal = saving.refused_for_secret(note)
    if refusal is not None:
        return refusal
    short = _short_id(brain, note, draft, author)
    double = _double(brain, note, short, now)
    if double is not None:
        return double
    note = replace(note, id=naming.new_id(note.title, now, short))
    mode = _review_mode(brain)
    return _commit(brain, note, author, session, now) if mode == "auto" else _stage(brain, note, mode)


# What the caller gave


def _validated(draft: Draft) -> Draft:
    """`draft` with canonical times and tags. Raises Usage with one sentence for each invalid field."""
    problems = list(_problems(draft))
    times: dict[str, str | None] = {}
    for name in ("observed_at", "valid_from", "valid_until"):
        given = getattr(draft, name)
        try:
            times[name] = timeline.canonical(given) if given else None
        except ValueError as error:
            problems.append(f"{name}: {error}")
    starts, ends = times.get("valid_from"), times.get("valid_until")
    if starts and ends and ends <= starts:
        problems.append(f"valid_until: {ends} is not after valid_from {starts}")
    if problems:
        raise Usage("; ".join(problems) + ".", hint="Correct the fields named here; nothing was written.")
    return replace(
        draft,
        observed_at=times["observed_at"],
        valid_from=starts,
        valid_until=ends,
        tags=tuple(dict.fromkeys(filter(None, map(naming.normal_tag, draft.tags)))),
        components=_distinct(draft.components),
        relates=_distinct(draft.relates),
    )


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))


def _problems(draft: Draft) -> Iterator[str]:
    if not draft.title.strip():
        yield "title: it is empty"
    if len(draft.title) > MAX_TITLE:
        yield f"title: it has {len(draft.title)} characters, and at most {MAX_TITLE} are possible"
    if draft.kind not in ("memory", "decision"):
        yield f"kind: {draft.kind!r} is neither memory nor decision"
    for name, allowed in (("type", TYPES), ("status", STATUSES), ("confidence", CONFIDENCES)):
        value = getattr(draft, name)
        if value is not None and value not in allowed:
            yield f"{name}: {value!r} is none of {', '.join(allowed)}"
    if draft.status in ("superseded", "retracted"):
        yield f"status: a new note cannot be {draft.status}"


def _note(draft: Draft, brain: Brain, author: Identity, session: Session, now: str) -> Note:
    """The note of a valid draft, still without an id."""
    decided = draft.kind == "decision" or draft.type == "decision"
    origin = identity.provenance(draft.provenance, brain, author, session)
    return Note(
        id="",
        kind="decision" if decided else draft.kind,
        title=draft.title,
        body=_body(draft.body),
        type="decision" if decided else draft.type or "discovery",
        summary=draft.summary or None,
        status=draft.status or ("decision" if decided else "observed"),
        confidence=draft.confidence or "medium",
        created_at=now,
        updated_at=now,
        observed_at=draft.observed_at or now,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        relates=draft.relates,
        branch=draft.branch,
        repository=draft.repository or origin.repository,
        components=draft.components,
        tags=draft.tags,
        author=author.name,
        author_ref=author.ref,
        deciders=draft.deciders,
        provenance=origin,
    )


def _body(text: str) -> str:
    """A body as a new note has it: LF and one final newline."""
    text = text.replace("\r\n", "\n").strip("\n")
    return text + "\n" if text.strip() else ""


# The same fact twice


def _short_id(brain: Brain, note: Note, draft: Draft, author: Identity) -> str:
    """From the caller's key or the text itself, so that a call repeated by a client that lost the answer makes
    the same file, even while the first is still under way."""
    parts = ["key", draft.idempotency_key]
    if not draft.idempotency_key:
        parts = ["text", note.kind, note.title, note.summary, note.body, note.repository]
    return naming.short_id("\x1f".join((brain.config.key, author.ref, *(part or "" for part in parts))).encode())


def _double(brain: Brain, note: Note, short: str, now: str) -> Receipt | None:
    """The receipt for a fact that is recorded already: by the same call, or in the same words and true now."""

    def look(conn: sqlite3.Connection) -> list[Note]:
        same_call = [file.note for file in lookup.get(conn, short)]
        same_title = [file.note for file in lookup.by_title(conn, note.title)]
        return [*same_call, *(other for other in same_title if _same_words(note, other) and _holds(other, now))]

    found = indexing.ask(brain, look)
    if not found:
        return None
    return Receipt("unchanged", (found[0].id,), reason="this fact is recorded already")


def _same_words(one: Note, other: Note) -> bool:
    return (one.title, one.summary, one.body) == (other.title, other.summary, other.body)


def _holds(note: Note, now: str) -> bool:
    closed = note.status in CLOSED_STATUSES
    return not closed and timeline.holds(note.valid_from, note.valid_until, now)


# Where it goes


def _review_mode(brain: Brain) -> str:
    """The stricter of the team's mode and the person's own."""
    own = load_user_config().review
    return max(brain.config.review, own if own in REVIEW_MODES else "auto", key=REVIEW_MODES.index)


def _stage(brain: Brain, note: Note, mode: str) -> Receipt:
    store.stage(brain.root, note)
    return Receipt(
        "staged",
        (note.id,),
        reason=f"this brain reviews notes first (review: {mode})",
        next=f"A person decides with `brain review show {note.id}`.",
    )


def _commit(brain: Brain, note: Note, author: Identity, session: Session, now: str) -> Receipt:
    path = naming.note_path(note.kind, note.id, now, brain.folders)
    data = codec.to_bytes(note, path)

    def plan() -> Sequence[Change] | Receipt:
        if indexing.stat_file(brain, path) is not None:
            return Receipt("unchanged", (note.id,), reason="this fact is recorded already")
        return [Change(path, data), *saving.people_change(brain, author, now)]

    message = (
        f"{'Decide' if note.kind == 'decision' else 'Remember'}: {one_line(note.title, 60)}{identity.trailers(session)}"
    )
    return saving.save(brain, plan, ids=(note.id,), message=message, author=author, now=now)
