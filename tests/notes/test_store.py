"""Files are read without following anything and written so that nobody's change is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.notes import codec, naming, store

from .examples import NOTE, TEXT, TITLES

PATH = naming.note_path("memory", NOTE.id, "2026-06-02", naming.FOLDERS)


def build(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return root


def test_a_note_is_read_with_size_and_time(tmp_path: Path) -> None:
    build(tmp_path, {PATH: TEXT})
    file, problems = store.read(tmp_path, PATH, "memory")
    state = (tmp_path / PATH).stat()
    assert (file.note, file.path, problems) == (NOTE, PATH, ())
    assert (file.size, file.mtime_ns) == (state.st_size, state.st_mtime_ns)


def test_a_missing_file_is_not_a_bad_one(tmp_path: Path) -> None:
    for path in ("memory/x.md", "memory"):
        with pytest.raises(FileNotFoundError):
            store.read(tmp_path, path, "memory")
    build(tmp_path, {"memory": "a file"})
    with pytest.raises(FileNotFoundError):
        store.read(tmp_path, "memory/x.md", "memory")


def test_links_devices_folders_and_large_files_are_no_notes(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory/folder.md/x": "x", "memory/large.md": "x" * 300_000})
    build(tmp_path, {"secret.md": "outside"})
    os.symlink(tmp_path / "secret.md", brain / "memory" / "link.md")
    os.symlink("large.md", brain / "memory" / "inside.md")
    os.mkfifo(brain / "memory" / "fifo.md")
    for name in ("link", "inside", "fifo", "folder", "large"):
        with pytest.raises(BadNote):
            store.read(brain, f"memory/{name}.md", "memory")


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory/x.md": "x"})
    build(tmp_path / "outside", {"y.md": "secret"})
    os.symlink(tmp_path / "outside", brain / "memory" / "out")
    with pytest.raises((FileNotFoundError, BadNote)):
        store.read(brain, "memory/out/y.md", "memory")
    assert [path for path, _, _ in store.walk(brain, naming.FOLDERS)] == ["memory/x.md"]


def test_walking_finds_notes_at_any_depth_in_order(tmp_path: Path) -> None:
    build(
        tmp_path,
        {
            "memory/b.md": "b", "memory/2026-07/a.md": "a", "memory/p/2026-07/c.md": "c", "memory/INDEX.md": "i",
            "memory/2026-07/INDEX.md": "i", "memory/README.md": "r", "memory/.hidden/x.md": "x", "memory/note.txt": "t",
            "decisions/d.md": "d", "README.md": "r", "memory/nested/.git/HEAD": "x", "memory/nested/x.md": "x",
            "staging/s.md": "s", "memory/.commonwealth-1.tmp": "x", "memory/worktree/.git": "gitdir: x",
            "memory/worktree/y.md": "y",
        },
    )  # fmt: skip
    found = [(path, kind) for path, kind, _ in store.walk(tmp_path, naming.FOLDERS)]
    assert found == [
        ("decisions/d.md", "decision"),
        ("memory/2026-07/a.md", "memory"),
        ("memory/b.md", "memory"),
        ("memory/p/2026-07/c.md", "memory"),
    ]


def test_a_kind_inside_another_kinds_folder_is_walked_once(tmp_path: Path) -> None:
    build(tmp_path, {"docs/x.md": "x", "docs/adr/y.md": "y"})
    found = [(path, kind) for path, kind, _ in store.walk(tmp_path, {"memory": "docs", "decision": "docs/adr"})]
    assert found == [("docs/adr/y.md", "decision"), ("docs/x.md", "memory")]


def test_what_cannot_be_listed_is_damage_and_never_empty(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        list(store.walk(tmp_path / "nowhere", naming.FOLDERS))
    brain = build(tmp_path / "brain", {"memory": "a file where a folder should be"})
    with pytest.raises(Damaged, match="memory"):
        list(store.walk(brain, naming.FOLDERS))
    os.unlink(brain / "memory")
    os.symlink(tmp_path, brain / "memory")
    with pytest.raises(Damaged, match="symbolic link"):
        list(store.walk(brain, naming.FOLDERS))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_read_permission_is_damage(tmp_path: Path) -> None:
    build(tmp_path, {"memory/2026-07/x.md": "x"})
    (tmp_path / "memory" / "2026-07").chmod(0)
    try:
        with pytest.raises(Damaged, match="2026-07"):
            list(store.walk(tmp_path, naming.FOLDERS))
    finally:
        (tmp_path / "memory" / "2026-07").chmod(0o755)


def test_a_note_is_found_by_stem_or_by_id_whatever_its_case(tmp_path: Path) -> None:
    build(tmp_path, {
        "memory/a/Café.md": "x\n", "memory/b.md": "---\nid: real-id\n---\nx\n",
        "decisions/real.md": "---\nid: other\n---\nx\n",
        "memory/broken.md": "---\n",
    })  # fmt: skip

    def find(note_id: str) -> list[str]:
        return store.find(tmp_path, naming.FOLDERS, note_id)

    assert find("CAFE\u0301") == ["memory/a/Café.md"]
    assert find("real-id") == ["memory/b.md"]
    assert find("real") == []
    assert find("b") == []
    assert find("broken") == ["memory/broken.md"]


def test_two_files_with_one_id_are_both_found(tmp_path: Path) -> None:
    build(tmp_path, {"memory/x.md": "x\n", "memory/2026-07/x.md": "x\n"})
    assert store.find(tmp_path, naming.FOLDERS, "x") == ["memory/2026-07/x.md", "memory/x.md"]


def test_a_write_makes_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    store.write_atomic(tmp_path, "memory/2026-07/x.md", b"one\n", None)
    store.write_atomic(tmp_path, "memory/2026-07/x.md", b"two\r\n", b"one\n")
    store.write_atomic(tmp_path, "memory/2026-07/x.md", b"three", store.ANY)
    assert os.listdir(tmp_path / "memory" / "2026-07") == ["x.md"]
    assert (tmp_path / "memory/2026-07/x.md").read_bytes() == b"three"


def test_what_somebody_else_changed_is_not_overwritten(tmp_path: Path) -> None:
    build(tmp_path, {"memory/x.md": "theirs"})
    for expect in (None, b"mine"):
        with pytest.raises(store.Changed):
            store.write_atomic(tmp_path, "memory/x.md", b"new", expect)
    with pytest.raises(store.Changed):
        store.write_atomic(tmp_path, "memory/gone.md", b"new", b"old")
    assert (tmp_path / "memory/x.md").read_bytes() == b"theirs"
    assert os.listdir(tmp_path / "memory") == ["x.md"]


def test_of_many_processes_that_make_one_file_one_succeeds(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from commonwealth.notes import store\n"
        "sys.stdin.readline()\n"
        "try: store.write_atomic(Path(sys.argv[1]), 'memory/x.md', sys.argv[2].encode(), None)\n"
        "except store.Changed: sys.exit(9)\n"
    )
    source = str(Path(store.__file__).parents[2])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(n)],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": source},
        )
        for n in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    codes = [process.wait(timeout=60) for process in processes]
    assert sorted(codes) == [0, 9, 9, 9]
    assert (tmp_path / "memory/x.md").read_bytes() == str(codes.index(0)).encode()


def test_a_link_at_the_place_of_a_note_is_never_written_through(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory/y.md": "y"})
    build(tmp_path, {"outside.md": "outside"})
    os.symlink(tmp_path / "outside.md", brain / "memory" / "x.md")
    with pytest.raises(store.Changed):
        store.write_atomic(brain, "memory/x.md", b"new", b"outside")
    store.write_atomic(brain, "memory/x.md", b"new", store.ANY)
    assert (tmp_path / "outside.md").read_bytes() == b"outside"
    with pytest.raises(Refused):
        store.write_atomic(brain, "../x.md", b"new", store.ANY)


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    build(tmp_path, {"memory/x.md": "x"})
    (tmp_path / "memory/x.md").chmod(0o640)
    store.write_atomic(tmp_path, "memory/x.md", b"y", b"x")
    assert (tmp_path / "memory/x.md").stat().st_mode & 0o777 == 0o640


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    build(tmp_path, {"memory": "a file"})
    with pytest.raises(Damaged, match=r"memory/x\.md could not be written"):
        store.write_atomic(tmp_path, "memory/x.md", b"x", store.ANY)


def test_candidates_are_staged_listed_and_removed(tmp_path: Path) -> None:
    path = store.stage(tmp_path, NOTE)
    build(tmp_path, {"staging/broken.md": "---\n"})
    assert path == f"staging/{NOTE.id}.md"
    notes, problems = store.staged(tmp_path)
    assert [file.note for file in notes] == [NOTE]
    assert [problem.path for problem in problems] == ["staging/broken.md"]
    store.unstage(tmp_path, path)
    store.unstage(tmp_path, path)
    assert store.staged(tmp_path)[0] == []
    with pytest.raises(Refused):
        store.unstage(tmp_path, "memory/x.md")


def test_a_note_with_an_id_that_leads_elsewhere_is_not_staged(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        store.stage(tmp_path, replace(NOTE, id="../../x"))


def test_titles_survive_the_file_system(tmp_path: Path) -> None:
    for number, title in enumerate(TITLES):
        note = replace(NOTE, title=title, id=naming.new_id(title, "2026-06-02", naming.short_id(bytes([number]))))
        path = naming.note_path("memory", note.id, "2026-06-02", naming.FOLDERS)
        store.write_atomic(tmp_path, path, codec.to_bytes(note, path), None)
        assert store.read(tmp_path, path, "memory")[0].note == note
    assert len(list(store.walk(tmp_path, naming.FOLDERS))) == len(TITLES)
