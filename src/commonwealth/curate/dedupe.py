"""Whether two notes say the same, told from their words alone, in any script.

Each sentence of the one is laid beside the sentences of the other: how much of it is said there, by words and by runs
of characters. What is alike and yet differs in a number, a version, a unit, a name, a negation or an opposite is never
the same: it may be what replaces it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from commonwealth.curate.opposites import Change, additions, changes, substituted
from commonwealth.curate.restated import KIND as WORDING
from commonwealth.curate.restated import difference, turns
from commonwealth.curate.texts import claim_of, fold, sentences, text_of, weight, words
from commonwealth.model import Candidate, Note

SAME, REWORDED, MORE, CHANGED, NEAR, OTHER = "same", "reworded", "more", "changed", "near", "other"

ALIKE = 0.8
"""So much of a sentence's weight has to be said elsewhere for it to be said there."""

_TOUCHES = 0.55
_MAY_TOUCH = 0.45
_SAME_SUBJECT = 0.6
_SAID_AGAIN = 0.75
_SUBJECT = 0.5
_GRAM = 4
_MOST_SENTENCES = 60
_MOST_CLAIMS = 12
_NUMERIC = re.compile(
    r"(?i)(?<!\w)(?:v?[-−]?\d[\w.,:%-]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|sixty)"
    r"(?:\s(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|years?|[kmgt]i?b|bytes?"
    r"|bits?|percent)\b)?(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How one note stands to another.

    `kind` is `same` (the other says all of it), `reworded` (the same, in other words), `more` (it says all that the
    other does, and something besides),
    `changed` (the same but for `differences`), `near` (much the same in other words) or `other`. `score` (0 to 1) is
    how much of its claim the other says, `subject` how much the two are about the same thing.
    """

    kind: str
    score: float
    differences: tuple[Change, ...] = ()
    subject: float = 1.0


def compare(one: Note | Candidate, other: Note | Candidate, *, alike: float = ALIKE) -> Likeness:
    """How `one` stands to `other`; `alike` is how much of a sentence has to be said in another."""
    claim, back = _claim(one), _claim(other)
    if not claim or not back:
        return Likeness(OTHER, 0.0)
    if text_of(one).split() == text_of(other).split():
        return Likeness(SAME, 1.0)
    if max(_overlap(claim_of(one), text_of(other)), _overlap(claim_of(other), text_of(one))) < _MAY_TOUCH:
        return Likeness(OTHER, 0.0)
    forth, behind = _said_in(claim, _all(other)), _said_in(back, _all(one))
    if max(forth.score, behind.score) < _TOUCHES:
        return Likeness(OTHER, round(forth.score, 4))
    return _judged(one, other, forth, behind, alike)


def says_again(one: Note | Candidate, other: Note | Candidate) -> bool:
    """Whether `one`, drawn from the same words of a session as `other`, says that again, however it puts it. What
    differs in a number, a name or a negation is another fact."""
    like = compare(one, other)
    if like.kind != OTHER:
        return like.kind != CHANGED or all(change.kind == WORDING for change in like.differences)
    if _differences(one, other):
        return False
    return any(_same_words(x, y) for x in _claim(one) for y in _claim(other))


def _same_words(one: str, other: str) -> bool:
    """Whether two sentences are made of the same words, the small ones aside, in whatever order."""
    mine, theirs = set(_forms(one)), set(_forms(other))
    return len(mine & theirs) >= max(2, _SAID_AGAIN * min(len(mine), len(theirs)))


def _judged(one: Note | Candidate, other: Note | Candidate, forth: _Said, back: _Said, alike: float) -> Likeness:
    """The verdict on two texts of which either says much of the other."""
    score, subject = round(forth.score, 4), round(_subject(one, other), 4)
    found = _differences(one, other)
    if found:
        return Likeness(CHANGED, score, found, subject)
    if subject >= _SUBJECT and forth.least >= alike and not (forth.words or forth.added or forth.changes):
        return _restated(Likeness(SAME, score, subject=subject), _claim(one), _all(other))
    if subject >= _SUBJECT and back.least >= alike and not (back.words or back.added or back.changes):
        return _restated(Likeness(MORE, score, subject=subject), _claim(other), _all(one))
    if forth.score >= _TOUCHES:
        return Likeness(NEAR, score, forth.words, subject)
    return Likeness(OTHER, score, subject=subject)


def _restated(like: Likeness, claim: Sequence[str], text: Sequence[str]) -> Likeness:
    """`like` where each sentence of `claim` stands in `text` word for word, but for what carries no meaning; else
    reworded, or changed where what differs makes another fact of it."""
    found: list[Change] = []
    for sentence in claim:
        near = [other for other in text if likeness(sentence, other) >= _TOUCHES]
        least = min((difference(sentence, other) for other in near), key=_size, default=())
        found += least
    if not found:
        return like
    if turns(tuple(found)):
        return replace(like, kind=CHANGED, differences=tuple(dict.fromkeys(found)))
    return replace(like, kind=REWORDED if like.kind == SAME else NEAR)


def _size(found: tuple[Change, ...]) -> int:
    return sum(len(one.one) + len(one.other) for one in found)


def _subject(one: Note | Candidate, other: Note | Candidate) -> float:
    """How much two notes are about the same: the title of each beside what the other claims. Symmetric."""
    mine, theirs = _claim(one), _claim(other)
    pairs = [(one.title, y) for y in (other.title, *theirs)] + [(other.title, x) for x in mine]
    return max(_mutual(x, y) for x, y in pairs)


def _differences(one: Note | Candidate, other: Note | Candidate) -> tuple[Change, ...]:
    """What differs between the claims of two texts that are about the same: title beside title, and each sentence of
    the claim beside the one that is most like it. Symmetric but for the sides."""
    mine, theirs = _claim(one), _claim(other)
    found: list[Change] = []
    titles = " ".join(sentences(one.title)), " ".join(sentences(other.title))
    if _alike_but_for_values(*titles, least=1) >= _SAME_SUBJECT:
        found += changes(*titles)
    for x in mine:
        pairs = sorted(((_alike_but_for_values(x, y), y) for y in theirs), reverse=True)
        if pairs and pairs[0][0] >= _SAME_SUBJECT:
            close = [changes(x, y) for score, y in pairs if score >= pairs[0][0] - 0.05]
            fewest: tuple[Change, ...] = min(close, key=len)
            found += fewest
    return tuple(dict.fromkeys(found))


def _alike_but_for_values(one: str, other: str, *, least: int = 2) -> float:
    """How much two sentences are alike where numbers are not looked at; 0 for one with fewer than `least` words."""
    one, other = _without_numbers(one), _without_numbers(other)
    if min(len(_forms(one)), len(_forms(other))) < least:
        return 0.0
    return _mutual(one, other)


@lru_cache(maxsize=4096)
def _without_numbers(text: str) -> str:
    return _NUMERIC.sub(" ", text)


def _mutual(one: str, other: str) -> float:
    """How much two sentences are alike, seen from the one that has more to say."""
    return min(likeness(one, other), likeness(other, one))


def _claim(note: Note | Candidate) -> tuple[str, ...]:
    return sentences(claim_of(note))[:_MOST_CLAIMS]


def _all(note: Note | Candidate) -> tuple[str, ...]:
    return sentences(text_of(note))[:_MOST_SENTENCES]


@dataclass(frozen=True, slots=True)
class _Said:
    """How much of one text's claim another says: on the whole, of the sentence that it says least of, what differs."""

    score: float
    least: float
    changes: tuple[Change, ...]
    words: tuple[Change, ...]
    added: tuple[str, ...]


def _said_in(claim: Sequence[str], text: Sequence[str]) -> _Said:
    least, total, weight_of_all = 1.0, 0.0, 0.0
    found: list[Change] = []
    placed: list[Change] = []
    added: list[str] = []
    for sentence in claim:
        best, score = _best(sentence, text)
        amount = max(sum(_forms(sentence).values()), 0.1)
        total, weight_of_all = total + score * amount, weight_of_all + amount
        least = min(least, score)
        if score >= _TOUCHES:
            found += changes(sentence, best)
            placed += substituted(sentence, best)
            added += additions(sentence, best)
    found, placed = list(dict.fromkeys(found)), list(dict.fromkeys(placed))
    return _Said(total / weight_of_all, least, tuple(found), tuple(placed), tuple(added))


def _best(sentence: str, text: Sequence[str]) -> tuple[str, float]:
    """The sentence of `text` that says most of `sentence`; of equals the one that differs least."""
    scored = [(likeness(sentence, other), other) for other in text]
    best = max((score for score, _ in scored), default=0.0)
    if best < _TOUCHES:
        return "", best
    close = [other for score, other in scored if score >= best - 0.05]
    return min(close, key=lambda other: (len(changes(sentence, other)), abs(len(other) - len(sentence)), other)), best


def _overlap(claim: str, text: str) -> float:
    """How many of the runs of characters of `claim` stand anywhere in `text`: a cheap bound, for most pairs of texts
    have nothing in common."""
    mine, theirs = _letters(_without_numbers(claim)), _letters(_without_numbers(text))
    return len(mine & theirs) / len(mine) if mine else 0.0


@lru_cache(maxsize=256)
def _letters(text: str) -> frozenset[str]:
    plain = " ".join(fold(text).split())
    width = _GRAM if plain.isascii() else 2
    return frozenset(plain[at : at + width] for at in range(len(plain) - width + 1))


@lru_cache(maxsize=8192)
def likeness(one: str, other: str) -> float:
    """How much of `one` is said in `other` (0 to 1): by weighted words, or by runs of characters where that is more.

    Not symmetric: a short sentence may be said whole in a long one.
    """
    return max(_contained(_forms(one), _forms(other)), _contained(_grams(one), _grams(other)) * 0.95)


def _contained(mine: Counter[str], theirs: Counter[str]) -> float:
    total = sum(mine.values())
    return sum((mine & theirs).values()) / total if total else 0.0


@lru_cache(maxsize=4096)
def _forms(text: str) -> Counter[str]:
    """The words of a text, each by its weight (in hundredths)."""
    found: Counter[str] = Counter()
    for word in words(text):
        if value := weight(word.stem):
            found[word.stem] = int(value * 100)
    return found


@lru_cache(maxsize=4096)
def _grams(text: str) -> Counter[str]:
    """The runs of four characters within the words of a text, function words left out: endings make no other word."""
    found: Counter[str] = Counter()
    for word in words(text):
        if weight(word.stem):
            padded = f" {fold(word.written)} "
            found.update(padded[at : at + _GRAM] for at in range(max(1, len(padded) - _GRAM + 1)))
    return found
