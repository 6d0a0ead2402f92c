"""Any YAML frontmatter in, text out: the C parser's events, strictly, with the place of every key.

Scalars are text; the schema types them. There are no anchors, aliases, tags, merge keys or duplicate keys, and
limits on depth and on the number of keys. `lineyaml` reads the usual form several times faster; a test holds the
two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from commonwealth.model import Extra

MAX_KEYS = 64
MAX_DEPTH = 4
NOTHING = frozenset(("~", "null"))
"""Plain scalars that say that there is no value."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BREAKS = re.compile("[\r\x85\u2028\u2029]")


class YamlError(ValueError):
    """What is wrong with a frontmatter: `line` counts from 0 within it; `cause` is one clause."""

    def __init__(self, line: int, cause: str) -> None:
        super().__init__(cause)
        self.line = line
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. `end` is the line and column behind its last character.

    `style` is that of a scalar (empty, a quote, `|` or `>`), or `[` for a list or mapping in flow style.
    """

    value: Extra
    line: int
    column: int
    end: tuple[int, int]
    style: str = ""
    pairs: tuple[tuple[Node, Node], ...] = ()


def compose(text: str) -> Node:
    """The root mapping of a frontmatter with the places of its keys. Raises YamlError."""
    if broken := _BREAKS.search(text):
        line = text.count("\n", 0, broken.start())
        raise YamlError(line, f"the line separator U+{ord(broken[0]):04X} stands inside the frontmatter")
    try:
        return _Composer(yaml.parse(text, Loader=_LOADER)).root()
    except yaml.MarkedYAMLError as error:
        opened = error.context_mark if "flow" in (error.context or "") or "quoted" in (error.context or "") else None
        mark = opened or error.problem_mark
        raise YamlError(mark.line if mark else 0, _plain_cause(error)) from None
    except yaml.reader.ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position]
        raise YamlError(before.count(b"\n"), "a control character stands in the frontmatter") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(0, str(error).split("\n", 1)[0]) from None


def _plain_cause(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it is not YAML"
    if "mapping values are not allowed" in problem:
        return "a value with a colon and a space has to stand in quotes"
    return f"not YAML ({error.context + ': ' if error.context else ''}{problem})"


class _Composer:
    """Builds nodes from events; only block mappings as root, at most 4 levels and 64 keys."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self.events = events
        self.keys = 0

    def root(self) -> Node:
        next(self.events)  # start of the stream
        event = next(self.events)
        if isinstance(event, yaml.DocumentStartEvent):
            if event.explicit or event.version or event.tags:
                raise YamlError(_start(event)[0], "a second document or a directive stands in the frontmatter")
            node = self.node(next(self.events), 1)
            if not isinstance(node.value, dict):
                raise YamlError(node.line, "the frontmatter is not a list of keys and values")
            if node.style:
                raise YamlError(node.line, "the frontmatter has to have one key a line, not {braces}")
            next(self.events)  # end of the document
            event = next(self.events)
        else:
            node = Node({}, 0, 0, (0, 0))
        if not isinstance(event, yaml.StreamEndEvent):
            raise YamlError(_start(event)[0], "a second document stands in the frontmatter")
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
        if depth > MAX_DEPTH:
            raise YamlError(line, f"it is nested more than {MAX_DEPTH} levels deep")
        mapping = isinstance(event, yaml.MappingStartEvent)
        return self.mapping(event, depth) if mapping else self.list(event, depth)

    def list(self, start: yaml.CollectionStartEvent, depth: int) -> Node:
        items: list[Extra] = []
        end = _end(start)
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            item = self.node(event, depth + 1)
            items.append(item.value)
            end = item.end
        if start.flow_style:
            return Node(items, *_start(start), _end(event), "[")
        return Node(items, *_start(start), end)

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
            raise YamlError(line, f"the key {name!r} stands there twice")
        self.keys += 1
        if self.keys > MAX_KEYS:
            raise YamlError(line, f"it has more than {MAX_KEYS} keys")
        return Node(name, line, column, _end(event)), name


def _start(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line, mark.column) if mark else (0, 0)


def _end(event: yaml.Event) -> tuple[int, int]:
    mark = event.end_mark
    return (mark.line, mark.column) if mark else (0, 0)


_MENDABLE = re.compile(r"^( *(?:- )?[A-Za-z_][\w-]*: +)([^\s\"'\[{|>&*!#-].*?)( +#.*)?$")
_MAX_MENDS = 16


def compose_tolerant(text: str) -> tuple[Node, tuple[YamlError, ...]]:
    """Like `compose`, but a one-line value that only lacks its quotes (`title: a: b`) is read as text.

    Returns the doubts beside the root. Raises the first YamlError where quotes would not mend it.
    """
    doubts: list[YamlError] = []
    first: YamlError | None = None
    lines = text.split("\n")
    while True:
        try:
            return compose("\n".join(lines)), tuple(doubts)
        except YamlError as error:
            first = first or error
            match = _MENDABLE.match(lines[error.line]) if error.line < len(lines) else None
            if match is None or len(doubts) == _MAX_MENDS or any(d.line == error.line for d in doubts):
                raise first from None
            quoted = match[2].replace("\\", "\\\\").replace('"', '\\"')
            lines[error.line] = f'{match[1]}"{quoted}"{match[3] or ""}'
            doubts.append(YamlError(error.line, "the value has to stand in quotes; it was read as text"))
