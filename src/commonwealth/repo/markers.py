"""git's conflict markers in a file, taken apart into the versions that they stand between."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OPENING = re.compile(rb"<{7}(?: [^\n]*)?\r?\n?\Z")
_BASE = re.compile(rb"\|{7}(?: [^\n]*)?\r?\n?\Z")
_MIDDLE = re.compile(rb"={7}\r?\n?\Z")
_CLOSING = re.compile(rb">{7}(?: [^\n]*)?\r?\n?\Z")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})([^\n]*)")
_PRE = re.compile(rb" {0,3}<pre(?:[ \t>]|\r?\n?\Z)", re.IGNORECASE)
_PRE_END = b"</pre>"


@dataclass(frozen=True, slots=True)
class Sides:
    """The two versions between which a merge left its markers; `base` where git wrote it too (diff3, zdiff3)."""

    ours: bytes
    theirs: bytes
    base: bytes | None


def may_hold(data: bytes) -> bool:
    """Whether a file could hold markers at all: one cheap look."""
    return b"<<<<<<< " in data and b">>>>>>>" in data and b"=======" in data


def split(data: bytes) -> Sides | None:
    """The versions behind the markers of a file; None where it holds no complete group of them.

    A group that lies within one block of code, fenced or `<pre>`, is a text about merging, and stays in both
    versions. So does whatever is not complete or in order: only what git itself writes is taken apart. The base of a
    diff3 group is in neither version: both have gone on from it.
    """
    if not may_hold(data):
        return None
    reader = _Reader(data.splitlines(keepends=True))
    return reader.sides() if reader.groups else None


def first_line(data: bytes) -> int:
    """The line of the first marker of a merge in a file, not counting what a block of code quotes; 0 without.

    Stricter than `split`: three markers in their order are enough, whatever stands between them.
    """
    if not may_hold(data):
        return 0
    lines = data.splitlines(keepends=True)
    reader = _Reader(lines)
    if reader.groups:
        return reader.first + 1
    fence, first, wanted = b"", 0, [_OPENING, _MIDDLE, _CLOSING]
    for number, line in enumerate(lines, 1):
        if not fence and wanted[0].match(line):
            first = first or number
            wanted.pop(0)
            if not wanted:
                return first
        fence = _after(fence, line)
    return 0


def is_undecided(data: bytes, versions: Iterable[bytes]) -> bool:
    """Whether a merge of `versions` has left its markers in a file; not where it only quotes some, as they do."""
    return may_hold(data) and (first_line(data) > 0 or not any(map(may_hold, versions)))


class _Reader:
    """Goes through the lines once; `ours`, `theirs` and `base` are filled on the way."""

    def __init__(self, lines: list[bytes]) -> None:
        self.ours: list[bytes] = []
        self.theirs: list[bytes] = []
        self.base: list[bytes] = []
        self.groups = 0
        self.first = 0
        self.bases = 0
        fence, at = b"", 0
        while at < len(lines):
            if _OPENING.match(lines[at]):
                end = self._group(lines, at, fence)
                if end:
                    at = end
                    continue
            fence = _after(fence, lines[at])
            for side in (self.ours, self.theirs, self.base):
                side.append(lines[at])
            at += 1

    def sides(self) -> Sides:
        """What was read."""
        base = b"".join(self.base) if self.bases == self.groups else None
        return Sides(b"".join(self.ours), b"".join(self.theirs), base)

    def _group(self, lines: list[bytes], start: int, fence: bytes) -> int:
        """Take in the group that begins at `start`; the place behind it, or 0 where it is none."""
        marks: list[int] = [start]
        wanted = [_BASE, _MIDDLE, _CLOSING]
        for at in range(start + 1, len(lines)):
            line = lines[at]
            if _OPENING.match(line):
                return 0
            if wanted[0] is _BASE and _MIDDLE.match(line):
                marks.append(-1)
                wanted.pop(0)
            if wanted[0].match(line):
                marks.append(at)
                wanted.pop(0)
                if not wanted:
                    return self._taken(lines, marks, fence)
        return 0

    def _taken(self, lines: list[bytes], marks: list[int], fence: bytes) -> int:
        opening, base, middle, closing = marks
        ours = lines[opening + 1 : base if base > 0 else middle]
        old = lines[base + 1 : middle] if base > 0 else []
        theirs = lines[middle + 1 : closing]
        if fence and not any(_after(fence, line) != fence for line in (*ours, *old, *theirs)):
            return 0  # quoted within a block of code
        if not self.groups:
            self.first = opening
        self.groups += 1
        self.bases += base > 0
        self.ours += ours
        self.theirs += theirs
        self.base += old
        return closing + 1


def _after(fence: bytes, line: bytes) -> bytes:
    """The mark of the block of code that is open behind `line`; nothing where none is (CommonMark 4.5, 4.6)."""
    if fence == _PRE_END or (not fence and _PRE.match(line)):
        return b"" if _PRE_END in line.lower() else _PRE_END
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark, rest = found[1], found[2]
    if not fence:
        return b"" if mark[:1] == b"`" and b"`" in rest else mark
    closes = mark[:1] == fence[:1] and len(mark) >= len(fence) and not rest.strip()
    return b"" if closes else fence
