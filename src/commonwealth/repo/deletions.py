"""Deletions by hand in bulk: a slip of the hand or of a tool, until a person says that they are meant."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection

from commonwealth.repo.common import git_at
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields

MOST_DELETIONS, MOST_DELETED_SHARE = 20, 0.1
"""More hand deletions than this at once, or more than this share of all notes, wait for a person's word."""

_SHOWN = 3
_TYPED = 5
"""So many paths are still written out in a command."""


def in_bulk(git: Git, gone: Collection[str], arrived: Collection[str], content: Content) -> frozenset[str]:
    """Those of the paths `gone` from the work tree that are too many to be committed unasked, else none.

    A note that has `arrived` elsewhere under its own name was moved. Counts the notes of HEAD where that decides.
    """
    names = {os.path.basename(path) for path in arrived}
    lost = frozenset(path for path in gone if os.path.basename(path) not in names)
    if len(lost) < 2:
        return frozenset()
    if len(lost) <= MOST_DELETIONS:
        listed = fields(git.run("ls-tree", "-r", "-z", "--name-only", "HEAD"))
        if len(lost) <= MOST_DELETED_SHARE * sum(content.owns(path) is not None for path in listed):
            return frozenset()
    return lost


def counted(lost: Collection[str]) -> str:
    """What waits, and why. `lost` are the paths that `in_bulk` has found."""
    first = sorted(lost)[:_SHOWN]
    more = f" and {len(lost) - len(first)} more" if len(lost) > len(first) else ""
    return f"{len(lost)} notes were deleted by hand ({', '.join(first)}{more}): so many at once wait for your word."


def told(root: str, lost: Collection[str]) -> str:
    """`counted`, with the two ways on."""
    ways = f"`brain sync --accept-deletions` commits that; {restore(root, lost)} brings them back."
    return f"{counted(lost)} {ways}"


def restore(root: str, lost: Collection[str]) -> str:
    """The command that brings deleted files back, and touches no other file."""
    git = git_at(root)
    back = "restore --source=HEAD --staged --worktree"
    if len(lost) <= _TYPED:
        return f"`{git} {back} -- {' '.join(map(shlex.quote, sorted(lost)))}`"
    deleted = "diff HEAD --no-renames --diff-filter=D --name-only -z"
    return f"`{git} {deleted} | {git} {back} --pathspec-from-file=- --pathspec-file-nul`"
