"""The other worktrees of a repository: a branch that one of them has checked out is not for us to move.

Its index and files would stay behind, and its next commit would take back what came in. Found by reading git's
files: where there is one worktree only, a look for a folder is all that it costs.
"""

from __future__ import annotations

import contextlib
import os
import re

from commonwealth.errors import Refused
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.git import Git

_BARE = re.compile(r"^\s*bare\s*(?:$|=\s*(?:true|yes|on|1)\s*$)", re.IGNORECASE | re.MULTILINE)


def refuse_elsewhere(git: Git, branch: str) -> None:
    """Raise Refused, naming the folder, where another worktree of this repository is on `branch`."""
    place = checked_out_at(git, branch)
    if place is None:
        return
    raise Refused(
        f"The branch {branch} of {git.root} is checked out in {place}, another worktree of the same repository: "
        "a write here would pull it away from under those files.",
        hint=f"Work there: `--brain {place}`. Or take that folder off the branch: `{git_at(place)} switch --detach`.",
    )


def checked_out_at(git: Git, branch: str) -> str | None:
    """The folder of another worktree that is on `branch`, or rebases it; None without."""
    own, common = os.path.realpath(git.git_dir), os.path.realpath(git.common_dir)
    folders: list[str] = []
    with contextlib.suppress(OSError):
        folders = [os.path.join(common, "worktrees", name) for name in sorted(os.listdir(f"{common}/worktrees"))]
    if own != common and not _is_bare(common):
        folders.insert(0, common)
    for folder in folders:
        if os.path.realpath(folder) != own and _is_on(git, folder, f"refs/heads/{branch}"):
            place = _work_tree(folder, common)
            if place is not None:
                return place
    return None


def _is_bare(common: str) -> bool:
    return any(_BARE.search(read_text(os.path.join(common, name)) or "") for name in ("config", "config.worktree"))


def _is_on(git: Git, folder: str, ref: str) -> bool:
    head = (read_text(os.path.join(folder, "HEAD"), 1024) or "").strip()
    if head == "ref: refs/heads/.invalid":  # refs in a table: only git can read them
        head = "ref: " + git.run(f"--git-dir={folder}", "symbolic-ref", "-q", "HEAD", check=False).decode().strip()
    rebased = [read_text(os.path.join(folder, name, "head-name"), 1024) for name in ("rebase-merge", "rebase-apply")]
    return head == f"ref: {ref}" or any((text or "").strip() == ref for text in rebased)


def _work_tree(folder: str, common: str) -> str | None:
    """The folder in which the files of a worktree lie; None where it was deleted, and nobody said that it is away."""
    if folder == common:
        return os.path.dirname(common) if os.path.basename(common) == ".git" else common
    pointer = (read_text(os.path.join(folder, "gitdir"), 8192) or "").strip()
    place = os.path.normpath(os.path.join(folder, pointer))
    if not pointer or not (os.path.lexists(place) or os.path.lexists(os.path.join(folder, "locked"))):
        return None
    return os.path.dirname(place)
