"""Importing memory databases: every row accounted for, nothing lost, repeats without change, the source untouched."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import Busy, Refused
from commonwealth.flows import import_records, import_sqlite, importing
from commonwealth.flows.import_cells import Row
from commonwealth.flows.import_shelf import BrainShelf
from commonwealth.flows.import_writing import Left
from commonwealth.flows.importing import ImportReport, Settings
from commonwealth.model import Note
from commonwealth.notes import codec, naming
from commonwealth.notes.foreign import Origin
from commonwealth.repo.commit import Change

NOW = "2026-07-01T10:00:00Z"
TOKEN = "ghp_" + "a8Zk3QpX91LmVt7RcB2nYw5HsJ0dUeGf4iTo"


@dataclass
class Brain:
    """A brain's files in a folder, written as a commit would write them."""

    root: Path

    def write(self, changes: Sequence[Change], message: str) -> Left:
        for change in changes:
            path = self.root / change.path
            assert (path.read_bytes() if path.exists() else None) == change.expect
            assert change.data is not None
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change.data)
        return Left()

    def take(self, source: Path, kind: str | None = None) -> ImportReport:
        wanted = Settings(kind, DEFAULT_FOLDERS, "0123456789abcdef", NOW)
        return importing.run(source, wanted, shelf=BrainShelf(self.root, DEFAULT_FOLDERS), write=self.write)

    def notes(self) -> dict[str, Note]:
        found = {}
        for path in BrainShelf(self.root, DEFAULT_FOLDERS).paths():
            text = codec.decode((self.root / path).read_bytes(), path)
            note, problems = codec.parse(text, path, naming.kind_of(path, DEFAULT_FOLDERS) or "")
            assert not problems
            assert note.source is not None
            assert note.source.kind == "sqlite"
            found[note.source.path] = note
        return found

    def state(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*.md")}


@pytest.fixture
def brain(tmp_path: Path) -> Brain:
    (tmp_path / "brain").mkdir()
    return Brain(tmp_path / "brain")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source" / "memory.db"


def build(path: Path, *statements: str | tuple[str, tuple[object, ...]]) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for statement in statements:
            conn.execute(*((statement,) if isinstance(statement, str) else statement))
    return path


def insert(table: str, **cells: object) -> tuple[str, tuple[object, ...]]:
    names = ", ".join(f'"{name}"' for name in cells)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(cells))})", tuple(cells.values())


def folder_of(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.parent.iterdir()}


def only(brain: Brain) -> Note:
    (note,) = brain.notes().values()
    return note


GOTCHA = insert(
    "Memories",
    id="m1", type="gotcha", title="HTTP 409 means done", summary="Treat it as success.", content="# Why\n\nIt is.\n",
    status="confirmed", confidence="high", components='["payments", "retry"]', tags='["HTTP 409", "idempotency"]',
    files="src/pay.py", provenance='{"human": "Alice", "pullRequest": 12, "room": {"name": "Oslo"}}',
    createdAt=1_780_000_000, observed_at="2026-06-02T12:15:00.250Z", superseded_by="m2", metadata='{"a": ["b"]}',
)  # fmt: skip
SCHEMA = (
    "CREATE TABLE Memories (id TEXT PRIMARY KEY, type, title, summary, content, status, confidence, components, tags,"
    " files, provenance, createdAt, observed_at, superseded_by, supersedes, relates, metadata, embedding BLOB)"
)
WORK = (
    "CREATE TABLE work_items (id INTEGER PRIMARY KEY, title, owner, agent, branch, files, components, status,"
    " startedAt, completed_at, expires_at, memories)"
)


def test_a_memory_row_becomes_a_note_with_every_column_in_its_place(brain: Brain, source: Path) -> None:
    build(source, SCHEMA, GOTCHA, insert("Memories", id="m2", title="A second note", embedding=b"\xff\x00"))
    report = brain.take(source)
    assert (report.imported, report.skipped, report.kinds) == (2, (), {"sqlite": 2})
    old, new = brain.notes()["Memories/m1"], brain.notes()["Memories/m2"]
    assert (old.kind, old.type, old.title, old.body) == ("memory", "gotcha", "HTTP 409 means done", "# Why\n\nIt is.\n")
    assert (old.summary, old.status, old.confidence) == ("Treat it as success.", "confirmed", "high")
    assert (old.components, old.tags) == (("payments", "retry"), ("http-409", "idempotency"))
    assert (old.created_at, old.observed_at) == ("2026-05-28T20:26:40Z", "2026-06-02T12:15:00Z")
    assert (old.provenance.human, old.provenance.pull_request) == ("Alice", "12")
    assert (old.provenance.files, old.provenance.extra) == (("src/pay.py",), {"room": {"name": "Oslo"}})
    assert (old.superseded_by, new.supersedes) == (new.id, (old.id,))
    assert old.extra["metadata"] == {"a": ["b"]}
    assert old.extra["source_observed_at"] == "2026-06-02T12:15:00.250Z"  # its fraction is nowhere else
    assert old.extra["source_tags"] == ["HTTP 409", "idempotency"]
    assert new.extra["embedding"] == "base64:/wA="
    assert new.created_at == NOW


