"""What conflicts look like to a person."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonwealth.adapters.terminal import Screen
from commonwealth.safetext import clean, one_line

if TYPE_CHECKING:
    from commonwealth.flows.conflicts import Conflict, Rival
    from commonwealth.flows.differing import Difference

_CUT = 120
"""Characters of a line that is shown."""
_SHOWN = 3
"""Lines of a text that are shown, from the first that differs."""
_BEFORE = 20
"""Characters that are shown before the first that differs, where that is far to the right."""

_CAUSES = {"version": "versions of one note", "replacement": "notes that replace one note"}


def conflicts(screen: Screen, found: Sequence[Conflict]) -> None:
    """Each conflict with its notes, what each says where they differ, and how it is resolved."""
    for conflict in found:
        count = f"{len(conflict.rivals)} {_CAUSES.get(conflict.cause, 'notes')}"
        screen.styled((conflict.id, "bold"), (f": {count}", ""))
        for rival in conflict.rivals:
            _rival(screen, rival, conflict.differs)
    if found:
        screen.remark("`brain conflicts resolve ID --keep ID` keeps one, `--both` lets all stand.", "hint")
    else:
        screen.remark("Nothing is in conflict.")


def _rival(screen: Screen, rival: Rival, differs: Sequence[Difference]) -> None:
    screen.styled(("  " + rival.id, "cyan"), (f"  {one_line(rival.title)}", ""))
    who = ", ".join(filter(None, (rival.status, rival.author and f"by {rival.author}", rival.updated_at)))
    screen.styled((f"    {who}", "dim"))
    if rival.summary and all(found.what != "summary" for found in differs):
        screen.styled((f"    {one_line(rival.summary, _CUT)}", ""))
    for found in (one for one in differs if rival.id in one.texts):
        first, *more = _excerpt(found.texts, rival.id)
        screen.styled((f"    {one_line(found.what, _CUT)}: ", "dim"), (first, ""))
        for line in more:
            screen.styled((f"      {line}", ""))


def _excerpt(texts: Mapping[str, str | None], note_id: str) -> list[str]:
    """The first lines of a text that are not the same in all of them, cut; a long common beginning is left out."""
    text = texts[note_id]
    if text is None:
        return ["(none)"]
    sides = [_lines(side) for side in texts.values() if side is not None]
    same = _alike(sides)
    begin = _alike([side[same] for side in sides if len(side) > same])
    found = _lines(text)[same : same + _SHOWN]
    if not found:
        if all(len(side) == same for side in sides):
            return ["(the same but for blanks, empty lines or hidden characters)"] if same else ["(empty)"]
        return ["(ends here)" if same else "(empty)"]
    if begin > _CUT // 2 and found[0][begin - _BEFORE :]:
        found[0] = "…" + found[0][begin - _BEFORE :]
    return [one_line(line, _CUT) for line in found]


def _alike(sides: Sequence[Sequence[str]]) -> int:
    """How many items (lines of texts, characters of lines) are the same at the beginning of all; 0 for a single one."""
    if len(sides) < 2:
        return 0
    return sum(1 for _ in itertools.takewhile(lambda items: len(set(items)) == 1, zip(*sides, strict=False)))


def _lines(text: str) -> list[str]:
    return [line for line in clean(text).split("\n") if line.strip()]
