"""What the tools answer, as pydantic models: the output schemas in `tools.json` are generated from them.

They only describe; names are camelCase on the wire.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from commonwealth.adapters.wire import camel


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
    conflicts: list[str] = []


class WorkHitResult(Result):
    """One work record in short: also owner, agent, branch, files, components and the end of its lease. `overlap` says
    why it touches what was asked about; `stale` that nobody renewed it."""

    id: str
    title: str
    overlap: list[str]
    stale: bool


class WorkStartResult(ReceiptResult):
    """`work_start`, `work_update`: what became of the record, and the open work of others that touches the same."""

    overlaps: list[WorkHitResult]


class WorkSearchResult(Result):
    """`work_search`: the likeliest to matter first; `total` counts all that match."""

    needs = ("results", "total")
    results: list[WorkHitResult]
    total: int
    truncated: bool
    next: str | None
    notice: str


class CandidateResult(Result):
    """A candidate in short: also summary, type, status, verdict and reasons; whole, where one was asked for."""

    id: str
    title: str


class ReviewListResult(Result):
    """`review_list`: the oldest first; `conflicts` are notes of canon that cannot both stand."""

    needs = ("candidates", "total")
    candidates: list[CandidateResult]
    total: int
    truncated: bool
    next: str | None
    notice: str


class WhoamiResult(Result):
    """Who writes, into which brain, by which rule, from which repository, what waits to be published, and the ids of
    one's own open work records."""

    needs = ("person", "brain")
    person: dict[str, object]
    brain: dict[str, object]
    rule: dict[str, object] | None
    repository: dict[str, object] | None
    sync: dict[str, object]
    work: list[str] = []