def test_a_work_row_becomes_a_work_record(brain: Brain, source: Path) -> None:
    record = insert(
        "work_items",
        title="Split the queue", owner="Alice", agent="codex", branch="feat/queue", files='["src/q.py"]',
        components="payments", status="in_progress", startedAt="2026-06-02 10:00:00", expires_at=1_780_000_000_000,
    )  # fmt: skip
    build(source, WORK, record, insert("work_items", title="Done", completed_at="2026-06-03"))
    brain.take(source, "sqlite")
    note, done = brain.notes()["work_items/1"], brain.notes()["work_items/2"]
    assert (note.kind, note.status, note.extra["source_status"]) == ("work-state", "in-progress", "in_progress")
    assert (note.owner, note.agent, note.branch, note.files) == ("Alice", "codex", "feat/queue", ("src/q.py",))
    assert (note.components, note.started_at) == (("payments",), "2026-06-02T10:00:00Z")
    assert note.lease_until == "2026-05-28T20:26:40Z"
    assert (done.status, done.completed_at) == ("completed", "2026-06-03T00:00:00Z")


def test_importing_again_changes_nothing(brain: Brain, source: Path) -> None:
    build(source, SCHEMA, WORK, GOTCHA, insert("Memories", id="m2", title="B"), insert("work_items", title="W"))
    brain.take(source)
    before = brain.state()
    again = brain.take(source)
    assert (again.imported, again.unchanged, again.skipped) == (0, 3, ())
    assert brain.state() == before


def test_a_changed_row_updates_its_note_and_a_note_edited_here_is_left(brain: Brain, source: Path) -> None:
    build(source, SCHEMA, GOTCHA, insert("Memories", id="m2", title="B"))
    brain.take(source)
    paths = {naming.stem(path): path for path in brain.state()}
    mine = brain.root / paths[brain.notes()["Memories/m2"].id]
    mine.write_bytes(mine.read_bytes() + b"Mine.\n")
    build(source, "UPDATE Memories SET title = title || ' now'")
    report = brain.take(source)
    assert (report.imported, report.updated, report.unchanged) == (1, 1, 0)
    assert [item.path for item in report.skipped] == ["Memories/m2"]
    assert "edited here" in report.skipped[0].reason
    assert brain.notes()["Memories/m1"].title == "HTTP 409 means done now"
    assert mine.read_bytes().endswith(b"Mine.\n")
    assert len(brain.notes()) == 2


def test_two_databases_with_the_same_ids_make_notes_of_their_own(brain: Brain, source: Path) -> None:
    build(source, SCHEMA, insert("Memories", id="1", title="One"))
    other = build(source.with_name("other.db"), SCHEMA, insert("Memories", id="1", title="Other"))
    assert brain.take(source).imported == brain.take(other).imported == 1
    assert len(brain.state()) == 2
    assert brain.take(source).unchanged == brain.take(other).unchanged == 1


def test_a_moved_database_makes_the_same_notes(brain: Brain, source: Path, tmp_path: Path) -> None:
    build(source, SCHEMA, GOTCHA)
    brain.take(source)
    before = brain.state()
    assert brain.take(source.rename(tmp_path / "elsewhere.db")).unchanged == 1
    assert brain.state() == before


def test_what_cannot_be_read_is_named_and_kept(brain: Brain, source: Path) -> None:
    odd = insert(
        "Memories", id="m1", title="T", type="rumour", status="weird", confidence=0.9, createdAt="soon", supersedes="m9"
    )
    build(source, SCHEMA, odd)
    report = brain.take(source)
    note = only(brain)
    assert (note.type, note.status, note.confidence, note.supersedes) == ("discovery", "observed", "medium", ())
    kept = ("type", "status", "confidence", "createdAt", "supersedes")
    assert [note.extra[f"source_{key}"] for key in kept] == ["rumour", "weird", "0.9", "soon", "m9"]
    assert sorted(doubt.reason.partition(":")[0] for doubt in report.doubts) == sorted(kept)
    assert {doubt.path for doubt in report.doubts} == {"Memories/m1"}


