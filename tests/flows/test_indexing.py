"""The index may vanish, rot or lie at any time: the answer is right, and the index heals."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from commonwealth import atomic
from commonwealth.errors import Refused
from commonwealth.flows import brains, doctor, freshness, indexing, recall, setup
from commonwealth.flows.brains import Brain
from commonwealth.index import schema, update
from commonwealth.index.query import Query
from commonwealth.notes import codec, naming, store

from .conftest import NOW, note_text, recorded, settle, spawn, together, write

PlainGit = Callable[..., str]


def titles(brain: Brain, text: str = "", *, sweep: bool = True) -> list[str]:
    found = recall.search(brain, Query(text=text, kind=("memory", "decision"), limit=100, now=NOW), sweep=sweep)
    return sorted(hit.note.title for hit in found.hits)


def rows(brain: Brain) -> dict[str, tuple[int, int]]:
    with closing(schema.connect(brain.index_dir)) as conn:
        return update.files(conn)


def on_disk(brain: Brain) -> set[str]:
    return {path for path, _, _ in store.walk(brain.root, brain.folders)}


@pytest.fixture
def filled(brain: Brain) -> Brain:
    """A brain with five notes and an index that knows them."""
    write(brain, {f"memory/2026-0{n}/n{n}.md": note_text(f"Note {n}", f"About queue {n}.\n" * 50) for n in range(1, 6)})
    settle(brain)
    return brain


ALL = [f"Note {n}" for n in range(1, 6)]


# Damage


def database(brain: Brain) -> Path:
    path = schema.current(brain.index_dir)
    assert path is not None
    return path


def delete(brain: Brain) -> None:
    shutil.rmtree(brain.index_dir)


def delete_database(brain: Brain) -> None:
    database(brain).unlink()


def truncate(brain: Brain) -> None:
    os.truncate(database(brain), database(brain).stat().st_size // 2)


def empty(brain: Brain) -> None:
    os.truncate(database(brain), 0)


def spoil_header(brain: Brain) -> None:
    with database(brain).open("r+b") as file:
        file.write(b"no database at all")


def empty_pointer(brain: Brain) -> None:
    (brain.index_dir / schema.POINTER).write_text("", encoding="utf-8")


def wrong_pointer(brain: Brain) -> None:
    (brain.index_dir / schema.POINTER).write_text("../../etc/passwd\n", encoding="utf-8")


def pointer_is_a_folder(brain: Brain) -> None:
    (brain.index_dir / schema.POINTER).unlink()
    (brain.index_dir / schema.POINTER).mkdir()


def foreign_schema(brain: Brain) -> None:
    with closing(sqlite3.connect(database(brain))) as conn:
        conn.execute("PRAGMA user_version = 7")


def no_state(brain: Brain) -> None:
    with closing(sqlite3.connect(database(brain), isolation_level=None)) as conn:
        conn.execute("DELETE FROM state")


def another_folder(brain: Brain) -> None:
    with closing(sqlite3.connect(database(brain), isolation_level=None)) as conn:
        conn.execute("UPDATE state SET value = '/elsewhere' WHERE key = 'root'")


def a_file_in_its_place(brain: Brain) -> None:
    delete(brain)
    brain.index_dir.write_text("in the way", encoding="utf-8")


DAMAGES = [
    delete, delete_database, truncate, empty, spoil_header, empty_pointer, wrong_pointer, pointer_is_a_folder,
    foreign_schema, no_state, another_folder, a_file_in_its_place,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_answers_and_heals(filled: Brain, damage: Callable[[Brain], None]) -> None:
    damage(filled)
    assert titles(filled, "queue") == ALL
    assert recall.read(filled, "n3").note.title == "Note 3"
    assert recorded(filled, "New fact")
    assert titles(filled, "new fact") == ["New fact"]
    if damage not in (a_file_in_its_place, pointer_is_a_folder):
        assert rows(filled).keys() == on_disk(filled)


def test_every_page_may_be_overwritten(filled: Brain) -> None:
    chance = random.Random(1)
    pages = database(filled).stat().st_size // schema.PAGE
    whole = database(filled).read_bytes()
    for page in range(pages):
        path = database(filled)
        for tail in schema.COMPANIONS:
            Path(f"{path}{tail}").unlink(missing_ok=True)
        spoiled = bytearray(whole)
        spoiled[page * schema.PAGE : (page + 1) * schema.PAGE] = chance.randbytes(schema.PAGE)
        path.write_bytes(spoiled)
        assert titles(filled, "queue") == ALL, page
        assert recall.read(filled, "n3").note.body.startswith("About queue 3"), page
        assert titles(filled) == ALL, page


def test_an_index_that_cannot_be_written_still_answers_and_the_doctor_says_so(filled: Brain) -> None:
    a_file_in_its_place(filled)
    write(filled, {"memory/n9.md": note_text("Note 9", "queue")})
    assert titles(filled, "queue", sweep=False) == [*ALL, "Note 9"]
    with pytest.raises(Refused, match="cannot be written"):
        indexing.rebuild(filled)
    found = [check for check in doctor.doctor(str(filled.root), "/") if check.name == "index"]
    assert [check.state for check in found] == ["fail"]


AS_NOBODY = """
import os, sys, tempfile
from pathlib import Path
from commonwealth.flows import brains, recall
from commonwealth.index.query import Query
def look(sweep):
    brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
    found = recall.search(brain, Query(text="queue", now="2026-07-01T10:00:00Z"), sweep=sweep)
    return ",".join(sorted(hit.note.title for hit in found.hits))
