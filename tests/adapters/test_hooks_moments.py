"""A prompt and an edit are answered in time and with the note that bears on them, or with nothing at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .sessions import NOTE_PATH, TITLE, Machine, git, until

PROMPT = "why does the payment service answer HTTP 409 after a retry of an idempotent payment?"
MOMENTS = ["UserPromptSubmit", "PreToolUse"]
HEAVY = (
    *("click", "pydantic", "mcp", "git", "sqlite_utils", "asyncio", "importlib.metadata", "email", "http", "yaml"),
    *("frontmatter", "commonwealth.flows.indexing", "commonwealth.flows.publishing", "commonwealth.repo.sync"),
)
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Alice's machine, after a session that has made the index; its note is about one file of the project."""
    made = Machine(tmp_path / "alice").build()
    note = made.brain / NOTE_PATH
    note.write_text(note.read_text().replace("  human: Alice\n", "  human: Alice\n  files: [src/pay.py]\n"))
    git(made.brain, "commit", "-qam", "A file")
    (made.project / "src").mkdir()
    (made.project / "src" / "pay.py").write_text("retries = 3\n", encoding="utf-8")
    made.hook("SessionStart", made.stdin(session_id="0000aaaa"))
    until(lambda: not made.processes(), "the end of the worker")
    (made.root / "calls").unlink(missing_ok=True)
    (made.home / "logs" / "hooks.jsonl").unlink()
    yield made
    made.clear()


