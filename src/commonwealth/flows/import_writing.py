"""How an import reaches the brain: in batches, each looked at again under the writer lock, with room for others."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonwealth.errors import BadNote
from commonwealth.flows import saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.identity import Identity
from commonwealth.flows.import_shelf import DIGEST
from commonwealth.model import Receipt
from commonwealth.notes import codec, naming
from commonwealth.repo import workfiles
from commonwealth.repo.commit import Change
from commonwealth.repo.git import Git
from commonwealth.repo.lock import LONGEST_PAUSE
from commonwealth.repo.pending import pending

BATCH = 100
"""Files in one commit: the writer lock is let go between two of them."""

_ROOM = 1.2 * LONGEST_PAUSE
"""Seconds between two batches: whoever waits for the lock asks at least once in it."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a batch did not write: `same` are paths where another import had put the same source meanwhile, `other`
    those that hold something else by now."""

    same: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


@dataclass(slots=True)
class Writer:
    """Writes the batches of one import."""

    brain: Brain
    author: Identity
    now: str
    begun: bool = field(default=False)

    def take_up(self) -> None:
        """Commit what an earlier import wrote when it was ended before its commit."""
        edits = pending(Git(self.brain.root), content_of(self.brain)).edits
        found = [
            Change(edit.path, edit.data, edit.data)
            for edit in edits
            if edit.head is None and edit.data is not None and _digest(self.brain.folders, edit.path, edit.data)
        ]
        for start in range(0, len(found), BATCH):
            batch = found[start : start + BATCH]
            self(batch, f"Import {len(batch)} {'note' if len(batch) == 1 else 'notes'} left by an earlier import")

    def __call__(self, changes: Sequence[Change], message: str) -> Left:
        """Commit a batch but for the files that are not what was read. Raises Busy, and Refused for a full disk."""
        if self.begun:
            time.sleep(_ROOM)
        self.begun = True
        found = Left()

        def plan() -> Sequence[Change] | Receipt:
            nonlocal found
            wanted, found = self._looked_at(changes)
            if not wanted:
                return Receipt("unchanged", reason="it is there already")
            return (*wanted, *saving.people_change(self.brain, self.author, self.now, killed=True))

        ids = tuple(naming.stem(change.path) for change in changes)
        saving.save(self.brain, plan, ids=ids, message=message, author=self.author, now=self.now, command="import")
        return found

    def _looked_at(self, changes: Sequence[Change]) -> tuple[list[Change], Left]:
        wanted: list[Change] = []
        same: list[str] = []
        other: list[str] = []
        for change in changes:
            there = workfiles.read(str(self.brain.root), change.path)
            if there in (change.expect, change.data):
                wanted.append(replace(change, expect=there))
            elif there is not None and self._source(change.path, there) == self._source(change.path, change.data):
                same.append(change.path)
            else:
                other.append(change.path)
        return wanted, Left(tuple(same), tuple(other))

    def _source(self, path: str, data: bytes | None) -> str:
        """The hash of the source's text that a note was made of."""
        return _digest(self.brain.folders, path, data or b"").partition("-")[0] or f"not imported: {data!r}"


def _digest(folders: Mapping[str, str], path: str, data: bytes) -> str:
    try:
        note, _ = codec.parse(codec.decode(data, path), path, naming.kind_of(path, folders) or "memory")
    except BadNote:
        return ""
    said = note.extra.get(DIGEST)
    return said if isinstance(said, str) else ""
