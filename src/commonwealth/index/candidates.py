"""Rows that may bear on a session: few of many, by words, files, components or importance, each only if it is true now
and of the session's repository. Nothing here reads more rows for a larger brain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from json import dumps

from commonwealth.index import schema
from commonwealth.index.values import clean_path, folded, key, repository, reversed_path, stamp
from commonwealth.index.words import quoted, tokens
from commonwealth.model import same_repository

MOST = 400
"""So many rows of one file, folder or component are looked at."""

_KINDS = "'memory', 'decision'"


def size(conn: sqlite3.Connection) -> int:
    """About how many files the index holds: never fewer, and told without counting."""
    return int(conn.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0])


def here(conn: sqlite3.Connection, rows: Iterable[int], name: str | None, now: str, hidden: Iterable[str]) -> list[int]:
    """Those of the rows that are notes and decisions, true at `now` (as `filters` has it), of the repository that
    `name` means or of none, and of no hidden scope; in their order."""
    at = stamp(now)
    found = conn.execute(
        "SELECT n.rowid FROM json_each(?) AS j CROSS JOIN notes AS n ON n.rowid = j.value"
        f" WHERE n.kind IN ({_KINDS}) AND n.status <> 'retracted'"
        " AND NOT (n.status = 'superseded' AND coalesce(n.until, n.closed) IS NULL)"
        " AND (n.until IS NULL OR n.until > ?) AND (n.closed IS NULL OR n.closed > ?)"
        " AND (n.starts IS NULL OR n.starts <= ?)"
        f" AND ({_of_repository(conn)})"
        f" AND NOT EXISTS (SELECT 1 FROM links WHERE field = {schema.SCOPE} AND value IN"
        " (SELECT value FROM json_each(?)) AND note = n.rowid)",
        (dumps(list(dict.fromkeys(rows))), at, at, at, dumps(repositories(conn, name)), dumps(list(hidden))),
    )
    return [row for (row,) in found]


def _of_repository(conn: sqlite3.Connection) -> str:
    return (
        f"EXISTS (SELECT 1 FROM links WHERE field = {schema.REPOSITORY} AND value IN (SELECT value FROM json_each(?))"
        " AND note = n.rowid)"
        # Of a note without any repository nobody can say that it is of another one.
        f" OR NOT EXISTS (SELECT 1 FROM json_each({_dumped(all_repositories(conn))}) AS r CROSS JOIN links AS l"
        f" ON l.field = {schema.REPOSITORY} AND l.value = r.value AND l.note = n.rowid)"
    )


def _dumped(names: Sequence[str]) -> str:
    return "'" + dumps(list(names)).replace("'", "''") + "'"


def all_repositories(conn: sqlite3.Connection) -> list[str]:
    """The repositories that notes name: there are few, so each is met by one step in the table."""
    found: list[str] = []
    at = ""
    while True:
        sql = "SELECT min(value) FROM links WHERE field = ? AND value > ?"
        at = conn.execute(sql, (schema.REPOSITORY, at)).fetchone()[0]
        if at is None:
            return found
        found.append(at)


def repositories(conn: sqlite3.Connection, name: str | None) -> list[str]:
    """The stored repositories that `name` means."""
    if name is None:
        return []
    wanted = repository(name)
    return [value for value in all_repositories(conn) if same_repository(value, wanted)]


def named(conn: sqlite3.Connection, field: int, values: Iterable[str]) -> list[int]:
    """The rows that bear any of these values in a field of `links`."""
    return [
        row
        for (row,) in conn.execute(
            "SELECT l.note FROM json_each(?) AS j CROSS JOIN links AS l ON l.field = ? AND l.value = j.value LIMIT ?",
            (dumps(list(dict.fromkeys(values))), field, MOST),
        )
    ]


def of_components(conn: sqlite3.Connection, names: Iterable[str]) -> list[int]:
    """The rows of notes about these components, whichever sign stands between the words of a name."""
    made = [folded(name) for name in names]
    return named(conn, schema.COMPONENT, [name.replace("-", sign) for name in made for sign in "-_ "])


_TURNED_DOWN = " OR ".join(
    f'"{word}"' for word in ("instead", "rather", "never", "avoid", "banned", "forbidden", "rejected", "deprecated",
    "replaced", "removed", "dropped", "alternatives", "considered", "over", "longer")
)  # fmt: skip


def speaking_of(conn: sqlite3.Connection, words: Iterable[str]) -> list[int]:
    """Some rows that may speak against any of these words, however common the words are: those whose title has one
    first, then those that have one and a word of turning down."""
    match = " OR ".join(quoted(*found) for word in sorted(words)[:8] if (found := tokens(word)))
    if not match:
        return []
    sql = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
    asked = (f"title : ({match})", f"({match}) AND ({_TURNED_DOWN})")
    return list(dict.fromkeys(row for one in asked for (row,) in conn.execute(sql, (one, MOST))))


def of_file(conn: sqlite3.Connection, path: str) -> list[int]:
    """The rows of notes that may name this file of a repository: by its path, by the end of its path, by a folder or a
    pattern above it, or by a file beside it. Which of them do is for `overlaps` to say."""
    path = clean_path(path)
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts))]
    ends = ["/".join(parts[start:]) for start in range(1, len(parts))]
    found = named(conn, schema.FILE, [path, *ends, *above])
    found += _between(conn, schema.FILE_REVERSED, reversed_path(path) + "/")
    for start in ("", *(f"{folder}/" for folder in above)):
        found += _between(conn, schema.FILE, f"{start}*")
    if above:
        found += _between(conn, schema.FILE, f"{above[-1]}/")
    return list(dict.fromkeys(found))


def below(conn: sqlite3.Connection, folder: str) -> list[int]:
    """The rows of notes that name a file in this folder."""
    return _between(conn, schema.FILE, clean_path(folder) + "/")


def of_ids(conn: sqlite3.Connection, ids: Iterable[str]) -> list[int]:
    """The rows of the notes with these ids."""
    wanted = dumps([key(id_) for id_ in sorted(ids)])
    sql = "SELECT n.rowid FROM json_each(?) AS j CROSS JOIN notes AS n ON n.id = j.value LIMIT ?"
    return [row for (row,) in conn.execute(sql, (wanted, MOST))]


def _between(conn: sqlite3.Connection, field: int, start: str) -> list[int]:
    """The rows with a value that begins so."""
    return [
        row
        for (row,) in conn.execute(
            "SELECT note FROM links WHERE field = ? AND value >= ? AND value < ? LIMIT ?",
            (field, start, start[:-1] + chr(ord(start[-1]) + 1), MOST),
        )
    ]


def latest(conn: sqlite3.Connection, name: str, most: int, types: Sequence[str] = ()) -> list[int]:
    """Rows of notes of a repository, what was changed last first, at most `most`; of these types alone if any are
    given. In a brain that is mostly about others, of so many of its own as a bounded look finds."""
    mine = dumps(repositories(conn, name))
    kind = f"n.kind IN ({_KINDS}) AND (?1 = '[]' OR n.type IN (SELECT value FROM json_each(?1)))"
    own = conn.execute(
        "SELECT l.note FROM json_each(?) AS j CROSS JOIN links AS l ON l.field = ? AND l.value = j.value LIMIT ?",
        (mine, schema.REPOSITORY, _SCANNED + 1),
    ).fetchall()
    if len(own) <= _SCANNED:
        rows = conn.execute(
            f"SELECT n.rowid FROM json_each(?2) AS j CROSS JOIN notes AS n ON n.rowid = j.value WHERE {kind}"
            " ORDER BY n.updated DESC, n.id LIMIT ?3",
            (dumps(list(types)), dumps([row for (row,) in own]), most),
        )
    else:
        rows = conn.execute(
            f"SELECT n.rowid FROM (SELECT rowid, id, kind, type, updated FROM notes ORDER BY updated DESC, id LIMIT ?2)"
            f" AS n WHERE {kind} AND EXISTS (SELECT 1 FROM links WHERE field = {schema.REPOSITORY} AND value IN"
            " (SELECT value FROM json_each(?3)) AND note = n.rowid) LIMIT ?4",
            (dumps(list(types)), 4 * _SCANNED, mine, most),
        )
    return [row for (row,) in rows]


_SCANNED = 3_000
"""Rows of one repository that are read to find the latest; of more, the whole brain's latest are looked through."""
