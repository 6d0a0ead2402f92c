"""Settings files, read quickly: the form that we write ourselves by lines, anything else by the strict YAML reader.

A hook reads two such files at every session start, and importing a YAML parser costs it more than a bare interpreter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonwealth.plainyaml import Value

_KEY = r"(?P<key>[A-Za-z_][A-Za-z0-9_-]*):"
_PLAIN = r"(?P<value>[A-Za-z0-9_/.~](?:[A-Za-z0-9_/.~*@+-]|:(?=[^\s]))*)"
_LINE = re.compile(rf"(?P<indent> *)(?P<item>- )?{_KEY}(?: +{_PLAIN})?(?: +#[\t -~]*)? *")
_EMPTY = re.compile(r" *(?:#[\t -~]*)?")
_NOTHING = frozenset(("~", "null", "Null", "NULL"))


def mapping(text: str, where: str, limit: int) -> dict[str, Value]:
    """The mapping that `text` spells: every scalar is text, or None where nothing is said.

    Raises Damaged with line and cause for anything that is no mapping, an empty file and more than `limit` characters
    included; `where` names the file.
    """
    found = usual(text) if len(text) <= limit else None
    if found:
        return found
    from commonwealth import plainyaml  # noqa: PLC0415 - only for what a person wrote in another form

    return plainyaml.mapping(text, where, limit)


def usual(text: str) -> dict[str, Value] | None:
    """What `text` says if every line has our own form, else None: the strict reader has to look.

    That form is `key: plain`, and below a bare `key:` one level of such lines, or a list of mappings of them.
    """
    lines = _Lines()
    for line in text.split("\n"):
        found = _LINE.fullmatch(line)
        if found is None and _EMPTY.fullmatch(line):
            continue
        if found is None or not lines.take(found):
            return None
    return lines.root


class _Lines:
    """What the lines so far have said: `place` is the mapping that they fill, `opened` the bare key above it."""

    def __init__(self) -> None:
        self.root: dict[str, Value] = {}
        self.place = self.root
        self.opened = ""
        self.indent = 0

    def take(self, line: re.Match[str]) -> bool:
        """Add one line; False where it does not fit."""
        depth = len(line["indent"]) + 2 * bool(line["item"])
        fits = self.item(depth) if line["item"] else self.level(depth)
        key, value = line["key"], line["value"]
        if not fits or key in self.place or key in _NOTHING:
            return False
        self.place[key] = None if value in _NOTHING else value
        if self.place is self.root and value is None:
            self.opened = key
        return True

    def item(self, depth: int) -> bool:
        """Begin a mapping of the list below the bare key."""
        if self.opened and self.root[self.opened] is None:
            self.root[self.opened], self.indent = [], depth
        items = self.root.get(self.opened)
        if not isinstance(items, list) or depth != self.indent:
            return False
        self.place = {}
        items.append(self.place)
        return True

    def level(self, depth: int) -> bool:
        """Go to the mapping that a line of this depth belongs to."""
        if depth == 0:
            self.place, self.opened, self.indent = self.root, "", 0
        elif self.opened and self.root[self.opened] is None:
            self.place, self.indent = {}, depth
            self.root[self.opened] = self.place
        return depth == self.indent