def said(machine: Machine, event: str, **fields: object) -> bytes:
    """What a host says at a moment at which the note is worth telling."""
    edit = {"file_path": str(machine.project / "src" / "pay.py"), "old_string": "3", "new_string": "5"}
    moment = {"prompt": PROMPT} if event == "UserPromptSubmit" else {"tool_name": "Edit", "tool_input": edit}
    return machine.stdin(hook_event_name=event, **(moment | fields))


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("event", MOMENTS)
def test_the_note_that_bears_on_a_moment_is_told_once(machine: Machine, event: str, host: str) -> None:
    done = machine.hook(event, said(machine, event), host=host)
    assert (done.code, done.err) == (0, b"")
    assert set(done.answer) == {"hookSpecificOutput"}
    assert set(done.answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert TITLE in done.context
    assert machine.hook(event, said(machine, event), host=host).out == b""
    assert TITLE in machine.hook(event, said(machine, event, session_id="another1"), host=host).context
    outcomes = [(line["event"], line["host"], line["outcome"], line["notes"]) for line in machine.log()]
    assert outcomes == [(event, host, *how) for how in (("injected", 1), ("silent", 0), ("injected", 1))]
    assert machine.calls() == [], "the network is not asked"


def test_what_was_told_at_the_start_is_not_told_again_until_a_compaction_took_it(machine: Machine) -> None:
    assert TITLE in machine.hook("SessionStart").context
    assert machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit")).out == b""
    assert machine.hook("SessionStart", machine.stdin(source="resume")).out == b""
    assert TITLE in machine.hook("SessionStart", machine.stdin(source="compact")).context
    assert machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit")).out == b""


def test_a_note_that_has_changed_since_is_told_again(machine: Machine) -> None:
    machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit"))
    note = machine.brain / NOTE_PATH
    note.write_text(note.read_text().replace("Treat it as success.", "Treat it as failure."), encoding="utf-8")
    git(machine.brain, "commit", "-qam", "It changed")
    machine.hook("SessionStart", machine.stdin(session_id="another1"))
    assert "as failure" in machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit")).context


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("UserPromptSubmit", {"prompt": "thanks, looks good"}),
        ("UserPromptSubmit", {"prompt": ""}),
        ("UserPromptSubmit", {"prompt": 7}),
        ("UserPromptSubmit", {"prompt": None}),
        ("UserPromptSubmit", {"agent_id": "helper"}),
        ("PreToolUse", {"tool_name": "Read"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ("PreToolUse", {"tool_input": None}),
        ("PreToolUse", {"tool_input": {"file_path": "/elsewhere/src/other.py", "new_string": "x"}}),
    ],
)
def test_what_no_note_bears_on_is_answered_with_nothing(
    machine: Machine, event: str, fields: dict[str, object]
) -> None:
    done = machine.hook(event, said(machine, event, **fields))
    assert (done.code, done.out, done.err) == (0, b"", b"")
    (line,) = machine.log()
    assert line["outcome"] in ("silent", "ignored")
    assert line["reason"]


@pytest.mark.parametrize("event", MOMENTS)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_call_that_is_none_is_answered_with_nothing(machine: Machine, host: str, event: str) -> None:
    for raw in (b"", b"{", b"[]", b"\xff", b'{"prompt": "x"}'):
        done = machine.hook(event, raw, host=host, cwd=machine.root)
        assert (done.code, done.out, done.err) == (0, b"", b"")


@pytest.mark.parametrize("who", ["the person", "the team", "the session"])
@pytest.mark.parametrize(
    ("event", "moment"), [*zip(MOMENTS, ("prompt", "edit"), strict=True), ("SessionStart", "start")]
)
def test_each_moment_can_be_switched_off(machine: Machine, who: str, event: str, moment: str) -> None:
    env = {}
    if who == "the person":
        (machine.home / "config.yaml").write_text(f"{moment}_tokens: 0\n", encoding="utf-8")
    elif who == "the team":
        config = machine.brain / ".commonwealth" / "config.yaml"
        config.write_text(f"{config.read_text()}features: {{{moment}: off}}\n", encoding="utf-8")
    else:
        env = {"COMMONWEALTH_SILENT": moment}
    assert machine.hook(event, said(machine, event), env=env).out == b""
    other = "PreToolUse" if event != "PreToolUse" else "UserPromptSubmit"
    assert TITLE in machine.hook(other, said(machine, other), env=env).context


def test_a_remote_that_never_answers_holds_no_prompt_up(machine: Machine) -> None:
    machine.shut.touch()
    for number in range(10):
        done = machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit", session_id=f"s{number}"))
        assert TITLE in done.context
    assert machine.calls() == []


@pytest.mark.parametrize("damage", ["no index", "broken index", "empty index", "no config", "broken home config"])
def test_what_is_broken_is_said_at_no_prompt_and_blocks_none(machine: Machine, damage: str) -> None:
    index = machine.brain / "index"
    if damage == "no index":
        shutil.rmtree(index)
    elif damage in ("broken index", "empty index"):
        for file in index.iterdir():
            file.write_bytes(b"" if damage == "empty index" else b"SQLite format 3\0" + b"\x7f" * 5000)
    elif damage == "no config":
        (machine.brain / ".commonwealth" / "config.yaml").unlink()
    else:
        (machine.home / "config.yaml").write_text("prompt_tokens: many\n", encoding="utf-8")
    for event in MOMENTS * 5:
        done = machine.hook(event, said(machine, event))
        assert (done.code, done.out, done.err) == (0, b"", b"")
    assert {line["outcome"] for line in machine.log()} <= {"failed", "silent"}
    assert machine.hook("SessionStart", machine.stdin(session_id="later")).code == 0


def test_a_folder_that_is_gone_falls_back_to_the_project_of_the_host(machine: Machine) -> None:
    env = {"CLAUDE_PROJECT_DIR": str(machine.project)}
    gone = said(machine, "UserPromptSubmit", cwd=str(machine.root / "rate-limit-pty-cwd"))
    assert TITLE in machine.hook("UserPromptSubmit", gone, env=env).context
    assert machine.hook("UserPromptSubmit", gone).out == b""


def test_another_repository_hears_nothing_of_this_brain(machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "private"
    git(tmp_path, "init", "-q", str(other))
    for event in MOMENTS:
        done = machine.hook(event, said(machine, event, cwd=str(other)), cwd=other)
        assert (done.code, done.out, done.err) == (0, b"", b"")


def test_the_log_holds_no_word_of_a_prompt_or_an_edit(machine: Machine) -> None:
    for event in MOMENTS:
        machine.hook(event, said(machine, event))
    text = (machine.home / "logs" / "hooks.jsonl").read_text(encoding="utf-8")
    assert "409" not in text
    assert "pay.py" not in text
    assert all(
        set(line) == {"at", "event", "host", "session", "ms", "outcome", "notes", "reason"} for line in machine.log()
    )


def test_twenty_prompts_at_once_are_all_answered_and_leave_nothing(machine: Machine) -> None:
    def ask(number: int) -> bytes:
        return machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit", session_id=f"s{number}")).out

    with ThreadPoolExecutor(20) as sessions:
        assert all(TITLE.encode() in out for out in sessions.map(ask, range(20)))
    assert not machine.processes()
    assert git(machine.brain, "status", "--porcelain") == ""


@needs_proc
def test_sessions_that_are_killed_at_any_step_leave_no_process_and_no_file(machine: Machine) -> None:
    before = {path for path in machine.brain.rglob("*") if ".git/commonwealth/" not in str(path)}

    def run(number: int) -> None:
        event = ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd")[number % 5]
        process = machine.start_hook(event)
        assert process.stdin is not None
        process.stdin.write(said(machine, event, session_id=f"s{number}"))
        process.stdin.flush()
        try:
            process.wait(0.01 * (number % 17))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    with ThreadPoolExecutor(8) as sessions:
        list(sessions.map(run, range(50)))
    until(lambda: not machine.processes(), "the end of every process")
    after = {path for path in machine.brain.rglob("*") if ".git/commonwealth/" not in str(path)}
    left = [path for path in after - before if path.suffix in (".lock", ".tmp") or path.name.startswith(".")]
    assert left == []
    assert not list((machine.brain / ".git" / "commonwealth").rglob("*.tmp"))
    assert TITLE in machine.hook("UserPromptSubmit", said(machine, "UserPromptSubmit", session_id="last")).context


@pytest.mark.parametrize("event", MOMENTS)
def test_a_moment_loads_only_what_it_uses(machine: Machine, event: str) -> None:
    code = (
        "import sys; from commonwealth.adapters import detach, hooks; detach.FORKS = False\n"
        f"hooks.main(['{event}', '--host', 'claude'])\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=said(machine, event),
        cwd=machine.project,
        env=os.environ | machine.env,
        capture_output=True,
        check=True,
    )
    assert TITLE in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert set(done.stderr.decode().split()).isdisjoint(HEAVY)
