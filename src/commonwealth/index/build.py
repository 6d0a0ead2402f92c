"""A whole new index from the files of a brain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from itertools import count, islice
from pathlib import Path

from commonwealth.faults import fault
from commonwealth.index import rows, schema
from commonwealth.index.rows import Entry
from commonwealth.model import NoteFile

_BATCH = 400


def build(index_dir: Path, files: Iterable[NoteFile | Entry], state: Mapping[str, str]) -> Path:
    """Make a new generation of `files`, each path once, and switch to it; `state` is stored with it.

    Files are read one batch at a time, so a generator keeps memory flat. When something fails, an exception
    of the caller's iterator included, the generation in use stays. Raises Unusable or Busy for SQLite's errors.
    """
    path = schema.claim(index_dir)
    try:
        with schema.translated():
            _fill(path, files, state)
            _journal(path)
        fault("index-built")
        schema.publish(path)
    except BaseException:
        schema.discard(path)
        raise
    return path


def _fill(path: Path, files: Iterable[NoteFile | Entry], state: Mapping[str, str]) -> None:
    conn = sqlite3.connect(path, isolation_level=None)
    try:
        # Nobody reads this file before it is complete, and a torn one is thrown away: no journal is needed.
        conn.executescript(
            f"PRAGMA page_size = {schema.PAGE}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            f"PRAGMA cache_size = -65536; PRAGMA application_id = {schema.APPLICATION_ID};"
            f"PRAGMA user_version = {schema.SCHEMA}; BEGIN;{schema.TABLES}"
        )
        numbers, source = count(1), iter(files)
        while batch := list(islice(source, _BATCH)):
            rows.insert(conn, [(next(numbers), rows.prepare(file)) for file in batch])
        for statement in schema.INDEXES.split(";"):
            conn.execute(statement)
        rows.close(conn, None)
        schema.put_state(conn, state)
        conn.execute("COMMIT")
    finally:
        conn.close()


def _journal(path: Path) -> None:
    """Readers beside a writer need a write-ahead log; a file system without shared memory gets a rollback journal."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn, suppress(sqlite3.OperationalError):
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("BEGIN IMMEDIATE")  # only now the shared memory is needed
        conn.execute("COMMIT")
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        conn.execute("PRAGMA journal_mode = DELETE")
