"""Phrases as signals, found in one walk over a sentence's words: cost is linear in the words, whatever is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

WORD = re.compile(r"[^\W_]+(?:['][^\W_]+)*|[?!]")


class Lexicon:
    """Phrases by flag. A phrase that starts with `^` counts only at the beginning of a sentence; `*` at the end of a
    word stands for any ending."""

    def __init__(self, flags: Mapping[str, str]) -> None:
        self._first: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        self._stems: dict[str, list[tuple[str, tuple[str, ...], str, bool]]] = {}
        for flag, phrases in flags.items():
            for phrase in phrases.split("|"):
                start = phrase.strip().startswith("^")
                words = tuple(phrase.strip().lstrip("^").split())
                if words[0].endswith("*"):
                    self._stems.setdefault(words[0][:3], []).append((words[0][:-1], words[1:], flag, start))
                else:
                    self._first.setdefault(words[0], []).append((words[1:], flag, start))

    def flags(self, words: list[str]) -> set[str]:
        """The flags whose phrases occur in `words` (lower-case)."""
        found: set[str] = set()
        for place, word in enumerate(words):
            entries = self._first.get(word)
            if entries is not None:
                for rest, flag, start in entries:
                    if not (start and place) and flag not in found and (not rest or _follows(words, place + 1, rest)):
                        found.add(flag)
            for stem, rest, flag, start in self._stems.get(word[:3], ()):
                if word.startswith(stem) and not (start and place) and _follows(words, place + 1, rest):
                    found.add(flag)
        return found


def words_of(text: str) -> list[str]:
    """The words of a sentence, lower-case, with contractions whole."""
    return WORD.findall(text.lower())


def _follows(words: list[str], place: int, rest: Iterable[str]) -> bool:
    for wanted in rest:
        if place >= len(words):
            return False
        if wanted.endswith("*"):
            if not words[place].startswith(wanted[:-1]):
                return False
        elif words[place] != wanted:
            return False
        place += 1
    return True
