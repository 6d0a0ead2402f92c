"""The rows of a SQLite memory database, read without a write to it or to its folder.

What is read is a snapshot in a temporary folder. A database without a write-ahead log is copied by SQLite's backup,
under its shared lock; one with a log is copied file by file, as SQLite would leave files of its own beside it.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from commonwealth.errors import Busy, Refused
from commonwealth.flows.import_cells import Cell, Row, normal
from commonwealth.flows.import_roots import Root, surroundings
from commonwealth.flows.import_source import Skipped
from commonwealth.safetext import one_line

MEMORY_TABLES = ("memories", "memory", "memory_records", "notes")
WORK_TABLES = ("work", "work_records", "work_items", "active_work")
MAX_FIELD = 1 << 20
"""Bytes of one text or blob; a row with a longer one is skipped."""
MAX_COLUMNS = 200

_MAGIC = b"SQLite format 3\0"
_WAL = 2  # the write version, byte 18 of the header, of a database with a write-ahead log
_WAIT = 5.0  # seconds for a writer to let go
_TRIES = 5
_STEPS = 200_000_000  # of SQLite's virtual machine in one statement: a hostile file ends there
_MAX_ID = 200
_SHOWN_TABLES = 20
_NOTHING = "Nothing was imported."
_BUSY = "Import again when the program that uses it has ended."
_PRAGMAS = ("table_xinfo", "trusted_schema", "query_only", "cell_size_check", "quick_check")
_FUNCTIONS = ("typeof", "length")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the known tables, and those that cannot be notes with a reason."""

    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...] = ()


def is_database(path: Path) -> bool:
    """Whether the file at `path` begins as a SQLite database does."""
    try:
        if not path.is_file():  # opening a pipe would wait for whoever writes to it
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def read(path: Path) -> Rows:
    """The rows of the database at `path`.

    Raises Refused where it is none, is encrypted or corrupt, or has no table that is known; Busy where another
    process does not stop writing to it.
    """
    if not path.is_file():
        raise Refused(f"There is no database file at {path}.", hint="Name the file itself, such as memory.db.")
    if not is_database(path):
        raise Refused(
            f"{path} is not a SQLite database, or it is encrypted: it does not begin as one.",
            hint="Export an encrypted database to a plain one first.",
        )
    try:
        with tempfile.TemporaryDirectory(prefix="brain-import-") as folder:
            copy = _snapshot(path, folder)
            with closing(sqlite3.connect(copy, timeout=_WAIT, isolation_level=None)) as conn:
                return _rows(conn, path)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes a corrupt schema in its messages
        if "locked" in str(error) or "busy" in str(error):
            raise Busy(f"{path} is locked by another process.", hint=_BUSY) from None
        if "disk is full" in str(error):
            raise _unreadable(path, "there is no room for its copy") from None
        raise Refused(
            f"{path} cannot be read as a SQLite database ({_cause(error)}).",
            hint="It is corrupt, cut short or encrypted. Try `sqlite3 FILE .recover` and import the result.",
        ) from None
    except OSError as error:
        raise _unreadable(path, error.strerror or type(error).__name__) from None


def _unreadable(path: Path, why: str) -> Refused:
    step = f"It is copied to {tempfile.gettempdir()}, which must have room for it."
    return Refused(f"{path} cannot be copied to be read ({why}).", hint=f"{step} {_NOTHING}")


def _cause(error: Exception) -> str:
    return "its schema is not text" if isinstance(error, UnicodeDecodeError) else one_line(str(error)[:200])


def roots(path: Path, key: str) -> tuple[Root, ...]:
    """The names of a database as the place where the paths of its rows start. `key` is the brain's."""
    real = os.path.realpath(path)
    return surroundings(os.path.dirname(real), key).roots(real)


def _snapshot(path: Path, folder: str) -> str:
    """A copy of the database as it is between two transactions."""
    copy = os.path.join(folder, "copy.db")
    with path.open("rb") as file:
        has_log = file.read(19)[18:] == bytes([_WAL])
    if has_log or os.path.exists(f"{path}-journal"):
        _copied(str(path), copy)
        return copy
    address = f"{Path(os.path.abspath(path)).as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_WAIT)) as source, closing(sqlite3.connect(copy)) as target:
        # Without this the copy waits for a lock without end.
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(target)
    return copy


