"""What a host says to a hook is read without trust, and answered in a form that it accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonwealth.hosts import claude, codex
from commonwealth.hosts.hook import CONTEXT_LIMIT, HookCall, Host, parse, render

SAMPLE = {
    "session_id": "86044ae1-4a58-489a-ae1d-ee28d2371dcc",
    "transcript_path": "/home/alice/.claude/projects/-home-alice-src-shop/86044ae1.jsonl",
    "cwd": "/home/alice/src/shop",
    "hook_event_name": "SessionStart",
    "source": "resume",
    "a_field_of_next_year": {"deep": [1, 2]},
}
HOSTS = [claude.HOST, codex.HOST]


def test_a_call_is_read_with_the_project_that_the_host_names() -> None:
    env = {"CLAUDE_PROJECT_DIR": "/home/alice/src"}
    call = parse(claude.HOST, "SessionStart", json.dumps(SAMPLE).encode(), env)
    assert call == HookCall(
        "SessionStart",
        session=SAMPLE["session_id"],  # type: ignore[arg-type]
        cwd="/home/alice/src/shop",
        project_dir="/home/alice/src",
        transcript=SAMPLE["transcript_path"],  # type: ignore[arg-type]
        source="resume",
    )
    other = parse(codex.HOST, "SessionStart", json.dumps(SAMPLE).encode(), env)
    assert other is not None
    assert other.project_dir is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \n",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b"\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"cwd": "/x"} trailing',
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_what_is_no_json_object_is_no_call(raw: bytes) -> None:
    assert parse(claude.HOST, "SessionStart", raw, {}) is None


@pytest.mark.parametrize("value", [None, 7, True, [], {}, "", "a\0b", "\ud800", "x" * 5000])
def test_a_field_that_makes_no_sense_is_left_out(value: object) -> None:
    fields = dict.fromkeys(("session_id", "transcript_path", "cwd", "source", "agent_id"), value)
    raw = json.dumps({**fields, "stop_hook_active": value if value is not True else 1}).encode()
    assert parse(claude.HOST, "Stop", raw, {}) == HookCall("Stop")


def test_a_relative_folder_is_left_out() -> None:
    call = parse(claude.HOST, "Stop", b'{"cwd": "src/shop"}', {"CLAUDE_PROJECT_DIR": ".."})
    assert call == HookCall("Stop")


def test_a_stop_that_follows_a_stop_is_seen() -> None:
    call = parse(codex.HOST, "Stop", b'{"stop_hook_active": true, "agent_id": "a1"}', {})
    assert call == HookCall("Stop", again=True, agent="a1")


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_every_recorded_call_of_a_real_client_is_read(host: Host, shared: Path) -> None:
    files = sorted((shared / "clients" / "fixtures" / "hook-stdin" / host.name).glob("*.json"))
    assert files
    for file in files:
        event = file.stem.partition("-")[0]
        call = parse(host, event, file.read_bytes(), {})
        assert call is not None
        assert call.session, file.name
        assert call.cwd == "/home/alice/src/shop"


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_answer_holds_nothing_but_what_both_hosts_know(host: Host) -> None:
    answer = render(host, "SessionStart", "What the team knows.", "Sync has stopped.")
    assert json.loads(answer) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "What the team knows."},
        "systemMessage": "Sync has stopped.",
    }
    assert "\n" not in answer


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact", "Nonsense", ""])
def test_an_event_that_takes_no_context_is_answered_with_nothing(host: Host, event: str) -> None:
    assert render(host, event, "text", "notice") == ""


def test_nothing_to_say_is_nothing_said() -> None:
    assert render(claude.HOST, "SessionStart", "", None) == ""


@pytest.mark.parametrize("character", ["x", "é", "漢", "\U0001f600"])
def test_context_that_is_too_long_is_cut_at_a_line_and_keeps_its_last_line(character: str) -> None:
    lines = [f"{number} {character * 60}" for number in range(400)]
    answer = render(claude.HOST, "SessionStart", "\n".join(["<<<open", *lines, "close>>>"]))
    context = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    assert len(context.encode("utf-16-le")) // 2 <= CONTEXT_LIMIT
    assert context.split("\n")[0] == "<<<open"
    assert context.split("\n")[-2:] == ["…", "close>>>"]
    assert set(context.split("\n")[1:-2]) <= set(lines)


def test_one_endless_line_is_dropped_rather_than_cut() -> None:
    answer = render(claude.HOST, "SessionStart", "y" * 20_000)
    assert len(answer) < CONTEXT_LIMIT + 500
