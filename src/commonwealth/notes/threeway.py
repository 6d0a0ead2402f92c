"""Three-way merging of values and of ordered pieces, with no notion of a side: only of a winner in a true conflict.

Every choice but that of a winner is made by content alone, so that uniting a result again with one of the versions
that it was made from gives the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from commonwealth.model import WORK_STATUSES, Extra
from commonwealth.notes import schema, yamlwrite

LATER = frozenset(("updated_at", "lease_until", "heartbeat_at", "completed_at", "last_seen_at"))
"""Times of which the later one counts when both sides moved them."""
EARLIER = frozenset(("created_at", "started_at"))
"""Times of which the earlier one counts."""
_FIRST = frozenset(("observed_at",))
"""Times of which the earlier one counts where both sides made the note: it is the moment of the call unless given."""
_REMARK = re.compile(r"(?:^|(?<=[ \t]))#.*", re.MULTILINE)
_STATES = {status: rank for rank, status in enumerate((*WORK_STATUSES[:3], *reversed(WORK_STATUSES[3:])))}
"""Of two statuses of a work record the later one in this order counts: ended work outranks open work."""

_BY_TIME = frozenset(("verified", "reviewed"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A named stretch of text: the lines of a key, or a section.

    `same` is what it is compared by, `remarks` are the comments in it; `last` says that nothing follows it.
    """

    name: str
    text: str
    same: Extra
    remarks: tuple[str, ...] = ()
    last: bool = False


def remarks(text: str) -> tuple[str, ...]:
    """The comments in the lines of a key; a `#` inside a text begins none."""
    if "#" not in text:
        return ()
    inside = _texts(text)
    found = (match for match in _REMARK.finditer(text) if not any(a <= match.start() < b for a, b in inside))
    return tuple(match[0].rstrip() for match in found)


def _texts(text: str) -> list[tuple[int, int]]:
    """Where the scalars of some lines of YAML stand; nothing is known of lines that are none."""
    import yaml  # noqa: PLC0415  # for the few keys with such a sign in them

    found: list[tuple[int, int]] = []
    with suppress(yaml.YAMLError):
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                # The head of a block scalar may have a comment behind it.
                found.append((text.find("\n", start) if token.style in ("|", ">") else start, end))
    return found


@dataclass(frozen=True, slots=True)
class Clash:
    """One thing that the sides say differently: where, the winner's word, the loser's."""

    name: str
    winner: Extra
    loser: Extra


Resolve: TypeAlias = Callable[[Piece | None, Piece, Piece], Piece]
"""What becomes of a piece that both sides changed: base, winner's, loser's."""


def value(name: str, old: Extra | None, winner: Extra, loser: Extra, clashes: list[Clash]) -> Extra:
    """The value of a key that both sides have; what cannot be united is noted in `clashes`."""
    if loser in (winner, old) or old == winner:  # at most one side changed it
        return loser if old == winner else winner
    by_time = name in LATER or name in EARLIER or (old is None and name in _FIRST)
    if by_time and (_instant(winner) or _instant(loser)):
        return _by_time(name, winner, loser)
    if name == "status" and isinstance(winner, str) and isinstance(loser, str) and {winner, loser} <= _STATES.keys():
        return max(winner, loser, key=_STATES.__getitem__)
    if isinstance(winner, dict) and isinstance(loser, dict):
        return _mapping(name, old if isinstance(old, dict) else {}, winner, loser, clashes)
    lists = isinstance(winner, list) or isinstance(loser, list) or schema.KEYS.get(name) == schema.LIST
    if lists and not isinstance(winner, dict) and not isinstance(loser, dict):
        return _set(_items(old or ""), _items(winner), _items(loser))
    clashes.append(Clash(name, winner, loser))
    return winner


def _by_time(name: str, winner: Extra, loser: Extra) -> Extra:
    one, other = _instant(winner), _instant(loser)
    if not one or not other:
        return winner if one else loser
    if one == other:
        return max(winner, loser, key=yamlwrite.flow)
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
    added = {yamlwrite.flow(item): item for item in (*one, *other) if item not in old}
    return kept + [added[text] for text in sorted(added)]


def _mapping(
    name: str, old: dict[str, Extra], winner: dict[str, Extra], loser: dict[str, Extra], clashes: list[Clash]
) -> dict[str, Extra]:
    if name in _BY_TIME:
        return max(winner, loser, key=lambda said: (_instant(said.get("at", "")), yamlwrite.flow(said)))
    merged: dict[str, Extra] = {}
    order = [key for key in schema.SUB_KEYS.get(name, ()) if key in winner or key in loser]
    order += sorted(key for key in {**winner, **loser} if key not in order)
    for key in order:
        if key in winner and key in loser:
            inner: list[Clash] = []
            merged[key] = value(key, old.get(key), winner[key], loser[key], inner)
            clashes += (replace(clash, name=f"{name}.{clash.name}") for clash in inner)
            continue
        said = winner[key] if key in winner else loser[key]
        if old.get(key) != said:  # added, or changed where the other side removed it
            merged[key] = said
    return merged


