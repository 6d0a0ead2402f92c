"""What active work looks like to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonwealth import timeline
from commonwealth.adapters.terminal import Screen
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.flows.work import WorkFound, WorkHit

_HEADERS = ("ID", "WHO", "STATUS", "SINCE", "TITLE", "TOUCHES")
_NAMES = 3
"""So many reasons or files are shown of a record."""


def found(screen: Screen, answer: WorkFound, now: str) -> None:
    """Work records as a table, what is active first."""
    _table(screen, answer.results, now)
    if not answer.results:
        screen.remark("No such work. `brain work start TITLE --file PATH` announces yours.", "hint")
    elif answer.total > len(answer.results):
        screen.remark(f"{len(answer.results)} of {answer.total} are listed; `--limit` shows more.")
    if any(hit.stale for hit in answer.results):
        screen.remark(
            "What is stale is past its lease: anybody may end it, with `brain work complete ID` or "
            "`brain work abandon ID`.",
            "hint",
        )


def overlaps(screen: Screen, hits: Sequence[WorkHit], now: str) -> None:
    """The active work of others that touches the same."""
    if not hits:
        return
    count = "One other record touches" if len(hits) == 1 else f"{len(hits)} other records touch"
    screen.remark(f"{count} the same:", "warning")
    _table(screen, hits, now)
    screen.remark("This holds you up in nothing; talk to them where it matters.", "hint")


def _table(screen: Screen, hits: Sequence[WorkHit], now: str) -> None:
    if hits:
        screen.table(_HEADERS, [_cells(hit, now) for hit in hits], elastic=4)


def _cells(hit: WorkHit, now: str) -> tuple[str, ...]:
    note = hit.note
    who = note.owner or note.author or note.provenance.human or "somebody"
    agent = note.agent or note.provenance.agent
    status = ", ".join((note.status, *(["stale"] if hit.stale else []), *hit.labels))
    touches = hit.overlap or (*note.files, *(f"component {name}" for name in note.components))
    more = [f"and {len(touches) - _NAMES} more"] if len(touches) > _NAMES else []
    return (
        note.id,
        one_line(f"{who} ({agent})" if agent else who, 40),
        status,
        age(note.started_at or note.created_at, now),
        one_line(note.title),
        one_line(", ".join((*touches[:_NAMES], *more)), 120),
    )


def age(since: str | None, now: str) -> str:
    """How long ago something was, in words; never less than nothing, whatever the clocks say."""
    try:
        seconds = (timeline.parse(now) - timeline.parse(since or "")).total_seconds()
    except ValueError:
        return "?"
    if seconds < 0:
        return "in the future" if seconds < -600 else "now"
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)} {name}"
    return "now"
