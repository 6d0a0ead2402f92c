"""Telling a secret value from words, placeholders, code, versions, hashes and ids."""

from __future__ import annotations

import base64
import binascii
import math
import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first needed: most texts need few of them."""
    return re.compile(pattern)


_PLACEHOLDER = (
    r"(?i:example|sample|placeholder|change.?me|change.?it|replace|your|xxxx|\*\*\*|\.\.\.|…|dummy|fake|redacted|removed"
    r"|masked|hidden|censored|insert|goes.?here|some.?(?:secret|token|password|key|value)|my.?(?:secret|token|password|pass|key)"
    r"|(?:test|demo|not).?(?:secret|token|password|key)|1234567|abcdefg|qwerty|foobar|lorem|deadbeef"
    r"|letmein|abc123|4eC39HqLyj|BQokikJOvB|process\.env|environ|getenv|env\[|secrets\.|vault:|op://|arn:aws)"
)
_STAND_IN = (
    r"(?i:example|sample|placeholder|change.?(?:me|it)|replace|your|dummy|fake|redacted|removed|masked|hidden|censored"
    r"|insert|goes.?here|some.?(?:secret|token|key)|my.?(?:secret|token|key)|(?:test|demo|not).?(?:secret|token|key))"
    r"|x{6}|X{6}|\*\*\*|\.\.\.|…|[<>{}]"
    r"|_4eC39HqLyjWDarjtT1zdp7dc|_BQokikJOvBiI2HlWgH4olfQ2"  # printed in their provider's own manual
)
_SEQUENCE = r"(?i)abcde|bcdef|ghijk|lmnop|pqrst|tuvwx|vwxyz|qwert|asdfg|zxcvb"
_PLAIN_WORD = r"[a-z]{20,64}|[a-z]{8,40}[0-9]{1,6}"
_REFERENCE = (
    r"[$<{%@#*(\[&!|\\]"  # a variable, a template, a call, a mask
    r"|[\w.]+[(\[{<]"  # a call, an index, a generic type
    r"|(?:\.{0,2}|~|[A-Za-z]:)[/\\]"  # a path
    r"|[a-z][a-z0-9+.-]*://"
    r"|\w+::"  # a name in a namespace
    r"|(?:[A-Z][A-Z0-9_]+|--?[A-Za-z][\w-]*)=[^=]"  # another assignment, an option
    r"|(?:[A-Za-z_][A-Za-z_0-9]*(?:[.:]|->|[?!]\.)){1,6}[A-Za-z_][A-Za-z_]*[;,)]*$"  # an attribute: config.auth.token
    r"|[A-Z][A-Z_]*(?:_[A-Z0-9]+)+$"  # a constant or the name of a variable
)
_COMMON = frozenset(
    """
    password passwd passwort pass passphrase secret secrets token tokens apikey key keys admin administrator
    root user username guest test testing tests welcome login letmein default none null nil true false
    undefined empty string str required optional master postgres mysql mariadb mongo mongodb redis rabbitmq
    django rails foo bar baz hello world abc pwd changeme development production staging local localhost
    value text bytes iloveyou monkey dragon todo tbd credentials credential auth bearer basic private public
    example sample demo hunter
    """.split()  # noqa: SIM905 (a list of one word a line hides the next constant)
)
_LEET = str.maketrans("@4031!$57", "aaoeiisst")
_HEX = r"[0-9a-f]+|[0-9A-F]+"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DIGEST = (
    r"(?:sha(?:1|224|256|384|512)|md5|blake\w*)[-:=]"
    r"|\$(?:2[abxy]?|argon2\w*|[156]|scrypt|pbkdf2\S*)\$|h1:|\{SHA\}"
)
_VERSION = r"[v^~>=<]*\d+(?:[.:/_-]\d+)+(?:[-.+T ][\w.:+-]*)?"
_NUMBER = r"[-+]?[\d.,_:%]+[a-zA-Z]{0,3}"
_PARTS = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"


def entropy(text: str) -> float:
    """Shannon entropy of the characters of `text`, in bits a character (C. Shannon, 1948)."""
    size = len(text)
    counts = (text.count(character) for character in set(text))
    return -sum(count / size * math.log2(count / size) for count in counts) if size else 0.0


def part_length(text: str) -> float:
    """How long the words of `text` are, split at case changes and between letters and digits.

    Prose and identifiers have 4 to 8, random base64 about 1.7, random hex 1.6, base36 2.5.
    """
    parts = compiled(_PARTS).findall(text)
    return sum(map(len, parts)) / len(parts) if parts else 0.0


def is_placeholder(value: str) -> bool:
    """Whether a value only stands where a secret would: `<token>`, `xxxx`, `changeme`, `${TOKEN}`."""
    if compiled(_PLACEHOLDER).search(value):
        return True
    if len(value) >= 8 and len(set(value)) * 4 <= min(len(value), 20):
        return True
    word = value.lower().translate(_LEET).strip("0123456789!.-_?*#$@&s")
    return value.lower().strip("0123456789!.-_?*#$@&") in _COMMON or word in _COMMON


def is_blank(value: str) -> bool:
    """Whether a value of a provider's exact shape is clearly none: it says so, or its end is of three characters.

    A sequence such as `abcdef123456` says nothing: real tokens have been taken for one.
    """
    end = value[-max(8, len(value) // 2) :]
    return compiled(_STAND_IN).search(value) is not None or len(set(end)) <= 3


def is_name(value: str) -> bool:
    """Whether a value is three or more words joined by signs, as the names in code are: no digit, no sequence."""
    words = compiled(r"[-_.]").split(value)
    plain = all(compiled(r"[a-z]{2,14}|[A-Z]{2,14}|[A-Z][a-z]{1,13}").fullmatch(word) for word in words if word)
    return len(words) >= 4 and plain and not compiled(_SEQUENCE).search(value)


def is_plain_password(value: str) -> bool:
    """Whether a value is one long lower-case word, or one with digits behind it, as people make passwords."""
    return compiled(_PLAIN_WORD).fullmatch(value) is not None


def is_reference(value: str) -> bool:
    """Whether a value is code or a pointer to where the secret is kept: a call, a path, an address."""
    return compiled(_REFERENCE).match(value) is not None


def is_identifier(value: str) -> bool:
    """Whether a value is a digest, a UUID, a version, a date or a number: random, and no secret."""
    return bool(
        compiled(_UUID).fullmatch(value)
        or compiled(_DIGEST).match(value)
        or compiled(_VERSION).fullmatch(value)
        or compiled(_NUMBER).fullmatch(value)
    )


def is_hex(value: str) -> bool:
    """Whether a value could be a hash or a commit id."""
    return compiled(_HEX).fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Whether a value of at least 8 characters looks drawn at random rather than written as words."""
    if len(value) < 8 or entropy(value) < (2.5 if len(value) < 16 else 3.0):
        return False
    if len(value) >= 24 and is_hex(value):
        return True
    has_digit = any(map(str.isdigit, value))
    mixed = value.lower() != value and value.upper() != value
    length = part_length(value)
    if has_digit:
        return length <= (3.3 if mixed else 3.9)
    return mixed and len(value) >= 12 and length <= 2.6


def is_password(value: str) -> bool:
    """Whether a value could be a password: random, or of three classes of character and no plain word."""
    if is_random(value):
        return True
    classes = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        any(not character.isalnum() and character not in "-_. /" for character in value),
    )
    return len(value) >= 8 and sum(classes) >= 3


_UNPRINTABLE = bytes(set(range(256)) - set(range(32, 127)) - {9, 10, 13})


def decoded(value: str) -> str:
    """The text in a base64 value, of either alphabet; empty where it holds anything but printable text."""
    data = "".join(value.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(data) % 4 == 1 or not _is_text(_bytes(data[:24])):
        return ""
    whole = _bytes(data)
    return whole.decode("ascii") if _is_text(whole) else ""


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_text(data: bytes) -> bool:
    return bool(data) and len(data.translate(None, _UNPRINTABLE)) == len(data)
