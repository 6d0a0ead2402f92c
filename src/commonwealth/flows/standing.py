"""What stands between this clone and its next sync, seen before one is tried, each with the step that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth.repo import examine, remote, stranded
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.repo.head import current_branch

_COMMANDS = {"mailbox": "am"}


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing in the way. `kind` is operation (a merge, a rebase ... under way), head (HEAD is elsewhere), index
    (git's own is missing or damaged) or remote (it was there and is gone); `next` is what a person does."""

    kind: str
    message: str
    next: str

    @property
    def stops(self) -> bool:
        """Whether a sync commits nothing while it is there."""
        return self.kind in ("operation", "head")


def obstacles(git: Git) -> tuple[Obstacle, ...]:
    """Everything that is in the way; nothing is changed. Raises Damaged where the branch itself cannot be read."""
    return (*out_of_place(git), *_index(git), *gone_remote(git))


def out_of_place(git: Git) -> Iterator[Obstacle]:
    """An operation of git's under way, and HEAD off the brain's branch."""
    branch, current = examine.recorded_branch(git), current_branch(git)
    if branch is None:
        return
    found = stranded.look(git, branch)
    operation = found.what if found is not None and found.what not in ("detached", "branch") else None
    if operation is not None:
        yield Obstacle("operation", f"A {operation} is under way in {git.root}.", _ending(git, operation))
    if current is not None and current != branch:
        step = f"`{git_at(git.root)} switch {branch}` goes back; what was committed on {current} stays there."
        yield Obstacle("head", _elsewhere(git, f"on the branch {current}", branch), step)
    elif current is None and operation is None:
        step = f"`brain sync` or `brain doctor --fix` brings it and its commits back to {branch}."
        yield Obstacle("head", _elsewhere(git, "detached", branch), step)


def _elsewhere(git: Git, where: str, branch: str) -> str:
    return f"HEAD of {git.root} is {where}, not on {branch}, which is the brain's."


def _ending(git: Git, operation: str) -> str:
    left = "where nobody is at it any more, `brain sync` or `brain doctor --fix` ends it and keeps every commit."
    if operation == "bisect":
        return f"`{git_at(git.root)} bisect reset` ends it; {left}"
    command = f"{git_at(git.root)} {_COMMANDS.get(operation, operation)}"
    return f"End it (`{command} --continue`) or undo it (`{command} --abort`); {left}"


def has_index(git: Git) -> bool:
    """Whether git's index is there and sound, or there is nothing yet that it could hold."""
    return examine.index_is_sound(git) or git.resolve("HEAD") is None


def _index(git: Git) -> Iterator[Obstacle]:
    if not has_index(git):
        step = "The next sync or write makes it anew."
        yield Obstacle("index", "git's index is missing or damaged.", step)


def gone_remote(git: Git) -> Iterator[Obstacle]:
    """The remote with which this clone has shared, where none is configured any more."""
    lost = remote.lost(git)
    if lost is not None:
        yield Obstacle("remote", lost.message, lost.step)
