"""A person's machine with a project, a healthy brain of two people and its remote, restored before each case."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth import __main__ as entry
from commonwealth.flows import brains, freshness, indexing, setup, syncing
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember

CODE = "https://git.example.com/acme/shop.git"
TIMES = {"Bob": "2026-06-02T10:00:00Z", "Alice": "2026-06-03T10:00:00Z"}
FACTS = {
    "Bob": ("The nightly job needs the old schema", "tokbob9127"),
    "Alice": ("HTTP 409 means the payment already succeeded", "tokalice7431"),
    "unpublished": ("The cache key must hold the tenant", "toklocal5518"),
}
TOKENS = tuple(token for _, token in FACTS.values())
MONTH = "memory/2026-06"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


@dataclass(frozen=True, slots=True)
class World:
    """Everything of one person: `brain` holds Bob's note and Alice's, and one of Alice's that is not published."""

    top: Path

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def code(self) -> Path:
        return self.top / "shop"

    @property
    def remote(self) -> Path:
        return self.top / "remote.git"

    @property
    def brain(self) -> Path:
        return self.top / "brain"

    @property
    def git_dir(self) -> Path:
        return self.brain / ".git"

    @property
    def state(self) -> Path:
        return self.git_dir / "commonwealth"

    def note(self, who: str) -> Path:
        """The file of somebody's note."""
        token = FACTS[who][1]
        for path in sorted((self.brain / MONTH).glob("*.md")):
            if path.name != "INDEX.md" and token in path.read_text(encoding="utf-8"):
                return path
        raise AssertionError(f"no note of {who}")

    def git(self, *args: str, folder: Path | None = None, check: bool = True, data: bytes | None = None) -> str:
        """Plain git, as a person would run it."""
        command = ["git", "-C", str(folder or self.brain), *args]
        done = subprocess.run(command, capture_output=True, check=False, input=data)
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr!r}")
        return done.stdout.decode("utf-8", "replace").strip()

    def loose(self, name: str) -> Path:
        """The file of a loose object."""
        sha = self.git("rev-parse", name)
        return self.git_dir / "objects" / sha[:2] / sha[2:]

    def env(self) -> dict[str, str]:
        """The environment that makes a process Alice's."""
        return {
            "HOME": str(self.home),
            "COMMONWEALTH_HOME": str(self.home / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": "Alice",
            "COMMONWEALTH_AUTHOR_EMAIL": "alice@example.com",
            "COMMONWEALTH_BRAIN": str(self.brain),
        }

    def run(self, *args: str) -> Done:
        """A command of `brain` in this process, without the worker that it would leave."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "oe")
        kept = sys.argv, sys.stdout, sys.stderr
        sys.argv, sys.stdout, sys.stderr = ["brain", *args], out, err
        here = os.getcwd()
        os.chdir(self.code)
        try:
            with self._no_worker():
                code = entry.main()
        finally:
            os.chdir(here)
            sys.argv, sys.stdout, sys.stderr = kept
        said = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
        return Done(code, *said)

    @contextlib.contextmanager
    def _no_worker(self) -> Iterator[None]:
        """As if a worker were serving already: the one that a command leaves goes at once."""
        try:
            descriptor = os.open(self.state / "worker.lock", os.O_RDWR)
        except OSError:
            yield
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def process(self, *args: str, stdin: str = "", **options: object) -> Done:
        """A command of `brain` as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", *args],
            env=os.environ | self.env(),
            cwd=self.code,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def session_start(self) -> Done:
        """The hook of a session's start, in a process of its own."""
        said = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(self.code)}
        done = self.process("hook", "SessionStart", "--host", "claude", stdin=json.dumps(said))
        self.rest()
        return done

    def rest(self) -> None:
        """Wait until no process of this machine's is left, workers above all."""
        mark, end = f"HOME={self.home}".encode(), time.monotonic() + 60
        while any(mark in _environment(name) for name in os.listdir("/proc") if name.isdecimal()):
            assert time.monotonic() < end, "a worker did not end"
            time.sleep(0.01)

    def bytes(self) -> dict[str, bytes]:
        """Every file of the brain and of the home, but what SQLite keeps beside an index and the doctor knows."""
        found: dict[str, bytes] = {}
        for top in (self.brain, self.home):
            for place, folders, names in os.walk(top):
                found.update((os.path.join(place, name), b"folder") for name in folders)
                for name in names:
                    path = os.path.join(place, name)
                    if name.endswith(("-shm", "-wal", "history-secrets.json")):
                        continue
                    if os.path.islink(path):
                        found[path] = os.readlink(path).encode()
                    elif os.path.isfile(path) and os.path.getsize(path) < 1 << 20:
                        with open(path, "rb") as file:
                            found[path] = file.read()
                    else:
                        found[path] = b"special"
        return found


def _environment(process: str) -> list[bytes]:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return [] if int(process) == os.getpid() else file.read().split(b"\0")
    except OSError:
        return []


def make(top: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A new world, healthy and at rest."""
    world = World(top)
    for folder in (world.home, world.code, world.remote):
        folder.mkdir(parents=True)
    (world.home / ".gitconfig").write_text("[user]\n\tname = Alice\n\temail = alice@example.com\n", encoding="utf-8")
    enter(world, monkeypatch)
    world.git("init", "-q", "--bare", "-b", "main", folder=world.remote)
    world.git("init", "-q", "-b", "main", folder=world.code)
    world.git("commit", "-q", "--allow-empty", "-m", "start", folder=world.code)
    world.git("remote", "add", "origin", CODE, folder=world.code)
    other = top / "bob"
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Bob")
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "bob@example.com")
    monkeypatch.setenv("COMMONWEALTH_HOME", str(top / "bobs"))
    setup.init(other, name="acme", remote=str(world.remote), cwd=str(world.code), now=TIMES["Bob"])
    _record(other, world, "Bob", TIMES["Bob"])
    assert syncing.sync(brains.open_brain(other, cwd=str(world.code))).state == "published"
    enter(world, monkeypatch)
    setup.join(str(world.remote), world.brain, cwd=str(world.code))
    _record(world.brain, world, "Alice", TIMES["Alice"])
    assert syncing.sync(brains.open_brain(world.brain, cwd=str(world.code))).state == "published"
    _record(world.brain, world, "unpublished", TIMES["Alice"])
    shutil.rmtree(other)
    shutil.rmtree(top / "bobs")
    (world.state / "worker.lock").touch()
    _unpack(world)
    settle(world)
    return world


def enter(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process Alice's."""
    for name, value in world.env().items():
        monkeypatch.setenv(name, value)


def settle(world: World) -> None:
    """Bring the index to rest."""
    brain = brains.open_brain(world.brain, cwd=str(world.code))
    indexing.ensure(brain, sweep=True)
    while not freshness.is_current(brain):
        indexing.ensure(brain, sweep=True)


def _unpack(world: World) -> None:
    """Every object in a file of its own."""
    for pack in sorted((world.git_dir / "objects/pack").glob("*.pack")):
        data = pack.read_bytes()
        for name in pack.parent.glob(f"{pack.stem}.*"):
            name.unlink()
        world.git("unpack-objects", "-q", data=data)


def _record(root: Path, world: World, who: str, now: str) -> None:
    title, token = FACTS[who]
    draft = Draft(title, body=f"It says {token}, and more.\n", tags=("case",))
    receipt = remember(brains.open_brain(root, cwd=str(world.code)), draft, session=Session(), now=now)
    assert receipt.state == "committed", receipt
