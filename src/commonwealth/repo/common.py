"""Where a repository keeps its own files, found by reading them: no git process is started."""

from __future__ import annotations

import errno
import os
import re
import stat

from commonwealth.errors import Damaged

NO_INDEX = "index.none"
"""The name of no file in a git folder: as `GIT_INDEX_FILE`, git takes it for an index that holds nothing."""

_POINTER = "gitdir: "
_LIMIT = 1 << 20
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)


def read_text(path: str, limit: int = _LIMIT) -> str | None:
    """The beginning of a small file of git's, or None where there is none or it cannot be read."""
    try:
        return read_bytes(path, limit).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):  # a name with a NUL is no file's
        return None


def read_bytes(path: str, limit: int = -1) -> bytes:
    """The first `limit` bytes of a regular file (-1: all). Raises OSError, also for a pipe or a device: reading one
    could wait for ever."""
    fd = os.open(path, os.O_RDONLY | _NO_WAIT)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return file.read(limit)


def git_at(root: str | os.PathLike[str]) -> str:
    """How a hint begins a git command about the repository at `root`: it works from wherever a person stands."""
    place = str(root)
    if not re.fullmatch(r"[\w@%+=:,./\\-]+", place, re.ASCII):
        place = "'" + place.replace("'", "'\"'\"'") + "'"
    return f"git -C {place}"


def find_git_dir(root: str) -> str | None:
    """The git folder of the work tree at exactly `root`: `.git`, or where that file points; None without."""
    dot = os.path.join(root, ".git")
    if _has_head(dot):  # an empty .git folder is no repository to git either
        return dot
    text = read_text(dot, 8192)
    if text is None or not text.startswith(_POINTER):
        return None
    target = os.path.normpath(os.path.join(root, text[len(_POINTER) :].rstrip("\r\n")))
    return target if _has_head(target) else None


def refuse_pipes(root: str) -> None:
    """Raise Damaged where a pipe or a device is in the place of what every git reads first: it would wait for ever."""
    for name in ("HEAD", "config"):
        place = os.path.join(root, ".git", name)
        try:
            mode = os.stat(place).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise Damaged(f"{place} is no file.", hint="Move it away; `brain doctor --fix` then mends what is missing.")


def _has_head(folder: str) -> bool:
    """Whether git could read a HEAD there; before a pipe or a device it would wait for ever."""
    place = os.path.join(folder, "HEAD")
    try:
        return stat.S_ISREG(os.stat(place).st_mode)
    except OSError:
        return os.path.lexists(place)  # a link to a branch without commits, as an old git wrote it


def git_dir(root: str | os.PathLike[str]) -> str:
    """The absolute git folder of the repository whose work tree is `root` (a worktree's or submodule's own).

    Raises Damaged where `root` is not the root of a repository.
    """
    folder = os.path.realpath(root)
    found = find_git_dir(folder)
    if found is None:
        raise Damaged(
            f"{folder} is not the root of a git repository.",
            hint="Check the path. If notes are there, `brain doctor --fix` mends what git stumbles over.",
        )
    return found


def common_dir(git_folder: str) -> str:
    """The folder that all worktrees of a repository share: config, packed-refs and branches lie there."""
    text = read_text(os.path.join(git_folder, "commondir"), 8192)
    if text is None:
        return git_folder
    return os.path.normpath(os.path.join(git_folder, text.rstrip("\r\n")))
