"""A candidate as a person looks at it: the notes of canon that it has to do with, and those that it would replace."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from commonwealth.flows import indexing, relevance
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.picking import find
from commonwealth.flows.recall import Link
from commonwealth.index import lookup, query
from commonwealth.index.terms import terms
from commonwealth.model import Hit, Note, NoteFile
from commonwealth.notes import naming
from commonwealth.notes.candidate import Origin
from commonwealth.notes.waiting import Waiting

_NEIGHBOURS, _SOUGHT, _THIRD = 5, 600, 1 / 3
"""So many notes of canon are shown beside a candidate, found by so many characters of it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate with what a person wants to know before deciding: the notes of canon that are most like it, what it
    would replace, of what it is a double, and beside what it cannot stand. `mode` is how notes come into canon."""

    candidate: Waiting
    neighbours: tuple[Hit, ...] = ()
    supersedes: tuple[Link, ...] = ()
    duplicate_of: Link | None = None
    contradicts: tuple[Link, ...] = ()
    mode: str = "auto"


def shown(brain: Brain, note_id: str, *, now: str) -> Shown:
    """A candidate that waits, or was dropped, with what speaks for and against it.

    Raises Refused for an unknown or ambiguous id, BadNote for a file that cannot be read.
    """
    one = find(brain, note_id)
    note, origin = one.note, one.origin or Origin()
    named = (*note.supersedes, *origin.contradicts, *filter(None, (origin.duplicate_of,)))
    near, titles = indexing.ask(
        brain,
        lambda conn: (_near(conn, note, now), {id_: _titled(lookup.get(conn, id_), id_) for id_ in named}),
    )
    return Shown(
        one,
        near,
        tuple(Link(id_, "supersedes", titles[id_]) for id_ in note.supersedes),
        Link(origin.duplicate_of, "duplicate_of", titles[origin.duplicate_of]) if origin.duplicate_of else None,
        tuple(Link(id_, "contradicts", titles[id_]) for id_ in origin.contradicts),
        review_mode(brain),
    )


def _near(conn: sqlite3.Connection, note: Note, now: str) -> tuple[Hit, ...]:
    """The notes of canon that a candidate has to do with, as a search alone always finds some: several of its words
    speak for them, or it says a good part of their title."""
    text = " ".join(filter(None, (note.title, note.summary)))[:_SOUGHT]
    if not text.strip():
        return ()
    said = relevance.weighed(conn, terms(text))
    asked = query.Query(text=text, kind=("memory", "decision"), now=now, limit=4 * _NEIGHBOURS)
    found = (hit for hit in query.search(conn, asked)[0] if hit.note.id != note.id)
    return tuple(hit for hit in found if _bears(relevance.evidence(said, hit.note)))[:_NEIGHBOURS]


def _bears(found: relevance.Evidence) -> bool:
    return relevance.several(found) or bool(found.words and found.back >= _THIRD)


def _titled(files: Sequence[NoteFile], id_: str) -> str | None:
    return next((file.note.title for file in files if naming.id_key(file.note.id) == naming.id_key(id_)), None)
