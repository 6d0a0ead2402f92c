"""Named points at which a test can end or fail the process: the proof that any instant can be the last."""

from __future__ import annotations

import errno
import os
import signal

VARIABLE = "COMMONWEALTH_FAULT"
"""`<point>=kill`, or `<point>=` and the name of an error such as ENOSPC or EIO; `<point>:2=kill` is the second
time that the point is reached. `none` lets everything pass."""

LOG = "COMMONWEALTH_FAULT_LOG"
"""A file that gets the name of every point reached, a line each; read only where `VARIABLE` is set."""

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
    "write-committed",
    "approve-committed",
    "settled",
    "debt-recorded",
    "adopt-commit",
    "adopt-moved",
    "rename-journal",
    "rename-made",
    "rename-head",
    "rename-recorded",
    "request-offered",
    "move-closed",
    "take-back-half",
    "index-update",
    "index-built",
    "index-switched",
    "index-swept",
    "import-batch",
    "spool-asked",
    "spool-temp-written",
    "drafts-made",
    "drafts-planned",
    "draft-staged",
    "drafts-staged",
    "cursor-moved",
    "swept",
    "worker-spawn",
    "worker-started",
    "worker-locked",
    "worker-taken",
    "worker-told",
    "init-made",
    "init-hardened",
    "init-files",
    "init-committed",
    "join-cloned",
    "join-hardened",
    "join-checked-out",
    "setup-placed",
    "setup-indexed",
    "setup-mapped",
    "stranded-half",
    "stranded-kept",
    "stranded-moved",
    "stranded-done",
)
"""Every point there is: of a write, a sync, the index, an import, a capture, the worker, of `init` and `join`."""

_seen: dict[str, int] = {}


def fault(name: str) -> None:
    """Does nothing, unless the environment names this point: then ends the process, or raises OSError."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    log = os.environ.get(LOG)
    if log:
        _note(log, name)
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


def _note(log: str, name: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{name}\n".encode())
    finally:
        os.close(descriptor)
