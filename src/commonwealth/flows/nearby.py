"""What others have under way near a session: for its start, from the index as it stands and from what was kept.

Read by hooks, so nothing here loads what writes notes, and git is started only where somebody is at work in this
repository at all: once for what the session has changed, and once more for who the person is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commonwealth.flows import identity, leases, overlaps, teammates
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.sessions import days_between
from commonwealth.index import lookup, working
from commonwealth.model import Note, same_repository
from commonwealth.repo import changed_here
from commonwealth.safetext import clip, neutral, one_line

MOST = 5
"""So many records are told one by one; the others that overlap are counted."""

OLD_DAYS = 14
"""Work that nothing was said about for so long is not counted among the rest, though its lease goes on."""

GIT_SECONDS = 0.8
"""Seconds that the question what a session has changed may take."""

MOST_OWN = 2
"""So many of one's own records of other sessions are told."""

_FILES = 4
_SUMMARY_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Work:
    """A record that others have open in this repository, with why it overlaps, and how it is labelled."""

    note: Note
    overlap: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nearby:
    """Work of others that overlaps with what a session is about, the closest first, and how much more of it is active
    here; `own` is what the same person has under way in other sessions and that overlaps as well."""

    overlapping: tuple[Work, ...] = ()
    others: int = 0
    own: tuple[Work, ...] = ()


NOBODY = Nearby()


def found(brain: Brain, conn: sqlite3.Connection) -> tuple[Work, ...]:
    """The open work records of this repository, in the index and on colleagues' branches, whoever's they are."""
    if brain.repository is None:
        return ()
    notes = [file.note for file in working.of_repository(conn, brain.repository)]
    here = {note.id: Work(note) for note in notes if not note.conflict_of and _is_here(brain, note)}
    for record in teammates.records(brain):
        note = record.note
        if note.conflict_of or not _is_here(brain, note):
            continue
        merged = next((file.note for file in lookup.get(conn, note.id) if file.note.id == note.id), None)
        if teammates.is_news(note, merged):
            here.pop(note.id, None)
            if leases.is_open(note):
                here[note.id] = Work(note, labels=(teammates.UNMERGED,))
    return tuple(here.values())


def _is_here(brain: Brain, note: Note) -> bool:
    return note.repository is not None and same_repository(note.repository, brain.repository or "")


def near(
    brain: Brain, records: Sequence[Work], session: Session, now: str, changed: Sequence[str] | None = None
) -> Nearby:
    """Which of the `records` are active at `now` and not this session's, and which of these overlap with what it is
    about: its branch, the files that it has changed, and what its own active records name. For others' records that is
    also what the person's active records on this branch, or on none, name. `changed` are the files that the session has
    changed, where the caller knows them."""
    active = [
        work
        for work in records
        if leases.is_active(work.note, now) and not leases.is_of_session(work.note, session.session)
    ]
    if not active or brain.project is None:
        return NOBODY
    me = identity.whoami(brain)
    mine = [work for work in records if leases.is_of_person(work.note, me.ref, me.name)]
    own = frozenset(work.note.id for work in mine)
    live = [work.note for work in mine if leases.is_active(work.note, now)]
    here = _changed(brain, changed)
    session_too = here.with_all(note for note in live if leases.is_of_session(note, session.session))
    about = here.with_all(note for note in live if _is_meant(brain, note, session))
    judged = [replace(work, overlap=_why(work.note, session_too if work.note.id in own else about)) for work in active]
    touching = sorted((work for work in judged if work.overlap), key=_closest_first)
    rest = [work for work in judged if not work.overlap and work.note.id not in own and not _is_old(work.note, now)]
    return Nearby(
        tuple(work for work in touching if work.note.id not in own),
        len(rest),
        tuple(_labelled(work) for work in touching if work.note.id in own),
    )


