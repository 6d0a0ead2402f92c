"""One version of a note taken apart for merging: keys with their comments, sections, and what the values say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from commonwealth.errors import BadNote
from commonwealth.model import Extra, Note
from commonwealth.notes import codec, document, edits, schema
from commonwealth.notes.sections import sections
from commonwealth.notes.threeway import Piece, remarks


@dataclass(frozen=True)
class Version:
    """One side, read: line ends are plain, pieces stand in order; `tail` is what follows the last key."""

    text: str
    parts: document.Document
    front: tuple[Piece, ...]
    tail: str
    body: tuple[Piece, ...]
    values: Mapping[str, Extra]
    note: Note

    @cached_property
    def keys(self) -> dict[str, Piece]:
        """The pieces of the frontmatter by key."""
        return {piece.name: piece for piece in self.front}

    @property
    def updated(self) -> str:
        """When this version was written, as canonical time; empty where it does not say."""
        said = self.values.get("updated_at")
        try:
            return schema.time(said) if isinstance(said, str) else ""
        except ValueError:
            return ""

    @property
    def ending(self) -> str:
        """The white space at the very end of the body."""
        return self.parts.body[len(self.parts.body.rstrip()) :]


def plain(text: str) -> str:
    """`text` with plain line ends."""
    return text.replace("\r\n", "\n")


def digest(text: str) -> str:
    """What two texts are put in order by where nothing in them says it; line ends do not count."""
    return hashlib.sha256(plain(text).encode("utf-8", "replace")).hexdigest()


def read(text: str, path: str) -> Version | None:
    """A text taken apart; None where it is no note."""
    try:
        codec.front(document.split(text, path), path)  # CR CR LF is readable only in its plain form
        parts = document.split(plain(text), path)
        root, _ = codec.compose(parts, path)
        note, _ = codec.parse(parts.text(), path, "")
    except BadNote:
        return None
    lines = parts.frontmatter.split("\n")[:-1]
    found, tail = edits.blocks(lines, root, 0, len(lines))
    values = root.value if isinstance(root.value, dict) else {}
    front = tuple(_piece(block, values[block.key]) for block in found)
    return Version(text, parts, front, _joined(tail), _body(parts.body), values, note)


def _piece(block: edits.Block, value: Extra) -> Piece:
    text = _joined(block.lead + block.lines)
    return Piece(block.key, text, value, remarks(text))


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _body(body: str) -> tuple[Piece, ...]:
    """Sections as pieces; a heading that stands there again gets a number. White space at the end is no change."""
    seen: dict[str, int] = {}
    found: list[Piece] = []
    parts = sections(body)
    for part in parts:
        name = f"{part.level} {part.title.casefold()}"
        seen[name] = seen.get(name, 0) + 1
        same = part.text.rstrip()
        if same or part is not parts[-1]:
            found.append(Piece(f"{name} {seen[name]}", part.text, same, last=part is parts[-1]))
    return tuple(found)
