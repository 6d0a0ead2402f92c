"""The words of a text one by one, and where each stands in an index: bounded, however common a word is."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from commonwealth.index.plainwords import HOLLOW
from commonwealth.index.shown import plain
from commonwealth.index.stem import stem
from commonwealth.index.words import identifiers, normal, quoted, searchable, split, tokens

_FAMILIAR = """
github gitlab bitbucket javascript typescript postgresql mysql nodejs macos ios oauth graphql devops youtube openai
chatgpt openapi readme.md pyproject.toml package.json docker-compose.yml changelog.md requirements.txt --help --version
--verbose node.js next.js vue.js index.ts index.tsx index.js index.html main.py main.ts main.go app.py app.js app.ts
utils.py utils.ts setup.py __init__.py conftest.py dockerfile makefile typeerror keyerror valueerror attributeerror
indexerror nameerror importerror runtimeerror syntaxerror referenceerror rangeerror oserror assertionerror
modulenotfounderror filenotfounderror nullpointerexception illegalargumentexception --quick --force --quiet --dry-run
--watch --all --fix
"""
FAMILIAR = frozenset(_FAMILIAR.split())
"""Names that look like code and are said so often that they tell no more than another word."""

LONGEST = 8_000
"""Characters of a text that are taken apart."""

_EDGES = " \t\"'“”‘’`«»()[]{}<>,;:!?…*"
_URL = re.compile(r"(?i)[a-z][a-z0-9+.-]*://\S+")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d{2,5}|\d+(?:\.\d+)+")
_KEY = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}")
_SHOUTED = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|E[A-Z]{4,}|[A-Z]{2,}\d{2,}|SIG[A-Z]{3,}")


class Term(NamedTuple):
    """One word of a text: `key` is the form in which it is compared, `text` as it stands in lower case, `match` finds
    it. `exact` says that it is looked for as it stands, `code` that it is surely a name, path, number or error, `part`
    that it is only a piece of another word of the text."""

    key: str
    text: str
    match: str
    exact: bool = False
    part: bool = False
    code: bool = False


def terms(text: str) -> tuple[Term, ...]:
    """The words of a text in order, each once: plain words by their stems, code as it stands and by its parts."""
    found: dict[str, Term] = {}
    before = ""
    for chunk in [chunk.strip(_EDGES).rstrip(".") for chunk in normal(text[:LONGEST]).split()]:
        for term in _of_chunk(chunk, before):
            known = found.get(term.key)
            if known is None or (known.part and not term.part):
                found[term.key] = term
        before = chunk
    return tuple(found.values())


def _of_chunk(chunk: str, before: str) -> list[Term]:
    inside = tokens(chunk)
    if not inside:
        return []
    if _URL.match(chunk):
        return [_whole(chunk, quoted(*inside), code=True)]
    made: list[Term] = []
    if _NUMBER.fullmatch(chunk) and before[:1].isupper() and before.isalpha() and stem(before.lower()) not in HOLLOW:
        made.append(_whole(f"{before} {chunk}", quoted(before, chunk), code=True))  # HTTP 409, Node 22, Python 3.12
    if looks_like_code(chunk):
        apart = split(chunk) if len(inside) == 1 else ()
        match = " OR ".join(quoted(*words) for words in (inside, apart) if words)
        made.append(_whole(chunk, match, code=True))
    elif len(inside) > 1:  # pre-commit, and/or, pyproject.toml
        made.append(_whole(chunk, quoted(*inside), code=False))
    if len(inside) > 1:
        made += [
            _whole(token, f"{quoted(token)} OR {quoted(*split(token))}", code=True)
            for token in inside
            if looks_like_code(token)
        ]
    part = bool(made)
    for token in inside:
        made += [_plain(piece, part=part) for piece in (searchable(token).split() if not token.isascii() else (token,))]
    made += [_plain(piece, part=True) for word in identifiers(chunk) for piece in split(word) if len(split(word)) > 1]
    return made


def _whole(text: str, match: str, *, code: bool) -> Term:
    return Term(text.lower(), text.lower(), match, exact=True, code=code)


def _plain(token: str, *, part: bool) -> Term:
    low = plain(token)
    return Term(stem(low), low, quoted(token), part=part)


def looks_like_code(chunk: str) -> bool:
    """Whether a piece without blanks is surely a name, path, option, version, key or error, and no prose with a sign in
    it, such as `and/or`, `e.g` or `client-side`."""
    if chunk.lower() in FAMILIAR:
        return False
    if _KEY.fullmatch(chunk) or _SHOUTED.fullmatch(chunk):
        return True
    if any(map(str.isdecimal, chunk)):
        return len(chunk) > 2 and any(map(str.isalpha, chunk))
    signs = "_" in chunk.strip("_") or "::" in chunk or "()" in chunk or chunk.startswith("--")
    return signs or len(split(chunk)) > 1 if chunk.isalpha() or signs else _is_dotted(chunk)


def _is_dotted(chunk: str) -> bool:
    """Whether a piece is a file, a dotted name or a path."""
    head, dot, tail = chunk.rpartition(".")
    if dot and tail.isalpha() and (1 < len(tail) <= 5 or len(tail) < 2 < len(head)):
        return True
    return chunk.count("/") > 1 or any(len(split(word)) > 1 for word in identifiers(chunk))


def rows(conn: sqlite3.Connection, term: Term, most: int) -> list[int]:
    """The rows of notes that hold a word, at most `most`: which of more is not said."""
    return [row for (row,) in conn.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (term.match, most))]


def both(conn: sqlite3.Connection, common: Sequence[Term], most: int) -> list[int]:
    """The rows that hold two of these words, which are too common to be read one by one; at most `most` of a pair."""
    found: dict[int, None] = {}
    for one, two in combinations(common, 2):
        match = f"({one.match}) AND ({two.match})"
        sql = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        found |= dict.fromkeys(row for (row,) in conn.execute(sql, (match, most)))
    return list(found)


def word_stems(text: str) -> list[str]:
    """The plain words of a text by their stems, each once, in order."""
    return list(dict.fromkeys(map(stem, _WORD.findall(plain(searchable(text))))))


def holds(text: str, literal: str) -> bool:
    """Whether a text holds the literal as a whole: `retry` is not in `retry_all`, nor `409` in `4090`."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if not (_joins(before) and _joins(literal[0])) and not (_joins(after) and _joins(literal[-1])):
            return True
        at = text.find(literal, at + 1)
    return False


def _joins(char: str) -> bool:
    return char == "_" or char.isalnum()
