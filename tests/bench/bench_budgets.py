"""The budgets of the product as a user meets them, at three sizes: real processes, a real brain, one table.

Run as `python tests/bench/bench_budgets.py [SIZE …]` (default 100 1000 10000) with `brain` installed in that Python's
environment. It needs the generator `bench/make_brain.py` below `COMMONWEALTH_SHARED` (default `../shared` beside the
repository). Each figure is the median of several runs; CPU is that of the process and the children it waits for. The
named alternative of every CPU figure is a bare interpreter (`python -I -c pass`) in the same run; for `remember`, plain
`git add PATH` and `git commit` on the same brain.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from commonwealth.flows import brains, indexing, recall, syncing
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.index.query import Query

NOW = "2026-11-30T12:00:00Z"
SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
BRAIN = [str(Path(sys.executable).with_name("brain"))]
ROUNDS = 11


def cpu_ms(command: Sequence[str], *, cwd: Path | None = None, feed: bytes = b"") -> tuple[float, float, float]:
    """CPU and wall milliseconds of one process, and its largest memory in MB."""
    with tempfile.TemporaryFile() as given:
        given.write(feed)
        given.seek(0)
        wall = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdin=given, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        took = (time.perf_counter() - wall) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return (used.ru_utime + used.ru_stime) * 1000, took, used.ru_maxrss / 1024


def median_of(work: Callable[[], tuple[float, ...]], rounds: int = ROUNDS) -> list[float]:
    """The median of each figure over some rounds."""
    return [statistics.median(column) for column in zip(*(work() for _ in range(rounds)), strict=True)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU (with children) and wall milliseconds of one call in this process."""
    wall, cpu = time.perf_counter(), _cpu()
    work()
    return (_cpu() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class World:
    """A brain of some size with a remote, a colleague's clone, and a code repository that uses it."""

    def __init__(self, place: Path, size: int) -> None:
        self.place, self.size = place, size
        self.root, self.remote, self.code, self.other = (
            place / name for name in ("brain", "remote.git", "code", "other")
        )
        maker = SHARED / "bench" / "make_brain.py"
        self.queries = place / "queries.jsonl"
        subprocess.run(
            [sys.executable, maker, str(size), str(self.root), "--queries", str(self.queries)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.git("init", "-q", "-b", "main", str(self.code))
        self.git("-C", str(self.code), "remote", "add", "origin", "https://git.example.com/acme/shop-platform.git")
        subprocess.run(
            [*BRAIN, "init", str(self.root), "--name", "bench"], cwd=self.code, check=True, stdout=subprocess.DEVNULL
        )
        self.brain = brains.open_brain(self.root, cwd=str(self.code))
        syncing.sync(self.brain)

    def share(self) -> brains.Brain:
        """Give the brain a remote and a colleague."""
        self.git("clone", "-q", "--bare", str(self.root), str(self.remote))
        self.git("-C", str(self.root), "remote", "add", "origin", str(self.remote))
        syncing.sync(self.brain)
        subprocess.run([*BRAIN, "join", str(self.remote), str(self.other)], check=True, stdout=subprocess.DEVNULL)
        return brains.open_brain(self.other, cwd=str(self.place))

    def git(self, *words: str) -> str:
        """Plain git."""
        return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout


class Server:
    """`brain mcp`, spoken to as a client would."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen([*BRAIN, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.numbers = itertools.count(1)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", hello)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        assert self.process.stdin
        assert self.process.stdout
        line = {"jsonrpc": "2.0", "id": next(self.numbers), "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())["result"]
        return answer

    def record(self, number: int) -> None:
        """One `memory_record` that must be committed."""
        fact = {"title": f"Bench fact {number} about queue depth", "summary": "Measured once.", "tags": ["bench"]}
        answer = self.ask("tools/call", {"name": "memory_record", "arguments": fact})
        assert answer["structuredContent"]["state"] == "committed", answer

    def search(self, words: str) -> None:
        """One `memory_search`."""
        self.ask("tools/call", {"name": "memory_search", "arguments": {"query": words}})

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()


def hook(world: World) -> list[float]:
    """The session-start hook without a network: CPU, wall, MB."""
    call = {"session_id": "bench", "cwd": str(world.code), "hook_event_name": "SessionStart", "source": "startup"}
    command = [*BRAIN, "hook", "SessionStart", "--host", "claude"]
    return median_of(lambda: cpu_ms(command, cwd=world.code, feed=json.dumps(call).encode()))


def plain_commit(world: World, number: int) -> None:
    """What a person's own `git add` and `git commit` of one new note cost."""
    path = world.root / "memory" / "2026-11" / f"2026-11-30-plain-{number:08d}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Plain fact {number}\n", encoding="utf-8")
    world.git("-C", str(world.root), "add", "--", str(path))
    world.git("-C", str(world.root), "commit", "-q", "-m", f"Plain {number}")


def ten_notes(brain: brains.Brain, label: str) -> None:
    """Ten new notes, committed and not published."""
    for number in range(10):
        receipt = remember(brain, Draft(f"{label} {number} of ten", body="Text."), session=Session(), now=NOW)
        assert receipt.state == "committed", receipt


def find(brain: brains.Brain, text: str) -> None:
    """One search in this process, as a warm server makes it."""
    recall.search(brain, Query(text=text, now=NOW), sweep=False)


def measure(size: int, bare: float) -> None:
    """Print the table's column for one size."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), size)
        brain = world.brain

        def show(what: str, text: str) -> None:
            print(f"{size:>7,} | {what:<44} | {text}", flush=True)

        cpu, wall, memory = hook(world)
        show(
            "session-start hook, no network",
            f"{cpu:.0f} ms CPU ({cpu / bare:.1f} x bare), {wall:.0f} wall, {memory:.0f} MB",
        )
        built = [indexing.rebuild(brain) for _ in range(3)]
        show("rebuild", f"{statistics.median(one.files / one.seconds for one in built):,.0f} notes/s")
        probes = [json.loads(line) for line in world.queries.read_text(encoding="utf-8").splitlines()]
        server = Server(world.code)
        server.search("warm up")
        for name in ("terms3", "terms8"):
            words = [probe[name] if isinstance(probe[name], str) else " ".join(probe[name]) for probe in probes[:60]]
            own = statistics.median(timed(partial(find, brain, text))[0] for text in words)
            over = statistics.median(timed(partial(server.search, text))[1] for text in words)
            show(f"search, {name[5:]} words, p50", f"{own:.1f} ms CPU in process, {over:.1f} ms wall over MCP")
        numbers = itertools.count()
        server.record(next(numbers))
        ours = statistics.median(timed(lambda: server.record(next(numbers)))[1] for _ in range(ROUNDS))
        assert not world.git("-C", str(world.root), "status", "--porcelain"), "the work tree is not clean"
        plain = statistics.median(timed(lambda: plain_commit(world, next(numbers)))[1] for _ in range(ROUNDS))
        show(
            "remember, warm server, until committed",
            f"{ours:.0f} ms wall; git add + commit {plain:.0f} ({ours / plain:.2f} x)",
        )
        server.close()
        other = world.share()
        nothing = median_of(lambda: timed(lambda: syncing.sync(brain)))
        show("sync with nothing to do", f"{nothing[0]:.0f} ms CPU, {nothing[1]:.0f} wall")
        pushes, pulls = [], []
        for turn in range(5):
            ten_notes(brain, f"Turn {turn}")
            pushes.append(timed(lambda: syncing.sync(brain)))
            pulls.append(timed(lambda: syncing.sync(other)))
        for what, runs in (("sync that publishes 10 new notes", pushes), ("pull of 10 notes, until searchable", pulls)):
            show(what, "{:.0f} ms CPU, {:.0f} wall".format(*map(statistics.median, zip(*runs, strict=True))))


def main() -> None:
    """Measure every size of the command line."""
    sizes = [int(word) for word in sys.argv[1:]] or [100, 1000, 10000]
    with tempfile.TemporaryDirectory() as home:
        for name in [name for name in os.environ if name.startswith(("COMMONWEALTH_", "GIT_"))]:
            if name != "COMMONWEALTH_SHARED":
                del os.environ[name]
        os.environ |= {"HOME": home, "COMMONWEALTH_HOME": f"{home}/.commonwealth", "GIT_CONFIG_NOSYSTEM": "1"}
        Path(home, ".gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.com\n", encoding="utf-8")
        bare = median_of(lambda: cpu_ms([sys.executable, "-I", "-c", "pass"]))[0]
        version = median_of(lambda: cpu_ms([*BRAIN, "--version"]))
        print(
            f"bare interpreter {bare:.1f} ms CPU; `brain --version` {version[0]:.1f} ms CPU ({version[0] / bare:.1f} x)"
        )
        print(f"load {os.getloadavg()[0]:.1f} at the start")
        for size in sizes:
            measure(size, bare)


if __name__ == "__main__":
    main()
