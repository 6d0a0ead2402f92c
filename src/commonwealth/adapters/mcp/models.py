"""The arguments of the tools about notes, as pydantic models: they check calls, and make `tools.json`.

Names are camelCase on the wire. `models_work` has those of the tools about work, `results` what tools answer.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from commonwealth.adapters.wire import JsonObject, camel
from commonwealth.timeline import canonical

NoteKind = Literal["memory", "decision"]
AnyKind = Literal["memory", "decision", "work-state", "person"]
NoteType = Literal["discovery", "investigation", "decision", "gotcha", "domain-rule", "architecture"]
NoteStatus = Literal["hypothesis", "observed", "confirmed", "decision"]
AnyStatus = Literal[
    "hypothesis",
    "observed",
    "confirmed",
    "decision",
    "superseded",
    "retracted",
    "planned",
    "in-progress",
    "blocked",
    "completed",
    "abandoned",
]
Confidence = Literal["low", "medium", "high"]

ONE_OR_MORE: JsonObject = {"type": ["string", "array"], "items": {"type": "string"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def one_or_more(value: object) -> object:
    """One value stands for a list of one; null for none."""
    return [value] if isinstance(value, str) else () if value is None else value


def _said(value: object) -> object:
    """An empty text says nothing: the field is left out, and the session fills in what it knows."""
    return None if isinstance(value, str) and not value.strip() else value


def _those_said(value: object) -> object:
    """The texts of a list that say something; None stays None."""
    given = one_or_more(value)
    if not isinstance(given, (list, tuple)):
        return given
    return [item for item in given if not isinstance(item, str) or item.strip()]


def _those_said_or_null(value: object) -> object:
    return None if value is None else _those_said(value)


Line = Annotated[str, Field(max_length=1000)]
OptionalLine = Annotated[Line | None, BeforeValidator(_said)]
Time = Annotated[str, Field(max_length=64), AfterValidator(canonical)]
Texts = Annotated[tuple[Line, ...], Field(max_length=100), BeforeValidator(_those_said), WithJsonSchema(_TEXTS)]
OptionalTexts = Annotated[
    tuple[Line, ...] | None,
    Field(max_length=100),
    BeforeValidator(_those_said_or_null),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string"}}),
]
Lines = Annotated[tuple[Line, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Kinds = Annotated[tuple[AnyKind, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Types = Annotated[tuple[NoteType, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Statuses = Annotated[tuple[AnyStatus, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Confidences = Annotated[tuple[Confidence, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Title = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Ids = Annotated[
    tuple[Title, ...], Field(min_length=1, max_length=20), BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)
]
Summary = Annotated[str, Field(max_length=2000)]
Body = Annotated[str, Field(max_length=100_000)]


class Arguments(BaseModel):
    """What a tool takes. An unknown name is an error: a misspelt filter must not widen a search unseen."""

    model_config = ConfigDict(alias_generator=camel, extra="forbid", frozen=True)
    removable: ClassVar[tuple[str, ...]] = ()
    """Fields for which null means: take it away."""

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:  # noqa: ARG003
        """What is wrong with the fields together, as (field, message); `given` is not checked yet."""
        return []


class ProvenanceArguments(Arguments):
    """Where a fact comes from; the session fills in what it knows."""

    human: OptionalLine = None
    agent: OptionalLine = None
    repository: OptionalLine = None
    branch: OptionalLine = None
    commit: OptionalLine = None
    pull_request: OptionalLine = None
    issue: OptionalLine = None
    files: Texts = Field(default=(), description="Paths in the repository that the fact is about.")
    urls: Texts = ()
    evidence: Texts = Field(default=(), description="What shows it: a test, a log line, a commit.")
    session: OptionalLine = None


OtherProvenance = Annotated[
    ProvenanceArguments | None,
    Field(description="As in memory_record."),
    WithJsonSchema({"type": "object"}),
]
"""Provenance where its fields need not be said again: every session pays for every letter of a schema."""


class SearchArguments(Arguments):
    """`memory_search`."""

    query: Annotated[str, Field(max_length=10_000)] = Field(
        default="", description="Words, an error text, an id, a path or a symbol. Empty: the newest."
    )
    repository: Lines = Field(default=(), description="Default: all, the session's own first.")
    kind: Kinds = Field(default=(), description="memory, decision, work-state, person")
    type: Types = Field(default=(), description=", ".join(NoteType.__args__))  # type: ignore[attr-defined]
    status: Statuses = ()
    confidence: Confidences = Field(default=(), description="low, medium, high")
    person: Lines = ()
    agent: Lines = ()
    component: Lines = ()
    tag: Lines = ()
    file: Lines = ()
    branch: Lines = ()
    created_after: Time | None = None
    created_before: Time | None = None
    observed_after: Time | None = None
    observed_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    valid_at: Time | None = Field(default=None, description="ISO 8601: what was true then.")
    as_of: Line | None = Field(default=None, description="Time or commit: what the brain said then.")
    include_superseded: bool = Field(default=False, description="Also what is no longer true.")
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class ReadArguments(Arguments):
    """`memory_read`."""

    id: Title
    as_of: Line | None = None
    page: Annotated[int, Field(ge=1)] = 1


class RecordArguments(Arguments):
    """`memory_record`."""

    title: Title = Field(description="The fact in one sentence.")
    summary: Summary | None = Field(default=None, description="One or two sentences; this or body is required.")
    body: Body | None = Field(default=None, description="Details in markdown.")
    kind: NoteKind = "memory"
    type: NoteType | None = None
    status: NoteStatus | None = None
    confidence: Confidence | None = None
    observed_at: Time | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    repository: OptionalLine = Field(default=None, description="Default: the session's.")
    components: Texts = ()
    tags: Texts = ()
    relates: Texts = Field(default=(), description="Ids of notes that belong to it.")
    deciders: Texts = ()
    branch: OptionalLine = Field(default=None, description="Only if it holds on this branch alone.")
    provenance: ProvenanceArguments = Field(default=ProvenanceArguments())
    idempotency_key: OptionalLine = Field(default=None, description="The same key never makes a second note.")

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:
        """A fact needs words beside its title; its validity ends after it begins."""
        found = _validity(given)
        if not (_says(given, "summary") or _says(given, "body")):
            found.append(("summary", "is required where there is no body: say the fact in a sentence or two"))
        return found


_FACT: JsonObject = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("title", "summary", "body")},
    "required": ["title"],
}


class SupersedeArguments(Arguments):
    """`memory_supersede`."""

    id: Ids = Field(description="What it replaces: one id or several.")
    effective_at: Time | None = Field(
        default=None, description="When reality changed; default: replacement.validFrom, else now."
    )
    replacement: Annotated[RecordArguments, WithJsonSchema(_FACT)] = Field(
        description="The new fact, with the fields of memory_record."
    )

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:
        """The replacement is a fact as `memory_record` takes it, and begins at the instant of the change."""
        fact = given.get("replacement")
        if not isinstance(fact, dict):
            return []
        found = [(f"replacement.{name}", told) for name, told in RecordArguments.complaints(fact)]
        change, starts, ends = (
            _time(side, name) for side, name in ((given, "effectiveAt"), (fact, "validFrom"), (fact, "validUntil"))
        )
        if change and starts and change != starts:
            found.append(("effectiveAt", f"{change} is not replacement.validFrom, {starts}: give one of them"))
        elif change and ends and ends <= change:
            found.append(("replacement.validUntil", f"{ends} is not after effectiveAt, {change}"))
        return found


class RetractArguments(Arguments):
    """`memory_retract`."""

    id: Title
    reason: Title = Field(description="How it is known that it was never true.")


class UpdateArguments(Arguments):
    """`memory_update`: null removes a field."""

    id: Title
    title: Title | None = None
    summary: Summary | None = None
    body: Body | None = None
    type: Annotated[NoteType | None, WithJsonSchema({"type": "string"})] = None
    status: NoteStatus | None = None
    confidence: Confidence | None = None
    observed_at: Time | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    repository: OptionalLine = None
    components: OptionalTexts = None
    tags: OptionalTexts = None
    relates: OptionalTexts = None
    deciders: OptionalTexts = None
    branch: OptionalLine = None
    provenance: OtherProvenance = Field(default=None, description="As in memory_record; replaces the fields given.")
    section: Line | None = Field(default=None, description="Heading of the section to edit.")
    append: Body | None = None
    insert: Body | None = Field(default=None, description="Goes right below the heading.")
    replace: Body | None = None

    removable = ("summary", "observedAt", "validFrom", "validUntil", "repository", "branch")
    kept: ClassVar[tuple[str, ...]] = ("title", "body", "type", "status", "confidence", "provenance")

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:
        """There is something to change, and a section edit says which section and what."""
        found = _validity(given)
        found += [(name, "cannot be removed") for name in cls.kept if name in given and given[name] is None]
        edits = [name for name in ("append", "insert", "replace") if given.get(name) is not None]
        if given.get("section") is not None and not edits:
            found.append(("section", "needs `append`, `insert` or `replace` with the text"))
        if len(edits) > 1:
            found.append((edits[0], f"cannot be given together with `{edits[1]}`"))
        if edits and given.get("section") is None:
            found.append(("section", f"is required with `{edits[0]}`"))
        if edits and given.get("body") is not None:
            found.append(("body", "cannot be given together with a section"))
        if not set(given) - {"id"}:
            found.append(("id", "is the only argument: give at least one field to change"))
        return found


class WhoamiArguments(Arguments):
    """`whoami` takes nothing."""


def _says(given: JsonObject, name: str) -> bool:
    value = given.get(name)
    return isinstance(value, str) and bool(value.strip())


def _validity(given: JsonObject) -> list[tuple[str, str]]:
    start, end = _time(given, "validFrom"), _time(given, "validUntil")
    return [("validUntil", "must lie after validFrom")] if start and end and start >= end else []


def _time(given: JsonObject, name: str) -> str | None:
    """A time in canonical form; None where there is none, or where the field itself is complained of."""
    value = given.get(name)
    try:
        return canonical(value) if isinstance(value, str) else None
    except ValueError:
        return None
