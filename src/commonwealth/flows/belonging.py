"""What of a session belongs to a brain: the words that were said in a repository whose notes go there.

A session may leave its folder for another project and come back; what it learned there is that project's. Its own
folder says whose it is, and so does each folder that it stood in, as far as they are here: of one that is gone nobody
can tell, and it counts as the session's own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from commonwealth.conversation import Conversation, Event
from commonwealth.flows import brains
from commonwealth.flows.brains import Brain
from commonwealth.repo.project import Project, repository_of
from commonwealth.routing import Registry


@dataclass(frozen=True, slots=True)
class Belonging:
    """The brain as seen from the session's repository, what of the session is its own, and how many events are not."""

    brain: Brain
    said: Conversation
    left: int = 0


def of(brain: Brain, said: Conversation) -> Belonging:
    """The part of `said` that is for `brain`. Raises Damaged when the registry of rules cannot be read."""
    places = _Places(brain, brains.rules())
    home = places.look(said.cwd)
    project = home.project if home is not None and home.ours and home.project is not None else brain.project
    at_home = home is None or (home.ours and _same(home.project, project))
    kept = tuple(event for event in said.events if places.belongs(event, project, at_home=at_home))
    if project is not brain.project and project is not None:
        brain = replace(brain, project=project, cwd=project.root)
    if len(kept) == len(said.events):
        return Belonging(brain, said)
    return Belonging(brain, replace(said, events=kept), len(said.events) - len(kept))


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder that is here: the repository around it, and whether its notes go to the brain."""

    project: Project | None
    ours: bool


@dataclass(slots=True)
class _Places:
    """The folders of one session, each looked at once."""

    brain: Brain
    registry: Registry
    known: dict[str | None, _Place | None] = field(default_factory=dict)

    def belongs(self, event: Event, project: Project | None, *, at_home: bool) -> bool:
        """Whether an event is for the brain, and about `project`."""
        place = self.look(event.folder)
        if place is None:
            return at_home
        return place.ours and _same(place.project, project)

    def look(self, folder: str | None) -> _Place | None:
        """What is known of a folder: None where it is gone, or in no repository and of no rule."""
        if folder not in self.known:
            self.known[folder] = self._looked(folder)
        return self.known[folder]

    def _looked(self, folder: str | None) -> _Place | None:
        if not folder or not os.path.isabs(folder) or not os.path.isdir(folder):
            return None
        project = repository_of(folder)
        if project is not None and os.path.realpath(project.root) == os.path.realpath(self.brain.root):
            return None  # somebody works on the notes themselves
        rule = self.registry.resolve(project.identity if project else None, folder)
        if rule is not None:
            there = rule.brain and os.path.realpath(brains.brain_folder(rule.brain))
            return _Place(project, there == os.path.realpath(self.brain.root))
        if project is None:
            return None
        # Without a rule, a brain that the person named is for the repository that they stand in.
        here = self.brain.project
        return _Place(project, self.brain.rule is None and (here is None or _same(project, here)))


def _same(one: Project | None, other: Project | None) -> bool:
    return one is None or other is None or one.identity == other.identity
