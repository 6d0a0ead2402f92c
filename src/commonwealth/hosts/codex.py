"""Codex: what its hooks say and what they may be told."""

from __future__ import annotations

from commonwealth.hosts.hook import Host

HOST = Host(
    name="codex",
    agent="Codex",
    project_variable=None,
    context_events=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}),
)
