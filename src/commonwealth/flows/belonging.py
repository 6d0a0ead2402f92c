"""What of a session belongs to a brain: the words that were said in a repository whose notes go there.

A session may leave its folder for another project and come back; what it learned there is that project's. Its own
folder says whose it is, and so does each folder that it stood in, as far as they are here: of one that is gone, with
nothing around it that is known, nobody can tell, and it counts as the session's own. Where the session's own folder
tells no repository, none is named: least of all the one that somebody happens to stand in who asks for the sweep.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from commonwealth.conversation import Conversation, Event
from commonwealth.flows import brains
from commonwealth.flows.brains import Brain
from commonwealth.repo.project import Project, normalise_remote, repository_of
from commonwealth.routing import Registry


@dataclass(frozen=True, slots=True)
class Belonging:
    """The brain as seen from the session's repository, what of the session is its own, and how many events are not."""

    brain: Brain
    said: Conversation
    left: int = 0

    @property
    def foreign(self) -> bool:
        """Whether nothing of the session is the brain's."""
        return self.left > 0 and not self.said.events


def of(brain: Brain, said: Conversation, *, anyway: bool = False) -> Belonging:
    """The part of `said` that is for `brain`; with `anyway` also where the notes of the session's own repository go
    elsewhere. Raises Damaged when the registry of rules cannot be read."""
    places = _Places(brain, brains.rules())
    home = places.home(said)
    if home is not None and anyway:
        home = replace(home, ours=True)
        places.accepted = home.identity
    project = _project(brain, said, home)
    ours = project.identity if project else home.identity if home and home.ours else None
    at_home = home is None or (home.ours and _same(home.identity, ours))
    kept = tuple(event for event in said.events if places.belongs(event, ours, at_home=at_home))
    if project is not brain.project:
        brain = replace(brain, project=project, cwd=project.root if project else said.cwd or brain.cwd)
    left = len(said.events) - len(kept)
    # Some of the commits may have been made where the rest was said.
    return Belonging(brain, replace(said, events=kept, commits=()) if left else said, left)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder: the repository around it, its identity, and whether its notes go to the brain."""

    project: Project | None
    identity: str | None
    ours: bool


def _project(brain: Brain, said: Conversation, home: _Place | None) -> Project | None:
    """The repository that the session's notes are about."""
    here = brain.project
    if home is not None and not home.ours:
        return here  # it may have come to us later
    if home is not None and home.project is not None:
        return home.project
    if here is None or said.cwd is None:
        return here
    known = home.identity == here.identity if home is not None else _is_below(said.cwd, here.root)
    return here if known else None


@dataclass(slots=True)
class _Places:
    """The folders of one session, each looked at once. `accepted` is a repository whose words are taken anyway."""

    brain: Brain
    registry: Registry
    accepted: str | None = None
    known: dict[str | None, _Place | None] = field(default_factory=dict)

    def belongs(self, event: Event, repository: str | None, *, at_home: bool) -> bool:
        """Whether an event is for the brain, and about `repository`."""
        place = self.look(event.folder)
        if place is None:
            return at_home
        accepted = self.accepted is not None and place.identity == self.accepted
        return (place.ours or accepted) and _same(place.identity, repository)

    def home(self, said: Conversation) -> _Place | None:
        """The session's own place; of a folder that is gone, by the repository that the host noted, if anybody here
        knows that."""
        found = self.look(said.cwd)
        if found is None and said.repository and said.cwd and not os.path.isdir(said.cwd):
            noted = self._ruled(None, normalise_remote(said.repository), said.cwd)
            return noted if noted is not None and (noted.ours or not self._is_unknown(noted)) else None
        return found

    def look(self, folder: str | None) -> _Place | None:
        """What is known of a folder: None where it is in no repository and of no rule, or gone."""
        if folder not in self.known:
            self.known[folder] = self._looked(folder)
        return self.known[folder]

    def _looked(self, folder: str | None) -> _Place | None:
        if not folder or not os.path.isabs(folder):
            return None
        around = folder
        while not os.path.isdir(around):
            around = os.path.dirname(around)
        project = repository_of(around)
        if project is not None and os.path.realpath(project.root) == os.path.realpath(self.brain.root):
            return None  # somebody works on the notes themselves
        found = self._ruled(project, project.identity if project else None, folder)
        if around != folder and found is not None and not found.ours and self._is_unknown(found):
            return None  # it may only lie around the repository that is gone
        return found

    def _is_unknown(self, place: _Place) -> bool:
        return self.registry.resolve(place.identity, None) is None

    def _ruled(self, project: Project | None, identity: str | None, folder: str) -> _Place | None:
        rule = self.registry.resolve(identity, folder)
        if rule is not None:
            there = rule.brain and os.path.realpath(brains.brain_folder(rule.brain))
            return _Place(project, identity, there == os.path.realpath(self.brain.root))
        if identity is None:
            return None
        # Without a rule, a brain that the person named is for the repository that they stand in.
        here = self.brain.project
        return _Place(project, identity, self.brain.rule is None and (here is None or here.identity == identity))


def _is_below(folder: str, root: str) -> bool:
    return f"{os.path.realpath(folder)}/".startswith(f"{os.path.realpath(root)}/")


def _same(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other
