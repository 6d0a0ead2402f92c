"""A fact as a caller hands it in, and the note that it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Usage
from commonwealth.flows import identity
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Note, Provenance
from commonwealth.notes import naming
from commonwealth.repo.refname import branch_name

MAX_TITLE = 1000
"""Characters. A longer title is a body in the wrong place."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact as a caller hands it in. Times are ISO 8601; what is left out gets the documented default.

    `kind` may be empty where the fact replaces others: then it is theirs."""

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


def validated(draft: Draft) -> Draft:
    """`draft` with canonical times and tags. Raises Usage with one sentence for each invalid field."""
    problems = list(_problems(draft))
    times: dict[str, str | None] = {}
    for name in ("observed_at", "valid_from", "valid_until"):
        given = getattr(draft, name)
        try:
            times[name] = timeline.canonical(given) if given else None
        except ValueError as error:
            problems.append(f"{name}: {error}")
    branch = None
    try:
        branch = branch_name(draft.branch) if draft.branch and draft.branch.strip() else None
    except ValueError as error:
        problems.append(f"branch: {error}")
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
        branch=branch,
        provenance=identity.cleaned(draft.provenance),
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
            offered = (word for word in allowed if word not in CLOSED_STATUSES)
            yield f"{name}: {value!r} is none of {', '.join(offered)}"
    if draft.status in CLOSED_STATUSES:
        yield f"status: a new note cannot be {draft.status}"


def note_of(draft: Draft, brain: Brain, author: Identity, session: Session, now: str) -> Note:
    """The note of a valid draft, still without an id."""
    decided = draft.kind == "decision" or draft.type == "decision"
    origin = identity.provenance(draft.provenance, brain, author, session, scope=draft.branch)
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


def call_of(brain: Brain, note: Note, draft: Draft, author: Identity) -> tuple[str, ...]:
    """What makes two calls the same: the caller's key, or what the note says."""
    said: tuple[str | None, ...] = ("key", draft.idempotency_key)
    if not draft.idempotency_key:
        interval = (note.valid_from, note.valid_until)
        said = ("text", note.kind, note.title, note.summary, note.body, note.repository, *interval)
        said = (*said, *([note.branch] if note.branch else []))
    return (brain.config.key, author.ref, *(part or "" for part in said))
