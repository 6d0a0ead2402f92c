"""A note's text in its parts: mark, fences, frontmatter, body. Every byte belongs to exactly one part."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.errors import BadNote

MAX_FRONTMATTER = 16 * 1024

_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_OPENING = re.compile(r"---[ \t]*\r?\n")
_LANGUAGE = re.compile(r"---[ \t]?[A-Za-z]{2,12}[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Document:
    """`bom + opening + frontmatter + closing + body` is the text; `opening` is empty without a frontmatter.

    Fences hold their line ends; `frontmatter` is empty or ends with one.
    """

    bom: str
    opening: str
    frontmatter: str
    closing: str
    body: str

    def text(self) -> str:
        """The text again, byte for byte."""
        return self.bom + self.opening + self.frontmatter + self.closing + self.body

    @property
    def yaml(self) -> str:
        """The frontmatter with plain line ends, for the readers."""
        return self.frontmatter.replace("\r\n", "\n") if "\r" in self.frontmatter else self.frontmatter

    @property
    def newline(self) -> str:
        """The line end of this file: that of its first line."""
        first = (self.opening or self.body).partition("\n")[0]
        return "\r\n" if first.endswith("\r") else "\n"


def split(text: str, path: str) -> Document:
    """The parts of `text`. Raises BadNote for an empty text, a fence that is never closed, a frontmatter that is
    too large or not YAML by its own word."""
    end = text.find("\n---", 3)
    if text.startswith("\n", end + 4) and text.startswith("---\n") and text.find("\n...", 3, end) < 0 < end:
        document = Document("", "---\n", text[4 : end + 1], "---\n", text[end + 5 :])
    else:
        document = _split_any(text, path)
    size = len(document.frontmatter)
    if size > MAX_FRONTMATTER // 4 and len(document.frontmatter.encode("utf-8", "replace")) > MAX_FRONTMATTER:
        raise BadNote(path, 2, f"the frontmatter is larger than {MAX_FRONTMATTER // 1024} KiB")
    return document


def _split_any(text: str, path: str) -> Document:
    bom, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    if not rest.strip():
        raise BadNote(path, 0, "the file is empty")
    opening = _OPENING.match(rest)
    if opening is None:
        if (named := _LANGUAGE.match(rest)) and _CLOSING.search(rest, named.end()):
            raise BadNote(path, 1, "the fence names a language; only YAML after a bare --- is read")
        return Document(bom, "", "", "", rest)
    closing = _CLOSING.search(rest, opening.end())
    if closing is None:
        raise BadNote(path, 1, "the frontmatter that opens here is never closed")
    after = closing.end() + 1 if rest[closing.end() : closing.end() + 1] == "\n" else closing.end()
    return Document(
        bom,
        rest[: opening.end()],
        rest[opening.end() : closing.start()],
        rest[closing.start() : after],
        rest[after:],
    )
