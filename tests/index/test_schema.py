"""An index may be missing, damaged, foreign, locked or read-only at any time: it is noticed, and replaced whole."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from commonwealth.errors import Busy
from commonwealth.index import schema
from commonwealth.index.build import build
from commonwealth.index.health import damage
from commonwealth.index.query import Query, search
from commonwealth.index.schema import Unusable, connect, current, get_state
from commonwealth.index.update import apply
from commonwealth.model import Note

from .examples import connected, file, ids, note

SOURCE = str(Path(schema.__file__).parents[2])
NOTES = [file(note(f"n{i}", f"Title {i}", "the payment service retries " * 20)) for i in range(300)]


def test_there_is_no_index_before_the_first_build(tmp_path: Path) -> None:
    assert current(tmp_path / "none") is None
    with pytest.raises(Unusable, match="there is none"):
        connect(tmp_path / "none")


def test_a_build_replaces_the_generation_and_removes_the_old_one_with_its_log(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    first = build(folder, [file(note("a", "Apple"))], {"head": "1"})
    with closing(connect(folder, read_only=False)) as conn:
        apply(conn, [file(note("b", "Berry"))])
        assert first.with_name(first.name + "-wal").exists()
        second = build(folder, [file(note("c", "Cherry"))], {"head": "2"})
        assert ids(conn, "berry") == ["b"]
    assert current(folder) == second != first
    with closing(connect(folder)) as conn:
        assert ids(conn) == ["c"]
        assert get_state(conn) == {"head": "2"}
    assert {name for name in os.listdir(folder) if not name.startswith(second.name)} == {"current"}


def test_a_build_that_fails_leaves_the_index_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    first = build(folder, NOTES[:3], {})

    def failing() -> object:
        yield NOTES[4]
        raise RuntimeError("the caller's own failure")

    with pytest.raises(RuntimeError):
        build(folder, failing(), {})  # type: ignore[arg-type]
    assert current(folder) == first
    assert sorted(os.listdir(folder)) == sorted([first.name, "current"])


def test_what_a_killed_build_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    young, old = schema.claim(folder), schema.claim(folder)
    os.rename(young, folder / "brain-999999999999999998.db")
    os.rename(old, folder / "brain-999999999999999999.db")
    os.utime(folder / "brain-999999999999999999.db", (1, 1))
    path = folder / "brain-7.db"
    path.touch()
    schema.publish(path)
    assert sorted(os.listdir(folder)) == ["brain-7.db", "brain-999999999999999998.db", "current"]


def test_a_folder_that_was_deleted_starts_with_another_name(tmp_path: Path) -> None:
    names = set()
    for _ in range(3):
        names.add(build(tmp_path / "index", [], {}).name)
        shutil.rmtree(tmp_path / "index")
    assert len(names) == 3


@pytest.mark.parametrize("pointer", ["", "brain-1.db", "../x", "current", "brain-1.db\nx", "\xff"])
def test_a_pointer_to_nothing_means_no_index(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "current").write_text(pointer, encoding="latin-1")
    assert current(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"garbage " * 1000, b"SQLite format 3\x00" + b"\xff" * 8000])
def test_a_file_that_is_no_index_is_noticed(tmp_path: Path, content: bytes) -> None:
    build(tmp_path, NOTES, {}).write_bytes(content)
    for read_only in (True, False):
        with pytest.raises(Unusable):
            connect(tmp_path, read_only=read_only)


def test_an_index_of_another_schema_is_noticed(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES[:3], {})
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA user_version = 1")
    with pytest.raises(Unusable, match="another version"):
        connect(tmp_path)


def test_a_database_of_something_else_is_noticed(tmp_path: Path) -> None:
    path = build(tmp_path, [], {})
    path.unlink()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE notes (id)")
    with pytest.raises(Unusable):
        connect(tmp_path)


@pytest.mark.parametrize("keep", [100, 4096, 8192, 20_000, 60_000])
def test_a_truncated_index_is_noticed(tmp_path: Path, keep: int) -> None:
    path = build(tmp_path, NOTES, {})
    os.truncate(path, keep)
    with pytest.raises(Unusable):
        every_way(tmp_path)


def every_way(folder: Path) -> list[list[str]]:
    """Several searches over the whole index."""
    with closing(connect(folder)) as conn:
        return [
            [f"{hit.note} {hit.path}" for hit in search(conn, Query(text, now="2026-07-01T00:00:00Z", limit=500))[0]]
            for text in ("payment", "", "title 7", "services retrying")
        ]


def test_random_bytes_in_any_page_of_notes_are_noticed_or_harmless(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES, {})
    right, whole = every_way(tmp_path), path.read_bytes()
    rng = random.Random(7)
    silent = noticed = 0
    for _ in range(60):
        at = rng.randrange(schema.PAGE, len(whole) - 300)
        path.write_bytes(whole[:at] + rng.randbytes(256) + whole[at + 256 :])
        try:
            silent += every_way(tmp_path) != right
        except Unusable:
            noticed += 1
    # A damaged posting list can still hide a hit: only a full integrity check sees that.
    assert noticed >= 30
    assert silent <= 6


def test_a_full_check_finds_what_searching_does_not_meet(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES, {})
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert damage(conn) is None
    with closing(sqlite3.connect(path)) as conn:
        block = conn.execute("SELECT max(id) FROM words_data").fetchone()[0]
        conn.execute("UPDATE words_data SET block = zeroblob(100) WHERE id = ?", (block,))
        conn.commit()
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert damage(conn)


def test_a_stored_note_that_changed_behind_our_back_is_never_served(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES[:5], {})
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE texts SET body = 'the payment service is something else' WHERE rowid = 3")
        conn.commit()
    with closing(connect(tmp_path)) as conn, pytest.raises(Unusable, match="checksum"):
        ids(conn, "payment")


def test_a_note_that_is_missing_is_noticed(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES[:5], {})
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DELETE FROM texts WHERE rowid = 3")
        conn.commit()
    with closing(connect(tmp_path)) as conn, pytest.raises(Unusable, match="not there"):
        ids(conn, "payment")


def test_a_reader_writes_nothing_and_cannot(tmp_path: Path) -> None:
    path = build(tmp_path, NOTES[:5], {})
    before = path.read_bytes()
    with closing(connect(tmp_path)) as conn:
        assert len(ids(conn, "payment")) == 5
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            conn.execute("DELETE FROM notes")
    assert path.read_bytes() == before


READ = """
import os, sys
from pathlib import Path
from commonwealth.index.query import Query, search
from commonwealth.index.schema import connect
search  # what is needed is loaded before the rights are given up
if os.getuid() == 0:
    os.setuid(65534)
