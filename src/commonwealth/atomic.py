"""Files that are written whole or not at all, whenever the process or the power goes.

The new bytes lie durable under a temporary name in the same folder before they are renamed over the old ones.
Everything here raises OSError as the system does; what was there is then still there.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable

TEMPORARY = re.compile(r"\.commonwealth-[0-9a-f]{16}\.tmp")
"""The names of unfinished files; one that no writer holds is debris of a crash."""
TEMPORARY_PATTERN = ".commonwealth-*.tmp"
"""The same for git's ignore files: somebody's `git add` must not take one along."""

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def replace(place: str | os.PathLike[str], data: bytes) -> None:
    """Put `data` at `place`; folders that are missing are made, the permissions of an old file stay.

    A link at `place` is replaced, not followed.
    """
    folder = os.path.dirname(os.path.abspath(place))
    make_folders(folder)
    temporary = write_beside(folder, data, mode=lambda usual: _mode(place, usual))
    try:
        os.replace(temporary, place)
    except BaseException:
        drop(temporary)
        raise
    flush_folder(folder)


def _mode(place: str | os.PathLike[str], usual: int) -> int:
    try:
        found = os.lstat(place).st_mode
    except OSError:
        return usual
    return found & 0o777 if stat.S_ISREG(found) else usual


def write_beside(
    folder: str, data: bytes, *, mode: Callable[[int], int] = lambda usual: usual, flush: bool = True
) -> str:
    """A new file in `folder` under a temporary name that holds `data`, on the disk unless `flush` is off.

    `mode` makes the permissions of those that a new file usually gets.
    """
    temporary = os.path.join(folder, f".commonwealth-{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, _FLAGS, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if os.name != "nt":
                usual = stat.S_IMODE(os.fstat(descriptor).st_mode)
                if (wanted := mode(usual)) != usual:
                    os.fchmod(descriptor, wanted)
            if flush:
                os.fsync(descriptor)
    except BaseException:
        drop(temporary)
        raise
    return temporary


def drop(temporary: str) -> None:
    """Remove an unfinished file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)


def make_folders(folder: str, top: str = "") -> None:
    """Make `folder` and what is missing above it, durably; `top` itself is never made."""
    if folder == top or os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above != folder:
        make_folders(above, top)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
        flush_folder(above)


def flush_folder(folder: str) -> None:
    """Make the names in a folder durable, where a system can do that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
