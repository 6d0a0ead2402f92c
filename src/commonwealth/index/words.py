"""Text to searchable terms, the same way for notes and for queries.

SQLite's tokenizer cuts at everything that is no letter, mark or digit, folds case and diacritics and stems English.
What it cannot do is done here: compatibility forms, scripts that are written without spaces, and names such as
`PaymentService` that hold several words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MAX_QUERY = 4000
MAX_TERMS = 48

# Thai, Lao, Myanmar, Khmer, Hangul, Kana, Bopomofo, Han: punctuation and symbols of these blocks are left out.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0ebd\u0ec0-\u0edf"
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17e9"
    "\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fffd"
)
_RUN = re.compile(f"[{_SPACELESS}]+")

# Where a word changes from lower case to upper, from an acronym to a word, or between letters and digits, seen in a
# text of which only the classes of its characters are left (a, A, 0 and space).
_CLASSES = bytes(
    97 if chr(code).islower() else 65 if chr(code).isupper() else 48 if chr(code).isdecimal() else 32
    for code in (*range(128), *[32] * 128)
)
# Every alternative begins with the rarer classes, which lets the engine skip over prose.
_BORDER = re.compile(rb"[A0](?:(?<=a.)|(?<=A0)|(?<=0)(?=[Aa])|(?<=AA)(?=a))[Aa0]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_COMMIT = re.compile(r"(?=[a-f]*[0-9])[0-9a-f]{7,64}", re.IGNORECASE)
"""The beginning of a commit's name, as git shortens it: it means every name that begins so."""

_EDGES = " \t\"'“”‘’`«»()[]{}<>,;:!?…"

_FUNCTION_WORDS = (
    "a an and any are aren as at be been but by can could couldn did didn do does doesn don "
    "for from had hadn has hasn have haven he her here hers him his how i if in into is isn it its me might "
    "must my no nor not of on or our ours shall she should shouldn so some such than that the their theirs them then "
    "there these they this those to too us was wasn we were weren what when where which who whom whose why will with "
    "would wouldn you your yours"
)
STOP = frozenset(_FUNCTION_WORDS.split())
"""English function words: they say nothing about what a note is about."""


def normal(text: str) -> str:
    """`text` in its compatibility form (NFKC), without lone surrogates."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))


def fold(text: str) -> str:
    """The form in which names, tags and titles are compared: compatibility form, no case, single spaces."""
    return " ".join(normal(text).casefold().split())


def searchable(text: str) -> str:
    """`text` as the tokenizer gets it: runs of scripts without spaces become overlapping pairs.

    The last character of a run follows as a term of its own, so that a query of one character finds it wherever it
    stands: as the beginning of a pair, or there.
    """
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {_pairs(run[0])} {run[0][-1]} ", normal(text))


def _pairs(run: str) -> str:
    return " ".join(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else run


def parts(text: str) -> str:
    """The words inside the identifiers of `text`: `PaymentService`, `HTTPServer` give payment service http server."""
    return " ".join([part for word in identifiers(text) for part in split(word)])


def identifiers(text: str) -> list[str]:
    """The words of ASCII letters and digits in `text` that hold an inner border, each once, in order."""
    raw = text.encode("utf-8", "replace")
    classes = raw.translate(_CLASSES)
    found = [raw[classes.rfind(b" ", 0, hit.start()) + 1 : hit.end()] for hit in _BORDER.finditer(classes)]
    return [word.decode("ascii") for word in dict.fromkeys(found)]


@lru_cache(maxsize=4096)
def split(word: str) -> tuple[str, ...]:
    """The parts of one identifier of letters and digits; single characters are no parts."""
    return tuple(part for part in _PART.findall(word) if len(part) > 1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, taken apart.

    `match` is an FTS5 expression that cannot fail ("" when the text holds nothing to search for), `words` are its
    plain terms, `literals` the pieces that look like code or an error code and should be found as they stand.
    `code` says that there is nothing else in it.
    """

    match: str
    words: tuple[str, ...]
    literals: tuple[str, ...]
    code: bool


def asked(text: str) -> Asked:
    """Take a query apart. Any text is fine; of a very long one the beginning is used."""
    terms: dict[str, bool] = {}
    literals: dict[str, None] = {}
    prose, before = False, ""
    for chunk in [chunk.strip(_EDGES) for chunk in normal(text[:MAX_QUERY]).split()]:
        found = tokens(chunk)
        literal = is_literal(chunk, found)
        for term, telling in _terms(chunk, found, literal):
            terms.setdefault(term, telling)
            prose = prose or (telling and not literal)
        if literal:
            literals[chunk.rstrip(".").lower()] = None
        if chunk.isdecimal() and before.isupper() and before.isalpha():  # HTTP 409
            terms[quoted(before, chunk)] = True
            literals[f"{before} {chunk}".lower()] = None
        before = chunk
    kept = [term for term, telling in terms.items() if telling] or list(terms)
    kept = kept[:MAX_TERMS]
    words = tuple(dict.fromkeys(word for term in kept for word in term.strip('"*').split()))
    return Asked(" OR ".join(kept), words, tuple(literals), not prose)


def _terms(chunk: str, found: list[str], literal: bool) -> Iterator[tuple[str, bool]]:
    """The terms of one chunk, and of each whether it says anything by itself."""
    for token in found:
        run = _RUN.match(token)
        for word in _pairs(token).split() if run else (token,):
            yield quoted(word), word.lower() not in STOP
        if run and len(token) > 2:
            yield quoted(token), True
    if literal and len(found) > 1:
        yield quoted(*found), True
    for word in identifiers(chunk):
        if len(split(word)) > 1:
            yield quoted(*split(word)), True
    if _COMMIT.fullmatch(chunk):
        yield f'"{chunk.lower()}" *', True


def quoted(*found: str) -> str:
    """The FTS5 expression of some tokens in a row."""
    if len(found) == 1 and len(found[0]) == 1 and _RUN.match(found[0]):
        return f'"{found[0]}" *'
    return '"' + " ".join(_pairs(token) if _RUN.match(token) else token for token in found) + '"'


def tokens(chunk: str) -> list[str]:
    """The tokenizer's view of a chunk, with runs of scripts without spaces standing apart."""
    if not chunk.isascii():
        chunk = _RUN.sub(r" \g<0> ", chunk)
    return "".join([char if _is_token(char) else " " for char in chunk]).split()


@lru_cache(maxsize=4096)
def _is_token(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LMN" or category == "Co"


def is_literal(chunk: str, found: list[str]) -> bool:
    """Whether a chunk of these tokens is a name, flag, path or code rather than prose."""
    if not found or len(chunk) < 2:
        return False
    if chunk.isalpha():
        return chunk.isascii() and len(split(chunk)) > 1
    marks = {char for char in chunk.rstrip(".") if not _is_token(char)}
    if marks <= {"-", "'", "’"}:
        digits = any(char.isdecimal() for char in chunk)
        return chunk.startswith("-") or (digits and any(char.isalpha() for char in chunk))
    return True
