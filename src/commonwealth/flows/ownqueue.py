"""What waits in this clone, less what git has brought: a file that is in the history is nobody's candidate here.

A sync never lays such a file out; a pull or a checkout by hand does. One that differs from the history's is this
clone's own, whatever its name.
"""

from __future__ import annotations

from pathlib import Path

from commonwealth.errors import BrainError, Refused
from commonwealth.model import Problem
from commonwealth.notes import waiting
from commonwealth.notes.waiting import Waiting
from commonwealth.repo import ownfolders
from commonwealth.repo.git import Git
from commonwealth.repo.store import matches


def listed(root: Path, *, dropped: bool = False) -> tuple[list[Waiting], list[Problem]]:
    """As `waiting.listed`, where what came in with git is a problem. Raises nothing about what it finds."""
    found, problems = waiting.listed(root, dropped=dropped)
    if not found:
        return found, problems
    try:
        git = Git(root)
        tracked = ownfolders.tracked(git)
    except BrainError:  # of a clone that git cannot read the doctor tells
        return found, problems
    brought = [one for one in found if one.path in tracked and matches(one.data, tracked[one.path])]
    if not brought:
        return found, problems
    told = [Problem(one.path, 0, _cause(git, one.path)) for one in brought]
    return [one for one in found if one not in brought], [*problems, *told]


def require_own(root: Path, path: str) -> None:
    """Raises Refused where the file at `path` is the history's, and so nobody's to decide about here."""
    git = Git(root)
    try:
        entry = ownfolders.tracked(git).get(path)
        brought = entry is not None and matches((root / path).read_bytes(), entry)
    except (BrainError, OSError):
        return
    if brought:
        raise Refused(f"{path}: {_cause(git, path)}.", hint=ownfolders.way_out(git, [path]))


def _cause(git: Git, path: str) -> str:
    came = ownfolders.since(git, path) or "the history"
    return f"it came in with git ({came}), so it is no candidate of this clone"
