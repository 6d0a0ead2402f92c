"""The frozen types that every floor speaks. Times are canonical UTC text (see `timeline`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

KINDS = ("memory", "decision", "work-state", "person")
TYPES = ("discovery", "investigation", "decision", "gotcha", "domain-rule", "architecture")
STATUSES = ("hypothesis", "observed", "confirmed", "decision", "superseded", "retracted")
WORK_STATUSES = ("planned", "in-progress", "blocked", "completed", "abandoned")
CONFIDENCES = ("low", "medium", "high")
VERIFICATIONS = ("fresh", "changed", "missing", "unknown")
CLOSED_STATUSES = ("superseded", "retracted")
DONE_STATUSES = ("completed", "abandoned")
SILENT_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"memory": (), "decision": (), "work-state": ("type", "confidence"), "person": ("type", "status", "confidence")}
)
"""By kind the choices that say nothing in it: they are written where they differ from their default."""

Extra: TypeAlias = str | list["Extra"] | dict[str, "Extra"]
"""A frontmatter value as read: scalars are text, typed only where the schema knows the key."""


def _nothing() -> Mapping[str, Extra]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a fact comes from. At least one field of a new note's provenance is not empty."""

    human: str | None = None
    agent: str | None = None
    repository: str | None = None
    branch: str | None = None
    commit: str | None = None
    pull_request: str | None = None
    issue: str | None = None
    files: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    session: str | None = None
    extra: Mapping[str, Extra] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Verified:
    """What checking a note against its code repository found: at which time and commit, and the result."""

    at: str | None = None
    commit: str | None = None
    result: str = "unknown"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Who let a note into canon, and when."""

    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What an imported note was made from; with `kind` and `path` an import can be repeated."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Note:
    """One markdown file, one fact. Attributes stand in the canonical order of frontmatter keys.

    `owner`, `agent`, `files` and the three times of work are known in work records only. `extra` keeps keys that this
    version does not know. For a foreign file without frontmatter the
    codec fills `id` from the file's stem and `title` from its first heading.
    """

    id: str
    kind: str
    title: str
    body: str = ""
    type: str = "discovery"
    summary: str | None = None
    status: str = "observed"
    confidence: str = "medium"
    created_at: str | None = None
    updated_at: str | None = None
    observed_at: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    lease_until: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_at: str | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    relates: tuple[str, ...] = ()
    retracted_at: str | None = None
    retract_reason: str | None = None
    branch: str | None = None
    conflict_of: str | None = None
    repository: str | None = None
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owner: str | None = None
    agent: str | None = None
    author: str | None = None
    author_ref: str | None = None
    deciders: tuple[str, ...] = ()
    number: str | None = None
    name: str | None = None
    org: str | None = None
    role: str | None = None
    provenance: Provenance = field(default_factory=Provenance)
    reviewed: Reviewed | None = None
    source: Source | None = None
    verified: Verified | None = None
    extra: Mapping[str, Extra] = field(default_factory=_nothing)


def goes_without_saying(note: Note, key: str) -> bool:
    """Whether a note's value of `key` says nothing in its kind, so that its file does not hold it."""
    if key not in SILENT_CHOICES[note.kind] or key in note.extra:
        return False
    return bool(getattr(note, key) == Note.__dataclass_fields__[key].default)


def planned_end(note: Note, now: str) -> str | None:
    """`until T, then ID` for a note that a replacement of the future closes: at `now` it is still true."""
    at, end = note.superseded_at, note.valid_until
    if note.status != "superseded" or not note.superseded_by or not at or not end or min(at, end) <= now:
        return None
    return f"until {end}, then {note.superseded_by}" if at == end else f"until {end}"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note as it lies in a brain: `path` is relative to the brain's root, with forward slashes."""

    note: Note
    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that cannot be read as a note, or a doubt about one that can (`fatal` is then False)."""

    path: str
    line: int
    cause: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.cause}" if self.line else f"{self.path}: {self.cause}"


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: `score` grows with relevance; `why` names what matched."""

    note: Note
    path: str
    score: float
    why: tuple[str, ...] = ()
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """The outcome for one note of a batch or sync."""

    id: str
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The machine-readable answer of every write and sync.

    `state` is published, committed (local only), staged, deferred, refused or unchanged; `next` is the
    next step for the caller where there is one.
    """

    state: str
    ids: tuple[str, ...] = ()
    commit: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    next: str | None = None
    items: tuple[Item, ...] = ()
    pulled: int | None = None
    pushed: int | None = None
    conflicts: tuple[str, ...] | None = None
    dropped: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret that a scan found. The value itself is never kept: only where it is and which rule saw it."""

    rule: str
    where: str
    fingerprint: str = ""
    """By which a person says that this value is no secret (`brain secrets allow`); empty where nobody asked."""

    @property
    def told(self) -> str:
        """What is told of it: field and rule, and how a person allows it."""
        return f"secret: {self.where} ({self.rule}){'.' if self.fingerprint else ''}{self.allowing}"

    @property
    def allowing(self) -> str:
        """What a person does who knows better, as a sentence with a space before it; empty without a fingerprint."""
        if not self.fingerprint:
            return ""
        return f" If you know that it is none: `brain secrets allow {self.fingerprint} --reason WHY`."


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a transcript that a draft rests on: 1-based, inclusive, at most 40."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that a session seems to have earned, before anybody judged it.

    `evidence` is where the transcript says it; `quotes` are short passages from there. `signal` names the rule that
    saw it, or `model`; `strength` (0 to 1) is how clear the signal was, and orders candidates of one session.
    `scope` is a branch where the fact may hold only there. `reverses` names earlier candidates of the same run (by
    position) that this one corrects.
    """

    title: str
    summary: str
    evidence: Span
    body: str = ""
    kind: str = "memory"
    type: str = "discovery"
    status: str = "observed"
    confidence: str = "medium"
    observed_at: str | None = None
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    signal: str = ""
    strength: float = 0.5
    scope: str | None = None
    reverses: tuple[int, ...] = ()


VERDICTS = ("promote", "review", "drop")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of a candidate, with reasons that a person understands.

    `duplicate_of` is the id of the note or candidate that says the same already, `contradicts` are ids of notes that
    it cannot stand beside, `replaces` those of candidates of the same session that it says better or corrects.
    """

    verdict: str
    reasons: tuple[str, ...] = ()
    duplicate_of: str | None = None
    contradicts: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    verified: Verified | None = None


def same_repository(one: str, other: str) -> bool:
    """Whether two names mean one repository: case is ignored, and where either side has no slash only
    the last segments are compared."""
    left, right = one.strip("/").casefold(), other.strip("/").casefold()
    if "/" in left and "/" in right:
        return left == right or left.endswith("/" + right) or right.endswith("/" + left)
    return left.rsplit("/", 1)[-1] == right.rsplit("/", 1)[-1]
