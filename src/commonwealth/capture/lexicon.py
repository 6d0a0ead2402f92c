"""Phrases as signals, found in one walk over a sentence's words: cost is linear in the words, whatever is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

WORD = re.compile(r"[^\W_]+(?:['][^\W_]+)*|[?!]")


@dataclass(slots=True)
class _Node:
    """What may follow the words so far: words, beginnings of words, and the flags of the phrases that end here."""

    words: dict[str, _Node] = field(default_factory=dict)
    stems: dict[str, _Node] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)


class Lexicon:
    """Phrases by flag. A phrase that starts with `^` counts only at the beginning of a sentence; `*` at the end of a
    word stands for any ending (of a word of at least three letters, where the phrase begins with it)."""

    def __init__(self, flags: Mapping[str, str]) -> None:
        self._anywhere, self._first = _Node(), _Node()
        for flag, phrases in flags.items():
            for phrase in phrases.split("|"):
                node = self._first if phrase.strip().startswith("^") else self._anywhere
                for word in phrase.strip().lstrip("^").split():
                    if word.endswith("*"):
                        node = node.stems.setdefault(word[:-1], _Node())
                    else:
                        node = node.words.setdefault(word, _Node())
                node.flags.add(flag)
        self._stems: dict[str, list[tuple[str, _Node]]] = {}
        for stem, node in self._anywhere.stems.items():
            self._stems.setdefault(stem[:3], []).append((stem, node))

    def flags(self, words: list[str]) -> set[str]:
        """The flags whose phrases occur in `words` (lower-case)."""
        found: set[str] = set()
        if words:
            _walk(self._first, words, 0, found)
        start, stems = self._anywhere.words, self._stems
        for place, word in enumerate(words):
            node = start.get(word)
            if node is not None:
                found |= node.flags
                _walk(node, words, place + 1, found)
            for stem, other in stems.get(word[:3], ()):
                if word.startswith(stem):
                    found |= other.flags
                    _walk(other, words, place + 1, found)
        return found


def words_of(text: str) -> list[str]:
    """The words of a sentence, lower-case, with contractions whole."""
    return WORD.findall(text.lower())


def _walk(node: _Node, words: list[str], place: int, found: set[str]) -> None:
    """Adds the flags of all phrases that go on from `node` with the words from `place` on."""
    if place >= len(words):
        return
    word = words[place]
    following = node.words.get(word)
    if following is not None:
        found |= following.flags
        _walk(following, words, place + 1, found)
    for stem, other in node.stems.items():
        if word.startswith(stem):
            found |= other.flags
            _walk(other, words, place + 1, found)
