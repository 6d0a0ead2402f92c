"""How long a work record says that somebody is at it, and when a session's sign of life moves that on."""

from __future__ import annotations

from datetime import timedelta

from commonwealth import timeline
from commonwealth.flows.sessions import Beat
from commonwealth.model import Note, same_repository

KIND = "work-state"
OPEN = ("planned", "in-progress", "blocked")
"""The states of work that somebody is at, or means to be."""

USUAL = timedelta(hours=4)
"""The lease of a record that does not say how long it is."""

GRACE = timedelta(minutes=10)
"""A lease is over this much after its end: the clocks of two machines differ."""

LONGEST = timedelta(days=7)
"""Without a sign of life no lease counts for longer, whatever a record says."""

FURTHEST = timedelta(days=1)
"""A record that was written further ahead than this was written by no clock: it is stale."""


def is_open(note: Note) -> bool:
    """Whether a note is a work record that was neither completed nor abandoned."""
    return note.kind == KIND and note.status in OPEN


def is_active(note: Note, now: str) -> bool:
    """Whether a work record is open and its lease, with the grace, is not over at `now`."""
    if not is_open(note):
        return False
    end, since = end_of(note), _since(note)
    if since is not None and since > _later(now, FURTHEST):
        return False
    return end is None or now < _later(end, GRACE)


def is_ahead(note: Note, now: str) -> bool:
    """Whether a record was written in the future: the clock of its machine is further ahead than the grace."""
    written = max(note.started_at or "", note.updated_at or "")
    return bool(written) and written > _later(now, GRACE)


def end_of(note: Note) -> str | None:
    """The end of a record's lease, at most `LONGEST` after the last time that it said anything; for one without, that
    of the usual lease."""
    since = _since(note)
    if note.lease_until:
        return min(note.lease_until, _later(since, LONGEST)) if since else note.lease_until
    return _later(since, USUAL) if since else None


def _since(note: Note) -> str | None:
    """The last sign of life in a record."""
    return note.updated_at or note.started_at or note.created_at


def length(note: Note) -> timedelta:
    """How long the lease of a record was when it was given last."""
    since = _since(note)
    if not (note.lease_until and since) or note.lease_until <= since:
        return USUAL
    return min(timeline.parse(note.lease_until) - timeline.parse(since), LONGEST)


def renewed(note: Note, beat: Beat, now: str) -> str | None:
    """The new end of a record's lease, counted from a session's sign of life; None where it stays as it is.

    It moves where less than half was left then. A lease that is over stays over: only its owner revives it, in words.
    """
    if beat.ended or not is_active(note, now) or note.lease_until is None:
        return None
    whole = length(note)
    moved = _later(beat.at, whole)
    if _later(beat.at, whole / 2) <= note.lease_until or moved <= now:
        return None
    return moved


def is_of_session(note: Note, session: str | None) -> bool:
    """Whether a record was announced in this very session."""
    return session is not None and note.provenance.session == session


def is_of_person(note: Note, ref: str, name: str) -> bool:
    """Whether a record is a person's own, told by their note's id, else by their name."""
    if note.author_ref:
        return note.author_ref == ref
    return (note.owner or note.author or note.provenance.human or "").casefold() == name.casefold()


def is_at(note: Note, repository: str, branch: str | None) -> bool:
    """Whether a record is about this branch of this repository."""
    on = note.branch or note.provenance.branch
    return bool(branch) and on == branch and same_repository(note.repository or "", repository)


def is_kept_by(note: Note, beat: Beat) -> bool:
    """Whether a session keeps a record of its own person alive: it announced it, or is the same tool on its branch."""
    if is_of_session(note, beat.session):
        return True
    agent = note.agent or note.provenance.agent or ""
    return agent.casefold() == (beat.agent or "").casefold() and is_at(note, beat.repository, beat.branch)


def _later(time: str, by: timedelta) -> str:
    try:
        return timeline.render(timeline.parse(time) + by)
    except (ValueError, OverflowError):
        return time