try:
    open(sys.argv[1] + "/probe", "w")
except OSError:
    conn = connect(Path(sys.argv[1]))
    print(len(search(conn, Query("payment", now="2026-07-01T00:00:00Z"))[0]))
"""


@pytest.mark.parametrize("log", ["none", "kept"])
def test_a_folder_that_cannot_be_written_can_be_searched(tmp_path: Path, log: str) -> None:
    for folder in (*tmp_path.parents, tmp_path):
        if folder.owner() == tmp_path.owner() and folder != Path("/") and not folder.samefile("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    build(tmp_path / "index", NOTES[:5], {})
    writer = connect(tmp_path / "index", read_only=False)
    if log == "kept":
        apply(writer, [file(note("extra", "Extra", "payment"))])
    else:
        writer.close()
    for name in (tmp_path / "index").iterdir():
        name.chmod(0o444)
    (tmp_path / "index").chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ, str(tmp_path / "index")],
            env={**os.environ, "PYTHONPATH": SOURCE},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    finally:
        (tmp_path / "index").chmod(0o755)
        writer.close()
    assert done.stdout == ("6\n" if log == "kept" else "5\n"), done.stderr


def test_without_shared_memory_the_index_uses_a_rollback_journal(tmp_path: Path) -> None:
    first = schema.claim(tmp_path)
    number = int(first.stem.partition("-")[2])
    (tmp_path / f"brain-{number + 1}.db-shm").mkdir()
    path = build(tmp_path, NOTES[:5], {})
    assert path.name == f"brain-{number + 1}.db"
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        apply(conn, [file(note("extra", "Extra", "payment"))])
        assert len(ids(conn, "payment")) == 6


WRITE = """
import sys
from pathlib import Path
from commonwealth.index.schema import connect
from commonwealth.index.update import apply
from commonwealth.model import Note, NoteFile
conn = connect(Path(sys.argv[1]), read_only=False)
for i in range(25):
    note = Note(f"{sys.argv[2]}-{i}", "memory", "Written beside others", body="word " * 50)
    apply(conn, [NoteFile(note, f"memory/{note.id}.md", 1, 1)])
