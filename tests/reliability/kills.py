"""The real `brain`, killed at random moments while two other processes write to the same clone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from commonwealth.repo.lock import FileLock

from .scene import SOURCE, Scene
from .states import base, discard

_WRITER = """
import sys
from commonwealth.__main__ import main
name, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    token = f"{name}x{number}z"
    sys.argv = ["brain", "remember", f"The note of {token}", "-m", token, "--json"]
    code = main()
    print(flush=True)
    if code not in (0, 6):
        sys.exit(code)
"""
_NOTES = 6
"""Notes that each of the two other writers writes while a round of kills goes on."""

_LONGEST = 0.8
"""Seconds; later, hardly any command of these still runs."""


def random_kills(seed: int, count: int, folder: Path) -> dict[str, int]:
    """Kill `count` runs of the real command line below `folder`; how many were killed, and how many had ended.

    After every tenth: all sync, and no acknowledged fact of anybody is lost. Raises AssertionError otherwise.
    """
    scene, rng = Scene(folder), random.Random(seed)
    told = {"killed": 0, "ended": 0}
    scene.load("base", base)
    try:
        for start in range(0, count, 10):
            writers = [_start(scene, "-c", _WRITER, f"w{seed}y{start}y{name}", str(_NOTES)) for name in "ab"]
            for number in range(start, min(start + 10, count)):
                _kill_one(scene, rng, f"k{seed}y{number}z", told)
            for writer in writers:
                out, err = writer.communicate(timeout=300)
                assert writer.returncode == 0, (seed, start, err)
                _take(scene, out)
            _check(scene)
    finally:
        scene.close()
    discard(folder)
    return told


def _check(scene: Scene) -> None:
    """As long as we serve, no worker that a writer left behind does."""
    lock = FileLock(str(scene.root("alice") / ".git/commonwealth/worker.lock"), "test")
    lock.acquire(120)
    try:
        scene.pass_time()
        scene.settle()
        scene.check("alice")
    finally:
        lock.release()


def _kill_one(scene: Scene, rng: random.Random, token: str, told: dict[str, int]) -> None:
    command = rng.choice(
        (
            ("remember", f"The note of {token}", "-m", token, "--json"),
            ("update", "shared-note", "--summary", f"Told {rng.random()}", "--json"),
            ("sync", "--json"),
            ("rebuild-index", "--json"),
        )
    )
    process = _start(scene, "-m", "commonwealth", *command)
    time.sleep(rng.uniform(0.05, _LONGEST))  # the moment is what is random
    process.kill()
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, (token, err)
    told["killed" if process.returncode < 0 else "ended"] += 1
    _take(scene, out)


def _take(scene: Scene, out: str) -> None:
    """Facts that receipts on stdout acknowledge must not be lost from now on."""
    for line in out.splitlines():
        try:
            said = json.loads(line) if line else {}
        except ValueError:
            continue  # killed in the middle of it: nobody was told
        if said.get("state") in ("committed", "published"):
            scene.tokens.update(said["ids"])


def _start(scene: Scene, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        env=scene.environment("alice") | {"PYTHONPATH": str(SOURCE / "src")},
        cwd=scene.root("alice"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
