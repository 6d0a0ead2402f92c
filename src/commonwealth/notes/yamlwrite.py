"""Frontmatter out: one way to write each value, on one line, that every YAML reader takes for the same text.

A scalar stays plain only where no reader, of any version of YAML, could see a number, a date, a boolean or
structure in it; all others are double-quoted. Which characters count is spelled out here, so that the bytes do
not depend on the Unicode tables of a Python release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from commonwealth.model import Extra

Value: TypeAlias = Extra | Sequence["Value"] | Mapping[str, "Value"]
"""What can be written: text, sequences and mappings of it."""

_WORD = r"(?!(?i:true|false|yes|no|on|off|null|none|y|n)\Z)"
# Letters whose look is not in doubt: Latin, Greek, Cyrillic, kana, han and hangul.
_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u052f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_COMMIT = r"(?!0b)(?=[0-9]*e?[0-9]*[abcdf])[0-9a-f]{7,64}"
_DATED = r"[0-9](?=[0-9./-]*-[A-Za-z])[A-Za-z0-9._/@+-]*[A-Za-z0-9]"
_PLAIN = re.compile(rf"{_WORD}[{_LETTER}_/][{_LETTER}0-9 .;:,/+@()=$!?%&*'\"<>|~^`{{}}\[\]\\#_-]*|{_DATED}|{_COMMIT}")
_PLAIN_IN_FLOW = re.compile(rf"{_WORD}[{_LETTER}_/][{_LETTER}0-9 .;/+()=$_-]*|{_DATED}|{_COMMIT}")
_PLAIN_KEY = re.compile(r"(?i:(?!(?:true|false|yes|no|on|off|null|none|y|n)\Z))[A-Za-z_][A-Za-z0-9_-]{0,63}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_TIME_ENDINGS = ("_at", "_from", "_until")

# Controls, breaks, and characters that nobody sees: written as escapes, so that a file shows what it holds.
_UNSEEN = re.compile(
    '["\\\\\x00-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f'
    "\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\uffff\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff]"
)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    return _SHORT.get(character) or (f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}")


def quoted(text: str) -> str:
    """`text` in double quotes."""
    return f'"{_UNSEEN.sub(_escape, text)}"'


def _is_time(key: str, text: str) -> bool:
    return (key == "at" or key.endswith(_TIME_ENDINGS)) and _INSTANT.fullmatch(text) is not None


def scalar(text: str, key: str = "") -> str:
    """`text` as the value of `key` on a line of its own."""
    if _PLAIN.fullmatch(text):
        return quoted(text) if ": " in text or " #" in text or text[-1] in ": " else text
    return text if _is_time(key, text) else quoted(text)


def flow(value: Value, key: str = "") -> str:
    """`value` on one line: `[a, b]`, `{at: …, commit: …}`, or a scalar that may stand inside those."""
    if isinstance(value, str):
        plain = _PLAIN_IN_FLOW.fullmatch(value) and value[-1] != " "
        return value if plain or _is_time(key, value) else quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key_text(k)}: {flow(v, k)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(flow(item) for item in value) + "]"


@lru_cache(maxsize=512)
def key_text(key: str) -> str:
    """A key as it is written."""
    return key if _PLAIN_KEY.fullmatch(key) else quoted(key)


def entry(key: str, value: Value, indent: str = "", *, block: bool = False) -> str:
    """The line of one key, with its newline; a mapping that asks for `block` has a line for each of its keys."""
    head = f"{indent}{key_text(key)}:"
    if type(value) is str:
        return f"{head} {scalar(value, key)}\n"
    if block and isinstance(value, Mapping) and value:
        return f"{head}\n" + "".join(entry(k, v, indent + "  ") for k, v in value.items())
    return f"{head} {flow(value, key)}\n"
