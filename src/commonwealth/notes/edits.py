"""Changing some keys of a frontmatter as text: which lines belong to a key, and what is put in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from commonwealth.model import Extra
from commonwealth.notes import schema, yamlwrite
from commonwealth.notes.document import Document
from commonwealth.notes.yamlwrite import Value
from commonwealth.yamlnodes import Node

_RANK = {key: rank for rank, key in enumerate(schema.KEYS)}
_COMMENT = re.compile(r"[ \t]+#.*")


@dataclass(slots=True)
class Block:
    """The lines of one key: `lead` are the comments and empty lines above it. Lines have no ends."""

    key: str
    lead: list[str]
    lines: list[str]
    name: Node
    value: Node


def blocks(lines: list[str], root: Node, start: int, stop: int) -> tuple[list[Block], list[str]]:
    """The keys of the block mapping `root` within `lines[start:stop]`, and the lines behind the last one."""
    found: list[Block] = []
    for name, value in root.pairs:
        end = last_line(lines, name, value) + 1
        found.append(Block(str(name.value), lines[start : name.line], lines[name.line : end], name, value))
        start = end
    return found, lines[start:stop]


def last_line(lines: list[str], name: Node, value: Node) -> int:
    """The last line of a key's value. What follows it are comments and empty lines of the next key."""
    line, column = value.end
    if value.style in ("|", ">"):
        line -= column == 0
        while line > name.line and line < len(lines) and lines[line].startswith("#"):
            line -= 1
    return max(name.line, min(line, len(lines) - 1))


def plain(value: Value) -> Extra:
    """`value` as a reader gives it back: lists and dictionaries of text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value]


def wanted(root: Node, changes: Mapping[str, Value | None]) -> dict[str, Extra]:
    """What the frontmatter has to say after `changes`."""
    values: dict[str, Extra] = dict(root.value) if isinstance(root.value, dict) else {}
    for key, value in changes.items():
        if value is None:
            values.pop(key, None)
        else:
            values[key] = _kept(key, values.get(key), plain(value))
    return values


def _kept(key: str, old: Extra | None, new: Extra) -> Extra:
    """`new` with the keys of `old` that our schema does not know, for our own nested records."""
    known = schema.SUB_KEYS.get(key)
    if known is None or not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**{name: item for name, item in old.items() if name not in known}, **new}


def apply(parts: Document, root: Node, changes: Mapping[str, Value | None], body: str | None) -> str:
    """The text of `parts` with `changes` made and, unless it is None, another body."""
    newline = parts.newline
    front, opening, closing = parts.frontmatter, parts.opening, parts.closing
    if changes:
        ended = front.split("\n")[:-1]
        lines = [line.removesuffix("\r") for line in ended]
        after = _changed(lines, root, changes, 0, len(lines), top=True)
        front = _ended(after, dict(zip(lines, ended, strict=True)), newline)
        if front and not opening:
            opening = closing = f"---{newline}"
    new_body = parts.body if body is None else _in_style(body, newline)
    if new_body and closing and not closing.endswith("\n"):
        closing += newline
    return parts.bom + opening + front + closing + new_body


def _ended(lines: list[str], before: Mapping[str, str], newline: str) -> str:
    """`lines` with their line ends; those that stood there before keep theirs, in a file that mixes them."""
    end = newline.removesuffix("\n")
    return "".join(before.get(line, line + end) + "\n" for line in lines)


def _in_style(body: str, newline: str) -> str:
    return body.replace("\n", "\r\n") if newline == "\r\n" and "\r" not in body else body


def _changed(
    lines: list[str], root: Node, changes: Mapping[str, Value | None], start: int, stop: int, *, top: bool
) -> list[str]:
    """`lines[start:stop]`, which hold the block mapping `root`, with `changes` made."""
    found, tail = blocks(lines, root, start, stop)
    indent = " " * root.pairs[0][0].column if root.pairs else ""
    for block in found:
        if block.key in changes:
            block.lines = _rewritten(lines, block, changes[block.key], indent, top=top)
    present = {block.key for block in found}
    for key, value in changes.items():
        if value is not None and key not in present:
            made = _written(key, value, indent, top=top)
            nowhere = root
            found.insert(place([b.key for b in found], key, top=top), Block(key, [], made, nowhere, nowhere))
    return [line for block in found for line in block.lead + block.lines] + tail


def place(keys: list[str], key: str, *, top: bool = True) -> int:
    """Where a new key goes among `keys`: behind the last one that comes before it in canonical order."""
    if not top or key not in _RANK:
        return len(keys)
    rank = _RANK[key]
    earlier = [number for number, other in enumerate(keys) if _RANK.get(other, len(_RANK)) < rank]
    return earlier[-1] + 1 if earlier else 0


def _rewritten(lines: list[str], block: Block, new: Value | None, indent: str, *, top: bool) -> list[str]:
    key, old = block.key, block.value
    if new is None:
        return []
    full = _kept(key if top else "", old.value, plain(new))
    if full == old.value:
        return block.lines
    if top and key in schema.SUB_KEYS and isinstance(full, dict) and full and old.pairs and not old.style:
        values = old.value if isinstance(old.value, dict) else {}
        gone: dict[str, Value | None] = {name: None for name in values if name not in full}
        first = old.pairs[0][0].line
        if first > block.name.line:
            stop = block.name.line + len(block.lines)
            head = lines[block.name.line : block.name.line + 1]
            return head + _changed(lines, old, {**gone, **full}, block.name.line + 1, stop, top=False)
    return _written(key, full, indent, _comment(lines, block), top=top)


def _written(key: str, value: Value, indent: str, comment: str = "", *, top: bool) -> list[str]:
    block = top and key == "provenance"
    made = yamlwrite.entry(key, value, indent, block=block).removesuffix("\n").split("\n")
    if len(made) == 1:
        made[0] += comment
    return made


def _comment(lines: list[str], block: Block) -> str:
    """The comment behind a value that stands on the line of its key."""
    line, column = block.value.end
    if line != block.name.line:
        return ""
    match = _COMMENT.fullmatch(lines[line][column:])
    return match[0] if match else ""
