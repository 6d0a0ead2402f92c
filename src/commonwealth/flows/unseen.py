"""What speaks against a candidate when it is approved: what nobody was told of when it was staged (a note that says
nearly the same and has landed since, text or advice that came in by an edit), a slip of a hand, and what the gate said.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from commonwealth.curate import contradict, disclosure, gate, injection, loosening
from commonwealth.curate.dedupe import ALIKE, NEAR, REWORDED, SAME, compare
from commonwealth.flows import curating, indexing
from commonwealth.flows.brains import Brain
from commonwealth.model import Note
from commonwealth.notes import naming, slips
from commonwealth.notes.waiting import Waiting

_GRAVE = ("a person has to look at it", "the text came from a tool")
"""What stands in a reason of the gate that is not about how good a note is, but what it may do to its readers."""


def reasons(brain: Brain, chosen: Sequence[Waiting], now: str) -> dict[str, str]:
    """By path, why a candidate has to be looked at again before it is approved. Raises as `indexing.ask` does."""

    def question(conn: sqlite3.Connection) -> dict[str, tuple[Note, ...]]:
        return {one.path: curating.nearest(conn, curating.candidate_of(one.note), now) for one in chosen}

    near = indexing.ask(brain, question)
    found = ((one.path, next(_of(brain, one, near[one.path]), None)) for one in chosen)
    return {path: reason for path, reason in found if reason is not None}


def slip(one: Waiting) -> str | None:
    """What a hand has got wrong in the file; the person may not have seen it."""
    return "; ".join(f"line {doubt.line}: {doubt.cause}" for doubt in one.doubts if slips.is_slip(doubt)) or None


def told(one: Waiting) -> tuple[str, ...]:
    """What the gate said that nobody should pass over: text that speaks to a model, advice to loosen a control, a note
    that says otherwise. A person who names the candidate has read it; who approves all that wait may not have."""
    if one.origin is None:
        return ()
    rivals = one.origin.contradicts
    return tuple(
        reason
        for reason in one.origin.reasons
        if any(words in reason for words in _GRAVE) or any(id_ in reason for id_ in rivals)
    )


def _of(brain: Brain, one: Waiting, near: Sequence[Note]) -> Iterator[str]:
    known = _known(one)
    candidate = curating.candidate_of(one.note)
    for sign in injection.found(gate.texts(candidate)):
        if sign.firm and sign.what not in known:
            yield f"{sign.where}: {sign.what}"
    for where in ("title", "summary", "body"):
        text = getattr(candidate, where) or ""
        if loosening.REASON not in known and loosening.advised(text) is not None:
            yield f"{where}: {loosening.REASON}"
        advice = disclosure.advised(text)
        if advice is not None and advice[0] not in known:
            yield f"{where}: {advice[0]}"
    for note in near:
        if note.id in known or naming.id_key(note.id) == naming.id_key(one.note.id):
            continue
        like = compare(candidate, note)
        close = like.kind == NEAR and like.score >= ALIKE and like.subject >= gate.CLOSE
        place = {"repository": one.note.repository or brain.repository, "branch": one.note.branch}
        if (like.kind in (SAME, REWORDED) or close) and contradict.in_scope(candidate, note, **place):
            yield f"{note.id} says nearly the same"


def _known(one: Waiting) -> str:
    """What a person who looks at the candidate learns of it, as one text."""
    origin = one.origin
    known = (*origin.reasons, *origin.contradicts, origin.duplicate_of or "") if origin else ()
    return "\n".join((*known, *one.note.supersedes))
