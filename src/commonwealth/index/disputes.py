"""Conflicts as the notes themselves state them: siblings of one note, and rival replacements of one note."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps

from commonwealth.index import schema
from commonwealth.index.values import key
from commonwealth.model import CLOSED_STATUSES, Note

_STANDING = "n.status NOT IN ('superseded', 'retracted') AND n.closed IS NULL"


@dataclass(frozen=True, slots=True)
class Dispute:
    """`about` is the id in question; `rivals` the ids that cannot all stand; `cause` is version or replacement."""

    cause: str
    about: str
    rivals: tuple[str, ...]


def disputes(conn: sqlite3.Connection) -> tuple[Dispute, ...]:
    """Every conflict in the brain, the same list wherever the same notes are."""
    with schema.snapshot(conn):
        versions = _rivals(conn, schema.CONFLICT_OF, None)
        replacements = _rivals(conn, schema.SUPERSEDES, None)
    found = [Dispute("version", about, (about, *sorted(ids))) for about, ids in versions.items()]
    found += [Dispute("replacement", about, tuple(sorted(ids))) for about, ids in replacements.items() if len(ids) > 1]
    return tuple(sorted(found, key=lambda dispute: (dispute.about, dispute.cause)))


def disputed(conn: sqlite3.Connection, notes: Mapping[int, Note]) -> set[int]:
    """Which of these rows are party to a conflict."""
    if not notes:
        return set()
    ids = {rowid: key(note.id) for rowid, note in notes.items()}
    versions = _rivals(conn, schema.CONFLICT_OF, dumps(sorted(set(ids.values()))))
    siblings = {rowid for rowid, note in notes.items() if note.conflict_of and note.status not in CLOSED_STATUSES}
    found = siblings | {rowid for rowid, id_ in ids.items() if id_ in versions}
    replaced = {key(about) for note in notes.values() for about in note.supersedes}
    if replaced:
        rivals = _rivals(conn, schema.SUPERSEDES, dumps(sorted(replaced)))
        parties = {id_ for about in rivals.values() if len(about) > 1 for id_ in about}
        found |= {rowid for rowid, id_ in ids.items() if id_ in parties}
    return found


def _rivals(conn: sqlite3.Connection, field: int, among: str | None) -> dict[str, set[str]]:
    """For each id, the ids of the notes that still stand and name it in this field."""
    scope = "" if among is None else " AND l.value IN (SELECT value FROM json_each(?))"
    found: dict[str, set[str]] = defaultdict(set)
    for about, id_ in conn.execute(
        "SELECT l.value, n.id FROM links AS l JOIN notes AS n ON n.rowid = l.note"
        f" WHERE l.field = ?{scope} AND {_STANDING} AND n.id <> l.value",
        (field,) if among is None else (field, among),
    ):
        found[about].add(id_)
    return found
