"""How a note is attached to a file of a code repository: by its path, a folder or pattern above it, its component."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from commonwealth.index.values import clean_path, folded
from commonwealth.model import Note

_FILE, _END, _ABOVE, _COMPONENT, _BESIDE, _ALSO = 1.0, 0.9, 0.85, 0.7, 0.4, 0.35
_LIKE_A_FILE = re.compile(r".+\.[a-z][a-z0-9]{0,7}")
_SIGNS = re.compile(r"[-_.\s]+")


class Attachment(NamedTuple):
    """How firmly a note is attached (0 to 1), and by what."""

    worth: float
    why: str = ""


NONE = Attachment(0.0)


def attachment(note: Note, path: str) -> Attachment:
    """How a note is attached to the file at `path`, from the repository's root: the firmest of the ways."""
    low = clean_path(path).casefold()
    files = [clean_path(name) for name in (*note.provenance.files, *note.files)]
    ways = [_by_path(name, low) for name in files]
    ways.append(_by_component(note, low, alone=not files))
    return max(ways, key=lambda way: way.worth)


def _by_path(name: str, path: str) -> Attachment:
    own = name.casefold()
    if not own or own == path:
        return Attachment(_FILE, f"file {name}") if own else NONE
    if "*" in own or "?" in own:
        from commonwealth.flows.overlaps import touching  # noqa: PLC0415  # few notes name a pattern

        return Attachment(_ABOVE, f"pattern {name}") if touching([name])(path) else NONE
    if path.endswith("/" + own) or own.endswith("/" + path):
        return Attachment(_END if "/" in own and "/" in path else _COMPONENT, f"file {name}")
    if path.startswith(own + "/") and not _LIKE_A_FILE.fullmatch(own.rpartition("/")[2]):
        return Attachment(_ABOVE, f"folder {name}")
    folder, slash, _ = path.rpartition("/")
    beside = bool(slash) and own.rpartition("/")[0] == folder
    return Attachment(_BESIDE, f"file {name} in the same folder") if beside else NONE


def _by_component(note: Note, path: str, *, alone: bool) -> Attachment:
    """By a folder or a name of the path that is one of the note's components; a note that names other files of it is
    about those."""
    there = set(names_of([path]))
    for name in note.components:
        if _SIGNS.sub("-", folded(name)) in there:
            return Attachment(_COMPONENT if alone else _ALSO, f"component {name}")
    return NONE


def names_of(paths: Iterable[str]) -> list[str]:
    """The components that the paths may belong to: the names of their folders, and their own without ending."""
    found: dict[str, None] = {}
    for path in paths:
        *folders, name = clean_path(path).casefold().split("/")
        stem = name.rpartition(".")[0] or name
        found |= dict.fromkeys(_SIGNS.sub("-", part) for part in (*folders, stem) if part)
    return list(found)
