"""What a note says once another has replaced it, from the replacement's own values: the same bytes whoever writes it.

A replacement closes what it names in `supersedes` at the instant from which it holds, unless it was retracted, or the
two name each other. Of several the earliest closes the note. One that was set aside in favour of another replacement
of the same note counts only where none is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from commonwealth.model import Note
from commonwealth.notes.naming import id_key
from commonwealth.notes.yamlwrite import Value

KINDS = ("memory", "decision")
"""The kinds of notes that are facts: what replaces and is replaced."""

KEYS = ("status", "valid_until", "superseded_at", "superseded_by")
"""What closing a note writes."""


def begins(note: Note) -> str | None:
    """From when on a note holds, as far as it says."""
    return note.valid_from or note.observed_at or note.created_at


def replaces(one: Note, other: Note) -> bool:
    """Whether `one` says that it supersedes `other`."""
    wanted = id_key(other.id)
    return id_key(one.id) != wanted and wanted in _keys(one.supersedes)


@lru_cache(maxsize=4096)
def _keys(ids: tuple[str, ...]) -> Collection[str]:
    """Each note is asked about many others: what it names is put into its form for that once."""
    return frozenset(map(id_key, ids))


def closer(note: Note, others: Iterable[Note]) -> Note | None:
    """Which of `others` closes `note`; None where none does."""
    found = {
        id_key(by.id): by for by in others if replaces(by, note) and by.status != "retracted" and not replaces(note, by)
    }
    standing = [by for by in found.values() if not _set_aside(by, found.get(id_key(by.superseded_by or "")))]
    return min(standing or found.values(), key=lambda by: (begins(by) or "", by.id), default=None)


def _set_aside(note: Note, by: Note | None) -> bool:
    return note.status == "superseded" and by is not None and not replaces(by, note)


def closing(note: Note, by: Note, written: str | None = None) -> dict[str, Value | None]:
    """What closes a note at the time from which its replacement holds.

    An end of its own that comes first stays. Two versions of one note begin at the same time: there it is when the one
    that is kept was `written`.
    """
    at = begins(by)
    if written and (not at or at < written):
        at = written
    changes: dict[str, Value | None] = {"status": "superseded", "superseded_by": by.id}
    if at:
        changes["superseded_at"] = at
        if not note.valid_until or _was_closed(note) or at < note.valid_until:
            changes["valid_until"] = at
    return changes


def reopening(note: Note, status: str) -> dict[str, Value | None]:
    """What takes back that a note was closed; an end of its own stays."""
    changes: dict[str, Value | None] = {"status": status, "superseded_by": None, "superseded_at": None}
    return {**changes, "valid_until": None} if _was_closed(note) else changes


def retracted(notes: Iterable[Note]) -> dict[str, Note]:
    """Those of the notes that were retracted, by the keys of their ids."""
    return {id_key(note.id): note for note in notes if note.status == "retracted"}


def inherited(note: Note, gone: Mapping[str, Note]) -> tuple[str, ...]:
    """What `note` supersedes once it stands for what it replaced and was retracted since (`gone`, see `retracted`):
    that closes nothing any more, and what it had closed is followed by `note`. The ids in their order, those that come
    to it last."""
    ids = list(note.supersedes)
    known = {id_key(note.id), *map(id_key, ids)}
    for id_ in ids:  # it grows while it is walked
        further = gone.get(id_key(id_))
        for more in further.supersedes if further else ():
            if id_key(more) not in known:
                known.add(id_key(more))
                ids.append(more)
    return tuple(ids)


def _was_closed(note: Note) -> bool:
    """Whether the end of a note is that of a replacement rather than one of its own."""
    return note.valid_until is not None and note.valid_until == note.superseded_at


def is_lifted(note: Note, others: Iterable[Note]) -> bool:
    """Whether nothing closes `note` any more, as what it says it was superseded by has been retracted."""
    every = list(others)
    by = _named(note, every)
    return note.status == "superseded" and by is not None and by.status == "retracted" and closer(note, every) is None


def settled(note: Note, others: Iterable[Note]) -> dict[str, Value | None]:
    """What has to change in `note` so that it says what the notes that replace it say; nothing where it does.

    What a person wrote stays: a retraction, a closure by a note that does not name this one, an end of its own.
    """
    every = [by for by in others if replaces(by, note)]
    by, named = closer(note, every), _named(note, every)
    if note.kind not in KINDS or note.status == "retracted" or by is None or by.kind not in KINDS:
        return {}
    if note.status != "superseded" or not note.superseded_by:
        return closing(note, by)
    if named is None:
        return {}
    if named.id == by.id and (not _was_closed(note) or note.superseded_at == begins(by)):
        return {}
    return closing(note, by)


def _named(note: Note, others: Iterable[Note]) -> Note | None:
    """The note by which `note` says it was superseded, where that names it as well."""
    wanted = id_key(note.superseded_by or "")
    return next((by for by in others if id_key(by.id) == wanted and replaces(by, note)), None)
