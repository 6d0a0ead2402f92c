"""How much a note bears on a text, and whether that is enough to say it. `docs/relevance.md` has every term's reason.

The floor is made of shares and of counts of independent matches, never of a rank or of a score that grows with the
number of notes: a brain of five notes and one of a hundred thousand say as little about small talk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

from commonwealth.index import candidates, lookup
from commonwealth.index.plainwords import HOLLOW, LOOSE
from commonwealth.index.shown import matcher, plain
from commonwealth.index.stem import stem
from commonwealth.index.terms import Term, both, holds, rows, word_stems
from commonwealth.index.words import STOP, parts, tokens
from commonwealth.model import Note

TELLING = 0.5
"""From this weight on a word says something of what a text is about."""

WORDS = 16
"""So many words of a text are looked up, the weightiest."""

_READ = 1_500
"""Rows of a word that are read: a word of more notes is weighed as common."""

_BEST = 240
"""Rows that are looked at more closely, by the weight of the words that they share with the text."""

_CLOSE = 24
"""Notes that are read."""

_COMMON = 4
"""So many common words are looked for together."""

_CODE, _NUMBER, _NAMED, _SHORT, _LOOSE, _HOLLOW, _PART = 2.5, 1.2, 1.3, 0.5, 0.4, 0.15, 0.6
SOUGHT = 0.3
"""From this weight on a word is looked up."""

_HEAD, _REST, _INNER, _BODY, _PAIR = 1.0, 0.85, 0.7, 0.4, 0.5
_NAMED_IN_BODY = 0.6
"""What code counts where it stands in the body: whoever names a thing means that thing."""

_LONGEST = 20_000
_SHARE = 8


class Weighed(NamedTuple):
    """A word of a text, what it weighs in this brain, and in which rows it stands, as far as they were read."""

    term: Term
    weight: float
    rows: tuple[int, ...] = ()
    common: bool = False


class Said(NamedTuple):
    """A text as it is weighed: its weightiest words, and which of its words follow each other."""

    words: tuple[Weighed, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()

    @property
    def heaviest(self) -> float:
        """What the weightiest of its words weigh together."""
        return sum(sorted((word.weight for word in self.words if not word.term.part), reverse=True)[:_SHARE])


class Evidence(NamedTuple):
    """What speaks for a note: `score`, the `share` of the text's weight that it holds, how much of its own title the
    text says (`back`), which telling, loose and exact words of the text its head holds, and which of them follow each
    other in both."""

    score: float
    share: float
    back: float
    words: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    """Telling words that only its body holds."""

    named: bool = False
    """Whether one of those is code."""

    held: frozenset[str] = frozenset()
    """The keys of all words that it holds and that say something."""

    @property
    def bearing(self) -> float:
        """How much a note bears on a text, as one number: what both say, counted higher where it is much of what either
        says."""
        return self.score * (1 + 2 * self.share + 1.5 * self.back) + 0.5 * min(len(self.loose), 2)


def of_itself(term: Term) -> float:
    """What a word weighs wherever it is said."""
    if term.code:
        return _CODE
    if term.exact:
        if sum(map(len, pieces := tokens(term.text))) <= 4 and all(map(str.isdecimal, pieces)):
            return _HOLLOW  # 17:00, 1-50
        return 0.0 if {stem(word) for word in tokens(term.text)} <= HOLLOW | LOOSE | STOP else 1.0
    return (0.0 if term.text in STOP else worth_of(term.key)) * (_PART if term.part else 1.0)


@lru_cache(maxsize=4096)
def worth_of(word: str) -> float:
    """What a plain word weighs, by its stem."""
    if word in STOP:
        return 0.0
    if word in HOLLOW or (word.isdecimal() and len(word) < 3):
        return _HOLLOW
    if word in LOOSE:
        return _LOOSE
    if any(map(str.isdecimal, word)):
        return _NUMBER if word.isdecimal() else _NAMED
    return _SHORT if len(word) < 3 else 1.0


def weighed(conn: sqlite3.Connection, found: Sequence[Term]) -> Said:
    """The weightiest words of a text: what they weigh of themselves, less where the brain holds them everywhere."""
    wanted = sorted(((of_itself(term), term) for term in found), key=lambda pair: -pair[0])
    size = candidates.size(conn)
    made = []
    for own, term in wanted[:WORDS]:
        if own <= 0:
            break
        there = rows(conn, term, _READ) if own >= SOUGHT else []
        weight = own * _rarity(len(there), size)
        # Of a word that is read in part, the rows are only the oldest: it weighs, and does not choose.
        made.append(Weighed(term, weight, tuple(there) if len(there) < _READ else (), common=len(there) >= _READ))
    keys = [term.key for term in found if not term.part and not term.exact]
    pairs = {*pairwise(keys), *zip(keys, keys[2:], strict=False)}
    return Said(tuple(made), frozenset(pairs))


def _rarity(holding: int, size: int) -> float:
    """1 for a word of few notes, towards 0 for one of every note. In a small brain a count says little, so it is taken
    among forty notes more; of a word that was not read to its end, half."""
    if holding >= _READ:
        return 0.5 if holding < size / 4 else 0.35
    share = (holding + 1) / (size + 40)
    return min(1.0, -log(min(share, 0.98)) / log(20))


def rows_of(said: Said) -> list[int]:
    """The rows that share most of the text's weight, best first."""
    sums: dict[int, float] = {}
    for word in said.words:
        for row in word.rows:
            sums[row] = sums.get(row, 0.0) + word.weight
    return sorted(sums, key=lambda row: (-sums[row], row))[:_BEST]


