"""Files that a git which was killed has laid out halfway: they are no edits, and what is missing was not deleted.

git locks its index for as long as it changes files, then HEAD, and a killed one leaves the lock behind. While it
stands, a file that is gone, that is another version of itself from some branch, or that holds conflict markers, is
git's work and goes back to HEAD's version.
Without this, half a checkout of an old commit would be committed as a person's edits, and take back newer facts.
"""

from __future__ import annotations

import contextlib
import os
from itertools import pairwise

from commonwealth.errors import BrainError
from commonwealth.repo import markers, workfiles
from commonwealth.repo.common import git_at
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import has_dead_lock, head_commit, state_file
from commonwealth.repo.kept import keep_bytes
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import blob, entries_at, matches
from commonwealth.repo.tree import Entry


def put_back(git: Git, content: Content, patience: float) -> list[str]:
    """Put such files back, if index or HEAD is locked by a process that is certainly gone; what was done, in sentences.

    The lock stays for the caller to remove, and the index to mend: killed before, the next start does this again.
    """
    head = head_commit(git) if has_dead_lock(git, patience) else None
    if head is None:
        return []
    paths = [path for path in _differing(git, head, content) if content.owns(path)]
    if not paths:
        return []
    heads, versions = entries_at(git, head, paths), _versions(git, paths)
    told: list[str] = []
    with Objects(git) as objects:
        for path, entry in heads.items():
            with contextlib.suppress(BrainError):
                told += _put_back(git, objects, path, entry, versions.get(path, set()))
    return [f"{len(told)} notes that a killed git had laid out halfway were put back.", *told] if told else []


def _put_back(git: Git, objects: Objects, path: str, entry: Entry, versions: set[str]) -> list[str]:
    """Give a file HEAD's version if what lies there is git's work; what was done, in a sentence."""
    current = workfiles.read(git.root, path)
    if matches(current, entry):
        return []
    show, what = f"`{git_at(git.root)} cat-file -p", "was missing and is back."
    if current is not None:
        name = workfiles.blob_id(current, len(entry[1]))
        what = f"held another committed version and was put back: {show} {name[:12]}` has that version."
        if name not in versions:
            if markers.split(current) is None:
                return []
            what = f"held git's conflict markers and was put back: {show} {keep_bytes(git, current)[:12]}` has them."
    workfiles.replace(git.root, path, blob(objects, entry) or b"", current)
    return [f"{path} {what}"]


def _differing(git: Git, head: str, content: Content) -> list[str]:
    """The watched files that differ from a commit, whatever state git's own index is in."""
    place = state_file(git, f"index-{os.urandom(8).hex()}")
    env = {"GIT_INDEX_FILE": place}
    try:
        git.call("read-tree", head, env=env)
        git.call("update-index", "-q", "--refresh", env=env)
        return fields(git.call("diff-files", "-z", "--name-only", "--", *content.watched, env=env).out)
    finally:
        for name in (place, f"{place}.lock"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


def _versions(git: Git, paths: list[str]) -> dict[str, set[str]]:
    """The object names that some files have had in any commit of a branch, ours or the remote's."""
    found: dict[str, set[str]] = {}
    words = ("log", "--branches", "--remotes", "HEAD", "-m", "--root", "--raw", "--no-abbrev", "--no-renames")
    for start in range(0, len(paths), 500):
        parts = fields(git.run(*words, "--format=", "-z", "--", *paths[start : start + 500]))
        for meta, path in pairwise(parts):
            if meta.lstrip("\n").startswith(":"):
                found.setdefault(path, set()).update(meta.split(" ")[2:4])
    return found
