"""The notes that earlier imports made, found by where their sources lie."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from commonwealth.errors import BadNote
from commonwealth.flows.import_roots import Root
from commonwealth.model import Note
from commonwealth.notes import codec, foreign, naming, store

KINDS = ("markdown", "adr")
SOURCES = (*KINDS, "sqlite")
"""What can be imported: the kinds of files in a folder, and a database."""

ROOT = "source_root"
"""The key of a note that says where the path of its source starts."""
DIGEST = "source_digest"
"""The key of a note that tells an edit at the source from one here: hashes of the source's text and of the note as it
was made from it."""

_SHORT_ID = re.compile(r"-([0-9a-z]{8})\.md$")


class Shelf(Protocol):
    """The notes that are in the brain already."""

    def paths(self) -> Iterable[str]:
        """The path of every note."""

    def read(self, path: str) -> bytes | None:
        """The bytes of one."""


@dataclass(frozen=True, slots=True)
class BrainShelf:
    """The notes of the brain at `root`, as they lie in its work tree."""

    root: Path
    folders: Mapping[str, str]

    def paths(self) -> Iterator[str]:
        """The path of every note. Raises Damaged where a folder cannot be read."""
        return (path for path, _, _ in store.walk(self.root, self.folders))

    def read(self, path: str) -> bytes | None:
        """The bytes of one note; None where there is none. Raises BadNote for what is no readable file."""
        try:
            return store.read_bytes(self.root, path)[0]
        except FileNotFoundError:
            return None


@dataclass(frozen=True, slots=True)
class Held:
    """A note that has the short id of a source: `note` is None where it cannot be read, for the reason `bad`."""

    short: str
    path: str
    data: bytes = b""
    note: Note | None = None
    bad: BadNote | None = None

    def is_from(self, kind: str, path: str) -> bool:
        """Whether it was imported from a path, of whatever root."""
        source = self.note.source if self.note else None
        return source is not None and (source.kind, source.path) == (kind, path)

    def has_root(self, roots: Sequence[Root]) -> bool:
        """Whether the path of its source starts from the folder with these names."""
        return self.note is not None and self.note.extra.get(ROOT) in [root.name for root in roots]


class Imported:
    """The notes of a shelf by the ends of their ids."""

    def __init__(self, shelf: Shelf, folders: Mapping[str, str]) -> None:
        self._shelf = shelf
        self._folders = folders
        self._paths: defaultdict[str, list[str]] = defaultdict(list)
        self._held: dict[str, Held] = {}
        for path in shelf.paths():
            if found := _SHORT_ID.search(path):
                self._paths[found[1]].append(path)

    def at(self, short: str) -> list[Held]:
        """The notes whose ids end so; several where clones imported one source on different days."""
        return [self._read(short, path) for path in self._paths.get(short, ())]

    def of(self, kind: str, roots: Sequence[Root], path: str) -> Held | None:
        """The note that was made of the source at `path` below the folder with these names."""
        for short in dict.fromkeys(short for root in roots for short in short_ids(kind, root, path)):
            for held in self.at(short):
                if held.is_from(kind, path) and held.has_root(roots):
                    return held
        return None

    def kind_of(self, roots: Sequence[Root], path: str) -> str | None:
        """What the source at `path` was taken for before; None where it was never imported."""
        path = unicodedata.normalize("NFC", path)
        return next((kind for kind in KINDS if self.of(kind, roots, path)), None)

    def put(self, short: str, path: str, data: bytes) -> None:
        """Count a note as there that is going to be written."""
        if path not in self._paths[short]:
            self._paths[short].append(path)
        self._held[path] = self._parsed(short, path, data)

    def _read(self, short: str, path: str) -> Held:
        if path not in self._held:
            try:
                self._held[path] = self._parsed(short, path, self._shelf.read(path) or b"")
            except BadNote as error:
                self._held[path] = Held(short, path, bad=error)
        return self._held[path]

    def _parsed(self, short: str, path: str, data: bytes) -> Held:
        kind = naming.kind_of(path, self._folders) or "memory"
        try:
            note, _ = codec.parse(codec.decode(data, path), path, kind)
        except BadNote as error:
            return Held(short, path, data, bad=error)
        return Held(short, path, data, note)


def short_ids(kind: str, root: Root, path: str) -> tuple[str, str]:
    """The short id of a source's note, and the one that it takes where another document has the first."""
    repository = root.repository
    return foreign.short_id(kind, path, repository), foreign.short_id(kind, path, repository, root.name)


def text_hash(text: str) -> str:
    """Part of a digest: line ends do not count, as git changes them from clone to clone."""
    data = text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def made_of(note: Note) -> str:
    """The digest of what a source made of a note, whatever id and root it has."""
    extra = {key: value for key, value in note.extra.items() if key not in (DIGEST, ROOT)}
    return text_hash(codec.render(replace(note, id="", extra=extra)))


def digests(held: Held) -> tuple[str, str]:
    """The digests of the source's text and of the note made of it, as they were at the last import."""
    said = held.note.extra.get(DIGEST) if held.note else None
    text, _, made = said.partition("-") if isinstance(said, str) else ("", "", "")
    return text, made
