"""Tables of contents and the router of a whole snapshot, reading no more of it than a change asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from commonwealth.curate import secrets
from commonwealth.errors import BadNote
from commonwealth.model import Note
from commonwealth.notes import codec, derived, naming
from commonwealth.repo.content import Snapshot

_LATEST = 15
"""So many of the newest decisions and memories stand in the router."""

_SHORTEST_SECRET = 12
_CLOSED = re.compile(r" \((?:[^()]*; )?(?:superseded|retracted|disputes)")


def derive(
    name: str, folders: Mapping[str, str], paths: frozenset[str] | None, snapshot: Snapshot
) -> dict[str, bytes | None]:
    """The derived files that a change of `paths` touches (None: all), as bytes; None for one that must go.

    A table that is right before the change is brought up to date line by line; one that the change itself
    touches, or that is missing, is made anew from its folder's notes. Either way the text is the same.
    """
    return _Derivation(name, folders, paths, snapshot).files()


def _hides(text: str) -> bool:
    """Whether `text` holds a secret, which no file that we make may repeat; a short one holds none."""
    return len(text) >= _SHORTEST_SECRET and bool(secrets.scan(text, ""))


class _Derivation:
    def __init__(self, name: str, folders: Mapping[str, str], paths: frozenset[str] | None, snapshot: Snapshot) -> None:
        self.name, self.folders, self.paths, self.snapshot = name, folders, paths, snapshot
        self.roots = naming.places(folders)
        self.names: dict[str, tuple[list[str], list[str]]] = {}
        self.made: dict[str, str | None] = {}

    def files(self) -> dict[str, bytes | None]:
        for folder in sorted(self._touched(), key=lambda name: -name.count("/")):
            self.made[f"{folder}/{derived.INDEX}"] = self._table(folder)
        if self.made or self.paths is None or derived.ROUTER in self.paths:
            self.made[derived.ROUTER] = self._router()
        ours = {path: text for path, text in self.made.items() if not self._is_theirs(path)}
        return {path: None if text is None else text.encode() for path, text in ours.items()}

    def _is_theirs(self, path: str) -> bool:
        """Whether a person wrote the file that lies there: then it stays, and is named."""
        data = self.snapshot.read(path)
        if data is None or derived.is_made(data):
            return False
        self.snapshot.warn(derived.not_made(path))
        return True

    def _made_before(self, path: str) -> str | None:
        """The text of a table of ours in the snapshot."""
        data = self.snapshot.read(path)
        return data.decode("utf-8", "replace") if data is not None and derived.is_made(data) else None

    def _touched(self) -> set[str]:
        """The folders whose tables a change touches, with those above them up to their kind's."""
        if self.paths is None:
            return {below for folder in self.roots for below in self._all_below(folder)}
        touched: set[str] = set()
        for path in self.paths:
            kind, folder = self._kind(path), path.rpartition("/")[0]
            while kind is not None and any(folder == root or folder.startswith(f"{root}/") for root in self.roots):
                if not _hides(folder):
                    touched.add(folder)
                folder = folder.rpartition("/")[0]
        return touched

    def _all_below(self, folder: str) -> Iterable[str]:
        yield folder
        for name in self._listed(folder)[1]:
            yield from self._all_below(name)

    def _kind(self, path: str) -> str | None:
        """The kind of the folder of a note or of a table of contents."""
        folder, _, name = path.rpartition("/")
        return naming.kind_of(f"{folder}/a.md" if name == derived.INDEX else path, self.folders)

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        """The notes and the sub-folders directly in `folder`, as paths."""
        if folder not in self.names:
            notes: list[str] = []
            below: list[str] = []
            holds = naming.kind_of(f"{folder}/a.md", self.folders) is not None
            for name, is_folder in sorted(self.snapshot.list(folder).items()):
                path = f"{folder}/{name}"
                if is_folder:
                    if path in self.roots or name.startswith("."):
                        continue
                    if _hides(name):
                        self.snapshot.warn(f"A folder in {folder} has a secret in its name: no table lists it.")
                    else:
                        below.append(path)
                elif holds and naming.is_note_name(name, top=folder in self.roots):
                    notes.append(path)
            self.names[folder] = notes, below
        return self.names[folder]

    def _count(self, folder: str) -> int:
        notes, below = self._listed(folder)
        return len(notes) + sum(map(self._count, below))

    def _table(self, folder: str) -> str | None:
        """The `INDEX.md` of one folder; None where it has no notes."""
        notes, below = self._listed(folder)
        kind = naming.kind_of(f"{folder}/a.md", self.folders) or "memory"
        counts = {path[len(folder) + 1 :]: self._count(path) for path in below}
        if not notes and not any(counts.values()):
            return None
        lines = self._note_lines(folder, notes)
        if any(counts.values()):
            return derived.kind_index(kind, folder, counts, lines)
        return derived.lines_index(kind, folder, lines)

    def _note_lines(self, folder: str, notes: Iterable[str]) -> Iterable[str]:
        """The lines of the notes directly in a folder: read from its table as far as it is known to be right."""
        path = f"{folder}/{derived.INDEX}"
        known = self._made_before(path) if self.paths is not None and path not in self.paths else None
        if known is None or self.paths is None:
            return [line for _, line in self._lines_of(notes)]
        changed = [name for name in self.paths if name.rpartition("/")[0] == folder and self._kind(name)]
        lines: dict[str, str | None] = {name.rpartition("/")[2]: None for name in changed}
        return derived.updated_lines(known, lines | dict(self._lines_of(changed)))

    def _lines_of(self, paths: Iterable[str]) -> Iterable[tuple[str, str]]:
        """File name and index line of every note that can be read."""
        for path in paths:
            note, name = self._note(path), path.rpartition("/")[2]
            if note is None:
                continue
            line = derived.index_line(note, name)
            if not _hides(f"{name}\n{line}"):
                yield name, line
                continue
            place = path.rpartition("/")[0] if _hides(name) else path
            what = "A note in" if _hides(name) else "The note"
            self.snapshot.warn(f"{what} {place} has a secret in its name, title or summary: no table lists it.")

    def _note(self, path: str) -> Note | None:
        data = self.snapshot.read(path)
        if data is None:
            return None
        try:
            return codec.parse(codec.decode(data, path), path, naming.kind_of(path, self.folders) or "memory")[0]
        except BadNote:
            return None  # it stays in the brain and is reported by name; a table lists what can be read

    def _router(self) -> str:
        counts = {kind: self._count(folder) for kind, folder in self.folders.items()}
        others = [
            (kind, folder, self._count(folder))
            for folder, kind in self.roots.items()
            if self.folders.get(kind) != folder and self._count(folder)
        ]
        latest = [
            line
            for kind in ("decision", "memory")
            for folder in (self.folders[kind], *(place for own, place, _ in others if own == kind))
            for line in self._latest(folder)
        ]
        return derived.router(self.name, self.folders, counts, latest, others=others)

    def _latest(self, folder: str) -> list[str]:
        """The newest notes below `folder` that are open, as lines of the router."""
        lines: list[str] = []
        for place in self._newest_first(folder):
            own = sorted(self._table_lines(place).items(), reverse=True)
            lines += [derived.moved_line(line, place) for _, line in own if not _CLOSED.match(derived.after_link(line))]
            if len(lines) >= _LATEST:
                break
        return lines[:_LATEST]

    def _newest_first(self, folder: str) -> Iterable[str]:
        for below in reversed(self._listed(folder)[1]):
            yield from self._newest_first(below)
        yield folder

    def _table_lines(self, folder: str) -> Mapping[str, str]:
        path = f"{folder}/{derived.INDEX}"
        if path in self.made:
            table = self.made[path]
        else:
            table = self._made_before(path)
            if table is None and self.snapshot.read(path) is not None:
                table = self._table(folder)  # a person's file is in its place
        return derived.index_lines(table or "")
