"""Files in the places of derived ones: those that we made are put back, those that a person wrote stay."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from commonwealth.errors import Damaged, Refused
from commonwealth.repo import workfiles
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.kept import kept_aside, read_bases
from commonwealth.repo.move import ABSENT, NOT_MADE
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, blob, matches, set_index
from commonwealth.repo.tree import Entry

Derived = tuple[str, Entry | None]
"""The path of a derived file, and its entry of the last commit."""


def part_by_hand(
    git: Git, derived: Sequence[Derived], content: Content, held: list[tuple[str, str]]
) -> tuple[list[Derived], list[Derived]]:
    """The files that are made, and those in the place of one whose committed version a person wrote.

    One that is a person's and new is held; one of ours that a person has written over is made again.
    """
    made: list[Derived] = []
    by_hand: list[Derived] = []
    if not derived:
        return made, by_hand
    bases = read_bases(git)
    with Objects(git) as objects:
        for path, head in derived:
            if head is not None and head[0] in REGULAR and not content.is_made(blob(objects, head) or b""):
                by_hand.append((path, head))
                continue
            try:
                data = workfiles.read(git.root, path)
            except (Refused, Damaged):
                data = None
            new = head is None or bases.get(path) == ""  # it was there before ours came in
            if new and data is not None and not content.is_made(data):
                held.append((path, f"it {NOT_MADE}"))
            else:
                made.append((path, head))
    return made, by_hand


def put_back_made(git: Git, derived: Sequence[Derived]) -> list[str]:
    """Derived files are made, not edited: what a person wrote into one is kept aside under a private ref."""
    warnings: list[str] = []
    clean: list[str] = []
    if not derived:
        return warnings
    with Objects(git) as objects:
        for path, head in derived:
            if not _is_file_or_gone(git.root, path):
                warnings.append(f"{path} is no file, though that is the place of a derived one: move it away.")
                continue
            if (cause := workfiles.obstacle(git.root, path)) is not None:
                warnings.append(f"{path} is {ABSENT}: {cause}.")
                continue
            data = workfiles.read(git.root, path)
            if head is None:
                continue  # the next refresh makes it, or it is nobody's
            clean.append(path)
            if matches(data, head):
                continue
            if data is not None:
                warnings.append(kept_aside(git, path, data))
            workfiles.replace(git.root, path, blob(objects, head) or b"", data)
    if clean:
        set_index(git, clean, {})
    return warnings


def _is_file_or_gone(root: str, path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(workfiles.locate(root, path)).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except Refused:
        return False
