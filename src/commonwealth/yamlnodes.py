"""YAML in, text out: the C parser's events, strictly, with the place of everything.

The usual loaders turn `no` into False, `0123` into 83 and `2026-13-45` into a traceback, let the last of two equal
keys win in silence, and let a few lines of aliases grow to gigabytes when shown. Here every scalar is text, nothing
is built that was not written out, and depth and number of keys have limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from commonwealth.model import Extra

NOTHING = frozenset(("~", "null"))
"""Plain scalars that say that there is no value."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, slower, where libyaml is missing
_BREAKS = re.compile("[\r\x85\u2028\u2029]")


class YamlError(ValueError):
    """What is wrong with a text: `line` counts from 0 within it; `cause` is one clause."""

    def __init__(self, line: int, cause: str) -> None:
        super().__init__(cause)
        self.line = line
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. `end` is the line and column behind its last character.

    `style` is that of a scalar (empty, a quote, `|` or `>`), or `[` for a list or mapping in flow style. What says
    that there is no value is the empty text, without a style. `items` are those of a list.
    """

    value: Extra
    line: int
    column: int
    end: tuple[int, int]
    style: str = ""
    pairs: tuple[tuple[Node, Node], ...] = ()
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What a text may hold: so many keys in all, so many levels, and whether a line `---` may begin it."""

    keys: int
    depth: int
    marked: bool = False


def compose(text: str, form: Form) -> Node | None:
    """The one value that `text` spells; None where it spells none. Lines end with a line feed. Raises YamlError."""
    if broken := _BREAKS.search(text):
        line = text.count("\n", 0, broken.start())
        raise YamlError(line, f"the line separator U+{ord(broken[0]):04X} stands in it")
    try:
        return _Composer(yaml.parse(text, Loader=_LOADER), form).document()
    except yaml.MarkedYAMLError as error:
        opened = error.context_mark if "flow" in (error.context or "") or "quoted" in (error.context or "") else None
        mark = opened or error.problem_mark
        raise YamlError(mark.line if mark else 0, _plain_cause(error)) from None
    except yaml.reader.ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position]
        raise YamlError(before.count(b"\n"), "a control character stands in it") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(0, str(error).split("\n", 1)[0]) from None


def _plain_cause(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it is not YAML"
    if "mapping values are not allowed" in problem:
        return "a value with a colon and a space has to stand in quotes"
    return f"not YAML ({error.context + ': ' if error.context else ''}{problem})"


class _Composer:
    """Builds nodes from events."""

    def __init__(self, events: Iterator[yaml.Event], form: Form) -> None:
        self.events = events
        self.form = form
        self.keys = 0

    def document(self) -> Node | None:
        next(self.events)  # start of the stream
        event = next(self.events)
        node = None
        if isinstance(event, yaml.DocumentStartEvent):
            if event.version or event.tags or (event.explicit and not self.form.marked):
                raise YamlError(_start(event)[0], "a second document or a directive stands in it")
            node = self.node(next(self.events), 1)
            next(self.events)  # end of the document
            event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise YamlError(_start(event)[0], "a second document begins here")
        return node

    def node(self, event: yaml.Event, depth: int) -> Node:
        line, column = _start(event)
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor is not None:
            raise YamlError(line, "anchors and aliases are not allowed")
        if event.tag is not None:
            raise YamlError(line, f"the tag {event.tag} is not allowed")
        if isinstance(event, yaml.ScalarEvent):
            nothing = not event.style and event.value in NOTHING
            return Node("" if nothing else event.value, line, column, _end(event), event.style or "")
        if depth > self.form.depth:
            raise YamlError(line, f"it is nested more than {self.form.depth} levels deep")
        mapping = isinstance(event, yaml.MappingStartEvent)
        return self.mapping(event, depth) if mapping else self.list(event, depth)

    def list(self, start: yaml.CollectionStartEvent, depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        values: list[Extra] = [item.value for item in items]
        if start.flow_style:
            return Node(values, *_start(start), _end(event), "[", items=tuple(items))
        return Node(values, *_start(start), items[-1].end if items else _end(start), items=tuple(items))

    def mapping(self, start: yaml.CollectionStartEvent, depth: int) -> Node:
        value: dict[str, Extra] = {}
        pairs: list[tuple[Node, Node]] = []
        end = _end(start)
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key, name = self.key(event, depth, value)
            if not start.flow_style and key.column != _start(start)[1]:
                raise YamlError(key.line, "a key behind a question mark is not allowed")
            item = self.node(next(self.events), depth + 1)
            value[name] = item.value
            pairs.append((key, item))
            end = max(key.end, item.end)
        if start.flow_style:
            return Node(value, *_start(start), _end(event), "[", tuple(pairs))
        return Node(value, *_start(start), end, "", tuple(pairs))

    def key(self, event: yaml.Event, depth: int, seen: dict[str, Extra]) -> tuple[Node, str]:
        line, column = _start(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise YamlError(line, "a key has to be text")
        self.node(event, depth)
        name = event.value
        if name == "<<" and not event.style:
            raise YamlError(line, "merge keys are not allowed")
        if name in seen:
            raise YamlError(line, f"the key {name[:60]!r} stands twice")
        self.keys += 1
        if self.keys > self.form.keys:
            raise YamlError(line, f"it has more than {self.form.keys} keys")
        return Node(name, line, column, _end(event)), name


def _start(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line, mark.column) if mark else (0, 0)


def _end(event: yaml.Event) -> tuple[int, int]:
    mark = event.end_mark
    return (mark.line, mark.column) if mark else (0, 0)
