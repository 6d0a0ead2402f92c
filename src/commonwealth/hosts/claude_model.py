"""Claude Code asked without a person: its command line, its environment, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonwealth.hosts import headless
from commonwealth.hosts.headless import EXITED, NOT_LOGGED_IN, REFUSED, UNPARSABLE, Asked, Call, Ended, Reply

PROGRAM = "claude"

_SESSION = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
)


def environment(outer: Mapping[str, str]) -> dict[str, str]:
    """The environment that it runs in."""
    return headless.environment(outer, _SESSION)


def call(program: str, asked: Asked, _folder: str) -> Call:
    """How it is started.

    Safe mode leaves out CLAUDE.md, skills, plugins, hooks and MCP servers, and keeps login and model. Of the settings
    only the person's own count: a login may stand there. Nothing of the session is written down.
    """
    options = (
        "--print",
        "--output-format",
        "json",
        "--safe-mode",
        "--setting-sources",
        "user",
        "--settings",
        '{"disableAllHooks": true}',
        "--strict-mcp-config",
        "--tools",
        "",
        "--disable-slash-commands",
        "--no-session-persistence",
        "--system-prompt",
        asked.guidance,
        "--json-schema",
        asked.schema,
    )
    return Call((program, *options), {})


def reply(ended: Ended) -> Reply:
    """What it said. Anything that is no answer is a failure with its reason."""
    try:
        said = json.loads(ended.out)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return _silent(ended)
    text = said.get("result")
    if said.get("is_error") or ended.code:
        return _failed(said, text if isinstance(text, str) else "", ended.code)
    if "structured_output" in said:
        return Reply(json.dumps(said["structured_output"]))
    return Reply(text) if isinstance(text, str) and text.strip() else Reply(why=UNPARSABLE, detail="it said nothing")


def _silent(ended: Ended) -> Reply:
    """Output that is not what was asked for: of another version, or of something else of that name."""
    if "unknown option" in ended.err:
        return Reply(why=EXITED, detail="this version of Claude Code lacks an option that isolates it")
    if ended.code:
        return Reply(why=EXITED, detail=str(ended.code))
    return Reply(why=UNPARSABLE, detail="its output is no JSON")


def _failed(said: Mapping[str, object], text: str, code: int) -> Reply:
    status = said.get("api_error_status")
    if status in (401, 403) or "/login" in text:
        return Reply(why=NOT_LOGGED_IN)
    if said.get("subtype") == "error_max_structured_output_retries":
        return Reply(why=UNPARSABLE, detail="its answers did not have the form that was asked for")
    if isinstance(status, int):
        return Reply(why=REFUSED, detail=f"HTTP {status}")
    return Reply(why=EXITED, detail=str(code))
