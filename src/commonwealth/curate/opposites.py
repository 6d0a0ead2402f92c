"""What turns a sentence into another although almost every word is the same: numbers, names, negation, opposites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain

from commonwealth.curate.texts import STOP, Word, fold, words

_PAIRS = """
always never|must mustn't|allow forbid|allow deny|allowed forbidden|allowed denied|permit forbid|enable disable
enabled disabled|on off|true false|yes no|before after|first last|sync async|synchronous asynchronous|open closed
open close|start stop|include exclude|included excluded|add remove|added removed|more less|more fewer|greater less
increase decrease|increased decreased|minimum maximum|min max|upper lower|above below|over under|with without
required optional|mandatory optional|public private|success failure|succeed fail|succeeds fails|succeeded failed
safe unsafe|valid invalid|possible impossible|supported unsupported|stable unstable|mutable immutable|lock unlock
read write|push pull|client server|internal external|local remote|local global|lowercase uppercase|ascending descending
asc desc|left right|input output|encrypted plaintext|encode decode|serial parallel|eager lazy|strict loose|faster slower
fast slow|high low|higher lower|newer older|oldest newest|signed unsigned|blocking non-blocking|inclusive exclusive
manual automatic|manually automatically|staging production|dev prod|same different|only also|accept reject
accepted rejected|keep drop|keep delete|prefer avoid|use avoid|depends independent|hot cold|big little|cached uncached
null non-null|explicit implicit|static dynamic|stateful stateless|up down|show hide|visible hidden|present absent
immer nie|vor nach|ein aus|toujours jamais|avant après|siempre nunca|antes después|всегда никогда|до после
включен выключен|включено выключено|دائما أبدا|قبل بعد|有効 無効|常に 決して
"""
OPPOSITES: frozenset[frozenset[str]] = frozenset(
    frozenset(pair.split()) for line in _PAIRS.strip().split("\n") for pair in line.split("|")
)

_NEGATION = re.compile(
    r"(?<![\w-])(?:not|cannot|never|no|nor|neither|none|without|avoid|instead of|rather than|refuse[sd]?"
    r"|forbid(?:den|s)?|prohibited|(?:do|does|did|is|are|was|were|ca|wo|must|should|would|could|has|have|had|need)n't"
    r"|unless|except|nicht|nie|niemals|kein\w*|ohne|ne|pas|jamais|sans|nunca|sin|ningun\w*"
    r"|не|нет|нельзя|никогда|без|لا|لم|لن|ليس|ليست|دون|غير|בלי|לא|אין|אסור)(?![\w-])"
    r"|不|没|沒|未|禁止|ない|なし|ません|안\s|않|못|없|ไม่|ห้าม"
)
_BOTH_WAYS = re.compile(r"\b(?:no longer|not only|no matter|no doubt|if not|why not|not just|no-op|no one else)\b")

_NUMBER_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "twenty": "20", "thirty": "30", "sixty": "60",
    "hundred": "100", "thousand": "1000", "once": "1", "twice": "2", "first": "1", "second": "2", "third": "3",
    "daily": "day", "hourly": "hour", "weekly": "week", "monthly": "month", "yearly": "year",
}  # fmt: skip
_HAN_NUMBERS = {char: str(at) for at, char in enumerate("〇一二三四五六七八九")} | {
    "十": "10",
    "百": "100",
    "千": "1000",
}
UNITS = {
    "ms": "ms", "millisecond": "ms", "milliseconds": "ms", "s": "s", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s", "m": "min", "min": "min", "mins": "min", "minute": "min", "minutes": "min", "h": "h", "hr": "h",
    "hrs": "h", "hour": "h", "hours": "h", "d": "day", "day": "day", "days": "day", "week": "week", "weeks": "week",
    "month": "month", "months": "month", "year": "year", "years": "year", "b": "b", "byte": "b", "bytes": "b",
    "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "kib": "kib", "mib": "mib", "gib": "gib", "k": "k", "px": "px",
    "em": "em", "rem": "rem", "us": "us", "µs": "us", "ns": "ns", "%": "%", "percent": "%", "eur": "eur", "usd": "usd",
    "bit": "bit", "bits": "bit", "hz": "hz", "mhz": "mhz", "ghz": "ghz", "times": "times", "retries": "times",
}  # fmt: skip
_SPLIT_UNIT = re.compile(r"([-−]?\d[\d_,]*(?:\.\d+)*)([a-zµ%]{1,3})?$")
_TURN_STEMS = """
befor after than to into from over under onto until unles ahead via vor nach avant après antes
"""
_TURNS = frozenset(_TURN_STEMS.split())
"""Stems of words whose two sides cannot be exchanged."""

_NAME = re.compile(r"--?[A-Za-z][\w-]*|\w*[a-z][A-Z]\w*|\w+_\w+|[A-Z][A-Z0-9]{1,}|\w+(?:[.:/#@]+\w+)+|[A-Za-z]+\d\w*")
_NUMERIC = re.compile(r"v?[\d.,:_]+")
_ADDRESS = re.compile(r"https?://\S+")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")

# Words that may stand for each other without a change of what is said.
_ALIKE = tuple(
    frozenset(line.split())
    for line in (
        "mean means signal signals indicate indicates imply implies denote denotes tell tells say says",
        "use uses using used employ utilize utilise",
        "must should shall need needs has have needed ought",
        "because since as due",
        "never not don't doesn't mustn't shouldn't cannot can't avoid",
        "always every each all",
        "get gets fetch fetches retrieve retrieves obtain",
        "make makes create creates build builds produce produces",
        "fail fails break breaks crash crashes error errors",
        "fix fixes solve solves resolve resolves repair",
        "run runs execute executes launch",
        "call calls invoke invokes",
        "delete deletes remove removes erase",
        "want wants wish prefer prefers",
        "occur occurs happen happens arise",
        "need needs require requires",
        "begin begins start starts",
        "show shows display displays",
        "store stores save saves keep keeps persist persists",
        "wrong incorrect false",
        "quick quickly fast rapid rapidly",
        "folder folders directory directories",
        "repo repository",
        "config configuration settings setting",
        "db database",
        "function functions method methods",
        "two both",
    )
)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs between two sentences that otherwise say the same."""

    kind: str
    one: str
    other: str

    def __str__(self) -> str:
        if self.one and self.other:
            return f"{self.kind}: {self.other} there, {self.one} here"
        return f"{self.kind}: {self.one or self.other} is only {'here' if self.one else 'there'}"


