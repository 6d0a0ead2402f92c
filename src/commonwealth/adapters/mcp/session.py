"""What the server knows of the session that it serves: who connected, from which project, to which brain."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.adapters.wire import Json, JsonObject

_AGENTS = (("claude", "Claude Code"), ("codex", "Codex"))
_SESSION_LIMIT = 100


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone; the project that the host names may still be there
        return os.sep


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server was started: `--brain` as given, the working folder, the project the host names."""

    selector: str | None = None
    folder: str = field(default_factory=_here)
    project: str | None = field(default_factory=lambda: os.environ.get("CLAUDE_PROJECT_DIR"))


@dataclass(slots=True)
class Client:
    """The host at the other end, as it introduced itself in `initialize`."""

    version: str = "2025-11-25"
    agent: str | None = None


def agent_of(info: Json) -> str | None:
    """The name under which a coding tool stands in provenance, from its `clientInfo`."""
    given = info if isinstance(info, dict) else {}
    name, title = _text(given.get("name")), _text(given.get("title"))
    known = (agent for start, agent in _AGENTS if name.casefold().startswith(start))
    return next(known, None) or one_line(title or name, 60) or None


def session_of(meta: JsonObject) -> str | None:
    """The host's id for its session, from the environment (Claude Code) or a call's `_meta` (Codex)."""
    given = os.environ.get("CLAUDE_CODE_SESSION_ID") or meta.get("sessionId") or meta.get("threadId")
    return one_line(given, _SESSION_LIMIT) if isinstance(given, str) and given else None


def project_of(place: Place, meta: JsonObject) -> str | None:
    """The folder of the session's project: what the host said at the start, else with this call."""
    if place.project:
        return place.project
    turn = meta.get("x-codex-turn-metadata")
    spaces = turn.get("workspaces") if isinstance(turn, dict) else None
    paths = [path for path in spaces if os.path.isabs(path)] if isinstance(spaces, dict) else []
    inside = [path for path in paths if _within(place.folder, path)]
    return max(inside, key=len) if inside else next(iter(paths), None)


def _within(folder: str, path: str) -> bool:
    return folder == path or folder.startswith(path.rstrip(os.sep) + os.sep)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
