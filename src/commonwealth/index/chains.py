"""Where the notes of a chain of replacements lie: what is replaced, and what replaces it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from json import dumps

from commonwealth.index import schema
from commonwealth.index.values import key


def around(conn: sqlite3.Connection, ids: Iterable[str]) -> tuple[str, ...]:
    """The paths of the notes with these ids, and of those that say that they supersede one of them."""
    wanted = dumps(sorted(set(map(key, ids))))
    rows = conn.execute(
        "SELECT f.path FROM json_each(?) AS j JOIN notes AS n ON n.id = j.value JOIN files AS f ON f.id = n.rowid"
        " UNION SELECT f.path FROM json_each(?) AS j JOIN links AS l ON l.field = ? AND l.value = j.value"
        " JOIN files AS f ON f.id = l.note",
        (wanted, wanted, schema.SUPERSEDES),
    )
    return tuple(sorted(path for (path,) in rows))
