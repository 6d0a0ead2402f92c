"""`brain capture`: drafts with their lines on stdout, documented exit codes, and nothing written by a dry run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.flows.told import SESSION, Session

from .conftest import Done

Run = Callable[..., Done]
RULE = "the staging database listens on port 5433, because 5432 is taken by the old cluster"
TOKEN = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"


@pytest.fixture
def session(tmp_path: Path, project: Path) -> Session:
    """A session in the project in which the user corrects the model."""
    made = Session(tmp_path / "transcripts" / f"{SESSION}.jsonl", project)
    made.path.parent.mkdir()
    made.say("user", "Write a script that connects to the staging database").say("assistant", "I connect to port 5432.")
    made.say("user", f"No, {RULE}.").say("assistant", "Understood, port 5433 it is.")
    return made.say("user", "Thanks, that works").say("assistant", "Good.")


@pytest.fixture
def capture(brain: Run, root: Path, project: Path) -> Run:
    def run(path: Path, *args: str, host: str = "claude", **how: Any) -> Done:
        where = ("--brain", str(root), "-C", str(project))
        return brain("capture", "--host", host, "--transcript", str(path), *where, *args, **how)

    return run


def said(done: Done) -> Any:
    assert done.stderr == b"", done.stderr
    return json.loads(done.stdout)


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "index" not in path.parts)
    return {str(path): path.read_bytes() for path in files if path.suffix != ".lock"}


def test_the_drafts_of_a_session_come_with_lines_verdict_and_reasons(
    capture: Run, session: Session, root: Path
) -> None:
    done = capture(session.path, "--json")
    assert done.returncode == 0
    (draft,) = said(done)["drafts"]
    assert {"title", "summary", "kind", "type", "status", "confidence", "evidence", "verdict", "reasons", "id"} <= set(
        draft
    )
    assert "5433" in draft["title"]
    assert (draft["kind"], draft["status"], draft["verdict"]) == ("memory", "confirmed", "promote")
    assert draft["evidence"]["from"] <= 3 <= draft["evidence"]["to"]
    assert (root / "staging" / f"{draft['id']}.md").exists()
    assert said(done)["receipt"]["state"] == "staged"


def test_a_second_sweep_of_the_same_finds_nothing_new(capture: Run, session: Session, root: Path) -> None:
    capture(session.path, "--json")
    before = state(root)
    done = capture(session.path, "--json")
    assert (done.returncode, said(done)["drafts"], said(done)["receipt"]["state"]) == (0, [], "unchanged")
    assert state(root) == before


def test_a_dry_run_moves_no_cursor_and_writes_nothing(
    capture: Run, session: Session, root: Path, tmp_path: Path
) -> None:
    home = Path(os.environ["COMMONWEALTH_HOME"])
    home.mkdir(exist_ok=True)
    before = state(tmp_path)
    first = said(capture(session.path, "--dry-run", "--json"))
    assert state(tmp_path) == before
    assert said(capture(session.path, "--dry-run", "--json"))["drafts"] == first["drafts"]
    kept = said(capture(session.path, "--json"))
    assert [draft["id"] for draft in kept["drafts"]] == [draft["id"] for draft in first["drafts"]]


def test_a_session_that_taught_nothing_is_no_failure(capture: Run, session: Session) -> None:
    session.lines = []
    session.say("user", "hello").say("assistant", "hi")
    done = capture(session.path, "--json")
    assert (done.returncode, said(done)["drafts"]) == (0, [])
    assert capture(session.path).returncode == 0


STRANGE = {
    "an empty file": (b"", "claude"),
    "bytes": (bytes(range(256)) * 10, "claude"),
    "prose": (b"Dear diary\n" * 20, "claude"),
    "another host's": (b"", "codex"),
}


@pytest.mark.parametrize("kind", [*STRANGE, "no file", "a folder"])
def test_a_file_that_is_no_transcript_is_refused_with_the_reason(
    capture: Run, session: Session, root: Path, kind: str
) -> None:
    data, host = STRANGE.get(kind, (b"", "claude"))
    path = session.path
    if kind != "another host's":
        path = session.path.with_name("strange.jsonl")
    if kind in STRANGE and data:
        path.write_bytes(data)
    elif kind == "an empty file":
        path.write_bytes(b"")
    elif kind == "a folder":
        path.mkdir()
    done = capture(path, "--json", host=host)
    assert done.returncode == 1
    answer = said(done)
    assert set(answer) == {"drafts", "reason"}
    assert answer["drafts"] == []
    assert answer["reason"]
    shown = capture(path, host=host)
    assert (shown.returncode, shown.stdout) == (1, b"")
    assert b"Traceback" not in shown.stderr
    assert b"error:" in shown.stderr
    assert not list((root / "staging").glob("*.md"))


@pytest.mark.parametrize("arguments", [(), ("--host", "claude"), ("--host", "emacs", "--transcript", "x")])
def test_a_call_without_host_or_file_is_a_usage_error(brain: Run, root: Path, arguments: tuple[str, ...]) -> None:
    assert brain("capture", *arguments, "--brain", str(root)).returncode == 2


def test_without_a_brain_nothing_is_captured(brain: Run, session: Session, project: Path) -> None:
    done = brain("capture", "--host", "claude", "--transcript", str(session.path), cwd=project)
    assert done.returncode == 1
    assert b"No brain is set up" in done.stderr


def test_people_see_what_waits_and_where_it_comes_from(capture: Run, session: Session) -> None:
    dry = capture(session.path, "--dry-run")
    assert dry.stdout.startswith(b"would wait\t")
    shown = capture(session.path)
    assert shown.stdout.startswith(b"staged\t")
    assert b"5433" in shown.stdout
    assert b"brain review list" in shown.stderr
    assert capture(session.path).stdout == b"nothing was said since the last sweep\n"


def test_a_secret_is_in_no_answer_and_in_no_file(capture: Run, session: Session, root: Path, tmp_path: Path) -> None:
    Path(os.environ["COMMONWEALTH_HOME"]).mkdir(exist_ok=True)
    session.say("user", f"No, always use the token {TOKEN}, because the other one has expired.")
    session.say("assistant", f"Using {TOKEN}.").say("user", "Good").say("assistant", "Thanks.")
    for args in (("--dry-run", "--json"), ("--dry-run",), ("--json",), ()):
        done = capture(session.path, *args)
        assert TOKEN.encode() not in done.stdout + done.stderr
    session.path.unlink()
    assert [path for path, data in state(tmp_path).items() if TOKEN.encode() in data] == []
    assert len(list((root / "staging").glob("*.md"))) == 1


def test_what_a_repository_says_itself_and_what_we_injected_is_not_captured(
    capture: Run, session: Session, project: Path
) -> None:
    """97.8 % of the memories of another product were such junk."""
    rules = "Always run the linter before you commit, because the build refuses unformatted code."
    note = "Never retry a payment that was answered with HTTP 409, because it would be paid twice."
    (project / "AGENTS.md").write_text(f"# Rules\n\n{rules}\n", encoding="utf-8")
    session.lines = []
    attachment = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [note]}}
    session.say("user", "Read AGENTS.md and do as it says")
    session.lines.append(json.dumps({"sessionId": SESSION, "uuid": "a", "cwd": str(project), **attachment}))
    session.add("user", f"<system-reminder>\n# AGENTS.md\n{rules}\n{note}\n</system-reminder>\nGo on.")
    session.say("assistant", f"AGENTS.md says: {rules}")
    session.say("user", f"{rules}").say("assistant", "I will.").say("user", "Good").say("assistant", "Thanks.")
    done = capture(session.path, "--json")
    kept = [draft for draft in said(done)["drafts"] if draft["verdict"] != "drop"]
    assert kept == []
    assert b"409" not in done.stdout


def test_sweeps_of_one_session_at_once_make_one_draft(capture: Run, session: Session, root: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: capture(session.path, "--json"), range(4)))
    assert [done.returncode for done in answers] == [0] * 4
    assert sorted(said(done)["receipt"]["state"] for done in answers) == ["staged", *["unchanged"] * 3]
    assert len(list((root / "staging").glob("*.md"))) == 1


def test_a_session_makes_no_note_of_a_person(capture: Run, session: Session, root: Path) -> None:
    session.say("user", "My colleague Bob Miller prefers tabs and lives in Leeds.").say("assistant", "Noted.")
    drafts = said(capture(session.path, "--json"))["drafts"]
    assert {draft["kind"] for draft in drafts} <= {"memory", "decision"}
    assert all(draft["evidence"]["from"] >= 1 for draft in drafts)
    assert not any("Miller" in path.read_text("utf-8") for path in (root / "staging").glob("*.md"))


def test_a_transcript_of_another_project_is_refused_unless_it_is_asked_for(
    capture: Run, session: Session, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "ledger"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    session.lines = [json.dumps({**json.loads(line), "cwd": str(other)}) for line in session.lines]
    session.path.write_text("\n".join(session.lines) + "\n", encoding="utf-8")
    done = capture(session.path, "--json")
    assert done.returncode == 1
    assert said(done)["drafts"] == []
    assert "another repository" in said(done)["reason"]
    assert b"--anyway" in capture(session.path).stderr
    assert list((root / "staging").glob("*.md")) == []
    (draft,) = said(capture(session.path, "--json", "--anyway"))["drafts"]
    assert "repository: ledger" in (root / "staging" / f"{draft['id']}.md").read_text(encoding="utf-8")
