"""Settings files in the plain part of YAML (see `yamlnodes`): every scalar is text, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import yaml

from commonwealth.errors import Damaged
from commonwealth.yamlnodes import Form, Node, YamlError, compose

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

_FORM = Form(keys=1 << 20, depth=5, marked=True)
_NOTHING = ("", "Null", "NULL")
_HINT = "Mend the file; until then nothing is taken from it by guess."


def mapping(text: str, where: str, limit: int) -> dict[str, Value]:
    """The mapping that `text` spells. Raises Damaged with line and cause for anything else, an empty file and
    more than `limit` characters included; `where` names the file."""
    if len(text) > limit:
        raise Damaged(f"{where}: unparsable (it is larger than {limit >> 10} KiB).", hint=_HINT)
    try:
        found = _plain(_root(text))
    except YamlError as error:
        raise Damaged(f"{where}, line {error.line + 1}: unparsable ({error.cause}).", hint=_HINT) from None
    if not isinstance(found, dict):
        kind = "nothing" if found is None else "a list" if isinstance(found, list) else "bare text"
        raise Damaged(f"{where}: unparsable (keys with values are expected, found {kind}).", hint=_HINT)
    return found


def _root(text: str) -> Node | None:
    return compose(text.removeprefix("\ufeff").replace("\r\n", "\n"), _FORM)


def _plain(node: Node | None) -> Value:
    if node is None:
        return None
    if isinstance(node.value, dict):
        return {str(key.value): _plain(value) for key, value in node.pairs}
    if isinstance(node.value, list):
        return [_plain(item) for item in node.items]
    return None if not node.style and node.value in _NOTHING else node.value


def dumped(data: object) -> str:
    """`data` in block style, as `mapping` reads it back."""
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1 << 16)


def with_entry(text: str, key: str, dropped: Sequence[int], added: Mapping[str, str | None] | None) -> str:
    """`text` with the list at its top-level `key` changed by whole lines, comments and all else left alone.

    The entries at `dropped` go, and `added` comes in the place of the first of them, or at the end. Empty where
    the entries do not stand one below the other. The caller reads the result before trusting it.
    """
    spans = _entry_lines(text, key)
    if not spans:
        return ""
    lines = text.splitlines(keepends=True)
    first = lines[spans[0][0]]
    end = "\r\n" if first.endswith("\r\n") else "\n"
    indent = first[: len(first) - len(first.lstrip())]
    place = spans[min(dropped)][0] if dropped else spans[-1][1]
    for at in sorted(dropped, reverse=True):
        del lines[slice(*spans[at])]
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += end
    new = dumped([dict(added)]).splitlines() if added else []
    lines[place:place] = [f"{indent}{line}{end}" for line in new]
    return "".join(lines)


def _entry_lines(text: str, key: str) -> list[tuple[int, int]]:
    """The half-open range of lines of each mapping in the block list at the top-level `key`."""
    try:
        root = _root(text)
    except YamlError:
        return []
    for name, value in root.pairs if root else ():
        if name.value == key and not value.style:
            return [(item.line, item.end[0] + (item.end[1] > 0)) for item in value.items]
    return []
