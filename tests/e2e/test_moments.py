"""What the model of a real client is told at a prompt and before an edit: the note that bears on it, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .harness.fake_base import Say
from .harness.runner import Box, ClaudeBox, CodexBox, Result
from .test_first_light import SUMMARY, TITLE, settle_in

pytestmark = pytest.mark.client

FILE = "src/payments/RetryPolicy.ts"
ASKED = "Why do we get HTTP 409 from the payment service after a retry?"
PATCHING = "gpt-5.5"
"""A model that Codex knows, so that it offers it the tool for patches."""

DECISION = "Money amounts are stored as integer cents, never as floating point"


def people(box: Box, host: str) -> None:
    """Alice with a brain that knows one thing about a file of her project, and the plugin."""
    settle_in(box, "Alice")
    (box.cwd / FILE).parent.mkdir(parents=True)
    (box.cwd / FILE).write_text("export const retries = 3;\n", encoding="utf-8")
    box.shell("brain", "init", str(box.root / "acme-brain"))
    # Of the two moments under test, and not of the start of a session.
    box.shell("brain", "config", "set", "start_tokens", "0")
    box.shell("brain", "remember", TITLE, "-m", SUMMARY, "--type", "gotcha", "--confidence", "high", "--file", FILE)
    box.shell("brain", "remember", "The office plants are watered on Mondays", "-m", "By the facility team.")
    box.shell("brain", "plugin", "install", "--host", host)


@pytest.fixture
def claude(claude_box: ClaudeBox) -> ClaudeBox:
    people(claude_box, "claude")
    return claude_box


@pytest.fixture
def codex(codex_box: CodexBox) -> CodexBox:
    people(codex_box, "codex")
    return codex_box


def log(box: Box, event: str) -> list[str]:
    path = box.home / ".commonwealth" / "logs" / "hooks.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line["outcome"] for line in lines if line["event"] == event]


def told(result: Result) -> list[int]:
    """How often the note stands in each request of the conversation."""
    assert result.returncode == 0, result.stderr
    return [text.count(SUMMARY) for text in result.contexts]


def test_claude_is_told_at_the_prompt_what_bears_on_it(claude: ClaudeBox) -> None:
    result = claude.run(ASKED, ["It was paid already."])
    assert told(result) == [1]
    assert "by Alice" in result.context(0)
    assert "Mondays" not in result.context(0)
    assert log(claude, "UserPromptSubmit") == ["injected"]


@pytest.mark.parametrize("prompt", ["thanks, looks good", "continue", "Add a dark mode to the settings page"])
def test_claude_is_told_nothing_where_nothing_bears_on_the_prompt(claude: ClaudeBox, prompt: str) -> None:
    assert told(claude.run(prompt, ["Fine."])) == [0]
    assert log(claude, "UserPromptSubmit") == ["silent"]


def test_claude_is_told_before_it_changes_a_file(claude: ClaudeBox) -> None:
    edit = {"file_path": str(claude.cwd / FILE), "old_string": "retries = 3", "new_string": "retries = 5"}
    turns: list[Say] = [
        {"tool": "Read", "input": {"file_path": str(claude.cwd / FILE)}},
        {"text": "Raising it.", "tool": "Edit", "input": edit},
        "Done.",
    ]
    assert told(claude.run("Raise the number", turns)) == [0, 0, 1]
    assert (claude.cwd / FILE).read_text(encoding="utf-8") == "export const retries = 5;\n"
    assert log(claude, "PreToolUse") == ["injected"]


def test_a_note_is_told_once_in_a_session_and_its_resumption(claude: ClaudeBox) -> None:
    first = claude.run(ASKED, ["It was paid already."])
    session = json.loads(first.stdout)["session_id"]
    edit = {"file_path": str(claude.cwd / FILE), "content": "export const retries = 7;\n"}
    turns: list[Say] = [
        {"tool": "Read", "input": {"file_path": str(claude.cwd / FILE)}},
        {"tool": "Write", "input": edit},
        "Done.",
    ]
    again = claude.run(f"{ASKED} Raise the number.", turns, args=("--resume", session))
    assert told(again) == [1, 1, 1]
    assert log(claude, "UserPromptSubmit") == ["injected", "silent"]
    assert log(claude, "PreToolUse") == ["silent"]


def test_claude_asks_before_an_edit_that_a_decision_speaks_against_where_the_person_wants_it(claude: ClaudeBox) -> None:
    claude.shell("brain", "decide", DECISION, "-m", "## Rejected\n\n- `parseFloat`, as it rounds.\n", "--file", FILE)
    edit = {"file_path": str(claude.cwd / FILE), "old_string": "3;", "new_string": "3;\nconst money = parseFloat(x);"}
    turns: list[Say] = [
        {"tool": "Read", "input": {"file_path": str(claude.cwd / FILE)}},
        {"tool": "Edit", "input": edit},
        "Done.",
    ]
    claude.shell("brain", "config", "set", "edit_question", "contradiction")
    result = claude.run("Parse the amount", turns, bypass=False, args=("--permission-mode", "acceptEdits"))
    assert result.returncode == 0, result.stderr
    assert "parseFloat" not in (claude.cwd / FILE).read_text(encoding="utf-8"), "nobody was there to say yes"
    claude.shell("brain", "config", "set", "edit_question", "never")
    result = claude.run("Parse the amount", turns, bypass=False, args=("--permission-mode", "acceptEdits"))
    assert "parseFloat" in (claude.cwd / FILE).read_text(encoding="utf-8")
    assert DECISION in result.context()


def test_codex_is_told_at_the_prompt_what_bears_on_it(codex: CodexBox) -> None:
    assert told(codex.run(ASKED, ["It was paid already."])) == [1]
    assert told(codex.run("thanks, looks good", ["Fine."])) == [0]
    assert log(codex, "UserPromptSubmit") == ["injected", "silent"]


PATCH = f"""*** Begin Patch
*** Update File: {FILE}
@@
-export const retries = 3;
+export const retries = 5;
*** End Patch
"""


@pytest.mark.parametrize("way", ["tool", "shell"])
def test_codex_is_told_before_it_patches_a_file(codex: CodexBox, way: str) -> None:
    by_shell = {"tool": "exec_command", "input": {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"}}
    call = {"tool": "apply_patch", "free": PATCH} if way == "tool" else by_shell
    result = codex.run("Raise the number", [call, "Done."], model=PATCHING)
    assert told(result) == [0, 1]
    assert (codex.cwd / FILE).read_text(encoding="utf-8") == "export const retries = 5;\n"
    assert log(codex, "PreToolUse") == ["injected"]


def test_a_shell_command_without_a_patch_starts_no_hook_of_ours(codex: CodexBox) -> None:
    codex.run("List", [{"tool": "exec_command", "input": {"cmd": "ls"}}, "Done."], model=PATCHING)
    assert log(codex, "PreToolUse") == []


def test_a_moment_that_is_switched_off_tells_nothing(claude: ClaudeBox, tmp_path: Path) -> None:
    claude.extra["COMMONWEALTH_SILENT"] = "prompt"
    assert told(claude.run(ASKED, ["So."])) == [0]
    assert log(claude, "UserPromptSubmit") == ["off"]
