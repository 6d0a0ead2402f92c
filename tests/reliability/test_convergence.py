"""Any interleaving of work, cuts, wrong clocks and deaths: nothing acknowledged is lost, and all end the same.

A failure prints its seed and every step. To see it again, run this file with `COMMONWEALTH_SEED=7` in the environment;
to find the few steps that matter: `python -m tests.reliability.night --level gate --seed 7 --minimise`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from . import convergence, texts
from .actor import Actor
from .checker import problems
from .convergence import Plan
from .run import GATE, Run

FOUND: tuple[Plan, ...] = ()
"""Runs that failed once, at any level."""

PLANS = (*(Plan(seed, 3, 40, GATE) for seed in range(1, 6)), Plan(6, 5, 120, GATE), *FOUND)


@pytest.fixture(scope="module")
def actor() -> Iterator[Actor]:
    with Actor() as found:
        yield found


def plans() -> tuple[Plan, ...]:
    seed = convergence.seed_of_environment()
    return PLANS if seed is None else tuple(plan for plan in PLANS if plan.seed == seed) or (Plan(seed, 3, 40, GATE),)


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: f"{plan.people}x{plan.steps}-seed{plan.seed}")
def test_a_team_under_a_nemesis_loses_no_fact_and_ends_with_the_same_bytes(
    tmp_path: Path, actor: Actor, plan: Plan
) -> None:
    plan = replace(plan, object_format=os.environ.get("RELIABILITY_OBJECT_FORMAT", plan.object_format))
    result = convergence.run(plan, tmp_path / "world", actor)
    assert not result.problems, result.told()


def begun(folder: Path) -> Run:
    state = convergence.prepared(Plan(1, 2, 0), folder)
    assert convergence.heal(state) == []
    return state


def test_the_checker_finds_nothing_wrong_with_a_team_that_is_in_step(tmp_path: Path) -> None:
    state = begun(tmp_path / "world")
    assert problems(state.world, state.facts) == []


def test_the_checker_notices_a_fact_that_nobody_took_out_and_that_is_gone(tmp_path: Path) -> None:
    state = begun(tmp_path / "world")
    alice = state.world.people[0]
    (alice.root / "memory/2026-07/first-0.md").unlink()
    assert convergence.heal(state) == []
    found = problems(state.world, state.facts)
    assert found
    assert all(problem.startswith("LOST fact") for problem in found)


def test_the_checker_notices_a_fact_that_is_back_after_somebody_who_saw_all_took_it_out(tmp_path: Path) -> None:
    state = begun(tmp_path / "world")
    alice, path = state.world.people[0], "memory/2026-07/first-0.md"
    state.save(alice, path, b"---\ntitle: Short now\n---\nNo more.\n")
    assert convergence.heal(state) == []
    assert problems(state.world, state.facts, state.causes) == []
    (alice.root / path).write_text(f"---\ntitle: Short now\n---\n{texts.token(99_001)}\n", encoding="utf-8")
    assert convergence.heal(state) == []
    found = problems(state.world, state.facts, state.causes)
    assert found == ["RETURNED fact99001z: edit 4 of Alice took it out"]


def test_the_checker_notices_clones_that_differ_and_files_left_over(tmp_path: Path) -> None:
    state = begun(tmp_path / "world")
    alice, bob = state.world.people
    (alice.root / ".git/commonwealth/journal").write_text("{}", encoding="utf-8")
    (bob.root / "memory/2026-07/first-0.md").write_bytes(b"other\n")
    found = "\n".join(problems(state.world, state.facts))
    assert "Alice and Bob differ in ['memory/2026-07/first-0.md']" in found
    assert "Alice: left over: ['journal']" in found
    assert "Bob: git status says" in found
