"""A session ends, is compacted, or is killed: what it taught is in the queue, and the host was never held up."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.flows.told import SESSION, Session

from .sessions import Machine, git, until

RULE = "the staging database listens on port 5433, because 5432 is taken by the old cluster"
PRIVATE = "Winterbottom"
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "alice").build()
    yield made
    made.clear()


@pytest.fixture
def session(machine: Machine) -> Session:
    """A session in which the user corrects the model and goes on."""
    made = Session(machine.root / "transcripts" / f"{SESSION}.jsonl", machine.project)
    made.path.parent.mkdir()
    made.say("user", "Write a script that connects to the staging database").say("assistant", "I connect to port 5432.")
    made.say("user", f"No, {RULE}.").say("assistant", "Understood, port 5433 it is.")
    return made.say("user", f"My grandmother is called {PRIVATE}, hello").say("assistant", "Hello.")


def said(machine: Machine, session: Session, **fields: object) -> bytes:
    return machine.stdin(**{"session_id": session.name, "transcript_path": str(session.path), **fields})


def drafts(machine: Machine) -> list[str]:
    """The text of what waits."""
    return [path.read_text(encoding="utf-8") for path in sorted((machine.brain / "staging").glob("*.md"))]


def log(machine: Machine) -> list[dict[str, Any]]:
    path = machine.home / "logs" / "capture.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def spooled(machine: Machine) -> list[dict[str, Any]]:
    folder = machine.brain / ".git" / "commonwealth" / "spool"
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]


def idle(machine: Machine) -> None:
    """Wait until nobody works for this person any more; a worker that waits for more to do is told not to.

    One look can miss whoever was started while it looked, by a process that has ended since.
    """
    marks = machine.brain / ".git" / "commonwealth"
    quiet = 0

    def nobody() -> bool:
        nonlocal quiet
        if marks.is_dir():
            (marks / "hurry").touch()
        quiet = 0 if machine.processes() else quiet + 1
        return quiet == 3

    until(nobody, "the end of the workers")


def rest(session: Session, seconds: float = 3600) -> None:
    """Nobody has written to the transcript for a while."""
    then = time.time() - seconds
    os.utime(session.path, (then, then))


@pytest.mark.parametrize(
    ("host", "event"), [("claude", "SessionEnd"), ("claude", "PreCompact"), ("codex", "Stop"), ("codex", "SessionEnd")]
)
@needs_proc
def test_what_a_session_taught_is_in_the_queue_after_an_event(
    machine: Machine, session: Session, host: str, event: str
) -> None:
    if host == "codex":
        as_codex(session)
    done = machine.hook(event, said(machine, session), host=host)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    until(lambda: drafts(machine), "a draft")
    idle(machine)
    (draft,) = drafts(machine)
    assert "5433" in draft
    assert f"host: {host}" in draft
    assert PRIVATE not in draft
    line = log(machine)[-1]
    assert (line["trigger"], line["host"], line["session"]) == (event, host, SESSION)
    assert (line["outcome"], line["drafts"], line["kept"]) == ("swept", 1, 1)
    assert machine.log()[-1]["outcome"] == "worker left"
    assert [entry["trigger"] for entry in spooled(machine)] == ([] if event == "SessionEnd" else ["open"])


def as_codex(session: Session) -> None:
    """The same session as Codex writes it."""
    lines: list[dict[str, Any]] = [
        {"type": "session_meta", "payload": {"id": session.name, "cwd": str(session.cwd), "cli_version": "0.171.0"}}
    ]
    for line in session.lines:
        record = json.loads(line)
        who, content = record["message"]["role"], record["message"]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        kind = "input_text" if who == "user" else "output_text"
        payload = {"type": "message", "role": who, "content": [{"type": kind, "text": text}]}
        lines.append({"type": "response_item", "payload": payload})
    text = "\n".join(json.dumps({"timestamp": "2026-06-30T09:00:00.000Z", **line}) for line in lines)
    session.path.write_text(text + "\n", encoding="utf-8")


@needs_proc
def test_all_events_of_a_session_make_one_draft(machine: Machine, session: Session) -> None:
    for event in ("SessionStart", "Stop", "PreCompact", "Stop", "SessionStart", "SessionEnd", "SessionEnd"):
        assert machine.hook(event, said(machine, session)).code == 0
        idle(machine)
    assert len(drafts(machine)) == 1
    assert spooled(machine) == []


@needs_proc
def test_nothing_that_was_said_is_anywhere_but_in_the_draft(machine: Machine, session: Session) -> None:
    machine.hook("SessionEnd", said(machine, session), env={"COMMONWEALTH_FAULT": "worker-started=kill"})
    idle(machine)
    (entry,) = spooled(machine)
    assert set(entry) == {"trigger", "host", "session", "transcript", "cwd", "at", "ended", "tries"}
    machine.hook("SessionStart", said(machine, session))
    idle(machine)
    assert len(drafts(machine)) == 1
    session.path.unlink()
    for word in (PRIVATE, "5433", "old cluster"):
        found = [path for path in machine.root.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
        found += [path for path in machine.home.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
        assert all(path.parent.name == "staging" for path in found), found


@pytest.mark.parametrize(
    "fields", [{"agent_id": "a1"}, {"transcript_path": None}, {"transcript_path": "relative.jsonl"}]
)
@needs_proc
def test_a_sub_agent_and_a_call_without_a_transcript_are_not_swept(
    machine: Machine, session: Session, fields: dict[str, object]
) -> None:
    for event in ("Stop", "PreCompact", "SessionEnd"):
        assert machine.hook(event, said(machine, session, **fields)).code == 0
    idle(machine)
    assert drafts(machine) == []
    assert spooled(machine) == []


@needs_proc
def test_a_turn_that_our_hook_prolonged_is_not_swept(machine: Machine, session: Session) -> None:
    machine.hook("Stop", said(machine, session, stop_hook_active=True), host="codex")
    idle(machine)
    assert spooled(machine) == []


@needs_proc
def test_a_repository_without_a_rule_is_none_of_our_business(machine: Machine, session: Session) -> None:
    (machine.home / "registry.yaml").write_text("rules: []\n", encoding="utf-8")
    for event in ("SessionStart", "Stop", "PreCompact", "SessionEnd"):
        machine.hook(event, said(machine, session))
    idle(machine)
    assert drafts(machine) == []
    assert spooled(machine) == []
    assert not (machine.home / "spool").exists()
    assert str(session.path) not in "".join(path.read_text("utf-8") for path in machine.home.rglob("*.jsonl"))


@needs_proc
def test_turns_that_follow_each_other_quickly_are_told_as_throttled_and_swept_at_the_end(
    machine: Machine, session: Session
) -> None:
    machine.hook("Stop", said(machine, session), host="claude")
    idle(machine)
    assert len(drafts(machine)) == 1
    session.say("user", "No, never write to the orders table directly, because the ledger is fed by its triggers.")
    session.say("assistant", "I go through the service.").say("user", "Good").say("assistant", "Thanks.")
    machine.hook("Stop", said(machine, session), host="claude")
    idle(machine)
    assert log(machine)[-1]["outcome"] == "throttled"
    assert len(drafts(machine)) == 1
    machine.hook("SessionEnd", said(machine, session))
    idle(machine)
    assert len(drafts(machine)) == 2


@needs_proc
@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_a_session_that_is_killed_is_swept_to_its_end_once_it_rests(
    machine: Machine, session: Session, event: str
) -> None:
    """No host says so. The next session's worker finds the file."""
    if event == "Stop":  # the last turn is the one with the correction
        session.lines = session.lines[:4]
        session.path.write_text("\n".join(session.lines) + "\n", encoding="utf-8")
    machine.hook(event, said(machine, session))
    idle(machine)
    assert drafts(machine) == []
    machine.hook("SessionStart", machine.stdin(session_id="1", transcript_path=str(machine.root / "no.jsonl")))
    idle(machine)
    assert drafts(machine) == []
    rest(session)
    machine.hook("SessionStart", machine.stdin(session_id="2", transcript_path=str(machine.root / "no.jsonl")))
    idle(machine)
    assert len(drafts(machine)) == 1
    assert log(machine)[-1]["trigger"] == "rested"


