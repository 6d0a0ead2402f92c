"""What a session was told is remembered for it alone, until its context is emptied or the note says something else."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.flows import indexing, told
from commonwealth.flows.brains import Brain

from .conftest import note_text, write


@pytest.fixture
def here(brain: Brain) -> Brain:
    write(brain, {"memory/a.md": note_text("Alpha"), "memory/b.md": note_text("Beta")})
    indexing.ensure(brain, sweep=True)
    return brain


def folder(brain: Brain) -> Path:
    return brain.root / ".git" / "commonwealth" / "told"


def test_a_session_knows_what_it_was_told_and_no_other_does(here: Brain) -> None:
    told.remember(here, "s1", ["a"])
    told.remember(here, "s1", ["b", "a"])
    assert told.seen(here, "s1") == {"a", "b"}
    assert told.seen(here, "s2") == frozenset()
    assert told.seen(here, None) == frozenset()
    told.remember(here, None, ["a"])
    assert [path.name for path in folder(here).iterdir()] == ["s1.json"]


def test_a_note_that_has_changed_may_be_told_again(here: Brain) -> None:
    told.remember(here, "s1", ["a", "b"])
    write(here, {"memory/a.md": note_text("Alpha", "It is otherwise.\n")})
    indexing.ensure(here, sweep=True)
    assert told.seen(here, "s1") == {"b"}
    write(here, {"memory/b.md": note_text("Beta", verified="{at: 2026-07-01T00:00:00Z, result: fresh}")})
    indexing.ensure(here, sweep=True)
    assert told.seen(here, "s1") == {"b"}


def test_what_is_forgotten_is_handed_back(here: Brain) -> None:
    told.remember(here, "s1", ["a"])
    assert told.forget(here, "s1") == {"a"}
    assert told.seen(here, "s1") == told.forget(here, "s1") == frozenset()


def test_without_an_index_what_was_told_counts(here: Brain) -> None:
    told.remember(here, "s1", ["a"])
    shutil.rmtree(here.index_dir)
    assert told.seen(here, "s1") == {"a"}
    told.remember(here, "s1", ["b"])
    assert told.seen(here, "s1") == {"a", "b"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"session": "s1"}', '{"session": "s2", "told": {"a": ""}}', "\0"])
def test_a_damaged_file_says_nothing(here: Brain, text: str) -> None:
    told.remember(here, "s1", ["a"])
    (folder(here) / "s1.json").write_text(text, encoding="utf-8")
    assert told.seen(here, "s1") == frozenset()
    told.remember(here, "s1", ["b"])
    assert told.seen(here, "s1") == {"b"}


@pytest.mark.parametrize("name", ["../../x", "a/b", "S" * 5000, "x\0y", "\ud800", "é"])
def test_any_name_of_a_session_is_one_file_in_the_folder(here: Brain, name: str) -> None:
    told.remember(here, name, ["a"])
    assert told.seen(here, name) == {"a"}
    assert len(list(folder(here).iterdir())) == 1


def test_what_is_remembered_is_bounded(here: Brain) -> None:
    told.remember(here, "s1", [f"n{n}" for n in range(told.MOST + 50)])
    kept = told.seen(here, "s1")
    assert len(kept) == told.MOST
    assert f"n{told.MOST + 49}" in kept
    for n in range(told.READERS + 3):
        told.remember(here, f"r{n}", ["a"])
    assert len(list(folder(here).iterdir())) <= told.READERS
    os.utime(folder(here) / f"r{told.READERS}.json", (0, 0))
    told.remember(here, "new", ["a"])
    assert told.seen(here, f"r{told.READERS}") == frozenset()


def test_a_folder_that_cannot_be_written_stops_nobody(here: Brain) -> None:
    folder(here).parent.mkdir(exist_ok=True)
    folder(here).write_text("a file", encoding="utf-8")
    told.remember(here, "s1", ["a"])
    assert told.seen(here, "s1") == frozenset()


def test_nothing_of_a_note_is_kept(here: Brain) -> None:
    told.remember(here, "s1", ["a"])
    kept = json.loads((folder(here) / "s1.json").read_text(encoding="utf-8"))
    assert kept.keys() == {"session", "told"}
    assert "Alpha" not in json.dumps(kept)


def test_a_brain_without_a_git_folder_remembers_nothing(here: Brain, tmp_path: Path) -> None:
    bare = replace(here, root=tmp_path)
    told.remember(bare, "s1", ["a"])
    assert told.seen(bare, "s1") == told.forget(bare, "s1") == frozenset()
