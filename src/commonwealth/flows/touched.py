"""The work that a session announced learns which files the session has changed; without one, nobody does."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from commonwealth import timeline
from commonwealth.conversation import Conversation
from commonwealth.errors import BrainError
from commonwealth.flows import harvest, identity, leases, work, worksearch
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import Note

MOST = 50
"""So many files of one session are added to its record."""

_LOOKED_AT = 500


def files(brain: Brain, said: Conversation, session: Session, now: str) -> tuple[str, ...]:
    """Add what the session edited to its open work record; the ids of records that changed.

    The record's lease stays as long as it is: that somebody was at work is no sign that they still are. A record that
    cannot be changed is no reason to fail a sweep.
    """
    if not session.session or not said.files or brain.project is None:
        return ()
    ground = harvest.Ground(brain, said, session, said.host, now)
    edited = tuple(filter(None, (harvest.relative(ground, path) for path in said.files)))[:MOST]
    changed: list[str] = []
    with suppress(BrainError):
        for note in _open_records(brain, session, now):
            new = [path for path in edited if path not in note.files]
            left = _minutes_left(note, now)
            if new and left > 0:
                done = work.update(brain, note.id, {"add_files": new, "lease_minutes": left}, session=session, now=now)
                changed += done.receipt.ids if done.receipt.state == "committed" else ()
    return tuple(changed)


def _open_records(brain: Brain, session: Session, now: str) -> list[Note]:
    """The active records that this session announced, of this person."""
    me = identity.whoami(brain)
    found = worksearch.search(brain, worksearch.WorkQuery(now=now, limit=_LOOKED_AT)).results
    return [
        hit.note
        for hit in found
        if hit.note.provenance.session == session.session
        and leases.is_active(hit.note, now)
        and leases.is_of_person(hit.note, me.ref, me.name)
    ]


def _minutes_left(note: Note, now: str) -> int:
    end = leases.end_of(note)
    if end is None:
        return 0
    return max(0, (timeline.parse(end) - timeline.parse(now)) // timedelta(minutes=1))
