"""Settings files in the plain part of YAML: every scalar is text, and nothing is built that was not written out.

The usual loaders turn `no` into False, `0123` into 83 and `2026-13-45` into a traceback, let the last of two equal
keys win in silence, and let a few lines of aliases grow to gigabytes when shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import yaml

from commonwealth.errors import Damaged

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_DEPTH = 5
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, slower, where libyaml is missing
_NOTHING = ("", "~", "null", "Null", "NULL")
_HINT = "Mend the file; until then nothing is taken from it by guess."


class _Bad(Exception):
    def __init__(self, event: yaml.Event, cause: str) -> None:
        super().__init__(cause)
        self.line = _line(event) + 1


def mapping(text: str, where: str, limit: int) -> dict[str, Value]:
    """The mapping that `text` spells. Raises Damaged with line and cause for anything else, an empty file and
    more than `limit` characters included; `where` names the file."""
    if len(text) > limit:
        raise Damaged(f"{where}: unparsable (it is larger than {limit >> 10} KiB).", hint=_HINT)
    try:
        found = _document(yaml.parse(text.removeprefix("\ufeff"), Loader=_LOADER))
    except _Bad as error:
        raise Damaged(f"{where}, line {error.line}: unparsable ({error}).", hint=_HINT) from None
    except (yaml.YAMLError, UnicodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        cause = getattr(error, "problem", None) or "it holds characters that YAML forbids"
        raise Damaged(f"{where}{line}: unparsable ({cause}).", hint=_HINT) from None
    if not isinstance(found, dict):
        kind = "nothing" if found is None else "a list" if isinstance(found, list) else "bare text"
        raise Damaged(f"{where}: unparsable (keys with values are expected, found {kind}).", hint=_HINT)
    return found


def _document(events: Iterator[yaml.Event]) -> Value:
    next(events)  # start of the stream
    if isinstance(next(events), yaml.StreamEndEvent):
        return None
    found = _value(next(events), events, 1)
    next(events)  # end of the document
    after = next(events)
    if not isinstance(after, yaml.StreamEndEvent):
        raise _Bad(after, "a second document begins here")
    return found


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Value:
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor is not None:
        raise _Bad(event, "anchors and aliases are not allowed")
    if event.tag is not None:
        raise _Bad(event, "tags are not allowed")
    if isinstance(event, yaml.ScalarEvent):
        return None if not event.style and event.value in _NOTHING else str(event.value)
    if depth > MAX_DEPTH:
        raise _Bad(event, f"it is nested more than {MAX_DEPTH} levels deep")
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Value] = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(item, events, depth + 1))
        return items
    pairs: dict[str, Value] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        name = _value(key, events, depth + 1)
        if not isinstance(name, str):
            raise _Bad(key, "a key is no text")
        if name in pairs:
            raise _Bad(key, f"the key {name[:60]!r} stands twice")
        pairs[name] = _value(next(events), events, depth + 1)
    return pairs


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
    spans: list[tuple[int, int]] = []
    depth, begin, end, named, inside = 0, 0, 0, False, False
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            begin = _line(event) if inside and depth == 2 else begin
            inside = inside or (named and depth == 1 and not event.flow_style)
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if inside and depth == 2:
                spans.append((begin, end))
            inside = inside and depth > 1
        elif event.end_mark is not None:
            end = event.end_mark.line + (event.end_mark.column > 0)
        named = isinstance(event, yaml.ScalarEvent) and depth == 1 and event.value == key
    return spans


def _line(event: yaml.Event) -> int:
    return event.start_mark.line if event.start_mark else 0
