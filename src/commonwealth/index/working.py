"""Open work records by what they touch: few of many notes, found without reading any of the others."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from json import dumps

from commonwealth.index import filters, lookup, schema
from commonwealth.index.values import folded
from commonwealth.model import WORK_STATUSES, NoteFile

OPEN = WORK_STATUSES[:3]

MOST = 2_000
"""So many open records of one repository are read at once, those that were changed last."""


def commits(conn: sqlite3.Connection) -> tuple[str, ...]:
    """The commits of code repositories that open work records began at."""
    with schema.snapshot(conn):
        rows = conn.execute("SELECT DISTINCT value FROM links WHERE field = ?", (schema.WORK_COMMIT,))
        return tuple(commit for (commit,) in rows)


def of_repository(conn: sqlite3.Connection, name: str) -> tuple[NoteFile, ...]:
    """The open work records of the repository that `name` means, what was changed last first; at most MOST."""
    with schema.snapshot(conn):
        condition, arguments = filters.on("w.rowid", [filters.of_repository(conn, name)])
        rows = conn.execute(
            "SELECT w.rowid FROM notes AS w WHERE w.kind = 'work-state' AND w.status IN (?, ?, ?)"
            f"{condition} ORDER BY w.updated DESC, w.id LIMIT ?",
            (*OPEN, *arguments, MOST),
        )
        return tuple(lookup.stored(conn, [rowid for (rowid,) in rows]).values())


def touching(
    conn: sqlite3.Connection, touches: Callable[[str, str | None], bool], components: Iterable[str]
) -> tuple[NoteFile, ...]:
    """The open work records with a path (in lower case) that `touches` takes, beside the commit that the record began
    at, or with one of these components."""
    with schema.snapshot(conn):
        began = dict(conn.execute("SELECT note, value FROM links WHERE field = ?", (schema.WORK_COMMIT,)))
        rows: set[int] = set()
        for path, note in conn.execute("SELECT value, note FROM links WHERE field = ?", (schema.WORK_FILE,)):
            if note not in rows and touches(path, began.get(note)):
                rows.add(note)
        named = conn.execute(
            "SELECT l.note FROM json_each(?) AS j CROSS JOIN links AS l ON l.field = ? AND l.value = j.value"
            " WHERE l.note IN (SELECT rowid FROM notes WHERE kind = 'work-state' AND status IN (?, ?, ?))",
            (dumps([folded(name) for name in components]), schema.COMPONENT, *OPEN),
        )
        rows.update(note for (note,) in named)
        return tuple(lookup.stored(conn, sorted(rows)).values())
