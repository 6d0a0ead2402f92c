"""Notes for the tests of this folder, made by hand and generated, and ways to index and to look at them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from commonwealth.index.build import build
from commonwealth.index.query import Query, search
from commonwealth.index.rows import Entry
from commonwealth.index.schema import connect
from commonwealth.model import STATUSES, Hit, Note, NoteFile, Problem, Provenance, Reviewed, Source, Verified

NOW = "2026-07-01T00:00:00Z"


def note(id_: str, title: str = "A title", body: str = "", **fields: Any) -> Note:
    provenance = {name: fields.pop(name) for name in ("files", "agent", "human", "issue") if name in fields}
    return Note(
        id=id_, kind=fields.pop("kind", "memory"), title=title, body=body, provenance=Provenance(**provenance), **fields
    )


def file(made: Note, size: int = 1, mtime_ns: int = 1, folder: str = "memory") -> NoteFile:
    return NoteFile(made, f"{folder}/{made.id}.md", size, mtime_ns)


def indexed(folder: Path, *notes: Note | NoteFile | Entry) -> sqlite3.Connection:
    """A read-only connection to a new index of these notes."""
    build(folder / "index", [file(item) if isinstance(item, Note) else item for item in notes], {})
    return connect(folder / "index")


def hits(conn: sqlite3.Connection, text: str = "", **filters: Any) -> list[Hit]:
    return list(search(conn, Query(text, now=filters.pop("now", NOW), **filters))[0])


def ids(conn: sqlite3.Connection, text: str = "", **filters: Any) -> list[str]:
    return [hit.note.id for hit in hits(conn, text, **filters)]


def dump(folder: Path) -> dict[str, object]:
    """All that an index says, whatever the numbers of its rows are."""
    with closing(sqlite3.connect(f"file:{connected(folder)}?mode=ro", uri=True)) as conn:
        path = dict(conn.execute("SELECT id, path FROM files"))
        conn.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'instance')")
        return {
            "files": sorted(conn.execute("SELECT path, size, mtime_ns FROM files")),
            "problems": sorted((path[f], *rest) for f, *rest in conn.execute("SELECT * FROM problems")),
            "notes": sorted((path[n], *map(str, rest)) for n, *rest in conn.execute("SELECT * FROM notes")),
            "texts": sorted((path[n], *rest) for n, *rest in conn.execute("SELECT * FROM texts")),
            "links": sorted((path[n], field, value) for field, value, n in conn.execute("SELECT * FROM links")),
            "words": sorted(
                (path[doc], term or "", column, place)
                for term, doc, column, place in conn.execute("SELECT term, doc, col, offset FROM temp.vocabulary")
            ),
        }


def connected(folder: Path) -> Path:
    """The file of the current generation."""
    return folder / (folder / "current").read_text(encoding="utf-8").strip()


times = st.sampled_from(
    (None, "2026-01-01T00:00:00Z", "2026-06-30T23:59:59Z", "2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z")
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
words = st.sampled_from(
    (
        "",
        "PaymentService retries",
        "E_CONN_409 after deploy",
        "二重決済の対策",
        "การชำระเงินซ้ำ",
        "भुगतान दो बार",
        "Café",
        "[[b]]",
    )
)
names = st.lists(st.sampled_from(("a", "b", "c", "50%", "a_b", "src/a/B.py", "src/b.py")), max_size=3, unique=True).map(
    tuple
)


@st.composite
def notes(draw: st.DrawFn, id_: str) -> Note:
    """Any note with this id; its links name the other ids of a small brain."""
    made = note(
        id_,
        draw(texts),
        draw(words) + draw(texts),
        kind=draw(st.sampled_from(("memory", "decision", "work-state"))),
        status=draw(st.sampled_from(STATUSES)),
        summary=draw(st.none() | texts),
        observed_at=draw(times),
        valid_from=draw(times),
        valid_until=draw(times),
        supersedes=draw(names),
        relates=draw(names),
        conflict_of=draw(st.none() | st.sampled_from(("a", "b"))),
        tags=draw(names),
        components=draw(names),
        files=draw(names),
        repository=draw(st.none() | st.sampled_from(("acme/Shop", "shop", "other/shop"))),
    )
    if made.kind == "work-state":
        made = replace(made, files=("lib/x.py",), owner="Alice", agent=draw(st.none() | texts), lease_until=draw(times))
    return replace(
        made,
        extra=draw(st.sampled_from(({}, {"x-team": "7"}, {"files": ["lib/x.py"], "deep": {"a": ["b"]}}))),
        reviewed=draw(st.none() | st.just(Reviewed("alice", None))),
        source=draw(st.none() | st.just(Source("adr", "adr/1.md"))),
        verified=draw(st.none() | st.just(Verified())),
    )


@st.composite
def entries(draw: st.DrawFn, ids_: Iterable[str] = ("a", "b", "c", "d-12345678")) -> Entry:
    """A file of a small brain: mostly a note, sometimes one that cannot be read."""
    id_ = draw(st.sampled_from(tuple(ids_)))
    path = f"memory/{id_}.md"
    size, mtime = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    if draw(st.integers(0, 5)) == 0:
        return Entry(path, size, mtime, None, (Problem(path, 3, draw(st.sampled_from(("bad", "worse")))),))
    doubts = draw(st.sampled_from(((), (Problem(path, 1, "odd", fatal=False),))))
    return Entry(path, size, mtime, draw(notes(id_)), doubts)
