"""What the index costs: rebuild, size, change and search, at three sizes, beside named alternatives of the same run.

Run as `PYTHONPATH=src python tests/bench/bench_index.py [SIZE …]` (default 100 1000 10000). It needs the generator
`bench/make_brain.py` below `COMMONWEALTH_SHARED` (default `../shared` beside the repository). Times are CPU and wall;
on a busy machine compare columns of one run, not runs. Parsing is not part of it: the index takes notes.

Alternatives: for a rebuild, the same rows through sqlite-utils where it is installed; for a search, the ranked rows of
the same index by a join with `ORDER BY rank` (what FTS5 documents first), without a count, filters or snippets.
Budgets at 10,000 notes: 80 µs of CPU a note, index at most twice the text, 3 words 8 ms and 8 words 15 ms (p50).
"""

from __future__ import annotations

import gc
import importlib
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from commonwealth.index import filters, rows, schema, values, words
from commonwealth.index.build import build
from commonwealth.index.packing import pack
from commonwealth.index.query import Query, search
from commonwealth.index.update import apply
from commonwealth.model import Note, NoteFile, Provenance

NOW = "2026-07-10T00:00:00Z"
SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
sys.path.insert(0, str(SHARED / "bench"))

make_brain = importlib.import_module("make_brain")


def note_files(count: int) -> Iterator[NoteFile]:
    """The notes of the generator as a parser would hand them in."""
    for number in range(count):
        front, body = make_brain.make_note(1, number, count)
        origin: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in front.pop("provenance").items()
        }
        front = {key: tuple(v) if isinstance(v, list) else v for key, v in front.items()}
        note = Note(body=f"\n# {front['title']}\n\n{body}\n", provenance=Provenance(**origin), **front)
        yield NoteFile(note, f"memory/{note.id[:7]}/{note.id}.md", 1550, number)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall milliseconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def spread(work: Callable[[str], object], asked: Iterable[str]) -> str:
    """p50 and p95 of CPU and wall over all queries."""
    times = [timed(lambda text=text: work(text)) for text in asked]  # type: ignore[misc]

    def ranks(values: Sequence[float]) -> str:
        ordered = sorted(values)
        return f"{statistics.median(ordered):6.2f} / {ordered[int(len(ordered) * 0.95)]:6.2f}"

    return f"cpu {ranks([cpu for cpu, _ in times])}   wall {ranks([wall for _, wall in times])}"


def texts(files: Sequence[NoteFile]) -> dict[str, list[str]]:
    """Queries of random content words of a note, of its title, and of a path it names."""
    rng = random.Random(3)
    asked: dict[str, list[str]] = {"1 word": [], "3 words": [], "8 words": [], "title": [], "path": []}
    for file in rng.choices(files, k=120):
        content = [word for word in file.note.body.split() if word.isalpha() and word.lower() not in words.STOP]
        for name in ("1 word", "3 words", "8 words"):
            asked[name].append(" ".join(rng.sample(content, min(int(name[0]), len(content)))))
        asked["title"].append(file.note.title)
        asked["path"].append(file.note.provenance.files[0])
    return asked


def by_sqlite_utils(path: Path, files: Iterable[NoteFile]) -> None:
    """The same tables filled by sqlite-utils, full text without its triggers."""
    sqlite_utils = importlib.import_module("sqlite_utils")  # an alternative that need not be there

    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {schema.TABLES}")
        db = sqlite_utils.Database(conn)
        names = [column.name for column in db.table("notes").columns if column.name != "closed"]
        entries = list(enumerate(files, 1))
        db.table("files").insert_all(
            {"id": n, "path": f.path, "size": f.size, "mtime_ns": f.mtime_ns} for n, f in entries
        )
        db.table("notes").insert_all(dict(zip(names, rows.note_row(n, f.note), strict=True)) for n, f in entries)
        packed = ((n, *pack(f.note)) for n, f in entries)
        db.table("texts").insert_all(
            dict(zip(("rowid", "rest", "body", "checksum"), row, strict=True)) for row in packed
        )
        db.table("links").insert_all(
            {"field": field, "value": value, "note": n} for n, f in entries for field, value in values.links(f.note)
        )
        indexed = ((n, *rows.indexed_text(f.note)) for n, f in entries)
        db.table("words").insert_all(
            dict(zip(("rowid", "title", "body", "parts"), row, strict=True)) for row in indexed
        )
        conn.execute("COMMIT") if conn.in_transaction else None
        for statement in schema.INDEXES.split(";"):
            conn.execute(statement)


