"""Text that nobody here wrote, made safe to show: control characters out, quoted as data, cut to a budget."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable

# The patterns are compiled when they are first needed: most sessions never meet such text.
#
# A string control without its end, and what a single escape does not take with it, stay as visible text:
# nobody can hide the rest of a note behind one character.
_STRING = "[^\x00-\x08\x0a-\x1f\x7f-\x9f]*"
_END = "(?:\x07|\x1b\\\\|\x9c)"
_ESCAPES = (
    f"(?:\x1b[\\]P^_X]|[\x90\x98\x9d-\x9f]){_STRING}{_END}"  # OSC (titles, links, clipboard), DCS, PM, APC, SOS
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    "|\x1b[ -/]*[0-~]?"
)

# Never shown. Among them are format characters with a rare use that changes no visible text: soft hyphen,
# grapheme joiner, word joiner, the Khmer inherent vowels, and the Hangul fillers that only stand for "empty".
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags among them
    "\ud800-\udfff]"
)

# Invisible characters that change how their neighbour looks: kept where they do, since a run of them anywhere
# else can carry a hidden message.
_PICTOGRAPH = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_JOINING = (
    "[\u0600-\u08ff\u0900-\u109f\u1780-\u17ff\u1a20-\u1b7f\ua840-\ua8ff\ua980-\ua9ff\uaa60-\uaa7f\ufb50-\ufdff"
    "\ufe70-\ufefe\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
_VARIED = (
    "[0\u1000-\u109f\u2200-\u22ff\u2a00-\u2aff\u3001-\u9fff\ua840-\ua87f\uf900-\ufaff\uff00-\uff1f"
    "\U00010ac0-\U00010aff\U00013000-\U0001345f\U00020000-\U0003ffff]"
)
_SUBTLE = "[\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\u115f\u1160\U000e0100-\U000e01ef]"
_IN_PLACE = (
    f"({_PICTOGRAPH}[\ufe0e\ufe0f]?(?:\u200d(?={_PICTOGRAPH}))?"  # emoji, joined or in one of two styles
    "|[0-9#*]\ufe0f(?=\u20e3)"  # keycaps
    "|[\u1800-\u180a\u1810-\u18af][\u180b-\u180f]?[\u200c\u200d]?"  # Mongolian: letter forms, vowel separator
    f"|{_JOINING}[\u200c\u200d]"  # scripts whose letters join or stack: Arabic, Indic, Khmer …
    f"|{_VARIED}[\ufe00-\ufe06\U000e0100-\U000e01ef]"  # variants of Han, mathematics, Myanmar …
    f"|\u115f(?=[\u1161-\u11a7\ud7b0-\ud7c6])|[\u1100-\u115e\ua960-\ua97c]\u1160)"  # Jamo that stand alone
    f"|{_SUBTLE}"
)

_MARKS = 16
"""Combining marks on one letter; the tallest real stacks (Tibetan) have about ten."""
_MANY_MARKS = rf"[^\w\s\x00-\x7f]{{{_MARKS + 1},}}"


def clean(text: str) -> str:
    """`text` without terminal escapes, control, bidi, zero-width and tag characters. Idempotent.

    Tab and newline stay (CR LF and CR become newline). Joiners and variation selectors stay inside emoji and
    after letters that need them. Visible text is unchanged, but that of marks piled on one letter 16 stay.
    """
    plain = text.replace("\n", "").replace("\t", "")
    if plain.isprintable():
        if plain.isascii():
            return text
    else:
        text = re.sub(_ESCAPES, "", text).replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(_UNSAFE, "", text)
    if re.search(_SUBTLE, text):
        text = re.sub(_IN_PLACE, r"\1", text)
    return re.sub(_MANY_MARKS, _without_flood, text)


def _without_flood(match: re.Match[str]) -> str:
    kept, run = [], 0
    for character in match[0]:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me", "Cf") else 0
        if run <= _MARKS:
            kept.append(character)
    return "".join(kept)


def one_line(text: str, limit: int = 200) -> str:
    """`text` cleaned, on one line, at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else _cut(line, limit - 1)


def _cut(text: str, end: int) -> str:
    """The first `end` characters, without blanks, joiners and half a sign at the end, marked `…`."""
    kept = text[:end].rstrip(" \t\n\u200c\u200d")
    # A key such as 1️⃣ is a digit, a selector and a frame: without the frame the selector means nothing.
    return (kept[:-1] if kept.endswith("\ufe0f") and kept[-2:-1] in tuple("0123456789#*") else kept) + "…"


def tokens(text: str) -> int:
    """A cautious estimate of how many model tokens `text` takes: four ASCII characters, or one other."""
    ascii_count = len(text) if text.isascii() else sum(map(str.isascii, text))
    return -(-ascii_count // 4) + len(text) - ascii_count


def clip(text: str, budget: int) -> str:
    """The longest beginning of `text` within `budget` tokens, cut at a word where it can be, marked `…`.

    Empty where the budget holds nothing.
    """
    if tokens(text) <= budget:
        return text
    if budget < 1:
        return ""
    low, high = 0, min(len(text), 4 * budget)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) < budget else (low, middle - 1)
    space = text.rfind(" ", 0, low)
    return _cut(text, space if space > low * 3 // 4 else low)


_LEADING_HASH = re.compile(r"(?m)^((?:[^\S\n]|[-+*][^\S\n]|\d{1,9}[.)][^\S\n])*)#")


def neutral(text: str) -> str:
    """`text` cleaned so that no line opens a tag or a heading: `<`, `>` become look-alikes, `#` is escaped, also
    as the first thing in an item of a list."""
    text = clean(text).replace("<", "‹").replace(">", "›")
    return _LEADING_HASH.sub(r"\1\\#", text)


def fence(blocks: Iterable[str], intro: str) -> str:
    """`blocks` of neutral text between one opening and one closing line with a token of this delivery.

    `intro` is ours, and says to the model what stands between the lines: data, no instructions.
    """
    body = "\n".join(blocks)
    token = os.urandom(6).hex()
    while token in body or token in intro:
        token = os.urandom(6).hex()
    return f"{intro}\n<<<notes {token}\n{body}\nnotes {token}>>>"
