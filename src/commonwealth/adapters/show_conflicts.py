"""What conflicts look like to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonwealth.adapters.terminal import Screen
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.flows.conflicts import Conflict, Rival

_CAUSES = {"version": "versions of one note", "replacement": "notes that replace one note"}


def conflicts(screen: Screen, found: Sequence[Conflict]) -> None:
    """Each conflict with its notes, what differs, and how it is resolved."""
    for conflict in found:
        count = f"{len(conflict.rivals)} {_CAUSES.get(conflict.cause, 'notes')}"
        screen.styled((conflict.id, "bold"), (f": {count}", ""))
        for rival in conflict.rivals:
            _rival(screen, rival)
    if found:
        screen.remark("`brain conflicts resolve ID --keep ID` keeps one, `--both` lets all stand.", "hint")
    else:
        screen.remark("Nothing is in conflict.")


def _rival(screen: Screen, rival: Rival) -> None:
    screen.styled(("  " + rival.id, "cyan"), (f"  {one_line(rival.title)}", ""))
    who = ", ".join(filter(None, (rival.status, rival.author and f"by {rival.author}", rival.updated_at)))
    screen.styled((f"    {who}", "dim"))
    if rival.summary:
        screen.styled((f"    {one_line(rival.summary, 2 * screen.columns)}", ""))
    if rival.differs:
        screen.styled((f"    differs in {one_line(', '.join(rival.differs), 2 * screen.columns)}", "dim"))
