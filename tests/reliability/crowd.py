"""Processes that work in one clone at once, each in a part of its own, and what each of their calls came to.

`python -m tests.reliability.crowd PART NAME ROOT COUNT SEED` says `ready`, waits for a line, works, and prints one
line of JSON for each call: what it was, how long it took, whether its user saw a failure, and which facts it left.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonwealth.flows import brains, indexing
from commonwealth.index import lookup

from . import calls, texts
from .run import FINE

SECONDS = 120
"""For one call; nothing here takes as long by itself."""


@dataclass(frozen=True)
class Said:
    """One call: `wrong` is what its user would have seen as a failure, `facts` are those it acknowledged."""

    what: str
    ms: float
    wrong: str = ""
    facts: tuple[str, ...] = ()


class Worker:
    """Whoever works in the clone at `root`; `token` makes facts that nobody else makes."""

    def __init__(self, name: str, root: Path, seed: int) -> None:
        self.name, self.root, self.rng = name, root, random.Random(f"{seed}/{name}")
        self.number = 100 * seed

    def token(self) -> str:
        self.number += 1
        return texts.token(self.number)

    def note(self, title: str) -> str:
        """The id of some note with this title, as the index has it now."""
        with_title = indexing.ask(brains.open_brain(self.root, cwd="/"), lambda conn: lookup.by_title(conn, title))
        return with_title[0].note.id

    def call(self, **call: Any) -> Mapping[str, Any]:
        return calls.perform({**call, "root": str(self.root)})


def flows(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A process that uses the flows: a session's tool."""
    said = worker.token()
    what = worker.rng.choice(("remember", "remember", "append", "sync", "worker", "status"))
    if what == "remember":
        answer = worker.call(call="remember", title=f"Of {worker.name} {said}", body=f"It is {said}.")
    elif what == "append":
        section = {"heading": f"Of {worker.name}", "append": f"- {said}"}
        answer = worker.call(call="update", id=worker.note("Shared by all"), section=section)
    else:
        answer = worker.call(call=what, timeout=60)
    kept = (said,) if answer.get("state") == "committed" and what in ("remember", "append") else ()
    return what, "" if answer.get("state") in FINE else str(answer), kept


