"""Conflicts as the notes themselves state them: siblings of one note, and rival replacements of one note.

Nothing is stored: the same notes give the same list. Where a replacement was replaced in its turn, its place is taken
by what stands at the end of that chain. A dispute ends when all but one of its rivals are closed, or when the
replacements name each other in `relates`, which says that they stand side by side.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json import dumps

from commonwealth.index import schema
from commonwealth.index.values import key
from commonwealth.model import CLOSED_STATUSES, Note

_STANDING = "n.status NOT IN ('superseded', 'retracted') AND n.closed IS NULL"
_AMONG = " IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Dispute:
    """`about` is the id in question; `rivals` the ids that cannot all stand; `cause` is version or replacement."""

    cause: str
    about: str
    rivals: tuple[str, ...]


def disputes(conn: sqlite3.Connection) -> tuple[Dispute, ...]:
    """Every conflict in the brain, the same list wherever the same notes are. Ids are as they are compared."""
    with schema.snapshot(conn):
        versions = _versions(conn)
        replacements = _replacements(conn, None)
        rings = _rings(conn)
        replaced = _replaced(conn, [id_ for ring in rings for id_ in ring])
    found = [Dispute("version", about, (about, *sorted(ids - {about}))) for about, ids in versions.items()]
    found += [Dispute("replacement", about, tuple(sorted(ids))) for about, ids in replacements.items()]
    for ring in rings:
        common = set.intersection(*(replaced[id_] for id_ in ring)) - ring
        found.append(Dispute("replacement", min(common or ring), tuple(sorted(ring))))
    return tuple(sorted(found, key=lambda dispute: (dispute.about, dispute.cause, dispute.rivals)))


def disputed(conn: sqlite3.Connection, notes: Mapping[int, Note]) -> set[int]:
    """Which of these rows are party to a conflict."""
    if not notes:
        return set()
    ids = {rowid: key(note.id) for rowid, note in notes.items()}
    versions = _rivals(conn, schema.CONFLICT_OF, set(ids.values()))
    siblings = {rowid for rowid, note in notes.items() if note.conflict_of and note.status not in CLOSED_STATUSES}
    found = siblings | {rowid for rowid, id_ in ids.items() if id_ in versions}
    abouts = _before(conn, set(ids.values())) if any(note.supersedes for note in notes.values()) else set()
    abouts |= _closed_by(conn, ids.values())
    parties = {id_ for rivals in _replacements(conn, abouts).values() for id_ in rivals} if abouts else set()
    if any(note.status == "superseded" and note.superseded_by for note in notes.values()):
        parties |= {id_ for ring in _rings(conn) for id_ in ring}
    return found | {rowid for rowid, id_ in ids.items() if id_ in parties}


def _versions(conn: sqlite3.Connection) -> dict[str, set[str]]:
    """The siblings of each disputed id; what is written as the sibling of a sibling counts for their common root."""
    found = _rivals(conn, schema.CONFLICT_OF, None)
    parent = {id_: about for about, ids in found.items() for id_ in ids}
    roots: dict[str, set[str]] = defaultdict(set)
    for about, ids in found.items():
        root, seen = about, {about}
        while (above := parent.get(root)) is not None and above not in seen:
            root = above
            seen.add(above)
        roots[min(seen) if parent.get(root) in seen else root].update(ids)
    return roots


def _replacements(conn: sqlite3.Connection, abouts: set[str] | None) -> dict[str, set[str]]:
    """For each of these ids (None: all), the notes that stand in its place and do not stand together."""
    claimed = {about: ids for about, ids in _claims(conn, abouts).items() if len(ids) > 1}
    chains = _Chains(conn)
    branches = {about: [chains.after(id_) for id_ in sorted(ids)] for about, ids in claimed.items()}
    same = _linked(conn, {id_ for found in branches.values() for branch in found for id_ in branch})
    disputed: dict[str, set[str]] = {}
    for about, found in branches.items():
        standing = [branch for branch in found if branch & chains.standing]
        if len(_groups(standing, same)) > 1:
            disputed[about] = set.union(*standing) & chains.standing
    return disputed


def _claims(conn: sqlite3.Connection, abouts: set[str] | None) -> dict[str, set[str]]:
    """For each of these ids, the notes that replaced it, by their own word or by its."""
    scope = "" if abouts is None else f" AND {{}}{_AMONG}"
    found: dict[str, set[str]] = defaultdict(set)
    for about, id_ in conn.execute(
        "SELECT l.value, n.id FROM links AS l JOIN notes AS n ON n.rowid = l.note"
        f" WHERE l.field = ?{scope.format('l.value')} AND n.status <> 'retracted' AND n.id <> l.value"
        " UNION SELECT x.id, n.id FROM links AS l JOIN notes AS x ON x.rowid = l.note JOIN notes AS n ON n.id = l.value"
        f" WHERE l.field = ?{scope.format('x.id')} AND n.status <> 'retracted' AND n.id <> x.id"
        " AND x.status = 'superseded'",
        (schema.SUPERSEDES, *_listed(abouts), schema.SUPERSEDED_BY, *_listed(abouts)),
    ):
        found[about].add(id_)
    return found


class _Chains:
    """What came after a note; `standing` are those of the notes that were met which nothing has closed."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._next: dict[str, set[str]] = {}
        self.standing: set[str] = set()

    def after(self, id_: str) -> set[str]:
        """A note with what replaced it, what replaced that, and so on."""
        found: set[str] = set()
        at = {id_}
        while at:
            found |= at
            self._read(at - self._next.keys())
            at = {later for one in at for later in self._next[one]} - found
        return found

    def _read(self, ids: set[str]) -> None:
        if not ids:
            return
        rows = self._conn.execute(f"SELECT n.id FROM notes AS n WHERE n.id{_AMONG} AND {_STANDING}", _listed(ids))
        found = {id_ for (id_,) in rows}
        self.standing |= found
        claims = _claims(self._conn, ids - found) if ids - found else {}
        self._next.update({id_: claims.get(id_, set()) for id_ in ids})


