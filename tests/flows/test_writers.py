"""Many writers on one clone: every way to write goes through one queue, and everything that was said is there."""

from __future__ import annotations

import ast
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import commonwealth
from commonwealth.errors import Refused
from commonwealth.faults import VARIABLE
from commonwealth.flows import importing, indexing, recall, syncing, synclog
from commonwealth.flows.brains import Brain
from commonwealth.flows.import_writing import BATCH
from commonwealth.index import schema
from commonwealth.notes import store
from tests.curate import tokens

from .conftest import NOW, Teammate, record, recorded, spawn, together, write

PlainGit = Callable[..., str]

SOURCE = Path(commonwealth.__file__).parent


def calls(path: Path) -> Iterator[str]:
    """The names of everything that a module calls or takes from another."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield f".{node.func.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


MAKES_COMMITS = {
    "commonwealth.repo.commit.commit",
    "commonwealth.repo.store.make_commit",
    "commonwealth.repo.store.make_own_commit",
    "commonwealth.repo.store.set_index",
    "commonwealth.repo.store.move_ref",
    "commonwealth.repo.workfiles.Prepared",
}


def test_one_function_commits_notes_for_everybody_who_writes() -> None:
    above = [path for name in ("flows", "adapters", "curate", "hosts") for path in (SOURCE / name).rglob("*.py")]
    used = {path.relative_to(SOURCE).as_posix(): set(calls(path)) for path in above}
    assert {name for name, names in used.items() if MAKES_COMMITS & names} == {"flows/saving.py"}
    writers = {name for name, names in used.items() if "commonwealth.repo.commit.Change" in names}
    assert {f"flows/{name}.py" for name in ("remember", "update", "import_writing", "saving", "history")} <= writers
    for name in writers - {"flows/saving.py", "flows/importing.py"}:  # an import's changes go through `Writer`
        assert "commonwealth.flows.saving" in used[name], name


COUNTED = """
import json, sys
from pathlib import Path
from commonwealth.flows import brains, importing
from commonwealth.repo.lock import WriterLock
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
enter, leave, held = WriterLock.__enter__, WriterLock.__exit__, []

def counted(self):
    found = enter(self)
    held.append("in")
    return found

def left(self, *how):
    leave(self, *how)
    held.append("out")
    if held.count("out") == 1:  # the first batch is in: let another writer come
        print("batch", flush=True)
        sys.stdin.readline()

