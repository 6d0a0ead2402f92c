"""The body of a note by its headings: every byte belongs to one section, fenced code hides no heading."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.errors import Refused

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?\Z", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it until the next heading of any level.

    The text before the first heading is a section of level 0 with an empty title. `text` holds the heading's line.
    """

    level: int
    title: str
    text: str

    @property
    def content(self) -> str:
        """The text below the heading's line."""
        return self.text.partition("\n")[2] if self.level else self.text


def sections(body: str) -> tuple[Section, ...]:
    """The sections of `body` in order; their texts joined are `body`."""
    found: list[Section] = []
    level, title, start = 0, "", 0
    fence = ""
    for match in _LINE.finditer(body):
        line = match[0]
        if mark := _FENCE.match(line):
            fence = _after_fence(fence, mark[1], mark[2])
            continue
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            continue
        if match.start() > start or level:
            found.append(Section(level, title, body[start : match.start()]))
        level, title, start = len(heading[1]), (heading[2] or "").strip(), match.start()
    if start < len(body):
        found.append(Section(level, title, body[start:]))
    return tuple(found)


def _after_fence(fence: str, mark: str, rest: str) -> str:
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
    return "" if closes else fence


def lines_of(body: str, heading: str) -> tuple[int, ...]:
    """The lines of `body`, counted from 1, with a heading that `heading` means; of several, none is the one to edit.

    Where headings of one name differ in their level, `## Name` means only the one of that level.
    """
    found: list[int] = []
    parts = sections(body)
    wanted = _named(parts, heading)
    line = 1
    for place, part in enumerate(parts):
        if place in wanted:
            found.append(line)
        line += part.text.count("\n")
    return tuple(found)


def _named(parts: tuple[Section, ...], heading: str) -> list[int]:
    """The places of the sections that `heading` means."""
    marked = heading.strip()
    title = marked.lstrip("#").strip().casefold()
    found = [place for place, part in enumerate(parts) if part.level and part.title.casefold() == title]
    level = len(marked) - len(marked.lstrip("#"))
    return [place for place in found if parts[place].level == level] or found


def _range(body: str, heading: str) -> tuple[tuple[Section, ...], int, int]:
    """All sections, and which of them (with its deeper ones) the heading names first: it, and behind its last."""
    parts = sections(body)
    for first in _named(parts, heading)[:1]:
        last = first + 1
        while last < len(parts) and parts[last].level > parts[first].level:
            last += 1
        return parts, first, last
    return parts, -1, -1


def append_to_section(body: str, heading: str, text: str) -> str:
    """`body` with `text` behind what the section says (before the next heading); a missing section is added.

    All other bytes stay.
    """
    parts, first, _ = _range(body, heading)
    if first < 0:
        return _with_new_section(body, heading, text)
    newline = _newline(body)
    old = parts[first].text
    kept = old.rstrip()
    tail = old[len(kept) :]
    followed = first + 1 < len(parts)
    if tail.count("\n") < 2 and followed:
        tail = newline * 2
    joint = newline if _is_list(kept.rpartition("\n")[2]) and _is_list(text) else newline * 2
    new = kept + joint + _in_style(text.strip("\n"), newline) + (tail or ("" if not old.endswith("\n") else newline))
    return "".join([part.text for part in parts[:first]] + [new] + [part.text for part in parts[first + 1 :]])


def insert_into_section(body: str, heading: str, text: str, *, create: bool = False) -> str:
    """`body` with `text` right below the heading, before what the section says. All other bytes stay.

    Raises Refused where there is no such section, unless it is to be created.
    """
    parts, first, _ = _range(body, heading)
    if first < 0:
        return _missing(body, heading, text, parts, create=create)
    newline = _newline(body)
    line, _, below = parts[first].text.partition("\n")
    said = below.lstrip("\r\n")
    added = _in_style(text.strip("\n"), newline)
    joint = newline if _is_list(added.rpartition("\n")[2]) and _is_list(said.partition("\n")[0]) else newline * 2
    rest = joint + said if said else newline * (2 if first + 1 < len(parts) else 1)
    new = line.rstrip("\r") + newline * 2 + added + rest
    return "".join([part.text for part in parts[:first]] + [new] + [part.text for part in parts[first + 1 :]])


def _missing(body: str, heading: str, text: str, parts: tuple[Section, ...], *, create: bool) -> str:
    """`body` with a section that it did not have. Raises Refused unless it is to be created."""
    if create:
        return _with_new_section(body, heading, text)
    known = ", ".join(part.title for part in parts if part.level) or "none"
    raise Refused(f"The note has no section {heading!r}.", hint=f"Its sections: {known}.")


def replace_section(body: str, heading: str, text: str, *, create: bool = False) -> str:
    """`body` with `text` in place of what stands below the heading; its deeper sections go as well.

    Raises Refused where there is no such section, unless it is to be created.
    """
    parts, first, last = _range(body, heading)
    if first < 0:
        return _missing(body, heading, text, parts, create=create)
    newline = _newline(body)
    head = parts[first].text.partition("\n")[0].rstrip("\r")
    old = "".join(part.text for part in parts[first:last])
    tail = old[len(old.rstrip()) :] or ("" if last == len(parts) else newline * 2)
    new = f"{head}{newline}{newline}{_in_style(text.strip(chr(10)), newline)}" if text.strip() else head
    return "".join([part.text for part in parts[:first]] + [new + tail] + [part.text for part in parts[last:]])


def _with_new_section(body: str, heading: str, text: str) -> str:
    newline = _newline(body)
    title = " ".join(heading.strip().lstrip("#").split())
    levels = [part.level for part in sections(body) if part.level]
    mark = "#" * min(level for level in levels if level > 1) if any(level > 1 for level in levels) else "##"
    gap = "" if not body else newline if body.endswith("\n") else newline * 2
    return f"{body}{gap}{mark} {title}{newline}{newline}{_in_style(text.strip(chr(10)), newline)}{newline}"


def _newline(body: str) -> str:
    return "\r\n" if body.partition("\n")[0].endswith("\r") else "\n"


def _in_style(text: str, newline: str) -> str:
    return text.replace("\n", "\r\n") if newline == "\r\n" and "\r" not in text else text


def _is_list(line: str) -> bool:
    return line.lstrip().startswith(("- ", "* ", "+ "))
