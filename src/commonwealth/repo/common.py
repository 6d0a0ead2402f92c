"""Where a repository keeps its own files, found by reading them: no git process is started."""

from __future__ import annotations

import os

from commonwealth.errors import Damaged

_POINTER = "gitdir: "
_LIMIT = 1 << 20


def read_text(path: str, limit: int = _LIMIT) -> str | None:
    """The beginning of a small file of git's, or None where there is none or it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):  # a name with a NUL is no file's
        return None


def find_git_dir(root: str) -> str | None:
    """The git folder of the work tree at exactly `root`: `.git`, or where that file points; None without."""
    dot = os.path.join(root, ".git")
    if os.path.lexists(os.path.join(dot, "HEAD")):  # an empty .git folder is no repository to git either
        return dot
    text = read_text(dot, 8192)
    if text is None or not text.startswith(_POINTER):
        return None
    target = os.path.normpath(os.path.join(root, text[len(_POINTER) :].rstrip("\r\n")))
    return target if os.path.lexists(os.path.join(target, "HEAD")) else None


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
