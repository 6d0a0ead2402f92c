"""What changed, row by row: the cost follows the change and not the brain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps

from commonwealth.faults import fault
from commonwealth.index import rows, schema
from commonwealth.index.rows import Entry, Prepared
from commonwealth.index.values import storable
from commonwealth.model import NoteFile


@dataclass(frozen=True, slots=True)
class Applied:
    """How many files got new rows, kept theirs (only size or time differed), or lost them."""

    written: int = 0
    touched: int = 0
    removed: int = 0


def apply(
    conn: sqlite3.Connection,
    upserts: Iterable[NoteFile | Entry] = (),
    removed_paths: Iterable[str] = (),
    state: Mapping[str, str] | None = None,
) -> Applied:
    """Bring the index up to these files and without those paths, in one transaction with `state`.

    A file with problems is an `Entry` that names them; without a note it has no other rows. Paths that are not
    there are skipped. Raises Busy when another writer does not finish in time, Unusable for a damaged index: in
    both cases nothing was changed.
    """
    entries = {made.entry.path: made for made in map(rows.prepare, upserts)}
    gone = {storable(path) for path in removed_paths} - entries.keys()
    with schema.translated(), _transaction(conn):
        affected: set[str] = set()
        removed = 0
        for rowid, _ in _known(conn, gone):
            affected |= rows.erase(conn, rowid)
            removed += 1
        known = {path: rowid for rowid, path in _known(conn, entries)}
        touched = {path for path, rowid in known.items() if _same(conn, rowid, entries[path])}
        for path in touched:
            conn.execute(
                "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
                (entries[path].entry.size, entries[path].entry.mtime_ns, known[path]),
            )
        fresh = entries.keys() - touched
        for path in fresh & known.keys():
            affected |= rows.erase(conn, known[path])
        affected |= rows.insert(conn, _numbered(conn, [entries[path] for path in sorted(fresh)], known))
        if affected:
            rows.close(conn, affected)
        if state:
            schema.put_state(conn, state)
        fault("index-update")
    return Applied(len(fresh), len(touched), removed)


def _known(conn: sqlite3.Connection, paths: Iterable[str]) -> list[tuple[int, str]]:
    found = (conn.execute("SELECT id, path FROM files WHERE path = ?", (path,)).fetchone() for path in sorted(paths))
    return [row for row in found if row is not None]


def _same(conn: sqlite3.Connection, rowid: int, made: Prepared) -> bool:
    """Whether the rows of a file say already what it says now."""
    problems = conn.execute("SELECT line, cause, fatal FROM problems WHERE file = ?", (rowid,))
    if {tuple(row) for row in problems} != {(p.line, p.cause, int(p.fatal)) for p in made.entry.problems}:
        return False
    row = conn.execute("SELECT rest, body, checksum FROM texts WHERE rowid = ?", (rowid,)).fetchone()
    return bool(row == made.packed)


def _numbered(
    conn: sqlite3.Connection, entries: Iterable[Prepared], known: Mapping[str, int]
) -> Iterator[tuple[int, Prepared]]:
    last: int = conn.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0]
    last = max([last, *known.values()])
    for made in entries:
        if made.entry.path in known:
            yield known[made.entry.path], made
        else:
            last += 1
            yield last, made


@contextmanager
def _transaction(conn: sqlite3.Connection) -> Iterator[None]:
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if conn.in_transaction:  # SQLite has rolled back by itself when the disk is full or failing
            conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


def files(conn: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Size and modification time (ns) of every file, as they were when it was read."""
    with schema.translated():
        return {path: (size, mtime) for path, size, mtime in conn.execute("SELECT path, size, mtime_ns FROM files")}


def files_in(conn: sqlite3.Connection, folder: str) -> dict[str, tuple[int, int]]:
    """As `files`, for what lies directly in one folder."""
    prefix = storable(folder) + "/"
    with schema.translated():
        rows = conn.execute(
            "SELECT path, size, mtime_ns FROM files WHERE path >= ? AND path < ?", (prefix, prefix[:-1] + "0")
        )
        return {path: (size, mtime) for path, size, mtime in rows if "/" not in path[len(prefix) :]}


def stamps(conn: sqlite3.Connection, paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """As `files`, for some paths; one that is not indexed is left out."""
    with schema.translated():
        rows = conn.execute(
            "SELECT f.path, f.size, f.mtime_ns FROM json_each(?) AS j CROSS JOIN files AS f ON f.path = j.value",
            (dumps([storable(path) for path in paths]),),
        )
        return {path: (size, mtime) for path, size, mtime in rows}
