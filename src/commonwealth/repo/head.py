"""Where a clone stands: the brain's branch and its tip, and what stops us from moving it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time

from commonwealth import atomic
from commonwealth.errors import Busy, Damaged, Refused
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER
from commonwealth.repo.todo import is_by_hand
from commonwealth.repo.worktrees import refuse_elsewhere

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADS = "refs/heads/"
_UNDER_WAY = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)
_HEX = tuple("0123456789abcdef")
_GIT_PROGRAMS = ("git", "jgit", "lazygit", "tig")
_OLD_LOCK = 5
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
    if not (recorded and recorded.strip()):  # a worktree that nobody has written in yet
        recorded = read_text(os.path.join(git.common_dir, FOLDER, "branch"), 1024)
    if recorded and recorded.strip():
        if not recorded.strip().isprintable():
            place = state_file(git, "branch")
            raise Damaged(f"{place} cannot be read.", hint="`brain doctor --fix` mends it.")
        return recorded.strip()
    remote = read_text(os.path.join(git.common_dir, "refs", "remotes", "origin", "HEAD"), 1024) or ""
    _, _, branch = remote.strip().partition("ref: refs/remotes/origin/")
    branch = branch or current_branch(git) or ""
    if not branch:
        raise Refused(
            f"No branch is checked out in {git.root}, and none is recorded as the brain's.",
            hint=f"Check out the branch that holds the notes: `{git_at(git.root)} switch main`.",
        )
    with contextlib.suppress(OSError):  # in a clone that cannot be written, it is found out anew each time
        atomic.replace(state_file(git, "branch"), f"{branch}\n".encode())
    return branch


def current_branch(git: Git) -> str | None:
    """The branch that HEAD names, by its short name; None where HEAD is detached."""
    head = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
    if head == "ref: refs/heads/.invalid":  # refs in a table: only git can read them
        head = "ref: " + git.run("symbolic-ref", "-q", "HEAD", check=False).decode().strip()
    return head[len("ref: " + _HEADS) :] if head.startswith("ref: " + _HEADS) else None


def head_commit(git: Git) -> str | None:
    """The commit at which HEAD is, on a branch or off; None while nothing was committed."""
    branch = current_branch(git)
    if branch is not None:
        return branch_tip(git, branch)
    head = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
    return head if _SHA.fullmatch(head) else git.resolve("HEAD")


def is_object_name(text: str) -> bool:
    """Whether this is the full name of an object, which never comes to mean another one."""
    return _SHA.fullmatch(text) is not None


def ref_value(git: Git, ref: str) -> str | None:
    """The object that a full ref name points to, or None: from its file if it has one of its own.

    Raises BrainError where git cannot say: what cannot be read is not absent.
    """
    text = (read_text(os.path.join(git.common_dir, *ref.split("/")), 256) or "").strip()
    if _SHA.fullmatch(text):
        return text
    done = git.call("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    if done.code not in (0, 1):
        raise git.failure(done)
    return done.out.decode("ascii").strip() or None if done.code == 0 else None


def branch_tip(git: Git, branch: str) -> str | None:
    """The commit at the tip of `branch`, or None while nothing was committed.

    Raises Damaged where it has been somewhere and cannot be read: on an empty branch, the next commit would begin
    a history that has nothing in common with the real one.
    """
    tip = ref_value(git, _HEADS + branch)
    if tip is None and read_text(os.path.join(git.common_dir, "logs", "refs", "heads", *branch.split("/")), 1):
        raise Damaged(
            f"The branch {branch} of {git.root} was there, and its ref is missing or cannot be read.",
            hint="`brain doctor --fix` puts it back where it was.",
        )
    return tip


def under_way(git: Git) -> tuple[str, str] | None:
    """(what, command) of an operation that a person began with git and has not ended, or None."""
    folder = git.git_dir
    for name, what in _UNDER_WAY:
        if os.path.lexists(os.path.join(folder, name)):
            return what, f"{git_at(git.root)} {what}"
    return None


def refuse_unfinished(git: Git, also: str = "") -> None:
    """Raise Refused, with the next step, where a merge, rebase or the like is under way; `also` is said with it."""
    operation = under_way(git)
    if operation is not None:
        what, command = operation
        ends = "" if what == "rebase" and is_by_hand(git) else "; `brain sync` ends it too"
        raise Refused(
            f"A {what} is under way in {git.root}{also}.",
            hint=f"End it with `{command} --continue`, or undo it with `{command} --abort`{ends}.",
        )


def require_branch(git: Git, branch: str) -> None:
    """Make sure that HEAD is on `branch`: a commit made elsewhere would reach nobody.

    A HEAD that is detached at the branch's own tip is put back onto it, which changes no file.
    Raises Refused with the next step for anything else, and where another worktree is on that branch.
    """
    refuse_elsewhere(git, branch)
    current = current_branch(git)
    if current == branch:
        return
    if current is None and not (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").startswith(("ref: ", *_HEX)):
        raise Damaged(f"HEAD of {git.root} cannot be read.", hint="`brain doctor --fix` writes it anew.")
    refuse_unfinished(git, f", and HEAD is not on {branch}")
    if current is None:
        head = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
        if _SHA.fullmatch(head) and head == branch_tip(git, branch):
            git.run("symbolic-ref", "-m", "back on the branch", "HEAD", _HEADS + branch)
            return
    where = f"on the branch {current}" if current else "detached"
    back = f"`{git_at(git.root)} switch {branch}`"
    hint = (
        f"Go back with {back}."
        if current
        else (
            f"`brain sync` brings HEAD and its commits back to {branch}. By hand: `{git_at(git.root)} branch NAME` "
            f"keeps the commits, then {back}."
        )
    )
    raise Refused(
        f"HEAD of {git.root} is {where}, not on {branch}, which is the brain's.",
        hint=hint,
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


def clear_locks(git: Git, patience: float = _OLD_LOCK) -> None:
    """Remove git's locks on index, HEAD and branch if their owner is certainly gone.

    Certain means: older than `patience` seconds, no process has it open, and no git process works in this clone;
    where that cannot be known (no /proc, processes of others that hide) the lock stays. Raises Busy then.
    """
    for place, age in git_locks(git):
        _clear_lock(git, place, age, patience)


def has_dead_lock(git: Git, patience: float) -> bool:
    """Whether a git that is certainly gone has left index or HEAD locked, 5 or `patience` seconds ago."""
    for name in ("index.lock", "HEAD.lock"):
        place = os.path.join(git.git_dir, name)
        with contextlib.suppress(OSError):
            age = time.time() - os.lstat(place).st_mtime
            if age >= min(patience, _OLD_LOCK) and sys.platform == "linux" and not _maybe_owned(place, git.root):
                return True
    return False


def clear_other_locks(git: Git, patience: float = _OLD_LOCK) -> None:
    """Remove the other locks that a killed git may have left, by the same rule; one with an owner stays.

    They stop fetches, `pack-refs` and housekeeping, but no write of ours.
    """
    folder = git.common_dir
    places = [os.path.join(folder, name) for name in ("packed-refs.lock", "shallow.lock", "config.lock")]
    places.append(os.path.join(folder, "objects", "maintenance.lock"))
    for above, _, names in os.walk(os.path.join(folder, "refs")):
        places += [os.path.join(above, name) for name in names if name.endswith(".lock")]
    for place in places:
        with contextlib.suppress(FileNotFoundError, Busy):
            _clear_lock(git, place, time.time() - os.lstat(place).st_mtime, patience)


def _clear_lock(git: Git, place: str, age: float, patience: float) -> None:
    if is_abandoned(place, age, git.root, patience):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        return
    raise Busy(
        f"Another git process holds {place}, or left it behind {int(max(age, 0))} s ago.",
        hint="Wait until it is done. If no git process runs there, remove that file.",
    )


def is_abandoned(lock: str, age: float, root: str, patience: float = _OLD_LOCK) -> bool:
    """Whether a lock of git's has certainly no owner any more (see `clear_locks`); `age` and `patience` in seconds."""
    return age >= patience and sys.platform == "linux" and not _maybe_owned(lock, root)


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
            is_git = file.read().startswith(_GIT_PROGRAMS)
    except OSError:
        return False  # it has ended
    try:
        if is_git and _within(os.readlink(f"{process}/cwd"), root) and not _only_reads(process):
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


def _only_reads(process: str) -> bool:
    """Whether it is a git that reads objects, as a sync has one open beside all that it does: it locks nothing."""
    with open(f"{process}/cmdline", "rb") as file:
        return b"cat-file" in file.read().split(b"\0")


def git_at_work(git: Git) -> bool | None:
    """Whether a git process of somebody else's works in this clone; None where that cannot be seen.

    Those that this program runs are known by their arguments, and never in the middle of anything.
    """
    try:
        processes = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return None
    if sys.platform != "linux" or not processes:
        return None
    return any(_works_in(f"/proc/{name}", git.root) for name in processes)


def _works_in(process: str, root: str) -> bool:
    try:
        with open(f"{process}/comm", encoding="utf-8", errors="replace") as file:
            if not file.read().startswith(_GIT_PROGRAMS):
                return False
        with open(f"{process}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if {b"maintenance.auto=false", b"safe.bareRepository=explicit"} <= set(words):
            return False
        return _within(os.readlink(f"{process}/cwd"), root)
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended
    except OSError:
        return True


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
