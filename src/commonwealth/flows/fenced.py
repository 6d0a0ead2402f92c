"""Notes for a model as text: attributed, cleaned, fenced as data, and within a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from commonwealth.model import Hit, Note, planned_end
from commonwealth.safetext import clip, fence, neutral, one_line, tokens

CHARACTERS = 8000
"""Both hosts cut or hide a hook's text of 10,000 characters or more."""

SUMMARY_TOKENS = 90
"""Tokens of what one note says, where its body is not told."""

_BODY_TOKENS = 260
AGAINST = "this change may go against it: "
"""How the reason begins of a note that an edit seems to contradict; the model is told it too."""

_WORK = "work-state"
_DOUBTS = {
    "changed": "the code that it cites has changed since",
    "missing": "the code that it cites is no longer there",
}


@dataclass(frozen=True, slots=True)
class Brief:
    """Text for a model, with why each note was taken and why the others were left.

    `reason` says why no note was looked at; `against` are the ids of those that an edit seems to contradict.
    """

    text: str
    tokens: int
    notes: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    against: tuple[str, ...] = ()


EMPTY = Brief("", 0)


class Block(NamedTuple):
    """Neutral text for a model, the id of what it tells of, and why it was taken; no id where it tells of no one."""

    text: str
    id: str = ""
    why: str = ""


def compose(
    intro: str,
    hits: Sequence[Hit],
    budget: int,
    *,
    why: str = "",
    details: bool = True,
    lead: Iterable[Block] = (),
    now: str | None = None,
    each: int = SUMMARY_TOKENS,
) -> Brief:
    """`hits` in their order as fenced blocks, as many as `budget` holds; with `details` the bodies too, else `each`
    tokens of what a note says. What `lead` says comes first."""
    frame = tokens(fence([], intro)) + 4
    room, characters = budget - frame, CHARACTERS - len(intro) - 100
    blocks: list[str] = []
    taken: list[tuple[str, str]] = []
    left: list[tuple[str, str]] = []
    told = (
        Block(block(hit, details=details, now=now, each=each), hit.note.id, why or ", ".join(hit.why)) for hit in hits
    )
    for one in chain(lead, told):
        cost = tokens(one.text) + 1
        if cost > room or len(one.text) >= characters:
            left += [(one.id, "over the budget")] if one.id else []
            continue
        room, characters = room - cost, characters - len(one.text) - 1
        blocks.append(one.text)
        taken += [(one.id, one.why)] if one.id else []
    if not blocks:
        return Brief("", 0, (), tuple(left))
    text = fence(blocks, intro)
    return Brief(text, tokens(text), tuple(taken), tuple(left))


def block(hit: Hit, *, details: bool, now: str | None = None, each: int = SUMMARY_TOKENS) -> str:
    """One note as neutral text: title, what it says, its id, and who found it, when and how sure."""
    note = hit.note
    lines = [f"- {neutral(one_line(note.title))} [{', '.join(_labels(hit, now))}]"]
    if note.summary:
        lines.append(clip(neutral(one_line(note.summary, 600)), each))
    body = note.body.strip()
    if body and (details or not note.summary):
        shown = neutral(body) if details else neutral(one_line(body, 600))
        lines.append(clip(shown, _BODY_TOKENS if details else each))
    lines.append(f"id {neutral(one_line(note.id))}; {neutral(origin(note))}")
    return "\n  ".join(line.replace("\n", "\n  ") for line in lines)


def is_disputed(hit: Hit) -> bool:
    """Whether a hit is one side of a conflict that nobody has settled."""
    return bool(hit.note.conflict_of) or "disputed" in hit.why


def _labels(hit: Hit, now: str | None) -> Iterable[str]:
    note = hit.note
    if note.kind == _WORK:
        yield neutral(one_line(f"work {note.status}", 40))
        return
    yield neutral(one_line(note.type, 30))
    if now and (planned := planned_end(note, now)):
        yield neutral(one_line(planned, 160))
    elif note.status != note.type:
        yield neutral(one_line(note.status, 30))
    yield f"{neutral(one_line(note.confidence, 20))} confidence"
    if is_disputed(hit):
        yield "disputed"
    yield from (neutral(one_line(why, 160)) for why in hit.why if why.startswith(AGAINST))
    if note.branch:
        from commonwealth.flows import scope  # noqa: PLC0415  # few notes are limited to a branch

        yield neutral(one_line(scope.label(hit) or f"on branch {note.branch}", 160))
    if note.verified and note.verified.result in _DOUBTS:
        yield _DOUBTS[note.verified.result]


def origin(note: Note) -> str:
    """Who recorded a note, with what, when, and whether anybody reviewed it, on one line."""
    who = note.author or note.provenance.human or "unknown author"
    agent = f" with {note.provenance.agent}" if note.provenance.agent else ""
    when = (note.observed_at or note.created_at or "")[:10]
    review = f"reviewed by {note.reviewed.by}" if note.reviewed and note.reviewed.by else "not reviewed"
    return one_line(f"by {who}{agent}{f', {when}' if when else ''}; {review}", 300)
