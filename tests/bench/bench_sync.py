"""Sync at three sizes: nothing to do, ten new notes to publish, ten to pull, and what a note adds to the repository.

Run as `python tests/bench/bench_sync.py [SIZE …]` (default 100 10000 100000) with the package installed in that
Python's environment. It needs the generator `bench/make_brain.py` below `COMMONWEALTH_SHARED` (default `../shared`
beside the repository). Each figure is the median of several rounds, wall and CPU milliseconds with child processes. The
named alternative, in the same run and over the same remote, is plain git: `git pull --rebase` with nothing to do, `git
push` of ten notes in one commit, `git pull --rebase` of ten notes.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from commonwealth.flows import brains, indexing, setup, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember

NOW = "2026-11-30T12:00:00Z"
SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
ROUNDS = 5


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU milliseconds of one call."""
    wall, cpu = time.perf_counter(), used()
    work()
    return (time.perf_counter() - wall) * 1000, (used() - cpu) * 1000


def used() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(found.ru_utime + found.ru_stime for found in both)


def row(what: str, costs: list[tuple[float, float]], plain: list[tuple[float, float]]) -> None:
    ours = [statistics.median(column) for column in zip(*costs, strict=True)]
    theirs = [statistics.median(column) for column in zip(*plain, strict=True)]
    print(
        f"  {what:<34} {ours[0]:7.0f} ms wall {ours[1]:7.0f} CPU   git {theirs[0]:7.0f} {theirs[1]:7.0f}"
        f"   {ours[0] / theirs[0]:5.2f} x",
        flush=True,
    )


def ten(brain: Brain, label: str) -> None:
    for number in range(10):
        draft = Draft(f"{label} {number}", body=f"What was seen in {label}, number {number}.")
        assert remember(brain, draft, session=Session(), now=NOW).state == "committed"


def ten_by_hand(folder: Path, label: str) -> None:
    for number in range(10):
        place = folder / "memory" / "2026-11" / f"{label}-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"---\ntitle: {label} {number}\n---\nSeen.\n", encoding="utf-8")
    git(folder, "add", "memory/2026-11")
    git(folder, "commit", "-q", "-m", label)


def synced(brain: Brain, *states: str) -> None:
    receipt = syncing.sync(brain, timeout=300)
    assert receipt.state in states, receipt


def searchable(brain: Brain) -> None:
    synced(brain, "published")
    indexing.ensure(brain)


def objects(folder: Path) -> int:
    """Bytes of all objects of a clone, loose and packed."""
    return sum(path.stat().st_size for path in (folder / ".git/objects").rglob("*") if path.is_file())


def prepared(folder: Path, size: int) -> tuple[Brain, Brain, Path]:
    """A published brain, a teammate's clone of it, both indexed, and a clone for plain git."""
    first, remote = folder / "first", folder / "remote.git"
    maker = SHARED / "bench" / "make_brain.py"
    subprocess.run([sys.executable, str(maker), str(size), str(first)], check=True, stdout=subprocess.DEVNULL)
    branch = git(first, "branch", "--show-current").strip()
    git(folder, "init", "-q", "--bare", "-b", branch, str(remote))
    git(first, "push", "-q", str(remote), branch)  # so that only what is measured is looked through for secrets
    os.environ["COMMONWEALTH_AUTHOR"], os.environ["COMMONWEALTH_AUTHOR_EMAIL"] = "Bench", "bench@example.com"
    setup.init(first, name="bench", remote=str(remote), cwd=str(folder), now=NOW)
    here = brains.open_brain(first, cwd=str(folder))
    synced(here, "published", "unchanged")
    setup.join(str(remote), folder / "second", cwd=str(folder))
    there = brains.open_brain(folder / "second", cwd=str(folder))
    for brain in (here, there):
        indexing.ensure(brain, sweep=True)
        git(brain.root, "update-index", "-q", "--refresh")
    git(folder, "clone", "-q", str(remote), str(folder / "plain"))
    time.sleep(1.1)  # past the second in which the index was written, as any brain that is in use
    git(folder / "plain", "status", "--porcelain")
    for brain in (here, there):
        synced(brain, "published", "unchanged")
    return here, there, folder / "plain"


def measure(size: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["HOME"], os.environ["COMMONWEALTH_HOME"] = str(folder), str(folder / ".commonwealth")
        git(folder, "config", "--global", "user.name", "Bench")
        git(folder, "config", "--global", "user.email", "bench@example.com")
        here, there, plain = prepared(folder, size)
        print(f"{size} notes", flush=True)
        idle = [cost(lambda: synced(here, "unchanged")) for _ in range(ROUNDS)]
        pull = ("pull", "-q", "--rebase")
        row("sync with nothing to do", idle, [cost(lambda: git(plain, *pull)) for _ in range(ROUNDS)])
        out: list[tuple[float, float]] = []
        come: list[tuple[float, float]] = []
        sent: list[tuple[float, float]] = []
        got: list[tuple[float, float]] = []
        grown: list[float] = []
        for number in range(ROUNDS):
            before = objects(here.root)
            ten(here, f"Round {number}")
            out.append(cost(lambda: synced(here, "published")))
            grown.append((objects(here.root) - before) / 10)
            come.append(cost(lambda: searchable(there)))
            got.append(cost(lambda: git(plain, *pull)))
            ten_by_hand(plain, f"by-hand-{number}")
            sent.append(cost(lambda: git(plain, "push", "-q")))
            for brain in (here, there):
                synced(brain, "published")
        row("sync that publishes 10 notes", out, sent)
        row("pull of 10, fetch to searchable", come, got)
        print(f"  {statistics.median(grown) / 1024:.1f} KiB of objects a note, derived files included", flush=True)


def main() -> None:
    for size in [int(word) for word in sys.argv[1:]] or [100, 10_000, 100_000]:
        measure(size)


if __name__ == "__main__":
    main()
