"""Lines of JSON as a program wrote them while it ran, read without trust and in bounded memory.

Several objects on one line, a line that breaks off, comments and lines that are no JSON are met in real files: what
can be had of them is had, and the rest is told by its line number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST = 32 * 1024 * 1024
"""Bytes of one line that are looked at. What is longer counts as broken."""

LONGEST_TEXT = 12 * 1024 * 1024
"""Bytes of one line without its pictures that are parsed: a character may take four bytes in memory."""

_BOM = b"\xef\xbb\xbf"
_PICTURE = re.compile(rb"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{16384,}={0,2}")
_WHOLE = re.compile(r'\{"(?:type|parentUuid|timestamp|uuid|sessionId|message|isSidechain)"\s*:')
_ATTEMPTS = 16


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line: `number` is 1-based, `start` its offset in bytes, `end` that of what follows.

    `ended` is false for a last line that its writer has not finished. `broken` says that something of it, or all,
    could not be read; `comment` that it is one.
    """

    number: int
    start: int
    end: int
    records: tuple[dict[str, object], ...] = ()
    ended: bool = True
    broken: bool = False
    comment: bool = False


def lines(file: BinaryIO, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """The lines of `file` from `offset` on, which lies in line `number`."""
    file.seek(offset)
    while raw := file.readline(LONGEST):
        start = offset
        offset += len(raw)
        ended = raw.endswith(b"\n")
        too_long = False
        while not ended and len(raw) >= LONGEST:
            too_long = True
            raw = b""
            rest = file.readline(LONGEST)
            offset += len(rest)
            ended = rest.endswith(b"\n")
            raw = rest if not ended else b""
        if too_long:
            yield Line(number, start, offset, ended=ended, broken=True)
        else:
            yield _line(raw, number, start, offset, ended)
        del raw
        number += 1


def _line(raw: bytes, number: int, start: int, end: int, ended: bool) -> Line:
    if start == 0 and raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
    raw = raw.strip()
    if not raw:
        return Line(number, start, end, ended=ended)
    if raw.startswith(b"//"):
        return Line(number, start, end, ended=ended, comment=True)
    if len(raw) > 65_536:
        raw = _PICTURE.sub(b"", raw)
        if len(raw) > LONGEST_TEXT:
            return Line(number, start, end, ended=ended, broken=True)
    records, broken = objects(raw.decode("utf-8", "replace"))
    return Line(number, start, end, records, ended, broken)


def objects(text: str) -> tuple[tuple[dict[str, object], ...], bool]:
    """The objects that stand whole on a line, and whether anything else stood there."""
    found: list[dict[str, object]] = []
    decoder = json.JSONDecoder()
    at = 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return tuple(found), True
            found.append(value)
            while at < len(text) and text[at] in " \t\r\n,":
                at += 1
    except (ValueError, RecursionError):
        last = _last(text, at + 1)
        return (*found, *([last] if last is not None else ())), True
    return tuple(found), False


def _last(text: str, at: int) -> dict[str, object] | None:
    """The whole object that ends a line whose beginning broke off, as after a crash in the middle of writing.

    An object inside of another one never ends at the line's end, so what is found was a record of its own.
    """
    decoder = json.JSONDecoder()
    for attempt, start in enumerate(_WHOLE.finditer(text, at)):
        if attempt == _ATTEMPTS:
            break
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if end == len(text) and isinstance(value, dict):
            return value
    return None
