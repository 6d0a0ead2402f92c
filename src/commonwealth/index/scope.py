"""Facts that hold on one branch of a code repository only: which there are, and how a search leaves some out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from json import dumps, loads

from commonwealth.index import schema
from commonwealth.model import Note

MOST = 1000
"""So many different scopes are looked at; notes of others are found as if they had none."""

_KINDS = ("memory", "decision")
_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Scope:
    """A branch that a fact is limited to, in which repository, and the commit that it was found at; `key` stands for
    all three. A work record's branch is no scope: it says where somebody is at work."""

    key: str
    repository: str | None
    branch: str
    commit: str | None


def key_of(note: Note) -> str | None:
    """The key of a note's scope; None where it holds everywhere. What `provenance.branch` says limits nothing."""
    if not note.branch or note.kind not in _KINDS:
        return None
    origin = note.provenance
    parts = (note.repository or origin.repository or "", note.branch.strip(), (origin.commit or "").strip())
    return dumps([part[:_LENGTH] for part in parts], ensure_ascii=False)


def of_key(key: str) -> Scope:
    """The scope that a key stands for."""
    repository, branch, commit = loads(key)
    return Scope(key, repository or None, branch, commit.lower() or None)


def scopes(conn: sqlite3.Connection) -> tuple[Scope, ...]:
    """Every scope that a note has, each once."""
    with schema.snapshot(conn):
        rows = conn.execute("SELECT DISTINCT value FROM links WHERE field = ? LIMIT ?", (schema.SCOPE, MOST))
        return tuple(of_key(key) for (key,) in rows)


def outside(keys: Iterable[str]) -> tuple[str, tuple[object, ...]] | None:
    """The condition on `{row}` (see `filters`) that leaves the notes of these scopes out; None for none."""
    wanted = list(keys)
    if not wanted:
        return None
    return (
        "{row} NOT IN (SELECT note FROM links WHERE field = ? AND value IN (SELECT value FROM json_each(?)))",
        (schema.SCOPE, dumps(wanted)),
    )
