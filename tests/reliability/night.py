"""The long proof, by one command: `python -m tests.reliability.night [--level gate|night|release] [--seed N]`.

Prints the seeds, the figures and everything that did not hold; the exit code is 1 where anything did not.
`--seed N [--people P --steps S --minimise]` makes one run again, and finds the steps that matter.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import clones, convergence, kills, matrix, nth_call, switches, texts
from .actor import Actor
from .checker import Facts, problems
from .clone_in_use import crowd
from .convergence import Plan, Result
from .run import GATE, NIGHT, RELEASE, Level

LEVELS: dict[str, tuple[Level, tuple[tuple[int, int, int], ...]]] = {
    "gate": (GATE, ((3, 40, 5), (5, 120, 1))),
    "night": (NIGHT, ((5, 1000, 4), (10, 600, 2))),
    "release": (RELEASE, ((20, 2000, 2),)),
}
"""For each level its nemesis, and (people, steps, seeds)."""

EVERYBODY = ("flows", "flows", "command", "mcp", "hook", "git", "editor", "reader")


@dataclass
class Report:
    """What is told at the end."""

    counts: Counter[str]
    failed: list[str]
    started: float

    def add(self, result: Result) -> None:
        self.counts.update(result.counts)
        self.counts["seeds"] += 1
        self.counts["lost"] += sum(problem.startswith("LOST") for problem in result.problems)
        if result.problems:
            self.failed.append(result.told())

    def told(self) -> str:
        figures = ", ".join(f"{name} {number}" for name, number in sorted(self.counts.items()))
        minutes = (time.monotonic() - self.started) / 60
        return f"{figures}\n{len(self.failed)} failed, {minutes:.1f} min"


def plans(level: str, seed: int | None) -> Iterator[Plan]:
    nemesis, sizes = LEVELS[level]
    first = seed if seed is not None else int.from_bytes(os.urandom(3), "big")
    number = first
    for people, steps, seeds in sizes:
        for _ in range(seeds):
            yield Plan(number, people, steps, nemesis)
            number += 1


def converge(report: Report, folder: Path, todo: Iterator[Plan]) -> None:
    with Actor() as actor:
        for plan in todo:
            started = time.monotonic()
            result = convergence.run(plan, folder / "world", actor)
            report.add(result)
            verdict = "holds" if not result.problems else "FAILS"
            took = time.monotonic() - started
            print(f"seed {plan.seed}: {plan.people} people x {plan.steps}: {verdict} ({took:.0f} s)", flush=True)
            if result.problems:
                print("\n".join(result.problems), flush=True)
            shutil.rmtree(folder / "world")


def crowds(report: Report, folder: Path, count: int) -> None:
    """Eight processes in one clone, `count` calls each."""
    world = clones.make(folder / "crowd", 2, without_tool=0)
    alice = world.people[0]
    world.write(alice, "memory/2026-07/shared.md", texts.note("Shared by all", "First.").encode())
    with world.acting(alice):
        convergence.sync_once(world, alice)
    done = crowd(world, alice, EVERYBODY, count)
    facts = Facts()
    for fact in done.facts:
        facts.edited(None, fact.encode(), "the crowd")
    convergence.rest(alice.root)
    for person in (*world.people, *world.people):
        with world.acting(person):
            convergence.sync_once(world, person)
    found = [*done.wrong, *problems(world, facts)]
    print(
        f"8 processes x {count} calls in one clone: {'holds' if not found else 'FAILS'}\n{done.figures()}", flush=True
    )
    report.counts["calls in one clone"] += sum(map(len, done.said.values()))
    report.failed += found


def one(arguments: argparse.Namespace, folder: Path) -> int:
    """One run, again."""
    plan = Plan(arguments.seed, arguments.people, arguments.steps, LEVELS[arguments.level][0])
    with Actor() as actor:
        make = convergence.minimised if arguments.minimise else convergence.run
        result = make(plan, folder / "world", actor)
    print(result.told())
    return 1 if result.problems else 0


def others(report: Report, level: str, folder: Path) -> None:
    """What stands in modules of its own: every setting that the suite must bear, every fault at every point."""
    if level == "gate":
        return
    seed = int.from_bytes(os.urandom(3), "big")
    parts: tuple[tuple[str, Callable[[Path], dict[str, int]]], ...] = (
        ("every fault at every point", partial(matrix.run_matrix, seed)),
        ("kills at random moments", partial(kills.random_kills, seed, 300)),
        ("every call of the system failing in turn", nth_call.run_nth_calls),
    )
    for name, part in parts:
        started = time.monotonic()
        (folder / name).mkdir()
        try:
            print(f"{name} (seed {seed}): {part(folder / name)} ({time.monotonic() - started:.0f} s)", flush=True)
        except AssertionError as error:
            print(f"{name} (seed {seed}): FAILS", flush=True)
            report.failed.append(f"{name}, seed {seed}: {error}")
    report.failed += switches.run_all()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.night", description="The long proof.")
    parser.add_argument("--level", choices=sorted(LEVELS), default="night")
    parser.add_argument("--seed", type=int, help="the first seed; with --minimise or --people, the one run")
    parser.add_argument("--people", type=int)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--only-convergence", action="store_true", help="leave the other parts out")
    arguments = parser.parse_args(words)
    folder = Path(tempfile.mkdtemp(prefix="night-"))
    try:
        with clones.environment(clones.isolated(folder)):
            if arguments.people or arguments.minimise:
                arguments.people = arguments.people or 3
                return one(arguments, folder)
            report = Report(Counter(), [], time.monotonic())
            converge(report, folder, plans(arguments.level, arguments.seed))
            if not arguments.only_convergence:
                crowds(report, folder, 6 if arguments.level == "gate" else 40)
                others(report, arguments.level, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(report.told())
    for failure in report.failed:
        print(f"\n{failure}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
