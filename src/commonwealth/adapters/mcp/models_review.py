"""The arguments of the tools about candidates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from commonwealth.adapters.mcp.models import ONE_OR_MORE, Arguments, OptionalLine, Title, one_or_more

Decision = Literal["approve", "reject"]
Candidates = Annotated[
    tuple[Title, ...], Field(min_length=1, max_length=100), BeforeValidator(one_or_more), WithJsonSchema(ONE_OR_MORE)
]


class ReviewListArguments(Arguments):
    """`review_list`."""

    id: OptionalLine = Field(default=None, description="One in full, with its neighbours.")
    session: OptionalLine = None
    dropped: bool = Field(default=False, description="Those turned down.")
    page: Annotated[int, Field(ge=1)] = 1


class ReviewDecideArguments(Arguments):
    """`review_decide`."""

    id: Candidates
    decision: Decision
    reason: OptionalLine = None
