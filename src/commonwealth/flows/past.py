"""What the brain said at an earlier time: the commit that an instant means, and answers from an index of its tree."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from commonwealth import timeline
from commonwealth.errors import Refused, Usage
from commonwealth.flows import pastindex
from commonwealth.flows.brains import Brain
from commonwealth.repo import head, history
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.safetext import one_line

T = TypeVar("T")

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}(?:[~^][0-9]{0,6}){0,8}")
_HASH = re.compile(r"[0-9a-f]{4,64}")
_FORM = "Give a time such as 2026-06-02T12:20:00Z, or a commit: `brain history ID` lists those of a note."


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in the brain's history. `at` is what counts as now there: the instant that was asked for, or the date
    of the commit that was."""

    commit: str
    at: str
    warnings: tuple[str, ...] = ()


def moment(brain: Brain, as_of: str, *, now: str | None = None) -> Moment:
    """What `as_of` means: an instant, a commit by its full or short name, or a ref (`HEAD~3`).

    An instant means the last commit on the first-parent line of the brain's branch that is dated at or before it; one
    after `now` means now. A commit has to be in that branch's history. Raises Usage for text that is neither, Refused
    for an unknown commit and for an instant before the first commit.
    """
    text = as_of.strip()
    git = Git(brain.root)
    branch = head.main_branch(git)
    tip = head.branch_tip(git, branch)
    if tip is None:
        raise Refused(f"as_of: {brain.name} has no commit yet.", hint="What it says now: the same without as_of.")
    try:
        instant = timeline.canonical(text)
    except ValueError as error:
        if text[4:5] == "-" or not _REVISION.fullmatch(text) or ".." in text:
            raise Usage(f"as_of: {error}, nor a commit.", hint=_FORM) from None
        return _of_commit(git, branch, tip, text)
    if now is not None and instant > now:
        return Moment(tip, now, (f"as_of: {instant} is in the future; this is what the brain says now",))
    return _of_instant(git, branch, tip, instant)


def _of_instant(git: Git, branch: str, tip: str, instant: str) -> Moment:
    commit = history.commit_at(git, tip, instant)
    if commit is None:
        first, at = history.first_on_line(git, tip)
        raise Refused(
            f"as_of: {instant} lies before the first commit of {branch} ({first[:12]} of {at}).",
            hint=_unshallow(git) or f"{branch} says nothing older. `brain history ID` lists the versions of a note.",
        )
    late = history.later_on_line(git, commit, instant)
    if late is None:
        return Moment(commit, instant)
    warning = f"as_of: a clock was wrong: {late[:12]} comes before {commit[:12]}, and is dated after {instant}"
    return Moment(commit, instant, (f"{warning}; the order of the commits counts",))


def _of_commit(git: Git, branch: str, tip: str, name: str) -> Moment:
    commit = git.resolve(name)
    if commit is None:
        if _HASH.fullmatch(name) and len(git.text("rev-parse", f"--disambiguate={name}").split()) > 1:
            raise Refused(f"as_of: the commit {name} is not the only one.", hint="Give more of its name.")
        raise Refused(f"as_of: there is no commit {one_line(name, 80)!r}.", hint=_unshallow(git) or _FORM)
    if commit != tip and not git.holds("merge-base", "--is-ancestor", commit, tip):
        raise Refused(
            f"as_of: {commit[:12]} is not in the history of {branch}.",
            hint=_unshallow(git)
            or "It lies on another branch, or in a history that was rewritten since. "
            "`brain history ID --at COMMIT` prints one note of it.",
        )
    return Moment(commit, history.date_of(git, commit))


def _unshallow(git: Git) -> str | None:
    """The next step where the history of a shallow clone ends too soon."""
    if not os.path.exists(os.path.join(git.common_dir, "shallow")):
        return None
    return f"This clone is shallow: `{git_at(git.root)} fetch --unshallow` brings the older history."


def ask(brain: Brain, then: Moment, question: Callable[[sqlite3.Connection], T]) -> T:
    """The answer to `question` from an index of the tree at that commit (see `pastindex.ask`)."""
    return pastindex.ask(brain, then.commit, question)
