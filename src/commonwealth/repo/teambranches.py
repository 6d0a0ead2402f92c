"""What colleagues offer on the remote's branches for requests: fetched to be read, and never taken in.

Anybody who may push a branch can write one of these, so all of it is bounded: how many branches, how large a tree and
a file may be, how many files are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from commonwealth.errors import BrainError, Offline, Refused
from commonwealth.repo import remote
from commonwealth.repo.git import Git, decode, fields
from commonwealth.repo.listed import refuse_credentials
from commonwealth.repo.objects import Objects
from commonwealth.repo.renamed import REQUESTS
from commonwealth.safetext import one_line

MOST_BRANCHES = 32
"""So many branches are looked at, in order of their names."""

MOST_FILES = 200
"""So many files of one branch are looked at, those with the latest names."""

FILE_LIMIT = 65_536
"""Bytes of a file; a larger one is passed over."""

_NAME = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\]{1,200}")
_TREE_LIMIT = 1 << 20
_MOST_FOLDERS = 200
_FOLDER = "40000"
_PLAIN_FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Fetched:
    """The branches that are here now, by name with their tips, and what could not be had."""

    tips: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def known(git: Git, name: str) -> dict[str, str]:
    """The tips of the branches for requests of the remote `name`, as far as they are here."""
    prefix = f"refs/remotes/{name}/"
    out = git.run("for-each-ref", "--format=%(objectname)%00%(refname)%00", f"{prefix}{REQUESTS}")
    parts = [part.strip("\n") for part in fields(out)]
    return {ref.removeprefix(prefix): tip for tip, ref in zip(parts[::2], parts[1::2], strict=False)}


def fetch(git: Git, name: str, timeout: float, *, skip: Callable[[str], bool]) -> Fetched:
    """Learn the branches for requests of the remote `name` but those to `skip`; those that are gone are forgotten.

    One question to the remote where nothing has changed. `timeout` in seconds bounds each call. One that cannot be
    fetched is named in the warnings. Raises Offline and what else the remote's answer means.
    """
    refuse_credentials(git, name, "fetch")
    here = known(git, name)
    there = remote.tips(git, name, f"{REQUESTS}*", timeout)
    named = {branch: tip for branch, tip in there.items() if branch.startswith(REQUESTS) and _NAME.fullmatch(branch)}
    wanted = {branch: tip for branch, tip in named.items() if not skip(branch)}
    warnings = []
    if len(wanted) > MOST_BRANCHES:
        warnings.append(f"The remote has {len(wanted)} branches {REQUESTS}*; the first {MOST_BRANCHES} are read.")
        wanted = dict(sorted(wanted.items())[:MOST_BRANCHES])
    _forget(git, name, here.keys() - wanted.keys(), here)
    fresh = [branch for branch, tip in wanted.items() if here.get(branch) != tip]
    if fresh:
        warnings += _fetch_all(git, name, fresh, timeout)
    return Fetched(known(git, name), tuple(warnings))


def _fetch_all(git: Git, name: str, branches: list[str], timeout: float) -> list[str]:
    """Fetch together, and one by one where that fails: a branch that git refuses stands in no other's way."""
    try:
        _fetch(git, name, branches, timeout)
    except Offline:
        raise
    except BrainError:
        return [warning for branch in branches if (warning := _fetch_one(git, name, branch, timeout))]
    return []


def _fetch_one(git: Git, name: str, branch: str, timeout: float) -> str | None:
    try:
        _fetch(git, name, [branch], timeout)
    except BrainError as error:
        return f"The branch {one_line(branch, 80)} of the remote is not read: {one_line(error.message)}"
    return None


def _fetch(git: Git, name: str, branches: list[str], timeout: float) -> None:
    words = ("fetch", "--quiet", "--no-tags", "--no-filter", "--no-write-fetch-head", "--end-of-options", name)
    refspecs = (f"+refs/heads/{branch}:{remote.tracking_ref(name, branch)}" for branch in branches)
    git.run(*words, *refspecs, timeout=timeout)


def _forget(git: Git, name: str, gone: Collection[str], tips: Mapping[str, str]) -> None:
    if gone:
        lines = (f"delete {remote.tracking_ref(name, branch)} {tips[branch]}\n" for branch in sorted(gone))
        git.run("update-ref", "--stdin", input="".join(lines).encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class Changed:
    """Files of a branch that the main branch had not when it was left, by path, and what was passed over."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def changed(git: Git, main: str, tip: str, folders: Collection[str]) -> Changed:
    """The files below `folders` (paths from the root) that `tip` has otherwise than its last common commit with
    `main`. Raises Refused where there is none, BrainError for objects that cannot be read."""
    base = git.run("merge-base", main, tip, check=False).decode("ascii", "replace").strip()
    if not base:
        raise Refused("It has no commit in common with the main branch.")
    walk = _Walk()
    with Objects(git) as objects:
        for folder in sorted(folders):
            _compare(objects, walk, folder, (_tree_at(objects, base, folder), _tree_at(objects, tip, folder)))
        names = sorted(walk.found, key=lambda path: path.rpartition("/")[2], reverse=True)
        files: dict[str, bytes] = {}
        for path in names[:MOST_FILES]:
            info = objects.info(walk.found[path])
            if info is not None and info[1] == "blob" and info[2] <= FILE_LIMIT:
                files[path] = objects.read(walk.found[path]) or b""
            else:
                walk.passed.append(path)
    if len(names) > MOST_FILES:
        walk.passed.append(f"{len(names) - MOST_FILES} more files")
    return Changed(files, tuple(f"{one_line(path, 120)} is too large or too many" for path in walk.passed[:3]))


@dataclass(slots=True)
class _Walk:
    """What differs between two trees: the objects of files by path, and what was too large to be looked at."""

    found: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    folders: int = 0


def _tree_at(objects: Objects, commit: str, folder: str) -> str | None:
    info = objects.info(f"{commit}:{folder}")
    return info[0] if info is not None and info[1] == "tree" else None


def _compare(objects: Objects, walk: _Walk, folder: str, trees: tuple[str | None, str | None]) -> None:
    old, new = trees
    walk.folders += 1
    if new is None or old == new:
        return
    if walk.folders > _MOST_FOLDERS:
        walk.passed.append(folder)
        return
    try:
        before, after = (dict(_entries(objects, tree)) for tree in trees)
    except Refused:
        walk.passed.append(folder)
        return
    for name, (mode, sha) in after.items():
        path = f"{folder}/{name}"
        if mode == _FOLDER:
            was = before.get(name)
            _compare(objects, walk, path, (was[1] if was is not None and was[0] == _FOLDER else None, sha))
        elif mode in _PLAIN_FILES and before.get(name, ("", ""))[1] != sha:
            walk.found[path] = sha


def _entries(objects: Objects, tree: str | None) -> Iterator[tuple[str, tuple[str, str]]]:
    """The entries of a tree as (name, (mode, object)). Raises Refused where it is too large or no tree."""
    if tree is None:
        return
    data = objects.read(tree, _TREE_LIMIT) or b""
    width, at = len(tree) // 2, 0
    while at < len(data):
        end = data.find(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        if end < 0 or not name:
            raise Refused("A tree cannot be read.")
        at = end + 1 + width
        yield decode(name), (mode.decode("ascii", "replace"), data[end + 1 : at].hex())
