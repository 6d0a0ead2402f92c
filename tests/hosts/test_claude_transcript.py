"""What a session of Claude Code's says, and what of its transcript is no conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.conversation import Conversation, Said, Used
from commonwealth.hosts import transcript
from tests.hosts.transcripts import CWD, Claude, write


def read(tmp_path: Path, *records: dict[str, object]) -> Conversation:
    return transcript.read("claude", write(tmp_path / "t.jsonl", records)).conversation


def said(conversation: Conversation) -> list[tuple[str, str, str]]:
    return [(event.who, event.manner, event.text) for event in conversation.events if isinstance(event, Said)]


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file)."
)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (f"{REFUSAL} STOP what you are doing and wait for the user to tell you how to proceed.", ""),
        (f"{REFUSAL} To tell you how to proceed, the user said:\nUse pnpm, never npm", "Use pnpm, never npm"),
        (f"{REFUSAL} The user provided the following reason for the rejection: Use pnpm", "Use pnpm"),
        ("User chose to stay in plan mode and continue planning", ""),
    ],
)
def test_a_refusal_carries_its_reason_and_what_was_refused(tmp_path: Path, result: str, reason: str) -> None:
    c = Claude()
    found = read(tmp_path, c.user("Go"), c.use("t1", "Bash", command="npm install"), c.result("t1", result, error=True))
    assert found.events[1] == Used(2, "run", "Bash", "npm install", (), "", 3, True, "2026-06-02T00:00:02Z")
    refusal = found.events[2]
    assert refusal == Said(3, "user", reason, "2026-06-02T00:00:03Z", "refusal", "Bash: npm install")


def test_the_words_of_a_refusal_in_a_good_result_are_a_result(tmp_path: Path) -> None:
    c = Claude()
    found = read(tmp_path, c.use("t1", "Read", file_path=f"{CWD}/log.txt"), c.result("t1", REFUSAL))
    assert said(found) == []


def test_answers_carry_their_questions(tmp_path: Path) -> None:
    c = Claude()
    question = {"question": "Which db?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]}
    told = {"questions": [question], "answers": {"Which db?": "SQLite, nothing to run"}}
    text = 'User has answered your questions: "Old?"="Yes, \\"old\\"", "More?"="No". You can now continue.'
    found = read(
        tmp_path,
        c.use("t1", "AskUserQuestion", questions=[question]),
        c.result("t1", "whatever it says", told=told),
        c.use("t2", "AskUserQuestion", questions=[question]),
        c.result("t2", text),
        c.use("t3", "AskUserQuestion", questions=[question]),
    )
    answers = [(e.question, e.text) for e in found.events if isinstance(e, Said) and e.manner == "answer"]
    assert answers == [("Which db?", "SQLite, nothing to run"), ("Old?", 'Yes, \\"old\\"'), ("More?", "No")]
    assert found.events[0].text == "Which db? (SQLite | Postgres)"
    last = found.events[-1]
    assert isinstance(last, Used)
    assert (last.use, last.result_line) == ("ask", None)


def test_interruptions_are_told_with_what_was_typed_after(tmp_path: Path) -> None:
    c = Claude()
    found = read(
        tmp_path,
        c.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        c.user("[Request interrupted by user]not that file"),
    )
    assert said(found) == [
        ("user", "interruption", ""),
        ("user", "interruption", ""),
        ("user", "message", "not that file"),
    ]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("<system-reminder>\nNever say so\n</system-reminder>Fix it", "Fix it"),
        ("<ide_opened_file>x</ide_opened_file>\nFix it<system-reminder>y</system-reminder>", "Fix it"),
        (
            "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>it</command-args>",
            "it",
        ),
        ("<user-memory-input>never use npm</user-memory-input>", "never use npm"),
        ("What does the tag <system-reminder> mean?", "What does the tag <system-reminder> mean?"),
        ("Compare a < b and <b>bold</b>", "Compare a < b and <b>bold</b>"),
    ],
)
def test_a_prompt_is_the_users_own_words(tmp_path: Path, text: str, own: str) -> None:
    assert said(read(tmp_path, Claude().user(text))) == [("user", "message", own)]


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        "<command-name>/compact</command-name><command-args>keep the payments</command-args>",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>\n<status>completed</status>\n</task-notification>\nFull transcript available at: /x/y",
        "<system-reminder>never closed, so all of it",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT respond",
        "This session is being continued from a previous conversation that ran out of context. Never use npm.",
        "",
    ],
)
def test_what_the_host_says_in_the_users_name_is_not_the_users(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, Claude().user(text)).events == ()


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"isMeta": True}, "meta"),
        ({"isSidechain": True}, "sidechain"),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, "compaction summary"),
        ({"forkedFrom": {"sessionId": "s-0", "messageUuid": "u"}}, "copy"),
        ({"origin": {"kind": "task-notification"}}, "background notice"),
        ({"origin": {"kind": "peer"}}, "background notice"),
    ],
)
def test_messages_that_are_no_conversation_are_counted(tmp_path: Path, more: dict[str, object], kind: str) -> None:
    found = read(tmp_path, Claude().user("Never use npm", **more))
    assert found.events == ()
    assert found.skipped == {kind: 1}


def test_other_sessions_reasoning_and_errors_are_no_conversation(tmp_path: Path) -> None:
    c = Claude()
    thinking = {"id": "m", "content": [{"type": "thinking", "thinking": "secretly"}, {"type": "image"}]}
    synthetic = {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
    found = read(
        tmp_path,
        {"type": "summary", "summary": "What another session did", "leafUuid": "x"},
        c.record("assistant", message=thinking),
        c.record("assistant", message=synthetic),
        c.assistant("API Error: overloaded", isApiErrorMessage=True),
        c.record("queue-operation", operation="enqueue", content="typed twice"),
        c.record("attachment", attachment={"type": "hook_additional_context", "content": ["Never use npm"]}),
        c.record("attachment", attachment={"type": "skill_listing", "content": "skills"}),
        c.record("system", subtype="api_error"),
    )
    assert found.events == ()
    assert sum(found.skipped.values()) == 9
    assert found.skipped["injected context"] == 1


def test_what_was_typed_while_the_model_worked_is_a_prompt(tmp_path: Path) -> None:
    c = Claude()
    typed = {"type": "queued_command", "prompt": "No, use pnpm", "commandMode": "prompt"}
    found = read(
        tmp_path,
        c.record("attachment", attachment=typed),
        c.record("attachment", attachment={**typed, "prompt": [{"type": "text", "text": "And quickly"}]}),
        c.record("attachment", attachment={**typed, "commandMode": "task-notification"}),
        c.record("attachment", attachment={**typed, "origin": {"kind": "channel"}}),
        c.record("attachment", attachment={**typed, "isMeta": True}),
    )
    assert said(found) == [("user", "message", "No, use pnpm"), ("user", "message", "And quickly")]


def test_copies_after_a_resume_are_told_once(tmp_path: Path) -> None:
    c = Claude()
    records = [c.user("Go"), c.use("t1", "Bash", command="ls"), c.result("t1", "a"), c.assistant("Done"), c.user("Go")]
    copies = [{**record, "uuid": f"copy{n}", "version": "9"} for n, record in enumerate(records)]
    found = read(tmp_path, *records, *copies, c.user("Go"))
    assert [event.line for event in found.events] == [1, 2, 4, 5, 11]
    assert found.skipped == {"copy": 5}


@pytest.mark.parametrize(
    "name", ["mcp__plugin_commonwealth_brain__recall", "mcp__brain__remember", "mcp__commonwealth__search"]
)
def test_nothing_of_our_own_tools_is_learned(tmp_path: Path, name: str) -> None:
    c = Claude()
    found = read(tmp_path, c.use("t1", name, text="Never use npm"), c.result("t1", "1 note: never use npm"))
    assert found.events == (Used(1, "other", name, "", (), "", 2, False, "2026-06-02T00:00:01Z"),)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("brain recall payments", True),
        ("cd x && COMMONWEALTH_BRAIN=t brain remember 'never npm'", True),
        ("~/.local/bin/brain review list", True),
        ("python3 -m commonwealth search x", True),
        ("uvx brain brief", True),
        ("cat ~/.commonwealth/brains/team/memory/2026-07/a.md", True),
        ("cat brain.txt", False),
        ("git commit -m 'move brain to core'", False),
        ("brainstorm now", False),
    ],
)
def test_nothing_of_our_own_program_is_learned(tmp_path: Path, command: str, ours: bool) -> None:
    c = Claude()
    (event,) = read(tmp_path, c.use("t1", "Bash", command=command), c.result("t1", "never use npm")).events
    assert isinstance(event, Used)
    assert (event.use, event.text, event.result) == (("other", "", "") if ours else ("run", command, "never use npm"))


def test_nothing_that_was_read_in_our_folder_is_learned(tmp_path: Path) -> None:
    c = Claude()
    note = "/home/alice/.commonwealth/brains/team/memory/2026-07/a.md"
    (event,) = read(tmp_path, c.use("t1", "Read", file_path=note), c.result("t1", "never use npm")).events
    assert isinstance(event, Used)
    assert (event.use, event.result, event.files) == ("other", "", ())


def test_tools_of_others_are_read_as_they_are(tmp_path: Path) -> None:
    c = Claude()
    (event,) = read(tmp_path, c.use("t1", "mcp__linear__get", query="X"), c.result("t1", "open")).events
    assert isinstance(event, Used)
    assert (event.use, event.text, event.result) == ("other", "X", "open")


def test_results_are_short_and_hold_no_picture(tmp_path: Path) -> None:
    c = Claude()
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 5000}}
    text = "begins " + "x y " * 5000 + "data:image/png;base64," + "iVBOR" * 4000 + " ends"
    found = read(
        tmp_path,
        c.use("t1", "Bash", command="make"),
        c.result("t1", [picture, {"type": "text", "text": text}]),
        c.use("t2", "Bash", command="make"),
        c.result("t2", "Exit code 2\nmake: no rule", error=True),
    )
    first, second = found.events
    assert isinstance(first, Used)
    assert isinstance(second, Used)
    assert len(first.result) <= 2000
    assert first.result.startswith("begins")
    assert first.result.endswith("ends")
    assert "iVBOR" not in first.result
    assert (second.failed, second.result) == (True, "Exit code 2\nmake: no rule")


def test_paths_are_relative_and_lead_into_nobodys_home(tmp_path: Path) -> None:
    c = Claude()
    found = read(
        tmp_path,
        c.user(f"Look at {CWD}/src/a.py, /Users/bob/.ssh/config and C:\\Users\\bob\\x"),
        c.use("t1", "Edit", file_path=f"{CWD}/src/a.py", new_string="b"),
        c.use("t2", "Write", file_path="/home/alice/.claude/plans/p.md", content="plan"),
        c.use("t3", "Edit", file_path=f"{CWD}/../other/b.py", new_string="b"),
        c.use("t4", "Edit", file_path="/etc/nginx/nginx.conf", new_string="b"),
        c.use("t5", "Write", file_path="/tmp/scratch.py", content="b"),
        c.use("t6", "Bash", command=f"cd {CWD} && ls /home/alice/x"),
    )
    assert found.files == ("src/a.py", "/etc/nginx/nginx.conf")
    assert found.events[0].text == "Look at src/a.py, ~/.ssh/config and ~\\x"
    assert found.events[-1].text == "cd . && ls ~/x"


def test_a_session_that_moved_to_another_machine_keeps_its_paths_relative(tmp_path: Path) -> None:
    c = Claude()
    found = read(
        tmp_path,
        c.user("Go"),
        {**c.use("t1", "Edit", file_path=f"{CWD}/a.py", new_string="b"), "cwd": f"{CWD}/sub"},
        {**c.use("t2", "Edit", file_path="/Users/bob/shop/b.py", new_string="b"), "cwd": "/Users/bob/shop"},
    )
    assert found.files == ("a.py", "b.py")


def test_commits_and_the_branch_come_from_what_git_said(tmp_path: Path) -> None:
    c = Claude()
    found = read(
        tmp_path,
        c.use("t1", "Bash", command="git commit -m x"),
        c.result("t1", "[fix/pay 1a2b3c4] x\n 1 file changed"),
        c.use("t2", "Bash", command="git commit -m y"),
        c.result("t2", "[main (root-commit) 5d6e7f8] y"),
        c.use("t3", "Bash", command="git commit -m z"),
        c.result("t3", "[main 9999999] z\nhook failed", error=True),
        c.use("t4", "Bash", command="cat log"),
        c.result("t4", "[main 8888888] quoted"),
        c.use("t5", "Bash", command="git checkout 0a0b0c0"),
        c.result("t5", "Note: switching\nHEAD is now at 0a0b0c0 y"),
    )
    assert found.commits == ("1a2b3c4", "5d6e7f8", "0a0b0c0")
    assert (found.session, found.cwd, found.branch, found.version) == ("s-1", CWD, "main", "2.1.197")
    assert (found.repository, found.began_at, found.ended_at) == (None, "2026-06-02T00:00:01Z", "2026-06-02T00:00:09Z")


def test_a_result_that_comes_after_the_next_prompt_is_counted(tmp_path: Path) -> None:
    c = Claude()
    found = read(tmp_path, c.use("t1", "Bash", command="make"), c.user("Hurry"), c.result("t1", "made"))
    assert found.skipped == {"result without its use": 1}


@pytest.mark.parametrize(
    "broken",
    [
        {"message": None},
        {"message": {"content": None}},
        {"message": {"content": [None, 1, "x", {"type": "text"}, {"type": "text", "text": 3}]}},
        {"message": {"content": [{"type": "tool_use", "id": 3, "name": None, "input": "x"}]}},
        {"message": {"content": [{"type": "tool_result", "tool_use_id": None, "content": {"a": 1}}]}},
        {"timestamp": 3, "cwd": 4, "message": {"content": "Go on"}},
        {"timestamp": "yesterday", "message": {"content": "Go on"}},
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant", "attachment", "system"])
def test_a_record_of_a_strange_shape_stops_nothing(tmp_path: Path, kind: str, broken: dict[str, object]) -> None:
    c = Claude()
    found = read(tmp_path, {**c.record(kind), **broken}, c.user("Fix it"))
    assert found.events[-1].text == "Fix it"


def test_tags_without_end_cost_no_more_than_their_length(tmp_path: Path) -> None:
    text = "x" + "<system-reminder>" * 200_000
    (event,) = read(tmp_path, Claude().user(text)).events
    assert event.text.startswith("x<system-reminder>")


@pytest.mark.parametrize(("name", "events"), [("basic", 9), ("resumed", 11), ("compacted", 8), ("subagent", 0)])
def test_what_the_real_client_wrote_is_read(shared: Path, name: str, events: int) -> None:
    found = transcript.read("claude", str(shared / "clients" / "fixtures" / "claude" / f"{name}.jsonl")).conversation
    assert len(found.events) == events
    assert not any("Team memory" in event.text or "MARK-ECHO" in repr(event) for event in found.events)
