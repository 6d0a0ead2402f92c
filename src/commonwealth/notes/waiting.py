"""The files of candidates in one clone: those that wait in `staging/`, and those set aside in `staging/dropped/`.

Whatever lies there is either a candidate or is listed with what is wrong with it; nothing is moved over another file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from commonwealth import atomic, timeline
from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.model import Note, Problem
from commonwealth.notes import candidate, codec, naming, slips, store
from commonwealth.notes.candidate import Origin
from commonwealth.notes.obstacle import in_the_way

DROPPED = store.DROPPED
FOLDER = "it is a folder in the place of a candidate: move it away"
DAYS = 30
"""How long a candidate that was turned down can be brought back."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate and its file: `note` is what would go into canon, `data` the file's bytes, `doubts` what is odd
    about it. `is_dropped` says that it was turned down."""

    note: Note
    path: str
    data: bytes
    origin: Origin | None = None
    doubts: tuple[Problem, ...] = ()
    is_dropped: bool = False


def listed(root: Path, *, dropped: bool = False) -> tuple[list[Waiting], list[Problem]]:
    """The candidates that wait (or those that were dropped), the oldest first, and the files among them that are none.

    What cannot be looked at is a problem too: this raises nothing about what it finds.
    """
    folder = DROPPED if dropped else store.STAGING
    found: list[Waiting] = []
    problems: list[Problem] = []
    try:
        odd = in_the_way(root, folder)
        paths = [] if odd else list(store.staged_paths(root, folder))
    except (OSError, Damaged) as error:
        return [], [Problem(folder, 0, getattr(error, "message", None) or f"it cannot be read ({error})")]
    if odd is not None:
        return [], [Problem(odd.path, 0, odd.cause)]
    problems += [Problem(path, 0, FOLDER) for path in _folders(root, folder)]
    with store.Reader(root) as reader:
        for path in paths:
            try:
                found.append(_parsed(path, reader.data(path)[0], is_dropped=dropped))
            except BadNote as error:
                problems.append(Problem(path, error.line, error.cause))
            except Refused as error:
                problems.append(Problem(path, 0, error.message.rstrip(".")))
            except FileNotFoundError:
                continue
    return sorted(found, key=lambda one: (staged_at(one), one.note.id, one.path)), problems


def _folders(root: Path, folder: str) -> Iterator[str]:
    """Folders in the place of a candidate's file."""
    with suppress(OSError), os.scandir(root / folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from (f"{folder}/{name}" for name in sorted(names) if naming.is_note_name(name, top=True))


def staged_at(one: Waiting) -> str:
    """Since when a candidate waits, as far as it says."""
    return (one.origin.at if one.origin else None) or one.note.created_at or ""


def read(root: Path, path: str) -> Waiting:
    """The candidate in one file. Raises FileNotFoundError, BadNote."""
    return _parsed(path, store.read_bytes(root, path)[0], is_dropped=path.startswith(f"{DROPPED}/"))


def _parsed(path: str, data: bytes, *, is_dropped: bool) -> Waiting:
    text = codec.decode(data, path)
    note, doubts = codec.parse(text, path, "")
    doubts = (*doubts, *slips.slips(note, path, text, own=(candidate.KEY,)))
    return Waiting(candidate.stripped(note), path, data, candidate.origin_of(note), doubts, is_dropped)


def drop(root: Path, one: Waiting, origin: Origin) -> str:
    """Set a candidate aside with `origin`, which says why; the path where it lies now.

    A file there that says something else keeps its name. Raises as `store.put` does.
    """
    text = codec.edit(codec.decode(one.data, one.path), {candidate.KEY: candidate.to_extra(origin)}, path=one.path)
    path = _set_aside(root, one.path, text.encode())
    remove(root, one.path, one.data)
    return path


def drop_file(root: Path, path: str) -> str:
    """Set a file aside that is no candidate, as it is; the path where it lies now. Raises as `store.put` does,
    FileNotFoundError where it is gone."""
    data = _bytes_of(root, path)
    if data is None:
        raise FileNotFoundError(path)
    there = _set_aside(root, path, data)
    remove(root, path, data)
    return there


def _set_aside(root: Path, path: str, data: bytes) -> str:
    for target in _names(f"{DROPPED}/{os.path.basename(path)}"):
        there = _bytes_of(root, target)
        if there is None or there == data or target == path:
            store.put(root, target, data)
            return target
    raise AssertionError  # the names never end


def _names(path: str) -> Iterator[str]:
    stem, dot, end = path.rpartition(".")
    number = 1
    yield path
    while True:
        number += 1
        yield f"{stem}-{number}{dot}{end}"


def _bytes_of(root: Path, path: str) -> bytes | None:
    """The bytes of a regular file, whatever they are and however many."""
    place = naming.safe_join(root, path)
    try:
        if place.is_symlink():
            raise Refused(f"{path} is a symbolic link, which is not followed.", hint="Remove the link.")
        return place.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        if place.is_dir():
            raise Damaged(f"{path} is a folder, and no candidate.", hint="Move it away.") from None
        raise Damaged(f"{path} cannot be read ({error.strerror}).", hint="Mend its permissions.") from None


def remove(root: Path, path: str, data: bytes) -> bool:
    """Take a file out of staging whose bytes are still `data`; False where somebody has changed it since.

    Raises Damaged where the system does not let go of it.
    """
    there = _bytes_of(root, path)
    if there is not None and there != data:
        return False
    place = naming.safe_join(root, path)
    try:
        with suppress(FileNotFoundError):
            os.unlink(place)
        with suppress(FileNotFoundError):
            atomic.flush_folder(str(place.parent))
    except OSError as error:
        raise Damaged(
            f"{path} cannot be removed ({error.strerror}).", hint="Give yourself the right to write in its folder."
        ) from None
    return True


def tidy(root: Path, now: str) -> int:
    """Remove what was dropped more than 30 days ago; how many. A file that does not say when counts from when it was
    last written. What cannot be read or removed stays."""
    removed = 0
    limit = timeline.render(timeline.parse(now) - timedelta(days=DAYS))
    with suppress(OSError, Damaged, Refused):
        if in_the_way(root, DROPPED) is not None:
            return 0
        for path in store.staged_paths(root, DROPPED):
            with suppress(FileNotFoundError, BadNote, Refused, Damaged):
                data, state = store.read_bytes(root, path)
                at = _dropped_at(path, data) or timeline.of_seconds(int(state.st_mtime))
                if at <= limit:
                    removed += remove(root, path, data)
    return removed


def _dropped_at(path: str, data: bytes) -> str | None:
    try:
        origin = _parsed(path, data, is_dropped=True).origin
    except BadNote:
        return None
    return origin.dropped_at if origin else None
