"""What a frontmatter may be: one block mapping of limited size, read by `yamlnodes`.

`lineyaml` reads the usual form several times faster; a test holds the two together.
"""

from __future__ import annotations

import re

from commonwealth import yamlnodes
from commonwealth.yamlnodes import Node, YamlError

MAX_KEYS = 64
MAX_DEPTH = 4
_FORM = yamlnodes.Form(MAX_KEYS, MAX_DEPTH)

_MENDABLE = re.compile(r"^( *(?:- )?[A-Za-z_][\w-]*: +)([^\s\"'\[{|>&*!#-].*?)( +#.*)?$")
_MAX_MENDS = 16


def compose(text: str) -> Node:
    """The root mapping of a frontmatter with the places of its keys. Raises YamlError."""
    root = yamlnodes.compose(text, _FORM)
    if root is None:
        return Node({}, 0, 0, (0, 0))
    if not isinstance(root.value, dict):
        raise YamlError(root.line, "the frontmatter is not a list of keys and values")
    if root.style:
        raise YamlError(root.line, "the frontmatter has to have one key a line, not {braces}")
    return root


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