"""


def test_several_writers_and_readers_work_at_once(tmp_path: Path) -> None:
    build(tmp_path, NOTES, {})
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path), name], env={**os.environ, "PYTHONPATH": SOURCE})
        for name in ("one", "two", "three")
    ]
    seen = [0]
    with closing(connect(tmp_path)) as first, closing(connect(tmp_path)) as second:
        while any(writer.poll() is None for writer in writers):
            seen += [search(conn, Query("written beside", now="2026-07-01T00:00:00Z"))[1] for conn in (first, second)]
        assert [writer.wait() for writer in writers] == [0, 0, 0]
        assert search(first, Query("written beside", now="2026-07-01T00:00:00Z"))[1] == 75
    assert seen == sorted(seen)


def test_a_writer_killed_in_its_transaction_leaves_the_last_state(tmp_path: Path) -> None:
    build(tmp_path, NOTES[:3], {})
    killed = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from commonwealth.index.schema import connect\n"
        "conn = connect(Path(sys.argv[1]), read_only=False)\n"
        "conn.execute('BEGIN IMMEDIATE')\n"
        "conn.execute('DELETE FROM notes')\n"
        "conn.execute('DELETE FROM texts')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", killed, str(tmp_path)], env={**os.environ, "PYTHONPATH": SOURCE}, check=False
    )
    assert done.returncode != 0
    with closing(connect(tmp_path)) as conn:
        assert len(ids(conn, "payment")) == 3


def test_a_locked_index_is_busy_and_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 1)
    path = build(tmp_path, NOTES[:3], {})
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Busy):
            connect(tmp_path)


LOADED = """
import sys
before = set(sys.modules)
import commonwealth.index.query, commonwealth.index.update, commonwealth.index.lookup
heavy = "click pydantic mcp git sqlite_utils asyncio importlib.metadata yaml email http urllib.request"
print(sorted(set(heavy.split()) & set(sys.modules)))
"""


def test_search_and_update_load_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == "[]\n"


def test_indexing_and_searching_change_no_byte_of_a_note(tmp_path: Path) -> None:
    made = Note("a", "memory", "T", body="text\r\n no end")
    build(tmp_path, [file(made)], {})
    with closing(connect(tmp_path)) as conn:
        assert search(conn, Query("text"))[0][0].note == made
    assert connected(tmp_path).parent == tmp_path


@pytest.mark.parametrize("name", ["current", "{db}", "{db}-wal", "{db}-shm"])
def test_a_pipe_in_the_place_of_a_file_of_the_index_is_unusable_and_hangs_nobody(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "index"
    path = build(folder, [file(note("a", "Apple"))], {})
    place = folder / name.format(db=path.name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    script = (
        "import pathlib, sys\nfrom commonwealth.index import schema\n"
        "for mode in (True, False):\n"
        "    try: schema.connect(pathlib.Path(sys.argv[1]), read_only=mode)\n"
        "    except schema.Unusable: print('unusable')\n"
    )
    command = [sys.executable, "-c", script, str(folder)]
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True, encoding="utf-8")
    assert done.stdout == "unusable\nunusable\n"
    build(folder, [file(note("b", "Berry"))], {})
    with closing(connect(folder)) as conn:
        assert ids(conn, "berry") == ["b"]
