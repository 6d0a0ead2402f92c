"""Secrets without a mark of their own: known by the address, command, header or word before them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from commonwealth.curate.randomness import (
    compiled,
    decoded,
    entropy,
    is_hex,
    is_identifier,
    is_password,
    is_placeholder,
    is_plain_password,
    is_random,
    is_reference,
    part_length,
)


class Span(NamedTuple):
    """Where a rule saw a secret in a text."""

    rule: str
    start: int
    end: int


def is_value(value: str, test: Callable[[str], bool]) -> bool:
    """Whether `value` passes `test` and is neither code, nor a stand-in, nor an id or digest."""
    return not (is_reference(value) or is_placeholder(value) or is_identifier(value)) and test(value)


def lowered(text: str) -> str:
    """`text` in lower case, of the same length: a letter whose lower case is longer stays as it is."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character.lower() if len(character.lower()) == 1 else character for character in text)


# a credential in an address, a command or a header


def _is_pair(match: re.Match[str]) -> bool:
    """Beside a user's name even a plain word is a password, unless it is a stand-in or repeats the name."""
    return _is_password_of(match[1], match[2])


_SOME_USER = frozenset(("user", "username", "usr", "name", "login", "me", "myuser", "someuser"))


def _is_password_of(user: str, word: str) -> bool:
    if user.lower() in _SOME_USER and not is_random(word):
        return False
    if is_placeholder(word) or is_reference(word) or word.lower() == user.lower():
        return False
    return not (len(word) < 8 and word.isalpha()) and not word.isdigit()


def _is_basic(match: re.Match[str]) -> bool:
    user, colon, word = decoded(match[1]).strip().partition(":")
    return bool(colon) and _is_password_of(user, word)


class _Framed(NamedTuple):
    rule: str
    needles: tuple[str, ...]  # all of them occur, in lower case, in a text with a match
    pattern: str  # the last group is the secret
    test: Callable[[re.Match[str]], bool]


_FRAMED = (
    _Framed(
        "url-password",
        ("://", "@"),
        r"[A-Za-z][A-Za-z0-9+.-]{1,24}://([^\s/:@\"'`<>]{0,128}):([^\s/@\"'`<>]{3,256})@[^\s@]",
        _is_pair,
    ),
    _Framed(
        "curl-password",
        ("curl",),
        r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user|-U|--proxy-user)[ =]?[\"']?"
        r"([^\s:\"']{1,100}):([^\s\"']{3,200})",
        _is_pair,
    ),
    _Framed(
        "netrc-password",
        ("login", "password"),
        r"\blogin\s+(\S{1,100})\s+password\s+(\S{3,200})",
        _is_pair,
    ),
    _Framed(
        "client-password",
        (" -p",),
        r"\b(?:mysql|mysqldump|mysqladmin|sshpass|mongo|mongosh|lftp)\b[^\n]{0,200}?\s-p\s?[\"']?"
        r"([^\s\"'|;]{6,100})",
        lambda match: is_value(match[1], is_password),
    ),
    _Framed(
        "client-password",
        ("redis-cli", " -a"),
        r"\bredis-cli\b[^\n]{0,200}?\s-a\s?[\"']?([^\s\"'|;]{6,100})",
        lambda match: is_value(match[1], is_password),
    ),
    _Framed(
        "basic-auth",
        ("basic",),
        r"(?i:\bbasic)[\s:\"']{1,4}([A-Za-z0-9+/_-]{8,400}={0,2})",
        _is_basic,
    ),
    _Framed(
        "bearer-token",
        ("bearer",),
        r"(?i:\bbearer)[\s:\"'=]{1,4}([\w.~+/=-]{16,2000})",
        lambda match: is_value(match[1], is_random),
    ),
)


def framed(text: str, lower: str) -> Iterator[Span]:
    """Passwords of addresses and commands, and credentials in authorization headers."""
    for rule, needles, pattern, test in _FRAMED:
        if all(needle in lower for needle in needles):
            for match in compiled(pattern).finditer(text):
                if test(match):
                    yield Span(rule, *match.span(match.re.groups))


# a word for a credential, then its value

