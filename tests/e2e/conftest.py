"""Real clients for the tests in this folder; absent ones are a skip here and a failure in CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .harness.runner import ClaudeBox, ClientMissing, CodexBox, find_client

# Read here: every test gets an environment without our variables.
REQUIRED = os.environ.get("COMMONWEALTH_REQUIRE_CLIENTS") == "1"


def _need(client: str) -> None:
    try:
        find_client(client)
    except ClientMissing as missing:
        if REQUIRED:
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture
def claude_box(tmp_path: Path) -> ClaudeBox:
    """A scratch machine with the real Claude Code."""
    _need("claude")
    return ClaudeBox(tmp_path / "claude")


@pytest.fixture
def codex_box(tmp_path: Path) -> CodexBox:
    """A scratch machine with the real Codex."""
    _need("codex")
    return CodexBox(tmp_path / "codex")
