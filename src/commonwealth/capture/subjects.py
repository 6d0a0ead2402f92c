"""What a sentence is about: the names in it, and how close two sentences are by them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import fsum, sqrt

_CODE = re.compile(r"`([^`\n]{2,120})`")
_NAME = re.compile(
    r"[A-Za-z_][\w]*(?:[._/:-][A-Za-z_]\w*)+|[A-Za-z]*[a-z][A-Z]\w*|[A-Z]{2,}\w*|\w*_\w+|--?[a-z][\w-]+|\w+(?=\(\))"
)
_PUNCTUATION = ".,;:!?\"'"
"""What may stand around a plain word, which is no name in code."""
_SEPARATORS = re.compile(r"[^\w]|_")
_WORD = re.compile(r"[^\W\d_]{3,}")
COMMON = frozenset((
    "about", "above", "actually", "add", "added", "adds", "after", "all", "already", "also", "and", "another",
    "any", "appear", "appears", "approach", "are", "auf", "because", "been", "before", "being", "below", "between",
    "both", "but", "call", "called", "calls", "can", "can't", "case", "change", "changed", "changes", "check",
    "checks", "class", "code", "con", "correct", "correctly", "could", "create", "created", "current", "currently",
    "das", "data", "default", "dem", "den", "der", "des", "did", "didn't", "die", "directly", "does", "doesn",
    "doesn't", "don't", "done", "due", "during", "each", "ein", "eine", "either", "error", "errors", "even",
    "every", "fail", "failed", "fails", "false", "file", "files", "find", "first", "fix", "fixed", "for", "found",
    "from", "function", "get", "gets", "good", "got", "great", "had", "handle", "handled", "handles", "has", "have",
    "here", "how", "however", "instead", "into", "isn't", "issue", "ist", "it's", "its", "just", "know", "las",
    "last", "les", "let", "like", "line", "lines", "look", "looks", "los", "made", "make", "makes", "many", "may",
    "means", "method", "mit", "more", "most", "much", "must", "name", "names", "need", "needed", "needs", "new",
    "next", "nicht", "none", "not", "now", "null", "off", "okay", "old", "one", "only", "onto", "option", "other",
    "our", "out", "over", "own", "para", "part", "pass", "passed", "passes", "per", "point", "por", "problem",
    "properly", "put", "que", "ran", "really", "remove", "removed", "result", "results", "return", "returned",
    "returns", "right", "run", "running", "runs", "same", "second", "see", "seem", "seems", "set", "sets", "should",
    "show", "shows", "since", "six", "some", "still", "such", "sure", "ten", "test", "tests", "than", "that",
    "that's", "the", "their", "them", "then", "there", "therefore", "these", "they", "thing", "things", "third",
    "this", "those", "though", "three", "through", "time", "times", "too", "true", "try", "two", "type", "una",
    "und", "under", "update", "updated", "use", "used", "user", "users", "uses", "using", "value", "values", "very",
    "via", "von", "want", "wants", "was", "way", "ways", "were", "what", "when", "where", "which", "while", "who",
    "why", "will", "with", "within", "without", "won't", "work", "working", "works", "would", "yes", "yet", "you",
    "you're", "your",
))  # fmt: skip
NAME_WEIGHT = 1.4


def stem(word: str) -> str:
    """A word without the commonest English endings, enough to tell `hooks` and `hook` for one."""
    word = word.lower()
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=32768)
def names(text: str) -> frozenset[str]:
    """The names of things in code that a text has, from backticks and by their form: lower-case and without what
    joins their words, so that one thing in two spellings (`read-file`, `ReadFile`) is one."""
    found: set[str] = set()
    for match in _CODE.finditer(text):
        found.update(_parts(match[1]))
    for token in set(text.split()):
        bare = token.strip(_PUNCTUATION)
        if not (bare.isalpha() and (bare[1:].islower() or len(bare) == 1)):
            for match in _NAME.finditer(token):
                found.update(_parts(match[0]))
    return frozenset(found)


@lru_cache(maxsize=32768)
def terms(text: str) -> frozenset[str]:
    """The names and the stems of the words of a text."""
    found = {stem(name) for name in names(text)}
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word not in COMMON:
            found.add(stem(word))
    return frozenset(found)


@lru_cache(maxsize=32768)
def _weights(text: str) -> tuple[dict[str, float], float]:
    """The terms of a text with their weights, and the length of that vector."""
    known = {stem(name) for name in names(text)}
    found = {term: NAME_WEIGHT if term in known else 1.0 for term in terms(text)}
    return found, sqrt(fsum(weight * weight for weight in found.values()))


def nearness(one: str, other: str) -> float:
    """0 to 1: how much two texts speak of the same things (the cosine of their terms), names counted more."""
    left, length = _weights(one)
    right, breadth = _weights(other)
    if len(left) > len(right):
        left, right = right, left
    both = fsum(weight * right[term] for term, weight in left.items() if term in right)
    return both / (length * breadth) if both else 0.0


def shared(one: str, other: str) -> frozenset[str]:
    """The terms of both texts that at least one of them uses as a name: what makes them speak of one thing."""
    both = terms(one) & terms(other)
    return both & {stem(name) for name in names(one) | names(other)} if both else both


def within(part: str, whole: str) -> float:
    """0 to 1: how much of what `part` speaks of is in `whole` too."""
    found, _ = _weights(part)
    have = terms(whole)
    return fsum(weight for term, weight in found.items() if term in have) / fsum(found.values()) if found else 0.0


def _parts(raw: str) -> Iterable[str]:
    for word in raw.lower().split()[:8]:
        plain = _SEPARATORS.sub("", word.strip(" .,:;()'\"=*[]{}").rsplit("/", 1)[-1])
        if 2 < len(plain) <= 60 and not plain.isdigit():
            yield plain