@needs_proc
def test_a_brain_that_is_away_gets_the_session_when_it_is_back(machine: Machine, session: Session) -> None:
    machine.brain.rename(machine.root / "away")
    done = machine.hook("SessionEnd", said(machine, session))
    assert (done.code, done.out) == (0, b"")
    idle(machine)
    assert [line["outcome"] for line in log(machine)] == ["no clone"]
    assert len(list((machine.home / "spool").glob("*.json"))) == 1
    (machine.root / "away").rename(machine.brain)
    machine.hook("SessionStart", machine.stdin(session_id="2"))
    idle(machine)
    assert len(drafts(machine)) == 1
    assert list((machine.home / "spool").glob("*")) == []


@needs_proc
def test_a_brain_that_is_broken_loses_no_session(machine: Machine, session: Session) -> None:
    config = machine.brain / ".commonwealth" / "config.yaml"
    whole = config.read_bytes()
    config.write_bytes(b"schema_version: 99\n")
    machine.hook("SessionEnd", said(machine, session))
    idle(machine)
    config.write_bytes(whole)
    machine.hook("SessionEnd", machine.stdin(session_id="2"))
    idle(machine)
    assert len(drafts(machine)) == 1


STRANGE = {
    "empty": b"",
    "binary": bytes(range(256)) * 100,
    "of another host": b'{"timestamp":"2026-06-30T09:00:00Z","type":"session_meta","payload":{"id":"x"}}\n',
}