_WORDS = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
_KEYWORD = (
    r"(?:pass(?:word|wd|phrase|code|key)?|pwd|secrets?|tokens?|credentials?|auth(?:orization)?"
    r"|(?:api|app|access|auth|secret|private|signing|encryption|client|service|account|admin|master|license"
    r"|session|webhook|deploy|shared|storage|primary|write|read|integration|project)[ _.-]?keys?)(?![a-z])"
)
_PASSWORD_LIKE = ("pass", "pwd")
_TO_VALUE = (
    r"[\w.-]{0,40}[\"'`\])*]{0,3}"  # the rest of the name
    r"(?:\s(?:for|of|in|on|to|is|was)\s[\w. '-]{0,40}?|\s\([^)\n]{0,40}\))?"  # token for the CI server
    r"(?:\s{0,4}(?::=|=>|->|={1,3}|:)\s{0,4}"
    r"|\s(?:is|was|set to|to|of)[: ]\s?"
    r"|[\"']?,\s{0,2}[\"']?value[\"']?\s?[:=]\s?"  # {"name": "TOKEN", "value": …}
    r"|[\"']?\s{1,4}value=(?=[\"'])"  # <add key="Password" value="…"/>
    r"|,\s?|\(\s?|>|\s)"
    r"(?P<quote>[\"'`]{0,3})(?P<value>[^\s\"'`,;<>]{6,512})"
)
_DIGESTED = r"(?i)hash|digest|checksum|fingerprint|sha[-_]?\d|md5|etag|integrity"
_ABOUT = r"(?:^|[-_. ])(?:ids?|names?|type|file|path|url|uri|count|length|size|ttl|expiry|expires\w*|version)$"
_LOOSE = r"(?<![\w/+=.:$-])[A-Za-z0-9_+/=~.-]{20,512}(?![\w/+=-])"
_NAMED_ID = r"(?:[Ii]d|ID|[Uu]uid)[\"']?\s?[:=]?\s?[\"'`]?\Z"
_LOOSE_REACH = 80  # characters after the word


def assigned(text: str, lower: str) -> Iterator[Span]:
    """Values after a word for a credential: assigned to it, or highly random and near it."""
    if not any(word in lower for word in _WORDS):
        return
    done = 0
    for keyword in compiled(_KEYWORD).finditer(lower):
        if keyword.start() >= done and (span := _assigned(text, lower, keyword) or _nearby(text, keyword)):
            done = span.end
            yield span


def _assigned(text: str, lower: str, keyword: re.Match[str]) -> Span | None:
    match = compiled(_TO_VALUE).match(text, keyword.end())
    if match is None:
        return None
    separator = lower[keyword.end() : match.start("quote")]
    between = separator.rstrip(" =:>-\"'`(,")
    if compiled(_DIGESTED).search(between) or compiled(_ABOUT).search(between):
        return None
    value = match["value"] if match["quote"] else match["value"].rstrip(".)]}:!?\\*")
    password = keyword[0].startswith(_PASSWORD_LIKE)
    test = _is_plainly_random
    is_verb = keyword[0] == "pass" and separator.isspace()  # pass `retries=None` to it
    if (match["quote"] and not is_verb) or any(mark in separator for mark in "=:>"):
        test = is_password if password else is_random
    if not is_value(value, test) and not (password and _is_plain(text, keyword, match, value)):
        return None
    start = match.start("value")
    return Span("password" if password else "credential", start, start + len(value))


_SAID = r"[\"'`\])*]{0,3}(?:\s{0,4}(?::=|=|:)\s{0,4}|\s(?:is|was|set to)[: ]\s?)[\"'`]{0,3}"
_TO_KEY = r"[\w \t*>#|\"'`-]{0,40}"


def _is_plain(text: str, keyword: re.Match[str], match: re.Match[str], value: str) -> bool:
    """Whether a line says nothing but that a password is a plain long word."""
    if not is_value(value, is_plain_password):
        return False
    begin = text.rfind("\n", 0, keyword.start()) + 1
    end = text.find("\n", match.end())
    after = text[match.end() : len(text) if end < 0 else end].strip(" \t\r\"'`,;.)")
    before = text[begin : keyword.start()]
    if before[-1:].isalpha() and text[keyword.start()].islower():
        return False  # bypass, compass
    said = text[keyword.end() : match.start("value")]
    return not after and compiled(_SAID).fullmatch(said) is not None and compiled(_TO_KEY).fullmatch(before) is not None


def _nearby(text: str, keyword: re.Match[str]) -> Span | None:
    """A highly random value on the rest of the line, without a sign between it and the word."""
    end = text.find("\n", keyword.end())
    end = min(len(text) if end < 0 else end, keyword.end() + _LOOSE_REACH + 512)
    for match in compiled(_LOOSE).finditer(text, keyword.end(), end):
        if match.start() > keyword.end() + _LOOSE_REACH:
            return None
        if compiled(_DIGESTED).search(text, keyword.end(), match.start()):
            return None
        if is_value(match[0], _is_plainly_random) and not decoded(match[0]):
            before = text[max(0, match.start() - 12) : match.start()]
            return None if compiled(_NAMED_ID).search(before) else Span("high-entropy", *match.span())
    return None


def _is_plainly_random(value: str) -> bool:
    """Random enough to stand without a sign of assignment: long, mixed case, digits; no hash and no path."""
    if len(value) < 16 or is_hex(value) or value.count("/") > 1:
        return False
    mixed = value.lower() != value and value.upper() != value and any(map(str.isdigit, value))
    return mixed and entropy(value) >= 3.5 and part_length(value) <= 2.3