@lru_cache(maxsize=4096)
def changes(one: str, other: str) -> tuple[Change, ...]:
    """What makes two sentences differ in what they say, where the same things are spoken of otherwise.

    Symmetric but for which side is which: `changes(b, a)` names the same kinds.
    """
    found = chain(_of_numbers(one, other), _of_names(one, other), _of_sense(one, other), _of_order(one, other))
    return tuple(dict.fromkeys(found))


def additions(one: str, other: str) -> tuple[str, ...]:
    """The numbers and names of `one` that `other` does not have."""
    low = fold(other)
    more = sorted(name for name in names(one) - names(other) if not _stands_in(name, low))
    return (*sorted(set(_numbers(one)) - set(_numbers(other))), *more)


def _of_numbers(one: str, other: str) -> Iterable[Change]:
    mine, theirs = _numbers(one), _numbers(other)
    left, right = Counter(mine), Counter(theirs)
    ours, others = sorted((left - right).elements()), sorted((right - left).elements())
    if ours and others:
        yield Change("number", ", ".join(ours), ", ".join(others))
    elif left == right and mine != theirs:
        yield Change("order of numbers", ", ".join(mine), ", ".join(theirs))


def _of_order(one: str, other: str) -> Iterable[Change]:
    """What stands before a word such as `before` or `to` in one text, and behind it in the other."""
    left, right = [word.stem for word in words(one)], [word.stem for word in words(other)]
    for turn in _TURNS & set(left) & set(right):
        if left.count(turn) == right.count(turn) == 1:
            a, b = left.index(turn), right.index(turn)
            before, after = set(left[:a]) - STOP, set(left[a + 1 :]) - STOP
            straight = len(before & set(right[:b])) + len(after & set(right[b + 1 :]))
            crossed = len(before & set(right[b + 1 :])) + len(after & set(right[:b]))
            if crossed > straight:
                yield Change("order", f"… {turn} …", f"… {turn} …")