def _before(conn: sqlite3.Connection, ids: set[str]) -> set[str]:
    """What these notes replaced, what that had replaced, and so on."""
    found: set[str] = set()
    while ids:
        ids = {about for claimed in _replaced(conn, ids).values() for about in claimed} - found
        found |= ids
    return found


def _linked(conn: sqlite3.Connection, ids: set[str]) -> list[tuple[str, str]]:
    """Pairs of these ids that are versions of one note, or that say they stand side by side."""
    if not ids:
        return []
    return conn.execute(
        "SELECT n.id, l.value FROM json_each(?) AS j JOIN notes AS n ON n.id = j.value"
        " JOIN links AS l ON l.note = n.rowid"
        f" WHERE l.field IN ({schema.RELATES}, {schema.CONFLICT_OF}) AND l.value{_AMONG}",
        (dumps(sorted(ids)), dumps(sorted(ids))),
    ).fetchall()


def _groups(branches: Iterable[set[str]], pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The branches, those as one that share a note or are joined by a pair."""
    first: dict[str, str] = {}

    def top(id_: str) -> str:
        while first[id_] != id_:
            first[id_] = id_ = first[first[id_]]
        return id_

    def join(ids: Iterable[str]) -> None:
        one, *others = ids
        for other in others:
            first[top(other)] = top(one)

    branches = list(branches)
    first.update({id_: id_ for branch in branches for id_ in branch})
    for ids in (*branches, *(pair for pair in pairs if first.keys() >= set(pair))):
        join(ids)
    groups: dict[str, set[str]] = defaultdict(set)
    for id_ in first:
        groups[top(id_)].add(id_)
    return list(groups.values())


def _rings(conn: sqlite3.Connection) -> list[set[str]]:
    """Notes that are closed by each other: two people kept different ones, and now none of them stands."""
    after = dict(
        conn.execute(
            "SELECT n.id, l.value FROM links AS l JOIN notes AS n ON n.rowid = l.note"
            " WHERE l.field = ? AND n.status = 'superseded' ORDER BY n.id",
            (schema.SUPERSEDED_BY,),
        ).fetchall()
    )
    found: list[set[str]] = []
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        at = start
        while at in after and at not in done:
            done.add(at)
            path.append(at)
            at = after[at]
        if at in path:
            ring = set(path[path.index(at) :])
            found += [ring] if len(ring) > 1 else []
    return found


def _replaced(conn: sqlite3.Connection, ids: Iterable[str]) -> dict[str, set[str]]:
    """What each of these notes says that it supersedes."""
    found: dict[str, set[str]] = defaultdict(set)
    for id_, about in conn.execute(
        f"SELECT n.id, l.value FROM links AS l JOIN notes AS n ON n.rowid = l.note WHERE l.field = ? AND n.id{_AMONG}",
        (schema.SUPERSEDES, *_listed(ids)),
    ):
        found[id_].add(about)
    return found


def _closed_by(conn: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """The notes that say they were superseded by one of these."""
    rows = conn.execute(
        f"SELECT n.id FROM links AS l JOIN notes AS n ON n.rowid = l.note WHERE l.field = ? AND l.value{_AMONG}",
        (schema.SUPERSEDED_BY, *_listed(ids)),
    )
    return {id_ for (id_,) in rows}


def _rivals(conn: sqlite3.Connection, field: int, among: set[str] | None) -> dict[str, set[str]]:
    """For each id, the ids of the notes that still stand and name it in this field."""
    scope = "" if among is None else f" AND l.value{_AMONG}"
    found: dict[str, set[str]] = defaultdict(set)
    for about, id_ in conn.execute(
        "SELECT l.value, n.id FROM links AS l JOIN notes AS n ON n.rowid = l.note"
        f" WHERE l.field = ?{scope} AND {_STANDING} AND n.id <> l.value",
        (field, *_listed(among)),
    ):
        found[about].add(id_)
    return found


def _listed(ids: Iterable[str] | None) -> tuple[str, ...]:
    return () if ids is None else (dumps(sorted(ids)),)
