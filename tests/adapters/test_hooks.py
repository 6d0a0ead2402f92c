"""A hook exits 0 in time, says what its host accepts or nothing, and leaves the rest to a worker."""

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

EVENTS = ["SessionStart", "SessionEnd", "Stop", "PreCompact", "PreToolUse", "Nonsense", "--help-me", "../x"]
SILENT = ["SessionEnd", "Stop", "PreCompact"]
HEAVY = ("click", "pydantic", "mcp", "git", "sqlite_utils", "asyncio", "importlib.metadata", "email", "http")
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Alice's machine: a project that a rule maps to a brain with one note."""
    made = Machine(tmp_path / "alice").build()
    yield made
    made.clear()


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_session_starts_with_what_the_team_knows(machine: Machine, host: str) -> None:
    done = machine.hook("SessionStart", host=host)
    assert (done.code, done.err) == (0, b"")
    assert list(done.answer) == ["hookSpecificOutput"]
    assert set(done.answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert TITLE in done.context
    assert "2026-06-02-http-409-9f3d7k2m" in done.context
    assert "Alice" in done.context
    (line,) = machine.log()
    assert set(line) == {"at", "event", "host", "session", "ms", "outcome", "notes", "reason"}
    assert (line["event"], line["host"], line["session"]) == ("SessionStart", host, "86044ae1")
    assert (line["outcome"], line["notes"]) == ("injected", 1)
    assert TITLE not in json.dumps(line)


def test_a_session_knows_what_a_colleague_published_a_moment_ago(machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(machine.remote), str(other))
    text = (other / NOTE_PATH).read_text(encoding="utf-8")
    new = NOTE_PATH.replace("http-409", "from-bob")
    (other / new).write_text(text.replace("http-409", "from-bob").replace(TITLE, "Bob knows"), encoding="utf-8")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "Bob")
    git(other, "push", "-q", "origin", "main")
    assert "Bob knows" in machine.hook("SessionStart").context


