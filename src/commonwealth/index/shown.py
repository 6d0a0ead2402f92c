"""Why a note matched, and the piece of its body that shows it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from commonwealth.index.stem import stem
from commonwealth.index.words import parts
from commonwealth.model import Note

SNIPPET = 240
"""Characters of a snippet, its ellipses aside."""

_READ = 20_000
_EACH = 20
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Matcher:
    """The terms of one query: each stem with the beginning that all its words share, and pairs of characters of
    scripts without spaces."""

    stems: tuple[tuple[str, str], ...]
    pairs: tuple[str, ...]

    def places(self, text: str, each: int = _EACH) -> list[tuple[int, str]]:
        """Where the terms begin in a text that `plain` has made, in order, at most `each` places of a term."""
        found: list[tuple[int, str]] = []
        for wanted, beginning in self.stems:
            found += _of_word(text, wanted, beginning, each)
        for pair in self.pairs:
            at = text.find(pair)
            if at >= 0:
                found.append((at, pair))
        return sorted(found)


def _of_word(text: str, wanted: str, beginning: str, each: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    at = text.find(beginning)
    while at >= 0 and len(found) < each:
        if not (at and text[at - 1].isalnum()):
            word = _WORD.match(text, at)
            if word and stem(word[0]) == wanted:
                found.append((at, wanted))
        at = text.find(beginning, at + len(beginning))
    return found


def matcher(words: Iterable[str]) -> Matcher:
    """A matcher for the terms of a query."""
    folded = [plain(word) for word in words]
    # Stemming changes the last letter at most: retry, retries, retrying share retr.
    stems = dict.fromkeys(stem(word) for word in folded if _WORD.fullmatch(word))
    return Matcher(
        tuple((wanted, wanted[:-1] if len(wanted) > 2 else wanted) for wanted in stems),
        tuple(word for word in folded if not word.isascii()),
    )


def plain(text: str) -> str:
    """`text` in lower case without diacritics, of the same length: positions stay true."""
    if text.isascii():
        return text.lower()
    return "".join(map(_plain, text))


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    return (unicodedata.normalize("NFKD", char)[0].lower() or char)[0]


def explained(note: Note, match: Matcher) -> tuple[tuple[str, ...], str]:
    """Where the terms occur, and a snippet.

    Body covers summary, tags, components and files; identifier says that a term stands only inside a name there.

    The snippet is the stretch of the body with the most different terms, on one line; without any, the summary
    or the beginning.
    """
    places = match.places(plain(note.body[:_READ]))
    in_title = {term for _, term in match.places(plain(note.title), 1)}
    in_body = {term for _, term in places} | {term for _, term in match.places(plain(_named(note)), 1)}
    found = ["title"] if in_title else []
    if in_body:
        found.append("body")
    if any(wanted not in in_title and wanted not in in_body for wanted, _ in match.stems):
        inner = parts(f"{note.title}\n{note.body}\n{_named(note)}").lower()
        if {term for _, term in match.places(inner, 1)} - in_title - in_body:
            found.append("identifier")
    return tuple(found) or ("body",), _snippet(note, places)


def _named(note: Note) -> str:
    named = (*note.tags, *note.components, *note.provenance.files, *note.files)
    return "\n".join((note.summary or "", *named))


def _snippet(note: Note, places: list[tuple[int, str]]) -> str:
    body = note.body[:_READ]
    if not places:
        return _cut(note.summary or body, 0, SNIPPET)
    best, start = 0, places[0][0]
    for index, (at, _) in enumerate(places):
        inside = {term for there, term in places[index : index + _EACH] if there < at + SNIPPET - 40}
        if len(inside) > best:
            best, start = len(inside), at
    return _cut(body, max(0, start - 40), SNIPPET)


def _cut(text: str, start: int, length: int) -> str:
    """A stretch of text from word to word, spaces made single."""
    end = min(len(text), start + length)
    if start:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - 30), end)
        end = space if space >= 0 else end
    piece = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{piece}{' …' if end < len(text) else ''}"