WriterLock.__enter__, WriterLock.__exit__ = counted, left
report = importing.import_folder(brain, Path(sys.argv[2]), kind="markdown", now="2026-07-01T10:00:00Z")
print(json.dumps([report.imported, [reason for _, reason in map(lambda s: (s.path, s.reason), report.skipped)], held]))
"""


def sources(folder: Path, number: int) -> Path:
    folder.mkdir()
    for one in range(number):
        (folder / f"note-{one:03}.md").write_text(f"# Note {one}\n\nBody of token-{one:03}.\n", encoding="utf-8")
    return folder


def test_an_import_lets_the_lock_go_between_batches_and_other_writers_come_in(
    brain: Brain, tmp_path: Path, git: PlainGit
) -> None:
    folder = sources(tmp_path / "source", 2 * BATCH + 10)
    process = spawn(COUNTED, str(brain.root), str(folder))
    assert process.stdout is not None
    assert process.stdout.readline() == "batch\n", process.communicate()[1]
    mine = recorded(brain, "Recorded amid an import")
    said, errors = process.communicate("\n", timeout=120)
    assert process.returncode == 0, errors
    imported, skipped, held = json.loads(said)
    assert (imported, skipped, held) == (2 * BATCH + 10, [], ["in", "out"] * 3)
    subjects = git(brain.root, "log", "--format=%s").splitlines()[:4]
    assert [subject.split()[0] for subject in subjects] == ["Import", "Import", "Remember:", "Import"]
    assert recall.locate(brain, mine).id == mine
    assert git(brain.root, "status", "--porcelain") == ""


def test_a_note_that_is_edited_here_amid_its_import_is_left_and_named(brain: Brain, tmp_path: Path) -> None:
    folder = sources(tmp_path / "source", BATCH + 2)
    importing.import_folder(brain, folder, kind="markdown", now=NOW)
    for path in folder.iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace("Body", "Text"), encoding="utf-8")
    last = f"note-{BATCH + 1:03}.md"
    note = next(found for found in store.walk(brain.root, brain.folders) if f"note-{BATCH + 1}-" in found[0])[0]
    process = spawn(COUNTED, str(brain.root), str(folder))
    assert process.stdout is not None
    assert process.stdout.readline() == "batch\n", process.communicate()[1]
    by_hand = (brain.root / note).read_text(encoding="utf-8").replace("Body", "By hand")
    write(brain, {note: by_hand})
    said, errors = process.communicate("\n", timeout=120)
    assert process.returncode == 0, errors
    imported, skipped, _ = json.loads(said)
    assert (imported, len(skipped)) == (BATCH + 1, 1)
    assert "was changed here while it was imported" in skipped[0]
    assert (brain.root / note).read_text(encoding="utf-8") == by_hand
    again = importing.import_folder(brain, folder, kind="markdown", now=NOW)
    assert [item.path for item in again.skipped] == [last]


IMPORT = """
import sys
from pathlib import Path
from commonwealth.flows import brains, importing
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
importing.import_folder(brain, Path(sys.argv[2]), kind="markdown", now="2026-07-01T10:00:00Z")
"""


def uncommitted(brain: Brain, git: PlainGit) -> list[str]:
    """What git calls changed, but for unfinished files of a killed writer, which are no notes; a sync removes them."""
    lines = git(brain.root, "status", "--porcelain", "-uall").splitlines()
    left = [line for line in lines if not line.endswith(".tmp")]
    syncing.sync(brain)
    assert git(brain.root, "status", "--porcelain") == ""
    return left


def paths_of(brain: Brain) -> set[str]:
    return {path for path, _, _ in store.walk(brain.root, brain.folders) if path.startswith("memory/")}


@pytest.mark.parametrize("point", ["commit-half-renamed:2", "commit-indexed:2", "write-committed:2"])
def test_an_import_that_is_killed_is_finished_by_repeating_it_with_the_same_ids(
    brain: Brain, tmp_path: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    folder = sources(tmp_path / "source", BATCH + 5)
    monkeypatch.setenv(VARIABLE, f"{point}=kill")
    process = spawn(IMPORT, str(brain.root), str(folder))
    process.communicate(timeout=120)
    assert process.returncode == -9
    monkeypatch.delenv(VARIABLE)
    before = paths_of(brain)
    assert len(before) >= BATCH
    importing.import_folder(brain, folder, kind="markdown", now="2026-08-09T10:00:00Z")
    assert before <= paths_of(brain)
    assert len(paths_of(brain)) == BATCH + 5
    assert uncommitted(brain, git) == []


def test_two_imports_of_one_folder_at_once_make_its_notes_once(brain: Brain, tmp_path: Path, git: PlainGit) -> None:
    folder = sources(tmp_path / "source", 30)
    script = IMPORT.replace("importing.import", 'print("ready", flush=True); sys.stdin.readline(); importing.import')
    together([spawn(script, str(brain.root), str(folder)) for _ in range(2)])
    assert len(paths_of(brain)) == 30
    assert git(brain.root, "status", "--porcelain") == ""


MARKED = """
import sys
from pathlib import Path
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.flows.update import SectionEdit, update
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
who, shared = sys.argv[2], sys.argv[3:]
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    now = f"2026-07-02T10:00:{number:02}Z"
    made = remember(brain, Draft(f"Note {number} of {who}", body=f"- mark-{who}-{number}"), session=Session(), now=now)
    assert made.state == "committed", made
    if number % 5 == 0:
        for note in shared:
            edit = SectionEdit("Log", append=f"- mark-{who}-{number}-{note[-8:]}")
            done = update(brain, note, {}, section=edit, session=Session(), now=now)
            assert (done.state, done.conflicts) == ("committed", None), done
