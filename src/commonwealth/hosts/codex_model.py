"""Codex asked without a person: its command line, its environment, and what its answer means."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping

from commonwealth.errors import Damaged
from commonwealth.hosts import headless
from commonwealth.hosts.headless import EXITED, NOT_LOGGED_IN, REFUSED, UNPARSABLE, Asked, Call, Ended, Reply

PROGRAM = "codex"

_SESSION = ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "PLUGIN_DATA", "PLUGIN_ROOT",
            "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT")  # fmt: skip

_OFF = ("hooks", "plugins", "apps", "shell_tool", "unified_exec", "multi_agent", "goals", "memories",
        "image_generation", "browser_use", "computer_use")  # fmt: skip
"""Features that would let something in, or the model out."""

_SETTINGS = (
    "notify=[]",  # a program of the person's that gets the whole prompt as an argument
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    'web_search="disabled"',
    'history.persistence="none"',
    "check_for_update_on_startup=false",
)
_STATUS = re.compile(r"unexpected status (\d{3})")
_ANSWER, _SCHEMA, _GUIDANCE = "answer.txt", "schema.json", "guidance.md"


def environment(outer: Mapping[str, str]) -> dict[str, str]:
    """The environment that it runs in."""
    return headless.environment(outer, _SESSION)


def home(outer: Mapping[str, str]) -> str:
    """The folder of its configuration and login."""
    return outer.get("CODEX_HOME") or os.path.join(outer.get("HOME") or os.path.expanduser("~"), ".codex")


def servers(config: str) -> tuple[str, ...]:
    """The MCP servers that a person's `config.toml` names. Raises Damaged where it cannot be read: one of them might
    be started then."""
    try:
        known = tomllib.loads(config).get("mcp_servers", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        raise Damaged("Codex's config.toml cannot be read.", hint="Mend the file; `codex` says where.") from None
    return tuple(known) if isinstance(known, dict) else ()


def call(program: str, asked: Asked, folder: str, *, config: str = "") -> Call:
    """How it is started; `folder` takes files that it reads and leaves, and is not the one that it works in.

    The person's configuration stays, since it says which provider may have the session; what it starts is switched
    off piece by piece. Raises Damaged where that configuration cannot be read.
    """
    schema, guidance, answer = (os.path.join(folder, name) for name in (_SCHEMA, _GUIDANCE, _ANSWER))
    off = ", ".join(f"{json.dumps(name)}={{enabled=false}}" for name in servers(config))
    settings = [*_SETTINGS, *(f"features.{name}=false" for name in _OFF)]
    settings.append(f"model_instructions_file={json.dumps(guidance)}")
    if off:
        settings.append(f"mcp_servers={{{off}}}")
    options = [part for setting in settings for part in ("-c", setting)]
    own = ("--ephemeral", "--sandbox", "read-only", "--skip-git-repo-check", "--color", "never")
    answers = ("--output-schema", schema, "--output-last-message", answer)
    files = {schema: asked.strict, guidance: asked.guidance}
    return Call((program, "exec", *own, *options, *answers, "-"), files, answer)


def reply(ended: Ended) -> Reply:
    """What it said. Anything that is no answer is a failure with its reason."""
    if ended.code == 0:
        text = ended.answer.strip()
        return Reply(text) if text else Reply(why=UNPARSABLE, detail="it said nothing")
    found = _STATUS.findall(ended.err)
    if (found and found[-1] in ("401", "403")) or "codex login" in ended.err or "Not logged in" in ended.err:
        return Reply(why=NOT_LOGGED_IN)
    if found:
        return Reply(why=REFUSED, detail=f"HTTP {found[-1]}")
    if "unexpected argument" in ended.err:
        return Reply(why=EXITED, detail="this version of Codex lacks an option that isolates it")
    if re.search(r"(?m)^ERROR: \{", ended.err):
        return Reply(why=REFUSED)
    return Reply(why=EXITED, detail=str(ended.code))
