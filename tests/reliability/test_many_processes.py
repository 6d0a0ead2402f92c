"""Sessions, servers, hooks, workers and people with git in one clone at once: no failure is seen, nothing is lost."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from commonwealth.flows import syncing

from . import clones, texts
from .actor import Actor
from .checker import Facts, problems
from .clone_in_use import crowd, workers_of
from .clones import Person, World

EVERYBODY = ("flows", "flows", "command", "mcp", "hook", "git", "editor", "reader")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Alice, whose clone is about to be busy, and Bob, who has one too; both have a note that all will edit."""
    made = clones.make(tmp_path / "world", 2, without_tool=0)
    alice = made.people[0]
    made.write(alice, "memory/2026-07/shared.md", texts.note("Shared by all", "First.").encode())
    sync(made, alice)
    return made


def sync(world: World, person: Person) -> None:
    with world.acting(person):
        receipt = syncing.sync(world.brain(person), timeout=60)
    assert receipt.state in ("published", "unchanged"), receipt


def settled(world: World, facts: Facts) -> list[str]:
    """Once the workers are gone and all have synced: what does not hold."""
    alice = world.people[0]
    end = time.monotonic() + 150
    while workers_of(alice.root):
        assert time.monotonic() < end, "a worker outlives its time"
        time.sleep(0.05)
    for person in (*world.people, *world.people):
        sync(world, person)
    return problems(world, facts)


def test_eight_processes_in_one_clone_see_no_failure_and_lose_nothing(world: World) -> None:
    alice = world.people[0]
    done = crowd(world, alice, EVERYBODY, 6)
    assert done.wrong == []
    facts = Facts()
    for fact in done.facts:
        facts.edited(None, fact.encode(), "the crowd")
    assert settled(world, facts) == []


@pytest.mark.parametrize("point", ["commit-half-renamed", "commit-object", "move-half", "move-done"])
def test_a_lock_ends_with_its_holder_and_the_next_writer_goes_on_at_once(world: World, point: str) -> None:
    alice, bob = world.people
    world.write(bob, "memory/2026-07/of-bob.md", texts.note("Of Bob", texts.token(1)).encode())
    sync(world, bob)
    call = {"root": str(alice.root), "call": "sync" if point.startswith("move") else "remember", "title": "Dies"}
    with Actor() as actor:
        code, _ = actor.play(call, {**world.environment(alice), "COMMONWEALTH_FAULT": f"{point}=kill"})
        assert code == -signal.SIGKILL
        code, answer = actor.play(
            {"root": str(alice.root), "call": "remember", "title": "Lives", "body": texts.token(2)},
            world.environment(alice),
        )
    assert (code, answer.get("state")) == (0, "committed"), answer
    facts = Facts()
    for number in (1, 2):
        facts.edited(None, texts.token(number).encode(), "after the kill")
    assert settled(world, facts) == []
