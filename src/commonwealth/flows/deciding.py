"""One decision at a time: who sets a candidate aside or edits it is the only writer, and sees what others decided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from commonwealth.flows import approval, indexing, saving
from commonwealth.flows.brains import Brain
from commonwealth.model import Item
from commonwealth.notes import waiting
from commonwealth.notes.waiting import Waiting
from commonwealth.repo.git import Git
from commonwealth.repo.lock import WriterLock

APPROVED = "it was approved meanwhile, and is a note of canon"
DECIDED = "it waits no more: somebody decided on it meanwhile"


@contextmanager
def alone(brain: Brain) -> Iterator[None]:
    """Nobody else approves, sets aside or edits a candidate of this clone meanwhile. Raises Busy."""
    with WriterLock(Git(brain.root).git_dir, operation="review"):
        yield


def still(brain: Brain, one: Waiting) -> Waiting | Item:
    """The candidate as its file is by now; else what became of it: `refused` where canon has it, `unchanged` where it
    waits no more. Raises BadNote for a file that is no note any more."""
    try:
        there = waiting.read(brain.root, one.path)
    except FileNotFoundError:
        if in_canon(brain, one) is None:
            return Item(one.note.id, "unchanged", DECIDED)
        return Item(one.note.id, "refused", APPROVED)
    place = in_canon(brain, there)
    if place is None or not approval.says_so(brain, there, place):
        return there
    step = f"`brain review approve {one.note.id}` takes what is left of it out of the queue"
    return Item(one.note.id, "refused", f"{approval.APPROVED}: {step}")


def in_canon(brain: Brain, one: Waiting) -> str | None:
    """The committed file of the note with a candidate's id, if canon has one."""
    found = indexing.ask(brain, partial(approval.exactly, note_id=one.note.id))
    return found.path if found is not None and saving.is_committed(brain, found.path) else None
