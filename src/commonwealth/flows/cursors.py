"""How far each transcript was swept, and which drafts came of it: one small file each, in the clone's git folder.

Nothing that a transcript says is in it: places, hashes, and the random-looking ends of ids.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from commonwealth import atomic
from commonwealth.errors import BrainError, Damaged
from commonwealth.repo.common import git_dir, read_bytes, read_text
from commonwealth.repo.lock import FOLDER

MOST = 512
"""So many transcripts are remembered, the latest."""

_LIMIT = 4 << 20
_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class Emitted:
    """A draft that a sweep made: the lines that it rests on, and the hash of its file as it was staged.

    `staged` is False while that is only meant to happen, and `earlier` the hash of the file that it takes the place
    of: a process that dies between has lost nothing. `place` is a hash of when and in which words it was said, which a
    copy of the session in another file has too.
    """

    first: int
    last: int
    digest: str
    earlier: str = ""
    staged: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the sweeps of one transcript are: its size and time when it was read, the last line looked at, and whether
    its last turn was taken for final. `head` tells another file in its place; `emitted` is by the short id of each
    draft."""

    size: int = -1
    mtime_ns: int = 0
    last: int = 0
    complete: bool = False
    head: str = ""
    emitted: Mapping[str, Emitted] = field(default_factory=dict)


def place_of(root: Path, host: str, transcript: str) -> Path:
    """The file of a transcript's cursor. Raises Damaged where the brain has no git folder."""
    key = hashlib.sha256(f"{host}\0{transcript}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return Path(git_dir(str(root)), FOLDER, "cursors", f"{key}.json")


def load(root: Path, host: str, transcript: str) -> Cursor:
    """The cursor of a transcript; one that stands at the beginning where there is none that can be read."""
    return _parsed(read_text(str(place_of(root, host, transcript)), _LIMIT))


def _parsed(text: str | None) -> Cursor:
    try:
        said = json.loads(text or "")
        emitted = {str(short): Emitted(**given) for short, given in said.pop("emitted").items()}
        cursor = Cursor(**said, emitted=emitted)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Cursor()
    numbers = (cursor.size, cursor.mtime_ns, cursor.last)
    return cursor if all(isinstance(number, int) for number in numbers) and isinstance(cursor.head, str) else Cursor()


def emitted_of_all(root: Path) -> Iterator[tuple[str, Emitted]]:
    """The drafts of every transcript that is remembered, by their short ids. What cannot be read is passed over."""
    with suppress(OSError, BrainError):
        for path in sorted(place_of(root, "", "").parent.glob("*.json")):
            yield from _parsed(read_text(str(path), _LIMIT)).emitted.items()


def head_of(transcript: str) -> str:
    """A hash of the first line of a transcript, which stays what it is while the file grows. Raises OSError."""
    line = read_bytes(transcript, _HEAD).partition(b"\n")[0]
    return hashlib.sha256(line).hexdigest()[:24]


def save(root: Path, host: str, transcript: str, cursor: Cursor) -> None:
    """Keep a cursor, durably. Raises Damaged where the disk does not take it."""
    place = place_of(root, host, transcript)
    try:
        atomic.replace(place, json.dumps(asdict(cursor)).encode())
    except OSError as error:
        raise Damaged(
            f"{place} could not be written ({error.strerror}).",
            hint="Make room on the disk, or give yourself the right to write there.",
        ) from None


def swept_within(root: Path, host: str, transcript: str, seconds: float) -> bool:
    """Whether the transcript was swept so lately. By the clock of the file system."""
    try:
        return time.time() - os.stat(place_of(root, host, transcript)).st_mtime < seconds
    except (OSError, BrainError):
        return False


def tidy(root: Path) -> None:
    """Forget all but the latest `MOST` transcripts."""
    with suppress(OSError, BrainError):
        folder = place_of(root, "", "").parent
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in files[MOST:]:
            old.unlink(missing_ok=True)
