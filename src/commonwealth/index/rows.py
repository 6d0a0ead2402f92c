"""One file of a brain as rows: the only place that writes them, for a full build and for a change alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from json import dumps

from commonwealth.index import schema
from commonwealth.index.packing import pack, proven
from commonwealth.index.values import key, links, short_id, stamp, storable, title_key
from commonwealth.index.words import parts, searchable
from commonwealth.model import Note, NoteFile, Problem


@dataclass(frozen=True, slots=True)
class Entry:
    """One file as the index takes it: its note, if it could be read, and what is wrong with it."""

    path: str
    size: int
    mtime_ns: int
    note: Note | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry that can be stored: `packed` is its note as a row of `texts`, without the rowid."""

    entry: Entry
    note: Note | None
    packed: tuple[str, str, int] | None


def prepare(file: NoteFile | Entry) -> Prepared:
    """What is stored for a file. A note with text that is no valid Unicode becomes a problem instead."""
    made = file if isinstance(file, Entry) else Entry(file.path, file.size, file.mtime_ns, file.note)
    if not made.path.isascii():
        made = replace(made, path=storable(made.path))
    if made.note is None:
        return Prepared(made, None, None)
    try:
        return Prepared(made, made.note, pack(made.note))
    except UnicodeEncodeError:
        cause = "it holds half of a surrogate pair, which is no valid Unicode"
        problem = Problem(made.path, 0, cause)
        return Prepared(replace(made, note=None, problems=(*made.problems, problem)), None, None)


def indexed_text(note: Note) -> tuple[str, str, str]:
    """What full-text search sees of a note: title, body with everything else that names it, identifier parts."""
    origin = note.provenance
    named = [*note.tags, *note.components, *origin.files, *note.files]
    named += [text for text in (note.number, origin.issue, origin.pull_request, note.name, note.org, note.role) if text]
    if note.summary and note.summary not in note.body:
        named.append(note.summary)
    told = "\n".join((note.body, *named, *origin.evidence, *([origin.branch] if origin.branch else [])))
    body = "\n".join((told, *origins(note)))
    return searchable(note.title), searchable(body), parts(f"{note.title}\n{told}")


def origins(note: Note) -> list[str]:
    """Who and what a note comes from, as far as its text and the rest do not say so. Commits and sessions are found as
    they stand: the letters and digits between which they change are no words."""
    origin = note.provenance
    people = (note.author, origin.human, origin.agent, origin.repository, note.branch, origin.commit, origin.session)
    return [*dict.fromkeys(text for text in people if text), *origin.urls]


def note_row(rowid: int, note: Note) -> tuple[object, ...]:
    """The row of `notes`, but for `closed`."""
    created = stamp(note.created_at or note.observed_at)
    until = note.valid_until or (note.superseded_at if note.status == "superseded" else None)
    return (
        rowid,
        key(note.id),
        short_id(note.id),
        note.kind,
        note.type,
        note.status,
        note.confidence,
        title_key(note.title),
        created,
        stamp(note.observed_at) or created,
        stamp(note.updated_at) or created,
        stamp(note.valid_from),
        stamp(until),
    )


def insert(conn: sqlite3.Connection, batch: Iterable[tuple[int, Prepared]]) -> set[str]:
    """Write the rows of files that have none yet; returns the ids whose `closed` may have changed."""
    made = list(batch)
    notes = [(rowid, item.note, item.packed) for rowid, item in made if item.note and item.packed]
    linked = [(rowid, links(note)) for rowid, note, _ in notes]
    conn.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?)",
        [(rowid, item.entry.path, item.entry.size, item.entry.mtime_ns) for rowid, item in made],
    )
    conn.executemany(
        "INSERT OR REPLACE INTO problems VALUES (?, ?, ?, ?)",
        [(rowid, p.line, p.cause, p.fatal) for rowid, item in made for p in item.entry.problems],
    )
    conn.executemany(
        f"INSERT INTO notes VALUES ({'?, ' * 13}NULL)", [note_row(rowid, note) for rowid, note, _ in notes]
    )
    conn.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", [(rowid, *packed) for rowid, _, packed in notes])
    conn.executemany(
        "INSERT INTO links VALUES (?, ?, ?)",
        [(field, value, rowid) for rowid, values in linked for field, value in values],
    )
    conn.executemany(
        "INSERT INTO words (rowid, title, body, parts) VALUES (?, ?, ?, ?)",
        [(rowid, *indexed_text(note)) for rowid, note, _ in notes],
    )
    return {key(note.id) for _, note, _ in notes} | _replaced(values for _, values in linked)


def _replaced(found: Iterable[set[tuple[int, str]]]) -> set[str]:
    return {value for values in found for field, value in values if field == schema.SUPERSEDES}


def erase(conn: sqlite3.Connection, rowid: int) -> set[str]:
    """Remove every row of one file; returns the ids whose `closed` may have changed."""
    conn.execute("DELETE FROM files WHERE id = ?", (rowid,))
    conn.execute("DELETE FROM problems WHERE file = ?", (rowid,))
    row = conn.execute("SELECT rest, body, checksum FROM texts WHERE rowid = ?", (rowid,)).fetchone()
    if row is None:
        return set()
    note = proven(*row)
    # A full-text table without a copy of its text must be told exactly what it was given.
    conn.execute(
        "INSERT INTO words (words, rowid, title, body, parts) VALUES ('delete', ?, ?, ?, ?)",
        (rowid, *indexed_text(note)),
    )
    found = links(note)
    conn.executemany(
        "DELETE FROM links WHERE field = ? AND value = ? AND note = ?",
        [(field, value, rowid) for field, value in found],
    )
    conn.execute("DELETE FROM texts WHERE rowid = ?", (rowid,))
    conn.execute("DELETE FROM notes WHERE rowid = ?", (rowid,))
    return {key(note.id)} | _replaced([found])


def close(conn: sqlite3.Connection, ids: Iterable[str] | None) -> None:
    """Set from when on the notes with these ids (None: all) are replaced by others that are not retracted.

    Two notes that replace each other close neither: which of them holds is for a person to say.
    """
    scope = "" if ids is None else " AND x.id IN (SELECT value FROM json_each(?))"
    arguments = () if ids is None else (dumps(sorted(ids)),)
    if ids is not None:
        conn.execute(
            "UPDATE notes SET closed = NULL WHERE closed IS NOT NULL AND id IN (SELECT value FROM json_each(?))",
            arguments,
        )
    pairs = conn.execute(
        "SELECT min(coalesce(r.starts, r.observed, 0)), x.rowid FROM links AS l"
        " JOIN notes AS r ON r.rowid = l.note AND r.status <> 'retracted'"
        " JOIN notes AS x ON x.id = l.value AND x.id <> r.id"
        f" WHERE l.field = {schema.SUPERSEDES}{scope}"
        " AND NOT EXISTS (SELECT 1 FROM links AS back"
        f" WHERE back.field = {schema.SUPERSEDES} AND back.value = r.id AND back.note = x.rowid)"
        " GROUP BY x.rowid",
        arguments,
    ).fetchall()
    conn.executemany("UPDATE notes SET closed = ? WHERE rowid = ?", pairs)
