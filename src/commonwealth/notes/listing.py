"""What lies in one folder of a brain: its note files with size and time, and the folders below it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commonwealth.errors import Damaged
from commonwealth.notes import naming
from commonwealth.notes.obstacle import Obstacle, in_the_way

_MONTH = re.compile(r"\d{4}-\d{2}")


@dataclass(frozen=True, slots=True)
class Listing:
    """`files` as (path, size, `changed_at`); `folders` as paths; both relative to the brain's root and sorted.

    `obstacles` are what stands in the place of this folder, which then has nothing else, or of a folder in it.
    """

    files: tuple[tuple[str, int, int], ...] = ()
    folders: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()


def list_folder(root: Path, folder: str, folders: Mapping[str, str]) -> Listing:
    """The note files and sub-folders directly in `folder`; nothing where the folder is not there, or where a file
    or a link stands in its place.

    Linked folders, hidden folders and repositories inside the brain are not entered; a file that is itself a link
    is listed, and refused when it is read. Raises Damaged where the folder or the brain cannot be read: an
    unreadable folder is never an empty one.
    """
    place = os.path.join(root, folder)
    files: list[tuple[str, int, int]] = []
    below: list[str] = []
    odd: list[Obstacle] = []
    try:
        if (found := in_the_way(root, folder)) is not None:
            return Listing(obstacles=(found,))
        with os.scandir(place) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name[0] != "." and not os.path.lexists(os.path.join(entry.path, ".git")):
                        below.append(path)
                elif naming.kind_of(path, folders) is not None:
                    _add(files, path, entry)
                elif (entry.is_symlink() or _MONTH.fullmatch(entry.name)) and (found := in_the_way(root, path)):
                    odd.append(found)
    except FileNotFoundError:
        if os.path.isdir(root):
            return Listing()
        raise Damaged(f"The brain's folder {root} is not there.", hint="Check the path.") from None
    except OSError as error:
        raise Damaged(
            f"The folder {place} cannot be read ({error.strerror}).",
            hint="Give yourself the right to read it; what was known of its notes is kept.",
        ) from None
    return Listing(tuple(sorted(files)), tuple(sorted(below)), tuple(odd))


def _add(files: list[tuple[str, int, int]], path: str, entry: os.DirEntry[str]) -> None:
    try:
        state = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # gone since it was listed
    if stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode):
        files.append((path, state.st_size, changed_at(state)))


def changed_at(state: os.stat_result) -> int:
    """When a file changed last, in ns: content or name.

    A copy that keeps the old time, and two files of one checkout that swap their names, show in the second time
    only.
    """
    return max(state.st_mtime_ns, state.st_ctime_ns)