def choice(base: str, one: str, other: str) -> str:
    """The text of the side that changed it; of two changes the one that sorts last."""
    if one == base:
        return other
    return one if other == base else max(one, other)


def pieces(
    base: Sequence[Piece],
    winner: Sequence[Piece],
    loser: Sequence[Piece],
    resolve: Resolve,
    kept: Callable[[str], None],
    given: Mapping[str, Piece | None],
) -> list[Piece]:
    """The pieces of the merged whole in order.

    `kept` hears of what one side removed and the other changed. What becomes of the names in `given` is settled.
    """
    old, one, other = ({piece.name: piece for piece in side} for side in (base, winner, loser))
    merged: dict[str, Piece] = {}
    for name in {**one, **other}:
        before, mine, yours = old.get(name), one.get(name), other.get(name)
        if name in given:
            found = given[name]
        elif mine is not None and yours is not None:
            found = _of_both(before, mine, yours, resolve)
        else:
            found = mine or yours
            if found is not None and before is not None:
                found = found if _differs(before, found) else None
                if found is not None:
                    kept(name)
        if found is not None:
            merged[name] = _with_remarks(found, before, mine, yours)
    return [merged[name] for name in _order(base, winner, loser, merged)]


def _differs(before: Piece, now: Piece) -> bool:
    return before.same != now.same or any(remark not in before.remarks for remark in now.remarks)


def _of_both(before: Piece | None, mine: Piece, yours: Piece, resolve: Resolve) -> Piece:
    if mine.same == yours.same:
        return _alike(before, mine, yours)
    if before is not None and before.same == mine.same:
        return yours
    if before is not None and before.same == yours.same:
        return mine
    return resolve(before, mine, yours)


def _alike(before: Piece | None, mine: Piece, yours: Piece) -> Piece:
    """Of two spellings of the same: that of the side which changed it."""
    if mine.last != yours.last:  # the white space at the end of a text separates nothing
        return yours if mine.last else mine
    if before is not None and before.text in (mine.text, yours.text):
        return yours if before.text == mine.text else mine
    return max(mine, yours, key=lambda piece: (len(piece.remarks), piece.text))


def _with_remarks(piece: Piece, before: Piece | None, mine: Piece | None, yours: Piece | None) -> Piece:
    """`piece` with the comments above it that a side added and its text lacks. A comment is never a conflict."""
    known = before.remarks if before else ()
    sides = [set(side.remarks) for side in (mine, yours) if side]
    lost = {remark for side in sides for remark in side if remark not in known}
    lost = (lost | set.intersection(*sides)) - set(piece.remarks)
    if not lost:
        return piece
    above = sorted(lost)
    return replace(
        piece, text="".join(f"{remark}\n" for remark in above) + piece.text, remarks=(*above, *piece.remarks)
    )


def _order(base: Sequence[Piece], winner: Sequence[Piece], loser: Sequence[Piece], merged: Iterable[str]) -> list[str]:
    """The names in order: what both have as the side that moved something has it, and additions behind what they
    stand behind in their own version; of two at one place the smaller names go first."""
    wanted = set(merged)
    one = [piece.name for piece in winner if piece.name in wanted]
    other = [piece.name for piece in loser if piece.name in wanted]
    common = set(one) & set(other)
    before = [piece.name for piece in base if piece.name in common]
    spines = [[name for name in side if name in common] for side in (one, other)]
    moved = [spine for spine in spines if _among(spine, before) != before] or spines
    spine = max(moved, key=lambda names: (_among(names, before), names))
    runs = [_runs(side, common) for side in (one, other)]
    order: list[str] = []
    for anchor in ["", *spine]:
        order += [anchor] if anchor else []
        queues = [queue for side in runs if (queue := _groups(side.get(anchor, [])))]
        while queues:
            first = min(queues)
            order += first.pop(0)
            queues = [queue for queue in queues if queue]
    return order


def _groups(names: Sequence[str]) -> list[list[str]]:
    """`names` as they stay together: a section with the deeper ones behind it."""
    groups: list[list[str]] = []
    for name in names:
        level = name.partition(" ")[0]
        if groups and level.isdigit() and level > groups[-1][0].partition(" ")[0]:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _among(names: Sequence[str], some: Sequence[str]) -> list[str]:
    wanted = set(some)
    return [name for name in names if name in wanted]


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
