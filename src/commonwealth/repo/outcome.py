"""What a sync leaves behind: its answer, the debt of what is not published yet, and private refs."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file
from commonwealth.repo.store import move_ref


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sync did.

    `state`: published (all of ours is on the remote), committed (ours is in git here; it was not asked to be
    pushed, there is no remote, or the remote declined it), deferred (the remote could not be reached, or
    others were faster to the end), refused (nothing may be pushed until a person acts), unchanged.
    `pulled` and `pushed` count notes; `changed` are all paths that differ between `before`, the tip at its start, and
    `head`, of which `added` were not there before, and `removed` are not there now;
    `conflicts` are files that keep a version which could not be united; `trouble` is the reason and next step.
    `rounds` counts the fetches, `refused` the pushes for which somebody else was faster.
    """

    state: str
    head: str | None = None
    pulled: int = 0
    pushed: int = 0
    changed: tuple[str, ...] = ()
    before: str | None = None
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    trouble: BrainError | None = None
    rounds: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Debt:
    """What is not published yet, since when (canonical time), why, and what a person does about it, if anything."""

    since: str
    reason: str
    next: str | None = None


def read_debt(git: Git) -> Debt | None:
    """What the last sync could not publish, or None."""
    text = read_text(state_file(git, "debt"))
    try:
        found = json.loads(text) if text else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return None
    step = found.get("next")  # records of older versions have none
    return Debt(str(found.get("since", "")), str(found.get("reason", "")), str(step) if step else None)


def record_debt(git: Git, now: str, reason: str, step: str | None = None) -> None:
    """Remember that something is not published, since the first time that it was not, and the next step."""
    earlier = read_debt(git)
    debt = Debt(earlier.since if earlier else now, reason, step)
    if debt != earlier:
        record = {"since": debt.since, "reason": debt.reason, "next": debt.next}
        atomic.replace(state_file(git, "debt"), json.dumps(record).encode("utf-8"))


def clear_debt(git: Git) -> None:
    """Everything is published."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(git, "debt"))


def seen_ref(branch: str) -> str:
    """The private ref that holds the newest tip of the remote's branch that we have taken for its history."""
    return f"refs/commonwealth/seen/{branch}"


def rescue(git: Git, tip: str | None) -> str:
    """A private ref that keeps `tip` whatever becomes of the branch; the newest one moves on where `tip` holds it."""
    listed = git.text("for-each-ref", "--format=%(objectname) %(refname:lstrip=3)", "refs/commonwealth/rescue")
    pairs = (line.split(" ", 1) for line in listed.splitlines())
    kept = {int(number): name for name, number in pairs if number.isdecimal()}
    newest = max(kept, default=0)
    same = [number for number, name in kept.items() if name == tip]
    if same:
        newest = same[0]
    elif not newest or tip is None or not git.holds("merge-base", "--is-ancestor", kept[newest], tip):
        newest += 1
    ref = f"refs/commonwealth/rescue/{newest}"
    if tip is not None:
        move_ref(git, ref, tip, kept.get(newest), "rescue")
    return ref
