"""Search: text and filters to ranked notes. Any text is a query; no text can make it fail."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from json import dumps

from commonwealth.index import filters, lookup, schema, shown
from commonwealth.index.disputes import disputed
from commonwealth.index.filters import Condition, Query
from commonwealth.index.schema import Unusable
from commonwealth.index.terms import holds
from commonwealth.index.words import Asked, asked, normal
from commonwealth.model import Hit

__all__ = ["Query", "Unusable", "search"]

_WEIGHTS = "1.0, 1.0, 0.5"
_HOME = 1.5
_WINDOW = 200
_EXACT, _CODE, _LITERAL = 10_000.0, 100.0, 4.0
"""Added for a named note, for each literal of a query that is nothing else, and of one that is prose as well."""

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-\w")


@dataclass(frozen=True, slots=True)
class _Found:
    """Scores by rowid, best first, how many rows match in all, and what is known of why."""

    scores: Mapping[int, float]
    total: int
    why: Mapping[int, tuple[str, ...]]


def search(conn: sqlite3.Connection, query: Query) -> tuple[tuple[Hit, ...], int]:
    """The hits from `offset` on, at most `limit`, best first, and how many notes match in all.

    With text: an exact id or title first, then notes that hold what looks like code as it stands, then by bm25.
    Without: newest first. Equal notes give equal answers, however the index came about.
    Raises Unusable for a damaged index, ValueError for a time in the query that is none.
    """
    ask = asked(query.text)
    with schema.snapshot(conn):
        where = filters.on("+w.rowid", filters.conditions(conn, query))
        home = _home(conn, query)
        found = _matching(conn, query, ask, where, home) if query.text.strip() else _newest(conn, query, where, home)
        rows = list(islice(found.scores, query.offset, query.offset + max(0, query.limit)))
        files = lookup.stored(conn, rows)
        contested = disputed(conn, {rowid: file.note for rowid, file in files.items()})
    match = shown.matcher(ask.words)
    hits = []
    for rowid, file in files.items():
        why, snippet = shown.explained(file.note, match)
        why = found.why.get(rowid, why)
        why = (*why, "disputed") if rowid in contested else why
        hits.append(Hit(file.note, file.path, round(found.scores[rowid], 4), why, snippet))
    return tuple(hits), found.total


def _home(conn: sqlite3.Connection, query: Query) -> Condition | None:
    if query.first_repository and not query.repository:
        return filters.on("+w.rowid", [filters.of_repository(conn, query.first_repository)])
    return None


def _newest(conn: sqlite3.Connection, query: Query, where: Condition, home: Condition | None) -> _Found:
    need = query.offset + max(0, query.limit)
    scopes = [("", ())] if home is None else [home, (f" AND NOT (1{home[0]})", home[1])]
    rows: list[int] = []
    for scope, arguments in scopes:
        rows += [
            rowid
            for (rowid,) in conn.execute(
                f"SELECT w.rowid FROM notes AS w WHERE 1{where[0]}{scope} ORDER BY w.updated DESC, w.id LIMIT ?",
                (*where[1], *arguments, need - len(rows)),
            )
        ]
    total = conn.execute(f"SELECT count(*) FROM notes AS w WHERE 1{where[0]}", where[1]).fetchone()[0]
    reason = ("filter",) if filters.given(query) else ("recent",)
    return _Found(dict.fromkeys(rows, 0.0), total, dict.fromkeys(rows, reason))


def _matching(conn: sqlite3.Connection, query: Query, ask: Asked, where: Condition, home: Condition | None) -> _Found:
    exact = _exact(conn, query.text, where)
    need = query.offset + max(0, query.limit)
    if not ask.match:
        rows = _holding(conn, query.text, where)
        total = len(exact.keys() | rows)
        scores: dict[int, float] = dict.fromkeys(rows, 0.0)
    else:
        scores = _ranked(conn, ask, need, where, home)
        sql = f"SELECT count(*) FROM words AS w WHERE words MATCH ?{where[0]}"
        total = conn.execute(sql, (ask.match, *where[1])).fetchone()[0]
        total += len(exact) - _matched(conn, ask, exact)
    scores |= {rowid: scores.get(rowid, 0.0) + _EXACT for rowid in exact}
    return _Found(_in_order(conn, scores), total, exact)


def _exact(conn: sqlite3.Connection, text: str, where: Condition) -> dict[int, tuple[str, ...]]:
    """Rows that the text names by id, beginning of an id, path or title, within the filters."""
    named = text.strip().removesuffix(".md").rpartition("/")[2]
    found: dict[int, str] = {}
    for chunk in (named, *islice(text.split(), 16)):
        word = chunk.strip("[](){}<>`'\",;:.")
        if "-" in word or len(word) >= 8:
            rows = lookup.named(conn, word) if _DATED.match(word) else lookup.exactly(conn, word)
            found |= dict.fromkeys(rows, "id")
    for rowid in lookup.titled(conn, text):
        found.setdefault(rowid, "title")
    if not found:
        return {}
    allowed = conn.execute(
        f"SELECT w.rowid FROM notes AS w WHERE w.rowid IN (SELECT value FROM json_each(?)){where[0]}",
        (dumps(list(found)), *where[1]),
    )
    return {rowid: (found[rowid],) for (rowid,) in allowed}


def _matched(conn: sqlite3.Connection, ask: Asked, rows: Iterable[int]) -> int:
    """How many of these rows the text matches as well."""
    wanted = list(rows)
    if not wanted:
        return 0
    sql = "SELECT count(*) FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
    number: int = conn.execute(sql, (ask.match, dumps(wanted))).fetchone()[0]
    return number


def _ranked(
    conn: sqlite3.Connection, ask: Asked, need: int, where: Condition, home: Condition | None
) -> dict[int, float]:
    """The best rows with their scores: at least `need`, if there are so many, and all that tie with the last."""
    boost, arguments = home or ("", ())
    rank = f"bm25(words, {_WEIGHTS})" + (f" * CASE WHEN 1{boost} THEN {_HOME} ELSE 1.0 END" if boost else "")
    # Rowids alone are sorted; the rows are fetched for the hits only.
    sql = f"SELECT w.rowid, {rank} AS score FROM words AS w WHERE words MATCH ?{where[0]} ORDER BY score LIMIT ?"
    window = max(need, _WINDOW if ask.literals else 1)
    while True:
        rows = conn.execute(sql, (*arguments, ask.match, *where[1], window + 1)).fetchall()
        if len(rows) <= window or need < 1 or rows[need - 1][1] != rows[window][1]:
            break
        window *= 4
    scores = {rowid: -score for rowid, score in rows}
    if ask.literals:
        for rowid, number in _literals(conn, ask.literals, scores).items():
            scores[rowid] += (_CODE if ask.code else _LITERAL) * number
    return scores


def _literals(conn: sqlite3.Connection, literals: Iterable[str], rows: Iterable[int]) -> dict[int, int]:
    """How many of the literals each row holds as they stand, case aside."""
    wanted = [(literal, dumps(literal, ensure_ascii=False)[1:-1]) for literal in literals]
    found = conn.execute(
        "SELECT t.rowid, t.body, t.rest FROM json_each(?) AS j CROSS JOIN texts AS t ON t.rowid = j.value",
        (dumps(list(rows)),),
    )
    return {
        rowid: sum(holds(body.lower(), plain) or holds(rest.lower(), packed) for plain, packed in wanted)
        for rowid, body, rest in found
    }


def _holding(conn: sqlite3.Connection, text: str, where: Condition) -> set[int]:
    """Rows with a text that has no searchable term in it: signs, emoji."""
    literal = normal(text).strip()
    rows = conn.execute(
        "SELECT w.rowid FROM texts AS w WHERE (instr(w.body, ?) OR instr(w.rest, ?))" + where[0],
        (literal, dumps(literal, ensure_ascii=False)[1:-1], *where[1]),
    )
    return {rowid for (rowid,) in rows}


def _in_order(conn: sqlite3.Connection, scores: Mapping[int, float]) -> dict[int, float]:
    """Best first; of equals the newest, then by id."""
    rows = conn.execute(
        "SELECT n.rowid, coalesce(n.updated, 0), n.id FROM json_each(?) AS j"
        " CROSS JOIN notes AS n ON n.rowid = j.value",
        (dumps(list(scores)),),
    ).fetchall()
    rows.sort(key=lambda row: (-scores[row[0]], -row[1], row[2]))
    return {rowid: scores[rowid] for rowid, _, _ in rows}
