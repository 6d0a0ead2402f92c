"""Answers about the files as they are that leave no trace: the index is neither made nor brought up to date."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from commonwealth.errors import Busy
from commonwealth.flows import indexing
from commonwealth.flows.brains import Brain
from commonwealth.index import health, schema
from commonwealth.index.schema import Unusable


@dataclass(frozen=True, slots=True)
class Look:
    """`answers` is a connection to an index of the files as they are; `missing` says why there is none that can be
    used, `damage` what is wrong inside the one there is."""

    answers: sqlite3.Connection
    missing: str | None = None
    damage: str | None = None


@contextmanager
def look(brain: Brain) -> Iterator[Look]:
    """The brain's index where it is sound and says what the files say, else one in a temporary folder.

    Raises Damaged for a folder of notes that cannot be read, OSError where no temporary file can be written.
    """
    with tempfile.TemporaryDirectory(prefix="commonwealth-") as folder, ExitStack() as stack:
        missing = damage = None
        conn = None
        try:
            damage = _damage(brain, Path(folder) / "copy.db")
            if damage is None and not indexing.is_behind(brain):
                conn = stack.enter_context(closing(schema.connect(brain.index_dir)))
        except Unusable as error:
            missing = error.message
        except Busy:
            missing = None
        if conn is None:
            indexing.rebuild_at(brain, Path(folder))
            conn = stack.enter_context(closing(schema.connect(Path(folder))))
        yield Look(conn, missing, damage)


def _damage(brain: Brain, place: Path) -> str | None:
    """What a full check finds in a copy of the index: the check asks for a connection that may write."""
    with (
        closing(schema.connect(brain.index_dir)) as conn,
        closing(sqlite3.connect(place, isolation_level=None)) as copy,
    ):
        with schema.translated():
            conn.backup(copy)
        return health.damage(copy)
