"""What a person decided on of a session comes back by no later sweep: not of it, nor of one that was forked from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.conversation import Conversation
from commonwealth.curate import dedupe
from commonwealth.flows import cursors, evidence, review, sweep
from commonwealth.flows.approval import as_canon
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session as Caller
from commonwealth.flows.sweep import Swept, Told
from commonwealth.model import Candidate, Span
from commonwealth.notes import candidate, store

from .conftest import NOW, PlainGit, search_all
from .told import SESSION, Session, facts

FORK = "5b0f6a52-7f7c-4f0e-9f55-2d1c6a1f0b99"
PORT = "the staging database listens on port 5433"
RETRY = "refunds are retried only by the nightly job"
Drafter = Callable[[Conversation], Sequence[Candidate]]


@pytest.fixture
def parent(tmp_path: Path, code: Path) -> Session:
    """A session in the code repository that taught one fact."""
    made = Session(tmp_path / "transcripts" / f"{SESSION}.jsonl", code)
    made.path.parent.mkdir()
    made.say("user", "Connect to the database").say("assistant", "Connecting on port 5432.")
    return made.say("user", f"FACT {PORT}").say("assistant", "Understood, port 5433.")


def forked(parent: Session) -> Session:
    """The session as `--fork-session` makes it: the same records in a new file, under a new name, at other lines."""
    lines = [json.dumps({**json.loads(line), "sessionId": FORK}) for line in parent.lines]
    lines.insert(0, json.dumps({"type": "mode", "mode": "normal", "sessionId": FORK}))
    made = replace(parent, path=parent.path.with_name(f"{FORK}.jsonl"), name=FORK, lines=lines)
    return made.say("user", "Go on from here").say("assistant", "Going on.")


def swept(brain: Brain, session: Session, drafter: Drafter | None = None) -> Swept:
    told = Told("claude", str(session.path), session.name)
    return sweep.sweep(brain, told, trigger="SessionEnd", now=NOW, drafter=drafter or facts())


def waiting(brain: Brain) -> list[str]:
    return [file.note.id for file in store.staged(brain.root)[0]]


def decide(brain: Brain, note_id: str, how: str) -> None:
    if how == "approved":
        assert review.approve(brain, [note_id], session=Caller(), now=NOW).state == "committed"
    elif how == "rejected":
        review.reject(brain, [note_id], session=Caller(), now=NOW)
    else:
        (brain.root / "staging" / f"{note_id}.md").unlink()


def test_a_fork_brings_what_waits_already_no_second_time(brain: Brain, parent: Session) -> None:
    ids = swept(brain, parent).receipt.ids
    fork = forked(parent).say("user", f"FACT {RETRY}").say("assistant", "I see.")
    answer = swept(brain, fork)
    assert [one.state for one in answer.drafts] == ["unchanged", "staged"]
    assert "forked" in (answer.drafts[0].reason or "")
    assert set(waiting(brain)) == {*ids, *answer.receipt.ids}
    assert len(waiting(brain)) == 2
    assert not (brain.root / "staging" / "dropped").exists()
    parent.say("user", "Thanks").say("assistant", "Welcome.")
    swept(brain, parent)
    assert len(waiting(brain)) == 2


@pytest.mark.parametrize("how", ["approved", "rejected", "deleted by hand"])
@pytest.mark.parametrize("reworded", [False, True], ids=["", "in other words"])
def test_what_was_decided_in_the_parent_is_decided_in_its_fork(
    brain: Brain, parent: Session, how: str, *, reworded: bool
) -> None:
    (note_id,) = swept(brain, parent).receipt.ids
    fork = forked(parent)
    decide(brain, note_id, how)
    again = facts(title="Port 5433 is the one that the staging database listens on") if reworded else facts()
    answer = swept(brain, fork, again)
    assert [(one.state, one.reason) for one in answer.drafts] == [("unchanged", "it was decided on before")]
    assert waiting(brain) == []


def test_what_only_the_fork_says_is_its_own(brain: Brain, parent: Session) -> None:
    (note_id,) = swept(brain, parent).receipt.ids
    decide(brain, note_id, "rejected")
    fork = forked(parent).say("user", f"FACT {RETRY}").say("assistant", "I see.")
    assert [one.state for one in swept(brain, fork).drafts] == ["unchanged", "staged"]


@pytest.mark.parametrize("how", ["approved", "rejected"])
@pytest.mark.parametrize(
    ("title", "summary", "state"),
    [
        ("Port 5433 is that of the staging database", "It listens there, said the user.", "unchanged"),
        ("The staging database has its port at 5433", "5433 is where the staging database listens.", "unchanged"),
        ("The old cluster is switched off in May", "Nothing may rest on it from then on.", "staged"),
        ("Migrations need the owner's role", "The role of the application cannot alter a table.", "staged"),
    ],
)
def test_of_the_same_lines_another_fact_is_new_and_other_words_are_not(
    brain: Brain, parent: Session, how: str, title: str, summary: str, state: str
) -> None:
    (note_id,) = swept(brain, parent).receipt.ids
    decide(brain, note_id, how)
    parent.say("user", "Go on").say("assistant", "Going on.")
    cursors.place_of(brain.root, "claude", str(parent.path)).touch()
    answer = swept(brain, parent, facts(title=title, summary=summary))
    assert [one.state for one in answer.drafts] == [state]


@pytest.mark.parametrize(
    ("one", "other", "again"),
    [
        ("Use pnpm, never npm", "Never use npm here, use pnpm", True),
        ("Refunds are retried only by the nightly job", "Only the nightly job retries a refund", True),
        ("Retries are limited to 3", "Retries are limited to 5", False),
        ("The staging database listens on port 5433", "The staging database is reset every night", False),
        ("Refunds are retried only by the nightly job", "Refunds over 500 EUR need approval by finance", False),
    ],
)
def test_other_words_are_told_from_another_fact(one: str, other: str, *, again: bool) -> None:
    drafts = [Candidate(text, "", Span(1, 2)) for text in (one, other)]
    assert dedupe.says_again(drafts[0], drafts[1]) is again
    assert dedupe.says_again(drafts[1], drafts[0]) is again


# The words of the session


def test_a_draft_shows_the_words_that_it_rests_on(brain: Brain, parent: Session) -> None:
    (note_id,) = swept(brain, parent).receipt.ids
    origin = review.find(brain, note_id).origin
    assert origin is not None
    assert origin.transcript == str(parent.path)
    assert evidence.words(origin).lines == ((3, "user", f"FACT {PORT}"),)
    parent.path.write_text("\n".join(reversed(parent.lines)) + "\n", encoding="utf-8")
    assert "something else" in (evidence.words(origin).missing or "")
    parent.path.unlink()
    assert "cannot be read" in (evidence.words(origin).missing or "")
    assert evidence.words(replace(origin, transcript=None)) == evidence.Words()


def test_a_secret_beside_the_words_is_not_shown(brain: Brain, parent: Session) -> None:
    token = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
    parent.say("user", f"The key is {token}, and FACT {RETRY}").say("assistant", "I see.")
    swept(brain, parent)
    origin = replace(
        review.find(brain, waiting(brain)[0]).origin or candidate.Origin(), evidence=Span(3, 6), place=None
    )
    shown = evidence.words(origin).lines
    assert [line for line, _, _ in shown] == [3, 4, 5, 6]
    assert token not in str(shown)


@pytest.mark.parametrize("how", ["approved", "requested", "by itself"])
def test_where_the_transcript_lies_never_reaches_canon(
    brain: Brain, parent: Session, git: PlainGit, how: str, tmp_path: Path
) -> None:
    secret_folder = tmp_path / "alices-own-folder"
    secret_folder.mkdir()
    parent.path.rename(secret_folder / parent.path.name)
    parent.path = secret_folder / parent.path.name
    if how == "by itself":
        home = Path(brain.root.parent, "unused")
        assert not home.exists()
    (note_id,) = swept(brain, parent).receipt.ids
    one = review.find(brain, note_id)
    assert "alices-own-folder" in one.data.decode()
    if how == "requested":
        assert b"alices-own-folder" not in as_canon(brain, one, session=Caller(), now=NOW)[1]
        return
    review.approve(brain, [note_id], session=Caller(), now=NOW)
    assert search_all(brain.root, "alices-own-folder") == [
        str(path) for path in [cursors.place_of(brain.root, "claude", str(parent.path))] if "alices" in path.read_text()
    ]
    assert "alices-own-folder" not in git(brain.root, "log", "-p", "--all")


def test_sessions_that_began_at_the_same_time_are_not_one(brain: Brain, parent: Session, tmp_path: Path) -> None:
    swept(brain, parent)
    for number in range(2):
        name = f"{number}{SESSION[1:]}"
        other = Session(tmp_path / "transcripts" / f"{name}.jsonl", parent.cwd, name=name)
        other.say("user", f"Task {number}").say("assistant", "Yes.")
        swept(brain, other.say("user", f"FACT {PORT}").say("assistant", "Understood."))
    dropped = list(store.staged_paths(brain.root, store.DROPPED))
    assert len({note.removesuffix(".md").rpartition("-")[2] for note in (*waiting(brain), *dropped)}) == 3


def test_no_note_names_the_file_that_it_was_drawn_from(brain: Brain, parent: Session) -> None:
    swept(brain, parent)
    (note,) = waiting(brain)
    assert review.approve(brain, [note], session=Caller(), now=NOW).state == "committed"
    (path,) = brain.root.rglob(f"memory/**/{note}.md")
    text = path.read_text(encoding="utf-8")
    assert PORT in text
    assert not any(part in text for part in (str(parent.path.parent), parent.path.name, "transcript:"))
