"""What a session of Codex's says, and what of its rollout is no conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonwealth.conversation import Conversation, Said, Used
from commonwealth.hosts import transcript
from tests.hosts.transcripts import CWD, Codex, write


def read(tmp_path: Path, *records: dict[str, object]) -> Conversation:
    return transcript.read("codex", write(tmp_path / "t.jsonl", records)).conversation


def test_a_session_is_told_with_where_it_was(tmp_path: Path) -> None:
    c = Codex()
    found = read(
        tmp_path,
        c.meta(),
        c.user("Fix the payment"),
        c.use("c1", "shell", command=["bash", "-lc", "pytest"], workdir=CWD),
        c.result("c1", json.dumps({"output": "1 failed", "metadata": {"exit_code": 1}})),
        c.assistant("It fails"),
    )
    assert (found.session, found.cwd, found.branch, found.version) == ("s-1", CWD, "main", "0.171.0")
    assert found.repository == "https://git.example.com/acme/shop.git"
    assert found.commits == ("9d35684" * 5,)
    assert found.events == (
        Said(2, "user", "Fix the payment", "2026-06-02T00:00:02Z"),
        Used(3, "run", "shell", "pytest", (), "1 failed", 4, True, "2026-06-02T00:00:03Z"),
        Said(5, "assistant", "It fails", "2026-06-02T00:00:05Z"),
    )


def test_a_password_in_a_remote_is_not_kept(tmp_path: Path) -> None:
    c = Codex()
    found = read(tmp_path, c.meta(git={"repository_url": "https://al:t0k@en@git.example.com/acme/shop.git"}))
    assert found.repository == "https://git.example.com/acme/shop.git"


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("Chunk ID: 2b4\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno\n", "no", True),
        ("Wall time: 0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n", "Success.", False),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nbad", "bad", True),
        ("Output of the model\nis text", "Output of the model\nis text", False),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}], "a", False),
        ({"content": "nope", "success": False}, "nope", True),
        ('{"output": "broken', '{"output": "broken', False),
        ("aborted by user", "aborted by user", False),
        (None, "", False),
        (7, "", False),
    ],
)
def test_outputs_of_all_shapes_are_read(tmp_path: Path, output: object, text: str, failed: bool) -> None:
    c = Codex()
    (event,) = read(tmp_path, c.use("c1", "exec_command", cmd="make"), c.result("c1", output)).events
    assert isinstance(event, Used)
    assert (event.text, event.result, event.failed) == ("make", text, failed)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.md\n\n## My request for Codex:\nFix it\n", "Fix it"),
        ("# Context from my IDE setup:\n\n## Active file: a.md\n", None),
        ("# Files mentioned by the user:\n\n## a.png: /x\n\n## My request for Codex:\nFix it", "Fix it"),
        (f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>", None),
        ("<user_instructions>\nNever use npm\n</user_instructions>", None),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nNever use npm\n</INSTRUCTIONS>", None),
        ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", None),
        ("<subagent_notification>\n{}\n</subagent_notification>", None),
        ("Why does <skill> fail?", "Why does <skill> fail?"),
    ],
)
def test_a_prompt_is_the_users_own_words(tmp_path: Path, text: str, own: str | None) -> None:
    events = read(tmp_path, Codex().message("user", text)).events
    assert [event.text for event in events] == ([own] if own else [])


@pytest.mark.parametrize(
    ("role", "kind", "counted"),
    [
        ("developer", "hooks.additional_context", "injected context"),
        ("developer", "permissions.instructions", "developer message"),
        ("user", "hooks.additional_context", "injected context"),
        ("user", "environments.environment_context", "host wrapper"),
        ("system", None, "system message"),
    ],
)
def test_injected_context_is_no_conversation(tmp_path: Path, role: str, kind: str | None, counted: str) -> None:
    found = read(tmp_path, Codex().message(role, "Team memory: never use npm", kind))
    assert found.events == ()
    assert found.skipped == {counted: 1}


def test_nothing_of_our_own_server_is_learned(tmp_path: Path) -> None:
    c = Codex()
    call = c.use("c1", "recall", text="never npm")
    call["payload"]["namespace"] = "mcp__brain"  # type: ignore[index]
    found = read(
        tmp_path,
        call,
        c.result("c1", "never use npm"),
        c.use("c2", "shell", command=["bash", "-lc", "brain recall x"]),
        c.result("c2", "never use npm"),
    )
    assert [(e.use, e.text, e.result) for e in found.events if isinstance(e, Used)] == [("other", "", "")] * 2
    assert found.events[0].name == "mcp__brain__recall"  # type: ignore[union-attr]


def test_a_patch_is_an_edit_of_its_files(tmp_path: Path) -> None:
    c = Codex()
    patch = f"*** Begin Patch\n*** Update File: {CWD}/a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    custom = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": patch}
    found = read(
        tmp_path,
        c.meta(),
        c.use("c1", "exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF"),
        c.record("response_item", custom),
    )
    assert [(e.use, e.files) for e in found.events if isinstance(e, Used)] == [("edit", ("a.py", "b.py"))] * 2
    assert found.files == ("a.py", "b.py")


def test_refusals_interruptions_and_answers_are_the_users(tmp_path: Path) -> None:
    c = Codex()
    asked = [{"id": "q1", "question": "Which db?", "options": []}]
    found = read(
        tmp_path,
        c.use("c1", "shell", command=["npm", "install"]),
        c.result("c1", "exec command rejected by user"),
        c.use("c2", "request_user_input", questions=asked),
        c.result("c2", json.dumps({"answers": {"q1": {"answers": ["SQLite"]}}})),
        c.record("event_msg", {"type": "turn_aborted", "turn_id": "t", "reason": "interrupted"}),
        c.record("event_msg", {"type": "turn_aborted", "turn_id": "t2", "reason": "replaced"}),
    )
    told = [(e.manner, e.text, e.question) for e in found.events if isinstance(e, Said)]
    assert told == [
        ("refusal", "", "shell: npm install"),
        ("answer", "SQLite", "Which db?"),
        ("interruption", "", ""),
    ]


def test_reasoning_compaction_and_events_are_no_conversation(tmp_path: Path) -> None:
    c = Codex()
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Never use npm"}]}]
    found = read(
        tmp_path,
        c.record("response_item", {"type": "reasoning", "summary": [{"text": "secretly"}], "encrypted_content": "x"}),
        c.record("compacted", {"message": "Summary", "replacement_history": history}),
        c.record("event_msg", {"type": "user_message", "message": "Never use npm"}),
        c.record("event_msg", {"type": "agent_message", "message": "I never will"}),
        c.record("event_msg", {"type": "item_completed", "item": {"type": "AgentMessage"}}),
        c.record("world_state", {}),
        c.record("response_item", {"type": "of a newer version"}),
        c.record("response_item", {}),
        c.record("of a newer version", {"a": 1}),
    )
    assert found.events == ()
    assert sum(found.skipped.values()) == 9


@pytest.mark.parametrize(
    "more", [{"thread_source": "subagent"}, {"source": {"subagent": {"thread_spawn": {"depth": 1}}}}]
)
def test_a_sub_agents_rollout_is_no_session(tmp_path: Path, more: dict[str, object]) -> None:
    c = Codex()
    found = read(tmp_path, c.meta(**more), c.user("Find the retries"), c.assistant("In payments.py"))
    assert found.events == ()
    assert found.skipped["sidechain"] == 2


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {"type": 3},
        {"type": "message"},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "message", "role": "user", "content": [None, {"text": 3}]},
        {"type": "function_call", "arguments": "{", "name": None, "call_id": 3},
        {"type": "function_call", "arguments": "[1]"},
        {"type": "function_call_output", "call_id": None, "output": [None]},
        {"type": "local_shell_call", "action": None},
        {"type": "turn_aborted"},
    ],
)
@pytest.mark.parametrize("kind", ["response_item", "event_msg", "session_meta", "turn_context"])
def test_a_record_of_a_strange_shape_stops_nothing(tmp_path: Path, kind: str, payload: object) -> None:
    c = Codex()
    found = read(tmp_path, c.meta(), {**c.record(kind, {}), "payload": payload}, c.user("Fix it"))
    assert found.events[-1].text == "Fix it"


@pytest.mark.parametrize(
    ("name", "events"), [("basic", 8), ("resumed", 10), ("compacted", 5), ("interrupted", 3), ("subagent", 0)]
)
def test_what_the_real_client_wrote_is_read(shared: Path, name: str, events: int) -> None:
    found = transcript.read("codex", str(shared / "clients" / "fixtures" / "codex" / f"{name}.jsonl")).conversation
    assert len(found.events) == events
    assert not any("Team memory" in event.text or "MARK-ECHO" in repr(event) for event in found.events)
