"""Fail the n-th call, for all n until a run ends without a failure: SQLite's loop, on commands in real brains.

`how` is an error of the file system (ENOSPC, EIO, EACCES; a start of git then fails for want of a process), `kill`,
or what happens to a start of git: `git-exit` (it says fatal), `git-die` (it is killed), `git-orphan` (our process
is killed while that git goes on), `git-widow` (our process is killed when that git has done its work).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .matrix import go_on, require_honest
from .scene import DOCUMENTED, KILLED, Answer, Scene, leftovers
from .states import PLAYS, Play, discard, edit_by_hand

_MOST = 600
"""Calls of one run; none makes so many, so a loop that gets there does not end."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One loop: every `step`-th call of a command, from the first on."""

    play: str
    how: str
    step: int = 1
    sticky: bool = False

    def __str__(self) -> str:
        return f"{self.play}-{self.how}{'-on' if self.sticky else ''}"


HOWS = ("EIO", "kill", "git-exit", "git-die", "git-orphan", "git-widow")

GATE = (
    Sweep("remember", "EIO"),
    Sweep("remember", "ENOSPC", step=3, sticky=True),
    Sweep("remember", "kill", step=2),
    Sweep("remember", "git-exit"),
    Sweep("remember", "git-orphan", step=3),
    Sweep("update", "EIO", step=6),
    Sweep("approve", "EIO", step=17),
    Sweep("approve", "kill", step=13),
    Sweep("rebuild", "EIO"),
    Sweep("rebuild", "ENOSPC", step=3, sticky=True),
    Sweep("rebuild", "kill", step=2),
    Sweep("sync", "EIO", step=13),
    Sweep("sync", "ENOSPC", step=29, sticky=True),
    Sweep("sync", "kill", step=17),
    Sweep("sync", "git-exit", step=11),
    Sweep("sync", "git-orphan", step=13),
    Sweep("import", "EIO", step=7),
)
"""The loops of the ordinary suite: one failing call of `remember` and `rebuild-index` whole, the others in strides."""


def everything() -> list[Sweep]:
    """The loops of the night: all calls of all commands."""
    sweeps = [Sweep(play, how) for play in PLAYS for how in HOWS]
    return sweeps + [Sweep(play, "ENOSPC", sticky=True) for play in PLAYS]


def failed_runs(scene: Scene, sweep: Sweep) -> Iterator[tuple[int, Answer]]:
    """Run after run, each in the same state, until one ends before its call is reached; which and how it ended."""
    play = PLAYS[sweep.play]
    for at in range(1, _MOST, sweep.step):
        scene.load(play.state.__name__, play.state)
        answer = scene.run(play.who, *play.command(scene), how=sweep.how, at=at, sticky=sweep.sticky)
        if not answer.event:
            return
        yield at, answer
    raise AssertionError(f"{sweep} does not end")


def require_decent(sweep: Sweep, at: int, answer: Answer) -> None:
    """The run ended as a command may: by the kill, or with a documented code and no stack on the terminal."""
    killed = sweep.how in ("kill", "git-orphan", "git-widow")
    assert answer.code == KILLED if killed else answer.code in DOCUMENTED, (str(sweep), at, answer)
    assert "Traceback" not in answer.err, (str(sweep), at, answer)


def sweep_through(scene: Scene, sweep: Sweep, *, full: bool) -> int:
    """Play a whole loop; how many runs failed. Raises AssertionError where an invariant does not hold.

    After each the same command and a sync must succeed, with every fact in a commit and nothing left over; with
    `full` a person edits in between, all clones sync and are compared.
    """
    play, count = PLAYS[sweep.play], 0
    for at, answer in failed_runs(scene, sweep):
        count += 1
        require_decent(sweep, at, answer)
        try:
            if full:
                go_on(scene, play, answer)
            else:
                _go_on_alone(scene, play, answer)
        except AssertionError as error:
            raise AssertionError(f"{sweep}, call {at} ({answer.event}): {error}; the failed run: {answer}") from error
    assert count, f"{sweep}: nothing failed"
    return count


def _go_on_alone(scene: Scene, play: Play, answer: Answer) -> None:
    """As `go_on`, for one clone."""
    require_honest(scene, play, answer)
    edit_by_hand(scene)
    scene.pass_time()
    play.after(scene)
    for command in (play.command(scene), ("sync", "--json")):
        again = scene.run(play.who, *command)
        assert again.code == 0, again
    scene.tokens.update(play.facts)
    root = scene.root(play.who)
    status = scene.git(root, "status", "--porcelain", "--untracked-files=all")
    assert status == "", status
    assert leftovers(root) == [], leftovers(root)
    everything = scene.git(root, "grep", "-h", "-e", "fact", "HEAD")
    lost = sorted(token for token in scene.tokens if token not in everything)
    assert not lost, lost


def run_nth_calls(folder: Path) -> dict[str, int]:
    """Every loop of the night below `folder`; how many runs failed in each.

    Raises AssertionError for the first that breaks an invariant, naming loop and call.
    """
    scene = Scene(folder)
    try:
        found = {str(sweep): sweep_through(scene, sweep, full=True) for sweep in everything() if _applies(sweep)}
    finally:
        scene.close()
    discard(folder)
    return found


def _applies(sweep: Sweep) -> bool:
    """A rebuild starts no git."""
    return not (sweep.play == "rebuild" and sweep.how.startswith("git-"))