@pytest.mark.parametrize("kind", [*STRANGE, "vanished"])
@needs_proc
def test_a_transcript_that_cannot_be_read_is_named_and_forgotten(machine: Machine, session: Session, kind: str) -> None:
    session.path.write_bytes(STRANGE.get(kind, b""))
    if kind == "vanished":
        session.path.unlink()
    assert machine.hook("SessionEnd", said(machine, session)).code == 0
    idle(machine)
    assert [line["outcome"] for line in log(machine)] == ["vanished" if kind == "vanished" else "unreadable"]
    assert spooled(machine) == []
    assert drafts(machine) == []


POINTS = ["spool-temp-written", "worker-spawn", "worker-started", "drafts-made", "swept"]
"""The others are tried in `tests/reliability`."""


@pytest.mark.parametrize("point", POINTS)
@needs_proc
def test_a_process_that_is_killed_at_any_step_is_made_good_by_the_next_one(
    machine: Machine, session: Session, point: str
) -> None:
    machine.hook("SessionStart", said(machine, session))
    idle(machine)
    reached = machine.root / "reached"
    fault = {"COMMONWEALTH_FAULT": f"{point}=kill", "COMMONWEALTH_FAULT_LOG": str(reached)}
    done = machine.hook("SessionEnd", said(machine, session), env=fault)
    assert (done.code, done.out) == (0, b"")
    idle(machine)
    assert point in reached.read_text(encoding="utf-8")
    rest(session)
    machine.hook("SessionStart", machine.stdin(session_id="2"))
    idle(machine)
    assert len(drafts(machine)) == 1
    assert spooled(machine) == []
    assert not list(machine.brain.glob("staging/dropped/*"))


@needs_proc
def test_a_transcript_that_always_kills_the_sweep_is_given_up_and_holds_no_other_up(
    machine: Machine, session: Session
) -> None:
    fault = {"COMMONWEALTH_FAULT": "drafts-made=kill"}
    machine.hook("SessionEnd", said(machine, session), env=fault)
    idle(machine)
    for _ in range(4):
        machine.hook("SessionEnd", machine.stdin(session_id="2"), env=fault)
        idle(machine)
    assert spooled(machine)[0]["tries"] == 5
    machine.hook("SessionEnd", machine.stdin(session_id="2"))
    idle(machine)
    assert spooled(machine) == []
    assert log(machine)[-1]["outcome"] == "given up"


@needs_proc
def test_a_disk_that_takes_no_entry_holds_nobody_up(machine: Machine, session: Session) -> None:
    for point in ("spool-asked", "spool-temp-written"):
        done = machine.hook("SessionEnd", said(machine, session), env={"COMMONWEALTH_FAULT": f"{point}=ENOSPC"})
        assert (done.code, done.out, done.err) == (0, b"", b"")
        idle(machine)
    machine.hook("SessionEnd", said(machine, session))
    idle(machine)
    assert len(drafts(machine)) == 1


