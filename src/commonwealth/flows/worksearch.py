"""Who is changing what: the work records that answer a question, and those that touch the same things.

Advice only. Open records are few, so they are compared one by one; what waits on colleagues' branches counts too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonwealth.flows import indexing, leases, overlaps, teammates, workpaths
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.index import lookup, query, working
from commonwealth.model import Note, same_repository

CANDIDATES = 5_000
"""So many records are compared with what was asked for, the newest."""

OWN = "your own, from another session"
AHEAD = "its clock is ahead of this one"


@dataclass(frozen=True, slots=True)
class WorkQuery:
    """What is asked about work. A filter that is a tuple matches any of its values, an empty one everything.

    Without a `status` open records are found. `files` may be paths, folders or globs; with `files` or `components`
    only what overlaps with them is found.
    """

    query: str = ""
    repository: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    limit: int = 20
    now: str = ""


@dataclass(frozen=True, slots=True)
class WorkHit:
    """One work record; `overlap` says why it touches what was asked about, `stale` that its lease is over.

    `labels` is what a reader should know beside it: that it waits on a colleague's branch, whose it is.
    """

    note: Note
    path: str
    overlap: tuple[str, ...] = ()
    stale: bool = False
    score: float = 0.0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkFound:
    """The records that answer a question, the likeliest to matter first, and how many there are in all."""

    results: tuple[WorkHit, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """The other side of an overlap: paths as they are called now, and components. `renamed` says by commit what files
    were called there, old → new."""

    files: tuple[str, ...]
    components: tuple[str, ...]
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def search(brain: Brain, wanted: WorkQuery) -> WorkFound:
    """The work records that answer `wanted`: what is active before what is stale, then by how much overlaps.

    Raises what a search raises (`indexing.ask`).
    """
    wanted = replace(wanted, status=wanted.status or leases.OPEN)
    about = bool(wanted.files or wanted.components)
    files = workpaths.asked(workpaths.Place(brain.project, brain.cwd), wanted.files)
    asked = _asked(brain, files, wanted.components)
    found = indexing.ask_of_files(brain, lambda conn: _candidates(conn, brain, wanted, asked), _paths)
    hits = [hit for hit in (_judged(hit, asked, wanted.now) for hit in found) if hit.overlap or not about]
    home = None if wanted.repository else brain.repository
    hits.sort(key=lambda hit: (hit.stale, not _is_of(hit.note, home), -hit.score, *_since(hit.note)))
    return WorkFound(tuple(hits[: max(0, wanted.limit)]), len(hits))


def overlapping(brain: Brain, mine: Note, *, author: Identity, session: Session, now: str) -> tuple[WorkHit, ...]:
    """The active records of others, and of other sessions of one's own, that touch what the record `mine` names.

    In the order in which the work began, the same for everybody.
    """
    if not (mine.files or mine.components):
        return ()
    wanted = WorkQuery(status=leases.OPEN, now=now)
    asked = _asked(brain, mine.files, mine.components, mine)
    found = [
        hit
        for hit in indexing.ask_of_files(brain, lambda conn: _candidates(conn, brain, wanted, asked), _paths)
        if hit.note.id != mine.id
        and may_be_same(hit.note.repository, mine.repository)
        and leases.is_active(hit.note, now)
        and not leases.is_of_session(hit.note, session.session)
    ]
    hits = [judged for hit in found if (judged := _judged(hit, asked, now)).overlap]
    hits.sort(key=lambda hit: _since(hit.note))
    return tuple(
        replace(hit, labels=(OWN, *hit.labels)) if leases.is_of_person(hit.note, author.ref, author.name) else hit
        for hit in hits
    )


def may_be_same(one: str | None, other: str | None) -> bool:
    """Whether two records may be about one repository: one that names none may be about any."""
    return not one or not other or same_repository(one, other)


def _is_of(note: Note, repository: str | None) -> bool:
    return repository is None or (bool(note.repository) and same_repository(note.repository or "", repository))


def _since(note: Note) -> tuple[str, str]:
    """Since when, as everybody sorts it."""
    return note.started_at or note.created_at or "", note.id


def _paths(hits: Iterable[WorkHit]) -> list[str]:
    return [hit.path for hit in hits if teammates.UNMERGED not in hit.labels]


def _candidates(conn: sqlite3.Connection, brain: Brain, wanted: WorkQuery, asked: _Asked) -> list[WorkHit]:
    """As `_records`, without those that the index can tell to touch nothing of what was asked about."""
    if wanted.query.strip() or not (asked.files or asked.components) or not set(wanted.status) <= set(leases.OPEN):
        return _records(conn, brain, wanted)
    touches = overlaps.touching(asked.files)
    names = {commit: {old.casefold(): new for old, new in renames.items()} for commit, renames in asked.renamed.items()}

    def any_name(path: str, commit: str | None) -> bool:
        new = names.get(commit or "", {}).get(path)
        return touches(path) or (new is not None and touches(new))

    files = working.touching(conn, any_name, asked.components)
    found = [WorkHit(file.note, file.path) for file in files if _meets(file.note, wanted)]
    return _with_unmerged(conn, brain, wanted, found)


def _records(conn: sqlite3.Connection, brain: Brain, wanted: WorkQuery) -> list[WorkHit]:
    """The records that meet the filters but for files and components, in the index and on colleagues' branches."""
    asked = query.Query(
        text=wanted.query,
        repository=wanted.repository,
        kind=(leases.KIND,),
        status=wanted.status,
        person=wanted.person,
        agent=wanted.agent,
        include_superseded=True,
        limit=CANDIDATES,
        now=wanted.now,
    )
    hits, _ = query.search(conn, asked)
    scored = bool(wanted.query.strip())
    return _with_unmerged(
        conn, brain, wanted, [WorkHit(hit.note, hit.path, score=hit.score if scored else 0.0) for hit in hits]
    )


