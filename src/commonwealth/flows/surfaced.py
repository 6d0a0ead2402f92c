"""Which conflicts a sync brought to light: made by its merge, found in what came in, or committed by hand before.

A conflict is news where a note that is party to it has come, or says something new about what it replaces or disputes.
An open conflict that was there before is none, also while people go on to edit its notes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

from commonwealth.errors import BadNote
from commonwealth.flows import indexing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.index import disputes, lookup
from commonwealth.index.disputes import Dispute
from commonwealth.model import CLOSED_STATUSES, Note, NoteFile
from commonwealth.notes import codec, naming
from commonwealth.repo.git import Git
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import Outcome
from commonwealth.repo.store import blob, entries_at

_Party = tuple[Dispute, tuple[NoteFile, ...]]


def conflicts(brain: Brain, outcome: Outcome) -> tuple[str, ...]:
    """The ids of the notes by which conflicts came up in a sync, for the receipt.

    Raises what `indexing.ask` does; nothing is asked where no note has changed.
    """
    owns = content_of(brain).owns
    changed = {path: kind for path in outcome.changed if (kind := owns(path)) is not None}
    if not changed:
        return ()
    found = [(dispute, parties) for dispute, parties in indexing.ask(brain, _parties) if _touches(parties, changed)]
    if not found:
        return ()
    before = _before(brain, outcome, changed, {file.path for _, parties in found for file in parties})
    ids: set[str] = set()
    for dispute, parties in found:
        fresh = {file.path for file in parties if _is_fresh(file, changed, before)}
        named = _rivals(dispute)
        rivals = [file for file in parties if naming.id_key(file.note.id) in named]
        if fresh:
            ids.update(file.note.id for file in [file for file in rivals if file.path in fresh] or rivals)
    return tuple(sorted(ids))


def _parties(conn: sqlite3.Connection) -> list[_Party]:
    found = disputes.disputes(conn)
    ids = {id_ for dispute in found for id_ in (dispute.about, *dispute.rivals)}
    files = {id_: lookup.of_id(conn, id_) for id_ in ids}  # each once: one note may be in many conflicts
    return [
        (dispute, tuple(file for id_ in sorted({dispute.about, *dispute.rivals}) for file in files[id_]))
        for dispute in found
    ]


def _rivals(dispute: Dispute) -> set[str]:
    """The notes to name: of the versions of a note, those that are not the note itself."""
    ids = set(dispute.rivals)
    return {naming.id_key(id_) for id_ in (ids - {dispute.about} if dispute.cause == "version" else ids)}


def _touches(parties: Collection[NoteFile], changed: Collection[str]) -> bool:
    return any(file.path in changed for file in parties)


def _is_fresh(file: NoteFile, changed: Collection[str], before: Mapping[str, list[Note]]) -> bool:
    """Whether a note claims something that no version of it before the sync did."""
    if file.path not in changed:
        return False
    return _claims(file.note) not in map(_claims, before.get(naming.stem(file.path), []))


def _claims(note: Note) -> tuple[object, ...]:
    closed = note.status if note.status in CLOSED_STATUSES else ""
    return closed, note.conflict_of, note.supersedes, note.superseded_by, note.relates


def _before(
    brain: Brain, outcome: Outcome, changed: Mapping[str, str], paths: Collection[str]
) -> dict[str, list[Note]]:
    """The notes as they were before the sync, by the stem of their file: one may have been moved."""
    if outcome.before is None:
        return {}
    stems = set(map(naming.stem, paths))
    git = Git(brain.root)
    entries = entries_at(git, outcome.before, [path for path in changed if naming.stem(path) in stems])
    found: dict[str, list[Note]] = {}
    with Objects(git) as objects:
        for path, entry in entries.items():
            if (note := _parsed(blob(objects, entry) or b"", path, changed[path])) is not None:
                found.setdefault(naming.stem(path), []).append(note)
    return found


def _parsed(data: bytes, path: str, kind: str) -> Note | None:
    try:
        return codec.parse(codec.decode(data, path), path, kind)[0]
    except BadNote:
        return None
