"""What was said in another repository reaches no note of this brain, whoever asks for the sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.flows import brains, review, setup, sweep
from commonwealth.flows.brains import Brain
from commonwealth.flows.sweep import Swept, Told

from .conftest import NOW, PlainGit
from .told import SESSION, Session, facts

OURS = "refunds are retried only by the nightly job"
THEIRS = "the ledger closes its books at noon"


def repository(folder: Path, git: PlainGit, name: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    git(folder, "remote", "add", "origin", f"https://git.example.org/acme/{name}.git")
    return folder


@pytest.fixture
def other(tmp_path: Path, git: PlainGit) -> Path:
    """A repository that no rule names."""
    return repository(tmp_path / "ledger", git, "ledger")


@pytest.fixture
def session(tmp_path: Path, code: Path) -> Session:
    made = Session(tmp_path / f"{SESSION}.jsonl", code)
    return made.say("user", "go on").say("assistant", "Going on.")


def swept(brain: Brain, session: Session) -> Swept:
    return sweep.sweep(
        brain, Told("claude", str(session.path), session.name), trigger="SessionEnd", now=NOW, drafter=facts()
    )


def said(brain: Brain) -> str:
    return "\n".join(one.note.title for one in review.listed(brain, review.Filters()).candidates)


@pytest.mark.parametrize("mapped", [False, True], ids=["of no brain", "of another brain"])
def test_what_was_said_elsewhere_is_left_out_and_counted(
    brain: Brain, session: Session, other: Path, tmp_path: Path, *, mapped: bool
) -> None:
    if mapped:
        setup.init(tmp_path / "ledger-brain", name="ledger", remote=None, cwd=str(other), now=NOW)
    session.say("user", f"FACT {OURS}").say("assistant", "I see.")
    session.cwd = other
    session.say("user", f"FACT {THEIRS}").say("assistant", "I see.")
    answer = swept(brain, session)
    assert OURS in said(brain)
    assert THEIRS not in said(brain)
    assert "2 entries" in " ".join(answer.receipt.warnings)
    if mapped:
        theirs = brains.resolve(None, str(other))
        swept(theirs, session)
        assert THEIRS in said(theirs)
        assert OURS not in said(theirs)
        (one,) = review.listed(theirs, review.Filters()).candidates
        assert "ledger" in (one.note.repository or "")


def test_a_transcript_of_another_project_makes_no_note_here(
    brain: Brain, tmp_path: Path, other: Path, code: Path
) -> None:
    setup.init(tmp_path / "ledger-brain", name="ledger", remote=None, cwd=str(other), now=NOW)
    foreign = Session(tmp_path / "foreign.jsonl", other).say("user", f"FACT {THEIRS}").say("assistant", "I see.")
    answer = swept(brains.resolve(None, str(code)), foreign)
    assert answer.drafts == ()
    assert said(brain) == ""
    assert "other repositories" in " ".join(answer.receipt.warnings)


def test_a_repository_of_the_same_brain_is_named_by_its_own_session(
    brain: Brain, tmp_path: Path, other: Path, code: Path
) -> None:
    setup.init(brain.root, name=None, remote=None, cwd=str(other), now=NOW)
    foreign = Session(tmp_path / "foreign.jsonl", other).say("user", f"FACT {THEIRS}").say("assistant", "I see.")
    swept(brains.resolve(None, str(code)), foreign)
    (one,) = review.listed(brain, review.Filters()).candidates
    assert THEIRS in one.note.title
    assert "ledger" in (one.note.repository or "")


@pytest.mark.parametrize("place", ["a sub-folder", "another work tree", "a folder that is gone", "no repository"])
def test_what_was_said_beside_the_code_is_kept(
    brain: Brain, session: Session, git: PlainGit, code: Path, tmp_path: Path, place: str
) -> None:
    folder = {"a sub-folder": code / "src", "another work tree": tmp_path / "tree"}.get(place, tmp_path / "plain")
    if place == "another work tree":
        git(code, "worktree", "add", "-q", str(folder))
    elif place != "a folder that is gone":
        folder.mkdir()
    session.cwd = folder
    session.say("user", f"FACT {OURS}").say("assistant", "I see.")
    answer = swept(brain, session)
    assert OURS in said(brain)
    assert answer.receipt.warnings == ()


def test_a_session_of_a_folder_that_is_gone_is_the_brains_that_was_asked(
    brain: Brain, session: Session, tmp_path: Path
) -> None:
    moved = replace(session, path=tmp_path / "gone.jsonl", cwd=tmp_path / "gone", lines=[])
    moved.say("user", f"FACT {OURS}").say("assistant", "I see.")
    swept(brain, moved)
    assert OURS in said(brain)