def _copied(path: str, copy: str) -> None:
    """Copy a database with its log or journal, which SQLite applies to the copy when that is opened."""
    for _ in range(_TRIES):
        before = _states(path)
        for ending in ("", "-wal", "-journal"):
            if ending and not os.path.lexists(path + ending):
                if os.path.exists(copy + ending):
                    os.remove(copy + ending)
                continue
            _copy(path + ending, copy + ending, follow=not ending)
        if _states(path) == before:
            return
    raise Busy(f"{path} is being written to by another process.", hint=_BUSY)


def _copy(path: str, copy: str, *, follow: bool) -> None:
    """Copy one regular file, as long as it is now: a log that is a link, a pipe or a device is none of SQLite's.

    Raises Refused for those.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with suppress(FileNotFoundError):  # it went meanwhile: the states differ, and all is copied again
        if (not follow and os.path.islink(path)) or not os.path.isfile(path):
            raise Refused(f"{path} is no ordinary file.", hint=f"Remove it or import a copy. {_NOTHING}")
        with open(os.open(path, flags), "rb") as source, open(copy, "wb") as target:
            left = os.fstat(source.fileno()).st_size
            while left > 0 and (data := source.read(min(left, 1 << 20))):
                target.write(data)
                left -= len(data)


def _states(path: str) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for ending in ("", "-wal", "-journal"):
        try:
            state = os.stat(path + ending)
            found.append((state.st_ino, state.st_size, state.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return found


def _rows(conn: sqlite3.Connection, path: Path) -> Rows:
    conn.execute("SELECT count(*) FROM sqlite_master").fetchone()  # a log or journal is applied here
    conn.execute("PRAGMA trusted_schema=OFF")
    conn.execute("PRAGMA query_only=ON")
    conn.execute("PRAGMA cell_size_check=ON")
    conn.set_authorizer(_allowed)
    conn.set_progress_handler(lambda: 1, _STEPS)
    tables = _tables(conn)
    rows: list[Row] = []
    skipped: list[Skipped] = []
    for table in _known(tables, path):
        conn.text_factory = str
        fault = conn.execute(f"PRAGMA quick_check({_name(table)})").fetchone()
        if fault and not _is_sound(str(fault[0])):
            raise sqlite3.DatabaseError(f"table {table}: {str(fault[0]).splitlines()[0]}")
        for found in _of_table(conn, table, is_work=table.lower() in WORK_TABLES):
            if isinstance(found, Row):
                rows.append(found)
            else:
                skipped.append(found)
    return Rows(tuple(rows), tuple(skipped))


def _is_sound(answer: str) -> bool:
    """Whether the pages are whole; what a row says against its table's constraints is no concern of an import."""
    return answer == "ok" or answer.startswith(("NULL value in", "CHECK constraint", "non-unique", "NUMERIC value in"))