@needs_proc
def test_a_brain_that_cannot_be_written_leaves_the_session_in_the_users_folder(
    machine: Machine, session: Session
) -> None:
    there = machine.brain / ".git" / "commonwealth" / "spool"
    there.write_text("a file in the folder's place", encoding="utf-8")
    done = machine.hook("SessionEnd", said(machine, session))
    assert (done.code, done.out, done.err) == (0, b"", b"")
    idle(machine)
    (line,) = machine.log()
    assert line["outcome"] == "kept aside"
    assert "cannot be written" in line["reason"]
    assert len(list((machine.home / "spool").glob("*.json"))) == 1
    there.unlink()
    machine.hook("SessionEnd", machine.stdin(session_id="2"))
    idle(machine)
    assert len(drafts(machine)) == 1
    assert list((machine.home / "spool").glob("*")) == []


@needs_proc
def test_a_session_that_no_folder_takes_is_told_in_the_log(machine: Machine, session: Session) -> None:
    for folder in (machine.brain / ".git" / "commonwealth" / "spool", machine.home / "spool"):
        folder.write_text("a file in the folder's place", encoding="utf-8")
    done = machine.hook("SessionEnd", said(machine, session))
    assert (done.code, done.out, done.err) == (0, b"", b"")
    idle(machine)
    (line,) = machine.log()
    assert line["outcome"] == "not kept"
    assert line["reason"].count("cannot be written") == 2
    assert [line["outcome"] for line in log(machine)] == ["not kept"]


@needs_proc
def test_a_session_of_a_brain_that_is_away_is_told_where_no_folder_takes_it(machine: Machine, session: Session) -> None:
    (machine.home / "spool").write_text("a file in the folder's place", encoding="utf-8")
    machine.brain.rename(machine.root / "away")
    assert machine.hook("SessionEnd", said(machine, session)).code == 0
    idle(machine)
    assert [line["outcome"] for line in log(machine)] == ["not kept"]


@needs_proc
def test_a_session_that_ends_in_another_project_is_swept_for_its_own(machine: Machine, session: Session) -> None:
    other = machine.root / "ledger"
    git(machine.root, "init", "-q", "-b", "main", str(other))
    fields = {"cwd": str(other)}
    project = {"CLAUDE_PROJECT_DIR": str(machine.project)}
    machine.hook("SessionEnd", said(machine, session, **fields), env=project, cwd=other)
    idle(machine)
    assert len(drafts(machine)) == 1
    assert sorted(line["outcome"] for line in machine.log()) == ["no brain", "worker left"]


@needs_proc
def test_hooks_that_run_at_once_leave_one_entry(machine: Machine, session: Session) -> None:
    fault = {"COMMONWEALTH_FAULT": "worker-started=kill"}
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: machine.hook("Stop", said(machine, session), env=fault), range(8)))
    assert {one.code for one in done} == {0}
    idle(machine)
    assert len(spooled(machine)) == 1
    machine.hook("SessionEnd", said(machine, session))
    idle(machine)
    assert len(drafts(machine)) == 1
    assert spooled(machine) == []


@needs_proc
def test_what_is_left_behind_names_nothing_on_its_command_line(machine: Machine, session: Session) -> None:
    """Where a worker is started anew, its arguments are the brain and the delay."""
    machine.shut.touch()
    machine.hook("SessionEnd", said(machine, session))
    until(machine.processes, "a worker")
    for pid in machine.processes():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        assert b"5433" not in line
        assert str(session.path).encode() not in line
    machine.shut.unlink()
    idle(machine)


@needs_proc
def test_the_folder_of_the_session_may_be_gone_by_then(machine: Machine, session: Session) -> None:
    other = machine.root / "worktree"
    shutil.copytree(machine.project, other)
    machine.hook(
        "SessionEnd",
        said(machine, session, cwd=str(other)),
        env={"COMMONWEALTH_FAULT": "worker-started=kill"},
        cwd=other,
    )
    idle(machine)
    shutil.rmtree(other)
    machine.hook("SessionStart", machine.stdin(session_id="2"))
    idle(machine)
    assert len(drafts(machine)) == 1
