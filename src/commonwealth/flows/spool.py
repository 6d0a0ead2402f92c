"""What hooks leave for the worker: which transcript is to be swept, and nothing of what it says.

A session has one small file, written whole in the place of the one before, however often a hook asks. A worker takes it
away under another name before it sweeps: a hook never waits for the worker, and what it asks for meanwhile is a file
again. Read and written by hooks: nothing heavy is loaded here.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from zlib import crc32

from commonwealth import atomic, config, timeline
from commonwealth.errors import BrainError, Refused
from commonwealth.faults import fault
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER

OPEN = "open"
"""The trigger of an entry that waits for its session's end: what was asked for is done."""

MOST = 4096
"""So many files are looked at in one folder."""

YOUNG = 3.0
"""Seconds for which an entry that is asked for once more is left as it is."""

_LIMIT = 32_768
_TEXT = 4096
_KEPT_DAYS = 30
_TAKEN = "-taken.json"
_WEIGHT = {"SessionStart": 0, OPEN: 0, "PreCompact": 2, "SessionEnd": 2}
"""What is not forgotten for what is asked later: all other triggers weigh 1."""


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
        """Seconds since the newest entry was asked for."""
        try:
            return max(0.0, time.time() - timeline.parse(self.newest.at).timestamp())
        except ValueError:
            return _age(self.files[-1])


def of_brain(root: Path) -> Path:
    """The spool of the clone at `root`. Raises Damaged where that has no git folder."""
    return Path(git_dir(str(root)), FOLDER, "spool")


def of_home() -> Path:
    """The spool for sessions whose brain cannot be opened at the moment."""
    return config.home() / "spool"


def put(folder: Path, entry: Entry, *, flush: bool = True) -> bool:
    """Leave an entry, durable unless `flush` is off. Whether it was written: one that asks for the same was left a
    moment ago, and no worker has taken it yet. Raises Refused where the disk does not take it."""
    fault("spool-asked")
    place = os.path.join(folder, _name(entry))
    before = _read(place)
    if before is not None:
        entry = _joined(before, entry)
        if before == replace(entry, at=before.at) and _age(place) < YOUNG:
            return False
    _write(place, entry, flush=flush)
    return True


def _name(entry: Entry) -> str:
    """The name of a transcript's entry; none of its letters reaches the file system."""
    told = f"{entry.host}\0{entry.transcript}".encode("utf-8", "surrogateescape")
    return f"s{len(told):x}-{crc32(told):08x}{crc32(told[::-1]):08x}.json"


def _joined(one: Entry, other: Entry) -> Entry:
    """One entry for two, the second of which was left later. What was asked for stays asked for, and a session that
    ended has not ended any more where something came after that: hooks that run at once are no such thing."""
    early, late = (one, other) if one.at <= other.at else (other, one)
    asked = early if _WEIGHT.get(early.trigger, 1) > _WEIGHT.get(late.trigger, 1) else late
    at_once = early.at == late.at and late.trigger != "SessionStart"
    return replace(late, trigger=asked.trigger, ended=late.ended or (early.ended and at_once))


def _write(place: str, entry: Entry, *, flush: bool = True) -> None:
    folder = os.path.dirname(place)
    with _told(folder):
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


@contextmanager
def _told(folder: str) -> Iterator[None]:
    """Raises Refused for what the disk says."""
    try:
        yield
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
    found = (Waiting(*map(tuple, zip(*group, strict=True))) for group in groups.values())
    return tuple(sorted(found, key=lambda one: one.entries[0].at))


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
    if _age(place) > _KEPT_DAYS * 86400:
        _unlink(place)


def _age(place: str) -> float:
    """Seconds since a file was written, by the clock of the file system."""
    try:
        return max(0.0, time.time() - os.stat(place).st_mtime)
    except OSError:
        return 0.0


def is_taken(found: Waiting) -> bool:
    """Whether a worker has taken all that is there."""
    return found.files[-1].endswith(_TAKEN)


def taken_name(found: Waiting) -> str:
    """The file in which `taken` puts the entries of a transcript."""
    return os.path.join(os.path.dirname(found.files[-1]), _name(found.newest).removesuffix(".json") + _TAKEN)


def taken(found: Waiting, *, tries: int | None = None) -> Waiting:
    """The entries of a transcript as one that no hook writes to: what is asked for from here on is another one.

    Raises Refused where the disk does not take it.
    """
    *older, newest = found.files
    entries = list(found.entries)
    place = taken_name(found)
    with _told(os.path.dirname(place)):
        if newest != place:
            os.replace(newest, place)
            entries[-1] = _read(place) or found.newest  # a hook may have asked for more since
    entry = replace(reduce(_joined, entries), tries=found.newest.tries if tries is None else tries)
    _write(place, entry)
    for old in older:
        if old != place:
            _unlink(old)
    return Waiting((entry,), (place,))


def trying(found: Waiting) -> Waiting:
    """Take what waits and count a sweep that begins, so that one which always ends the process is not tried for ever.

    Raises Refused where the disk does not take it.
    """
    return taken(found, tries=found.newest.tries + 1)


def still_open(found: Waiting) -> None:
    """What was asked for is done, and the session goes on: one entry waits for its end. Raises Refused where the disk
    does not take it."""
    _instead(found, replace(found.newest, trigger=OPEN, tries=0))


def as_before(found: Waiting) -> None:
    """A sweep failed and said so: it is tried again as if it had not begun."""
    with suppress(BrainError):
        _instead(found, replace(found.newest, tries=0))


def done(found: Waiting) -> None:
    """Remove the entries that were served. Those that came in meanwhile stay."""
    for place in found.files:
        _unlink(place)


def _instead(found: Waiting, entry: Entry) -> None:
    """Write the newest entry anew in its place."""
    _write(found.files[-1], entry)


def _unlink(place: str) -> None:
    with suppress(OSError):
        os.unlink(place)
