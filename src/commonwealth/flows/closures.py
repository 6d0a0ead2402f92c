"""What sync writes into notes whose replacement came alone: by a merged request, a hand's edit or an import.

The answer is made of the notes of one tree and nothing else, so that every clone makes the same files of it. Which
other notes to look at comes from the search index as it stands; what they say is read from the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from commonwealth.errors import BadNote, Refused
from commonwealth.flows.brains import Brain
from commonwealth.flows.freshness import ask_as_it_is
from commonwealth.index import chains
from commonwealth.index.schema import Unusable
from commonwealth.model import CLOSED_STATUSES, Note
from commonwealth.notes import closing, codec, naming, schema
from commonwealth.notes.yamlwrite import Value
from commonwealth.repo.content import Snapshot

Earlier = Callable[[str], Iterable[bytes]]
"""The versions that a file had, the newest first."""


def close(brain: Brain, paths: frozenset[str] | None, snapshot: Snapshot, earlier: Earlier) -> dict[str, bytes]:
    """The notes of `snapshot` that have to say otherwise by whom they are superseded, after a change of `paths`
    (None: of anything). A note that cannot be read, or not be changed, is left as it is."""
    pool = _Pool(brain.folders, snapshot)
    if paths is None:
        pool.add_all()
    else:
        if not pool.add(paths):
            return {}
        try:
            pool.add_chains(brain)
        except Unusable:
            pool.add_all()
    return pool.closed(earlier)


def open_status(note: Note, path: str, earlier: Iterable[bytes]) -> str:
    """What the status of a closed note was before it was closed, by the earlier versions of its file."""
    for data in earlier:
        try:
            before = codec.parse(codec.decode(data, path), path, note.kind)[0]
        except BadNote:
            continue
        if before.status not in CLOSED_STATUSES:
            return before.status
    return schema.default(note.kind, "status", note.type)


def owed(
    note: Note, others: Iterable[Note], path: str, earlier: Callable[[], Iterable[bytes]]
) -> dict[str, Value | None]:
    """What has to change in `note` so that it says what `others` make of it: closed, closed otherwise, or open."""
    every = list(others)
    if closing.is_lifted(note, every):
        return closing.reopening(note, open_status(note, path, earlier()))
    return closing.settled(note, every)


@dataclass(slots=True)
class _Pool:
    """The notes of a tree that may have to do with each other, by path."""

    folders: Mapping[str, str]
    snapshot: Snapshot
    notes: dict[str, tuple[str, Note]] = field(default_factory=dict)

    def add(self, paths: Iterable[str]) -> list[Note]:
        """Read these notes; those that could be read."""
        found: list[Note] = []
        for path in sorted(paths):
            kind = naming.kind_of(path, self.folders)
            if kind not in closing.KINDS:
                continue
            if path not in self.notes and (data := self.snapshot.read(path)) is not None:
                try:
                    text = codec.decode(data, path)
                    self.notes[path] = text, codec.parse(text, path, kind)[0]
                except BadNote:
                    continue
            if path in self.notes:
                found.append(self.notes[path][1])
        return found

    def add_all(self) -> None:
        """Read every note of the tree."""
        for folder in naming.places(self.folders):
            self.add(self._below(folder))

    def add_chains(self, brain: Brain) -> None:
        """Read what is replaced by the notes that are here, what replaces them, and so on."""
        known: set[str] = set()
        while ids := {id_ for _, note in self.notes.values() for id_ in (note.id, *note.supersedes)} - known:
            known |= ids
            self.add(ask_as_it_is(brain, partial(chains.around, ids=ids)))

    def _below(self, folder: str) -> Iterator[str]:
        for name, is_folder in self.snapshot.list(folder).items():
            path = f"{folder}/{name}"
            if is_folder:
                yield from self._below(path)
            elif name.endswith(".md"):
                yield path

    def closed(self, earlier: Earlier) -> dict[str, bytes]:
        """The bytes of the notes that have to say something else."""
        changes = dict(self._inherited())
        by: dict[str, list[Note]] = {}
        for _, note in self.notes.values():
            for id_ in note.supersedes:
                by.setdefault(naming.id_key(id_), []).append(note)
        for path, (_, note) in self.notes.items():
            if others := by.get(naming.id_key(note.id)):
                own = owed(note, others, path, partial(earlier, path))
                changes[path] = {**changes.get(path, {}), **own}
        made: dict[str, bytes] = {}
        for path, wanted in sorted(changes.items()):
            text = self.notes[path][0]
            try:
                edited = codec.edit(text, wanted, path=path) if wanted else text
            except (BadNote, Refused):
                continue
            if edited != text:
                made[path] = edited.encode()
        return made

    def _inherited(self) -> Iterator[tuple[str, dict[str, Value | None]]]:
        """What comes to notes that replace a retracted one: from here on they replace what that had replaced."""
        gone = closing.retracted(note for _, note in self.notes.values())
        for path, (text, note) in list(self.notes.items()):
            ids = closing.inherited(note, gone) if note.supersedes and note.status != "retracted" else ()
            if ids and ids != note.supersedes:
                self.notes[path] = text, replace(note, supersedes=ids)
                yield path, {"supersedes": list(ids)}
