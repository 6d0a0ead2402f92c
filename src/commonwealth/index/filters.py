"""What a search asks for, and its filters as conditions on a rowid."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from json import dumps
from typing import TypeAlias

from commonwealth.index import schema, scope
from commonwealth.index.values import clean_path, repository, reversed_path, stamp
from commonwealth.index.words import fold
from commonwealth.model import CLOSED_STATUSES, same_repository

Condition: TypeAlias = tuple[str, tuple[object, ...]]
"""SQL over `{row}`, which stands for the rowid of the outer query, and its arguments."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search. A filter that is a tuple matches any of its values, an empty one everything.

    Times are canonical UTC text; `…_after` is inclusive, `…_before` is not. By default only what is true at
    `now` comes back, a note whose replacement begins later among it. `include_superseded` adds what no longer is or
    never was; `valid_at` asks instead for what was true then, by validity alone: what was superseded later is found,
    what was retracted is not. A `status` of superseded or retracted among the filters counts as
    `include_superseded`. Notes of `first_repository` are put before others that match as well, unless `repository`
    is given. `outside` are the keys of scopes (see `scope`) whose notes hold elsewhere only: they are left out as what
    is no longer true is, but for a `branch` among the filters.
    """

    text: str = ""
    repository: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    confidence: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    component: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    created_after: str | None = None
    created_before: str | None = None
    observed_after: str | None = None
    observed_before: str | None = None
    updated_after: str | None = None
    updated_before: str | None = None
    valid_at: str | None = None
    include_superseded: bool = False
    limit: int = 20
    offset: int = 0
    now: str = "9999-12-31T23:59:59Z"
    first_repository: str | None = None
    outside: tuple[str, ...] = ()


_COLUMNS = ("kind", "type", "status", "confidence")
_TIMES = ("created", "observed", "updated")
_LISTS: dict[str, tuple[int, Callable[[str], str]]] = {
    "person": (schema.PERSON, fold),
    "agent": (schema.AGENT, fold),
    "component": (schema.COMPONENT, fold),
    "tag": (schema.TAG, fold),
    "branch": (schema.BRANCH, str.strip),
}


def conditions(conn: sqlite3.Connection, query: Query) -> list[Condition]:
    """Every condition that a row must meet. Raises ValueError for a time that is none."""
    found = [_columns(query), *(_linked(query, name) for name in _LISTS), _files(query.file)]
    if query.repository:
        found.append(linked(schema.REPOSITORY, _repositories(conn, query.repository)))
    if not (_everything(query) or query.branch):
        found.append(scope.outside(query.outside))
    return [condition for condition in (*found, *_truth(query)) if condition is not None]


def given(query: Query) -> bool:
    """Whether any filter was asked for, beyond what is true by default."""
    names = (*_COLUMNS, *_LISTS, "repository", "file", "valid_at")
    ranges = (f"{name}_{side}" for name in _TIMES for side in ("after", "before"))
    return any(getattr(query, name) for name in (*names, *ranges))


def linked(field: int, values: Iterable[str]) -> Condition:
    """Rows with any of these values. They travel as one argument: SQLite limits how many there may be."""
    return (
        "{row} IN (SELECT note FROM links WHERE field = ? AND value IN (SELECT value FROM json_each(?)))",
        (field, dumps(list(values))),
    )


def of_repository(conn: sqlite3.Connection, name: str) -> Condition:
    """Rows of the repository that `name` means."""
    return linked(schema.REPOSITORY, _repositories(conn, [name]))


def _repositories(conn: sqlite3.Connection, names: Iterable[str]) -> list[str]:
    """The stored repositories that the names mean: there are few, so each is met by one step in the table."""
    wanted = [repository(name) for name in names]
    found: list[str] = []
    at = ""
    while True:
        at = conn.execute(
            "SELECT min(value) FROM links WHERE field = ? AND value > ?", (schema.REPOSITORY, at)
        ).fetchone()[0]
        if at is None:
            return found
        if any(same_repository(at, name) for name in wanted):
            found.append(at)


def _columns(query: Query) -> Condition | None:
    parts: list[str] = []
    arguments: list[object] = []
    for name in _COLUMNS:
        if values := getattr(query, name):
            parts.append(f"{name} IN (SELECT value FROM json_each(?))")
            arguments.append(dumps(list(values)))
    for name in _TIMES:
        for side, sign in (("after", ">="), ("before", "<")):
            if (time := getattr(query, f"{name}_{side}")) is not None:
                parts.append(f"{name} {sign} ?")
                arguments.append(stamp(time))
    if not parts:
        return None
    return f"{{row}} IN (SELECT rowid FROM notes WHERE {' AND '.join(parts)})", tuple(arguments)


def _linked(query: Query, name: str) -> Condition | None:
    values = getattr(query, name)
    field, folded = _LISTS[name]
    return linked(field, [folded(value) for value in values]) if values else None


def _files(paths: Iterable[str]) -> Condition | None:
    """Notes that name this file, one in this folder, or one whose path ends with these segments."""
    wanted = [clean_path(path) for path in paths]
    if not wanted:
        return None
    same = "SELECT l.note FROM json_each(?) AS j CROSS JOIN links AS l ON l.field = ? AND l.value = j.value"
    below = (
        "SELECT l.note FROM json_each(?) AS j"
        " CROSS JOIN links AS l ON l.field = ? AND l.value > j.value || '/' AND l.value < j.value || '0'"
    )
    forward, backward = dumps(wanted), dumps([reversed_path(path) for path in wanted])
    arguments = (forward, schema.FILE, forward, schema.FILE, backward, schema.FILE_REVERSED)
    return f"{{row}} IN ({same} UNION ALL {below} UNION ALL {below})", arguments


def _everything(query: Query) -> bool:
    """Whether what is not true now was asked for as well."""
    return query.include_superseded or any(status in CLOSED_STATUSES for status in query.status)


def _truth(query: Query) -> list[Condition]:
    """What was never true, or not at the instant.

    A note that was replaced is true until its end, be that to come; without any end, it is over by now.
    """
    everything = _everything(query)
    if query.valid_at is None and everything:
        return []
    at, now = stamp(query.valid_at or query.now), stamp(query.now)
    ended = query.valid_at is None or (at is not None and now is not None and at >= now)
    hidden: list[str] = []
    if not everything:
        over = " OR coalesce(until, closed) IS NULL" if ended else ""
        hidden.append(f"{_SHUT} AND (status = 'retracted'{over})")
    if query.valid_at is None and not query.status and not query.kind:
        hidden.append(_DONE)
    hidden += [f"SELECT rowid FROM notes WHERE {end} <= ?" for end in ("until", "closed")]
    hidden.append("SELECT rowid FROM notes WHERE starts > ?")
    return [(f"{{row}} NOT IN ({' UNION ALL '.join(hidden)})", (at, at, at))]


_SHUT = "SELECT rowid FROM notes WHERE status IN ('superseded', 'retracted')"
"""As the partial index `notes_shut` has it: SQLite takes it for exactly this condition."""


_DONE = "SELECT rowid FROM notes WHERE kind = 'work-state' AND status IN ('completed', 'abandoned')"
"""Work that is over is history unless work, or a status, is asked for; by the partial index `notes_work`."""


def on(row: str, found: Iterable[Condition]) -> Condition:
    """All conditions on `row`, each begun with AND."""
    made = list(found)
    text = "".join(f" AND {condition.replace('{row}', row)}" for condition, _ in made)
    return text, tuple(argument for _, arguments in made for argument in arguments)
