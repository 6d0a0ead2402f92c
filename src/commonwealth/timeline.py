"""Instants as canonical UTC text (`2026-06-02T12:20:00Z`), and half-open validity.

Canonical text sorts as time does, so files, SQL and Python compare it as plain strings.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from commonwealth.errors import Usage

_INSTANT = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:(?:[Tt]| +)(?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"\s*(?P<zone>[Zz]|UTC|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
_LONGEST = 60
"""Characters; anything longer is no time, and is shown only in part."""


def canonical(text: str) -> str:
    """The canonical form of an ISO 8601 date or time.

    A date alone is midnight UTC; a time without a zone is taken as UTC; fractions of a second are
    dropped; a leap second becomes the next second.
    Raises ValueError with one clause that says what is wrong.
    """
    text = text.strip()
    match = _INSTANT.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(f"{text[:_LONGEST]!r} is not an ISO 8601 date or time such as 2026-06-02T12:20:00Z")
    second = int(match["second"] or 0)
    leap = second == 60
    try:
        moment = datetime.fromisoformat(match["date"]).replace(
            hour=int(match["hour"] or 0),
            minute=int(match["minute"] or 0),
            second=59 if leap else second,
            tzinfo=UTC,
        )
        moment += timedelta(seconds=1 if leap else 0) - _offset(match["zone"])
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a possible time ({error})") from None
    return render(moment)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone in ("Z", "z", "UTC"):
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 14 or minutes > 59:
        raise ValueError(f"no time zone is {zone} away from UTC")
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def render(moment: datetime) -> str:
    """Canonical text of an aware datetime."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z: no later instant has a canonical form."""


def shown_seconds(text: str) -> int:
    """Seconds since 1970 as a commit gives them, within what can be shown; 0 where they are no number."""
    if not (text.isascii() and text.isdigit()):
        return 0
    return min(int(text[:_LONGEST]), _LAST_SECOND)


def of_seconds(seconds: int) -> str:
    """Canonical text of an instant in seconds since 1970."""
    return render(datetime.fromtimestamp(seconds, UTC))


def parse(text: str) -> datetime:
    """An aware UTC datetime of canonical text. Raises ValueError for any other."""
    moment = datetime.fromisoformat(text)
    if render(moment) != text:
        raise ValueError(f"{text!r} is not a time in canonical form")
    return moment


def now() -> str:
    """The clock, or `COMMONWEALTH_NOW` where it is set (tests and demos). Raises Usage where that is no time."""
    fixed = os.environ.get("COMMONWEALTH_NOW")
    if not fixed:
        return render(datetime.now(UTC))
    try:
        return canonical(fixed)
    except ValueError as error:
        raise Usage(f"COMMONWEALTH_NOW: {error}.", hint="Unset the variable, or give it an instant.") from None


def holds(valid_from: str | None, valid_until: str | None, at: str) -> bool:
    """Whether half-open `[valid_from, valid_until)` contains the instant `at`; a missing end is unbounded."""
    return (valid_from is None or valid_from <= at) and (valid_until is None or at < valid_until)


def age(since: str, now: str) -> str:
    """How long ago an instant was, in the largest unit that says it: `2 days`. Empty where it is no instant.

    Both are canonical times; an instant of the future was just now.
    """
    try:
        seconds = max(0.0, (parse(now) - parse(since)).total_seconds())
    except ValueError:
        return ""
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {word}{'' if number == 1 else 's'}"
    return "less than a minute"
