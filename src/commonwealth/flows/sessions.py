"""The sessions at this clone: when each showed itself last, and in which work tree it is. Local, never in a note.

A hook writes one small file per session. Whatever renews a lease or looks at a code repository in the background reads
them, for it stands in no work tree itself.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from zlib import crc32

from commonwealth import atomic, timeline
from commonwealth.errors import BrainError
from commonwealth.flows.brains import Brain
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER

MOST = 64
"""So many sessions are remembered, the latest."""

KEPT_DAYS = 30
"""A session that has not shown itself for so long is forgotten."""

_LIMIT = 16_384
_TEXT = 1024
_PLAIN = frozenset("0123456789abcdefghijklmnopqrstuvwxyz-")


@dataclass(frozen=True, slots=True)
class Beat:
    """A session as it showed itself last, at `at` (canonical time), from the work tree `root` of a code repository.

    `ended` once the host has said that it is over: then it keeps no lease alive, and is remembered for its work tree.
    """

    session: str
    agent: str | None
    root: str
    repository: str
    branch: str | None
    commit: str | None
    at: str
    ended: bool = False


def beat(brain: Brain, session: str | None, agent: str | None, now: str) -> None:
    """Remember that the session is alive. Nothing for one without a name or outside any code repository; a disk that
    takes no more stops no session."""
    project = brain.project
    if not session or project is None:
        return
    seen = Beat(session[:_TEXT], agent, project.root, project.identity, project.branch, project.commit, now)
    _write(brain.root, seen)


def end(brain: Brain, session: str | None) -> None:
    """The session is over. It keeps the time at which it showed itself last."""
    if session and (seen := _read(_folder(brain.root), _file_name(session[:_TEXT]))) is not None:
        _write(brain.root, replace(seen, ended=True))


def known(root: Path) -> tuple[Beat, ...]:
    """The sessions at the clone at `root`, the one that showed itself last first."""
    folder = _folder(root)
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return ()
    found = (_read(folder, name) for name in names if name.endswith(".json"))
    return tuple(sorted(filter(None, found), key=lambda seen: (seen.at, seen.session), reverse=True))


def tidy(root: Path, now: str) -> None:
    """Forget sessions that are long over, and all but the latest `MOST`."""
    folder = _folder(root)
    if folder is None:
        return
    for number, seen in enumerate(known(root)):
        if number >= MOST or days_between(seen.at, now) > KEPT_DAYS:
            with suppress(OSError):
                os.unlink(os.path.join(folder, _file_name(seen.session)))


def days_between(earlier: str, later: str) -> float:
    """Days from one canonical time to another; 0 where either is none."""
    try:
        return (timeline.parse(later) - timeline.parse(earlier)).total_seconds() / 86400
    except ValueError:
        return 0.0


def _folder(root: Path) -> str | None:
    try:
        return os.path.join(git_dir(str(root)), FOLDER, "sessions")
    except BrainError:
        return None


def _file_name(session: str) -> str:
    """Hosts use UUIDs; of any other name no letter reaches the file system."""
    if len(session) <= 64 and not set(session) - _PLAIN:
        return f"{session}.json"
    data = session.encode("utf-8", "surrogatepass")
    return f"x{len(data):x}-{crc32(data):08x}.json"


def _write(root: Path, seen: Beat) -> None:
    folder = _folder(root)
    if folder is None:
        return
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        # Not flushed to the disk: a hook waits for it, and the next one writes it anew.
        temporary = atomic.write_beside(folder, json.dumps(asdict(seen)).encode(), flush=False)
        try:
            os.replace(temporary, os.path.join(folder, _file_name(seen.session)))
        except OSError:
            atomic.drop(temporary)


def _read(folder: str | None, name: str) -> Beat | None:
    text = read_text(os.path.join(folder, name), _LIMIT) if folder else None
    try:
        given = json.loads(text or "")
        seen = Beat(**given)
    except (ValueError, TypeError):
        return None
    texts = (seen.session, seen.root, seen.repository, seen.at)
    maybe = (seen.agent, seen.branch, seen.commit)
    sound = all(isinstance(text, str) for text in texts) and all(
        text is None or isinstance(text, str) for text in maybe
    )
    return seen if sound and isinstance(seen.ended, bool) else None
