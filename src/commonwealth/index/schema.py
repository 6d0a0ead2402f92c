"""Where an index lies, what its tables are, and how a connection to it is opened.

Every full build is a generation of its own, `brain-<n>.db`; the small file `current` names the one in use and is
replaced by an atomic rename. A database is never replaced in place: beside a write-ahead log that an earlier
process left behind, a new file under an old name answers with the old rows.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from zlib import crc32

from commonwealth import atomic
from commonwealth.errors import Busy, Damaged
from commonwealth.faults import fault
from commonwealth.model import Note, Provenance

REVISION = 2
"""Raised by hand with every change of what `words` or `values` make of a note."""

APPLICATION_ID = 0x42524E31
POINTER = "current"
BUSY_MS = 5000
PAGE = 8192
COMPANIONS = ("-wal", "-shm", "-journal")

_GENERATION = re.compile(r"brain-(\d{1,18})\.db")
_ABANDONED_AFTER = 600.0

# What a row of `links` holds in `value` (all but paths folded): its `field` is one of these.
COMPONENT, TAG, FILE, FILE_REVERSED, PERSON, AGENT, REPOSITORY = 1, 2, 3, 4, 5, 6, 7
SUPERSEDES, RELATES, WIKILINK, SUPERSEDED_BY, CONFLICT_OF = 11, 12, 13, 14, 15
SCOPE, BRANCH = 21, 22
WORK_FILE, WORK_COMMIT = 31, 32

# A note's rowid is its file's. `notes` is narrow, so that a filter reads few pages; `texts` is read for hits only.
TABLES = """
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL);
CREATE TABLE problems (
    file INTEGER NOT NULL, line INTEGER NOT NULL, cause TEXT NOT NULL, fatal INTEGER NOT NULL,
    PRIMARY KEY (file, line, cause)
) WITHOUT ROWID;
CREATE TABLE notes (
    rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, short TEXT, kind TEXT NOT NULL, type TEXT NOT NULL,
    status TEXT NOT NULL, confidence TEXT NOT NULL, title_key INTEGER NOT NULL,
    created INTEGER, observed INTEGER, updated INTEGER, starts INTEGER, until INTEGER,
    closed INTEGER
);
CREATE TABLE texts (rowid INTEGER PRIMARY KEY, rest TEXT NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE links (
    field INTEGER NOT NULL, value TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (field, value, note)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(
    title, body, parts, content = '',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);
"""

# Made after the rows of a full build, which is cheaper than keeping them up meanwhile.
INDEXES = """
CREATE UNIQUE INDEX files_path ON files (path);
CREATE INDEX notes_id ON notes (id);
CREATE INDEX notes_short ON notes (short) WHERE short IS NOT NULL;
CREATE INDEX notes_title ON notes (title_key);
CREATE INDEX notes_updated ON notes (updated);
CREATE INDEX notes_shut ON notes (status, until, closed) WHERE status IN ('superseded', 'retracted');
CREATE INDEX notes_work ON notes (status) WHERE kind = 'work-state';
CREATE INDEX notes_until ON notes (until) WHERE until IS NOT NULL;
CREATE INDEX notes_closed ON notes (closed) WHERE closed IS NOT NULL;
CREATE INDEX notes_starts ON notes (starts) WHERE starts IS NOT NULL;
"""


NOTE_FIELDS = tuple(field.name for field in fields(Note) if field.name != "body")
PROVENANCE_FIELDS = tuple(field.name for field in fields(Provenance))

SCHEMA = crc32(repr((REVISION, TABLES, INDEXES, NOTE_FIELDS, PROVENANCE_FIELDS)).encode()) & 0x7FFFFFFF
"""Tells an index of this version from any other: it covers the tables and the fields of a stored note."""


class Unusable(Damaged):
    """The index is missing, damaged or of another schema. Whoever sees this rebuilds it and asks again."""

    def __init__(self, what: str) -> None:
        super().__init__(f"The search index cannot be used: {what}.", hint="Run `brain rebuild-index`.")


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors into ours: `Busy` when another process holds the index too long, else `Unusable`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a closed connection or a wrong binding is our bug and no damage
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Busy(
                f"The search index is in use by another process ({error}).", hint="Try again in a moment."
            ) from error
        raise Unusable(str(error)) from error


def current(index_dir: Path) -> Path | None:
    """The generation in use, or None where there is none."""
    pointer = index_dir / POINTER
    try:
        if not _is_regular(pointer):
            return None
        name = pointer.read_text(encoding="utf-8").strip()
        path = index_dir / name
        return path if _GENERATION.fullmatch(name) and _is_regular(path) else None
    except (OSError, ValueError):
        return None


def _is_regular(path: Path) -> bool:
    """Whether `path` is a file: to open a pipe would wait for its other end."""
    return stat.S_ISREG(path.stat().st_mode)


def claim(index_dir: Path) -> Path:
    """A new, empty generation file, newer than every other in the folder."""
    index_dir.mkdir(parents=True, exist_ok=True)
    numbers = [number for number, _ in _generations(index_dir)]
    # Without a predecessor the number is random: a process that still holds a generation of a folder that was
    # deleted must not take the first one of the new folder for its own.
    number = max(numbers) if numbers else int.from_bytes(os.urandom(4), "big")
    while True:
        number += 1
        path = index_dir / f"brain-{number}.db"
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path


def publish(path: Path) -> None:
    """Make the complete generation at `path` the current one, and remove what it replaces."""
    _flush(path)
    atomic.replace(path.with_name(POINTER), f"{path.name}\n".encode())
    fault("index-switched")
    _sweep(path)
    fault("index-swept")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(keep: Path) -> None:
    """Remove older generations, and what killed builds left behind: newer ones after some time, pointers at once."""
    newest = keep.stat().st_mtime
    for name in filter(atomic.TEMPORARY.fullmatch, os.listdir(keep.parent)):  # one builder at a time writes here
        with suppress(OSError):
            keep.with_name(name).unlink()
    kept = int(keep.stem.rpartition("-")[2])
    for number, path in _generations(keep.parent):
        with suppress(OSError):
            if number < kept or (number > kept and path.stat().st_mtime < newest - _ABANDONED_AFTER):
                discard(path)


def discard(path: Path) -> None:
    """Remove one generation and its companions, as far as the system lets us."""
    for name in (path, *(path.with_name(path.name + tail) for tail in COMPANIONS)):
        with suppress(OSError):
            name.unlink()


def _generations(index_dir: Path) -> list[tuple[int, Path]]:
    found = (_GENERATION.fullmatch(name) for name in os.listdir(index_dir))
    return [(int(match[1]), index_dir / match[0]) for match in found if match]


def connect(index_dir: Path, *, read_only: bool = True) -> sqlite3.Connection:
    """A connection to the current generation.

    A read-only one writes nothing, waits for nobody and works in a folder that cannot be written.
    Raises Unusable where there is no index, or one that is damaged or of another schema.
    """
    path = current(index_dir)
    if path is None:
        raise Unusable(f"there is none in {index_dir}")
    _refuse_pipes(path)
    with translated():
        try:
            return _checked(_open(path, "mode=ro" if read_only else "mode=rw"))
        except sqlite3.OperationalError as error:
            refused = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not (read_only and refused) or _has_log(path):
                raise
            # A write-ahead log needs a writable folder even to read; without a log the file alone is the truth.
            return _checked(_open(path, "mode=ro&immutable=1"))


def _refuse_pipes(path: Path) -> None:
    for tail in COMPANIONS:
        companion = path.with_name(path.name + tail)
        with suppress(FileNotFoundError):
            if stat.S_ISFIFO(companion.stat().st_mode):
                raise Unusable(f"{companion} is a pipe")


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _open(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, isolation_level=None)


def _checked(conn: sqlite3.Connection) -> sqlite3.Connection:
    try:
        conn.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        conn.execute("PRAGMA cell_size_check = ON")
        _prove(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def _prove(conn: sqlite3.Connection) -> None:
    found = [conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found != [APPLICATION_ID, SCHEMA]:
        raise Unusable(f"it was made by another version (schema {found[1]}, not {SCHEMA})")
    conn.execute("SELECT value FROM state WHERE key = ''").fetchone()


@contextmanager
def snapshot(conn: sqlite3.Connection) -> Iterator[None]:
    """Let every statement inside see one state of the index, and translate SQLite's errors."""
    with translated():
        outer = conn.in_transaction
        if not outer:
            conn.execute("BEGIN")
        try:
            yield
        finally:
            if not outer and conn.in_transaction:
                conn.execute("ROLLBACK")


def get_state(conn: sqlite3.Connection) -> dict[str, str]:
    """What the callers noted about the brain that this index was made from."""
    with translated():
        return dict(conn.execute("SELECT key, value FROM state"))


def put_state(conn: sqlite3.Connection, state: Mapping[str, str]) -> None:
    """Set the given keys, within the transaction of the caller if there is one."""
    with translated():
        conn.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", state.items())
