"""Which of the sessions in a spool are to be swept now.

A session is due when its host says that it ends or is compacted, at the end of a turn when it was not swept lately, and
when its file has rested: then nobody will say any more that it is over. Asked by hooks: nothing heavy is loaded here.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from commonwealth.flows import cursors, spool
from commonwealth.flows.spool import Waiting

RESTED = 1800.0
"""Seconds after which a transcript that nobody wrote to is taken for complete."""

BETWEEN = 600.0
"""Seconds between the sweeps of a session that goes on, turn after turn."""

VANISHED = 86_400.0
"""Seconds for which a transcript that does not exist may still come."""

_ASKED = frozenset({"PreCompact", "SessionEnd"})


@dataclass(frozen=True, slots=True)
class Due:
    """Why a session is swept now; `complete` where its last turn is final."""

    complete: bool


def is_due(root: Path, found: Waiting) -> Due | None:
    """Whether what waits is to be swept now."""
    rested = _rests(found)
    if found.newest.ended or rested:
        return Due(complete=True)
    if any(entry.trigger in _ASKED for entry in found.entries):
        return Due(complete=False)
    if all(entry.trigger in (spool.OPEN, "SessionStart") for entry in found.entries):
        return None
    entry = found.newest
    lately = cursors.swept_within(root, entry.host, os.path.realpath(entry.transcript), BETWEEN)
    return None if lately else Due(complete=False)


def _rests(found: Waiting) -> bool:
    """Whether nobody has written to the transcript for long; one that does not exist yet may still come."""
    try:
        return time.time() - os.stat(found.newest.transcript).st_mtime > RESTED
    except OSError:
        return found.age > VANISHED


def anything_due(root: Path) -> bool:
    """Whether a worker would find something to sweep."""
    return any(is_due(root, found) for found in spool.waiting(spool.of_brain(root)))
