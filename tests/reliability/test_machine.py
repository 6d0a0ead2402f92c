"""The same operations, chosen by hypothesis, which finds the few that matter when something does not hold."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from . import byhand, convergence, operations
from .checker import problems
from .convergence import Plan
from .run import Level, Run

BY_NAME = {found.__name__: found for found in (*operations.TOOL, *byhand.HAND, *byhand.GIT, *byhand.GIT_ONLY)}
PEOPLE = 3


def machine(folder: Path) -> type[RuleBasedStateMachine]:
    """A machine whose every example begins with the same team, kept as a copy of its folders."""
    world, kept = folder / "world", folder / "kept"
    begun = convergence.prepared(Plan(1, PEOPLE, 0, Level(skew=0)), world)
    shutil.copytree(world, kept, symlinks=True)

    class Team(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            shutil.rmtree(world)
            shutil.copytree(kept, world, symlinks=True)
            begun.world.people[:] = [type(one)(one.name, one.home, one.tool) for one in begun.world.people]
            begun.world.minutes = 0
            self.state = Run(begun.world, Level(skew=0), facts=begun.facts.copy())

        @rule(
            who=st.integers(0, PEOPLE - 1),
            name=st.sampled_from(sorted(BY_NAME)),
            choice=st.integers(0, 99),
            linked=st.booleans(),
        )
        def act(self, who: int, name: str, choice: int, linked: bool) -> None:
            state = self.state
            person = state.world.people[who]
            if not person.tool and BY_NAME[name] in operations.TOOL:
                return
            state.world.minutes += 1
            state.number += 1
            state.world.link(person, whole=linked)
            BY_NAME[name](state, person, random.Random(choice))

        @rule(who=st.integers(0, PEOPLE - 2))
        def sync(self, who: int) -> None:
            self.act_sync(who)

        def act_sync(self, who: int) -> None:
            state = self.state
            state.world.link(state.world.people[who], whole=True)
            operations.sync(state, state.world.people[who], random.Random(0))

        def teardown(self) -> None:
            found = convergence.heal(self.state)
            found += problems(self.state.world, self.state.facts)
            assert not found, "\n".join([*self.state.trace, *found])

    return Team


def test_no_interleaving_that_hypothesis_finds_loses_a_fact_or_parts_the_clones(tmp_path: Path) -> None:
    run_state_machine_as_test(
        machine(tmp_path),
        settings=settings(
            max_examples=10,
            stateful_step_count=14,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
