"""The arguments of the tools about active work."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from commonwealth.adapters.mcp.models import (
    ONE_OR_MORE,
    Arguments,
    Lines,
    OptionalLine,
    OptionalTexts,
    OtherProvenance,
    Summary,
    Texts,
    Title,
    one_or_more,
)
from commonwealth.adapters.wire import JsonObject

OpenStatus = Literal["planned", "in-progress", "blocked"]
WorkStatus = Literal["planned", "in-progress", "blocked", "completed", "abandoned"]
WorkStatuses = Annotated[tuple[WorkStatus, ...], BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)]
Minutes = Annotated[int, Field(ge=5, le=10_080)]


class WorkStartArguments(Arguments):
    """`work_start`."""

    title: Title = Field(description="What you are about to change.")
    summary: Summary | None = None
    status: OpenStatus | None = None
    repository: OptionalLine = None
    files: Texts = Field(default=(), description="Paths, folders or globs that you will change.")
    components: Texts = ()
    branch: OptionalLine = None
    lease_minutes: Minutes | None = Field(default=None, description="Default 240; hooks renew it.")
    provenance: OtherProvenance = None
    idempotency_key: OptionalLine = None


class WorkSearchArguments(Arguments):
    """`work_search`."""

    query: Annotated[str, Field(max_length=10_000)] = ""
    repository: Lines = ()
    files: Lines = ()
    components: Lines = ()
    person: Lines = ()
    agent: Lines = ()
    status: WorkStatuses = Field(default=(), description=f"{', '.join(WorkStatus.__args__)}. Default: the open ones.")  # type: ignore[attr-defined]
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class WorkUpdateArguments(Arguments):
    """`work_update`: null removes a field."""

    id: Title
    title: Title | None = None
    summary: Summary | None = None
    status: WorkStatus | None = None
    repository: OptionalLine = None
    files: OptionalTexts = None
    components: OptionalTexts = None
    branch: OptionalLine = None
    lease_minutes: Minutes | None = Field(default=None, description="From now on.")
    provenance: OtherProvenance = None

    removable = ("summary", "repository", "branch")
    kept: ClassVar[tuple[str, ...]] = ("title", "status", "leaseMinutes", "provenance")

    @classmethod
    def complaints(cls, given: JsonObject) -> list[tuple[str, str]]:
        """There is something to change."""
        found = [(name, "cannot be removed") for name in cls.kept if name in given and given[name] is None]
        if not set(given) - {"id"}:
            found.append(("id", "needs a field to change beside it"))
        return found


class WorkCompleteArguments(Arguments):
    """`work_complete`."""

    id: Title
    summary: Summary | None = Field(default=None, description="What came of it.")
