"""A file or a link in the place of one of our folders costs that folder only, and is named."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from commonwealth.errors import Damaged
from commonwealth.flows import brief, doctor, freshness, indexing, recall, syncing, upkeep
from commonwealth.flows.brains import Brain, open_brain
from commonwealth.index.query import Query
from commonwealth.model import Receipt
from commonwealth.notes import store

from .conftest import NOW, Teammate, recorded, settle, write

KINDS = ["memory", "decisions", "work-state", "people"]


def titles(brain: Brain) -> list[str]:
    return sorted(hit.note.title for hit in recall.search(brain, Query(now=NOW, kind=("memory",))).hits)


def named(brain: Brain, path: str) -> bool:
    """Whether status and doctor both name the odd one."""
    told = [check.message for check in doctor.doctor(str(brain.root), brain.cwd) if check.state == "fail"]
    return any(path in text for text in upkeep.status(brain).problems) and any(path in text for text in told)


def put(brain: Brain, folder: str, how: str) -> None:
    place = brain.root / folder
    if place.exists():
        place.rename(brain.root.parent / f"away-{place.name}")
    if how == "file":
        place.write_text("odd", encoding="utf-8")
    else:
        place.symlink_to(brain.root.parent if how == "link" else place.name)


@pytest.mark.parametrize("how", ["file", "link", "loop"])
@pytest.mark.parametrize("folder", ["decisions", "work-state", "memory/2026-07"])
def test_every_other_folder_goes_on(brain: Brain, folder: str, how: str) -> None:
    recorded(brain, "A fact of June", now="2026-06-01T10:00:00Z")
    settle(brain)
    put(brain, folder, how)
    for _ in range(2):
        assert titles(brain) == ["A fact of June"]
        assert recall.recall(brain, "fact of June", now=NOW, budget=1000).notes
        assert brief.session_start(brain, now=NOW, budget=1000, ask=indexing.ask).notes
        assert named(brain, folder)
    recorded(brain, "Another", now="2026-06-02T10:00:00Z")
    assert titles(brain) == ["A fact of June", "Another"]
    indexing.rebuild(brain)
    assert titles(brain) == ["A fact of June", "Another"]
    assert named(brain, folder)


@pytest.mark.parametrize("folder", ["work-state", "memory/2026-07"])
def test_what_stood_in_the_way_is_forgotten_once_it_is_gone(brain: Brain, folder: str) -> None:
    recorded(brain, "A fact of June", now="2026-06-01T10:00:00Z")
    put(brain, folder, "file")
    assert named(brain, folder)
    (brain.root / folder).unlink()
    assert not upkeep.status(brain).problems
    (brain.root / folder).mkdir()
    assert not upkeep.status(brain).problems


def test_an_index_with_an_odd_folder_comes_to_rest(brain: Brain) -> None:
    put(brain, "work-state", "file")
    settle(brain)
    assert freshness.is_current(brain)


def test_a_folder_above_may_be_the_odd_one(brain: Brain) -> None:
    config = brain.root / ".commonwealth" / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "folders: {decisions: docs/adr}\n", encoding="utf-8")
    other = open_brain(brain.root, cwd=brain.cwd)
    recorded(other, "A fact")
    for how in ("file", "link", "loop"):
        put(other, "docs", how)
        assert titles(other) == ["A fact"]
        assert named(other, "docs")
        (other.root / "docs").unlink()
    assert not upkeep.status(other).problems


@pytest.mark.parametrize("folder", KINDS)
def test_a_file_that_a_colleague_pushed_stops_nobody(
    team: tuple[Teammate, Teammate], git: Callable[..., str], folder: str
) -> None:
    alice, bob = team
    kept = recorded(alice.act(), "A fact", kind="decision" if folder != "decisions" else "memory")
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    for path in sorted((bob.root / folder).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    if (bob.root / folder).exists():
        (bob.root / folder).rmdir()
    write(bob.act(), {folder: "odd"})
    git(bob.root, "add", "-A")
    git(bob.root, "-c", "user.name=Bob", "-c", "user.email=bob@example.com", "commit", "-qm", "odd")
    git(bob.root, "push", "-q", "origin", "main")
    brain = alice.act()
    assert isinstance(syncing.sync(brain, accept_deletions=True), Receipt)
    assert recall.read(brain, kept).note.title == "A fact"
    if (brain.root / folder).is_file():
        assert named(brain, folder)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_never_an_empty_one(brain: Brain) -> None:
    recorded(brain, "A fact")
    place = brain.root / "memory"
    place.chmod(0)
    try:
        with pytest.raises(Damaged):
            indexing.refresh(brain, sweep=True)
        with pytest.raises(Damaged):
            list(store.walk(brain.root, brain.folders))
    finally:
        place.chmod(0o755)
    assert titles(brain) == ["A fact"]


def test_candidates_are_none_where_a_file_stands_in_their_folder(brain: Brain) -> None:
    write(brain, {"staging": "odd"})
    notes, problems = store.staged(brain.root)
    assert not notes
    assert [problem.path for problem in problems] == ["staging"]
    assert upkeep.status(brain).staged == ()
