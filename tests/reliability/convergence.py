"""Random work of a team under a nemesis, healed and checked: a seed makes a run, and makes it again."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from commonwealth.flows import syncing

from . import clones, nemesis, operations, texts
from .actor import Actor
from .checker import problems
from .clone_in_use import workers_of
from .clones import Person, World
from .run import FINE, GATE, Level, Run

HEAL_ROUNDS = 2


@dataclass(frozen=True)
class Plan:
    """What a run is made of."""

    seed: int
    people: int = 3
    steps: int = 40
    level: Level = GATE
    object_format: str = "sha1"


@dataclass(frozen=True)
class Result:
    """What came of a run: what does not hold, the trace, and figures."""

    plan: Plan
    problems: list[str]
    trace: list[str]
    counts: Counter[str]

    def told(self) -> str:
        """Everything that is needed to see the failure again."""
        plan = self.plan
        head = f"COMMONWEALTH_SEED={plan.seed} people={plan.people} steps={plan.steps} level={plan.level}"
        return "\n".join([head, *self.trace, *self.problems])


def prepared(plan: Plan, folder: Path, actor: Actor | None = None) -> Run:
    """A team at the start of a run, each with a clock of their own, and a few notes that all have."""
    # Whoever has plain git would have to move a rewritten history by hand: there, all have the tool.
    without = 0 if plan.level.rewrite else 1
    world = clones.make(folder, plan.people, without_tool=without, object_format=plan.object_format)
    state = Run(world, plan.level, actor)
    setup = random.Random(f"{plan.seed}/setup")
    begin(state)
    for person in world.people:
        person.skew = setup.uniform(-plan.level.skew, plan.level.skew)
    if plan.level.review and len(world.users) > 1:
        nemesis.review_first(world, world.users[1])
    return state


def run(plan: Plan, folder: Path, actor: Actor | None = None, only: Collection[int] | None = None) -> Result:
    """Work, heal, check. `only` names the steps that are done; the others are left out, each as it would have been."""
    state = prepared(plan, folder, actor)
    failures: list[str] = []
    try:
        for number in range(plan.steps):
            state.world.minutes += 1
            state.number = number
            state.facts.number = number * 10
            if plan.level.rewrite and number == plan.steps // 2:
                state.trace.append(nemesis.rewrite(state, random.Random(f"{plan.seed}/rewrite")))
            if only is None or number in only:
                step(state, random.Random(f"{plan.seed}/{number}"))
        failures = heal(state)
        failures += problems(state.world, state.facts, state.causes)
    except AssertionError as error:
        failures.append(f"{type(error).__name__}: {error}")
    return Result(plan, failures, state.trace, state.counts)


def begin(state: Run) -> None:
    """A few notes that everybody has, for them to meet in."""
    world, first = state.world, state.world.people[0]
    state.number, state.facts.number = -1, 99_000
    for number in range(4):
        said = [state.facts.new() for _ in range(3)]
        body = f"At first {said[0]}.\n\n## Context\n\n- {said[1]}\n\n## Details\n\n- {said[2]}"
        text = texts.note(
            f"First {number}", body, summary=f"Told {state.facts.new()}", tags=f"[a, {state.facts.new()}]"
        )
        folder = "decisions" if number == 3 else "memory"
        state.save(first, f"{folder}/2026-07/first-{number}.md", text.encode())
    with world.acting(first):
        syncing.sync(world.brain(first))
    for person in world.people[1:]:
        if person.tool:
            with world.acting(person):
                syncing.sync(world.brain(person))
        else:
            world.git(person, "pull", "-q", "--ff-only", "origin", "main")


def step(state: Run, rng: random.Random) -> None:
    """One operation of one person, whose link to the remote may be cut."""
    person = rng.choice(state.world.people)
    state.world.link(person, whole=rng.random() >= state.level.cut)
    if state.level.slow and rng.random() < state.level.slow:
        nemesis.slow_down(state.world, person, rng.choice((0, 0, 0.2, 0.5)))
    said, name = None, ""
    try:
        for _ in range(6):  # some have nothing to work on
            operation = operations.choose(state, person, rng)
            name, said = operation.__name__, operation(state, person, rng)
            if said is not None:
                break
    except Exception as error:
        raise AssertionError(f"#{state.number} {person.name} {name}: {type(error).__name__}: {error}") from error
    if said is not None:
        state.counts["operations"] += 1
        state.trace.append(f"#{state.number} {person.name}{'' if person.linked else ' (cut off)'}: {said}")


def heal(state: Run) -> list[str]:
    """Everybody ends what they began, has the remote again, and syncs; at most two rounds."""
    world, found = state.world, []
    state.number += 1
    for person in world.people:
        world.link(person, whole=True)
        if state.level.slow:
            nemesis.slow_down(world, person, 0)
        operation = state.busy(person)
        if operation is not None:
            state.trace.append(f"heal {person.name}: {state.go_on(person, operation, random.Random(0))}")
        for path in sorted(person.broken):
            state.mend(person, path)
        if person.away:
            state.trace.append(f"heal {person.name}: {nemesis.come_back(state, person, random.Random(0))}")
    for number in range(HEAL_ROUNDS):
        for person in [one for one in world.people if not one.tool and number == 0] + world.users:
            found += _meet(state, person)
    for person in world.people:
        if not person.tool:
            world.tried(person, "pull", "-q", "--ff-only", "origin", "main")
    return found


def _meet(state: Run, person: Person) -> list[str]:
    if not person.tool:
        _publish_by_hand(state, person)
        return []
    with state.world.acting(person):
        adopt = person.adopted < state.world.rewrites
        receipt = syncing.sync(state.world.brain(person), timeout=60, accept_deletions=True, adopt_remote=adopt)
        person.adopted = state.world.rewrites
    state.trace.append(
        f"heal {person.name}: {receipt.state} {receipt.reason or ''} {'; '.join(receipt.warnings)[:400]}"
    )
    return [] if receipt.state in FINE and receipt.state != "deferred" else [f"heal: {receipt}"]


def _publish_by_hand(state: Run, person: Person) -> None:
    state.world.git(person, "add", "-A")
    state.world.tried(person, "commit", "-q", "-m", "The last by hand")
    state.world.tried(person, "pull", "-q", "--no-edit", "--no-rebase", "origin", "main")
    operation = state.busy(person)
    if operation is not None:
        state.go_on(person, operation, random.Random(0))
    state.world.git(person, "push", "-q", "origin", "HEAD:main")


def sync_once(world: World, person: Person) -> None:
    """A sync that nothing is in the way of."""
    receipt = syncing.sync(world.brain(person), timeout=120)
    assert receipt.state in ("published", "unchanged"), receipt


def rest(root: Path) -> None:
    """Wait until nobody works for the brain at `root` any more. Raises AssertionError for a worker that stays."""
    end = time.monotonic() + 150
    while workers_of(root):
        assert time.monotonic() < end, "a worker outlives its time"
        time.sleep(0.05)


def minimised(plan: Plan, folder: Path, actor: Actor | None = None) -> Result:
    """The shortest part of a failing run that still fails in the same way, by leaving out steps again and again."""
    steps = list(range(plan.steps))
    best = _again(plan, folder, actor, steps)
    size = max(1, len(steps) // 2)
    while size:
        start = 0
        while start < len(steps):
            fewer = steps[:start] + steps[start + size :]
            result = _again(plan, folder, actor, fewer)
            if _same(result, best):
                steps, best = fewer, result
            else:
                start += size
        size //= 2
    return best


def _same(one: Result, other: Result) -> bool:
    return bool(one.problems) and {p.split()[0] for p in one.problems} & {p.split()[0] for p in other.problems} != set()


def _again(plan: Plan, folder: Path, actor: Actor | None, steps: list[int]) -> Result:
    shutil.rmtree(folder, ignore_errors=True)
    return run(plan, folder, actor, frozenset(steps))


def seed_of_environment() -> int | None:
    """The seed that somebody asks to see again."""
    said = os.environ.get("COMMONWEALTH_SEED")
    return int(said) if said else None
