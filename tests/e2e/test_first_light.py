"""Two teammates, two homes, one remote: what one session records, a colleague's next session knows."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .harness.fake_anthropic import tool_names
from .harness.runner import Box, ClaudeBox, CodexBox

pytestmark = pytest.mark.client

TITLE = "HTTP 409 means an idempotent payment already succeeded"
SUMMARY = "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing."
RECORD = {
    "title": TITLE,
    "summary": SUMMARY,
    "type": "gotcha",
    "status": "confirmed",
    "confidence": "high",
    "components": ["payments"],
    "provenance": {"evidence": ["An integration test reproduced 409 after a completed idempotency key."]},
}
PROJECT = "https://git.example.com/acme/shop.git"
SECONDS = 60


def until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds, for as long as a slow machine needs."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def settle_in(box: Box, name: str) -> None:
    """Give a person a name and a clone of the project that everybody works on."""
    (box.home / ".gitconfig").write_text(
        f"[user]\n\tname = {name}\n\temail = {name.lower()}@example.com\n[init]\n\tdefaultBranch = main\n",
        encoding="utf-8",
    )
    box.shell("git", "init", "-q")
    (box.cwd / "README.md").write_text("# shop\n", encoding="utf-8")
    box.shell("git", "add", "-A")
    box.shell("git", "commit", "-q", "-m", "Start")
    box.shell("git", "remote", "add", "origin", PROJECT)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """The empty bare repository that the team made for its brain."""
    folder = tmp_path / "acme-brain.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    return folder


def notes(remote: Path) -> list[str]:
    """The notes on the shared branch."""
    listed = subprocess.run(
        ["git", "-C", str(remote), "ls-tree", "-r", "--name-only", "main", "memory/"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return [path for path in listed.stdout.splitlines() if not path.endswith("INDEX.md")]


@pytest.fixture
def alice(claude_box: ClaudeBox, remote: Path) -> ClaudeBox:
    """Alice made the brain, published it and installed the plugin."""
    settle_in(claude_box, "Alice")
    claude_box.shell("brain", "init", str(claude_box.root / "acme-brain"), "--remote", str(remote))
    claude_box.shell("brain", "sync")
    claude_box.shell("brain", "plugin", "install", "--host", "claude")
    return claude_box


def test_what_alice_records_bobs_next_session_knows(alice: ClaudeBox, remote: Path, tmp_path: Path) -> None:
    tool = "mcp__plugin_commonwealth_brain__memory_record"
    recorded = alice.run(
        "Why does a retry fail?",
        [
            {"text": "Let me look.", "tool": "Bash", "input": {"command": "sleep 2"}},
            {"text": "Worth keeping.", "tool": tool, "input": RECORD},
            "Recorded.",
        ],
    )
    assert recorded.returncode == 0, recorded.stderr
    assert tool in tool_names(recorded.main[-1])
    assert "committed" in recorded.context()
    until(lambda: len(notes(remote)) == 1)
    (path,) = notes(remote)

    bob = ClaudeBox(tmp_path / "bob")
    settle_in(bob, "Bob")
    bob.shell("brain", "join", str(remote))
    bob.shell("brain", "plugin", "install", "--host", "claude")
    heard = bob.run("What do we know about payments?", ["We know about 409."])
    assert heard.returncode == 0, heard.stderr
    first = heard.context(0)
    assert TITLE in first
    assert Path(path).stem in first
    assert "by Alice with Claude Code" in first


def test_a_colleague_who_joined_before_hears_at_the_next_start(alice: ClaudeBox, remote: Path, tmp_path: Path) -> None:
    bob = ClaudeBox(tmp_path / "bob")
    settle_in(bob, "Bob")
    bob.shell("brain", "join", str(remote))
    bob.shell("brain", "plugin", "install", "--host", "claude")
    assert TITLE not in bob.run("hello", ["hi"]).context(0)
    alice.shell("brain", "remember", TITLE, "-m", SUMMARY, "--type", "gotcha")
    until(lambda: len(notes(remote)) == 1)
    assert TITLE in bob.run("hello again", ["hi"]).context(0)


def test_the_server_is_there_for_the_first_request(alice: ClaudeBox) -> None:
    result = alice.run("hello", ["hi"])
    offered = [name for name in tool_names(result.main[0]) if name.startswith("mcp__plugin_commonwealth_brain__")]
    assert {name.rsplit("__", 1)[1] for name in offered} >= {"memory_search", "memory_read", "memory_record"}


def test_codex_starts_with_the_same_knowledge(alice: ClaudeBox, codex_box: CodexBox, remote: Path) -> None:
    alice.shell("brain", "remember", TITLE, "-m", SUMMARY, "--type", "gotcha")
    until(lambda: len(notes(remote)) == 1)
    settle_in(codex_box, "Chen")
    codex_box.shell("brain", "join", str(remote))
    codex_box.shell("brain", "plugin", "install", "--host", "codex")
    tool = "mcp__brain__memory_search"
    result = codex_box.run(
        "What do we know about payments?",
        [
            {"tool": "exec_command", "input": {"cmd": "sleep 2"}},
            {"tool": tool, "input": {"query": "409 payment"}},
            "done",
        ],
    )
    assert result.returncode == 0, result.stderr
    assert TITLE in result.context(0)
    assert SUMMARY in result.context()


def test_the_log_says_what_the_hooks_did_and_nothing_of_what_was_said(alice: ClaudeBox) -> None:
    alice.shell("brain", "remember", TITLE, "-m", SUMMARY)
    alice.run("A question that nobody else may read", ["An answer."])
    log = alice.home / ".commonwealth" / "logs" / "hooks.jsonl"
    until(lambda: '"SessionEnd"' in log.read_text(encoding="utf-8"))
    text = log.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == ["SessionStart", "UserPromptSubmit", "SessionEnd"]
    assert [line["outcome"] for line in lines] == ["injected", "silent", "worker left"]
    assert "question" not in text
    assert TITLE not in text
