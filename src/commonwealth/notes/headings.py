"""Which of several sections with one heading are the same section in two versions of a note."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonwealth.notes.threeway import Piece

Body = Sequence[Piece]

_COMPARED = 40_000
"""Pairs of sections with one heading that are compared at most; of more, only the order counts."""


def named_alike(base: Body, one: Body, other: Body) -> tuple[Body, Body, Body]:
    """The three bodies with the same name for the same section.

    A heading that no version has twice needs nothing. Of the others, those are the same, in order, that have most
    lines in common. What then has no counterpart is new, and named by its text, so that two people can add to the
    same log.
    """
    sides = (base, one, other)
    groups = [_by_heading(side) for side in sides]
    names: list[dict[str, str]] = [{}, {}, {}]
    for heading in {key for group in groups for key in group}:
        found = [group.get(heading, []) for group in groups]
        if max(map(len, found)) < 2:
            continue
        known = found[0] or min(found[1:], key=lambda pieces: [str(piece.same) for piece in pieces])
        for pieces, made in zip(found, names, strict=True):
            pairs = _pairs(known, pieces)
            for at, piece in enumerate(pieces):
                made[piece.name] = known[pairs[at]].name if at in pairs else f"{heading} +{_digest(str(piece.same))}"
    made_bodies = [_renamed(side, made) for side, made in zip(sides, names, strict=True)]
    return made_bodies[0], made_bodies[1], made_bodies[2]


def _by_heading(body: Body) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = {}
    for piece in body:
        found.setdefault(piece.name.rpartition(" ")[0], []).append(piece)
    return found


def _pairs(known: Body, pieces: Body) -> dict[int, int]:
    """Place in `pieces` to place in `known`, in order: the pairs that have most in common (an alignment by dynamic
    programming, as of Needleman and Wunsch)."""
    rows, columns = len(known), len(pieces)
    if rows * columns > _COMPARED:
        return dict(zip(range(columns), range(rows), strict=False))
    lines = [[set(str(piece.same).split("\n")[1:]) - {""} for piece in side] for side in (known, pieces)]
    alike = [[_alike(one, other) for other in lines[1]] for one in lines[0]]
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = best[row + 1][column + 1] + alike[row][column]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    pairs: dict[int, int] = {}
    row = column = 0
    while row < rows and column < columns:
        if best[row][column] == best[row + 1][column + 1] + alike[row][column]:
            pairs[column] = row
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _alike(one: set[str], other: set[str]) -> int:
    if one == other:
        return 1_000
    return 1 + min(10 * len(one & other), 900)


def _renamed(body: Body, names: Mapping[str, str]) -> Body:
    seen: set[str] = set()
    made: list[Piece] = []
    for piece in body:
        name = names.get(piece.name, piece.name)
        while name in seen:  # the same section, twice
            name += "+"
        seen.add(name)
        made.append(replace(piece, name=name))
    return made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
