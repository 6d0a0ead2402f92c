"""What the doctor asks of an index."""

from __future__ import annotations

import sqlite3

from commonwealth.index import schema


def doubled_ids(conn: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Every id that several files carry, with their paths."""
    with schema.translated():
        rows = conn.execute(
            "SELECT n.id, f.path FROM notes AS n JOIN files AS f ON f.id = n.rowid"
            " WHERE n.id IN (SELECT id FROM notes GROUP BY id HAVING count(*) > 1) ORDER BY n.id, f.path"
        ).fetchall()
    found: dict[str, tuple[str, ...]] = {}
    for note_id, path in rows:
        found[note_id] = (*found.get(note_id, ()), path)
    return found


def file_count(conn: sqlite3.Connection) -> int:
    """How many files the index knows, readable or not."""
    with schema.translated():
        return int(conn.execute("SELECT count(*) FROM files").fetchone()[0])


def damage(conn: sqlite3.Connection) -> str | None:
    """What a full check of pages and postings finds, or None; needs a connection that may write, and writes nothing.

    Searching notices most damage by itself; this reads the whole file, some 20 MB for 10,000 notes.
    """
    try:
        with schema.translated():
            said: str = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
            conn.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    except schema.Unusable as error:
        return error.message
    return None if said == "ok" else said