def near(conn: sqlite3.Connection, said: Said, name: str | None, now: str, hidden: Iterable[str]) -> dict[int, Note]:
    """The notes that may bear on the text, by row."""
    wanted = rows_of(said)
    common = [word.term for word in said.words if word.common and not word.term.part][:_COMMON]
    wanted += [row for row in both(conn, common, _BEST) if row not in wanted]
    found = candidates.here(conn, wanted, name, now, hidden)[:_CLOSE]
    return {row: file.note for row, file in lookup.stored(conn, found).items()}


def evidence(said: Said, note: Note) -> Evidence:
    """What speaks for telling a note where this text is said."""
    told = [word for word in said.words if word.weight > 0]
    match = matcher([word.term.text for word in told if not word.term.exact])
    title, rest = plain(note.title), plain(_rest(note))
    body = plain(note.body[:_LONGEST])
    inner = parts(f"{note.title}\n{_rest(note)}").lower()
    places = [(factor, text, match.places(text, each)) for factor, text, each in
              ((_HEAD, title, 3), (_REST, rest, 3), (_INNER, inner, 1), (_BODY, body, 1))]  # fmt: skip
    where = [(factor, {term for _, term in found}, text) for factor, text, found in places]
    pairs = {
        pair
        for _, text, found in places[:2]
        for pair in _following(text, found)
        if pair in said.pairs and not HOLLOW.issuperset(pair)
    }
    score = _PAIR * len(pairs)
    telling: list[str] = []
    loose: list[str] = []
    exact: list[str] = []
    code: list[str] = []
    inside: list[str] = []
    named = False
    held: set[str] = set()
    for word in sorted(told, key=lambda word: word.term.part):
        if word.term.part and any(word.term.text in whole for whole in exact):
            continue
        factor = next((factor for factor, held, text in where if _stands(word.term, held, text)), 0.0)
        if factor == _BODY and word.term.code:
            factor = _NAMED_IN_BODY
        score += word.weight * factor
        if factor and word.weight >= SOUGHT and not word.term.part:
            held.add(word.term.key)
        in_head = factor not in (0.0, _BODY, _NAMED_IN_BODY)
        if in_head and not word.term.part and word.term.key not in HOLLOW:
            (telling if word.weight >= TELLING else loose).append(word.term.text)
        elif factor and not word.term.part and word.weight >= TELLING:
            inside.append(word.term.text)
            named = named or word.term.code
        if factor and word.term.exact:
            exact.append(word.term.text)
            code += [word.term.text] if word.term.code and in_head else []
    heaviest = said.heaviest
    back = _back(note, {word.term.key for word in told})
    return Evidence(
        score, min(1.0, score / heaviest) if heaviest else 0.0, back, tuple(telling), tuple(code), tuple(loose),
        tuple(" ".join(pair) for pair in sorted(pairs)), tuple(inside), named, frozenset(held),
    )  # fmt: skip


def _following(text: str, places: list[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """The words that follow each other in a text with a single sign between them."""
    for (at, one), (then, two) in pairwise(places):
        between = text[at:then]
        if between[:-1].isalnum() and not between[-1:].isalnum() and one != two:
            yield one, two


def _stands(term: Term, held: set[str], text: str) -> bool:
    return holds(text, term.text) if term.exact else (term.key in held)


def _rest(note: Note) -> str:
    """What heads a note beside its title: its summary, or how it begins, and what it names."""
    files = (*note.provenance.files, *note.files)
    return "\n".join((note.summary or note.body[:400], *note.tags, *note.components, *files))


def _back(note: Note, said: set[str]) -> float:
    """How much of a note's title the text says."""
    own = [(worth_of(word), word) for word in word_stems(note.title)]
    whole = sum(weight for weight, _ in own)
    return sum(weight for weight, word in own if word in said) / whole if whole else 0.0


_MOST_OF_IT = 0.6
FLOOR = 4.0
"""What a note has to bear on a text to be told for its words alone."""


def several(found: Evidence) -> bool:
    """Whether independent words of the text speak for a note: two, of which one is telling and of its head or code; or
    three loose ones that are most of the text; or one of its head that is surely code."""
    together = len(found.words) + len(found.loose)
    loose = together >= 3 and found.share >= _MOST_OF_IT
    return bool(((found.words or found.named) and together + len(found.inside) >= 2) or loose or found.exact)


def enough(found: Evidence) -> bool:
    """Whether what speaks for a note is enough to say it for its words alone."""
    return several(found) and found.bearing >= FLOOR


_STATUS: Mapping[str, float] = {"confirmed": 1.0, "decision": 1.0, "observed": 0.95, "hypothesis": 0.8}
_CONFIDENCE: Mapping[str, float] = {"high": 1.0, "medium": 0.95, "low": 0.8}
_VERIFIED: Mapping[str, float] = {"changed": 0.8, "missing": 0.6}


def standing(note: Note, me: str | None = None) -> float:
    """How much a note is worth by itself (0 to 1): what is surer, and what its reader does not know already."""
    worth = _STATUS.get(note.status, 0.9) * _CONFIDENCE.get(note.confidence, 0.9)
    if note.verified is not None:
        worth *= _VERIFIED.get(note.verified.result, 1.0)
    if me and (note.author or note.provenance.human or "").casefold() == me:
        worth *= 0.9
    return worth


def says_again(note: Note, others: Iterable[Note]) -> str | None:
    """The id of the first of these notes that says much the same; the sides of a conflict never do."""
    mine = _said(note)
    for other in others:
        theirs = _said(other)
        if note.conflict_of or other.conflict_of or not mine or not theirs:
            continue
        if len(mine & theirs) / min(len(mine), len(theirs)) >= 0.75:
            return other.id
    return None


def _said(note: Note) -> frozenset[str]:
    return frozenset(word for word in word_stems(f"{note.title}\n{note.summary or ''}") if worth_of(word) >= TELLING)
