"""Porter's stemmer as SQLite's tokenizer applies it: it shows where a query matched, it does not find.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")
)  # fmt: skip
_SUFFIXES_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_STEP_4 = tuple((suffix, "") for suffix in _SUFFIXES_4.split())


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of a word in lower case; words of fewer than 3 or more than 64 letters have none but themselves."""
    if not 2 < len(word) <= 64:
        return word
    word = _tense(_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2, 0)
    word = _replaced(word, _STEP_3, 0)
    word = _replaced(word, _STEP_4, 1)
    return _tidied(word)


def _shape(stem_: str) -> str:
    """A letter v for each vowel, c for each consonant; y is a vowel after a consonant."""
    shape, consonant = "", False
    for char in stem_:
        consonant = not (char in "aeiou" or (consonant and char == "y"))
        shape += "c" if consonant else "v"
    return shape


def _measure(stem_: str) -> int:
    return _shape(stem_).count("vc")


def _short_end(stem_: str) -> bool:
    return _shape(stem_).endswith("cvc") and stem_[-1] not in "wxy"


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith("es"):
        return (
            word[:-2] if (len(word) > 4 and word.endswith("sses")) or (len(word) > 3 and word[-3] == "i") else word[:-1]
        )
    return word if word.endswith("ss") else word[:-1]


def _tense(word: str) -> str:
    if len(word) > 3 and word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and base:
            return _restored(base) if "v" in _shape(base) else word
    return word


def _restored(base: str) -> str:
    if base.endswith(("at", "bl", "iz")) and len(base) > 2:
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "aeioulsz" and _shape(base)[-1] == "c":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _short_end(base) else base


def _replaced(word: str, table: Iterable[tuple[str, str]], above: int) -> str:
    for suffix, put in table:
        if word.endswith(suffix) and len(word) > len(suffix):
            base = word[: -len(suffix)]
            fits = _measure(base) > above and (suffix != "ion" or base[-1] in "st")
            return base + put if fits else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short_end(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
