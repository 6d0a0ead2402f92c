"""What a process in the background does for the person's own work records: leases that a session keeps alive move on,
and a record whose branch was merged is completed. Each by an ordinary edit that rides on the next sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from commonwealth.errors import BadNote, BrainError
from commonwealth.flows import identity, indexing, leases, saving, sessions
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity
from commonwealth.flows.sessions import Beat
from commonwealth.index import query
from commonwealth.model import Hit, Note, Receipt, same_repository
from commonwealth.notes import codec, waiting
from commonwealth.repo import workfiles
from commonwealth.repo.commit import Change
from commonwealth.repo.merged import Merged, merged
from commonwealth.repo.project import Project, repository_of

_MOST = 100
"""So many of a person's open records are looked at."""

Edit = Callable[[Note], Note | None]
"""What becomes of a note as it is now; None where it stays."""


def tend(brain: Brain, now: str) -> tuple[Receipt, ...]:
    """Renew and complete the person's own open records; let go of candidates that were dropped long ago. What stands
    in the way is left for the next time."""
    waiting.tidy(brain.root, now)
    with suppress(BrainError, OSError):
        sessions.tidy(brain.root, now)
        beats = sessions.known(brain.root)
        if beats or brain.project is not None:
            return tuple(_tended(brain, beats, now))
    return ()


def _tended(brain: Brain, beats: Sequence[Beat], now: str) -> Iterator[Receipt]:
    me = identity.whoami(brain)
    own = [hit for hit in _open(brain, me, now) if leases.is_of_person(hit.note, me.ref, me.name)]
    for receipt in (_completed(brain, own, beats, me, now), _renewed(brain, own, beats, me, now)):
        if receipt is not None:
            yield receipt


def _open(brain: Brain, me: Identity, now: str) -> tuple[Hit, ...]:
    """The open work records in which this person is named."""
    wanted = query.Query(kind=(leases.KIND,), status=leases.OPEN, person=(me.ref, me.name), now=now, limit=_MOST)
    return indexing.ask(brain, lambda conn: query.search(conn, wanted)[0])


# Leases


def _renewed(brain: Brain, own: Iterable[Hit], beats: Sequence[Beat], me: Identity, now: str) -> Receipt | None:
    def edit(note: Note) -> Note | None:
        ends = [
            (end, beat.at)
            for beat in beats
            if leases.is_kept_by(note, beat) and (end := leases.renewed(note, beat, now)) is not None
        ]
        if not ends:
            return None
        end, at = max(ends)
        return replace(note, lease_until=end, updated_at=max(at, note.updated_at or at))

    due = [hit for hit in own if edit(hit.note) is not None]
    return _edited(brain, due, edit, me, now, "Lease renewed") if due else None


# Merged branches


def _completed(brain: Brain, own: Iterable[Hit], beats: Sequence[Beat], me: Identity, now: str) -> Receipt | None:
    ends: dict[str, Merged] = {}
    for hit in own:
        found = _merged(brain, beats, hit.note)
        if found is not None:
            ends[hit.note.id] = found

    def edit(note: Note) -> Note | None:
        return _ended(note, ends[note.id]) if note.id in ends and leases.is_open(note) else None

    done = [hit for hit in own if hit.note.id in ends]
    return _edited(brain, done, edit, me, now, "Work completed") if done else None


def _projects(brain: Brain, beats: Sequence[Beat], note: Note) -> Iterator[Project]:
    """The code repositories at hand that a record is about, each work tree once."""
    places = [brain.project.root] if brain.project else []
    places += [beat.root for beat in beats if same_repository(beat.repository, note.repository or "")]
    for place in dict.fromkeys(places):
        project = repository_of(place)
        if project is not None and note.repository and same_repository(project.identity, note.repository):
            yield project


def _merged(brain: Brain, beats: Sequence[Beat], note: Note) -> Merged | None:
    """How the branch of a record came into the default branch, where a repository at hand can tell."""
    branch = note.branch or note.provenance.branch
    seen = [beat.commit for beat in beats if beat.branch == branch and beat.commit] if branch else []
    known = [*seen, *([note.provenance.commit] if note.provenance.commit else [])]
    for project in _projects(brain, beats, note) if branch else ():
        found = merged(project, branch, known)
        # A branch that had landed before the work began on it has not landed with that work.
        if found is not None and found.at >= (note.started_at or note.created_at or ""):
            return found
    return None


def _ended(note: Note, how: Merged) -> Note:
    """The record as completed by a merge: every value comes from the note and the commit, none from a clock."""
    branch = note.branch or note.provenance.branch
    said = f"Completed by itself: the branch {branch} was merged into {how.into} with {how.commit[:12]}."
    body = f"{note.body.rstrip()}\n\n{said}\n".lstrip("\n")
    updated = max(how.at, note.updated_at or how.at)
    return replace(note, status="completed", completed_at=how.at, updated_at=updated, body=body)


# Both


def _edited(brain: Brain, hits: Sequence[Hit], edit: Edit, me: Identity, now: str, what: str) -> Receipt:
    """One commit of what `edit` makes of these notes, each as it lies there by then."""

    def plan() -> Sequence[Change] | Receipt:
        changes = [change for hit in hits if (change := _change(brain, hit, edit)) is not None]
        return changes or Receipt("unchanged")

    return saving.save(
        brain, plan, ids=tuple(hit.note.id for hit in hits), message=what, author=me, now=now, command="work"
    )


def _change(brain: Brain, hit: Hit, edit: Edit) -> Change | None:
    data = workfiles.read(str(brain.root), hit.path)
    if data is None:
        return None
    with suppress(BadNote):
        text = codec.decode(data, hit.path)
        old = codec.parse(text, hit.path, leases.KIND)[0]
        new = edit(old) if old.id == hit.note.id else None
        if new is not None and new != old:
            body = None if new.body == old.body else new.body
            return Change(hit.path, codec.edit(text, codec.changes(old, new), body, hit.path).encode(), data)
    return None
