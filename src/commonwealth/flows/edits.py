"""The files that one decision changes: what was read of them, what is made of it, and what the receipt says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonwealth.flows import recall
from commonwealth.flows.brains import Brain
from commonwealth.model import Item, Note, NoteFile
from commonwealth.notes import codec, store
from commonwealth.notes.yamlwrite import Value


@dataclass(slots=True)
class Edits:
    """The files of one resolution: what was read, and what is made of it."""

    brain: Brain
    read: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)

    def say(self, file: NoteFile, state: str, reason: str) -> None:
        """Note for the receipt what becomes of a note."""
        self.items[file.note.id] = Item(file.note.id, state, reason)

    def text(self, file: NoteFile) -> str:
        """The text of a note as its file has it now."""
        if file.path not in self.read:
            data, _ = recall.at_its_place(lambda: store.read_bytes(self.brain.root, file.path), file.path)
            self.read[file.path] = data, codec.decode(data, file.path)
        return self.made.get(file.path, self.read[file.path][1])

    def note(self, file: NoteFile) -> Note:
        """The note as its file has it now."""
        return codec.parse(self.text(file), file.path, file.note.kind)[0]

    def put(self, file: NoteFile, text: str) -> None:
        """Make `text` the file's."""
        self.text(file)
        self.made[file.path] = text

    def edit(self, file: NoteFile, changes: Mapping[str, Value | None], body: str | None = None) -> None:
        """Change some keys of a file, and where given its body."""
        self.put(file, codec.edit(self.text(file), changes, body, file.path))

    def files(self) -> list[tuple[str, bytes, bytes]]:
        """Path, new text and what was read, of every file that changes."""
        return [(path, text.encode(), self.read[path][0]) for path, text in sorted(self.made.items())]
