"""Where a clone stands: the brain's branch and its tip, and what stops us from moving it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time

from commonwealth import atomic
from commonwealth.errors import Busy, Refused
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADS = "refs/heads/"
_UNDER_WAY = (
    ("rebase-merge", "rebase", "git rebase"),
    ("rebase-apply", "rebase", "git rebase"),
    ("MERGE_HEAD", "merge", "git merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick"),
    ("REVERT_HEAD", "revert", "git revert"),
)
_OLD_LOCK = 60
"""Seconds after which a lock of git's without any process that could own it is taken for left behind."""


def state_file(git: Git, name: str) -> str:
    """The place of one of our own files of this clone, below its git folder."""
    return os.path.join(git.git_dir, FOLDER, name)


def main_branch(git: Git) -> str:
    """The branch that is this brain's canon, by its short name: once recorded, it does not follow HEAD.

    The first time it is the remote's default branch if that is known, else the branch that is checked out.
    Raises Refused where neither is.
    """
    recorded = read_text(state_file(git, "branch"), 1024)
    if recorded and recorded.strip():
        return recorded.strip()
    remote = read_text(os.path.join(git.common_dir, "refs", "remotes", "origin", "HEAD"), 1024) or ""
    _, _, branch = remote.strip().partition("ref: refs/remotes/origin/")
    branch = branch or current_branch(git) or ""
    if not branch:
        raise Refused(
            f"No branch is checked out in {git.root}, and none is recorded as the brain's.",
            hint="Check out the branch that holds the notes: `git switch main`.",
        )
    atomic.replace(state_file(git, "branch"), f"{branch}\n".encode())
    return branch


def current_branch(git: Git) -> str | None:
    """The branch that HEAD names, by its short name; None where HEAD is detached."""
    head = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
    if head == "ref: refs/heads/.invalid":  # refs in a table: only git can read them
        head = "ref: " + git.run("symbolic-ref", "-q", "HEAD", check=False).decode().strip()
    return head[len("ref: " + _HEADS) :] if head.startswith("ref: " + _HEADS) else None


def ref_value(git: Git, ref: str) -> str | None:
    """The object that a full ref name points to, or None: from its file if it has one of its own."""
    text = (read_text(os.path.join(git.common_dir, *ref.split("/")), 256) or "").strip()
    if _SHA.fullmatch(text):
        return text
    done = git.call("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    return done.out.decode("ascii").strip() or None if done.code == 0 else None


def branch_tip(git: Git, branch: str) -> str | None:
    """The commit at the tip of `branch`, or None while nothing was committed."""
    return ref_value(git, _HEADS + branch)


def under_way(git: Git) -> tuple[str, str] | None:
    """(what, command) of an operation that a person began with git and has not ended, or None."""
    folder = git.git_dir
    for name, what, command in _UNDER_WAY:
        if os.path.lexists(os.path.join(folder, name)):
            return what, command
    return None


def refuse_unfinished(git: Git, also: str = "") -> None:
    """Raise Refused, with the next step, where a merge, rebase or the like is under way; `also` is said with it."""
    operation = under_way(git)
    if operation is not None:
        what, command = operation
        raise Refused(
            f"A {what} is under way in {git.root}{also}.",
            hint=f"End it with `{command} --continue`, or undo it with `{command} --abort`.",
        )


def require_branch(git: Git, branch: str) -> None:
    """Make sure that HEAD is on `branch`: a commit made elsewhere would reach nobody.

    A HEAD that is detached at the branch's own tip is put back onto it, which changes no file.
    Raises Refused with the next step for anything else.
    """
    current = current_branch(git)
    if current == branch:
        return
    refuse_unfinished(git, f", and HEAD is not on {branch}")
    if current is None:
        head = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
        if _SHA.fullmatch(head) and head == branch_tip(git, branch):
            git.run("symbolic-ref", "-m", "back on the branch", "HEAD", _HEADS + branch)
            return
    where = f"on the branch {current}" if current else "detached"
    keep = "" if current else " Commits made there are kept by `git branch NAME` first."
    raise Refused(
        f"HEAD of {git.root} is {where}, not on {branch}, which is the brain's.",
        hint=f"Go back with `git switch {branch}`.{keep}",
    )


def git_locks(git: Git) -> list[tuple[str, float]]:
    """The locks of git's that keep us from moving the brain's branch, with their ages in seconds."""
    recorded = (read_text(state_file(git, "branch"), 1024) or "").strip() or current_branch(git)
    places = [os.path.join(git.git_dir, name) for name in ("index.lock", "HEAD.lock")]
    if recorded:
        places.append(os.path.join(git.common_dir, "refs", "heads", *recorded.split("/")) + ".lock")
    found = []
    for place in places:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found.append((place, time.time() - os.lstat(place).st_mtime))
    return found


def clear_locks(git: Git) -> None:
    """Remove git's locks on index, HEAD and branch if their owner is certainly gone.

    Certain means: old enough, no process has it open, and no git process works in this clone; where that
    cannot be known (no /proc, processes of others that hide) the lock stays. Raises Busy then.
    """
    for place, age in git_locks(git):
        _clear_lock(git, place, age)


def _clear_lock(git: Git, place: str, age: float) -> None:
    if age >= _OLD_LOCK and sys.platform == "linux" and not _maybe_owned(place, git.root):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        return
    raise Busy(
        f"Another git process holds {place}, or left it behind {int(max(age, 0))} s ago.",
        hint="Wait until it is done. If no git process runs there, remove that file.",
    )


def _maybe_owned(lock: str, root: str) -> bool:
    try:
        target = os.stat(lock)
        processes = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return True
    identity = (target.st_dev, target.st_ino)
    return not processes or any(_may_own(f"/proc/{name}", identity, root) for name in processes)


def _may_own(process: str, identity: tuple[int, int], root: str) -> bool:
    try:
        with open(f"{process}/comm", encoding="utf-8", errors="replace") as file:
            is_git = file.read().startswith(("git", "jgit", "lazygit", "tig"))
    except OSError:
        return False  # it has ended
    try:
        if is_git and _within(os.readlink(f"{process}/cwd"), root):
            return True
        for name in os.listdir(f"{process}/fd"):
            found = _identity(f"{process}/fd/{name}")
            if found == identity:
                return True
    except FileNotFoundError:
        return False
    except OSError:
        return is_git or _owner(process) == os.getuid()
    return False


def _within(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root + os.sep)


def _identity(descriptor: str) -> tuple[int, int] | None:
    try:
        found = os.stat(descriptor)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _owner(process: str) -> int:
    try:
        return os.stat(process).st_uid
    except OSError:
        return -1
