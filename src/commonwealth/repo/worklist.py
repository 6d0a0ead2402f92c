"""What `git status` says of the files that are watched, and of those at the root, as records of one kind."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.repo.common import NO_INDEX
from commonwealth.repo.git import Git, fields
from commonwealth.repo.tree import Entry


@dataclass(frozen=True, slots=True)
class Listed:
    """One file that is not as HEAD has it: its version in HEAD, and whether git's index holds several."""

    path: str
    head: Entry | None
    unmerged: bool = False
    ignored: bool = False


def listed(git: Git, watched: tuple[str, ...], *, without_index: bool) -> Iterator[Listed]:
    """Everything below `watched` that differs from HEAD, with what lies at the root and is not in git.

    `without_index` compares with HEAD alone, for where git's index cannot be read.
    """
    at_root = _at_root(git.root, watched)
    others = [top for top in at_root if not atomic.TEMPORARY.fullmatch(top)]
    outside = {name for top in others for name in (top, f"{top}/")}
    beside = _unfinished_beside(git.root, watched)
    out = git.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignored=traditional",
        "--",
        *watched,
        *at_root,
        *beside,
        env={"GIT_INDEX_FILE": os.path.join(git.git_dir, NO_INDEX)} if without_index else None,
    )
    seen: dict[str, Listed] = {}
    untracked: set[str] = set()
    for record in fields(out):
        if record.startswith("1 "):
            words = record.split(" ", 8)
            head = None if words[3] == "000000" else (words[3], words[6])
            seen[words[8]] = Listed(words[8], head)
        elif record.startswith("u "):
            path = record.split(" ", 10)[10]
            seen[path] = Listed(path, None, unmerged=True)
        elif record.startswith("? "):
            untracked.add(record[2:])
            # A file that was taken out of the index alone comes twice: the first record knows its commit.
            seen.setdefault(record[2:], Listed(record[2:], None))
        elif record.startswith("! ") and record[2:] not in outside:
            seen.setdefault(record[2:], Listed(record[2:], None, ignored=True))
    yield from (entry for entry in seen.values() if entry.path not in outside or entry.path in untracked)


def _unfinished_beside(root: str, watched: Sequence[str]) -> list[str]:
    """Unfinished files of ours next to single files that are watched, such as the config."""
    found: list[str] = []
    for folder in sorted({os.path.dirname(path) for path in watched} - {""}):
        place = os.path.join(root, folder)
        if os.path.realpath(place) != place:  # what lies behind a link is not ours
            continue
        with contextlib.suppress(OSError):
            found += [f"{folder}/{name}" for name in os.listdir(place) if _is_unfinished(name)]
    return found


def _is_unfinished(name: str) -> bool:
    return atomic.TEMPORARY.fullmatch(name) is not None


def _at_root(root: str, watched: Sequence[str]) -> list[str]:
    """The files and the nested repositories directly at the root."""
    tops = {path.split("/", 1)[0] for path in watched} | {".git"}
    with os.scandir(root) as entries:
        return sorted(
            entry.name
            for entry in entries
            if entry.name not in tops
            and (not entry.is_dir(follow_symlinks=False) or os.path.lexists(os.path.join(entry.path, ".git")))
        )
