"""The remote's default branch has another name than ours: follow it where it holds what we know, else say so."""

from __future__ import annotations

from commonwealth import atomic
from commonwealth.errors import BrainError, Refused
from commonwealth.repo import remote
from commonwealth.repo.branchname import rename_branch
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.head import branch_tip, ref_value, state_file
from commonwealth.repo.outcome import seen_ref
from commonwealth.repo.run import Run
from commonwealth.safetext import one_line

REQUESTS = "brain/"
"""How the names of branches for requests begin; none of them is ever a brain's main branch."""

NOTES = "notes/"
"""How the names of branches that hold single notes begin; none of them is ever a brain's main branch either."""

_NEVER_MAIN = (REQUESTS, NOTES)

_LOOKED = "looked"


def look(run: Run) -> None:
    """Ask for the remote's branches where ours is not there, else once a day; fetch the one that took its place.

    Raises what the fetch of that branch raises.
    """
    if run.remote is None or run.successor is not None:
        return
    if run.theirs is None:
        heads = remote.heads(run.git, run.remote, run.left())
        canon = sorted(name for name in heads.tips if not name.startswith(_NEVER_MAIN))
        _note(run, heads.default)
        if run.branch in canon:
            return
        found = heads.default if heads.default in canon else canon[0] if len(canon) == 1 else None
        if found is not None:
            _fetch(run, found)
        elif canon and run.known is None:
            raise _several(run, canon)
        return
    _look_daily(run)


def _look_daily(run: Run) -> None:
    """A default branch that was ours and is another now, while ours is still there."""
    day, _, before = (read_text(state_file(run.git, _LOOKED), 1024) or "").rstrip("\n").partition(" ")
    if day == run.now[:10]:
        return
    try:
        heads = remote.heads(run.git, run.remote or "", run.left())
    except BrainError:
        return  # the fetch has worked, so this one can wait
    default = heads.default if heads.default in heads.tips else None
    before = before or _default_at_clone(run)
    if before == run.branch and default not in (None, run.branch) and not str(default).startswith(_NEVER_MAIN):
        _fetch(run, str(default))
        if run.successor is not None and not _holds(run, run.successor[1]):
            _note(run, before)  # asked again tomorrow
            run.warnings.append(
                f"The remote's default branch is {one_line(str(default))} now, but it lacks notes of {run.branch}: "
                f"this clone stays on {run.branch}. Merge {run.branch} into it on the server to go on there."
            )
            run.successor = None
        return
    _note(run, default)


def _default_at_clone(run: Run) -> str:
    prefix = f"refs/remotes/{run.remote}/"
    found = run.git.run("symbolic-ref", "--quiet", f"{prefix}HEAD", check=False).decode("utf-8", "replace").strip()
    return found.removeprefix(prefix)


def _note(run: Run, default: str | None) -> None:
    atomic.replace(state_file(run.git, _LOOKED), f"{run.now[:10]} {default or ''}\n".encode("utf-8", "surrogateescape"))


def _fetch(run: Run, branch: str) -> None:
    tip = remote.fetch(run.git, run.remote or "", branch, run.left())
    if tip is not None:
        run.successor = (branch, tip)


def _holds(run: Run, tip: str) -> bool:
    """Whether a branch goes on from what we know of ours, or has a root in common while we know nothing."""
    if run.known is not None:
        return run.follows(tip, run.known)
    return run.tip is None or bool(run.bases(run.tip, tip))


def follow(run: Run) -> Refused | None:
    """Rename our branch as the remote did, under the writer lock; a reason to stop, or None."""
    if run.successor is None:
        return None
    name, tip = run.successor
    if not _holds(run, tip):
        return _stranger(run, one_line(name))
    local = branch_tip(run.git, name)
    if local not in (None, run.tip) and (run.tip is None or not run.follows(run.tip, str(local))):
        return Refused(
            f"The remote's {run.branch} is {one_line(name)} now, and this clone has another branch of that name.",
            hint=f"Move that one aside (`{git_at(run.git.root)} branch -m {name} {name}-old`), then sync again.",
        )
    old = run.branch
    if old != name and not rename_branch(run.git, old, name):  # the same where a renaming was just now finished
        return _in_the_way(run, one_line(name))
    run.branch, run.theirs, run.successor = name, tip, None
    run.known = ref_value(run.git, seen_ref(name)) or tip
    _note(run, name)
    run.warnings.append(f"The remote's main branch is {one_line(name)} now: this clone has followed.")
    return None


def _stranger(run: Run, name: str) -> Refused:
    if run.known is None:
        return Refused(
            f"The remote has a branch {name} with notes of its own, and no {run.branch}.",
            hint="If that is the team's brain, `brain join` it into a new folder; if this one should go there too, "
            f"`{git_at(run.git.root)} branch -m {name}` and `brain sync --adopt-remote` put its notes on top.",
        )
    return Refused(
        f"The branch {run.branch} is gone from the remote, and its default branch {name} lacks what {run.branch} held.",
        hint=f"Bring {run.branch} back there, or merge what it held into {name}; then sync again. Nothing was pushed.",
    )


def _in_the_way(run: Run, name: str) -> Refused:
    return Refused(
        f"The remote's {run.branch} is {name} now, and git could not make a branch of that name in {run.git.root}.",
        hint=f"Where a branch of yours is in its way, as {name}/… would be, give that one another name "
        f"(`{git_at(run.git.root)} branch -m`); then sync again. Nothing was pushed.",
    )


def _several(run: Run, names: list[str]) -> Refused:
    return Refused(
        f"The remote has no {run.branch}, names no default branch that exists, and has "
        f"{', '.join(map(one_line, names[:10]))}.",
        hint="Set its default branch on the server to the one that holds the notes.",
    )