def test_a_decision_is_a_decision_and_links_reach_other_tables(brain: Brain, source: Path) -> None:
    build(
        source, SCHEMA, "CREATE TABLE notes (id INTEGER, kind, title, related)",
        insert("Memories", id="a", type="decision", title="D", relates='["1"]'),
        insert("notes", id=1, kind="gotcha", title="N", related="Memories/a"),
    )  # fmt: skip
    brain.take(source)
    decision, note = brain.notes()["Memories/a"], brain.notes()["notes/1"]
    assert (decision.kind, decision.status, note.type) == ("decision", "decision", "gotcha")
    assert (decision.relates, note.relates) == ((note.id,), (decision.id,))


def test_a_row_that_is_one_json_object_has_its_keys_as_columns(brain: Brain, source: Path) -> None:
    data = {"id": "x", "title": "T", "observedAt": "2026-01-01", "tags": ["a"], "rank": 3, "none": None}
    build(source, "CREATE TABLE memory (id TEXT, data TEXT)", insert("memory", id="x", data=json.dumps(data)))
    brain.take(source)
    note = only(brain)
    assert (note.title, note.observed_at, note.tags) == ("T", "2026-01-01T00:00:00Z", ("a",))
    assert {key: value for key, value in note.extra.items() if not key.startswith("source_")} == {"rank": "3"}


@pytest.mark.parametrize("column", ["content", "metadata", "id", "title"])
def test_a_row_with_a_secret_is_skipped_and_its_value_shown_nowhere(brain: Brain, source: Path, column: str) -> None:
    value = json.dumps({"deep": [TOKEN]}) if column == "metadata" else f"token {TOKEN}"
    build(source, SCHEMA, insert("Memories", **{"id": "m1", "title": "T", column: value}), insert("Memories", id="m2"))
    report = brain.take(source)
    (skipped,) = report.skipped
    assert skipped.reason.startswith(f"secret: {column} (")
    assert TOKEN not in skipped.reason + skipped.path
    assert list(brain.notes()) == ["Memories/m2"]
    assert not any(TOKEN.encode() in data for data in brain.state().values())


def test_long_values_go_to_the_end_of_the_body(brain: Brain, source: Path) -> None:
    transcript = "```\n" + "one two three\n" * 2000
    build(source, SCHEMA, insert("Memories", id="m1", title="T", content="Body.", metadata=transcript))
    brain.take(source)
    assert only(brain).body == f"Body.\n\n## metadata\n\n````\n{transcript}\n````\n"


def test_columns_that_are_too_many_for_a_frontmatter_go_to_the_end_of_the_body(brain: Brain, source: Path) -> None:
    cells = {f"c{number}": f"value {number}" for number in range(100)}
    build(source, f"CREATE TABLE notes (id, {', '.join(cells)})", insert("notes", id="a", **cells))
    brain.take(source)
    note = only(brain)
    assert len(note.extra) > 40
    assert all(
        note.extra.get(key) == value or f"## {key}\n\n```\n{value}\n" in note.body for key, value in cells.items()
    )


def test_duplicate_long_and_missing_ids_and_large_fields_are_accounted_for(brain: Brain, source: Path) -> None:
    build(
        source, "CREATE TABLE notes (id, title)",
        insert("notes", id="a", title="First"), insert("notes", id="a", title="Second"),
        insert("notes", id=None, title="Third"), insert("notes", id="b", title="x" * ((1 << 20) + 1)),
        insert("notes", id="c" * 300, title="Fifth"), insert("notes", id=b"\xfe\x01", title=b"\xfe"),
    )  # fmt: skip
    report = brain.take(source)
    assert {path: note.title for path, note in brain.notes().items()} == {
        "notes/a": "First", "notes/row-3": "Third", "notes/fe01": "notes/fe01",
    }  # fmt: skip
    reasons = {item.path: item.reason for item in report.skipped}
    assert reasons.pop("notes/a") == "an earlier row has the same id"
    assert reasons.pop("notes/b") == "a field is larger than 1 MiB"
    assert list(reasons.values()) == ["its id is longer than 200 characters"]
    assert brain.notes()["notes/fe01"].extra["source_title"] == "base64:/g=="


