"""What the hooks did lately, as their log in the user's folder tells it, the oldest of the last ten first."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

from commonwealth import config
from commonwealth.flows.doctor import Check
from commonwealth.safetext import one_line

LAST = 10
_TAIL = 16_384
"""Bytes of the end of the log that are looked at: a line has some 200."""

_TROUBLE = {
    "failed": "What it says is what stood in its way.",
    "fault": "That is a fault of ours: a file beside the hooks' log tells of it.",
    "late": "It ran out of its time, and the session went on without it.",
    "damaged": "Mend the file that it names.",
    "not kept": "Nothing could be written: free some space, or mend the permissions.",
}


def checks() -> Iterator[Check]:
    """The last runs of hooks, each as one check; nothing where none has run. Changes nothing."""
    for run in _runs():
        outcome = _text(run, "outcome") or "nothing said"
        notes = run.get("notes")
        number = notes if isinstance(notes, int) else 0
        told = f", {number} note{'' if number == 1 else 's'}" if number else ""
        reason = f" ({_text(run, 'reason')})" if _text(run, "reason") else ""
        took = f", {run['ms']} ms" if isinstance(run.get("ms"), int) else ""
        who = f"{_text(run, 'at')} {_text(run, 'host')} {_text(run, 'event')}"
        hint = _TROUBLE.get(outcome)
        yield Check("last hooks", "warn" if hint else "note", f"{who}: {outcome}{told}{took}{reason}", hint)


def _runs() -> list[Mapping[str, object]]:
    path = config.home() / "logs" / "hooks.jsonl"
    data = b""
    with suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
        data = file.read(_TAIL)
    found: list[Mapping[str, object]] = []
    for line in data.split(b"\n"):
        with suppress(ValueError):
            run = json.loads(line)
            if isinstance(run, dict):
                found.append(run)
    return found[-LAST:]


def _text(run: Mapping[str, object], key: str) -> str:
    value = run.get(key)
    return one_line(value, 300) if isinstance(value, str) else ""
