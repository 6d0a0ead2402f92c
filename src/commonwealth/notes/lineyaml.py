"""The usual form of a frontmatter, read line by line: what we write, and what most tools write.

One `key: value` a line with plain, quoted, `[flow, list]` or `{flow: map}` values, and one level of indented keys
or `- items`, which may have `- items` of their own. Anything else (a comment, an empty line, an indicator, an
invisible character) is not an error here: `read` answers None, and `strictyaml` decides.
"""

from __future__ import annotations

import re
from sys import intern

from commonwealth.model import Extra
from commonwealth.notes import schema
from commonwealth.notes.strictyaml import MAX_KEYS
from commonwealth.yamlnodes import NOTHING

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,127}"
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_IN_FLOW = r"([\w/][^,\[\]{}#\"'&*!|>%@`?]*)"
_KEY = re.compile(_NAME)
_ALONE = re.compile(_QUOTED)
_ITEM = re.compile(rf"(?:{_QUOTED}|{_IN_FLOW})(?:, |\Z)")
_PAIR = re.compile(rf"({_NAME}): (?:{_QUOTED}|{_IN_FLOW})(?:, |\Z)")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@` ")
_USUAL = frozenset((*schema.KEYS, *schema.SUB_KEYS["provenance"]))
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def read(text: str) -> dict[str, Extra] | None:
    """The mapping of a frontmatter in the usual form; None where only `strictyaml.compose` can tell."""
    if not text.replace("\n", " ").isprintable():
        return None
    result: dict[str, Extra] = {}
    lines = text.split("\n")
    if lines.pop() or _mapping(lines, 0, "", result) != len(lines):
        return None
    keys = len(result) + sum(len(value) for value in result.values() if type(value) is dict)
    return result if keys <= MAX_KEYS else None


def _mapping(lines: list[str], at: int, indent: str, into: dict[str, Extra]) -> int:
    """Read the keys that stand at `indent` from line `at` on; the first line behind them, -1 if not understood."""
    end, width = len(lines), len(indent)
    value: Extra | None
    while at < end:
        line = lines[at]
        if width:
            if line[:width] != indent:
                break
            line = line[width:]
        at += 1
        key, colon, rest = line.partition(": ")
        if colon:
            value = _value(rest)
        elif line[-1:] == ":":
            key = line[:-1]
            at, value = _nested(lines, at, indent + "  ")
        else:
            return -1
        if value is None or key in into:
            return -1
        into[intern(key)] = value  # a keyword argument later, which Python compares by identity first
    if not _USUAL.issuperset(into) and not all(map(_KEY.fullmatch, into)):
        return -1
    return at


def _nested(lines: list[str], at: int, indent: str) -> tuple[int, Extra | None]:
    """The value of a key that has none on its own line, and the first line behind it."""
    width = len(indent)
    if at == len(lines) or lines[at][:width] != indent:
        return at, ""
    dash = f"{indent}- "
    width += 2
    if lines[at][:width] != dash:
        inner: dict[str, Extra] = {}
        at = -1 if len(indent) > 2 else _mapping(lines, at, indent, inner)
        return at, inner if at > 0 else None
    items: list[Extra] = []
    for line in lines[at:]:
        if line[:width] != dash:
            break
        item = _value(line[width:])
        if type(item) is not str:
            return -1, None
        items.append(item)
    return at + len(items), items


def _value(rest: str) -> Extra | None:
    """A value that fills the rest of a line; None where it is not certain."""
    first = rest[:1]
    if first not in _INDICATORS:
        if not first or ": " in rest or " #" in rest or rest[-1] in ": ":
            return None
        return "" if rest in NOTHING else rest
    inner, last = rest[1:-1], rest[-1]
    if first == '"':
        return inner if last == '"' and '"' not in inner and "\\" not in inner and rest != '"' else _escapes(rest)
    if first == "[":
        return _list(inner) if last == "]" else None
    if first == "{":
        return _map(inner) if last == "}" else None
    return inner if first == "'" and last == "'" and "'" not in inner and rest != "'" else None


def _escapes(rest: str) -> str | None:
    match = _ALONE.fullmatch(rest)
    return None if match is None else _unescape(match[1])


def _list(inner: str) -> Extra | None:
    items: list[Extra] = []
    end = 0
    while match := _ITEM.match(inner, end):
        item = _in_flow(match[1], match[2])
        if item is None:
            return None
        items.append(item)
        end = match.end()
        if end == len(inner):
            break
    return items if end == len(inner) and inner[-2:] != ", " else None


def _map(inner: str) -> Extra | None:
    pairs: dict[str, Extra] = {}
    end = 0
    while match := _PAIR.match(inner, end):
        value = _in_flow(match[2], match[3])
        if value is None or match[1] in pairs:
            return None
        pairs[match[1]] = value
        end = match.end()
        if end == len(inner):
            break
    return pairs if end == len(inner) and inner[-2:] != ", " else None


def _in_flow(quoted: str | None, plain: str | None) -> str | None:
    if plain is None:
        return None if quoted is None else _unescape(quoted) if "\\" in quoted else quoted
    if plain[-1] in ": " or ": " in plain:
        return None
    return "" if plain in NOTHING else plain


def _unescape(text: str) -> str | None:
    try:
        return _ESCAPE.sub(_escaped, text)
    except (KeyError, ValueError, OverflowError):
        return None


def _escaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return _ESCAPED[match[4]]
    number = int(digits, 16)
    if 0xD800 <= number <= 0xDFFF:
        raise ValueError("half of a character")
    return chr(number)