# the file


def test_a_file_that_is_no_database_is_refused_with_the_reason(brain: Brain, source: Path) -> None:
    for data in (b"", b"# markdown\n", os.urandom(4096)):
        source.write_bytes(data)
        with pytest.raises(Refused, match="not a SQLite database, or it is encrypted"):
            brain.take(source, "sqlite")
    with pytest.raises(Refused, match="no database file"):
        brain.take(source.parent, "sqlite")


@pytest.mark.parametrize("keep", [20, 100, 5000])
def test_a_database_that_was_cut_short_is_refused(brain: Brain, source: Path, keep: int) -> None:
    build(source, SCHEMA, *(insert("Memories", id=str(n), title="x" * 500) for n in range(100)))
    source.write_bytes(source.read_bytes()[:keep])
    with pytest.raises(Refused, match="cannot be read as a SQLite database"):
        brain.take(source)
    assert brain.state() == {}


@pytest.mark.parametrize("seed", range(12))
def test_a_corrupt_database_is_refused_or_read_but_never_fails_otherwise(brain: Brain, source: Path, seed: int) -> None:
    build(source, SCHEMA, *(insert("Memories", id=str(n), title=f"title {n}" * 20) for n in range(60)))
    data = bytearray(source.read_bytes())
    for n in range(40):
        data[100 + (seed * 7919 + n * 104729) % (len(data) - 100)] = (seed * 31 + n * 17) % 256
    source.write_bytes(data)
    try:
        report = brain.take(source)
    except Refused:
        assert brain.state() == {}
    else:
        assert report.imported + len(report.skipped) <= 60


def test_a_database_without_a_known_table_is_refused_with_the_tables_it_has(brain: Brain, source: Path) -> None:
    build(source, "CREATE TABLE facts (id)", "CREATE VIEW memories AS SELECT 1 AS id, 'x' AS title")
    with pytest.raises(Refused, match="its tables are facts"):
        brain.take(source)


def test_views_virtual_tables_triggers_and_generated_columns_are_not_read(brain: Brain, source: Path) -> None:
    build(
        source, "CREATE TABLE memories (id, title, loud GENERATED ALWAYS AS (upper(title)) VIRTUAL)",
        "CREATE VIRTUAL TABLE notes USING fts5(id, title)", "INSERT INTO notes VALUES ('n', 'N')",
        "CREATE VIEW work AS SELECT * FROM memories",
        "CREATE TRIGGER t AFTER INSERT ON memories BEGIN DELETE FROM memories; END",
        "DROP TRIGGER t", insert("memories", id="m", title="quiet"),
        "CREATE INDEX dear ON memories (length(hex(zeroblob(1000))), title)",
    )  # fmt: skip
    assert brain.take(source).imported == 1
    assert "loud" not in only(brain).extra


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
@pytest.mark.parametrize("what", ["endless", "link", "pipe", "folder"])
def test_a_log_that_is_no_file_of_sqlite_is_refused_and_not_read(
    brain: Brain, source: Path, tmp_path: Path, ending: str, what: str
) -> None:
    """A link to a device without an end would fill the disk."""
    build(source, SCHEMA, insert("Memories", id="m1", title="T"))
    data = bytearray(source.read_bytes())
    if ending == "-wal":
        data[18:20] = bytes((2, 2))
        source.write_bytes(data)
    log = source.with_name(source.name + ending)
    if what == "endless":
        log.symlink_to("/dev/zero")
    elif what == "link":
        (tmp_path / "private").write_bytes(b"private")
        log.symlink_to(tmp_path / "private")
    elif what == "pipe":
        os.mkfifo(log)
    else:
        log.mkdir()
    with pytest.raises(Refused, match="is no ordinary file"):
        brain.take(source)
    assert brain.notes() == {}


def test_a_pipe_is_no_database_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memory.db")
    assert not import_sqlite.is_database(tmp_path / "memory.db")


