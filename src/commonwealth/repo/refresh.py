"""Derived files follow the notes: computed from a tree, and committed alone only where they differ.

A derived-only commit has a fixed author, a fixed message and its parent's time, so that every clone that makes
it makes the same commit. A private mark names the commit up to which derived files are known to be right.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonwealth import atomic
from commonwealth.repo.common import read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file
from commonwealth.repo.objects import Objects, is_commit
from commonwealth.repo.store import TreeSnapshot, commit_info, differences, make_own_commit, store_files
from commonwealth.repo.tree import Entry, edit_tree

MESSAGE = "Refresh derived files"
_MARK = "derived"


def read_mark(git: Git) -> str | None:
    """The commit up to which derived files are right, or None where that is not known."""
    mark = (read_text(state_file(git, _MARK), 256) or "").strip()
    return mark if mark and is_commit(git, mark) else None


def write_mark(git: Git, commit: str) -> None:
    """Remember that the derived files of `commit` are right."""
    if (read_text(state_file(git, _MARK), 256) or "").strip() != commit:
        atomic.replace(state_file(git, _MARK), f"{commit}\n".encode())


def is_marked(git: Git, commit: str) -> bool:
    """Whether the derived files of `commit` are known to be right; costs one small read."""
    return (read_text(state_file(git, _MARK), 256) or "").strip() == commit


def touched(git: Git, tree: str, since: Iterable[str | None]) -> frozenset[str] | None:
    """The paths in which `tree` differs from any of some commits; None (all) where one of them is unknown."""
    paths: set[str] = set()
    for commit in since:
        if commit is None:
            return None
        paths.update(differences(git, commit, tree))
    return frozenset(paths)


def refreshed(git: Git, tree: str, paths: frozenset[str] | None, content: Content, warnings: list[str]) -> str:
    """`tree` with the derived files that the change of `paths` (None: of anything) asks for.

    What is left out of them, and why, is added to `warnings`.
    """
    if paths is not None and not paths:
        return tree
    with Objects(git) as objects:
        snapshot = TreeSnapshot(objects, tree)
        wanted = content.derive(paths, snapshot)
        differing = {path: data for path, data in wanted.items() if snapshot.read(path) != data}
    warnings.extend(snapshot.warnings)
    if not differing:
        return tree
    entries: dict[str, Entry | None] = dict.fromkeys(differing)
    entries.update(store_files(git, {path: data for path, data in differing.items() if data is not None}, {}))
    return edit_tree(git, tree, entries)


def refresh_commit(git: Git, tip: str, content: Content, warnings: list[str]) -> str:
    """`tip` if its derived files are right, else a derived-only commit on top of it; no ref moves."""
    if is_marked(git, tip):
        return tip
    with Objects(git) as objects:
        info = commit_info(objects, tip)
    tree = refreshed(git, info.tree, touched(git, tip, [read_mark(git)]), content, warnings)
    if tree == info.tree:
        write_mark(git, tip)
        return tip
    return make_own_commit(git, tree, [tip], MESSAGE, info.seconds)
