"""Which files a session's code repository has changed: in the work tree, and on its branch since the default one."""

from __future__ import annotations

from commonwealth.errors import BrainError
from commonwealth.repo.git import Git, fields
from commonwealth.repo.project import Project, ref_at

MOST = 1000
"""So many changed files are told at most, in order of their paths."""

_HEAD = "refs/remotes/origin/HEAD"
_USUAL = ("refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")


def default_ref(project: Project) -> str | None:
    """The ref of the default branch: what the remote's HEAD was when it was cloned, else `main` or `master`."""
    told = ref_at(project, _HEAD) or ""
    named = told.removeprefix("ref: ") if told.startswith("ref: refs/remotes/") else None
    return next((name for name in (named, *_USUAL) if name and ref_at(project, name)), None)


def is_default(project: Project, branch: str | None) -> bool:
    """Whether a branch is the default one, or none is known and it bears a usual name of one."""
    if branch is None:
        return False
    found = default_ref(project)
    names = (found,) if found is not None else _USUAL
    return any(name.removeprefix("refs/remotes/origin/").removeprefix("refs/heads/") == branch for name in names)


def changed_files(project: Project, seconds: float) -> tuple[str, ...]:
    """The tracked files that differ from where the branch left the default one, edits that are not committed included;
    paths from the root, at most `MOST`. No file is read, so one that was only touched counts too. By one git; nothing
    where it has no answer within `seconds`.
    """
    if project.commit is None:
        return ()
    base = default_ref(project)
    since = ("--merge-base", base) if base is not None else ("HEAD",)
    # `diff` would read the files that look changed, through the filter programs that the repository names.
    words = ("diff-index", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
    try:
        done = Git(project.root).call(*words, *since, "--", timeout=seconds)
    except BrainError:
        return ()
    return tuple(fields(done.out)[:MOST]) if done.code == 0 else ()
