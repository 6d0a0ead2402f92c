"""Three-way merging of values and of ordered pieces, with no notion of a side: only of a winner in a true conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from commonwealth.model import Extra
from commonwealth.notes import schema, yamlwrite

LATER = frozenset(("updated_at", "lease_until", "heartbeat_at", "completed_at", "last_seen_at"))
"""Times of which the later one counts when both sides moved them."""
EARLIER = frozenset(("created_at", "started_at"))
"""Times of which the earlier one counts."""
_BY_TIME = frozenset(("verified", "reviewed"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A named stretch of text: the lines of a key, or a section. `same` is what it is compared by."""

    name: str
    text: str
    same: Extra
    lead: str = ""
    last: bool = False


Resolve: TypeAlias = Callable[[Piece | None, Piece, Piece], Piece]
"""What becomes of a piece that both sides changed: base, winner's, loser's."""


def value(name: str, old: Extra | None, winner: Extra, loser: Extra) -> tuple[Extra, bool]:
    """The value of a key that both sides have, and whether nothing was lost by it."""
    if loser in (winner, old):
        return winner, True
    if old == winner:
        return loser, True
    if name in LATER or name in EARLIER:
        return _by_time(name, winner, loser), True
    if isinstance(winner, dict) and isinstance(loser, dict):
        return _mapping(name, old if isinstance(old, dict) else {}, winner, loser)
    if isinstance(winner, list) or isinstance(loser, list) or schema.KEYS.get(name) == schema.LIST:
        return _set(_items(old or ""), _items(winner), _items(loser)), True
    return winner, False


def _by_time(name: str, winner: Extra, loser: Extra) -> Extra:
    one, other = _instant(winner), _instant(loser)
    if not one or not other:
        return winner if one else loser
    loser_counts = other > one if name in LATER else other < one
    return loser if loser_counts else winner


def _instant(said: Extra) -> str:
    try:
        return schema.time(said) if isinstance(said, str) else ""
    except ValueError:
        return ""


def _items(said: Extra) -> list[Extra]:
    if isinstance(said, list):
        return said
    return [said] if said else []


def _set(old: list[Extra], one: list[Extra], other: list[Extra]) -> Extra:
    """Lists as sets: what is left of the base in its order, then what either side added, sorted."""
    kept = [item for item in old if item in one and item in other]
    added = [item for item in one if item not in old]
    added += [item for item in other if item not in old and item not in added]
    return kept + sorted(added, key=yamlwrite.flow)


def _mapping(
    name: str, old: dict[str, Extra], winner: dict[str, Extra], loser: dict[str, Extra]
) -> tuple[dict[str, Extra], bool]:
    if name in _BY_TIME:
        return (loser if _instant(loser.get("at", "")) > _instant(winner.get("at", "")) else winner), True
    clean = True
    merged: dict[str, Extra] = {}
    order = [key for key in schema.SUB_KEYS.get(name, ()) if key in winner or key in loser]
    order += sorted(key for key in {**winner, **loser} if key not in order)
    for key in order:
        if key in winner and key in loser:
            merged[key], fine = value(key, old.get(key), winner[key], loser[key])
            clean = clean and fine
            continue
        said = winner[key] if key in winner else loser[key]
        if old.get(key) != said:  # added, or changed where the other side removed it
            merged[key] = said
    return merged, clean


def pieces(
    base: Sequence[Piece],
    winner: Sequence[Piece],
    loser: Sequence[Piece],
    resolve: Resolve,
    kept: Callable[[str], None],
) -> list[Piece]:
    """The pieces of the merged whole in order. `kept` hears of what one side removed and the other changed."""
    old, one, other = ({piece.name: piece for piece in side} for side in (base, winner, loser))
    merged: dict[str, Piece] = {}
    for name in {**one, **other}:
        before, mine, yours = old.get(name), one.get(name), other.get(name)
        if mine is not None and yours is not None:
            merged[name] = _of_both(before, mine, yours, resolve)
        elif (only := mine or yours) is not None and (before is None or before.same != only.same):
            merged[name] = only
            if before is not None:
                kept(name)
    return [merged[name] for name in _order(base, winner, loser, merged)]


def _of_both(before: Piece | None, mine: Piece, yours: Piece, resolve: Resolve) -> Piece:
    if mine.same == yours.same:
        return yours if before is not None and before.text == mine.text else mine
    if before is not None and before.same == mine.same:
        return yours
    if before is not None and before.same == yours.same:
        return mine
    return resolve(before, mine, yours)


def _order(base: Sequence[Piece], winner: Sequence[Piece], loser: Sequence[Piece], merged: Iterable[str]) -> list[str]:
    """The names in order: what both have as the side that moved something has it, and additions behind what they
    stand behind in their own version; of two at one place the smaller names go first."""
    wanted = set(merged)
    one = [piece.name for piece in winner if piece.name in wanted]
    other = [piece.name for piece in loser if piece.name in wanted]
    common = set(one) & set(other)
    before = [piece.name for piece in base if piece.name in common]
    spine = [name for name in one if name in common]
    if [name for name in spine if name in before] == before:
        spine = [name for name in other if name in common]
    runs = [_runs(side, common) for side in (one, other)]
    order: list[str] = []
    for anchor in ["", *spine]:
        order += [anchor] if anchor else []
        order += [name for run in sorted(side.get(anchor, []) for side in runs) for name in run]
    return order


def _runs(names: Sequence[str], common: set[str]) -> dict[str, list[str]]:
    """What only this side has, by the common name that it stands behind."""
    found: dict[str, list[str]] = {}
    anchor = ""
    for name in names:
        if name in common:
            anchor = name
        else:
            found.setdefault(anchor, []).append(name)
    return found
