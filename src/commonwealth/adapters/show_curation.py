"""What upkeep of canon looks like to a person: notes beside their code, pairs that are alike, groups to consolidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonwealth.adapters.terminal import Screen

if TYPE_CHECKING:
    from commonwealth.flows.consolidate import Group
    from commonwealth.flows.curation import Curation, Rechecked


def curation(screen: Screen, found: Curation) -> None:
    """What a run over all notes found, the parts that hold nothing left out."""
    screen.line(f"{found.checked} {'note' if found.checked == 1 else 'notes'} looked through")
    if found.rechecked:
        verified(screen, found.rechecked)
    if found.alike:
        screen.table(("ALIKE", "NOTE", "OTHER"), [(pair.kind, pair.one, pair.other) for pair in found.alike])
        screen.remark("`brain consolidate` shows what can become one note.", "hint")
    if found.contradicting:
        rows = [(pair.one, pair.other, pair.why) for pair in found.contradicting]
        screen.table(("NOTE", "SAYS OTHERWISE", "WHAT"), rows, elastic=2)
        screen.remark(
            "`brain supersede ID` where one replaces the other, `brain retract ID` where it is wrong.", "hint"
        )
    if found.waiting:
        screen.table(("WAITS", "WHY IT NEED NOT"), [(one.id, one.why) for one in found.waiting], elastic=1)
    still = [one for one in found.stale if not one.is_news]
    if still:
        screen.line(f"{len(still)} more stale as before: {', '.join(one.id for one in still[:10])}")
    for warning in found.receipt.warnings:
        screen.remark(warning, "warning")


def verified(screen: Screen, found: Sequence[Rechecked]) -> None:
    """Notes with what was found of their citations."""
    if not found:
        screen.line("no note cites this repository")
        return
    rows = [(one.verified.result, one.id, "; ".join(one.details)) for one in found]
    screen.table(("RESULT", "NOTE", "WHY"), rows, elastic=2)


def groups(screen: Screen, found: Sequence[Group]) -> None:
    """What could become one note."""
    if not found:
        screen.line("no two notes say the same")
        return
    for group in found:
        others = [id_ for id_ in group.ids if id_ != group.survivor]
        if group.survivor:
            screen.line(f"{group.survivor} would supersede {', '.join(others)}")
        else:
            screen.line(f"{', '.join(others)} say the same in part: a person has to unite them")
    screen.remark("`brain consolidate --apply` does what is said here.", "hint")