def _allowed(action: int, one: str | None, _two: str | None, _db: str | None, _by: str | None) -> int:
    """Nothing but reading: no attached file, no function that a schema might call."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and one in _PRAGMAS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_FUNCTION and _two in _FUNCTIONS else sqlite3.SQLITE_DENY


def _tables(conn: sqlite3.Connection) -> list[str]:
    """The ordinary tables: neither views nor virtual ones."""
    found = conn.execute("SELECT name, sql, rootpage FROM sqlite_master WHERE type = 'table'").fetchall()
    return [
        str(name)
        for name, sql, page in found
        if page and not str(name).startswith("sqlite_") and not _is_virtual(str(sql or ""))
    ]


def _is_virtual(sql: str) -> bool:
    return sql.split(None, 2)[1:2] != [] and sql.split(None, 2)[1].lower() == "virtual"


def _known(tables: Sequence[str], path: Path) -> list[str]:
    known = [table for table in tables if table.lower() in (*MEMORY_TABLES, *WORK_TABLES)]
    if known:
        return known
    names = ", ".join(table[:60] for table in sorted(tables)[:_SHOWN_TABLES]) + (
        f" and {len(tables) - _SHOWN_TABLES} more" if len(tables) > _SHOWN_TABLES else ""
    )
    found = f"its tables are {names}" if tables else "it has no tables"
    raise Refused(
        f"{path} has no table of memories or of work that is known: {found}.",
        hint=f"Memories are read from {', '.join(MEMORY_TABLES)}; work from {', '.join(WORK_TABLES)}.",
    )


def _of_table(conn: sqlite3.Connection, table: str, *, is_work: bool) -> Iterator[Row | Skipped]:
    columns, key = _columns(conn, table)
    if len(columns) > MAX_COLUMNS:
        raise Refused(f"The table {table} has {len(columns)} columns; at most {MAX_COLUMNS} are read.")
    if not columns:
        return
    query = _query(table, columns, has_rowid=_has_rowid(conn, table, columns))
    conn.text_factory = bytes
    seen: set[str] = set()
    for count, (rowid, is_large, *cells) in enumerate(conn.execute(query), start=1):
        values = dict(zip(columns, cells, strict=True))
        name = _id_of(values.get(key), count if rowid is None else rowid)
        path = f"{table}/{name}"
        if is_large:
            yield Skipped(path[:_MAX_ID], f"a field is larger than {MAX_FIELD >> 20} MiB")
        elif len(name) > _MAX_ID:
            yield Skipped(path[:_MAX_ID], f"its id is longer than {_MAX_ID} characters")
        elif name in seen:
            yield Skipped(path, "an earlier row has the same id")
        else:
            seen.add(name)
            yield _row(table, name, values, is_work=is_work)


def _query(table: str, columns: Sequence[str], *, has_rowid: bool) -> str:
    """All rows in a stable order: the row's number, whether it is too large, and its columns but for large fields."""
    names = [_name(column) for column in columns]
    large = [f"(typeof({name}) IN ('text', 'blob') AND length(CAST({name} AS BLOB)) > {MAX_FIELD})" for name in names]
    chosen = [f"CASE WHEN {test} THEN NULL ELSE {name} END" for name, test in zip(names, large, strict=True)]
    number = "rowid" if has_rowid else "NULL"
    order = "rowid" if has_rowid else ", ".join(names)
    return (
        f"SELECT {number}, {' OR '.join(large)}, {', '.join(chosen)} FROM {_name(table)} NOT INDEXED ORDER BY {order}"
    )


def _columns(conn: sqlite3.Connection, table: str) -> tuple[list[str], str]:
    """The columns that hold data (what a schema computes from others is not asked for), and the one that is the id:
    `id`, else the primary key where that is one column, else none."""
    conn.text_factory = str
    found = [row for row in conn.execute(f"PRAGMA table_xinfo({_name(table)})") if row[6] == 0]
    columns = [str(row[1]) for row in found]
    keys = [str(row[1]) for row in found if row[5]]
    ids = [column for column in columns if normal(column) == "id"]
    return columns, ids[0] if ids else keys[0] if len(keys) == 1 else ""


def _has_rowid(conn: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    """Whether rows have a number of their own, and no column of that name hides it."""
    if any(name.lower() == "rowid" for name in columns):
        return False
    try:
        conn.execute(f"SELECT rowid FROM {_name(table)} LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _id_of(value: object, fallback: object) -> str:
    if isinstance(value, bytes):
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            return value.hex()
        return (text.strip() if text.isprintable() else value.hex()) or f"row-{fallback}"
    return f"row-{fallback}" if value is None else str(value)


def _row(table: str, name: str, values: dict[str, object], *, is_work: bool) -> Row:
    cells: dict[str, Cell] = {}
    for column, value in values.items():
        if isinstance(value, bytes):
            try:
                text = value.decode("utf-8")
            except UnicodeDecodeError:
                cells[column] = value
                continue
            cells[column] = value if "\0" in text else text
        elif isinstance(value, int | float):
            cells[column] = value
    return Row(f"{table}/{name}", table, name, is_work, cells)
