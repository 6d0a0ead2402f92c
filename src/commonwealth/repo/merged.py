"""Whether a branch of a code repository has come into its default branch: by a merge, fast-forward, rebase or squash.

Told from this clone alone, as it was fetched last. A branch on which nothing was ever committed is not merged, though
its tip lies in the default branch: that it does says only where it began.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonwealth import timeline
from commonwealth.errors import BrainError
from commonwealth.repo import common
from commonwealth.repo.changed_here import default_ref
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import is_object_name
from commonwealth.repo.project import Project, ref_at

_COMMITS = 200
"""So many commits of the default branch are compared with a branch that may have been squashed."""

_PATCH = 4 << 20
"""Bytes of a patch; a larger one is not compared."""

_MADE = (b"commit", b"cherry-pick", b"am", b"revert")
"""What git's log of a branch says of new commits; a rebase may only have brought it up to date."""

_LOG = 1 << 20
_PLAIN = ("--no-ext-diff", "--no-textconv")
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
    into = default_ref(project)
    if into is None or (branch and _short(into) == branch):
        return None
    git = Git(project.root)
    try:
        main = git.resolve(into)
        for tip in _tips(git, project, branch, commits):
            found = main and (_by_merge(git, project, branch, main, tip) or _by_squash(git, main, tip))
            if found:
                return Merged(found, _date(git, found), _short(into))
    except BrainError:
        return None
    return None


def _short(ref: str) -> str:
    return ref.removeprefix("refs/remotes/origin/").removeprefix("refs/heads/")


def _tips(git: Git, project: Project, branch: str | None, commits: Sequence[str]) -> Iterator[str]:
    """The tip of the branch; where it is gone, the latest of the known commits that is still here."""
    tip = tip_of(project, branch) if branch else None
    for name in (tip,) if tip else commits:
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


def _by_squash(git: Git, main: str, tip: str) -> str | None:
    """The commit on the default branch's own line that makes the same change as the whole of the branch, or whose files
    are what the branch made of them."""
    base = git.run("merge-base", main, tip, check=False).decode("ascii", "replace").strip()
    if not base or base == tip:
        return None
    files = fields(git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, tip, timeout=_SECONDS))
    if not files or len(files) > _COMMITS:
        return None
    span = ("--first-parent", f"--max-count={_COMMITS}", "--end-of-options", f"{base}..{main}", "--", *files)
    commits = git.text("rev-list", *span, timeout=_SECONDS).split()
    wanted = _patches(git, git.run("diff-tree", "-p", *_PLAIN, base, tip, timeout=_SECONDS))
    for commit in reversed(commits):
        if not git.call("diff-tree", "--quiet", "-r", commit, tip, "--", *files, timeout=_SECONDS).code:
            return commit
        change = git.run("diff-tree", "-p", *_PLAIN, f"{commit}^1", commit, timeout=_SECONDS)
        if wanted and _patches(git, change) == wanted:
            return commit
    return None


def _patches(git: Git, patch: bytes) -> str:
    """What tells a change from another, wherever in the files it is made; empty for one that is too large."""
    if len(patch) > _PATCH:
        return ""
    return git.run("patch-id", "--stable", input=patch, timeout=_SECONDS).decode("ascii", "replace").split(" ")[0]


def _date(git: Git, commit: str) -> str:
    return timeline.of_seconds(timeline.shown_seconds(git.text("show", "-s", "--format=%ct", commit)))
