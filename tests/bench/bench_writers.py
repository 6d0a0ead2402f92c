"""Many people publish at once: 1, 4, 16 and 32 writers, each with a clone of its own, over one remote.

Run as `python tests/bench/bench_writers.py [WRITERS …] [--notes N] [--plain-at-most WRITERS]` with the package
installed in that Python's environment. A writer is a process: it records its notes one by one (a commit each), then
syncs until everything is published. Its session is the time from the common start to that. The named alternative, in
the same run and on the same kind of remote, is what a team does with git alone: for each note `git add`, `git commit`,
and `git pull --rebase && git push` until the push lands. After each run every clone is brought up to date, and the run
fails unless all notes are in all of them and the trees are equal.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commonwealth.flows import brains, setup, syncing
from commonwealth.repo.git import Git

NOW = "2026-11-30T12:00:00Z"

WRITER = """
import sys, time
from commonwealth.flows import brains, syncing
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
brain = brains.open_brain(root, cwd="/")
print("ready", flush=True)
sys.stdin.readline()
began = time.monotonic()
for number in range(count):
    draft = Draft(f"Fact {number} of {name}", body=f"token-{name}-{number} was seen by {name}.")
    assert remember(brain, draft, session=Session(), now="2026-11-30T12:00:00Z").state == "committed"
syncs = 0
while True:
    syncs += 1
    receipt = syncing.sync(brain, timeout=120)
    if receipt.state == "published":
        break
    assert receipt.state == "deferred", receipt
print(time.monotonic() - began, syncs)
"""

PLAIN = """
read line
cd "$1" || exit 1
refused=0
began=$(date +%s%N)
for number in $(seq "$3"); do
  mkdir -p memory/2026-11
  echo "token-$2-$number was seen by $2." > "memory/2026-11/$2-$number.md"
  git add memory && git commit -q -m "Fact $number of $2" || exit 1
  until git push -q 2>/dev/null; do
    refused=$((refused + 1))
    until git pull -q --rebase 2>/dev/null; do :; done
  done
done
echo "$(( ($(date +%s%N) - began) / 1000000 ))e-3 $refused"
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """One run: wall seconds of everything and of each session, and the refused pushes of each writer."""

    wall: float
    sessions: tuple[float, ...]
    refused: tuple[int, ...]

    def line(self, what: str, writers: int, notes: int) -> str:
        """One row of the table."""
        middle, slowest = statistics.median(self.sessions), max(self.sessions)
        return (
            f"{what:>12}{writers:>4}{self.wall:>9.1f}{writers * notes / self.wall:>9.1f}"
            f"{sum(self.refused):>9}{statistics.median(self.refused):>8.1f}{max(self.refused):>6}"
            f"{middle:>10.2f}{slowest:>9.2f}{slowest / middle:>8.2f}"
        )


def person(home: Path, number: int) -> dict[str, str]:
    """The environment of one writer."""
    place = home / f"home{number}"
    place.mkdir(exist_ok=True)
    name = f"Writer {number}"
    return {
        **os.environ,
        "HOME": str(place),
        "COMMONWEALTH_HOME": str(place / ".commonwealth"),
        "COMMONWEALTH_AUTHOR": name,
        "COMMONWEALTH_AUTHOR_EMAIL": f"writer{number}@example.com",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def clones_of_a_brain(home: Path, writers: int) -> list[Path]:
    """A remote with a brain, and a joined clone of it for each writer."""
    (home / "gitconfig").write_text(
        "[user]\n name = W\n email = w@example.com\n[init]\n defaultBranch = main\n", encoding="utf-8"
    )
    os.environ.update(person(home, 0))
    subprocess.run(["git", "init", "-q", "--bare", str(home / "remote.git")], check=True)
    setup.init(home / "first", name="bench", remote=str(home / "remote.git"), cwd=str(home), now=NOW)
    syncing.sync(brains.open_brain(home / "first", cwd="/"))
    setup.join(str(home / "remote.git"), home / "clone0", cwd=str(home))
    for number in range(1, writers):
        shutil.copytree(home / "clone0", home / f"clone{number}", symlinks=True)
    return [home / f"clone{number}" for number in range(writers)]


def run(commands: Sequence[Sequence[str]], home: Path) -> tuple[float, list[list[str]]]:
    """Start all processes, let them go at once, and wait; the wall seconds, and the last line of each."""
    processes = [
        subprocess.Popen(
            command,
            env=person(home, number),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for number, command in enumerate(commands)
    ]
    if sys.executable in commands[0]:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0] for process in processes]
    wall = time.monotonic() - began
    assert all(process.returncode == 0 for process in processes)
    return wall, [text.split() for text in said]


def check(clones: Sequence[Path], tokens: set[str], bring: Sequence[str] | None) -> None:
    """Every clone, once up to date, holds every token, and all the same tree."""
    trees = set()
    for clone in clones:
        if bring is None:
            syncing.sync(brains.open_brain(clone, cwd="/"))
        else:
            subprocess.run(["git", "-C", str(clone), *bring], check=True)
        trees.add(Git(clone).text("rev-parse", "HEAD^{tree}"))
        words = ["git", "-C", str(clone), "grep", "-h", "-o", "token-[a-z0-9-]*"]
        lost = tokens - set(subprocess.run(words, capture_output=True, check=True).stdout.decode().split())
        assert not lost, (clone, sorted(lost)[:5])
    assert len(trees) == 1, trees


def with_brains(writers: int, notes: int) -> Figures:
    """The run over our own flows."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        clones = clones_of_a_brain(home, writers)
        commands = [
            [sys.executable, "-c", WRITER, str(clone), f"w{number}", str(notes)] for number, clone in enumerate(clones)
        ]
        wall, said = run(commands, home)
        refused = tuple(_refused(clone) for clone in clones)
        check(clones, {f"token-w{writer}-{note}" for writer in range(writers) for note in range(notes)}, None)
        return Figures(wall, tuple(float(words[0]) for words in said), refused)


def _refused(clone: Path) -> int:
    log = clone / ".git/commonwealth/rounds.jsonl"
    lines = (line for line in log.read_text(encoding="utf-8").splitlines() if line)
    return sum(int(json.loads(line).get("refused", 0)) for line in lines)


def with_git(writers: int, notes: int) -> Figures:
    """The run of the named alternative."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        clones = clones_of_a_brain(home, writers)
        commands = [["bash", "-c", PLAIN, "writer", str(clone), f"w{i}", str(notes)] for i, clone in enumerate(clones)]
        wall, said = run(commands, home)
        tokens = {f"token-w{writer}-{note}" for writer in range(writers) for note in range(1, notes + 1)}
        check(clones, tokens, ["pull", "-q", "--rebase"])
        return Figures(wall, tuple(float(words[0]) for words in said), tuple(int(words[1]) for words in said))


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writers", nargs="*", type=int, default=[1, 4, 16, 32])
    parser.add_argument("--notes", type=int, default=10)
    parser.add_argument("--plain-at-most", type=int, default=16, help="more writers run without the alternative")
    given = parser.parse_args()
    heads = (("", 12), ("K", 4), ("wall s", 9), ("notes/s", 9), ("refused", 9), ("median", 8), ("max", 6))
    print("".join(f"{head:>{width}}" for head, width in (*heads, ("session", 10), ("slowest", 9), ("ratio", 8))))
    for writers in given.writers:
        print(with_brains(writers, given.notes).line("brain", writers, given.notes), flush=True)
        if writers <= given.plain_at_most:
            print(with_git(writers, given.notes).line("git alone", writers, given.notes), flush=True)


if __name__ == "__main__":
    main()
