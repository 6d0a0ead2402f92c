"""What each hook costs, at four sizes of brain, beside a bare interpreter in the same run.

Run as `python tests/bench/bench_hooks.py [SIZE …]` (default 100 1000 10000 100000) with `brain` installed in that
Python's environment; it needs what `bench_budgets.py` needs. A hook answers from a copy of itself, and leaves others
behind; so this process takes in every orphan (Linux, `PR_SET_CHILD_SUBREAPER`) and counts the CPU of all of them until
the last has ended. Wall time is until the host has its answer and its streams back. Medians.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from commonwealth.flows import brains, recall
from commonwealth.index.query import Query
from tests.bench.bench_budgets import BRAIN, NOW, World, cpu_ms, median_of

SIZES = [100, 1_000, 10_000, 100_000]
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "Stop", "SessionEnd")
_SUBREAPER = 36


def whole_ms(command: list[str], *, cwd: Path, feed: bytes) -> tuple[float, float]:
    """CPU milliseconds of a process and everything it starts, and the wall time until its streams are closed."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(feed)
    process.stdin.close()
    process.stdout.read()
    wall, cpu = (time.perf_counter() - began) * 1000, 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        cpu += used.ru_utime + used.ru_stime
    process.returncode = 0
    return cpu * 1000, wall


def call(world: World, event: str, number: int) -> bytes:
    """What a host says at an event; of a prompt and an edit, about something that the brain knows."""
    brain = brains.open_brain(world.root, cwd=str(world.code))
    probe = json.loads(world.queries.read_text(encoding="utf-8").splitlines()[number % 50])
    (hit, *_) = recall.search(brain, Query(text=str(probe["title"]), now=NOW, limit=1), sweep=False).hits
    file = next(iter(hit.note.provenance.files), "src/app.py")
    edit = {"file_path": str(world.code / file), "old_string": "a", "new_string": "b"}
    said = {"prompt": f"why is this so: {hit.note.title}", "tool_name": "Edit", "tool_input": edit, "source": "startup"}
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{event} {number}"))
    common = {"session_id": session, "cwd": str(world.code), "hook_event_name": event}
    return json.dumps(common | said).encode()


def measure(size: int, bare: float) -> None:
    """Print a line for each hook, without a remote and with one that can be reached."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), size)
        for remote in ("none", "reachable"):
            if remote == "reachable":
                world.share()
            for event in EVENTS:
                command = [*BRAIN, "hook", event, "--host", "claude"]
                calls = iter([call(world, event, number) for number in range(12)])
                whole_ms(command, cwd=world.code, feed=next(calls))
                cpu, wall = median_of(lambda: whole_ms(command, cwd=world.code, feed=next(calls)), 9)  # noqa: B023
                print(
                    f"| {size:>7,} | {remote:<9} | {event:<16} | {cpu:>5.0f} | {cpu / bare:>4.1f} | {wall:>5.0f} "
                    f"| {wall / bare:>4.1f} |",
                    flush=True,
                )


def main() -> None:
    """Measure every size of the command line."""
    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    with tempfile.TemporaryDirectory() as home:
        for name in [name for name in os.environ if name.startswith(("COMMONWEALTH_", "GIT_", "PYTHONDONTWRITE"))]:
            if name != "COMMONWEALTH_SHARED":
                del os.environ[name]
        os.environ |= {"HOME": home, "COMMONWEALTH_HOME": f"{home}/.commonwealth", "GIT_CONFIG_NOSYSTEM": "1"}
        Path(home, ".gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.com\n", encoding="utf-8")
        bare = median_of(lambda: cpu_ms([sys.executable, "-I", "-c", "pass"]))[0]
        print(f"bare interpreter {bare:.1f} ms CPU; load {os.getloadavg()[0]:.1f} at the start\n")
        print(
            "| notes | remote | hook | CPU ms, all of it | x bare | wall ms | x bare |\n|---|---|---|---|---|---|---|"
        )
        for size in sizes:
            measure(size, bare)


if __name__ == "__main__":
    main()
