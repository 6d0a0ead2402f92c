"""Text as it is judged: one form for all spellings, sentences, words of any script, and what a word weighs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from commonwealth.model import Candidate, Note

# Scripts that are written without spaces: Thai, Lao, Myanmar, Khmer, Kana, Bopomofo, Han. A word is a pair of signs.
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0edf\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u309a"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
_RUN = re.compile(f"[{_SPACELESS}]+")
_WORD = re.compile(
    rf"[{_SPACELESS}]+"
    r"|--?[^\W\d_][\w-]*"  # an option
    r"|(?:[^\W_]|[_])+(?:[.:/@#-]+(?:[^\W_]|[_])+)*%?"  # words, identifiers, paths, versions
)
_MARKS = re.compile("[\u0640\u064b-\u065f\u0670\u0591-\u05c7\u200c\u200d\u200b\u2060\ufeff\u00ad]")
_BREAK = re.compile(r"(?<=[.!?;])[\"')\]]*\s+|\n+|(?<=[。！？；])|[^\S\n][—–][^\S\n]")
_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~).*$", re.MULTILINE)
_SIGNS = re.compile(r"^[^\S\n]*(?:[-*+>]|\d{1,3}[.)]|#{1,6})[^\S\n]+", re.MULTILINE)

_CYRILLIC = re.compile(
    "(?<=[а-яё]{3})(?:[иеуюая]?тся|ешься|аться|иться|ами|ями|ого|его|ому|ему|ыми|ими|ать|ить|еть|ует|уют|[аяоеы]я|[оеыи]е"
    "|[ыио]й|[ая]х|[ое]в|[аяое]м|ит|ят|ет|ют|ут|[ыиаяоеуюьй])$"
)
_MOST, _LONG = 40_000, 800
"""Characters of a text, and of a sentence, that are looked at."""

_COMMON = """
a an and any are as at be been being but by can could did do does for from had has have he her here his how i if in
into is it its just may me might my of on or our out shall she should so some such than that the their them then there
these they this those to too us was we were what when where which while who whom why will with would you your
also already now really very still please make sure
der die das den dem des ein eine einer einem einen und oder ist sind war wird werden mit von zu zum zur im in auf für
le la les un une des du de et ou est sont dans sur pour par avec que qui ce cette il elle
el los las una unos y o es son en con por para del se lo al
и в во на с со к о об от по из за у а но что это как для
في من على إلى عن أن هو هي هذا هذه ذلك التي الذي ما مع كان
"""
STOP = frozenset(_COMMON.split())
"""Function words of the languages most met: they say nothing of what a text is about."""


def fold(text: str) -> str:
    """The form in which texts are compared: compatibility form, no case, no vowel points and joiners."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
        text = _MARKS.sub("", text).replace("’", "'").replace("‘", "'")
    return text.casefold()


def said(title: str, summary: str | None, body: str = "") -> str:
    """A note's text as one: a summary that begins with the title, or repeats it, is not said twice."""
    first = fold(title).strip(" .")
    parts = [summary or ""] if first and fold(summary or "").startswith(first) else [title, summary or ""]
    return "\n".join(part for part in (*parts, body) if part.strip())


def text_of(note: Note | Candidate) -> str:
    """Title, summary and body of a note or a candidate, as far as they are looked at."""
    return said(note.title, note.summary, note.body)[:_MOST]


def claim_of(note: Note | Candidate) -> str:
    """What it says in short: title and summary, or title and first sentence where there is no summary."""
    return said(note.title, (note.summary or "")[:4000] or next(iter(sentences(note.body[:600])), ""))


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of `text` without the signs of lists, headings and code fences; of a very long text the
    beginning, and of each sentence too."""
    plain = _SIGNS.sub("", _FENCE.sub("", text[:_MOST]))
    return tuple(part.strip()[:_LONG] for part in _BREAK.split(plain) if part and part.strip())


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as it was written, and the form by which it is compared."""

    written: str
    stem: str


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """The words of `text` in order; a run of a script without spaces gives its overlapping pairs of signs."""
    return tuple(_words(text))


def _words(text: str) -> Iterator[Word]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
        text = _MARKS.sub("", text).replace("’", "'")
    for match in _WORD.finditer(text):
        written = match[0]
        if _RUN.match(written):
            for at in range(max(1, len(written) - 1)):
                yield Word(written[at : at + 2], written[at : at + 2])
        else:
            yield Word(written, stem(written.casefold()))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without its commonest English or Russian endings; anything else is its own stem."""
    if len(word) < 4 or not word.isalpha():
        return word.rstrip(".:")
    if not word.isascii():
        return _CYRILLIC.sub("", word) if len(word) > 4 else word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and not word.endswith(("ss", "us", "is")) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def weight(one: str) -> float:
    """What a word of this form weighs: nothing for a function word, more for a rare shape."""
    if one in STOP:
        return 0.0
    if any(char.isdecimal() for char in one) or not one.isalpha():
        return 1.5
    return 1.0


def weighed(forms: Iterable[str]) -> float:
    """The weight of all these words together."""
    return sum(map(weight, forms))
