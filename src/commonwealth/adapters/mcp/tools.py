"""The tools as data: name, what a model is told of each, arguments and result.

Descriptions are constants; no text of a note ever stands in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from commonwealth.adapters.mcp import models


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `read_only` tools change nothing; the others write to this clone of the brain and "
    "nowhere else."""

    name: str
    title: str
    description: str
    arguments: type[models.Arguments]
    result: type[models.Result]
    read_only: bool


_TOOLS = (
    Tool(
        "memory_search",
        "Search the team's memory",
        "Find what the team knows: gotchas, decisions, domain rules, findings of earlier sessions. "
        "Search before you investigate something costly, change unfamiliar code, or decide what may "
        "have been decided already. Answers hold what is true now, best first; memory_read gives one "
        "note in full. A filter takes one value or a list.",
        models.SearchArguments,
        models.SearchResult,
        read_only=True,
    ),
    Tool(
        "memory_read",
        "Read one note",
        "One note in full by its id (or an unambiguous beginning of it), with links, history and "
        "freshness. A long body comes in pages.",
        models.ReadArguments,
        models.ReadResult,
        read_only=True,
    ),
    Tool(
        "memory_record",
        "Record a fact for the team",
        "Keep one fact for everybody's later sessions: costly to find out, likely to matter again, and "
        "not plain from the code. One fact a note, with evidence. Use kind decision for a choice that "
        "was made, with sections Context, Decision, Rejected, Consequences. No secrets, no private "
        "reasoning, no progress reports.",
        models.RecordArguments,
        models.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "memory_update",
        "Correct a note",
        "Correct or complete a note that was recorded imprecisely: give the fields to change (null "
        "removes one), or a section with append or replace. When reality changed, record a new fact "
        "instead.",
        models.UpdateArguments,
        models.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "whoami",
        "Who and where",
        "Who you write as, which brain this session uses and by which rule, the code repository, and "
        "what waits to be published.",
        models.WhoamiArguments,
        models.WhoamiResult,
        read_only=True,
    ),
)

TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _TOOLS})
"""Every tool by its name, in the order in which they are listed."""
