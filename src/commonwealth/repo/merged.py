"""Whether a branch of a code repository has come into its default branch: by a merge, fast-forward, rebase or squash.

Told from this clone alone, as it was fetched last. A branch on which nothing was ever committed is not merged, though
its tip lies in the default branch: that it does says only where it began.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonwealth import timeline
from commonwealth.errors import BrainError
from commonwealth.repo import branchrefs, common, squashed
from commonwealth.repo.branchrefs import Refs
from commonwealth.repo.git import Git
from commonwealth.repo.head import is_object_name
from commonwealth.repo.project import Project, ref_at

_MADE = (b"commit", b"cherry-pick", b"am", b"revert")
"""What git's log of a branch says of new commits; a rebase may only have brought it up to date."""

_LOG = 1 << 20
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Merged:
    """The commit with which a branch came into the default branch (`into`, its short name), and that commit's date."""

    commit: str
    at: str
    into: str


def tip_of(project: Project, branch: str) -> str | None:
    """The tip of a branch here, else what was last seen of it at the remote; None where it is gone."""
    found = (ref_at(project, f"{place}{branch}") for place in ("refs/heads/", "refs/remotes/origin/"))
    return next((tip for tip in found if tip is not None and is_object_name(tip)), None)


def merged(project: Project, branch: str | None, commits: Sequence[str] = ()) -> Merged | None:
    """How `branch` came into the default branch; None where it did not, or where that cannot be told.

    `commits` are what its tip was known to be, the latest first: they serve where the branch is gone.
    """
    git, end = Git(project.root), time.monotonic() + _SECONDS
    try:
        refs = branchrefs.read(git, _SECONDS)
        default = branchrefs.default(git, refs, _SECONDS)
        if not default or branch == branchrefs.short(default[0]):
            return None
        for tip in _tips(git, refs, branch, commits):
            for into in default:
                main = refs.tips[into]
                found = _by_merge(git, project, branch, main, tip) or squashed.landing(git, main, tip, end)
                if found:
                    return Merged(found, _date(git, found), branchrefs.short(into))
    except BrainError:
        return None
    return None


def _tips(git: Git, refs: Refs, branch: str | None, commits: Sequence[str]) -> Iterator[str]:
    """The tip of the branch; where it is gone, the latest of the known commits that is still here."""
    there = refs.of(branch) if branch else ()
    for name in [refs.tips[there[0]]] if there else commits:
        if name and (known := git.resolve(name)) is not None:
            yield known
            return


def _by_merge(git: Git, project: Project, branch: str | None, main: str, tip: str) -> str | None:
    """The first commit on the default branch's own line that holds `tip`."""
    if not git.holds("merge-base", "--is-ancestor", tip, main):
        return None
    line = git.text("rev-list", "--first-parent", "--ancestry-path", "--reverse", f"{tip}..{main}", timeout=_SECONDS)
    first = line.split("\n")[0]
    if first and git.text("rev-parse", f"{first}^1") != tip:
        return first
    return tip if branch and _was_worked_on(project, branch) else None


def _was_worked_on(project: Project, branch: str) -> bool:
    """Whether the branch's own log tells of a commit made on it here."""
    folder = common.find_git_dir(project.root)
    place = os.path.join(common.common_dir(folder), "logs", "refs", "heads", branch) if folder else ""
    try:
        lines = common.read_bytes(place, _LOG).split(b"\n")
    except (OSError, ValueError):
        return False
    return any(line.partition(b"\t")[2].startswith(_MADE) for line in lines)


def _date(git: Git, commit: str) -> str:
    return timeline.of_seconds(timeline.shown_seconds(git.text("show", "-s", "--format=%ct", commit)))
