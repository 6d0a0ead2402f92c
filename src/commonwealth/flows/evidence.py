"""The words that a draft rests on: where they were said, and what they are while the host still keeps the session."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from commonwealth.conversation import Event, Said
from commonwealth.curate import secrets
from commonwealth.errors import Refused
from commonwealth.hosts import transcript
from commonwealth.model import Span
from commonwealth.notes.candidate import Origin
from commonwealth.safetext import one_line

_HASHED = 2000
_MOST = 12
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Words:
    """What was said or done at some lines of a transcript, as (line, who, text); `missing` is why there is nothing."""

    lines: tuple[tuple[int, str, str], ...] = ()
    missing: str | None = None


def said_at(events: Iterable[Event], span: Span) -> str:
    """A hash of the first event at these lines that has a time: a copy of the session has it at other lines. Empty
    where there is none."""
    for event in events:
        if event.at and span.first <= event.line <= span.last:
            said = "\x1f".join((event.at, type(event).__name__, event.text[:_HASHED]))
            return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return ""


def words(origin: Origin | None) -> Words:
    """The words of the session at the lines of a draft, shortened, and without the secrets in them.

    Nothing where its file does not say which lines those are, and where the transcript is gone or says something else
    there by now.
    """
    if origin is None or not (origin.transcript and origin.evidence and origin.host):
        return Words()
    span = origin.evidence
    try:
        events = transcript.at_lines(origin.host, os.path.expanduser(origin.transcript), span.first, span.last)
    except Refused:
        return Words(missing="the session's transcript cannot be read any more")
    if origin.place and said_at(events, span) != origin.place:
        return Words(missing="the session's transcript says something else at these lines by now")
    return Words(tuple(_line(event) for event in events[:_MOST] if event.text.strip()))


def _line(event: Event) -> tuple[int, str, str]:
    who = event.who if isinstance(event, Said) else event.name
    return event.line, one_line(who, 40), one_line(secrets.mask(event.text), _LONGEST)
