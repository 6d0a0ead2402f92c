"""What questions about time cost: what was true then (validAt), and what the brain said then (asOf), cold and warm.

Run as `python tests/bench/bench_time.py [SIZE …]` (default 100 10000). It needs the generator `bench/make_brain.py`
below `COMMONWEALTH_SHARED` (default `../shared` beside the repository). Figures are milliseconds of CPU (with
children) and wall; on a busy machine compare lines of one run, not runs.

Alternatives of the same run: for validAt and a warm asOf, the same search about what is true now; for a cold asOf, a
rebuild of the ordinary index from files that are there already, and the checkout of that commit by `git worktree add`
that a search of its files would need before it could begin.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from commonwealth.flows import brains, history, indexing, past, pastindex, recall
from commonwealth.flows.brains import Brain
from commonwealth.index.query import Query

SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
BRAIN = [str(Path(sys.executable).with_name("brain"))]
NOW = "2026-11-30T12:00:00Z"
MIDDLE = "2026-01-01T00:00:00Z"
COMMITS = 40
ROUNDS = 60

PEAK = """
import resource, sys
from commonwealth.flows import brains, past
brain = brains.open_brain(sys.argv[1])
past.ask(brain, past.moment(brain, sys.argv[2]), lambda conn: None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU (with children) and wall milliseconds of one call in this process."""
    wall, cpu = time.perf_counter(), _cpu()
    work()
    return (_cpu() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def made(place: Path, size: int) -> tuple[Brain, list[str]]:
    """A brain of the generator over some commits, and queries of three words."""
    root, queries = place / "brain", place / "queries.jsonl"
    maker = SHARED / "bench" / "make_brain.py"
    command = [sys.executable, str(maker), str(size), str(root), "--commits", str(COMMITS), "--queries", str(queries)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*BRAIN, "init", str(root), "--name", "bench"], cwd=place, check=True, stdout=subprocess.DEVNULL)
    asked = [" ".join(json.loads(line)["terms3"]) for line in queries.read_text(encoding="utf-8").splitlines()]
    return brains.open_brain(root, cwd=str(place)), asked[:ROUNDS]


def line(name: str, figures: Sequence[float]) -> None:
    """One row of the table."""
    print(f"  {name:34} cpu {figures[0]:9.1f}  wall {figures[1]:9.1f}")


def each(name: str, asked: Sequence[str], work: Callable[[str], object]) -> None:
    """The median over all queries."""
    work(asked[0])
    times = sorted(timed(partial(work, text)) for text in asked)
    line(name, times[len(times) // 2])


def now_and_then(brain: Brain, asked: Sequence[str], commits: Sequence[str]) -> None:
    """Warm questions: `commits` are a full name, and the instant of that commit."""
    each("search, true now", asked, lambda text: recall.search(brain, Query(text, now=NOW), sweep=False))
    at = Query(now=NOW, valid_at=MIDDLE)
    each("search, validAt", asked, lambda text: recall.search(brain, _about(at, text), sweep=False))
    for name, as_of in zip(("a commit", "an instant"), commits, strict=True):
        each(f"search, asOf {name}, warm", asked, partial(_then, brain, as_of))
    found = recall.search(brain, Query(now=NOW, limit=ROUNDS), as_of=commits[0]).hits
    ids = [hit.note.id for hit in found]
    each("read, now", ids, lambda note: recall.read(brain, note))
    each("read, asOf, warm", ids, lambda note: recall.read(brain, note, as_of=commits[0]))
    each("history, asOf, warm", ids, lambda note: history.history(brain, note, as_of=commits[0]))


def _then(brain: Brain, as_of: str, text: str) -> object:
    return recall.search(brain, Query(text, now=NOW), as_of=as_of)


def _about(wanted: Query, text: str) -> Query:
    return Query(text, now=wanted.now, valid_at=wanted.valid_at)


def cold(brain: Brain, place: Path, commit: str, later: str) -> None:
    """The first question about a commit, beside what else could answer it; then one about a later commit."""
    line("rebuild of the ordinary index", timed(lambda: indexing.rebuild(brain)))
    then = past.moment(brain, commit)
    figures = timed(lambda: past.ask(brain, then, lambda _: None))
    line("asOf, cold", figures)
    number = past.ask(brain, then, lambda conn: conn.execute("SELECT count(*) FROM notes").fetchone()[0])
    print(f"    {number} notes, {figures[0] * 1000 / number:.0f} µs CPU a note")
    line(
        "asOf, cold, a commit near a kept one",
        timed(lambda: past.ask(brain, past.moment(brain, later), lambda _: None)),
    )
    git = ["git", "-C", str(brain.root), "worktree"]
    out = str(place / "tree")
    line("git worktree add", timed(lambda: subprocess.run([*git, "add", "-q", out, commit], check=True)))
    subprocess.run([*git, "remove", "--force", out], check=True)
    shutil.rmtree(brain.index_dir / pastindex.SHELF)
    script = [sys.executable, "-c", PEAK, str(brain.root), commit]
    peak = subprocess.run(script, check=True, capture_output=True, encoding="utf-8").stdout.strip()
    size_of = sum(file.stat().st_size for file in (brain.index_dir / pastindex.SHELF).rglob("*.db"))
    print(f"    peak {peak} MB, index {size_of / 1e6:.1f} MB")


def main(sizes: Sequence[int]) -> None:
    """Print everything for each size."""
    print(f"Python {sys.version.split()[0]}; {time.strftime('%Y-%m-%d')}; milliseconds")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-time-") as folder:
            place = Path(folder)
            brain, asked = made(place, size)
            listed = ["git", "-C", str(brain.root), "log", "--first-parent", "--format=%H %cI"]
            log = subprocess.run(listed, check=True, capture_output=True, encoding="utf-8").stdout.splitlines()
            commit, _, instant = log[len(log) // 8].partition(" ")
            print(f"{size} notes, {len(log)} commits, asOf {instant}")
            cold(brain, place, commit, log[0].partition(" ")[0] + "~1")
            now_and_then(brain, asked, (commit, instant))
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100, 10_000])
