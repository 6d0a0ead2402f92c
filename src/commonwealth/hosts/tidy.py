"""Text and paths of a transcript as a note may hold them: short, without pictures, without anybody's home folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import lru_cache

LONGEST_SAID = 40_000
LONGEST_QUESTION = 4_000
LONGEST_USED = 8_000
LONGEST_RESULT = 2_000
_GAP = "\n [...]\n"

_HOME = re.compile(
    r"(?:/(?:home|Users)/|\b[A-Za-z]:[\\/]+Users[\\/]+)[^\\/\s\"'`:;,()<>|]+|(?<![\w.~/-])/root(?=[/\s\"']|$)"
)
_HOME_SIGNS = ("/home/", "Users", "/root")
_LEAST_PICTURE = 1000
_PICTURE = re.compile(r"(?:data:[\w/+.-]{1,60};base64,)?(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{1000,}={0,2}")
_UNPLAIN = re.compile("[\ud800-\udfff\x00]")
_PASSING = re.compile(r"/(?:private/)?(?:tmp|var/folders|dev|proc)/")


def plain(text: str) -> str:
    """`text` without what no file of text can hold."""
    return text if text.isascii() and "\0" not in text else _UNPLAIN.sub("\ufffd", text)


def unwrapping(*tags: str) -> Callable[[str], str]:
    """A function that takes elements of these tags out of a text, with all that is in them.

    One that is never closed goes where the text begins with it; elsewhere somebody writes about the tag. Time grows
    with the length of the text only.
    """
    opening = re.compile(rf"<({'|'.join(map(re.escape, tags))})(?:\s[^<>]{{0,200}})?>")

    def unwrapped(text: str) -> str:
        kept: list[str] = []
        unclosed: set[str] = set()
        begin = at = 0
        while match := opening.search(text, at):
            at = match.end()
            closing = f"</{match[1]}>"
            if closing in unclosed:
                continue
            end = text.find(closing, at)
            if end >= 0:
                kept.append(text[begin : match.start()])
                begin = at = end + len(closing)
                continue
            unclosed.add(closing)
            if not "".join((*kept, text[begin : match.start()])).strip():
                return ""
        return "".join((*kept, text[begin:])) if kept else text

    return unwrapped


@lru_cache(maxsize=8)
def _inside(cwd: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.~/-]){re.escape(cwd)}(?:/(?=[\w.@(\[{{*-])|(?=[\s\"'`:;,)\]}}]|$))")


def same_home(one: str, other: str | None) -> bool:
    """Whether `other` is a folder already, and not in the home of somebody else than `one`."""
    if not other:
        return False
    mine, theirs = _HOME.match(one), _HOME.match(other)
    return mine is None or theirs is None or mine[0] == theirs[0]


def homeless(text: str, cwd: str | None) -> str:
    """`text` with paths relative to `cwd`, and `~` for everybody's home folder."""
    if cwd and len(cwd) > 1 and cwd in text:
        text = _inside(cwd).sub(lambda match: "" if match[0].endswith("/") else ".", text)
    return _HOME.sub("~", text) if any(sign in text for sign in _HOME_SIGNS) else text


def shown(text: str, cwd: str | None, limit: int) -> str:
    """`text` stripped and at most `limit` characters of it: where it is longer, its middle is left out."""
    if len(text) > 4 * limit:
        text = text[: 2 * limit] + _GAP + text[-2 * limit :]
    if len(text) >= _LEAST_PICTURE:
        text = _PICTURE.sub("[...]", text)
    text = homeless(plain(text), cwd).strip()
    if len(text) <= limit:
        return text
    tail = limit // 3
    return text[: limit - tail - len(_GAP)] + _GAP + text[-tail:]


def ends(text: str, cwd: str | None) -> str:
    """The beginning and end of what a tool answered."""
    return shown(text, cwd, LONGEST_RESULT)


def path(file: str, cwd: str | None) -> str | None:
    """`file` relative to `cwd` where it lies inside, else as it is; None for one in somebody's home folder."""
    file = plain(file).strip().replace("\\", "/")
    if not file or len(file) > 1024 or "\n" in file:
        return None
    base = (cwd or "").replace("\\", "/").rstrip("/")
    if base and file.startswith(base + "/"):
        file = file[len(base) + 1 :]
    file = posixpath.normpath(file)
    outside = file in (".", "..", base) or file.startswith(("~", "../"))
    return None if outside or _PASSING.match(file) or _HOME.match(file) else file
