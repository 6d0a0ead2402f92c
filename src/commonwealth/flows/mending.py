"""What `brain doctor --fix` does: every repair that loses no byte, each told in a sentence; the rest is a person's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth import config
from commonwealth.errors import BrainError, Damaged
from commonwealth.flows import brains, indexing, looking
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.index import schema
from commonwealth.repo import examine, mend, recovery, restore
from commonwealth.repo.git import Git
from commonwealth.repo.lock import WriterLock

_PATIENCE = 30
"""Seconds to wait for another writer."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair in a sentence; `done` is False for what stood in the way of it."""

    what: str
    done: bool = True


def fix(selector: str | None, cwd: str) -> Iterator[Repair]:
    """Mend the brain of a command; a sentence for each repair done.

    Safe to repeat, and to end anywhere. Raises Refused or Damaged where there is no brain to mend, Busy where
    another writer does not let go; what could not be mended is what the doctor finds afterwards.
    """
    brain = brains.resolve(selector, cwd)
    yield from _told(mend.open_the_way(str(brain.root)))
    folder = examine.folder_of(str(brain.root))
    if folder is None:
        return
    with WriterLock(folder, operation="doctor", timeout=_PATIENCE):
        yield from _told(mend.mend(str(brain.root), _address(brain)))
        yield from _told(_end_what_was_left(brain))
    yield from _told(_index(brain, folder))


def _told(repairs: Iterator[str]) -> Iterator[Repair]:
    """The repairs of one kind. Where they end in an error the others go on: the doctor names what is still wrong."""
    try:
        for sentence in repairs:
            yield Repair(sentence)
    except (BrainError, OSError) as error:
        what = error.message if isinstance(error, BrainError) else f"{error.filename}: {error.strerror}."
        yield Repair(f"Not everything could be mended: {what}", done=False)


def _address(brain: Brain) -> str | None:
    """Where the brain comes from, by the rules of the user's that name it."""
    try:
        rules = config.load_registry().rules
    except Damaged:
        return None
    places = (rule for rule in rules if rule.brain and rule.remote)
    return next((rule.remote for rule in places if _is_at(rule.brain or "", brain)), None)


def _is_at(name: str, brain: Brain) -> bool:
    return os.path.realpath(brains.brain_folder(name)) == str(brain.root)


def _end_what_was_left(brain: Brain) -> Iterator[str]:
    yield from recovery.finish_stranded(Git(brain.root), content_of(brain), patience=0)


def _index(brain: Brain, folder: str) -> Iterator[str]:
    """What stands in the way of the search index is moved away, and a damaged one is made anew from the files."""
    place = str(brain.index_dir)
    moved = False
    for name in (place, os.path.join(place, schema.POINTER)):
        wanted = stat.S_ISDIR if name == place else stat.S_ISREG
        if os.path.lexists(name) and not wanted(os.lstat(name).st_mode):
            moved = True
            yield f"Moved {name}, which stood in the way of the search index, to {restore.aside(folder, name)}."
    with looking.look(brain) as found:
        broken = found.damage
    if broken or moved:
        built = indexing.rebuild(brain)
        yield f"Made the search index anew from {built.files} files."
