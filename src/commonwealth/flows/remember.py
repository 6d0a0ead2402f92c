"""A fact becomes a note: validate, look for doubles, place it by review mode, commit, answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Usage
from commonwealth.flows import identity, indexing, saving
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.identity import Identity, Session
from commonwealth.index import lookup
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Note, NoteFile, Provenance, Receipt
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
    call = _call(brain, note, draft, author)
    short, double = indexing.ask_of_files(
        brain,
        lambda conn: _known(conn, note, call, now, keyed=bool(draft.idempotency_key)),
        lambda found: [found[1].path] if found[1] else [],
    )
    mode = review_mode(brain)
    if double is not None and (mode != "auto" or saving.is_committed(brain, double.path)):
        return Receipt("unchanged", (double.note.id,), reason=_RECORDED)
    if double is not None:
        return _commit(brain, double.note, double.path, author, session, now)
    note = replace(note, id=naming.new_id(note.title, now, short))
    if mode != "auto":
        return _stage(brain, note, mode)
    path = naming.note_path(note.kind, note.id, now, brain.folders)
    return _commit(brain, note, path, author, session, now)


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
        raise Usage(secrets.mask("; ".join(problems)) + ".", hint="Correct the fields named here; nothing was written.")
    return replace(
        draft,
        observed_at=times["observed_at"],
        valid_from=starts,
        valid_until=ends,
        tags=tuple(dict.fromkeys(filter(None, map(naming.normal_tag, draft.tags)))),
        components=_distinct(draft.components),
        relates=_distinct(draft.relates),
        deciders=_distinct(draft.deciders),
        provenance=replace(
            draft.provenance,
            files=_filled(draft.provenance.files),
            urls=_filled(draft.provenance.urls),
            evidence=_filled(draft.provenance.evidence),
        ),
    )


def _filled(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value.strip()))


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
            offered = (word for word in allowed if word not in CLOSED_STATUSES)
            yield f"{name}: {value!r} is none of {', '.join(offered)}"
    if draft.status in CLOSED_STATUSES:
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
        type=draft.type or ("decision" if decided else "discovery"),
        summary=draft.summary if draft.summary and draft.summary.strip() else None,
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


def _call(brain: Brain, note: Note, draft: Draft, author: Identity) -> tuple[str, ...]:
    """What makes two calls the same: the caller's key, or what the note says."""
    said: tuple[str | None, ...] = ("key", draft.idempotency_key)
    if not draft.idempotency_key:
        interval = (note.valid_from, note.valid_until)
        said = ("text", note.kind, note.title, note.summary, note.body, note.repository, *interval)
    return (brain.config.key, author.ref, *(part or "" for part in said))


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
    where = (one.repository or "").casefold() == (other.repository or "").casefold()
    words = (one.kind, one.title, one.summary, one.body) == (other.kind, other.title, other.summary, other.body)
    return where and words


def _is_closed(conn: sqlite3.Connection, note: Note, now: str) -> bool:
    """Whether a note was retracted or replaced: by its own word, or by that of the note that replaces it."""
    if note.status in CLOSED_STATUSES:
        return True
    others = [file.note for relation, file in lookup.backlinks(conn, note.id) if relation == "supersedes"]
    return any(by.status != "retracted" and (by.valid_from or by.observed_at or "") <= now for by in others)


# Where it goes


def _stage(brain: Brain, note: Note, mode: str) -> Receipt:
    short = note.id.rpartition("-")[2]
    waiting = [file.note.id for file in store.staged(brain.root)[0] if file.note.id.endswith(f"-{short}")]
    if waiting:
        note = replace(note, id=waiting[0])
    else:
        store.stage(brain.root, note)
    return Receipt(
        "staged",
        (note.id,),
        reason=f"this brain reviews notes first (review: {mode})",
        next=f"It waits for a person in {store.STAGING}/{note.id}.md of this clone.",
    )


_RECORDED = "this fact is recorded already"


def _commit(brain: Brain, note: Note, path: str, author: Identity, session: Session, now: str) -> Receipt:
    """Commit a note that is new, or that an earlier call left at `path` when it was killed before its commit."""

    def plan() -> saving.Planned | Receipt:
        there = _of_the_same_call(brain, note, path)
        if there is None:
            return saving.Planned([Change(path, codec.to_bytes(note, path)), *saving.people_change(brain, author, now)])
        found, data = there
        if saving.is_committed(brain, found):
            return Receipt("unchanged", (naming.stem(found),), reason=_RECORDED)
        changes = [Change(found, data, data), *saving.people_change(brain, author, now, killed=True)]
        return saving.Planned(changes, ids=(naming.stem(found),))

    message = (
        f"{'Decide' if note.kind == 'decision' else 'Remember'}: {one_line(note.title, 60)}{identity.trailers(session)}"
    )
    return saving.save(brain, plan, ids=(note.id,), message=message, author=author, now=now, command="remember")


def _of_the_same_call(brain: Brain, note: Note, path: str) -> tuple[str, bytes] | None:
    """The file that the same call made meanwhile, under another name where another day or title gave it one."""
    if indexing.stat_file(brain, path) is None:
        short = f"-{note.id.rpartition('-')[2]}"
        named = indexing.ask(brain, lambda conn: lookup.get(conn, short.removeprefix("-")))
        there = [file.path for file in named if file.note.id.endswith(short)]
        path = next((one for one in there if indexing.stat_file(brain, one) is not None), "")
    return (path, store.read_bytes(brain.root, path)[0]) if path else None
