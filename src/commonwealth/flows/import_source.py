"""The files of a folder that is imported, each with the folder that its path is relative to.

That is the folder which is imported, unless the file was imported before from one above or below it: then its path
stays as it was, so that one file, a part of a folder and the whole make the same notes.
"""

from __future__ import annotations

import itertools
import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.flows.import_roots import Root, Surroundings, first_seen, surroundings
from commonwealth.notes import store

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_NEIGHBOURS = 5_000
"""Files that are looked at around one that is imported alone, for what they say about it."""

IsKnown = Callable[[tuple[Root, ...], str], bool]
"""Whether a note was imported from a path before that starts from a folder with these names."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that did not become a note, and why. Neither holds a secret."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """Files below one folder: those to read as markdown with their bytes, and the others with a reason.

    `roots` names the folder; `seen` is the time at which each path first came into the repository's history. Only the
    files in `wanted` are imported, where that is not None; the others are there for what they say about them. `base` is
    the folder and `start` the one that is imported, as real paths.
    """

    files: tuple[tuple[str, bytes], ...]
    skipped: tuple[Skipped, ...] = ()
    roots: tuple[Root, ...] = ()
    seen: Mapping[str, str] = field(default_factory=dict)
    wanted: frozenset[str] | None = None
    base: str = ""
    start: str = ""

    def shown(self, path: str) -> str:
        """The path of a file as seen from the folder that is imported."""
        return path if self.base == self.start else _relative(os.path.join(self.base, path), self.start)


def gather(path: Path, *, key: str, is_known: IsKnown) -> list[Gathered]:
    """Read the folder (or the one file) at `path`. Links and hidden files and folders are not followed.

    `key` is the brain's. Raises Refused where there is neither folder nor file.
    """
    if not (path.is_file() or path.is_dir()):
        raise Refused(f"There is no folder or file at {path}.", hint="Check the path.")
    alone = path.is_file()
    start = os.path.realpath(path.parent if alone else path)
    skipped: list[Skipped] = []
    names = [path.name] if alone else list(_walk(start, "", skipped))
    around = surroundings(start, key)
    groups = _by_base(start, names, around, is_known, alone=alone)
    found = [_group(start, base, inside, around, alone=alone) for base, inside in groups.items()]
    return [Gathered((), tuple(skipped)), *found] if skipped else found


def _by_base(
    start: str, names: Sequence[str], around: Surroundings, is_known: IsKnown, *, alone: bool
) -> Mapping[str, list[str]]:
    """The files (relative to `start`) by the folder that their paths are relative to."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        folders[name.rpartition("/")[0]].append(name)
    bases: dict[str, str] = {}
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for folder in sorted(folders, key=lambda name: (name.count("/"), name)):
        place = os.path.join(start, *folder.split("/")) if folder else start
        beside = [entry for entry in _entries(place) if _is_markdown(entry)] if alone else []
        files = [os.path.join(start, *name.split("/")) for name in folders[folder]]
        files += [os.path.join(place, name) for name in beside]
        candidates = dict.fromkeys((start, *around.above(start), *_until(around.above(place), start)))
        known = (base for base in candidates if _any_known(base, files, around, is_known))
        base = bases[folder] = next(known, None) or _inherited(folder, bases) or start
        groups[base] += folders[folder]
    return groups


def _until(folders: Iterable[str], end: str) -> Iterator[str]:
    return itertools.takewhile(lambda folder: folder != end, folders)


def _inherited(folder: str, bases: Mapping[str, str]) -> str | None:
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in bases:
            return bases[folder]
    return None


def _any_known(base: str, files: Sequence[str], around: Surroundings, is_known: IsKnown) -> bool:
    roots = around.roots(base)
    return any(is_known(roots, _relative(file, base)) for file in files)


def _group(start: str, base: str, names: Sequence[str], around: Surroundings, *, alone: bool) -> Gathered:
    """The files `names` (relative to `start`) as files of the folder `base`."""
    wanted = [_relative(os.path.join(start, name), base) for name in names]
    whole = not alone and len(base) >= len(start)
    files, skipped = _read(base, wanted)
    if not whole:
        mine = set(wanted)
        others = [name for name in _neighbours(base, start) if name not in mine and _is_markdown(name)]
        files += _read(base, others)[0]
    return Gathered(
        tuple(files),
        tuple(Skipped(_relative(os.path.join(base, item.path), start), item.reason) for item in skipped),
        around.roots(base),
        first_seen(around, base),
        None if whole else frozenset(unicodedata.normalize("NFC", name) for name in wanted),
        base,
        start,
    )


def _relative(path: str, base: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")


def _neighbours(base: str, place: str) -> list[str]:
    """The files below `base`, or only those in the folder `place` where they are too many to look at."""
    names = list(itertools.islice(_walk(base, "", []), _NEIGHBOURS + 1))
    if len(names) <= _NEIGHBOURS:
        return names
    return [_relative(os.path.join(place, name), base) for name in _entries(place)]


def _entries(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in found if not _passed_over(entry) and entry.is_file())
    except OSError:
        return []


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(_MARKDOWN)


def _read(base: str, names: Iterable[str]) -> tuple[list[tuple[str, bytes]], list[Skipped]]:
    files: list[tuple[str, bytes]] = []
    skipped: list[Skipped] = []
    for name in names:
        if not _is_markdown(name):
            skipped.append(Skipped(name, "not a markdown file"))
            continue
        try:
            files.append((name, store.read_bytes(Path(base), name)[0]))
        except (BadNote, Refused, FileNotFoundError) as error:
            skipped.append(Skipped(name, reason_of(error)))
    return files, skipped


def _walk(root: str, folder: str, skipped: list[Skipped]) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(root, folder)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        skipped.append(Skipped(f"{folder}/", f"the folder cannot be read ({error.strerror})"))
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if reason := _passed_over(entry):
            if entry.name != ".git":
                skipped.append(Skipped(_shown(path) + ("/" if is_folder else ""), reason))
        elif is_folder:
            yield from _walk(root, path, skipped)
        else:
            yield path


def _passed_over(entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "a symbolic link, which is not followed"
    if entry.name.startswith("."):
        return "hidden"
    if not entry.is_dir() and not entry.is_file():
        return "not a regular file"
    try:
        entry.name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode("utf-8")


def reason_of(error: Exception) -> str:
    """Why a file was not read, in one clause with its line."""
    if isinstance(error, BadNote):
        return f"line {error.line}: {error.cause}" if error.line else error.cause
    return error.message if isinstance(error, BrainError) else "it is gone"
