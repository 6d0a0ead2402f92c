"""Which candidate is meant: by its id, its short id, the beginning of one, or its path, be its file whole or broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from commonwealth.errors import BadNote, Refused
from commonwealth.flows import ownqueue, recall
from commonwealth.flows.brains import Brain
from commonwealth.model import Problem
from commonwealth.notes import closing, naming, waiting
from commonwealth.notes.waiting import Waiting
from commonwealth.safetext import one_line

_SHORT = 8


class _Named(NamedTuple):
    """A file of the queue by the names that it has; a broken one is named by its file alone."""

    id: str
    path: str
    what: Waiting | Problem


def find(brain: Brain, note_id: str) -> Waiting:
    """The candidate of an id, a beginning or short id that is unique, or a path: of those that wait, else of those that
    were dropped.

    Raises Refused for an unknown id and one that several have, BadNote for a file that cannot be read.
    """
    found = _found(brain, note_id)
    if isinstance(found, Waiting):
        return found
    name = naming.stem(found.path)
    error = BadNote(found.path, found.line, found.cause)
    aside = f", `brain review reject {name}` sets it aside"
    if found.path.startswith(f"{waiting.DROPPED}/"):
        aside = f"; it was set aside, and is removed after {waiting.DAYS} days"
    error.hint = f"`brain review edit {name}` opens it in your editor{aside}."
    raise error


def place(brain: Brain, note_id: str) -> str:
    """As `find`, the path of the file alone, which need not be readable. Raises Refused."""
    return _found(brain, note_id).path


def _found(brain: Brain, note_id: str) -> Waiting | Problem:
    wanted = naming.id_key(note_id.strip().removesuffix(".md"))
    for dropped in (False, True):
        found, problems = ownqueue.listed(brain.root, dropped=dropped)
        named = [_Named(one.note.id, one.path, one) for one in found]
        named += [_Named(naming.stem(one.path), one.path, one) for one in problems]
        if meant := _meant(named, wanted):
            if len(meant) > 1:
                raise _ambiguous(note_id, meant)
            what = meant[0].what
            if isinstance(what, Problem):
                ownqueue.require_own(brain.root, what.path)
            return what
    if (known := _in_canon(brain, note_id)) is not None:
        hint = f"`brain read {known}` shows it, `brain update` and `brain retract` change it."
        raise Refused(f"{known} waits no more: it is a note of canon.", hint=hint)
    raise Refused(
        f"No candidate has the id {one_line(note_id.strip(), 120)!r}.",
        hint="`brain review list` shows those that wait, `brain review list --dropped` those that were turned down.",
    )


def _in_canon(brain: Brain, note_id: str) -> str | None:
    with suppress(Refused, BadNote):
        found = recall.locate(brain, note_id)
        return found.id if found.kind in closing.KINDS else None
    return None


def _meant(named: Sequence[_Named], wanted: str) -> list[_Named]:
    """Those whose file or id this is; else whose short id; else whose id begins so."""
    if not wanted:
        return []
    tests: tuple[Callable[[_Named], bool], ...] = (
        lambda one: naming.id_key(one.path.removesuffix(".md")) == wanted,
        lambda one: naming.id_key(one.id) == wanted,
        lambda one: naming.id_key(naming.stem(one.path)) == wanted,
        lambda one: len(wanted) >= _SHORT and naming.id_key(one.id).endswith(f"-{wanted}"),
        lambda one: naming.id_key(one.id).startswith(wanted),
    )
    for test in tests:
        if meant := [one for one in named if test(one)]:
            return meant
    return []


def _ambiguous(note_id: str, meant: Sequence[_Named]) -> Refused:
    ids = {naming.id_key(one.id) for one in meant}
    told = recall.some([one.path if len(ids) == 1 else one.id for one in meant])
    step = "Name one by its path." if len(ids) == 1 else "Give more of it."
    return Refused(f"The id {one_line(note_id, 120)!r} means {len(meant)} candidates: {told}.", hint=step)
