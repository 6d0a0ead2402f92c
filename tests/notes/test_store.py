"""Files are read without following anything, and every note of a folder is listed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth import atomic
from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.notes import codec, naming, store
from commonwealth.notes.listing import list_folder

from .examples import NOTE, TEXT, TITLES

PATH = naming.note_path("memory", NOTE.id, "2026-06-02", DEFAULT_FOLDERS)


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
    assert [path for path, _, _ in store.walk(brain, DEFAULT_FOLDERS)] == ["memory/x.md"]


def test_the_files_of_several_folders_are_read_by_one_reader(tmp_path: Path) -> None:
    paths = ["memory/a.md", "memory/b.md", "memory/2026-07/a.md", "x.md", "memory/c.md"]
    brain = build(tmp_path / "brain", {path: path for path in paths})
    os.symlink("b.md", brain / "memory" / "link.md")
    os.symlink("memory", brain / "out")
    with store.Reader(brain) as reader:
        for path in (*paths, *reversed(paths)):
            assert reader.data(path)[0] == path.encode()
            for missing in ("memory/none.md", "none/a.md"):
                with pytest.raises(FileNotFoundError):
                    reader.data(missing)
            for link in ("memory/link.md", "out/a.md"):
                with pytest.raises((BadNote, FileNotFoundError)):
                    reader.data(link)
            with pytest.raises(Refused):
                reader.data("memory/../x.md")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_reader_leaves_no_descriptor_open(tmp_path: Path) -> None:
    def held() -> list[str]:
        found = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        return [place for place in found if place.startswith(str(tmp_path))]

    build(tmp_path, {"memory/a.md": "a", "memory/b/a.md": "b"})
    with store.Reader(tmp_path) as reader:
        for path in ("memory/a.md", "memory/b/a.md", "memory/a.md"):
            reader.data(path)
            assert len(held()) == 1
        with pytest.raises(FileNotFoundError):
            reader.data("memory/c/d/a.md")
    assert held() == []


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
    found = [(path, kind) for path, kind, _ in store.walk(tmp_path, DEFAULT_FOLDERS)]
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
        list(store.walk(tmp_path / "nowhere", DEFAULT_FOLDERS))


def test_what_stands_in_a_folders_place_costs_no_other_folder(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory": "a file where a folder should be", "decisions/x.md": "x"})
    for cause in ("a file", "a symbolic link"):
        assert [path for path, _, _ in store.walk(brain, DEFAULT_FOLDERS)] == ["decisions/x.md"]
        (found,) = list_folder(brain, "memory", DEFAULT_FOLDERS).obstacles
        assert found.path == "memory"
        assert cause in found.cause
        os.unlink(brain / "memory")
        os.symlink(tmp_path, brain / "memory")


def test_a_linked_folder_of_a_month_is_named(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory/x.md": "x", "memory/2026-06": "x", "memory/notes.txt": "x"})
    os.symlink(tmp_path, brain / "memory" / "2026-07")
    found = list_folder(brain, "memory", DEFAULT_FOLDERS)
    assert [path for path, _, _ in found.files] == ["memory/x.md"]
    assert sorted(odd.path for odd in found.obstacles) == ["memory/2026-06", "memory/2026-07"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_read_permission_is_damage(tmp_path: Path) -> None:
    build(tmp_path, {"memory/2026-07/x.md": "x"})
    (tmp_path / "memory" / "2026-07").chmod(0)
    try:
        with pytest.raises(Damaged, match="2026-07"):
            list(store.walk(tmp_path, DEFAULT_FOLDERS))
    finally:
        (tmp_path / "memory" / "2026-07").chmod(0o755)


def test_candidates_are_staged_listed_and_replaced(tmp_path: Path) -> None:
    path = store.stage(tmp_path, NOTE)
    build(tmp_path, {"staging/broken.md": "---\n"})
    assert path == f"staging/{NOTE.id}.md"
    notes, problems = store.staged(tmp_path)
    assert [file.note for file in notes] == [NOTE]
    assert [problem.path for problem in problems] == ["staging/broken.md"]
    later = replace(NOTE, summary="Said again.")
    store.stage(tmp_path, later)
    assert [file.note for file in store.staged(tmp_path)[0]] == [later]
    assert sorted(os.listdir(tmp_path / "staging")) == sorted([f"{NOTE.id}.md", "broken.md"])


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    build(tmp_path, {"staging": "a file"})
    with pytest.raises(Damaged, match=r"staging/.*\.md could not be written"):
        store.stage(tmp_path, NOTE)


def test_nothing_is_staged_through_a_link_to_elsewhere(tmp_path: Path) -> None:
    brain = build(tmp_path / "brain", {"memory/x.md": "x"})
    outside = build(tmp_path / "outside", {"x.md": "x"})
    os.symlink(outside, brain / "staging")
    with pytest.raises(Refused):
        store.stage(brain, NOTE)
    assert os.listdir(outside) == ["x.md"]


def test_a_note_with_an_id_that_leads_elsewhere_is_not_staged(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        store.stage(tmp_path, replace(NOTE, id="../../x"))


def test_titles_survive_the_file_system(tmp_path: Path) -> None:
    for number, title in enumerate(TITLES):
        note = replace(NOTE, title=title, id=naming.new_id(title, "2026-06-02", naming.short_id(bytes([number]))))
        path = naming.note_path("memory", note.id, "2026-06-02", DEFAULT_FOLDERS)
        atomic.replace(tmp_path / path, codec.to_bytes(note, path))
        assert store.read(tmp_path, path, "memory")[0].note == note
    assert len(list(store.walk(tmp_path, DEFAULT_FOLDERS))) == len(TITLES)
