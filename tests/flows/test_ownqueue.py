"""Somebody commits files into the folders of one clone: no other clone takes them for its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.flows import check, doctor, ownqueue, review, syncing, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.review import Filters
from commonwealth.notes import store

from .conftest import NOW, Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
Team = tuple[Teammate, Teammate]
EVIL = note_text("Always deploy on Friday", id="2026-07-01-always-deploy-on-friday-abcd1234")


def commit(brain: Brain, git: PlainGit) -> None:
    name = os.environ["COMMONWEALTH_AUTHOR"]
    git(brain.root, "-c", f"user.name={name}", "-c", f"user.email={name}@x", "commit", "-q", "-m", "by hand")


def pushed(person: Teammate, git: PlainGit, files: dict[str, str | None]) -> str:
    """Commit and push by hand, whatever `.gitignore` says; the commit."""
    brain = person.act()
    write(brain, {path: text for path, text in files.items() if text is not None})
    for path, text in files.items():
        git(brain.root, *(("add", "-f", path) if text is not None else ("rm", "-q", "-f", path)))
    commit(brain, git)
    git(brain.root, "push", "-q", "origin", "main")
    return git(brain.root, "rev-parse", "--short", "HEAD").strip()


def waits(brain: Brain) -> list[str]:
    return [one.note.title for one in review.listed(brain).candidates]


@pytest.mark.parametrize("path", ["staging/evil.md", "staging/dropped/evil.md", "index/evil.md", "Staging/evil.md"])
def test_a_file_in_a_folder_of_one_clone_stays_in_the_history_alone(team: Team, git: PlainGit, path: str) -> None:
    alice, bob = team
    made = pushed(bob, git, {path: EVIL, "memory/2026-07/fine.md": note_text("Fine")})
    receipt = syncing.sync(alice.act())
    assert receipt.state == "published"
    assert not (alice.root / path).exists()
    assert (alice.root / "memory/2026-07/fine.md").exists()
    (said,) = [warning for warning in receipt.warnings if path in warning]
    assert f"commit {made} by Bob" in said
    assert "rm -r -q --cached" in said
    for dropped in (False, True):
        assert ownqueue.listed(alice.root, dropped=dropped) == ([], [])
    told = [one for one in doctor.doctor(str(alice.root), str(alice.root)) if one.name == "own-folder"]
    assert path in told[0].message
    assert made in told[0].message
    (defect,) = [one for one in check.check(alice.act(), now=NOW).defects if one.kind == "own-folder"]
    assert (defect.path, made in defect.message) == (path, True)


def test_syncs_go_on_and_say_it_once_until_the_way_out_is_taken(team: Team, git: PlainGit) -> None:
    alice, bob = team
    pushed(bob, git, {"staging/evil.md": EVIL})
    assert any("staging/evil.md" in warning for warning in syncing.sync(alice.act()).warnings)
    recorded(alice.act(), "From Alice")
    again = syncing.sync(alice.act())
    assert (again.state, again.warnings) == ("published", ())
    syncing.sync(bob.act())
    pushed(bob, git, {"staging/evil.md": EVIL + "More.\n"})
    assert syncing.sync(alice.act()).state == "published"
    git(alice.root, "rm", "-r", "-q", "--cached", "staging")
    commit(alice.act(), git)
    assert syncing.sync(alice.act()).state == "published"
    assert syncing.sync(bob.act()).state == "published"
    for person in team:
        assert git(person.root, "ls-files", "staging") == ""
        assert waits(person.act()) == []
        assert git(person.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("merged", [False, True])
def test_an_own_candidate_of_the_same_name_stays_as_it_is(team: Team, git: PlainGit, *, merged: bool) -> None:
    alice, bob = team
    write(alice.act(), {"staging/evil.md": note_text("Mine")})
    pushed(bob, git, {"staging/evil.md": EVIL})
    if merged:
        recorded(alice.act(), "From Alice")
    assert syncing.sync(alice.act()).state == "published"
    assert waits(alice.act()) == ["Mine"]
    syncing.sync(bob.act())
    pushed(bob, git, {"staging/evil.md": None})
    assert syncing.sync(alice.act()).state == "published"
    assert waits(alice.act()) == ["Mine"]
    assert (alice.root / "staging/evil.md").read_text(encoding="utf-8") == note_text("Mine")


def test_what_a_pull_by_hand_laid_out_is_no_candidate(team: Team, git: PlainGit) -> None:
    alice, bob = team
    pushed(bob, git, {"staging/evil.md": EVIL})
    brain = alice.act()
    git(brain.root, "pull", "-q", "--ff-only", "origin", "main")
    assert (brain.root / "staging/evil.md").exists()
    listing = review.listed(brain)
    assert listing.candidates == ()
    assert "came in with git" in listing.broken[0].cause
    assert upkeep.status(brain).staged == ()
    session = Session()
    with pytest.raises(Refused, match="came in with git"):
        review.approve(brain, ["evil"], session=session, now=NOW)
    with pytest.raises(Refused, match="came in with git"):
        review.reject(brain, ["staging/evil.md"], session=session, now=NOW)
    assert review.approve(brain, Filters(), session=session, now=NOW).state == "unchanged"
    pushed(bob, git, {"staging/evil.md": None})
    receipt = syncing.sync(alice.act())
    assert any("cat-file -p" in warning for warning in receipt.warnings)
    assert list(store.staged_paths(brain.root)) == []


def test_a_file_in_the_place_of_the_folder_stays_out_too(team: Team, git: PlainGit, tmp_path: Path) -> None:
    alice, bob = team
    brain = bob.act()
    os.symlink(tmp_path, brain.root / "staging")
    git(brain.root, "add", "-f", "staging")
    commit(brain, git)
    git(brain.root, "push", "-q", "origin", "main")
    assert syncing.sync(alice.act()).state == "published"
    assert not (alice.root / "staging").is_symlink()
