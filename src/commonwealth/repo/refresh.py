"""Derived files follow the notes: computed from a tree, and committed alone only where they differ.

A derived-only commit has a fixed author, a fixed message and its parent's time, so that every clone that makes
it makes the same commit. A private mark names the commit up to which derived files are known to be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from commonwealth import atomic
from commonwealth.repo.common import read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file
from commonwealth.repo.history import read_at, versions
from commonwealth.repo.objects import Objects, is_commit
from commonwealth.repo.store import TreeSnapshot, commit_info, differences, entries_at, make_own_commit, store_files
from commonwealth.repo.tree import Entry, edit_tree

MESSAGE = "Refresh derived files"
CLOSED_MESSAGE = "Close superseded notes"
MESSAGES = (MESSAGE, CLOSED_MESSAGE)
"""Of the commits that say nothing of their own: what is in them follows from the notes before."""

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


def refreshed(
    git: Git,
    tree: str,
    paths: frozenset[str] | None,
    content: Content,
    warnings: list[str],
    *,
    history: Sequence[str] = (),
) -> str:
    """`tree` with the derived files that the change of `paths` (None: of anything) asks for, and with the notes closed
    that others replace; `history` are the commits that it comes from.

    What is left out of them, and why, is added to `warnings`.
    """
    return _refreshed(git, tree, paths, content, warnings, history)[0]


def _refreshed(
    git: Git,
    tree: str,
    paths: frozenset[str] | None,
    content: Content,
    warnings: list[str],
    history: Sequence[str],
) -> tuple[str, bool]:
    """The tree, and whether any note is another in it."""
    if paths is not None and not paths:
        return tree, False
    closed = closures(git, tree, paths, content, history)
    if closed:
        modes = {path: mode for path, (mode, _) in entries_at(git, tree, list(closed)).items()}
        tree = edit_tree(git, tree, {**store_files(git, closed, modes)})
        paths = None if paths is None else paths | closed.keys()
    with Objects(git) as objects:
        snapshot = TreeSnapshot(objects, tree)
        wanted = content.derive(paths, snapshot)
        differing = {path: data for path, data in wanted.items() if snapshot.read(path) != data}
    warnings.extend(snapshot.warnings)
    entries: dict[str, Entry | None] = dict.fromkeys(differing)
    if differing:
        entries.update(store_files(git, {path: data for path, data in differing.items() if data is not None}, {}))
        tree = edit_tree(git, tree, entries)
    return tree, bool(closed)


def closures(
    git: Git, tree: str, paths: frozenset[str] | None, content: Content, history: Sequence[str]
) -> dict[str, bytes]:
    """The notes of `tree` that say otherwise, after a change of `paths`, once those that they name are heard."""
    with Objects(git) as objects:
        return dict(content.close(paths, TreeSnapshot(objects, tree), partial(_earlier, git, history)))


def _earlier(git: Git, history: Sequence[str], path: str) -> Iterator[bytes]:
    """The versions of a file in the history of some commits, the newest of each first."""
    for ref in history:
        for version in versions(git, path, ref=ref):
            data = None if version.deleted else read_at(git, version.commit, version.path)
            if data is not None:
                yield data


def refresh_commit(git: Git, tip: str, content: Content, warnings: list[str]) -> str:
    """`tip` if its derived files are right, else a derived-only commit on top of it; no ref moves."""
    if is_marked(git, tip):
        return tip
    with Objects(git) as objects:
        info = commit_info(objects, tip)
    paths = touched(git, tip, [read_mark(git)])
    tree, closed = _refreshed(git, info.tree, paths, content, warnings, [tip])
    if tree == info.tree:
        write_mark(git, tip)
        return tip
    return make_own_commit(git, tree, [tip], CLOSED_MESSAGE if closed else MESSAGE, info.seconds)
