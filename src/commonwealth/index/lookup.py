"""Notes by what they are called: id, title, and what links to them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from json import dumps

from commonwealth.index import schema
from commonwealth.index.packing import proven
from commonwealth.index.schema import Unusable
from commonwealth.index.values import key, storable, title_key
from commonwealth.index.words import fold
from commonwealth.model import NoteFile, Problem

AMBIGUOUS = 20
"""How many notes are named at most when a shortened id means several."""

RELATIONS = {
    schema.SUPERSEDES: "supersedes",
    schema.RELATES: "relates",
    schema.WIKILINK: "wikilink",
    schema.SUPERSEDED_BY: "superseded_by",
    schema.CONFLICT_OF: "conflict_of",
}

_SHORT = re.compile(r"[0-9a-z]{8,16}")


def get(conn: sqlite3.Connection, id_: str) -> tuple[NoteFile, ...]:
    """The notes that an id means: those with exactly this id, else with this short id, else beginning with it.

    One note: found. None: unknown. Several: ambiguous (or several files carry one id); at most `AMBIGUOUS`.
    """
    with schema.snapshot(conn):
        return tuple(stored(conn, named(conn, id_)).values())


def of_id(conn: sqlite3.Connection, id_: str) -> tuple[NoteFile, ...]:
    """The notes with exactly this id; several where several files carry it, at most `AMBIGUOUS`."""
    with schema.snapshot(conn):
        return tuple(stored(conn, _rows(conn, "id = ?", key(id_))).values())


def named(conn: sqlite3.Connection, id_: str) -> list[int]:
    """The rows that an id, a short id or the beginning of an id means (see `get`), in order of their ids."""
    wanted = key(id_)
    return exactly(conn, wanted) or (_rows(conn, "id > ? AND id < ?", wanted, wanted + "\U0010ffff") if wanted else [])


def exactly(conn: sqlite3.Connection, id_: str) -> list[int]:
    """The rows with this id, else with this short id."""
    wanted = key(id_)
    found = _rows(conn, "id = ?", wanted)
    return found or (_rows(conn, "short = ?", wanted) if _SHORT.fullmatch(wanted) else [])


def titled(conn: sqlite3.Connection, title: str) -> list[int]:
    """The rows of notes with this very title; case and spacing are ignored."""
    rows = _rows(conn, "title_key = ?", title_key(title))
    return [rowid for rowid, file in stored(conn, rows).items() if fold(file.note.title) == fold(title)]


def _rows(conn: sqlite3.Connection, condition: str, *arguments: object) -> list[int]:
    sql = f"SELECT rowid FROM notes WHERE {condition} ORDER BY id LIMIT {AMBIGUOUS}"
    return [rowid for (rowid,) in conn.execute(sql, arguments)]


def stored(conn: sqlite3.Connection, rows: Sequence[int]) -> dict[int, NoteFile]:
    """Every row as it was handed in, in this order. Raises Unusable where one is missing or damaged."""
    found = {
        rowid: NoteFile(proven(rest, body, checksum), path, size, mtime)
        for rowid, rest, body, checksum, path, size, mtime in conn.execute(
            "SELECT t.rowid, t.rest, t.body, t.checksum, f.path, f.size, f.mtime_ns FROM json_each(?) AS j"
            " CROSS JOIN texts AS t ON t.rowid = j.value JOIN files AS f ON f.id = t.rowid",
            (dumps(rows),),
        )
    }
    if missing := [rowid for rowid in rows if rowid not in found]:
        raise Unusable(f"row {missing[0]} is named but not there")
    return {rowid: found[rowid] for rowid in rows}


def at_paths(conn: sqlite3.Connection, paths: Iterable[str]) -> tuple[NoteFile, ...]:
    """The notes at these paths; a path without one is left out."""
    with schema.snapshot(conn):
        rows = conn.execute(
            "SELECT t.rowid FROM json_each(?) AS j CROSS JOIN files AS f ON f.path = j.value"
            " JOIN texts AS t ON t.rowid = f.id",
            (dumps([storable(path) for path in paths]),),
        ).fetchall()
        return tuple(stored(conn, [rowid for (rowid,) in rows]).values())


def by_title(conn: sqlite3.Connection, title: str) -> tuple[NoteFile, ...]:
    """Notes with this very title; case and spacing are ignored."""
    with schema.snapshot(conn):
        return tuple(stored(conn, titled(conn, title)).values())


def backlinks(conn: sqlite3.Connection, id_: str) -> tuple[tuple[str, NoteFile], ...]:
    """What links to this id, as (relation, note), by relation and id."""
    with schema.snapshot(conn):
        rows = conn.execute(
            "SELECT l.field, l.note FROM json_each(?) AS j CROSS JOIN links AS l ON l.field = j.value AND l.value = ?"
            " JOIN notes AS n ON n.rowid = l.note ORDER BY l.field, n.id",
            (dumps(list(RELATIONS)), key(id_)),
        ).fetchall()
        files = stored(conn, list({note: None for _, note in rows}))
    return tuple((RELATIONS[field], files[note]) for field, note in rows)


def counts(conn: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """How many notes there are of each (kind, status)."""
    with schema.translated():
        rows = conn.execute("SELECT kind, status, count(*) FROM notes GROUP BY kind, status")
        return {(kind, status): number for kind, status, number in rows}


def problems(conn: sqlite3.Connection) -> tuple[Problem, ...]:
    """What is wrong with the files of the brain, by path and line."""
    with schema.translated():
        return tuple(_problems(conn))


def _problems(conn: sqlite3.Connection) -> Iterator[Problem]:
    for path, line, cause, fatal in conn.execute(
        "SELECT f.path, p.line, p.cause, p.fatal FROM problems AS p JOIN files AS f ON f.id = p.file"
        " ORDER BY f.path, p.line, p.cause"
    ):
        yield Problem(path, line, cause, bool(fatal))