def own(brain: Brain, records: Sequence[Work], session: Session, now: str) -> tuple[Note, ...]:
    """The person's active records that say what this session is about."""
    live = [work.note for work in records if leases.is_active(work.note, now)]
    if not live or brain.project is None:
        return ()
    me = identity.whoami(brain)
    return tuple(
        note for note in live if leases.is_of_person(note, me.ref, me.name) and _is_meant(brain, note, session)
    )


def _closest_first(work: Work) -> tuple[int, str, str]:
    return -len(work.overlap), work.note.started_at or "", work.note.id


def _labelled(work: Work) -> Work:
    return replace(work, labels=("your own, from another session", *work.labels))


def _is_meant(brain: Brain, note: Note, session: Session) -> bool:
    """Whether a record of the person's says what this session is about: the session announced it, or it is on this
    branch, or on none."""
    on = note.branch or note.provenance.branch
    at = brain.project.branch if brain.project is not None else None
    return leases.is_of_session(note, session.session) or on is None or on == at


def _is_old(note: Note, now: str) -> bool:
    return days_between(note.updated_at or note.started_at or note.created_at or "", now) > OLD_DAYS


@dataclass(frozen=True, slots=True)
class _About:
    """What a session is about: its branch, unless that is the default one; files by path from the root; components."""

    branch: str | None
    files: tuple[str, ...]
    components: tuple[str, ...] = ()

    def with_all(self, notes: Iterable[Note]) -> _About:
        """The same with what these records name."""
        files, components = list(self.files), list(self.components)
        for note in notes:
            files += note.files
            components += note.components
        return replace(self, files=tuple(dict.fromkeys(files)), components=tuple(dict.fromkeys(components)))


def _changed(brain: Brain, known: Sequence[str] | None) -> _About:
    project = brain.project
    assert project is not None
    branch = None if changed_here.is_default(project, project.branch) else project.branch
    return _About(branch, tuple(changed_here.changed_files(project, GIT_SECONDS) if known is None else known))


def _why(note: Note, about: _About) -> tuple[str, ...]:
    """Why a record overlaps; empty where it does not."""
    same = (f"branch {about.branch}",) if about.branch and about.branch == note.branch else ()
    return (*same, *overlaps.why(note.files, note.components, about.files, about.components))


# As text


def block(work: Work) -> str:
    """One record as neutral text: what it is, why it matters here, who, since when, which files, until when."""
    note = work.note
    labels = (note.status, *work.labels, f"overlaps: {'; '.join(work.overlap)}" if work.overlap else "")
    lines = [
        f"- Work under way: {neutral(one_line(note.title))} [{neutral(one_line(', '.join(filter(None, labels)), 400))}]"
    ]
    if note.summary:
        lines.append(clip(neutral(one_line(note.summary, 400)), _SUMMARY_TOKENS))
    lines.append(neutral(one_line(_origin(note), 500)))
    lines.append(f"id {neutral(one_line(note.id))}")
    return "\n  ".join(lines)


def _origin(note: Note) -> str:
    who = note.owner or note.author or note.provenance.human or "somebody unknown"
    agent = note.agent or note.provenance.agent
    since = note.started_at or note.created_at
    until = leases.end_of(note)
    files = [*note.files[:_FILES], *([f"and {len(note.files) - _FILES} more"] if len(note.files) > _FILES else [])]
    parts = (
        f"by {who}{f' with {agent}' if agent else ''}{f', since {since}' if since else ''}",
        f"until {until} unless renewed" if until else "",
        f"branch {note.branch}" if note.branch else "",
        f"files {', '.join(files)}" if files else "",
        f"components {', '.join(note.components[:_FILES])}" if note.components else "",
    )
    return "; ".join(filter(None, parts))


def counted(nearby: Nearby) -> str:
    """The line about work that is not told one by one; empty where there is none."""
    left = max(0, len(nearby.overlapping) - MOST)
    if left:
        return f"- {left} more active records overlap; the tool work_search lists them."
    if nearby.overlapping or not nearby.others:
        return ""
    noun = "record" if nearby.others == 1 else "records"
    return f"- Others have {nearby.others} active work {noun} in this repository; the tool work_search lists them."
