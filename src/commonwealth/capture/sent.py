"""What of a conversation a model gets to read: each thing with the line that it stands at, within a bound.

Where not everything fits, the user's words come before conclusions and errors, those before the rest, and what is new
before what is old. A line that begins with `L` and a number is ours: the lines that follow within one thing are set in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from commonwealth.conversation import Conversation, Event, Said, turns
from commonwealth.safetext import neutral

LIMIT = 200_000
"""Characters that are sent at most."""

_USER, _CLOSING, _SAID, _TOOL = 8_000, 6_000, 1_500, 500
_FAILED, _RESULT, _QUESTION = 2_000, 600, 400
_EARLIER = 20_000
_CUT = " […] "
_GAP = "[something is left out here]"
_TORN = "\n [...]\n"
"""What the readers of transcripts put where they leave out the middle of a text."""
_LOOK_ALIKE = str.maketrans({"@": "＠", "$": "＄"})
_BACK = str.maketrans({"＠": "@", "＄": "$", "‹": "<", "›": ">"})


@dataclass(frozen=True, slots=True)
class Heard:
    """What was sent of one line: `who` is user, assistant, tool (what went in) or result (what came out)."""

    line: int
    who: str
    text: str
    event: Event


@dataclass(frozen=True, slots=True)
class Sent:
    """The text for the model, and by line what it holds. Nothing is drafted from the lines before `since` alone."""

    text: str
    heard: Mapping[int, tuple[Heard, ...]]
    since: int
    left_out: int = 0

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line that something was sent of; zeros where there is none."""
        return (min(self.heard), max(self.heard)) if self.heard else (0, 0)

    def within(self, first: int, last: int) -> Iterator[Heard]:
        """What was sent of these lines, in their order."""
        for line in sorted(number for number in self.heard if first <= number <= last):
            yield from self.heard[line]


@dataclass(frozen=True, slots=True)
class _Piece:
    rank: int
    at: int
    heard: tuple[Heard, ...]
    shown: str


def sent(conversation: Conversation, *, mask: Callable[[str], str], since: int = 0, limit: int = LIMIT) -> Sent:
    """What a model gets of `conversation`, at most `limit` characters. Pure.

    `mask` takes the secrets out of a text. Events at lines up to `since` were looked at before and are only context.
    """
    pieces = [*_pieces(conversation, lambda text: mask(_without_torn(text)), since)]
    kept: set[int] = set()
    left = {False: limit, True: min(_EARLIER, limit // 4) if since else 0}
    left[False] -= left[True]
    for number in sorted(range(len(pieces)), key=lambda number: (pieces[number].rank, -pieces[number].at)):
        old = pieces[number].heard[0].line <= since
        size = len(pieces[number].shown) + len(_GAP) + 2
        if size <= left[old]:
            left[old] -= size
            kept.add(number)
    return _put_together(pieces, kept, since)


def _put_together(pieces: Sequence[_Piece], kept: set[int], since: int) -> Sent:
    heard: dict[int, tuple[Heard, ...]] = {}
    shown: list[str] = []
    for number, piece in enumerate(pieces):
        if number not in kept:
            if shown and shown[-1] != _GAP:
                shown.append(_GAP)
            continue
        shown.append(piece.shown)
        for one in piece.heard:
            heard[one.line] = (*heard.get(one.line, ()), one)
    return Sent("\n".join(shown), heard, since, len(pieces) - len(kept))


def _pieces(conversation: Conversation, mask: Callable[[str], str], since: int) -> Iterator[_Piece]:
    at = 0
    for turn in turns(conversation):
        last = max((place for place, event in enumerate(turn) if _by_assistant(event)), default=-1)
        for place, event in enumerate(turn):
            heard = tuple(_heard(event, mask, closing=place == last))
            if heard:
                old = heard[0].line <= since
                yield _Piece(_rank(event, closing=place == last) + old, at, heard, "\n".join(map(_labelled, heard)))
            at += 1


def _by_assistant(event: Event) -> bool:
    return isinstance(event, Said) and event.who == "assistant"


def _rank(event: Event, *, closing: bool) -> int:
    if isinstance(event, Said):
        return 0 if event.who == "user" else 1 if closing else 2
    return 1 if event.failed else 3


def _heard(event: Event, mask: Callable[[str], str], *, closing: bool) -> Iterator[Heard]:
    if isinstance(event, Said):
        room = _USER if event.who == "user" else _CLOSING if closing else _SAID
        said = _cut(mask(event.text), room)
        if event.manner == "answer" and event.question:
            said = f"(asked: {_cut(mask(event.question), _QUESTION)}) {said}"
        elif event.manner != "message":
            what = ": ".join(filter(None, (event.manner, _cut(mask(event.question), _QUESTION))))
            said = f"({what}) {said}"
        if said.strip():
            yield Heard(event.line, event.who, plain(said), event)
        return
    about = " ".join(filter(None, (event.name, ", ".join(event.files[:5]), event.text)))
    yield Heard(event.line, "tool", plain(_cut(mask(f"{event.use}: {about}"), _TOOL)), event)
    if event.result.strip():
        text = _cut(mask(event.result), _FAILED if event.failed else _RESULT)
        yield Heard(event.result_line or event.line, "result", plain(f"{'failed: ' * event.failed}{text}"), event)


def _without_torn(text: str) -> str:
    """`text` without the words that a reader has cut in two: half a secret looks like none."""
    if _TORN not in text:
        return text
    parts = text.split(_TORN)
    for number in range(len(parts) - 1):
        parts[number] = parts[number][: len(parts[number]) - len(re.split(r"\s", parts[number])[-1])]
        parts[number + 1] = parts[number + 1][len(re.split(r"\s", parts[number + 1], maxsplit=1)[0]) :]
    return _TORN.join(parts)


def _cut(text: str, room: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= room:
        return text
    head = room * 2 // 3
    return text[:head] + _CUT + text[-(room - head) :]


def plain(text: str) -> str:
    """Text of a session as it may be sent: no line opens a tag, and nothing in it is a mention that a host would
    follow (`@file` is read in by Claude Code, `$skill` by Codex, whoever wrote it)."""
    return neutral(text).translate(_LOOK_ALIKE)


def as_said(text: str) -> str:
    """`text` of an answer with the characters that stood there before `plain`."""
    return text.translate(_BACK)


def _labelled(one: Heard) -> str:
    return f"L{one.line} {one.who}: " + one.text.replace("\n", "\n    ")
