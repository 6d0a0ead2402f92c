"""What became of every sweep, without a word of any transcript: `COMMONWEALTH_HOME/logs/capture.jsonl`."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from commonwealth import config

_LIMIT = 1 << 20
_NAME = 36
_PLAIN = frozenset("0123456789abcdef-")
_WORD = 40


def note(  # noqa: PLR0913 - a line says as much
    *,
    at: str,
    trigger: str,
    host: str,
    session: str | None,
    outcome: str,
    lines: tuple[int, int] = (0, 0),
    drafts: int = 0,
    kept: int = 0,
    model: str | None = None,
    elsewhere: int = 0,
) -> None:
    """Add a line, where the user has a folder. `lines` are the first and last line looked at, 0 where none was.
    `model` is what became of asking a model, up to a colon; the line does not speak of it where none was to be asked.

    `elsewhere` counts the entries of the transcript that were left out because they are of other repositories; the line
    does not speak of it where none was.

    One full log is kept aside. A disk that takes no line is no reason to fail.
    """
    line = {
        "at": at,
        "trigger": trigger[:_WORD],
        "host": host[:_WORD],
        "session": shown_session(session),
        "from": lines[0],
        "to": lines[1],
        "drafts": drafts,
        "kept": kept,
        "outcome": outcome[:_WORD],
    }
    if model is not None:
        line["model"] = model.partition(":")[0][:_WORD]
    if elsewhere:
        line["elsewhere"] = elsewhere
    home = config.home()
    path = home / "logs" / "capture.jsonl"
    with suppress(OSError):
        if not home.is_dir():
            return
        path.parent.mkdir(exist_ok=True)
        if path.exists() and path.stat().st_size > _LIMIT:
            os.replace(path, path.with_suffix(".old.jsonl"))
        with open(path, "ab") as file:
            file.write(json.dumps(line).encode() + b"\n")


def shown_session(name: str | None) -> str | None:
    """A session as a log names it: hosts use UUIDs, and of anything else no letter is kept."""
    if name is None or (len(name) <= _NAME and not set(name) - _PLAIN):
        return name
    import hashlib  # noqa: PLC0415  # no host that we know comes here

    return "#" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