@lru_cache(maxsize=4096)
def _numbers(text: str) -> tuple[str, ...]:
    """The numbers, versions and amounts of `text` in one spelling, each with its unit where it has one, in order."""
    found: list[str] = []
    listed = [word.written.casefold() for word in words(_without_signs(text))]
    for at, word in enumerate(listed):
        after = listed[at + 1] if at + 1 < len(listed) else ""
        if match := _SPLIT_UNIT.match(word):
            plain = match[1].replace(",", "").replace("_", "").replace("−", "-")
            unit = UNITS.get(match[2] or after, match[2] or "")
            found.append(f"{plain} {unit}".strip())
        elif any(char.isdecimal() for char in word):
            found.append(word.removeprefix("v") if re.match(r"v\d", word) else word)
        elif word in _NUMBER_WORDS and not (word in ("one", "first", "second", "once") and after == ""):
            found.append(f"{_NUMBER_WORDS[word]} {UNITS.get(after, '')}".strip())
    return (*found, *(_HAN_NUMBERS[char] for char in text if char in _HAN_NUMBERS))


def _without_signs(text: str) -> str:
    return _ADDRESS.sub(" ", text.replace("`", " ").replace("~", " "))


def _of_names(one: str, other: str) -> Iterable[Change]:
    mine, theirs = names(one), names(other)
    low_one, low_other = fold(one), fold(other)
    ours = sorted(name for name in mine - theirs if not _stands_in(name, low_other))
    others = sorted(name for name in theirs - mine if not _stands_in(name, low_one))
    if ours and others:
        yield Change("name", ", ".join(ours), ", ".join(others))


def _stands_in(name: str, text: str) -> bool:
    """Whether `text` names it too, however it is written there."""
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))


@lru_cache(maxsize=4096)
def names(text: str) -> frozenset[str]:
    """What `text` names as code: options, identifiers, constants, paths, and whatever stands between backticks."""
    quoted = [name.strip() for name in _QUOTED.findall(text)]
    free = _ADDRESS.sub(" ", _QUOTED.sub(" ", text))
    return frozenset(fold(name) for name in (*quoted, *_NAME.findall(free)) if not _NUMERIC.fullmatch(name))


def _of_sense(one: str, other: str) -> Iterable[Change]:
    mine, theirs = set(_plain(one)), set(_plain(other))
    for pair in OPPOSITES:
        ours, others = pair & mine, pair & theirs
        if len(ours) == 1 and len(others) == 1 and ours != others:
            yield Change("opposite", *ours, *others)
    if is_negated(one) != is_negated(other):
        yield Change("negation", "not" if is_negated(one) else "", "" if is_negated(one) else "not")


@lru_cache(maxsize=4096)
def is_negated(text: str) -> bool:
    """Whether a sentence denies or forbids: an even number of negations takes each other back."""
    return len(_NEGATION.findall(_BOTH_WAYS.sub(" ", fold(text)))) % 2 == 1


def _plain(text: str) -> list[str]:
    """The plain words of a text, and of `disabled: true` what it amounts to."""
    return [word.written.casefold().strip("-") for word in words(text)]


def substituted(one: str, other: str) -> tuple[Change, ...]:
    """The places where one word stands in the other's place, neither a function word nor one of the same sense."""
    left, right = _content(one), _content(other)
    found = []
    for tag, a, b, c, d in SequenceMatcher(
        None, [word.stem for word in left], [word.stem for word in right], autojunk=False
    ).get_opcodes():
        if tag == "replace" and b - a == d - c <= 2:
            pairs = zip(left[a:b], right[c:d], strict=True)
            found += [Change("word", x.written, y.written) for x, y in pairs if not _are_alike(x, y)]
    return tuple(found)


def _content(text: str) -> list[Word]:
    return [word for word in words(text) if word.stem not in STOP]


def _are_alike(one: Word, other: Word) -> bool:
    x, y = one.written.casefold(), other.written.casefold()
    if one.stem == other.stem or (x in UNITS and UNITS[x] == UNITS.get(y)):
        return True
    return any(x in group and y in group for group in _ALIKE) or _is_inflected(x, y)


def _is_inflected(one: str, other: str) -> bool:
    """Whether two words differ in their endings only."""
    start = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    longer = max(len(one), len(other))
    return start >= 4 and start >= (0.6 if one.isascii() else 0.5) * longer and longer - start <= 4