tempfile.gettempdir()
look(True)  # whoever this process becomes may not be able to read python's own files
os.setgid(65534)
os.setuid(65534)
print("ready", flush=True)
sys.stdin.readline()
print(look(True), look(False), sep="\\n")
"""


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that everybody may look into, which those of the test runner are not."""
    folder = Path(tempfile.mkdtemp(prefix="open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_brain_of_somebody_elses_is_read_without_writing_a_byte(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = setup.init(open_folder / "brain", name="acme", remote=None, cwd=str(open_folder), now=NOW).brain
    write(brain, {f"memory/2026-0{n}/n{n}.md": note_text(f"Note {n}", "queue") for n in range(1, 6)})
    settle(brain)
    for path in brain.index_dir.iterdir():
        path.chmod(0o644)
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    for name, value in {**settings, "HOME": str(open_folder), "COMMONWEALTH_HOME": str(open_folder / "home")}.items():
        monkeypatch.setenv(name, value)
    before = {path: path.stat().st_mtime_ns for path in brain.root.rglob("*")}
    [said] = together([spawn(AS_NOBODY, str(brain.root))])
    assert said.splitlines() == [",".join(ALL)] * 2
    process = spawn(AS_NOBODY, str(brain.root))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    write(brain, {"memory/n9.md": note_text("Note 9", "queue")})
    said, errors = process.communicate("\n", timeout=60)
    assert process.returncode == 0, errors
    assert said.splitlines() == [",".join([*ALL, "Note 9"])] * 2
    changed = {path for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert {path for path in changed if path.parent != brain.index_dir} == {brain.root / "memory"}


def test_a_locked_index_still_answers(filled: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 50)
    with closing(sqlite3.connect(database(filled), isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        write(filled, {"memory/n9.md": note_text("Note 9", "queue")})
        assert titles(filled, "queue") == [*ALL, "Note 9"]
        conn.execute("ROLLBACK")
    assert titles(filled, "queue") == [*ALL, "Note 9"]
    assert rows(filled).keys() == on_disk(filled)


# Many processes

ASK = """
import sys
from pathlib import Path
from commonwealth.flows import brains, indexing, recall
from commonwealth.index.query import Query
made = []
build = indexing.build.build
indexing.build.build = lambda *args: made.append(1) or build(*args)
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
print("ready", flush=True)
sys.stdin.readline()
found = recall.search(brain, Query(text="queue", now="2026-07-01T10:00:00Z"))
print(len(made), found.total)
"""


def test_of_many_that_find_no_index_one_builds_it(filled: Brain) -> None:
    delete(filled)
    said = together([spawn(ASK, str(filled.root)) for _ in range(6)])
    assert sorted(line.strip() for line in said) == ["0 5"] * 5 + ["1 5"]


def test_of_many_that_find_it_rotten_one_builds_it(filled: Brain) -> None:
    spoil_header(filled)
    said = together([spawn(ASK, str(filled.root)) for _ in range(6)])
    assert sorted(line.strip() for line in said) == ["0 5"] * 5 + ["1 5"]


WRITER = """
import sys
from pathlib import Path
from commonwealth.flows import brains, recall
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.flows.update import SectionEdit, update
from commonwealth.index.query import Query
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
me, shared, now = sys.argv[2], sys.argv[3:], "2026-07-01T10:00:00Z"
print("ready", flush=True)
sys.stdin.readline()
for n in range(25):
    receipt = remember(brain, Draft(f"Marker w{me}n{n}", body=f"unique w{me}n{n}"), session=Session(), now=now)
    assert receipt.state == "committed", receipt
    if n % 5 == 0:
        line = SectionEdit("Log", append=f"- edit w{me}e{n}")
        receipt = update(brain, shared[n // 5 % 4], {}, section=line, session=Session(), now=now)
        assert receipt.state == "committed", receipt
    found = recall.search(brain, Query(text=f"w{me}n{n}", now=now), sweep=False)
    assert found.total == 1, (n, found.total)
"""


def test_four_writers_lose_nothing_and_the_index_is_what_the_files_say(brain: Brain, git: PlainGit) -> None:
    shared = [recorded(brain, f"Shared {n}", body="## Log\n\n- start\n") for n in range(4)]
    together([spawn(WRITER, str(brain.root), str(w), *shared) for w in range(4)])
    assert rows(brain).keys() == on_disk(brain)
    assert len(on_disk(brain)) == 4 + 100 + 1
    for w in range(4):
        for n in range(25):
            assert recall.search(brain, Query(text=f"w{w}n{n}", now=NOW), sweep=False).total == 1
        for n in range(0, 25, 5):
            hits = recall.search(brain, Query(text=f"w{w}e{n}", now=NOW), sweep=False).hits
            assert [hit.note.body.count(f"- edit w{w}e{n}\n") for hit in hits] == [1]
    settle(brain)
    before = rows(brain)
    indexing.rebuild(brain)
    assert rows(brain).keys() == before.keys()
    assert git(brain.root, "status", "--porcelain") == ""


# What a refresh reads


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes that are read, as they are read."""
    seen: list[str] = []
    read = store.Reader.note

    def counting(reader: store.Reader, path: str, kind: str) -> object:
        seen.append(path)
        return read(reader, path, kind)

    monkeypatch.setattr(store.Reader, "note", counting)
    return seen


@pytest.mark.parametrize("many", [100, 2000])
def test_one_change_costs_one_read_however_large_the_brain(
    brain: Brain, git: PlainGit, reads: list[str], many: int
) -> None:
    folders = [f"memory/2026-{1 + n % 6:02}" for n in range(many)]
    write(brain, {f"{folders[n]}/n{n}.md": note_text(f"Note {n}") for n in range(many)})
    git(brain.root, "add", "-A")
    git(brain.root, "commit", "-qm", "by hand")
    settle(brain)
    reads.clear()
    indexing.refresh(brain)
    assert reads == []
    write(brain, {"memory/2026-03/new.md": note_text("New")})
    indexing.refresh(brain)
    assert reads == ["memory/2026-03/new.md"]
    settle(brain)
    reads.clear()
    recorded(brain, "Fresh")
    assert len([path for path in reads if path.startswith("memory/")]) == 1
    settle(brain)
    reads.clear()
    write(brain, {"memory/2026-04/n3.md": note_text("Changed")})
    git(brain.root, "commit", "-qam", "one more")
    indexing.refresh(brain)
    assert reads == ["memory/2026-04/n3.md"]


def test_a_file_that_changed_with_the_clock_standing_still_is_read_again(brain: Brain) -> None:
    for number in range(20):  # far faster than a file system's clock can tell apart
        write(brain, {"memory/a.md": note_text("Quick", f"word{number:02}")})
        assert titles(brain, f"word{number:02}") == ["Quick"]


# Folders


def test_folders_come_and_go(filled: Brain) -> None:
    write(filled, {"memory/deep/er/still/x.md": note_text("Deep")})
    assert titles(filled, sweep=False) == ["Deep", *ALL]
    settle(filled)
    shutil.rmtree(filled.root / "memory/deep/er")
    assert titles(filled, sweep=False) == ALL
    (filled.root / "memory/2026-01").rename(filled.root / "memory/2025-12")
    assert titles(filled, sweep=False) == ALL
    assert rows(filled).keys() == on_disk(filled)
    shutil.rmtree(filled.root / "memory")
    assert titles(filled, sweep=False) == []
    assert rows(filled).keys() == on_disk(filled)
    write(filled, {"memory/again.md": note_text("Again")})
    assert titles(filled, sweep=False) == ["Again"]


def test_a_folder_replaced_by_a_file_or_a_link_takes_its_notes_along(filled: Brain, tmp_path: Path) -> None:
    folder = filled.root / "memory/2026-01"
    folder.rename(tmp_path / "away")
    folder.symlink_to(tmp_path / "away")
    assert titles(filled, sweep=False) == ALL[1:]
    folder.unlink()
    folder.write_text("a file", encoding="utf-8")
    assert titles(filled, sweep=False) == ALL[1:]
    folder.unlink()
    (tmp_path / "away").rename(folder)
    assert titles(filled, sweep=False) == ALL


def test_a_nested_repository_is_not_the_brains(filled: Brain, git: PlainGit) -> None:
    write(filled, {"memory/other/x.md": note_text("Theirs")})
    git(filled.root / "memory/other", "init", "-q")
    assert titles(filled) == ALL


def test_a_kinds_folder_in_anothers_is_read_once(brain: Brain, reads: list[str]) -> None:
    config = brain.root / ".commonwealth/config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "folders: {decisions: memory/adr}\n", encoding="utf-8")
    moved = brains.open_brain(brain.root, cwd=brain.cwd)
    write(moved, {"memory/adr/0001.md": "# One\n", "memory/adr/old/0002.md": "# Two\n", "memory/x.md": "# Three\n"})
    indexing.rebuild(moved)
    assert sorted(reads) == ["memory/adr/0001.md", "memory/adr/old/0002.md", "memory/x.md"]
    assert {hit.note.title: hit.note.kind for hit in recall.search(moved, Query(now=NOW)).hits} == {
        "One": "decision",
        "Two": "decision",
        "Three": "memory",
    }
    settle(moved)
    assert rows(moved).keys() == on_disk(moved)


def test_another_layout_makes_another_index(filled: Brain) -> None:
    config = filled.root / ".commonwealth/config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "folders: {memory: notes}\n", encoding="utf-8")
    moved = brains.open_brain(filled.root, cwd=filled.cwd)
    write(moved, {"notes/elsewhere.md": note_text("Elsewhere")})
    assert sorted(titles(moved)) == sorted([*ALL, "Elsewhere"])
    assert titles(filled) == ALL


# Whether it is current


def add(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/2026-01/new.md": note_text("New")})


def add_folder(brain: Brain, git: PlainGit) -> None:
    (brain.root / "memory/new").mkdir()


def remove(brain: Brain, git: PlainGit) -> None:
    (brain.root / "memory/2026-01/n1.md").unlink()


def rename(brain: Brain, git: PlainGit) -> None:
    (brain.root / "memory/2026-01/n1.md").rename(brain.root / "memory/2026-01/m1.md")


def replace_file(brain: Brain, git: PlainGit) -> None:
    atomic.replace(brain.root / "memory/2026-01/n1.md", note_text("Replaced").encode())


def commit_by_hand(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "add", "-A")
    git(brain.root, "commit", "-qm", "by hand")


def stage_an_edit(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/2026-01/n1.md": note_text("Edited in place")})
    git(brain.root, "add", "-A")


def remove_folder(brain: Brain, git: PlainGit) -> None:
    shutil.rmtree(brain.root / "memory/2026-01")


def remove_kind(brain: Brain, git: PlainGit) -> None:
    shutil.rmtree(brain.root / "memory")


def lose_index(brain: Brain, git: PlainGit) -> None:
    delete(brain)


CHANGES = [
    add, add_folder, remove, rename, replace_file, commit_by_hand, stage_an_edit, remove_folder, remove_kind,
    lose_index,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_cheap_to_see_is_seen(filled: Brain, git: PlainGit, change: Callable[[Brain, PlainGit], None]) -> None:
    assert freshness.is_current(filled)
    assert not indexing.refresh(filled)
    change(filled, git)
    assert not freshness.is_current(filled)
    indexing.ensure(filled)
    expected = {path: codec.parse(text, path, "memory")[0].title for path, text in texts(filled).items()}
    assert titles(filled, sweep=False) == sorted(expected.values())
    settle(filled)
    assert freshness.is_current(filled)


def texts(brain: Brain) -> dict[str, str]:
    paths = [path for path in on_disk(brain) if naming.kind_of(path, brain.folders) in ("memory", "decision")]
    return {path: (brain.root / path).read_text(encoding="utf-8") for path in paths}


def test_a_brain_of_another_layout_is_not_current(filled: Brain) -> None:
    config = filled.root / ".commonwealth/config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "folders: {memory: notes}\n", encoding="utf-8")
    assert not freshness.is_current(brains.open_brain(filled.root, cwd=filled.cwd))