def test_a_log_beside_the_database_counts_and_nothing_is_left_there(brain: Brain, source: Path) -> None:
    with closing(sqlite3.connect(source, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA wal_autocheckpoint=0")
        conn.execute(SCHEMA)
        conn.execute(*insert("Memories", id="m1", title="Only in the log"))
        conn.execute("BEGIN")
        conn.execute(*insert("Memories", id="m2", title="Not committed"))
        before = folder_of(source)
        brain.take(source)
        assert folder_of(source) == before
    assert [note.title for note in brain.notes().values()] == ["Only in the log"]
    before = folder_of(source)
    assert list(before) == ["memory.db"]
    brain.take(source)
    assert folder_of(source) == before


def test_a_read_only_folder_is_enough(brain: Brain, source: Path) -> None:
    build(source, "PRAGMA journal_mode=WAL", SCHEMA, GOTCHA)
    source.chmod(0o400)
    source.parent.chmod(0o500)
    try:
        assert brain.take(source).imported == 1
    finally:
        source.parent.chmod(0o700)


def test_a_transaction_that_another_process_has_open_is_not_seen_or_is_waited_for(
    brain: Brain, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(source, SCHEMA, insert("Memories", id="m1", title="Committed"))
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('PRAGMA cache_size=1');"
        " c.execute('BEGIN EXCLUSIVE'); n = int(sys.argv[2]);"
        " c.executemany('INSERT INTO Memories (id, title) VALUES (?, ?)', [(f'x{i}', 'y' * 3000) for i in range(n)]);"
        " print('ready', flush=True); sys.stdin.read()"
    )
    monkeypatch.setattr(import_sqlite, "_WAIT", 0.1)
    for rows in (0, 50):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(source), str(rows)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            before = folder_of(source)
            if "memory.db-journal" in before:
                brain.take(source)
                assert [note.title for note in brain.notes().values()] == ["Committed"]
            else:
                with pytest.raises(Busy, match="locked by another process"):
                    brain.take(source)
            assert folder_of(source) == before
            writer.kill()


# the law of losslessness

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
cells = st.one_of(
    st.text(max_size=40).filter(lambda text: "\0" not in text),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=30),
    json_values.map(json.dumps),
)
NAMES = (
    "title", "summary", "body", "type", "kind", "status", "confidence", "createdAt", "tags", "files", "provenance",
    "owner", "supersedes", "relates", "metadata", "source_root", "n", "extra", "Weird-Key", "branch", "valid_from",
    "commit",
)  # fmt: skip
names = st.sampled_from(NAMES)


@settings(max_examples=150, deadline=None)
@given(row=st.dictionaries(names, cells, max_size=8), is_work=st.booleans())
def test_every_value_of_a_row_can_be_found_in_its_note(row: dict[str, Any], is_work: bool) -> None:
    found = Row("memories/1", "memories", "1", is_work, {"id": 1, **row})
    drafted = import_records.draft(found, Origin("abcdefgh", None, NOW))
    ((_, note, _),) = import_records.linked([drafted])
    data = codec.to_bytes(note, "memories/x.md")
    again, _ = codec.parse(data.decode(), "memories/x.md", note.kind)
    assert again == note
    for column, cell in row.items():
        assert _is_kept(note, column, cell), (column, cell)


def _is_kept(note: Note, column: str, cell: object) -> bool:
    kept = [note.extra[key] for key in (column, f"source_{column}") if key in note.extra]
    if isinstance(cell, bytes):
        return f"base64:{base64.b64encode(cell).decode()}" in kept
    text = cell if isinstance(cell, str) else repr(cell)
    if text in kept:
        return True
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, list | dict) and value in kept:
        return True
    return _in_fields(note, column, text, value)


def _in_fields(note: Note, column: str, text: str, value: object) -> bool:
    """Whether a field of the note says it; nothing is said by an empty text, list or object in a known column."""
    if text.strip() in ("", "[]", "{}", "null"):
        return True
    key = {"createdAt": "created_at"}.get(column, column)
    items = [value] if not isinstance(value, list) else value
    said: Any = getattr(note, key, None)
    origin = getattr(note.provenance, key, None)
    if key == "provenance":
        return isinstance(value, dict) and all(_in_provenance(note, key, item) for key, item in value.items())
    if key == "kind":
        return text in (note.kind, note.type)
    if isinstance(said, tuple) or isinstance(origin, tuple):
        wanted = tuple(i if isinstance(i, str) else repr(i) for i in items) if isinstance(value, list) else (text,)
        return wanted in (said, origin)
    if key.endswith(("_at", "_from")):
        return said is not None
    return text in (said, origin)


def _in_provenance(note: Note, key: str, value: object) -> bool:
    kept = note.provenance.extra.get(key)
    return value is None or kept == value or kept == json.dumps(value)
