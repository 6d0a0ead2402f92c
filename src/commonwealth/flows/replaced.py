"""The notes that a write closes or opens beside the one that it makes: found, checked, and changed by the one rule."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from commonwealth.errors import Refused
from commonwealth.flows import closures, indexing, recall
from commonwealth.flows.brains import Brain
from commonwealth.index import chains, lookup
from commonwealth.model import Note
from commonwealth.notes import closing, codec, naming, store
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch
from commonwealth.repo.history import read_at, versions


@dataclass(frozen=True, slots=True)
class Old:
    """A note as its file has it, and the notes that say that they supersede it."""

    path: str
    data: bytes
    text: str
    note: Note
    others: tuple[Note, ...]

    def edited(self, brain: Brain, others: Iterable[Note]) -> bytes:
        """The bytes of the file once `others` are what supersedes the note; the same where that changes nothing."""
        changes = closures.owed(self.note, others, self.path, lambda: earlier(brain, self.path))
        return codec.edit(self.text, changes, path=self.path).encode() if changes else self.data


def read(brain: Brain, found: recall.Located) -> Old:
    """A note that was located, as it is now; one that was moved since is looked up again. Raises BadNote, Refused."""
    try:
        data = recall.at_its_place(lambda: store.read_bytes(brain.root, found.path)[0], found.path)
    except Refused:
        moved = recall.located_once(brain, found.id)
        if moved.path == found.path:
            raise
        found = moved
        data = store.read_bytes(brain.root, found.path)[0]
    text = codec.decode(data, found.path)
    note = codec.parse(text, found.path, found.kind)[0]
    return Old(found.path, data, text, note, naming_it(brain, note.id))


def is_committed(brain: Brain, old: Old) -> bool:
    """Whether the brain's branch has the note as its file has it: a call that was killed may have left it otherwise."""
    git = Git(brain.root)
    tip = branch_tip(git, main_branch(git))
    return tip is not None and read_at(git, tip, old.path) == old.data


def require_fact(found: recall.Located, field: str, act: str) -> None:
    """Raises Refused for a work record or a person, which are no facts that end."""
    if found.kind in closing.KINDS:
        return
    what, step = _OTHERS.get(found.kind, ("no fact", ""))
    raise Refused(f"{field}: {found.id} is {what}, which cannot be {act}.", hint=f"{step}Nothing was written.")


_OTHERS = {
    "work-state": ("a work record", "`brain work complete` or `brain work abandon` ends it. "),
    "person": ("a person's note", "`brain update` corrects it. "),
}


def naming_it(brain: Brain, note_id: str) -> tuple[Note, ...]:
    """The notes that say that they supersede this one."""

    def question(conn: sqlite3.Connection) -> list[Note]:
        files = lookup.at_paths(conn, chains.around(conn, [note_id]))
        return [file.note for file in files if indexing.stat_file(brain, file.path) is not None]

    wanted = naming.id_key(note_id)
    found = indexing.ask(brain, question)
    return tuple(note for note in found if wanted in map(naming.id_key, note.supersedes))


def earlier(brain: Brain, path: str) -> Iterable[bytes]:
    """The committed versions of a file, the newest first."""
    git = Git(brain.root)
    for version in versions(git, path):
        data = None if version.deleted else read_at(git, version.commit, version.path)
        if data is not None:
            yield data
