"""Text that nobody here wrote, made safe to show: control characters out, quoted as data, cut to a budget."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_CONTROL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"  # zero width, bidi
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical format, tags and variation supplement
)
_UNSAFE = re.compile(f"[{_CONTROL}]|[\ud800-\udfff]")
_JOINERS = re.compile("[\u200c\u200d]")
_ESCAPES = re.compile(
    "\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?"  # OSC: titles, hyperlinks, clipboard
    "|\x1b[P^_X][^\x1b]*(?:\x1b\\\\)?"  # DCS, PM, APC, SOS strings
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    "|\x1b[@-_]?"
)

# Scripts that need joiners between letters: Arabic to Myanmar, Khmer, Mongolian.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufeff]")
_PICTOGRAPH = re.compile("[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff\ufe0f\u20e3]")


def clean(text: str) -> str:
    """`text` without terminal escapes, control, bidi, zero-width and tag characters.

    Tab and newline stay (CR LF and CR become newline). Zero-width joiners stay inside emoji sequences and in
    scripts that need them. Visible text is unchanged.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _UNSAFE.sub("", _ESCAPES.sub("", text))
    return _JOINERS.sub(_keep_joiner, text) if _JOINERS.search(text) else text


def _keep_joiner(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    joins = _JOINING.match(before) is not None
    emoji = match[0] == "\u200d" and _PICTOGRAPH.match(before) and _PICTOGRAPH.match(after)
    skin_tone = match[0] == "\u200d" and "\U0001f3fb" <= before <= "\U0001f3ff"
    return match[0] if joins or emoji or skin_tone else ""


def one_line(text: str, limit: int = 200) -> str:
    """`text` cleaned, on one line, at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def tokens(text: str) -> int:
    """A cautious estimate of how many model tokens `text` takes: four ASCII characters, or one other."""
    ascii_count = len(text) if text.isascii() else sum(map(str.isascii, text))
    return -(-ascii_count // 4) + len(text) - ascii_count


def clip(text: str, budget: int) -> str:
    """The longest beginning of `text` within `budget` tokens, cut at a word where it can be, marked `…`."""
    if tokens(text) <= budget:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) < budget else (low, middle - 1)
    cut = text[:low]
    space = cut.rfind(" ")
    return (cut[:space] if space > low * 3 // 4 else cut).rstrip() + "…"


_LEADING_HASH = re.compile(r"(?m)^(\s*)#")


def neutral(text: str) -> str:
    """`text` cleaned so that it opens no tag and no heading: `<`, `>` become look-alikes, `#` is escaped."""
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
