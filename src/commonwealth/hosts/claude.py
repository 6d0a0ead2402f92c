"""Claude Code: what its hooks say and what they may be told."""

from __future__ import annotations

from commonwealth.hosts.hook import Host

HOST = Host(
    name="claude",
    agent="Claude Code",
    project_variable="CLAUDE_PROJECT_DIR",
    context_events=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}),
    asks=True,
)