def test_a_repository_without_a_rule_hears_nothing(machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "private"
    git(tmp_path, "init", "-q", str(other))
    for event in EVENTS[:4]:
        done = machine.hook(event, machine.stdin(cwd=str(other)), cwd=other)
        assert (done.code, done.out, done.err) == (0, b"", b"")
    assert not machine.calls()


def test_a_machine_without_any_rule_stays_as_it_is(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for event in EVENTS:
        done = machine.hook(event, b'{"cwd": "/"}', cwd=tmp_path)
        assert (done.code, done.out, done.err) == (0, b"", b"")
    assert not machine.home.exists()


def test_a_brain_that_merely_lies_in_the_folder_is_not_taken(machine: Machine) -> None:
    (machine.home / "registry.yaml").unlink()
    done = machine.hook("SessionStart", machine.stdin(cwd=str(machine.brain)), cwd=machine.brain)
    assert (done.code, done.out) == (0, b"")


def test_hooks_can_be_switched_off(machine: Machine) -> None:
    for event in EVENTS[:4]:
        done = machine.hook(event, env={"COMMONWEALTH_DISABLE": "1"})
        assert (done.code, done.out) == (0, b"")
    assert machine.log() == []
    assert machine.calls() == []


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("host", ["claude", "codex", "elsewhere", ""])
def test_what_is_no_call_is_answered_with_nothing(machine: Machine, event: str, host: str) -> None:
    for stdin in (b"", b"{", b"[1]", b"\xff\xfe\x00", b"null"):
        done = machine.hook(event, stdin, host=host)
        assert (done.code, done.out, done.err) == (0, b"", b"")


@pytest.mark.parametrize(
    "arguments", [[], ["SessionStart"], ["--host"], ["--host", "claude"], ["SessionStart", "--host="]]
)
def test_a_hook_that_is_called_wrongly_exits_0(machine: Machine, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "commonwealth", "hook", *arguments],
        input=machine.stdin(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "arguments",
    [["--host", "claude", "SessionStart"], ["--host=claude", "SessionStart"], ["SessionStart", "--host", "claude"]],
)
def test_options_and_event_come_in_any_order(machine: Machine, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "commonwealth", "hook", *arguments],
        input=machine.stdin(),
        capture_output=True,
        env=os.environ | machine.env,
        check=False,
    )
    assert TITLE.encode() in done.stdout


def test_the_log_keeps_no_token_that_came_as_a_session_or_in_a_path(machine: Machine, tmp_path: Path) -> None:
    token = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
    machine.hook("SessionStart", machine.stdin(session_id=token))
    brain = tmp_path / token
    rules = f"rules:\n- match: github.com/acme/*\n  brain: {brain}\n"
    (machine.home / "registry.yaml").write_text(rules, encoding="utf-8")
    machine.hook("SessionStart", machine.stdin(session_id=f"x {token}"))
    assert token not in (machine.home / "logs" / "hooks.jsonl").read_text(encoding="utf-8")
    assert all(line["session"].startswith("#") for line in machine.log())
    assert "[secret]" in machine.log()[-1]["reason"]


def test_a_registry_that_cannot_be_read_is_said_and_named(machine: Machine) -> None:
    registry = machine.home / "registry.yaml"
    registry.write_text("rules: [\n", encoding="utf-8")
    done = machine.hook("SessionStart")
    assert done.code == 0
    assert str(registry) in done.answer["systemMessage"]
    assert str(registry) in done.context
    assert machine.log()[-1]["outcome"] == "damaged"
    assert machine.hook("SessionEnd").out == b""


def test_an_own_config_that_cannot_be_read_is_said_and_named(machine: Machine) -> None:
    (machine.home / "config.yaml").write_text("sync_seconds: soon\n", encoding="utf-8")
    assert str(machine.home / "config.yaml") in machine.hook("SessionStart").answer["systemMessage"]


def test_a_mapped_brain_that_is_not_there_is_no_reason_to_fail(machine: Machine) -> None:
    shutil.rmtree(machine.brain)
    done = machine.hook("SessionStart")
    assert (done.code, done.err) == (0, b"")
    assert str(machine.brain) in done.answer["systemMessage"]
    assert machine.log()[-1]["outcome"] == "no clone"


def test_a_mapped_brain_with_a_remote_is_cloned_while_the_session_goes_on(machine: Machine) -> None:
    remote = f"ssh://git.test{machine.remote}"
    rules = f"rules:\n- match: github.com/acme/*\n  brain: acme\n  remote: {remote}\n"
    (machine.home / "registry.yaml").write_text(rules, encoding="utf-8")
    machine.shut.touch()
    for _ in range(2):
        done = machine.hook("SessionStart")
        assert list(done.answer) == ["systemMessage"]
        assert "acme is being cloned" in done.answer["systemMessage"]
    machine.shut.unlink()
    until((machine.home / "brains" / "acme" / NOTE_PATH).exists, "cloning")
    until(lambda: {"cloned", "another is at it"} <= {line["outcome"] for line in machine.log()}, "the log")
    assert TITLE in machine.hook("SessionStart").context


def test_the_folder_of_a_session_may_be_gone(machine: Machine, tmp_path: Path) -> None:
    gone = tmp_path / "worktree"
    gone.mkdir()
    process = machine.start_hook("SessionStart", cwd=gone, env={"CLAUDE_PROJECT_DIR": str(machine.project)})
    gone.rmdir()
    out, err = process.communicate(machine.stdin(cwd=str(gone)))
    assert (process.returncode, err) == (0, b"")
    assert TITLE in json.loads(out)["hookSpecificOutput"]["additionalContext"]


def test_a_made_up_folder_falls_back_to_the_hosts_project_or_silence(machine: Machine, tmp_path: Path) -> None:
    stdin = machine.stdin(cwd=str(tmp_path / "rate-limit-pty-cwd"))
    assert TITLE in machine.hook("SessionStart", stdin, env={"CLAUDE_PROJECT_DIR": str(machine.project)}).context
    assert machine.hook("SessionStart", stdin).out == b""


def test_a_remote_that_never_answers_holds_no_session_up(machine: Machine) -> None:
    machine.shut.touch()
    (machine.home / "config.yaml").write_text("sync_seconds: 0.3\n", encoding="utf-8")
    done = machine.hook("SessionStart")
    assert done.code == 0
    assert TITLE in done.context
    assert machine.log()[-1]["reason"] == "sync late"
    for event in SILENT:
        assert machine.hook(event).code == 0
    machine.shut.unlink()
    until(lambda: any(call.endswith("end") for call in machine.calls()), "the late sync")


def test_a_session_starts_without_git(machine: Machine, tmp_path: Path) -> None:
    for event in EVENTS[:4]:
        assert machine.hook(event, env={"PATH": str(tmp_path / "empty")}).code == 0


@pytest.mark.parametrize("damage", [b"", b"garbage" * 4096])
def test_a_broken_index_heals_and_the_answer_is_right(machine: Machine, damage: bytes) -> None:
    machine.hook("SessionStart")
    for file in (machine.brain / "index").iterdir():
        file.write_bytes(damage)
    done = machine.hook("SessionStart")
    assert done.out, machine.log()[-1]
    assert TITLE in done.context


def test_a_brain_with_a_broken_config_is_said_and_named(machine: Machine) -> None:
    (machine.brain / ".commonwealth" / "config.yaml").write_text("schema_version: [", encoding="utf-8")
    done = machine.hook("SessionStart")
    assert done.code == 0
    assert "config.yaml" in done.answer["systemMessage"]


def test_a_home_that_cannot_be_written_changes_nothing_for_the_session(machine: Machine) -> None:
    (machine.home / "logs").write_text("a file where the folder should be", encoding="utf-8")
    assert TITLE in machine.hook("SessionStart").context


def test_the_log_is_bounded(machine: Machine) -> None:
    log = machine.home / "logs" / "hooks.jsonl"
    log.parent.mkdir()
    log.write_bytes(b"{}\n" * 400_000)
    machine.hook("SessionStart")
    assert len(machine.log()) == 1
    assert [path.name for path in sorted(log.parent.iterdir())] == ["hooks.jsonl", "hooks.old.jsonl"]


@pytest.mark.parametrize("event", SILENT)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_other_events_say_nothing_and_leave_a_worker_that_publishes(machine: Machine, host: str, event: str) -> None:
    path = machine.write("by-hand")
    done = machine.hook(event, host=host)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    until(lambda: machine.published(path), "publishing")


def test_a_stop_that_follows_a_stop_does_nothing(machine: Machine) -> None:
    done = machine.hook("Stop", machine.stdin(stop_hook_active=True))
    assert (done.code, done.out) == (0, b"")
    assert machine.log() == []


def test_turns_in_quick_succession_do_not_sync_each_time(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("Stop", host="codex")
    until(lambda: len(machine.log()) == 2, "the second line")
    assert machine.log()[-1]["outcome"] == "throttled"


@needs_proc
def test_many_sessions_at_once_leave_no_process_behind(machine: Machine) -> None:
    for event in ("SessionStart", "SessionEnd"):
        with ThreadPoolExecutor(20) as sessions:
            ended = list(sessions.map(machine.hook, [event] * 20))
        assert [done.code for done in ended] == [0] * 20
        assert [TITLE.encode() in done.out for done in ended] == [event == "SessionStart"] * 20
    until(lambda: not machine.processes(), "the end of every process")


def test_a_hook_loads_nothing_heavy() -> None:
    code = "import commonwealth.adapters.hooks, sys; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert set(loaded.stdout.split()).isdisjoint(HEAVY)


def test_a_hook_that_is_killed_while_it_waits_leaves_the_sync_going(machine: Machine) -> None:
    machine.shut.touch()
    path = machine.write("by-hand")
    process = machine.start_hook("SessionStart")
    assert process.stdin is not None
    process.stdin.write(machine.stdin())
    process.stdin.close()
    until(machine.calls, "a call of the remote")
    os.killpg(process.pid, signal.SIGKILL)
    process.stdin = None
    process.communicate()
    machine.shut.unlink()
    until(lambda: machine.published(path), "publishing")