def command(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A person in a terminal."""
    said = worker.token()
    what = worker.rng.choice(("remember", "search", "sync", "status", "update"))
    words = {
        "remember": ["remember", f"Typed by {worker.name} {said}", "-m", f"It is {said}."],
        "search": ["search", "shared"],
        "sync": ["sync"],
        "status": ["status"],
        "update": ["update", worker.note("Shared by all"), "--tag", said],
    }[what]
    if what == "update":
        words = ["update", worker.note("Shared by all"), "--section", f"Of {worker.name}", "--append", f"- {said}"]
    done = subprocess.run(
        [sys.executable, "-m", "commonwealth", *words, "--json", "--brain", str(worker.root)],
        capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=SECONDS,
    )  # fmt: skip
    kept = (said,) if what in ("remember", "update") and not done.returncode else ()
    return f"brain {what}", "" if not done.returncode else f"{done.returncode}: {done.stdout!r} {done.stderr!r}", kept


def hook(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A host that begins and ends sessions."""
    event = worker.rng.choice(("SessionStart", "SessionEnd", "UserPromptSubmit"))
    given = {"hook_event_name": event, "session_id": worker.name, "cwd": str(worker.root), "prompt": "shared by all"}
    given |= {"source": "startup", "reason": "other", "transcript_path": ""}
    done = subprocess.run(
        [sys.executable, "-m", "commonwealth", "hook", event, "--host", "claude"],
        input=json.dumps(given).encode(), capture_output=True, check=False, timeout=SECONDS,
        cwd=worker.root, env={**os.environ, "COMMONWEALTH_BRAIN": str(worker.root)},
    )  # fmt: skip
    fine = done.returncode == 0 and not done.stderr and (not done.stdout or json.loads(done.stdout))
    return event, "" if fine else f"{done.returncode}: {done.stdout!r} {done.stderr!r}", ()


class Server:
    """A host's MCP server, over stdio."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.number = 0

    def __call__(self, worker: Worker) -> tuple[str, str, tuple[str, ...]]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "commonwealth", "mcp", "--brain", str(worker.root)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=worker.root,
            )  # fmt: skip
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            self.ask("initialize", hello)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        said = worker.token()
        what = worker.rng.choice(("memory_record", "memory_search", "memory_update", "whoami"))
        given: dict[str, Any] = {
            "memory_record": {"title": f"Recorded by {worker.name} {said}", "summary": f"It is {said}."},
            "memory_search": {"query": "shared"},
            "whoami": {},
            "memory_update": {},
        }[what]
        if what == "memory_update":
            section = {"section": f"Of {worker.name}", "append": f"- {said}"}
            given = {"id": worker.note("Shared by all"), **section}
        answer = self.ask("tools/call", {"name": what, "arguments": given})
        wrong = "" if not answer.get("error") and not answer["result"].get("isError") else str(answer)
        kept = (said,) if what in ("memory_record", "memory_update") and not wrong else ()
        return what, wrong, kept

    def send(self, message: object) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: object) -> dict[str, Any]:
        assert self.process is not None
        assert self.process.stdout is not None
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            assert line, "the server is gone"
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.number:
                return answer

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate(timeout=SECONDS)


def git(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A person with plain git, who tries again when somebody else has its lock, as git says they should."""
    said = worker.token()
    path = f"memory/2026-07/raw-{worker.name}-{worker.number}.md"
    place = worker.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(texts.note(f"Raw {said}", f"It is {said}."), encoding="utf-8")
    for words in (("add", path), ("commit", "-q", "-m", f"Raw {said}", "--", path)):
        wrong = _patiently(worker, words)
        if wrong:
            return "git", wrong, (said,)
    return "git", "", (said,)


def _patiently(worker: Worker, words: tuple[str, ...]) -> str:
    end = time.monotonic() + SECONDS
    while True:
        done = subprocess.run(
            ["git", "-C", str(worker.root), *words], capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        out = (done.stdout + done.stderr).decode("utf-8", "replace")
        # Their file may have been committed meanwhile, as a hand edit: then there is nothing left for them to do.
        if done.returncode == 0 or "nothing" in out or "working tree clean" in out or not out:
            return ""
        if not any(sign in out for sign in ("index.lock", "cannot lock ref", "unable to write new index")):
            return out
        if time.monotonic() > end:
            return f"no turn in {SECONDS} s: {out}"
        time.sleep(worker.rng.uniform(0.005, 0.05))


def editor(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A person who saves files."""
    said = worker.token()
    place = worker.root / f"memory/2026-07/saved-{worker.name}-{worker.number}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(texts.note(f"Saved {said}", f"It is {said}."), encoding="utf-8")
    time.sleep(worker.rng.uniform(0, 0.05))
    return "save", "", (said,)


def reader(worker: Worker) -> tuple[str, str, tuple[str, ...]]:
    """A session that only asks."""
    brain = brains.open_brain(worker.root, cwd="/")
    found = indexing.ask(brain, lambda conn: lookup.by_title(conn, "Shared by all"))
    return "read", "" if len(found) == 1 else f"{len(found)} notes are called `Shared by all`", ()


Part = Callable[[Worker], tuple[str, str, tuple[str, ...]]]
PARTS: Mapping[str, Callable[[], Part]] = {
    "flows": lambda: flows, "command": lambda: command, "hook": lambda: hook, "mcp": Server, "git": lambda: git,
    "editor": lambda: editor, "reader": lambda: reader,
}  # fmt: skip


def work(part: Part, worker: Worker, count: int) -> Iterator[Said]:
    for _ in range(count):
        started = time.monotonic()
        what, wrong, facts = part(worker)
        yield Said(what, (time.monotonic() - started) * 1000, wrong, facts)


def main(words: list[str]) -> None:
    kind, name, root, count, seed = words
    part = PARTS[kind]()
    worker = Worker(name, Path(root), int(seed))
    print("ready", flush=True)
    sys.stdin.readline()
    for said in work(part, worker, int(count)):
        print(json.dumps([said.what, said.ms, said.wrong, said.facts]), flush=True)
    if isinstance(part, Server):
        part.close()


if __name__ == "__main__":
    main(sys.argv[1:])
