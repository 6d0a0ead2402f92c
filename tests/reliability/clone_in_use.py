"""Many processes at work in one clone: started together, waited for, and looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .actor import REPOSITORY, SOURCE
from .clones import Person, World
from .crowd import Said

SECONDS = 600


@dataclass(frozen=True)
class Done:
    """What the processes said, and how those ended that did not end well."""

    said: dict[str, list[Said]]
    broken: list[str]

    @property
    def facts(self) -> set[str]:
        return {fact for calls in self.said.values() for call in calls for fact in call.facts}

    @property
    def wrong(self) -> list[str]:
        """The failures that users saw."""
        return [
            *self.broken,
            *(f"{name} {call.what}: {call.wrong}" for name, calls in self.said.items() for call in calls if call.wrong),
        ]

    def figures(self) -> str:
        """Calls and how long they took: median, 95 %, longest, in ms."""
        times: dict[str, list[float]] = {}
        for calls in self.said.values():
            for call in calls:
                times.setdefault(call.what, []).append(call.ms)
        lines = []
        for what, found in sorted(times.items()):
            found.sort()
            middle, most = found[len(found) // 2], found[int(len(found) * 0.95)]
            lines.append(f"{what}: {len(found)} calls, p50 {middle:.0f}, p95 {most:.0f}, longest {found[-1]:.0f} ms")
        return "\n".join(lines)


def environment(world: World, person: Person, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(SOURCE), str(REPOSITORY)])
    return {**os.environ, **world.environment(person), "PYTHONPATH": path, **more}


def crowd(world: World, person: Person, parts: Sequence[str], count: int, seed: int = 1) -> Done:
    """Let one process for each part do `count` calls in this person's clone, all at once."""
    processes: dict[str, subprocess.Popen[str]] = {}
    for number, part in enumerate(parts):
        name = f"{part}{number}"
        words = [part, name, str(person.root), str(count), str(10 * seed + number)]
        processes[name] = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.crowd", *words], env=environment(world, person), cwd=REPOSITORY,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
    for process in processes.values():
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first == "ready\n", process.communicate()[1]
    for process in processes.values():
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said, broken = {}, []
    for name, process in processes.items():
        out, err = process.communicate(timeout=SECONDS)
        said[name] = [_said(line) for line in out.splitlines()]
        if process.returncode:
            broken.append(f"{name} ended with {process.returncode}: {err}")
    return Done(said, broken)


def _said(line: str) -> Said:
    what, ms, wrong, facts = json.loads(line)
    return Said(what, ms, wrong, tuple(facts))


def workers_of(root: Path) -> list[int]:
    """The processes that still work for the brain at `root`, known by their folder or arguments."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            here = os.readlink(place / "cwd")
        except OSError:
            continue
        if str(root).encode() in words or here == str(root):
            found.append(int(place.name))
    return found
