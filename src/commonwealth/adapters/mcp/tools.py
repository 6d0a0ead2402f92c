"""The tools as data: name, what a model is told of each, arguments and result.

Descriptions are constants; no text of a note ever stands in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from commonwealth.adapters.mcp import models, models_review, models_work, results


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `read_only` tools change nothing; the others write to this clone of the brain and "
    "nowhere else."""

    name: str
    title: str
    description: str
    arguments: type[models.Arguments]
    result: type[results.Result]
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
        results.SearchResult,
        read_only=True,
    ),
    Tool(
        "memory_read",
        "Read one note",
        "One note in full by its id (or an unambiguous beginning of it), with links, history and "
        "freshness; with asOf (a time or a commit) as it was then. A long body comes in pages.",
        models.ReadArguments,
        results.ReadResult,
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
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "memory_update",
        "Correct a note",
        "Correct or complete a record that was wrong, imprecise or incomplete while reality stayed the same: give "
        "the fields to change (null removes one), or a section with append, insert or replace. If reality changed, "
        "use memory_supersede; if it was never true, memory_retract.",
        models.UpdateArguments,
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "memory_supersede",
        "Replace what is no longer true",
        "Reality changed: record what is true since effectiveAt and close the old notes at that instant, in one "
        "commit. Both stay readable; default answers hold the new one. Not for a record that was wrong from the "
        "start: that is memory_update or memory_retract.",
        models.SupersedeArguments,
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "memory_retract",
        "Withdraw what was never true",
        "The fact was never true: it no longer comes back, and its note keeps the reason. What was true until "
        "something changed is superseded instead.",
        models.RetractArguments,
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "work_start",
        "Announce work",
        "Tell the team what you are about to change, before you change it. Answers at once with the overlaps: open "
        "work of others on the same files, folders or components. They are advice, never a block: tell the user, "
        "then go on. Keep the id for work_update and work_complete.",
        models_work.WorkStartArguments,
        results.WorkStartResult,
        read_only=False,
    ),
    Tool(
        "work_search",
        "Who is changing what",
        "Open work of the team that touches these files (paths, folders, globs) or components, or matches the words. "
        "overlap says why; a stale record was not renewed and may be forgotten.",
        models_work.WorkSearchArguments,
        results.WorkSearchResult,
        read_only=True,
    ),
    Tool(
        "work_update",
        "Update announced work",
        "Change a work record: other files, blocked, abandoned, a longer lease. Answers with the overlaps.",
        models_work.WorkUpdateArguments,
        results.WorkStartResult,
        read_only=False,
    ),
    Tool(
        "work_complete",
        "Complete announced work",
        "Close a work record once the work is done. Anybody may close a stale one. Record what was learnt with "
        "memory_record.",
        models_work.WorkCompleteArguments,
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "review_list",
        "What waits for review",
        "Candidates that wait for a person, with the reasons why, and conflicts. They are not canon: do not rely on "
        "them.",
        models_review.ReviewListArguments,
        results.ReviewListResult,
        read_only=True,
    ),
    Tool(
        "review_decide",
        "Decide on candidates",
        "Approve or reject candidates after reading and checking them; of a conflict, approve the rival that stands. "
        "Works only where the user lets coding tools decide.",
        models_review.ReviewDecideArguments,
        results.ReceiptResult,
        read_only=False,
    ),
    Tool(
        "whoami",
        "Who and where",
        "Who you write as, which brain this session uses and by which rule, the code repository, what "
        "waits to be published, and your open work records.",
        models.WhoamiArguments,
        results.WhoamiResult,
        read_only=True,
    ),
)

TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _TOOLS})
"""Every tool by its name, in the order in which they are listed."""
