"""The brain's branch gets another name in this clone, as it did on the remote or by `git branch -m`.

A journal is durable before anything changes; every writer finishes it first. Once HEAD is on the new branch, that
one is the truth.
"""

from __future__ import annotations

import contextlib
import json
import os

from commonwealth import atomic
from commonwealth.faults import fault
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, current_branch, ref_value, state_file
from commonwealth.repo.outcome import seen_ref
from commonwealth.repo.store import move_ref

_JOURNAL = "renaming"


def rename_branch(git: Git, old: str, new: str) -> bool:
    """Give the brain's branch `old`, on which HEAD is, the name `new`; the caller holds the writer lock.

    False, with everything as it was, where git makes no branch of that name: `trunk/mine` is in the way of `trunk`.
    """
    atomic.replace(state_file(git, _JOURNAL), json.dumps({"old": old, "new": new}).encode("utf-8"))
    fault("rename-journal")
    finish_rename(git)
    return current_branch(git) == new


def finish_rename(git: Git) -> None:
    """Finish a renaming that was interrupted, or record one that a person did; two small reads otherwise.

    One that git does not make is given up: work goes on under the old name, and the next sync tries again.
    """
    text = read_text(state_file(git, _JOURNAL), 4096)
    if text is None:
        _follow_person(git)
        return
    try:
        record = json.loads(text)
        old, new = record["old"], record["new"]
    except (ValueError, KeyError, TypeError):  # written whole or not at all, so this is none of ours
        _close(git)
        return
    _rename(git, str(old), str(new))
    _close(git)


def _rename(git: Git, old: str, new: str) -> None:
    if old == new:  # what follows would remove the branch
        return
    tip, there = branch_tip(git, old), branch_tip(git, new)
    current = current_branch(git)
    if current == old or (current == new and there is None):
        made = tip in (None, there) or move_ref(git, f"refs/heads/{new}", str(tip), there, "renamed as on the remote")
        if not made:  # HEAD must not come to name a branch that is not there
            return
        fault("rename-made")
        git.run("symbolic-ref", "-m", "renamed as on the remote", "HEAD", f"refs/heads/{new}")
        fault("rename-head")
    seen, known = ref_value(git, seen_ref(old)), ref_value(git, seen_ref(new))
    if seen is not None and known is None:
        move_ref(git, seen_ref(new), seen, None, "seen")
    if current_branch(git) == new:
        atomic.replace(state_file(git, "branch"), f"{new}\n".encode())
        fault("rename-recorded")
        _set_upstream(git, old, new)
        if tip is not None and git.holds("merge-base", "--is-ancestor", tip, f"refs/heads/{new}"):
            git.call("update-ref", "-d", f"refs/heads/{old}", tip)


def _set_upstream(git: Git, old: str, new: str) -> None:
    """What `git pull` by hand follows."""
    name = git.run("config", "--local", "--get", f"branch.{old}.remote", check=False).decode("utf-8", "replace").strip()
    if name:
        git.run("config", "--local", f"branch.{new}.remote", name)
        git.run("config", "--local", f"branch.{new}.merge", f"refs/heads/{new}")
        git.call("config", "--local", "--remove-section", f"branch.{old}")
        if ref_value(git, f"refs/remotes/{name}/{new}") is not None:
            git.call("symbolic-ref", f"refs/remotes/{name}/HEAD", f"refs/remotes/{name}/{new}")


def _follow_person(git: Git) -> None:
    """`git branch -m` by hand leaves a line in the log of the new branch: then the record follows."""
    recorded = (read_text(state_file(git, "branch"), 1024) or "").strip()
    current = current_branch(git)
    if current in (None, recorded) or not recorded or not recorded.isprintable() or branch_tip(git, recorded):
        return
    log = read_text(os.path.join(git.common_dir, "logs", "refs", "heads", *str(current).split("/"))) or ""
    if f"renamed refs/heads/{recorded} to refs/heads/{current}\n" in log:
        _rename(git, recorded, str(current))


def _close(git: Git) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(git, _JOURNAL))
    atomic.flush_folder(os.path.dirname(state_file(git, _JOURNAL)))
