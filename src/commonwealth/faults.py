"""Named points at which a test can end or fail the process: the proof that any instant can be the last."""

from __future__ import annotations

import errno
import os
import signal

VARIABLE = "COMMONWEALTH_FAULT"
"""`<point>=kill`, or `<point>=` and the name of an error such as ENOSPC or EIO; `<point>:2=kill` is the second
time that the point is reached."""

POINTS = (
    "commit-temp-written",
    "commit-half-renamed",
    "commit-renamed",
    "commit-indexed",
    "commit-object",
    "commit-done",
    "recover-half",
    "fetched",
    "merge-tree",
    "merge-commit",
    "move-journal",
    "move-half",
    "move-files",
    "move-index",
    "move-done",
    "derived",
    "push-before",
    "push-accepted",
    "push-refused",
    "debt",
)
"""Every point there is, in the order of a write and then of a sync."""

_seen: dict[str, int] = {}


def fault(name: str) -> None:
    """Does nothing, unless the environment names this point: then ends the process, or raises OSError."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    place, _, action = wanted.partition("=")
    point, _, turn = place.partition(":")
    if point != name:
        return
    _seen[name] = _seen.get(name, 0) + 1
    if _seen[name] != int(turn or 1):
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    code = getattr(errno, action)
    raise OSError(code, os.strerror(code), name)