"""


def test_four_writers_and_four_shared_notes_leave_every_line_once_in_files_and_index(
    brain: Brain, git: PlainGit
) -> None:
    shared = [recorded(brain, f"Shared {number}", body="## Log\n\n- start\n") for number in range(4)]
    together([spawn(MARKED, str(brain.root), f"w{who}", *shared) for who in range(4)])
    wanted = {f"- mark-w{who}-{number}" for who in range(4) for number in range(25)}
    wanted |= {f"- mark-w{who}-{n}-{note[-8:]}" for who in range(4) for n in range(0, 25, 5) for note in shared}
    files = paths_of(brain)
    lines = [line for path in files for line in (brain.root / path).read_text(encoding="utf-8").splitlines()]
    assert sorted(line for line in lines if line.startswith("- mark-")) == sorted(wanted)
    rows = indexing.ask(brain, lambda conn: conn.execute("SELECT path FROM files").fetchall(), sweep=True)
    assert {path for (path,) in rows if path.startswith("memory/")} == files
    assert len(files) == 104
    assert git(brain.root, "status", "--porcelain") == ""


SAME = """
import json, sys
from pathlib import Path
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
draft = Draft(sys.argv[2], body="Same.", idempotency_key=sys.argv[3] or None)
print("ready", flush=True)
sys.stdin.readline()
receipt = remember(brain, draft, session=Session(), now=sys.argv[4])
print(json.dumps([receipt.state, receipt.ids]))
"""


@pytest.mark.parametrize(
    ("titles", "key", "times"),
    [
        (["Retries", "Retries"], "k", [NOW, NOW]),
        (["Retries", "Retries"], "", [NOW, NOW]),
        (["Retries", "Said otherwise"], "k", [NOW, NOW]),
        (["Retries", "Retries"], "k", ["2026-06-30T23:59:59Z", "2026-07-01T00:00:01Z"]),
    ],
    ids=["key", "words", "other words", "another month"],
)
def test_the_same_call_at_once_makes_one_note_with_one_id(
    brain: Brain, titles: list[str], key: str, times: list[str]
) -> None:
    told = together([spawn(SAME, str(brain.root), title, key, now) for title, now in zip(titles, times, strict=True)])
    states, ids = zip(*map(json.loads, told), strict=True)
    assert sorted(states) == ["committed", "unchanged"]
    assert ids[0] == ids[1]
    assert len(paths_of(brain)) == 1


@pytest.mark.parametrize("point", ["commit-half-renamed", "commit-renamed", "commit-indexed", "commit-done"])
def test_a_call_that_was_killed_and_is_repeated_commits_the_one_note(
    brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}=kill")
    process = spawn(SAME, str(brain.root), "Retries", "k", NOW)
    process.communicate("\n", timeout=60)
    assert process.returncode == -9
    monkeypatch.delenv(VARIABLE)
    (left,) = paths_of(brain)
    receipt = record(brain, "Retries", "2026-07-02T10:00:00Z", body="Same.", idempotency_key="k")
    assert receipt.state == ("unchanged" if point == "commit-done" else "committed")
    assert receipt.ids == (Path(left).stem,)
    assert paths_of(brain) == {left}
    assert uncommitted(brain, git) == []


def test_the_same_call_in_two_clones_becomes_one_note(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    ids = []
    for person, now in ((alice, NOW), (bob, "2026-07-01T11:00:00Z")):
        brain = person.act()
        person.monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Alice")
        person.monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "alice@example.com")
        ids.append(recorded(brain, "Retries", now, body="Same.", observed_at=NOW, idempotency_key="k"))
    assert ids[0] == ids[1]
    for person in (alice, bob, alice):
        assert syncing.sync(person.act()).conflicts == ()
    for person in team:
        assert len(paths_of(person.act())) == 1
        assert recall.read(person.act(), ids[0]).note.created_at == NOW


def test_a_write_that_is_refused_leaves_no_trace_and_the_next_one_succeeds(brain: Brain, git: PlainGit) -> None:
    recorded(brain, "First")
    blocked = brain.root / "memory/2026-08"
    blocked.write_text("a file in the place of the month's folder", encoding="utf-8")
    before = git(brain.root, "status", "--porcelain")
    with pytest.raises(Refused):
        record(brain, "Second", "2026-08-01T10:00:00Z")
    assert git(brain.root, "status", "--porcelain") == before
    assert git(brain.root, "diff", "--cached", "--name-only") == ""
    blocked.unlink()
    recorded(brain, "Second", "2026-08-01T10:00:00Z")
    assert git(brain.root, "status", "--porcelain") == ""


def test_asking_writes_nothing_to_the_index_and_waits_for_no_builder(brain: Brain) -> None:
    recorded(brain)
    indexing.ensure(brain, sweep=True)
    with indexing._in_turn(brain):  # somebody builds, for as long as we like
        rows = freshly_asked(brain)
    assert rows == 2
    with pytest.raises(sqlite3.OperationalError, match="readonly"), schema.connect(brain.index_dir) as conn:
        conn.execute("DELETE FROM notes")


def freshly_asked(brain: Brain) -> int:
    with schema.connect(brain.index_dir) as conn:
        return int(conn.execute("SELECT count(*) FROM notes").fetchone()[0])


# The logs


def test_syncs_and_writes_are_logged_with_figures_and_without_content(team: tuple[Teammate, Teammate]) -> None:
    alice, _ = team
    brain = alice.act()
    note_id = recorded(brain, "Retries", body="Private words.")
    syncing.sync(brain, trigger="worker")
    newest = synclog.rounds(brain.root)[0]
    assert (newest.trigger, newest.state, newest.pushed, newest.refused, newest.reason) == (
        "worker", "published", 2, 0, None,
    )  # fmt: skip
    assert newest.rounds == 1
    written = synclog.receipts(brain.root)[0]
    assert (written.command, written.state, written.ids, written.at) == ("remember", "committed", (note_id,), NOW)
    logs = "".join(path.read_text(encoding="utf-8") for path in (brain.root / ".git/commonwealth").glob("*.jsonl"))
    assert "Private words" not in logs


def test_a_sync_that_fails_is_logged_with_a_masked_reason(team: tuple[Teammate, Teammate], git: PlainGit) -> None:
    alice, _ = team
    brain = alice.act()
    git(brain.root, "remote", "set-url", "origin", str(alice.home / "nowhere"))
    receipt = syncing.sync(brain)
    newest = synclog.rounds(brain.root)[0]
    assert (newest.state, newest.trigger, bool(newest.reason)) == (receipt.state, "sync", True)
    secret = tokens.make("ghp_{36:b62}", random.Random(9))
    with pytest.raises(Refused), synclog.noted(brain.root, "daemon", NOW):
        raise Refused(f"The remote says {secret}\nand more")
    newest = synclog.rounds(brain.root)[0]
    assert (newest.state, newest.reason, newest.at) == ("refused", "The remote says [secret] and more", NOW)


def test_the_log_is_bounded_survives_torn_lines_and_many_writers(brain: Brain) -> None:
    folder = brain.root / ".git/commonwealth"
    script = """
