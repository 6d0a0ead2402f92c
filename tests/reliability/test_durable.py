"""What a receipt promises is on the disk before it is given: files and folders are flushed before the branch moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonwealth.repo.workfiles import Changed, Prepared

from .scene import Scene
from .states import base, diverged


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("durable"))
    yield made
    made.close()


def first(lines: list[str], *words: str, after: int = -1) -> int:
    """The place of the first line after another that holds all words."""
    for number, line in enumerate(lines):
        if number > after and all(word in line for word in words):
            return number
    raise AssertionError(f"no call with {words} after {lines[after] if after >= 0 else 'the start'}")


def branch_moves(lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if "update-ref" in line and "refs/heads/main" in line]


def flushed(lines: list[str], place: Path) -> list[int]:
    return [number for number, line in enumerate(lines) if line == f"os.fsync {place}"]


def test_a_new_note_and_its_folder_are_flushed_before_the_branch_moves(scene: Scene) -> None:
    scene.load("base", base)
    root = scene.root("alice")
    lines = scene.traced("alice", "decide", "A decision in a folder of its own", "--json")
    note = root / scene.git(root, "diff", "--name-only", "HEAD~", "HEAD").split()[0]
    moved = branch_moves(lines)[0]
    placed = first(lines, "os.link", f" {note}")
    written = first(lines, f"os.fsync {note.parent}/.commonwealth-")
    assert written < placed < moved
    assert any(placed < number < moved for number in flushed(lines, note.parent))
    made = first(lines, f"os.mkdir {note.parent}")
    assert any(made < number < placed for number in flushed(lines, note.parent.parent))


def test_an_edited_note_is_flushed_before_it_takes_the_place_of_the_old_one(scene: Scene) -> None:
    scene.load("base", base)
    note = scene.root("alice") / "memory/2026-07/shared-note.md"
    lines = scene.traced("alice", "update", "shared-note", "--summary", "Told", "--json")
    placed = first(lines, "os.rename", f" {note}")
    assert first(lines, f"os.fsync {note.parent}/.commonwealth-") < placed
    assert any(placed < number < branch_moves(lines)[0] for number in flushed(lines, note.parent))


def test_a_move_is_in_the_journal_before_a_file_changes_and_on_the_disk_before_the_branch_moves(scene: Scene) -> None:
    scene.load("diverged", diverged)
    root = scene.root("alice")
    lines = scene.traced("alice", "sync", "--json")
    journal = first(lines, "os.rename", f" {root}/.git/commonwealth/journal")
    assert first(lines, f"os.fsync {root}/.git/commonwealth/.commonwealth-") < journal
    noted = first(lines, f"os.fsync {root}/.git/commonwealth", after=journal)
    moved = next(number for number in branch_moves(lines) if number > journal)
    pulled = scene.git(root, "diff", "--name-only", "HEAD~", "HEAD~~").split()
    assert pulled
    for path in pulled:
        place = root / path
        if not place.exists():
            continue
        placed = [n for n, line in enumerate(lines) if journal < n < moved and line.endswith(f" {place}")]
        assert noted < placed[0], path
        assert any(noted < number < moved for number in flushed(lines, place)), path
        assert any(placed[0] < number < moved for number in flushed(lines, place.parent)), path


def test_a_file_saved_between_the_look_and_the_rename_is_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "note.md"
    place.write_bytes(b"as it was read\n")
    prepared = Prepared(str(tmp_path), "note.md", b"ours\n")
    place.write_bytes(b"saved by an editor\n")
    with pytest.raises(Changed):
        prepared.place(b"as it was read\n")
    assert [(path.name, path.read_bytes()) for path in tmp_path.glob("*.md")] == [("note.md", b"saved by an editor\n")]
    assert list(tmp_path.glob(".commonwealth-*")) == []
