"""What it costs to learn who is changing the same: overlap and search with many open work records in a large brain.

Run as `python tests/bench/bench_work.py [SIZE …]` (default 100 10000; 1,000 open records beside them, as many that have
ended). It needs the generator `bench/make_brain.py` below `COMMONWEALTH_SHARED` (default `../shared` beside the
repository). Figures are milliseconds of CPU (with children) and wall; on a busy machine compare lines of one run.

The alternative of the same run: `git grep` of the path over the files of the work records, which knows no folders,
globs, leases or names of files before they were renamed.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from commonwealth.flows import brains, identity, indexing, work, worksearch
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import Note
from commonwealth.notes import codec, naming

SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
BRAIN = [str(Path(sys.executable).with_name("brain"))]
NOW = "2026-07-01T12:00:00Z"
OPEN = 1000
ROUNDS = 30
ASKED = ("src/area7/part3/file5.ts", "src/area7", "src/area*/part3/*.ts", "**/file11.ts")


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """CPU (with children) and wall milliseconds of one call in this process."""
    wall, cpu = time.perf_counter(), _cpu()
    act()
    return (_cpu() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def record(number: int, status: str) -> Note:
    """A work record of one of fifty areas, with a folder, a glob or three files."""
    area, part = number % 50, number % 7
    files = {
        0: (f"src/area{area}/part{part}",),
        1: (f"src/area{area}/**/test_*.ts",),
    }.get(number % 5, tuple(f"src/area{area}/part{part}/file{(number + step) % 20}.ts" for step in range(3)))
    title = f"Work {number} on area {area}"
    return Note(
        id=naming.new_id(title, NOW, naming.short_id(f"{status}{number}".encode())),
        kind="work-state",
        title=title,
        summary="One sentence that says what is being done there.",
        status=status,
        created_at=NOW,
        updated_at=NOW,
        started_at=NOW,
        lease_until="2026-07-01T16:00:00Z",
        repository="acme/shop",
        files=files,
        components=(f"component{number % 40}",),
        owner=f"Person {number % 20}",
        author=f"Person {number % 20}",
        author_ref=f"person-{number % 20:08x}",
    )


def made(place: Path, size: int) -> Brain:
    """A brain of the generator with work records beside its notes."""
    root = place / "brain"
    maker = SHARED / "bench" / "make_brain.py"
    subprocess.run([sys.executable, str(maker), str(size), str(root)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*BRAIN, "init", str(root), "--name", "bench"], cwd=place, check=True, stdout=subprocess.DEVNULL)
    brain = brains.open_brain(root, cwd=str(place))
    for number in range(OPEN):
        for note in (record(number, "in-progress"), record(number, "completed")):
            path = root / naming.note_path(note.kind, note.id, NOW, brain.folders)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(codec.to_bytes(note, path.name))
    subprocess.run([*BRAIN, "sync", "--brain", str(root)], cwd=place, check=True, stdout=subprocess.DEVNULL)
    indexing.ensure(brain, sweep=True)
    return brain


def line(name: str, figures: Sequence[tuple[float, float]]) -> None:
    """One row of the table: the medians."""
    cpu, wall = (statistics.median(column) for column in zip(*figures, strict=True))
    print(f"| {name} | {cpu:.1f} | {wall:.1f} |", flush=True)


def announce(brain: Brain, number: int) -> None:
    """One more record."""
    draft = work.WorkDraft(f"Announced {number}", files=ASKED[:1])
    work.start(brain, draft, session=Session("bench", "bench"), now=NOW)


def measure(size: int, place: Path) -> None:
    """All figures of one size."""
    brain = made(place, size)
    me = identity.whoami(brain)
    session = Session("bench", "bench")
    mine = replace(record(7, "in-progress"), id="mine", files=ASKED[:1], components=("component3",))
    print(f"\n{size} notes, {OPEN} open records\n\n| what | CPU ms | wall ms |\n|---|---|---|")
    rounds = range(ROUNDS)
    overlap = [timed(lambda: worksearch.overlapping(brain, mine, author=me, session=session, now=NOW)) for _ in rounds]
    line("overlap of one record", overlap)
    for path in ASKED:
        wanted = work.WorkQuery(files=(path,), repository=("acme/shop",), now=NOW)
        line(f"search by {path}", [timed(partial(work.search, brain, wanted)) for _ in rounds])
    words = work.WorkQuery(query="work area 7", now=NOW)
    line("search by words", [timed(lambda: work.search(brain, words)) for _ in rounds])
    line("announce", [timed(partial(announce, brain, number)) for number in range(10)])
    grep = ["git", "-C", str(brain.root), "grep", "-l", "-F", ASKED[0], "--", "work-state"]
    line(
        "git grep of one path", [timed(lambda: subprocess.run(grep, check=False, capture_output=True)) for _ in rounds]
    )


def main() -> None:
    """Measure each size that was asked for."""
    for size in map(int, sys.argv[1:] or ("100", "10000")):
        with tempfile.TemporaryDirectory(prefix="bench-work-") as folder:
            measure(size, Path(folder))


if __name__ == "__main__":
    main()
