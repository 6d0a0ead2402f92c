"""What hooks leave for the worker: which transcript is to be swept, and nothing of what it says.

An entry is one small file, written whole under a name of its own: a hook never waits for the worker, and what it leaves
while the worker is at an older entry of the same session is a file more. Read and written by hooks: nothing heavy is
loaded here.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from commonwealth import atomic, config
from commonwealth.errors import BrainError, Refused
from commonwealth.faults import fault
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER

OPEN = "open"
"""The trigger of an entry that waits for its session's end: what was asked for is done."""

MOST = 4096
"""So many files are looked at in one folder."""

_LIMIT = 32_768
_TEXT = 4096
_KEPT_DAYS = 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A session whose transcript is to be swept. `trigger` is the event that asked for it, at `at` (canonical time).

    `cwd` is the folder that the brain was found for. `ended` once the host has said that the session is over.
    `tries` counts the sweeps that neither ended nor failed: those that were killed.
    """

    trigger: str
    host: str
    session: str | None
    transcript: str
    cwd: str
    at: str
    ended: bool = False
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """All entries of one transcript, oldest first, with the files that they stand in."""

    entries: tuple[Entry, ...]
    files: tuple[str, ...]

    @property
    def newest(self) -> Entry:
        """What counts: a session that ended and was resumed has not ended."""
        return self.entries[-1]

    @property
    def age(self) -> float:
        """Seconds since the newest entry was left."""
        return max(0.0, time.time() - _born(self.files[-1]))


def of_brain(root: Path) -> Path:
    """The spool of the clone at `root`. Raises Damaged where that has no git folder."""
    return Path(git_dir(str(root)), FOLDER, "spool")


def of_home() -> Path:
    """The spool for sessions whose brain cannot be opened at the moment."""
    return config.home() / "spool"


def put(folder: Path, entry: Entry, *, flush: bool = True) -> None:
    """Leave an entry, durable unless `flush` is off. Raises Refused where the disk does not take it."""
    fault("spool-asked")
    place = os.path.join(folder, f"{time.time_ns():020d}-{os.urandom(4).hex()}.json")
    _write(place, entry, flush=flush)


def _write(place: str, entry: Entry, *, flush: bool = True) -> None:
    folder = os.path.dirname(place)
    try:
        os.makedirs(folder, exist_ok=True)
        temporary = atomic.write_beside(folder, json.dumps(asdict(entry)).encode(), flush=flush)
        fault("spool-temp-written")
        try:
            os.replace(temporary, place)
        except OSError:
            atomic.drop(temporary)
            raise
        if flush:
            atomic.flush_folder(folder)
    except OSError as error:
        raise Refused(
            f"{folder} cannot be written ({error.strerror}).",
            hint="Make room on the disk, or give yourself the right to write there.",
        ) from None


def waiting(folder: Path) -> tuple[Waiting, ...]:
    """What waits, the transcript that was asked for first before the others."""
    groups: dict[tuple[str, str], list[tuple[Entry, str]]] = {}
    for place in _files(folder):
        entry = _read(place)
        if entry is None:
            _forget_foreign(place)
            continue
        groups.setdefault((entry.host, entry.transcript), []).append((entry, place))
    return tuple(Waiting(*map(tuple, zip(*group, strict=True))) for group in groups.values())


def _files(folder: Path) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names[:MOST]:
        if atomic.TEMPORARY.fullmatch(name):
            _drop_debris(os.path.join(folder, name))
        elif name.endswith(".json"):
            yield os.path.join(folder, name)


def _drop_debris(place: str) -> None:
    """Remove what a hook left that was killed; one that writes at this moment is younger."""
    with suppress(OSError):
        if time.time() - os.stat(place).st_mtime > 60:
            os.unlink(place)


def _read(place: str) -> Entry | None:
    text = read_text(place, _LIMIT)
    try:
        entry = Entry(**json.loads(text or ""))
    except (ValueError, TypeError):
        return None
    said: Mapping[str, object] = asdict(entry)
    texts = [said[name] for name in ("trigger", "host", "transcript", "cwd", "at")]
    sound = all(isinstance(text, str) and len(text) <= _TEXT and "\0" not in text for text in texts)
    named = isinstance(said["session"], str | None)
    return entry if sound and named and isinstance(said["ended"], bool) and isinstance(said["tries"], int) else None


def _forget_foreign(place: str) -> None:
    """A file that is no entry may be one of another version: it is left alone for a while."""
    if time.time() - _born(place) > _KEPT_DAYS * 86400:
        _unlink(place)


def _born(place: str) -> float:
    number = os.path.basename(place).partition("-")[0]
    return int(number) / 1e9 if number.isascii() and number.isdecimal() else 0.0


def trying(found: Waiting) -> Waiting:
    """Count a sweep that begins, so that one which always ends the process is not tried for ever."""
    return _instead(found, replace(found.newest, tries=found.newest.tries + 1))


def still_open(found: Waiting) -> Waiting:
    """What was asked for is done, and the session goes on: one entry waits for its end."""
    kept = _instead(found, replace(found.newest, trigger=OPEN, tries=0))
    for place in found.files[:-1]:
        _unlink(place)
    return Waiting(kept.entries[-1:], kept.files[-1:])


def as_before(found: Waiting) -> None:
    """A sweep failed and said so: it is tried again as if it had not begun."""
    with suppress(BrainError):
        _instead(found, replace(found.newest, tries=0))


def done(found: Waiting) -> None:
    """Remove the entries that were served. Those that came in meanwhile stay."""
    for place in found.files:
        _unlink(place)


def _instead(found: Waiting, entry: Entry) -> Waiting:
    """Write the newest entry anew in its place, so that one that a hook leaves meanwhile stays the newest."""
    _write(found.files[-1], entry)
    return Waiting((*found.entries[:-1], entry), found.files)


def _unlink(place: str) -> None:
    with suppress(OSError):
        os.unlink(place)
