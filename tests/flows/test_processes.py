"""What a sync and a write cost: how many git processes each starts, whatever the size of the brain.

A process is several milliseconds of CPU, and most of what a small step takes. Who needs more has to say so here.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonwealth.flows import syncing
from commonwealth.model import Receipt
from commonwealth.repo import git as runner

from .conftest import Teammate, recorded, settle

NOTHING_TO_DO = 3
PUBLISH = 20
PULL = 10
MERGE = 25
REMEMBER = 8


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of every git that was started; nothing else about them changes."""
    calls: list[tuple[str, ...]] = []
    start = runner._start

    def noting(git: runner.Git, args: tuple[str, ...], *rest: object, **named: object) -> object:
        calls.append(args)
        return start(git, args, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "_start", noting)
    return calls


def at_most(most: int, started: list[tuple[str, ...]], work: Callable[[], Receipt], state: str) -> None:
    started.clear()
    receipt = work()
    assert receipt.state == state, receipt
    assert 0 < len(started) <= most, "\n".join(" ".join(args) for args in started)


@pytest.fixture
def people(team: tuple[Teammate, Teammate]) -> tuple[Teammate, Teammate]:
    """Both have written and synced before today's work begins."""
    alice, bob = team
    for person, title in ((alice, "Queues drain at night"), (bob, "Doors need oil"), (alice, "Lamps last a year")):
        recorded(person.act(), title)
        syncing.sync(person.act())
    syncing.sync(bob.act())
    return alice, bob


def test_a_sync_with_nothing_to_do_starts_a_few_processes(
    people: tuple[Teammate, Teammate], started: list[tuple[str, ...]]
) -> None:
    for person in people:
        brain = person.act()
        syncing.sync(brain)
        at_most(NOTHING_TO_DO, started, lambda brain=brain: syncing.sync(brain), "unchanged")  # type: ignore[misc]


@pytest.mark.parametrize("count", [2, 12])
def test_publishing_and_pulling_start_so_many_processes_whatever_the_number_of_notes(
    people: tuple[Teammate, Teammate], started: list[tuple[str, ...]], count: int
) -> None:
    alice, bob = people
    for number in range(count):
        recorded(alice.act(), f"Fact {number} about shelf {number * 7}")
    brain = alice.act()
    at_most(PUBLISH, started, lambda: syncing.sync(brain), "published")
    other = bob.act()
    at_most(PULL, started, lambda: syncing.sync(other), "published")


@pytest.mark.parametrize("count", [2, 12])
def test_a_merge_starts_so_many_processes_whatever_the_number_of_notes(
    people: tuple[Teammate, Teammate], started: list[tuple[str, ...]], count: int
) -> None:
    alice, bob = people
    for number in range(count):
        recorded(alice.act(), f"Fact {number} about shelf {number * 7}")
        recorded(bob.act(), f"Observation {number} of door {number * 3}")
    syncing.sync(alice.act())
    brain = bob.act()
    at_most(MERGE, started, lambda: syncing.sync(brain), "published")


def test_a_write_starts_a_few_processes(people: tuple[Teammate, Teammate], started: list[tuple[str, ...]]) -> None:
    brain = people[0].act()
    settle(brain)
    started.clear()
    recorded(brain, "The door sticks in winter")
    assert 0 < len(started) <= REMEMBER, "\n".join(" ".join(args) for args in started)
