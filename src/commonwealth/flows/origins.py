"""Who wrote the versions of a note in a conflict, and from which commit a version comes that was kept aside.

A version that is kept aside is named from its text, so the commit that held this text is known by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from commonwealth.errors import BadNote
from commonwealth.notes import codec, naming, sibling
from commonwealth.repo import history
from commonwealth.repo.git import Git
from commonwealth.repo.history import Version
from commonwealth.repo.objects import Objects

_LARGEST = 1 << 20
_SEARCHED = 200
"""Versions of one note that are looked through."""
_ASKED = 300
"""Files whose history one list of conflicts reads: what is beyond is told by its author field."""
_FOLLOWED = 20
"""Of these, files that are followed through renames."""
_DEPTH = 8


def read(objects: Objects, name: str) -> bytes | None:
    """The first bytes of a file at a commit (`commit:path`), enough for any note; None where there is none."""
    info = objects.info(name)
    if info is None or info[1] != "blob":
        return None
    return objects.beginning(info[0], _LARGEST)


def origin(objects: Objects, versions: Iterable[Version], kept_as: str) -> Version | None:
    """Which of the versions of a note is the one that lives on under the id `kept_as`; None where none is."""
    wanted = naming.id_key(kept_as)
    for _, version in zip(range(_SEARCHED), versions, strict=False):
        data = None if version.deleted else read(objects, f"{version.commit}:{version.path}")
        if data is None:
            continue
        try:
            text = codec.decode(data, version.path)
        except BadNote:
            continue
        if naming.id_key(sibling.named(text, version.path)) == wanted:
            return version
    return None


@dataclass(frozen=True, slots=True)
class Asked:
    """One note of a conflict by id and path; `of` is where the note lies that it is another version of."""

    id: str
    path: str
    of: str | None = None


def writers(git: Git, asked: Sequence[Sequence[Asked]]) -> dict[str, str]:
    """By path, the author of the commit that brought what the note says, for the notes of these conflicts.

    What a merge united has the authors of both sides, but for a side that is kept aside. A note that is not committed,
    or is behind the bounds, is not among them.
    """
    if not asked:
        return {}
    paths = list(dict.fromkeys(path for notes in asked for note in notes for path in (note.path, note.of) if path))
    with Objects(git) as objects:
        work = _Work(git, objects, history.at_paths(git, paths[:_ASKED]))
        found: dict[str, str] = {}
        for notes in asked:
            found.update(work.of_conflict(notes))
    return found


@dataclass(slots=True)
class _Work:
    git: Git
    objects: Objects
    known: dict[str, list[Version]]
    followed: set[str] = field(default_factory=set)
    blobs: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def of_conflict(self, notes: Sequence[Asked]) -> Mapping[str, str]:
        origins = {note.path: self.origin(note) for note in notes}
        aside = {self.blob(found.commit, found.path) for found in origins.values() if found}
        found: dict[str, str] = {}
        for note in notes:
            names = self.names(note, origins[note.path], aside)
            if names:
                found[note.path] = ", ".join(dict.fromkeys(names))
        return found

    def origin(self, note: Asked) -> Version | None:
        if note.of is None or note.of == note.path:
            return None
        return origin(self.objects, self.known.get(note.of, ()), note.id) or origin(
            self.objects, self.follow(note.of), note.id
        )

    def follow(self, path: str) -> Sequence[Version]:
        """The versions of a file through renames."""
        if path in self.known and path not in self.followed and len(self.followed) < _FOLLOWED:
            self.followed.add(path)
            self.known[path] = history.versions(self.git, path)
        return self.known.get(path, ())

    def names(self, note: Asked, came_from: Version | None, aside: set[str | None]) -> Sequence[str]:
        """Who wrote what a note says now: for a version kept aside and not edited since, who wrote it as the note."""
        versions: Sequence[Version] = self.known.get(note.path, ())
        now = self.blob("HEAD", note.path)
        first = next((version for version in reversed(versions) if not version.deleted), None)
        if first is None or now is None:
            return ()
        if self.blob(first.commit, first.path) == now and came_from is not None and note.of is not None:
            return self.by(came_from, self.known.get(note.of, ()), set())
        if note.of == note.path and self.blob(first.commit, first.path) == now:
            versions = self.follow(note.path)  # it began with this text: it may have been moved here
        brought = self.with_text(versions, now)
        return self.by(brought, versions, aside) if brought else ()

    def by(self, version: Version, versions: Sequence[Version], aside: set[str | None], depth: int = 0) -> list[str]:
        """The author of a version; of one that a merge made, those of what it was made from."""
        names: list[str] = []
        for parent in version.parents if version.merged and depth < _DEPTH else ():
            blobs = (self.blob(parent, path) for path in dict.fromkeys((version.path, *(v.path for v in versions))))
            text = next((blob for blob in blobs if blob), None)
            side = self.with_text(versions, text) if text and text not in aside else None
            if side is not None and side.commit != version.commit:
                names += self.by(side, versions, aside, depth + 1)
        return names or [version.author]

    def with_text(self, versions: Sequence[Version], blob: str) -> Version | None:
        """The newest version with this text."""
        return next((one for one in versions if not one.deleted and self.blob(one.commit, one.path) == blob), None)

    def blob(self, commit: str, path: str) -> str | None:
        asked = commit, path  # a note may be in many conflicts: git is asked once
        if asked not in self.blobs:
            info = self.objects.info(f"{commit}:{path}")
            self.blobs[asked] = info[0] if info is not None and info[1] == "blob" else None
        return self.blobs[asked]