import sys
from pathlib import Path
from commonwealth.flows import synclog
from commonwealth.model import Receipt
print("ready", flush=True)
sys.stdin.readline()
for number in range(300):
    receipt = Receipt("committed", (f"{sys.argv[2]}-{number}",), "0" * 40)
    synclog.keep_receipt(Path(sys.argv[1]), receipt, command="x", at="t")
"""
    together([spawn(script, str(brain.root), f"w{who}") for who in range(3)])
    with open(folder / "receipts.jsonl", "ab") as file:
        file.write(b'\n{"at": "torn')
    recorded(brain)
    told = synclog.receipts(brain.root)
    assert len(told) == synclog.KEPT
    assert told[0].command == "remember"
    assert all(line.command in ("x", "remember") for line in told)
    assert sum(path.stat().st_size for path in folder.glob("receipts.jsonl*")) < 200_000
    write(brain, {".git/commonwealth/receipts.jsonl": "[1]\n{}\nnull\n\xff"})
    assert all(line.command == "x" for line in synclog.receipts(brain.root))


def test_a_log_that_cannot_be_written_fails_no_write(brain: Brain) -> None:
    for name in (synclog.RECEIPTS, synclog.ROUNDS):
        place = brain.root / ".git/commonwealth" / name
        place.unlink(missing_ok=True)
        place.mkdir()
    recorded(brain)
    assert syncing.sync(brain).state in ("unchanged", "committed")
    assert synclog.rounds(brain.root) == ()
