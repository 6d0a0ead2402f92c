"""The arguments and results of the tools as pydantic models: what `tools.json` is generated from.

Argument models check calls; result models only describe results. Names are camelCase on the wire.
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

_ONE_OR_MORE = {"type": ["string", "array"], "items": {"type": "string"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def _listed(value: object) -> object:
    """One value stands for a list of one; null for none."""
    return [value] if isinstance(value, str) else () if value is None else value


def _listed_or_null(value: object) -> object:
    return None if value is None else _listed(value)


Line = Annotated[str, Field(max_length=1000)]
Time = Annotated[str, Field(max_length=64), AfterValidator(canonical)]
Texts = Annotated[tuple[Line, ...], Field(max_length=100), BeforeValidator(_listed), WithJsonSchema(_TEXTS)]
OptionalTexts = Annotated[
    tuple[Line, ...] | None,
    Field(max_length=100),
    BeforeValidator(_listed_or_null),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string"}}),
]
Lines = Annotated[tuple[Line, ...], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]
Kinds = Annotated[tuple[AnyKind, ...], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]
Types = Annotated[tuple[NoteType, ...], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]
Statuses = Annotated[tuple[AnyStatus, ...], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]
Confidences = Annotated[tuple[Confidence, ...], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]
Title = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
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

    human: Line | None = None
    agent: Line | None = None
    repository: Line | None = None
    branch: Line | None = None
    commit: Line | None = None
    pull_request: Line | None = None
    issue: Line | None = None
    files: Texts = Field(default=(), description="Paths in the repository that the fact is about.")
    urls: Texts = ()
    evidence: Texts = Field(default=(), description="What shows it: a test, a log line, a commit.")
    session: Line | None = None


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
    created_after: Time | None = None
    created_before: Time | None = None
    observed_after: Time | None = None
    observed_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    valid_at: Time | None = Field(default=None, description="ISO 8601: what was true then.")
    include_superseded: bool = Field(default=False, description="Also what is no longer true.")
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class ReadArguments(Arguments):
    """`memory_read`."""

    id: Title
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
    repository: Line | None = Field(default=None, description="Default: the session's.")
    components: Texts = ()
    tags: Texts = ()
    relates: Texts = Field(default=(), description="Ids of notes that belong to it.")
    deciders: Texts = ()
    branch: Line | None = Field(default=None, description="Only if it holds on this branch alone.")
    provenance: ProvenanceArguments = Field(default=ProvenanceArguments())
    idempotency_key: Line | None = Field(default=None, description="The same key never makes a second note.")

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:
        """A fact needs words beside its title; its validity ends after it begins."""
        found = _validity(given)
        if not (_says(given, "summary") or _says(given, "body")):
            found.append(("summary", "is required where there is no body: say the fact in a sentence or two"))
        return found


class UpdateArguments(Arguments):
    """`memory_update`: null removes a field."""

    id: Title
    title: Title | None = None
    summary: Summary | None = None
    body: Body | None = None
    type: NoteType | None = None
    status: NoteStatus | None = None
    confidence: Confidence | None = None
    observed_at: Time | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    repository: Line | None = None
    components: OptionalTexts = None
    tags: OptionalTexts = None
    relates: OptionalTexts = None
    deciders: OptionalTexts = None
    branch: Line | None = None
    provenance: ProvenanceArguments | None = Field(default=None, description="The fields given replace theirs.")
    section: Line | None = Field(default=None, description="Heading of the section to append to or replace.")
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
    start, end = given.get("validFrom"), given.get("validUntil")
    try:
        empty = isinstance(start, str) and isinstance(end, str) and canonical(start) >= canonical(end)
    except ValueError:  # the field itself is complained of
        empty = False
    return [("validUntil", "must lie after validFrom")] if empty else []


class Result(BaseModel):
    """What a tool answers. `needs` names the fields of a success; a failure has `error` instead."""

    model_config = ConfigDict(alias_generator=camel)
    needs: ClassVar[tuple[str, ...]] = ()


class HitResult(Result):
    """One note that was found, in short: also summary, validity, repository and files where it has them."""

    id: str
    title: str
    score: float


class SearchResult(Result):
    """`memory_search`: the best first; `total` counts all that match."""

    needs = ("results", "total")
    results: list[HitResult]
    total: int
    truncated: bool
    next: str | None
    notice: str


class ReadResult(Result):
    """`memory_read`: frontmatter, links, backlinks, history and freshness, and one page of the body."""

    needs = ("id", "body")
    id: str
    title: str
    body: str
    page: int
    pages: int
    truncated: bool
    next: str | None
    notice: str


class ReceiptResult(Result):
    """What became of a write."""

    needs = ("state", "ids")
    state: Literal["published", "committed", "staged", "deferred", "refused", "unchanged"]
    ids: list[str]
    commit: str | None
    reason: str | None
    warnings: list[str]
    next: str | None
    conflicts: list[str] = Field(default=[], description="Notes that keep what could not be united.")


class WhoamiResult(Result):
    """Who writes, into which brain, by which rule, from which repository, and what waits to be published."""

    needs = ("person", "brain")
    person: dict[str, object]
    brain: dict[str, object]
    rule: dict[str, object] | None
    repository: dict[str, object] | None
    sync: dict[str, object]
