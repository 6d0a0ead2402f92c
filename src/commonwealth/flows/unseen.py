"""What speaks against a candidate and nobody was told of when it was staged: a note that says nearly the same and has
landed since, or text that speaks to a model and came in by an edit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from commonwealth.curate import contradict, gate, injection
from commonwealth.curate.dedupe import ALIKE, NEAR, SAME, compare
from commonwealth.flows import curating, indexing
from commonwealth.flows.brains import Brain
from commonwealth.model import Note
from commonwealth.notes import naming
from commonwealth.notes.waiting import Waiting


def reasons(brain: Brain, chosen: Sequence[Waiting], now: str) -> dict[str, str]:
    """By path, why a candidate has to be looked at again before it is approved. Raises as `indexing.ask` does."""

    def question(conn: sqlite3.Connection) -> dict[str, tuple[Note, ...]]:
        return {one.path: curating.nearest(conn, curating.candidate_of(one.note), now) for one in chosen}

    near = indexing.ask(brain, question)
    found = ((one.path, next(_of(brain, one, near[one.path]), None)) for one in chosen)
    return {path: reason for path, reason in found if reason is not None}


def _of(brain: Brain, one: Waiting, near: Sequence[Note]) -> Iterator[str]:
    told = _told(one)
    candidate = curating.candidate_of(one.note)
    for sign in injection.found(gate.texts(candidate)):
        if sign.firm and sign.what not in told:
            yield f"{sign.where}: {sign.what}"
    for note in near:
        if note.id in told or naming.id_key(note.id) == naming.id_key(one.note.id):
            continue
        like = compare(candidate, note)
        close = like.kind == NEAR and like.score >= ALIKE and like.subject >= gate.CLOSE
        place = {"repository": one.note.repository or brain.repository, "branch": one.note.branch}
        if (like.kind == SAME or close) and contradict.in_scope(candidate, note, **place):
            yield f"{note.id} says nearly the same"


def _told(one: Waiting) -> str:
    """What a person who looks at the candidate learns of it, as one text."""
    origin = one.origin
    known = (*origin.reasons, *origin.contradicts, origin.duplicate_of or "") if origin else ()
    return "\n".join((*known, *one.note.supersedes))
