"""What a git that died, or a person who went away, has left in a clone: what it is, and whether anybody is at it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import branch_tip, current_branch, git_at_work, head_commit, state_file
from commonwealth.repo.todo import is_by_hand
from commonwealth.repo.tree import Entry

PATIENCE = 600.0
"""Seconds for which nothing may have happened before something counts as left behind."""
_UNSEEN = 86_400.0
"""The same where nobody can see which processes run."""
_LAYING_OUT = 2.0
"""Seconds by which git's files and its notes of an operation may be apart."""

_FOLDERS = ("rebase-merge", "rebase-apply", "sequencer")
_OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "mailbox"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick"),
    ("BISECT_LOG", "bisect"),
)
STATE = (
    *_FOLDERS,
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"),
    *("BISECT_LOG", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_RUN"),
    *("BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT"),
)
"""Everything that git keeps of an operation under way; its presence alone (of a MERGE_MSG, say) means nothing."""


@dataclass(frozen=True, slots=True)
class Stranded:
    """What stands between this clone and its branch: `what` is an operation of git's, `detached` or `branch`."""

    what: str
    branch: str
    tip: str
    head: str
    """The commit at which HEAD is."""
    on_branch: bool

    @property
    def elsewhere(self) -> str | None:
        """The commit at which HEAD is, if that is not on the branch."""
        return None if self.on_branch else self.head


def look(git: Git, branch: str) -> Stranded | None:
    """What is under way or out of place, whoever began it; None in a clone in good order, at the cost of a few
    looks for files."""
    folder = git.git_dir
    current = current_branch(git)
    what = next((what for name, what in _OPERATIONS if os.path.lexists(os.path.join(folder, name))), None)
    if what == "bisect" and current == branch:
        what = None  # one that leaves HEAD alone is in nobody's way
    if what is None and current == branch:
        return None
    tip, head = branch_tip(git, branch), head_commit(git)
    if tip is None or head is None:
        return None
    return Stranded(what or ("branch" if current else "detached"), branch, tip, head, current == branch)


def is_left(git: Git, found: Stranded | None, patience: float) -> bool:
    """Whether it is certain that nobody is at work: no git process in this clone, and nothing of it, nor any file
    that it left unmerged, was touched for `patience` seconds. A rebase whose steps a person chose is never left: to
    end it for them would bring back what they take out."""
    if is_by_hand(git):
        return False
    working = git_at_work(git)
    if working:
        return False
    if working is None and patience > 0:
        patience = max(patience, _UNSEEN)
    touched = _last_touch(git, found)
    return time.time() - touched >= patience


def is_begun(git: Git) -> bool:
    """Whether somebody has saved one of the files that an operation left unmerged, after git laid it out."""
    stopped = max((_touched(os.path.join(git.git_dir, name)) for name in STATE), default=0.0)
    return any(_touched(os.path.join(git.root, path)) > stopped + _LAYING_OUT for path in unmerged(git))


def is_abandoned(git: Git, path: str, patience: float) -> bool:
    """The same of one file of the work tree."""
    working = git_at_work(git)
    if working:
        return False
    return time.time() - _touched(os.path.join(git.root, path)) >= patience


def _last_touch(git: Git, found: Stranded | None) -> float:
    folder = git.git_dir
    places = [os.path.join(folder, name) for name in STATE if name != "MERGE_RR"]
    if found is None or not found.on_branch:
        places.append(os.path.join(folder, "HEAD"))
    for name in _FOLDERS:
        inside = os.path.join(folder, name)
        if os.path.isdir(inside):
            places += [os.path.join(inside, entry) for entry in os.listdir(inside)]
    return max(map(_touched, [*places, *(os.path.join(git.root, path) for path in unmerged(git))]), default=0.0)


def _touched(place: str) -> float:
    try:
        return os.lstat(place).st_mtime
    except OSError:
        return 0.0


def unmerged(git: Git) -> dict[str, dict[int, Entry]]:
    """The paths that git's index holds in several versions: by stage 1 (base), 2 (HEAD's), 3 (the other)."""
    found: dict[str, dict[int, Entry]] = {}
    done = git.call("ls-files", "-u", "-z")
    for record in fields(done.out) if done.code == 0 else ():
        meta, _, path = record.partition("\t")
        mode, name, stage = meta.split(" ")
        found.setdefault(path, {})[int(stage)] = (mode, name)
    return found


def staged(git: Git, paths: Iterable[str]) -> dict[str, Entry]:
    """What the index holds of some paths, where it holds one version."""
    wanted = sorted(paths)
    found: dict[str, Entry] = {}
    for start in range(0, len(wanted), 500):
        done = git.call("ls-files", "-s", "-z", "--", *wanted[start : start + 500])
        for record in fields(done.out) if done.code == 0 else ():
            meta, _, path = record.partition("\t")
            mode, name, stage = meta.split(" ")
            if stage == "0":
                found[path] = (mode, name)
    return found


def resolved(git: Git) -> set[str]:
    """The paths that were unmerged until somebody said that they are settled."""
    done = git.call("ls-files", "--resolve-undo", "-z")
    return {record.partition("\t")[2] for record in fields(done.out)} if done.code == 0 else set()


def named_commits(git: Git) -> tuple[list[str], list[str]]:
    """(what a merge brings in, every commit or tree whose files git may have laid out here) by git's own notes."""
    merging = _commits(git, "MERGE_HEAD")
    picked = [f"{name}^" for name in _commits(git, "REVERT_HEAD")]
    for name in ("CHERRY_PICK_HEAD", "REBASE_HEAD", "AUTO_MERGE"):
        picked += _commits(git, name)
    for folder in ("rebase-merge", "rebase-apply"):
        for name in ("onto", "orig-head", "stopped-sha"):
            picked += _commits(git, f"{folder}/{name}")
    picked += _commits(git, "sequencer/head")
    return merging, [*merging, *(name for name in picked if git.call("rev-parse", "-q", "--verify", name).code == 0)]


def original(git: Git) -> list[str]:
    """The tips from which a rebase began."""
    return [name for folder in ("rebase-merge", "rebase-apply") for name in _commits(git, f"{folder}/orig-head")]


def rebased_branch(git: Git) -> str | None:
    """The full name of the branch that a rebase under way will move, or None."""
    for folder in ("rebase-merge", "rebase-apply"):
        text = (read_text(os.path.join(git.git_dir, folder, "head-name"), 1024) or "").strip()
        if text:
            return text
    return None


def autostash(git: Git) -> str | None:
    """The commit that keeps the edits which git put aside before it began."""
    for name in ("rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"):
        for found in _commits(git, name):
            return found
    return None


def _commits(git: Git, name: str) -> list[str]:
    words = (read_text(os.path.join(git.git_dir, *name.split("/"))) or "").split()
    return [word for word in words if len(word) in (40, 64) and all(digit in "0123456789abcdef" for digit in word)]


def put_away(git: Git) -> None:
    """Take git's notes of an operation out of its way: into a folder of ours, as they may hold a person's words."""
    folder = state_file(git, "stranded")
    present = [name for name in STATE if os.path.lexists(os.path.join(git.git_dir, name))]
    if present:
        target = os.path.join(folder, os.urandom(6).hex())
        os.makedirs(target)
        for name in present:
            os.rename(os.path.join(git.git_dir, name), os.path.join(target, name))
        atomic.flush_folder(git.git_dir)
    for ref in git.text("for-each-ref", "--format=%(refname)", "refs/bisect").split():
        git.call("update-ref", "-d", ref)