def report_build(folder: Path, files: Sequence[NoteFile]) -> None:
    """Rebuild, its alternative, size, and a change of ten notes."""
    count = len(files)
    text = sum(len(text.encode()) for _, text in make_brain.notes(count, 1, "monthly"))
    gc.freeze()
    cpu, wall = timed(lambda: build(folder, files, {}))
    print(f"  rebuild          {cpu * 1000 / count:6.1f} µs CPU a note, {count / wall * 1000:8.0f} notes/s wall")
    try:
        with tempfile.TemporaryDirectory() as other:
            cpu, wall = timed(lambda: by_sqlite_utils(Path(other) / "x.db", files))
        print(f"    sqlite-utils   {cpu * 1000 / count:6.1f} µs CPU a note, {count / wall * 1000:8.0f} notes/s wall")
    except ImportError:
        print("    sqlite-utils   not installed")
    path = schema.current(folder)
    assert path is not None
    print(f"  size             {path.stat().st_size / text:6.2f} × the text ({text / 1e6:.1f} MB)")
    changed = [replace(file, note=replace(file.note, body=file.note.body + "changed"), size=1) for file in files[:10]]
    with closing(schema.connect(folder, read_only=False)) as conn:
        cpu, wall = timed(lambda: apply(conn, changed))
        print(f"  10 notes change  {cpu:6.2f} ms CPU, {wall:6.2f} ms wall")


def report_search(folder: Path, files: Sequence[NoteFile]) -> None:
    """Search in a warm process, first call included in no figure but its own."""
    with closing(schema.connect(folder)) as conn:
        for name, asked in texts(files).items():
            print(f"  {name:8} search  {spread(lambda text: search(conn, Query(text, now=NOW)), asked)}")
            print(f"    rank join only {spread(lambda text: rank_join(conn, text), asked)}")
        query = Query(repository=("shop-web",), now=NOW)
        print(f"  newest of a repository  {spread(lambda _: search(conn, query), ['x'] * 20)}")
        on_file = Query(file=files[0].note.provenance.files[:1], now=NOW)
        print(f"  notes on a file         {spread(lambda _: search(conn, on_file), ['x'] * 20)}")


def rank_join(conn: sqlite3.Connection, text: str) -> None:
    """Twenty rows by `ORDER BY rank`, joined before the sort."""
    condition, arguments = filters.on("n.rowid", filters.conditions(conn, Query(now=NOW)))
    sql = (
        "SELECT n.id, t.rest, t.body FROM words AS w JOIN notes AS n ON n.rowid = w.rowid"
        " JOIN texts AS t ON t.rowid = w.rowid WHERE words MATCH ?"
        f" AND rank MATCH 'bm25(1.0, 1.0, 0.5)'{condition} ORDER BY rank LIMIT 20"
    )
    conn.execute(sql, (words.asked(text).match, *arguments)).fetchall()


def report_import() -> None:
    """What loading the search costs a process, beside what it needs of the standard library and of our floor."""

    def cpu(code: str) -> float:
        script = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
        command = [sys.executable, "-c", f"import sqlite3; {script}"]
        return (
            float(subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout) * 1000
        )

    for name, code in (
        ("dataclasses, json, re", "import dataclasses, json, re"),
        ("commonwealth.model too", "import dataclasses, json, re; import commonwealth.model"),
        ("commonwealth.index.query", "import commonwealth.index.query"),
    ):
        print(f"  import {name:26} {statistics.median(cpu(code) for _ in range(9)):5.1f} ms CPU over sqlite3")


def main(sizes: Sequence[int]) -> None:
    """Print everything for each size."""
    print(f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, load {os.getloadavg()[0]:.1f}")
    report_import()
    for count in sizes:
        print(f"{count} notes (milliseconds, p50 / p95)")
        files = list(note_files(count))
        with tempfile.TemporaryDirectory() as folder:
            report_build(Path(folder), files)
            report_search(Path(folder), files)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100, 1000, 10_000])
