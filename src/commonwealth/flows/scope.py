"""Facts of branches that are not merged: left out of a session on another branch, labelled everywhere else.

A note is left out only where the session works in the note's own repository, HEAD does not hold the note's commit, that
commit is not in the default branch, and the branch is still there. What this clone of the code cannot tell is shown.
Read by hooks: without a note that is limited to a branch no git is started.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from commonwealth.errors import BrainError
from commonwealth.flows.brains import Brain
from commonwealth.index import query, scope
from commonwealth.index.scope import Scope
from commonwealth.model import Hit, Note, same_repository
from commonwealth.repo import branchrefs, branchstate
from commonwealth.repo.branchstate import State, Told
from commonwealth.repo.common import find_git_dir
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER
from commonwealth.safetext import one_line

SECONDS = 5.0
"""Seconds that git may take to say what became of the branches."""

HOOK_SECONDS = 0.6
"""The same within a hook."""

_WORDS = {
    State.MERGED: "branch {} was merged",
    State.SQUASHED: "branch {} was merged",
    State.BEGUN: "on branch {}, its commit is merged",
    State.OPEN: "on branch {}, not merged",
    State.GONE: "branch {} is gone",
    State.UNKNOWN: "branch {} is unknown here",
}
_HERE = "on this branch, {}"
_STARTS = tuple(words.partition("{}")[0] for words in (*_WORDS.values(), _HERE))


@dataclass(frozen=True, slots=True)
class View:
    """What of a brain a session sees: the keys of the scopes that are left out of it, and the label of every scope."""

    hidden: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


EVERYTHING = View()


def view(brain: Brain, conn: sqlite3.Connection, *, seconds: float = SECONDS) -> View:
    """What the session of `brain` sees of the notes in this index. Git has `seconds` to answer."""
    found = scope.scopes(conn)
    return _seen(brain, found, seconds) if found else EVERYTHING


def label_of_note(brain: Brain, note: Note) -> str | None:
    """How a note is labelled for this session; None where it holds everywhere."""
    key = scope.key_of(note)
    return _seen(brain, [scope.of_key(key)], SECONDS).labels[key] if key else None


def missing(brain: Brain, note: Note, *, seconds: float = HOOK_SECONDS) -> tuple[str, ...]:
    """The warning that a note is limited to a branch of the code repository at hand which this clone does not know.

    Empty where it knows the branch, where the note is about another repository, and where git cannot say.
    """
    project = brain.project
    if project is None or not note.branch or note.branch == project.branch:
        return ()
    if not same_repository(note.repository or project.identity, project.identity):
        return ()
    try:
        refs = branchrefs.read(Git(project.root), seconds)
    except BrainError:
        return ()
    if refs.of(note.branch):
        return ()
    return (f"{project.name} has no branch {_name(note.branch)} here: check its name, or fetch it",)


def search(
    brain: Brain, conn: sqlite3.Connection, wanted: query.Query, *, seconds: float = SECONDS
) -> tuple[tuple[Hit, ...], int]:
    """`query.search` as this session sees it: without what is true on another branch only, unless that is asked for,
    and with a label first in `why` of each hit that is limited to a branch. Raises as `query.search` does."""
    seen = view(brain, conn, seconds=seconds)
    if not seen.labels:
        return query.search(conn, wanted)
    hits, total = query.search(conn, replace(wanted, outside=seen.hidden))
    return tuple(_labelled(hit, seen) for hit in hits), total


def _labelled(hit: Hit, seen: View) -> Hit:
    label = seen.labels.get(scope.key_of(hit.note) or "")
    return replace(hit, why=(label, *hit.why)) if label else hit


def label(hit: Hit) -> str | None:
    """The label that `search` gave a hit, or that its note's own words give without a look at any repository."""
    if not hit.note.branch:
        return None
    told = next((why for why in hit.why if why.startswith(_STARTS)), None)
    return told or f"on branch {_name(hit.note.branch)}"


def _name(branch: str) -> str:
    return one_line(branch, 36)


# What became of the branches


def _seen(brain: Brain, found: Iterable[Scope], seconds: float) -> View:
    project = brain.project
    told: dict[branchstate.Asked, Told] = {}
    here = [one for one in found if project and one.repository and same_repository(one.repository, project.identity)]
    if project is not None:
        asked = [(one.branch, one.commit) for one in here if one.branch != project.branch]
        told = branchstate.told(project, asked, seconds=seconds, kept=_place(brain))
    hidden: list[str] = []
    labels: dict[str, str] = {}
    for one in found:
        labels[one.key] = _WORDS[State.UNKNOWN].format(_name(one.branch))
    for one in here:
        answer = told.get((one.branch, one.commit))
        own = answer is None or (project is not None and answer.name == project.branch)
        if answer is None or own:
            labels[one.key] = _HERE.format(_name(one.branch))
            continue
        labels[one.key] = _words(one, answer)
        if answer.state is State.OPEN and not answer.here:
            hidden.append(one.key)
    return View(tuple(hidden), labels)


def _words(one: Scope, answer: Told) -> str:
    now = f", now {_name(answer.name)}" if answer.name != one.branch else ""
    return _WORDS[answer.state].format(f"{_name(one.branch)}{now}")


def _place(brain: Brain) -> str | None:
    """The file of this clone that keeps what git said."""
    git_dir = find_git_dir(str(brain.root))
    return os.path.join(git_dir, FOLDER, "branches.json") if git_dir else None
