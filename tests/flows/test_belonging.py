"""What was said in another repository reaches no note of this brain, whoever asks for the sweep."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.flows import belonging, brains, review, setup, sweep
from commonwealth.flows.brains import Brain
from commonwealth.flows.sweep import Swept, Told
from commonwealth.hosts import transcript
from commonwealth.repo.project import Project, repository_of

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
    assert (answer.outcome, answer.receipt.state) == (sweep.FOREIGN, "refused")
    line = json.loads((config.home() / "logs" / "capture.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (line["outcome"], line["elsewhere"], line["kept"]) == ("of another repository", 2, 0)


def test_a_transcript_of_another_project_is_taken_where_that_is_asked_for(
    brain: Brain, tmp_path: Path, other: Path, code: Path
) -> None:
    setup.init(tmp_path / "ledger-brain", name="ledger", remote=None, cwd=str(other), now=NOW)
    foreign = Session(tmp_path / "foreign.jsonl", other).say("user", f"FACT {THEIRS}").say("assistant", "I see.")
    told = Told("claude", str(foreign.path))
    here = brains.resolve(None, str(code))
    sweep.sweep(here, told, trigger="by hand", now=NOW, drafter=facts(), anyway=True)
    (one,) = review.listed(brain, review.Filters()).candidates
    assert "ledger" in (one.note.repository or "")


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
    (one,) = review.listed(brain, review.Filters()).candidates
    assert one.note.repository is None, "not that of whoever asks"


def codex(path: Path, cwd: Path, *items: dict[str, object], url: str | None = None) -> Told:
    """A session of Codex's in which the user says a fact of ours, and more."""
    head = {"id": SESSION, "cwd": str(cwd), "git": {"repository_url": url, "branch": "main"} if url else None}
    words = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"FACT {OURS}"}]}
    lines = [{"type": "session_meta", "payload": head}, *({"type": "response_item", "payload": one} for one in items)]
    lines.append({"type": "response_item", "payload": words})
    text = "\n".join(json.dumps({"timestamp": "2026-06-30T09:00:00.000Z", **line}) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return Told("codex", str(path))


@pytest.mark.parametrize("name", ["shop", "ledger"])
def test_a_folder_that_is_gone_is_known_by_the_repository_that_the_host_noted(
    brain: Brain, tmp_path: Path, other: Path, code: Path, git: PlainGit, name: str
) -> None:
    setup.init(tmp_path / "ledger-brain", name="ledger", remote=None, cwd=str(other), now=NOW)
    url = {"shop": git(code, "remote", "get-url", "origin").strip()}.get(name, f"https://git.example.org/acme/{name}")
    told = codex(tmp_path / "rollout.jsonl", tmp_path / "gone", url=url)
    sweep.sweep(brains.resolve(None, str(code)), told, trigger="by hand", now=NOW, drafter=facts())
    assert (OURS in said(brain)) is (name == "shop")


def test_a_command_that_runs_elsewhere_is_of_there(
    brain: Brain, tmp_path: Path, other: Path, code: Path, git: PlainGit
) -> None:
    def run(number: int, **arguments: str) -> list[dict[str, object]]:
        call = {"call_id": f"c{number}", "name": "exec_command", "arguments": json.dumps(arguments)}
        out = {"call_id": f"c{number}", "output": f"[main abc{number}def] Subject\n"}
        return [{"type": "function_call", **call}, {"type": "function_call_output", **out}]

    items = [
        *run(1, cmd="git commit -m here", workdir=str(code)),
        *run(2, cmd="git commit -m there", workdir=str(other)),
        *run(3, cmd=f"cd {other} && git commit -m there"),
        *run(4, cmd="git commit -m below", workdir="src"),
    ]
    told = codex(tmp_path / "rollout.jsonl", code, *items)
    found = transcript.read("codex", told.transcript).conversation
    assert [getattr(event, "folder", None) for event in found.events[:4]] == [None, *[str(other)] * 2, f"{code}/src"]
    assert found.commits == ("abc1def", "abc4def")
    kept = belonging.of(brains.resolve(None, str(code)), found)
    assert kept.left == 2
    assert [event.line for event in kept.said.events] == [2, 8, 10]


def test_neither_branch_nor_commit_are_those_of_another_repository(
    brain: Brain, session: Session, other: Path, git: PlainGit, code: Path
) -> None:
    session.say("user", f"FACT {OURS}").say("assistant", "I see.")
    session.cwd, session.branch = other, "their-branch"
    use = {"type": "tool_use", "id": "u", "name": "Bash", "input": {"command": "git commit -m x"}}
    session.add("assistant", [use])
    session.add("user", [{"type": "tool_result", "tool_use_id": "u", "content": "[their-branch 0123abc] x"}])
    session.say("user", "thanks").say("assistant", "Sure.")
    swept(brain, session)
    (one,) = review.listed(brain, review.Filters()).candidates
    assert one.note.provenance.branch == "main"
    assert one.note.provenance.commit == git(code, "rev-parse", "HEAD").strip()


def test_each_folder_is_looked_at_once(
    brain: Brain, session: Session, other: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(folder: str) -> Project | None:
        looked.append(folder)
        return repository_of(folder)

    monkeypatch.setattr(belonging, "repository_of", look)
    (code / "src").mkdir()
    for _ in range(20):
        session.cwd = other
        session.say("user", "go on").say("assistant", "Going on.")
        session.cwd = code / "src"
        session.say("user", "go on").say("assistant", "Going on.")
    swept(brain, session)
    assert len(looked) == len(set(looked)) <= 3
