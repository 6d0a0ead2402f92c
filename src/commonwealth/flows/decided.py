"""What people decided on of a session: no sweep of it, and none of one that was forked from it, brings that again.

A draft is known again by its id, which the forked session gives it too; in other words, by the place where it was said
and by what it says: another fact from the same lines is another draft.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth.curate import dedupe
from commonwealth.flows import cursors, indexing
from commonwealth.flows.brains import Brain
from commonwealth.flows.cursors import Cursor, Emitted
from commonwealth.flows.harvest import Judged
from commonwealth.index import lookup
from commonwealth.model import Note, Span
from commonwealth.notes.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Decided:
    """`gone` are drafts that were staged and wait no more, by the end of their ids, `away` those of other transcripts;
    `rejected` those that somebody turned down, as long as they are kept."""

    brain: Brain
    gone: dict[str, Emitted]
    away: dict[str, Emitted]
    rejected: tuple[Waiting, ...]
    session: tuple[str, str | None]

    def has(self, one: Judged, *, new: bool) -> bool:
        """Whether this draft was decided on; of one that is `new`, whether it says such a one again."""
        if one.short in self.gone or one.short in self.away or any(short(old) == one.short for old in self.rejected):
            return True
        return new and any(note is None or dedupe.says_again(one.draft, note) for note in self._of_its_place(one))

    def _of_its_place(self, one: Judged) -> Iterator[Note | None]:
        """What was decided on of the same lines; None where nobody knows any more what that said."""
        known: dict[str, Note] = {}
        for old in self.rejected:
            known[short(old)] = old.note
            if self._is_there(old, one):
                yield old.note
        for ending, seen in (*self.gone.items(), *self.away.items()):
            same = bool(one.place) and seen.place == one.place
            lines = ending in self.gone and Span(seen.first, seen.last) == one.draft.evidence
            if ending not in known and (same or lines):
                yield self._in_canon(ending)

    def _is_there(self, old: Waiting, one: Judged) -> bool:
        origin = old.origin
        if origin is None:
            return False
        own = (origin.host, origin.session) == self.session and origin.evidence == one.draft.evidence
        return own or (bool(one.place) and origin.place == one.place)

    def _in_canon(self, ending: str) -> Note | None:
        found = indexing.ask(self.brain, lambda conn: lookup.get(conn, ending))
        return next((file.note for file in found if file.note.id.endswith(f"-{ending}")), None)


def look(
    brain: Brain, cursor: Cursor, rejected: tuple[Waiting, ...], waits: frozenset[str], session: tuple[str, str | None]
) -> Decided:
    """What was decided on, seen from the session (host and id) of `cursor`. `waits` are the ends of the ids of all that
    waits."""

    def decided(emitted: Iterator[tuple[str, Emitted]]) -> dict[str, Emitted]:
        return {ending: seen for ending, seen in emitted if seen.staged and ending not in waits}

    own = decided(iter(cursor.emitted.items()))
    away = decided(cursors.emitted_of_all(brain.root))
    return Decided(
        brain, own, {ending: seen for ending, seen in away.items() if ending not in cursor.emitted}, rejected, session
    )


def short(one: Waiting) -> str:
    """The end of a candidate's id, which names the fact."""
    return one.note.id.rpartition("-")[2]
