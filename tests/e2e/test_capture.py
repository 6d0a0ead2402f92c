"""Real sessions of the real clients: the user corrects the model, the session ends, the draft is in the queue."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from commonwealth.notes import candidate, codec

from .harness.runner import Box, ClaudeBox, CodexBox
from .test_first_light import settle_in, until

pytestmark = pytest.mark.client

ASKED = "Write a script that connects to the staging database"
WRONG = "I connect to the staging database on port 5432."
CORRECTION = "No, the staging database listens on port 5433, because 5432 is taken by the old cluster."
ANSWER = "Understood, port 5433 it is."
PRIVATE = "My grandmother is called Winterbottom"


def people(box: Box, host: str) -> Box:
    """Alice with a brain for her project, and the plugin."""
    settle_in(box, "Alice")
    box.shell("brain", "init", str(box.root / "acme-brain"))
    box.shell("brain", "plugin", "install", "--host", host)
    return box


@pytest.fixture
def claude(claude_box: ClaudeBox) -> ClaudeBox:
    people(claude_box, "claude")
    return claude_box


@pytest.fixture
def codex(codex_box: CodexBox) -> CodexBox:
    people(codex_box, "codex")
    return codex_box


def queue(box: Box) -> list[Path]:
    return sorted((box.root / "acme-brain" / "staging").glob("*.md"))


def log(box: Box) -> list[dict[str, Any]]:
    path = box.home / ".commonwealth" / "logs" / "capture.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def swept(box: Box, trigger: str, times: int = 1) -> None:
    """Wait until sweeps were logged for an event."""
    until(lambda: sum(line["trigger"] == trigger for line in log(box)) >= times)


def require_the_draft(box: Box, transcript: Path, agent: str, host: str) -> None:
    """One draft, that of the correction; its lines are those at which the transcript has it."""
    (path,) = queue(box)
    text = path.read_text(encoding="utf-8")
    assert "5433" in text
    assert f"agent: {agent}" in text
    assert f"host: {host}" in text
    assert "repository: git.example.com/acme/shop" in text
    assert "Winterbottom" not in text
    assert str(box.home) not in text
    listed = json.loads(box.shell("brain", "review", "list", "--json"))
    assert path.stem in json.dumps(listed)
    origin = candidate.origin_of(codec.parse(text, f"staging/{path.name}", "")[0])
    assert origin is not None
    assert origin.evidence is not None
    span = origin.evidence
    lines = transcript.read_text(encoding="utf-8").splitlines()[span.first - 1 : span.last]
    assert any("5433" in line and "because 5432 is taken" in line for line in lines), (span, lines)


def require_nothing_else(box: Box, transcript: Path) -> None:
    """No word of the session outside its own transcript and the draft."""
    mine = (box.root / "acme-brain", box.home / ".commonwealth")
    files = [path for folder in mine for path in folder.rglob("*") if path.is_file() and path.parent.name != "staging"]
    for word in (b"Winterbottom", b"5433", WRONG.encode()):
        assert [path for path in files if word in path.read_bytes()] == []
    assert transcript.exists()


def test_a_correction_in_claude_is_a_draft_once_the_session_has_ended(claude: ClaudeBox) -> None:
    assert claude.run(ASKED, [WRONG]).returncode == 0
    swept(claude, "SessionEnd")
    assert queue(claude) == []
    corrected = claude.run(CORRECTION, [ANSWER], args=("--continue",))
    assert corrected.returncode == 0, corrected.stderr
    until(lambda: bool(queue(claude)))
    (transcript,) = (claude.home / ".claude" / "projects").rglob("*.jsonl")
    require_the_draft(claude, transcript, "Claude Code", "claude")

    # The session goes on for a while, ends again and again: the same draft.
    before = queue(claude)[0].read_bytes()
    assert claude.run(PRIVATE, ["Hello."], args=("--continue",)).returncode == 0
    swept(claude, "SessionEnd", 3)
    assert [path.read_bytes() for path in queue(claude)] == [before]
    require_nothing_else(claude, transcript)
    assert "1" in claude.run("hello", ["hi"]).context(0)


def test_a_correction_in_codex_is_a_draft_once_the_session_has_ended(codex: CodexBox) -> None:
    assert codex.run(ASKED, [WRONG]).returncode == 0
    until(lambda: any(line["trigger"] in ("Stop", "SessionEnd") for line in log(codex)))
    corrected = codex.run(CORRECTION, [ANSWER], args=("resume", "--last"))
    assert corrected.returncode == 0, corrected.stderr
    until(lambda: bool(queue(codex)))
    (transcript,) = (codex.config_dir / "sessions").rglob("rollout-*.jsonl")
    require_the_draft(codex, transcript, "Codex", "codex")
    assert codex.run(PRIVATE, ["Hello."], args=("resume", "--last")).returncode == 0
    swept(codex, "SessionEnd", 2)
    assert len(queue(codex)) == 1
    require_nothing_else(codex, transcript)


def test_a_codex_session_that_was_killed_is_swept_by_the_next_one(codex: CodexBox) -> None:
    assert codex.run(ASKED, [WRONG]).returncode == 0
    sleeping = {"text": ANSWER, "tool": "exec_command", "input": {"cmd": "sleep 600"}}
    assert codex.run(CORRECTION, [sleeping], args=("resume", "--last"), seconds=7).returncode is None
    (transcript,) = (codex.config_dir / "sessions").rglob("rollout-*.jsonl")
    hour_ago = time.time() - 3600
    os.utime(transcript, (hour_ago, hour_ago))
    assert queue(codex) == []
    assert codex.run("hello", ["hi"]).returncode == 0
    swept(codex, "rested")
    require_the_draft(codex, transcript, "Codex", "codex")