def _with_unmerged(conn: sqlite3.Connection, brain: Brain, wanted: WorkQuery, hits: Iterable[WorkHit]) -> list[WorkHit]:
    """These records, without versions in conflict, and with those on colleagues' branches that say more."""
    found = {hit.note.id: hit for hit in hits if not hit.note.conflict_of}
    for record in teammates.records(brain):
        merged = next((file.note for file in lookup.get(conn, record.note.id) if file.note.id == record.note.id), None)
        if not teammates.is_news(record.note, merged):
            continue
        found.pop(record.note.id, None)
        if _meets(record.note, wanted):
            found[record.note.id] = WorkHit(record.note, record.path, labels=(teammates.UNMERGED,))
    return list(found.values())


def _meets(note: Note, wanted: WorkQuery) -> bool:
    """The filters of a query on a record that is in no index."""
    people = (note.owner, note.author, note.author_ref, note.provenance.human)
    agents = (note.agent, note.provenance.agent)
    words = f"{note.title}\n{note.summary or ''}\n{' '.join((*note.files, *note.components))}".casefold()
    return (
        note.status in wanted.status
        and (not wanted.repository or any(same_repository(note.repository or "", name) for name in wanted.repository))
        and _any(wanted.person, people)
        and _any(wanted.agent, agents)
        and all(word in words for word in wanted.query.casefold().split())
    )


def _any(wanted: Sequence[str], said: Iterable[str | None]) -> bool:
    folded: Collection[str] = {text.casefold() for text in said if text}
    return not wanted or any(value.casefold() in folded for value in wanted)


def _asked(brain: Brain, files: Sequence[str], components: Sequence[str], mine: Note | None = None) -> _Asked:
    """What records are compared with; git is asked only where its answer can matter."""
    project = brain.project
    if project is None or not files:
        return _Asked(tuple(files), tuple(components))
    own = mine.provenance.commit if mine is not None and _is_of(mine, project.identity) else None
    renamed = workpaths.renamed(project, [own, *indexing.ask(brain, working.commits)])
    before = renamed.get(own or "", {})
    now = dict.fromkeys((*files, *(before[path] for path in files if path in before)))
    return _Asked(tuple(now), tuple(components), renamed)


def _judged(hit: WorkHit, asked: _Asked, now: str) -> WorkHit:
    """A record with why it overlaps and whether it is stale; a file that was renamed since overlaps under its new name
    as well."""
    note = hit.note
    why = overlaps.why(note.files, note.components, asked.files, asked.components)
    before = asked.renamed.get(note.provenance.commit or "", {})
    for old in note.files:
        if (new := before.get(old)) is not None:
            found = overlaps.why((new,), (), asked.files, ())
            why = (*why, *(f"{reason} (was {old})" for reason in found if reason not in why))
    stale = leases.is_open(note) and not leases.is_active(note, now)
    labels = (*hit.labels, AHEAD) if leases.is_ahead(note, now) else hit.labels
    return replace(hit, overlap=why, stale=stale, score=hit.score + len(why), labels=labels)
