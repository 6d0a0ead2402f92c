"""git's merge driver: two versions of a note become one while a person merges by hand, as a sync would unite them.

It works from what git hands over and the brain's committed config alone: no registry, no network, no git process.
"""

from __future__ import annotations

import os
from contextlib import suppress

from commonwealth import atomic, config
from commonwealth.errors import Damaged, Refused
from commonwealth.notes import naming
from commonwealth.notes.merge import merge3
from commonwealth.repo import workfiles

_LARGEST = 1 << 20


def merge_note(root: str, base: str, ours: str, theirs: str, path: str) -> tuple[str, ...] | None:
    """Unite the versions of the note `path` in three files (git's %O, %A, %B) and leave the result in `ours`; what a
    person has to know, or None where the path is no note's.

    `root` is the work tree. After a true conflict the other version lies beside the note as a file of its own, which
    the next sync commits, so the merge itself goes on. Raises Refused for files too large for a note, OSError; then, as
    for other files, nothing was written, and git merges by lines.
    """
    if naming.kind_of(path, _folders(root)) is None or path.endswith("/INDEX.md"):
        return None
    old, mine, other = (_read(os.path.join(root, name)) for name in (base, ours, theirs))
    merged = merge3(old or None, mine, other, path)
    if merged.sibling is not None:
        beside, text = merged.sibling
        with suppress(workfiles.Changed):  # it was made before, from the same two versions
            workfiles.replace(root, beside, _bytes(text), None)
    atomic.replace(os.path.join(root, ours), _bytes(merged.text))
    return merged.warnings


def answer(root: str, ours: str) -> str:
    """What the driver's line in a clone's configuration waits for after a merge: our word, and the names that git has
    for the bytes of `ours` (by SHA-1 and by SHA-256), which no other program called `brain` says."""
    with open(os.path.join(root, ours), "rb") as file:
        data = file.read()
    return f"united {workfiles.blob_id(data)} {workfiles.blob_id(data, 64)} ."


def _folders(root: str) -> dict[str, str]:
    text = (workfiles.read(root, config.CONFIG_PATH) or b"").decode("utf-8-sig", "replace")
    try:
        return dict(config.brain_config(text, config.CONFIG_PATH).folders)
    except Damaged:  # one that holds conflict markers itself, for one
        return dict(config.brain_config("", config.CONFIG_PATH).folders)


def _read(place: str) -> str:
    with open(place, "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise Refused(f"A version is larger than {_LARGEST} bytes.")
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
