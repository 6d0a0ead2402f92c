"""What a model answered, as drafts: each checked against what was sent, so that a bad one takes no other along."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from commonwealth.capture.sent import Heard, Sent, as_said
from commonwealth.conversation import Said, Used
from commonwealth.model import CONFIDENCES, TYPES, Candidate, Span
from commonwealth.safetext import clean, one_line

LINES = 40
"""Lines that a draft rests on, at most."""

MOST = 20
"""Drafts of one answer that are looked at."""

_TITLE, _SUMMARY, _BODY, _QUOTE, _FILES = 200, 1_500, 6_000, 600, 6
_SHORTEST = 8
_STATUSES = ("hypothesis", "observed", "confirmed", "decision")
_STRENGTH = {"low": 0.4, "medium": 0.6, "high": 0.8}
_FIELDS = frozenset({"title", "summary", "body", "type", "status", "confidence", "from", "to", "quote", "files"})
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)

Speaks = Callable[[str], bool]
"""Whether a text speaks to a model instead of telling something."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The drafts of an answer, and in a sentence each what was wrong with it. `unparsable` says that it was no
    answer; an empty one without that is a model that found nothing."""

    drafts: tuple[Candidate, ...] = ()
    problems: tuple[str, ...] = ()
    unparsable: str | None = None


def answered(text: str, sent: Sent, *, speaks: Speaks) -> Answered:
    """The drafts in `text`, which a model answered to `sent`. Pure; raises nothing, whatever it is."""
    found = _notes(text)
    if found is None:
        return Answered(unparsable="the answer holds no list of notes")
    drafts: list[Candidate] = []
    problems: list[str] = []
    for number, item in enumerate(found[:MOST], 1):
        try:
            drafts.append(_draft(item, sent, speaks))
        except _Unfit as error:
            problems.append(f"note {number}: {error}")
        if isinstance(item, dict) and not item.keys() <= _FIELDS:
            problems.append(f"note {number}: what is no field of a draft was ignored")
    if len(found) > MOST:
        problems.append(f"{len(found) - MOST} notes beyond the first {MOST} were not looked at")
    return Answered(tuple(drafts), tuple(problems))


# The JSON in an answer


def _notes(text: str) -> list[object] | None:
    """The list of notes in an answer, whatever stands around it; None where there is none."""
    for given in (text.strip(), *(match[1] for match in _FENCED.finditer(text))):
        found = _list_in(_loaded(given))
        if found is not None:
            return found
    return next((found for given in _objects(text) if (found := _list_in(given)) is not None), None)


def _list_in(given: object) -> list[object] | None:
    if isinstance(given, dict):
        given = given.get("notes")
    return given if isinstance(given, list) else None


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _objects(text: str) -> Iterator[object]:
    """The objects with notes that stand somewhere in prose."""
    decoder = json.JSONDecoder()
    for match in list(re.finditer(r'\{\s*"notes"', text))[:20]:
        try:
            yield decoder.raw_decode(text, match.start())[0]
        except (ValueError, RecursionError):
            continue


# One draft


class _Unfit(ValueError):
    """Why a draft is none, in one clause."""


def _draft(item: object, sent: Sent, speaks: Speaks) -> Candidate:
    if not isinstance(item, dict):
        raise _Unfit("it is no object")
    title, summary = _text(item, "title", _TITLE), _text(item, "summary", _SUMMARY)
    if not one_line(title) or not summary.strip():
        raise _Unfit("it has no title or no summary")
    body = _text(item, "body", _BODY, default="")
    type_, status = _choice(item, "type", TYPES, "discovery"), _choice(item, "status", _STATUSES, "observed")
    confidence = _choice(item, "confidence", CONFIDENCES, "medium")
    span, quote, shown = _evidence(item, sent)
    _not_injected(shown, quote, speaks)
    kind, evidence = "memory", tuple(sent.within(span.first, span.last))
    if "decision" in (type_, status):
        kind = type_ = status = "decision"
        if not any(_chose(one) for one in evidence):
            raise _Unfit("nobody decided it in those lines")
    if status == "confirmed" and not any(_shows(one, quote) for one in evidence):
        status, confidence = "observed", min(confidence, "medium", key=CONFIDENCES.index)
    return Candidate(
        title=one_line(title, _TITLE),
        summary=summary.strip(),
        evidence=span,
        body=body.strip(),
        kind=kind,
        type=type_,
        status=status,
        confidence=confidence,
        observed_at=shown.event.at,
        files=_files(item, sent),
        quotes=(quote,),
        signal="model",
        strength=_STRENGTH[confidence],
    )


def _text(item: Mapping[str, object], name: str, most: int, *, default: str | None = None) -> str:
    given = item.get(name, default)
    if not isinstance(given, str):
        raise _Unfit(f"its {name} is no text" if name in item else f"it has no {name}")
    if len(given) > most:
        raise _Unfit(f"its {name} is longer than {most} characters")
    return as_said(clean(given))


def _choice(item: Mapping[str, object], name: str, words: Sequence[str], default: str) -> str:
    given = item.get(name, default)
    if not isinstance(given, str) or given not in words:
        raise _Unfit(f"its {name} is none of {', '.join(words)}")
    return given


def _evidence(item: Mapping[str, object], sent: Sent) -> tuple[Span, str, Heard]:
    """The lines, the quote as it is kept, and where it stands: the evidence is true or there is no draft."""
    first, last = item.get("from"), item.get("to", item.get("from"))
    if type(first) is not int or type(last) is not int:
        raise _Unfit("its lines are no numbers")
    lowest, highest = sent.lines
    if not lowest <= first <= last <= highest:
        raise _Unfit("its lines are none of those that were sent")
    if last <= sent.since:
        raise _Unfit("its lines were drafted from before")
    quote = one_line(_text(item, "quote", _QUOTE), _QUOTE)
    wanted = normal(quote)
    if len(wanted) < _SHORTEST:
        raise _Unfit("its quote is too short to show anything")
    holding = [one for one in sent.within(first, last) if wanted in normal(one.text)]
    if not holding:
        raise _Unfit("its quote does not stand in those lines")
    where = min(holding, key=lambda one: ("user", "assistant", "tool", "result").index(one.who))
    if last - first >= LINES:
        first = max(first, where.line - LINES // 2)
        last = min(last, first + LINES - 1)
    return Span(first, last), quote, where


def normal(text: str) -> str:
    """`text` as passages are compared: without case, spacing and what neutralising changed."""
    return " ".join(as_said(text).replace("\\#", "#").casefold().split())


def _not_injected(shown: Heard, quote: str, speaks: Speaks) -> None:
    """Raises where the words come from a tool alone and stand beside text that speaks to a model."""
    if shown.who not in ("tool", "result"):
        return
    text = " ".join(as_said(shown.text).split())
    at = max(0, text.casefold().find(normal(quote)))
    if speaks(text[max(0, at - _QUOTE) : at + len(quote) + _QUOTE]):
        raise _Unfit("its words come from a tool's output that speaks to a model")


def _chose(one: Heard) -> bool:
    """Whether a person said something there that may have decided, or the decision was carried out."""
    event = one.event
    if isinstance(event, Said):
        return event.who == "user" and event.manner != "interruption"
    return event.use == "edit" and not event.failed


def _shows(one: Heard, quote: str) -> bool:
    """Whether this is what confirms: the user's very word, no question, or something that was run with its result."""
    if isinstance(one.event, Used):
        return one.who == "result" and one.event.use == "run"
    return one.who == "user" and normal(quote) in normal(one.text) and not one.text.rstrip().endswith("?")


def _files(item: Mapping[str, object], sent: Sent) -> tuple[str, ...]:
    """Those of the files named that the session names too."""
    given = item.get("files", [])
    if not isinstance(given, list):
        raise _Unfit("its files are no list")
    found = [as_said(clean(one)).strip() for one in given if isinstance(one, str)]
    return tuple(dict.fromkeys(one for one in found if one and one in _named(sent)))[:_FILES]


def _named(sent: Sent) -> str:
    return as_said(sent.text)
