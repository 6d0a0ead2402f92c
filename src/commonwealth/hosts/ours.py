"""What of a session comes from us: a brain that learned from its own answers would feed on itself."""

from __future__ import annotations

import re

_NAMES = r"(?:brain|commonwealth)"
_TOOL = re.compile(rf"\Amcp__(?:plugin_)?(?:[\w-]*_)?{_NAMES}(?:__|\Z)", re.IGNORECASE)
_COMMAND = re.compile(
    rf"(?:\A|[\n;&|(`]|\$\(|\b(?:sudo|env|exec|time|command|uvx|pipx run|uv run|python3? -m)\s)[ \t]*"
    rf"(?:\w+=\S*[ \t]+)*(?:[\w./~-]*/)?{_NAMES}(?=\s|\Z)"
)
_FOLDER = ".commonwealth/"
_LOOKED_AT = 20_000
_SHELLS = frozenset({"Bash", "PowerShell", "shell", "exec_command", "local_shell", "container.exec", "shell_command"})


def tool(name: str) -> bool:
    """Whether a tool is one of our MCP server's."""
    return _TOOL.match(name) is not None


def command(name: str, text: str) -> bool:
    """Whether a shell was asked to run our program, or to look into our folder."""
    return name in _SHELLS and (_COMMAND.search(text, 0, _LOOKED_AT) is not None or place(text[:_LOOKED_AT]))


def place(path: str) -> bool:
    """Whether a path leads into the folder where we keep brains, by its usual name."""
    return _FOLDER in path
