"""Which notes a session has been told, so that nothing is told twice, and what a compaction took from it.

One small file per reader (a session, or a helper of it) beside those of `sessions`, in this clone alone and never in a
note. A note that has changed since it was told may be told again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from zlib import crc32

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.flows.asis import ask_as_it_is
from commonwealth.flows.brains import Brain
from commonwealth.index import lookup
from commonwealth.model import Note
from commonwealth.repo.common import find_git_dir, read_text
from commonwealth.repo.lock import FOLDER

MOST = 400
"""So many notes are remembered of a reader, the latest."""

READERS = 128
"""So many readers are remembered, the latest."""

KEPT_DAYS = 30
"""A reader that was told nothing for so long is forgotten."""

_LIMIT = 64 << 10
_PLAIN = frozenset("0123456789abcdefghijklmnopqrstuvwxyz-")
_UNKNOWN = ""


def seen(brain: Brain, session: str | None) -> frozenset[str]:
    """The ids of the notes that the reader knows as they are now: what has changed since it was told is not among
    them. Empty where nothing is known of the reader."""
    marks = _read(brain, session)
    if not marks:
        return frozenset()
    now = _marks_now(brain, marks)
    return frozenset(id_ for id_, mark in marks.items() if mark == _UNKNOWN or now.get(id_, mark) == mark)


def remember(brain: Brain, session: str | None, ids: Iterable[str]) -> None:
    """These notes were told. Nothing for a reader without a name; a disk that takes no more stops no session."""
    added = list(dict.fromkeys(ids))
    if not session or not added:
        return
    known = _read(brain, session)
    now = _marks_now(brain, added)
    for id_ in added:
        known.pop(id_, None)
        known[id_] = now.get(id_, _UNKNOWN)
    _write(brain, session, dict(list(known.items())[-MOST:]))


def forget(brain: Brain, session: str | None) -> frozenset[str]:
    """The reader's context was emptied, by a compaction or otherwise. Returns the ids that it had been told, whatever
    became of the notes since."""
    known = frozenset(_read(brain, session))
    place = _place(brain, session)
    if place is not None:
        with suppress(OSError):
            os.unlink(place)
    return known


def mark(note: Note) -> str:
    """What changes when a note says something else than it did; what only its upkeep changes is not in it."""
    said = (note.title, note.summary, note.body, note.status, note.confidence, note.valid_until, note.conflict_of)
    return f"{crc32(json.dumps(said).encode()):08x}"


def _marks_now(brain: Brain, ids: Iterable[str]) -> dict[str, str]:
    def question(conn: sqlite3.Connection) -> dict[str, str]:
        found = (lookup.of_id(conn, id_)[:1] for id_ in ids)
        return {file.note.id: mark(file.note) for files in found for file in files}

    try:
        return ask_as_it_is(brain, question)
    except BrainError:  # without an index, what was told counts as it was
        return {}


# The files


def _folder(brain: Brain) -> str | None:
    git_dir = find_git_dir(str(brain.root))
    return os.path.join(git_dir, FOLDER, "told") if git_dir else None


def _place(brain: Brain, session: str | None) -> str | None:
    folder = _folder(brain)
    return os.path.join(folder, _file_name(session)) if folder and session else None


def _file_name(session: str) -> str:
    """Hosts use UUIDs; of any other name no letter reaches the file system."""
    if len(session) <= 64 and not set(session) - _PLAIN:
        return f"{session}.json"
    data = session.encode("utf-8", "surrogatepass")
    return f"x{len(data):x}-{crc32(data):08x}.json"


def _read(brain: Brain, session: str | None) -> dict[str, str]:
    place = _place(brain, session)
    text = read_text(place, _LIMIT) if place else None
    try:
        given = json.loads(text) if text else None
    except ValueError:
        return {}
    told = given.get("told") if isinstance(given, dict) and given.get("session") == session else None
    if not isinstance(told, dict):
        return {}
    return {id_: mark for id_, mark in told.items() if isinstance(mark, str)}


def _write(brain: Brain, session: str, known: Mapping[str, str]) -> None:
    folder = _folder(brain)
    if folder is None:
        return
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        place = os.path.join(folder, _file_name(session))
        is_new = not os.path.exists(place)
        # Not flushed to the disk: a person waits, and what is lost is told once more.
        temporary = atomic.write_beside(folder, json.dumps({"session": session, "told": known}).encode(), flush=False)
        try:
            os.replace(temporary, place)
        except OSError:
            atomic.drop(temporary)
        if is_new:
            _tidy(folder)


def _tidy(folder: str) -> None:
    """Forget the readers that are long gone, and all but the latest."""
    with os.scandir(folder) as entries:
        found = sorted(((entry.stat().st_mtime, entry.path) for entry in entries), reverse=True)
    oldest = time.time() - KEPT_DAYS * 86_400
    for number, (at, path) in enumerate(found):
        if number >= READERS or at < oldest:
            os.unlink(path)
