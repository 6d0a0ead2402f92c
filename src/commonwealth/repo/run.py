"""One sync on its way: what it knows, what it did, and how it may end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from commonwealth.errors import BrainError
from commonwealth.faults import fault
from commonwealth.repo import outgoing
from commonwealth.repo.content import Content, Person
from commonwealth.repo.git import Git
from commonwealth.repo.head import ref_value
from commonwealth.repo.integrate import merge_bases, without_made
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import Outcome, clear_debt, record_debt, seen_ref
from commonwealth.repo.pending import blocked
from commonwealth.repo.refresh import closures
from commonwealth.repo.store import Delta, blob, differences, move_ref

Ended = tuple[str, BrainError | None]
"""The state in which a sync ends, and the trouble that it had."""

REQUEST_REF = "refs/commonwealth/request"
"""Keeps the commit that we pushed last to the remote's branch for requests."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the caller allows or asks for beyond an ordinary sync.

    `accept_deletions`: commit many deletions by hand at once. `adopt_remote`: take a history of the remote that
    was rewritten. `asked`: a person asked for this sync and waits: end at once what a merge or rebase has left, if no
    git works here and nobody has begun to resolve it, and try a protected branch again. `request`: the remote's
    branch for what the main branch does not take, None for none. `by_request`: offer nothing to the main branch itself.
    """

    accept_deletions: bool = False
    adopt_remote: bool = False
    asked: bool = False
    request: str | None = None
    by_request: bool = False


@dataclass(slots=True)
class Run:
    """The state of one sync. Commits are named by their object names; None is: there is none."""

    git: Git
    content: Content
    author: Person
    now: str
    deadline: float
    consent: Consent
    rng: random.Random
    branch: str = ""
    start: str | None = None
    tip: str | None = None
    """The tip of our branch."""
    remote: str | None = None
    theirs: str | None = None
    """The tip of the remote's branch, as fetched."""
    known: str | None = None
    """The newest tip of the remote's branch that we had taken for its history before."""
    requests: dict[str, str] = field(default_factory=dict)
    """The tips of the remote's branches that may be ours for requests, by name; nothing of theirs is fetched."""
    successor: tuple[str, str] | None = None
    """The branch, with its tip, that the remote has in the place of ours."""
    settled: bool = False
    declined: bool = False
    """The remote's branch has turned out to be protected in this sync."""
    committed: bool = False
    sent: bool = False
    adopted: bool = False
    pulled: set[str] = field(default_factory=set)
    pushed: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    conflicts: set[str] = field(default_factory=set)
    scanned: list[str] = field(default_factory=list)
    based: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    began: float = 0
    """The monotonic time at which this round began."""
    rounds: int = 0
    refused: int = 0

    def left(self) -> float:
        """Seconds left for the network; never none at all, so that a late call fails by its own deadline."""
        return max(0.05, self.deadline - time.monotonic())

    def bases(self, ours: str, theirs: str) -> tuple[str, ...]:
        """The merge bases of two commits, in whatever order, asked of git once."""
        pair = (min(ours, theirs), max(ours, theirs))
        if pair not in self.based:
            self.based[pair] = merge_bases(self.git, ours, theirs)
        return self.based[pair]

    def follows(self, new: str, old: str) -> bool:
        """Whether `new` holds the history of `old`."""
        return new == old or old in self.bases(new, old)

    def notes_in(self, old: str | None, new: str) -> set[str]:
        """The notes that differ between two commits."""
        return {path for path in differences(self.git, old, new) if self.content.owns(path)}

    def only_derived(self, old: str, new: str) -> bool:
        """Whether two commits differ in derived files alone, if at all, and in notes that others have closed."""
        with Objects(self.git) as objects:
            rest = without_made(differences(self.git, old, new), self.content, objects)
            said = {path: None if delta.new is None else blob(objects, delta.new) for path, delta in rest.items()}
        if not rest:
            return True
        closed = closures(self.git, old, frozenset(rest), self.content, [old])
        return all(path in closed and closed[path] == data for path, data in said.items())

    def see(self, tip: str) -> None:
        """Take `tip` for the remote's history from now on."""
        seen = ref_value(self.git, seen_ref(self.branch))
        if seen != tip:
            move_ref(self.git, seen_ref(self.branch), tip, seen, "seen")

    def published(self) -> Ended:
        """Everything of ours is on the remote: the debt is paid."""
        if self.tip is not None and self.tip == self.theirs:
            self.see(self.tip)
        fault("debt")
        clear_debt(self.git)
        outgoing.forget_clean(self.git)
        return self.done("published")

    def owing(self, state: str, trouble: BrainError | None) -> Ended:
        """Something of ours is not on the remote: remember since when."""
        if self.tip is not None and self.tip != self.theirs:
            why, step = (trouble.message, trouble.hint) if trouble else ("not pushed yet", None)
            record_debt(self.git, self.now, why, step)
            fault("debt-recorded")
        return (state, trouble) if trouble else self.done(state)

    def done(self, state: str) -> Ended:
        """`state`, or unchanged where nothing happened."""
        happened = self.committed or self.pulled or self.sent or self.tip != self.start
        return (state if happened else "unchanged"), None

    def outcome(self, ended: Ended) -> Outcome:
        """The answer to the caller."""
        changed: dict[str, Delta] = {}
        self.warnings += [f"{path} is {cause}." for path, cause in blocked(self.git, self.content)]
        if self.tip is not None and self.tip != self.start:
            changed = differences(self.git, self.start, self.tip)
        return Outcome(
            state=ended[0],
            head=self.tip,
            pulled=len(self.pulled),
            pushed=len(self.pushed),
            changed=tuple(changed),
            before=self.start,
            added=frozenset(path for path, delta in changed.items() if delta.old is None),
            removed=frozenset(path for path, delta in changed.items() if delta.new is None),
            warnings=tuple(dict.fromkeys(self.warnings)),
            conflicts=tuple(sorted(self.conflicts)),
            trouble=ended[1],
            rounds=self.rounds,
            refused=self.refused,
        )
