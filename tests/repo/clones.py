"""A person's clone of a brain and the bare repository that it came from, used as `brain` uses it.

What runs carries a mark in its environment, so that whatever is left running is found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commonwealth.flows import brains, syncing
from commonwealth.model import Receipt

from .brains import plain

MARK = "BRAIN_TEST_MARK"
_COMMAND_SECONDS = 60
_GONE_SECONDS = 60


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def receipt(self) -> dict[str, Any]:
        """The one document on stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass
class Person:
    """One person with a clone of the bare repository `bare`; `env` is what their shell adds to the environment."""

    clone: Path
    bare: Path
    env: dict[str, str] = field(default_factory=dict)
    notes: int = 0

    def brain(self, *args: str, env: dict[str, str] | None = None, stdin: str = "") -> Said:
        """Run `brain` as a process to its end; no process, traceback or control character is left behind."""
        mark = os.urandom(8).hex()
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", *args],
            env={**os.environ, **self.env, **(env or {}), MARK: mark},
            cwd=self.clone if self.clone.is_dir() else self.clone.parent,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        said = Said(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in said.out + said.err, said
        assert "\x1b" not in said.out + said.err, said
        assert left_running(mark) == [], said
        return said

    def sync(self, *, seconds: float = 20) -> Receipt:
        """What `brain sync` does, in this process; no process of git's is left behind."""
        mark = os.urandom(8).hex()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**self.env, MARK: mark}.items():
                patch.setenv(name, value)
            receipt = syncing.sync(brains.open_brain(self.clone), timeout=seconds)
        assert left_running(mark) == []
        return receipt

    def write(self) -> str:
        """A note by hand, not committed yet; its path."""
        self.notes += 1
        path = f"memory/2026-07/by-hand-{self.notes}.md"
        place = self.clone / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"---\ntitle: By hand {self.notes}\n---\nSaid by hand.\n", encoding="utf-8")
        return path

    def goes_to(self, url: str) -> None:
        """The remote has another address from now on."""
        plain(self.clone, "remote", "set-url", "origin", url)

    @property
    def debt(self) -> str | None:
        """Why something is not published, if so."""
        place = self.clone / ".git/commonwealth/debt"
        return str(json.loads(place.read_text(encoding="utf-8"))["reason"]) if place.exists() else None

    def shared(self, path: str) -> bool:
        """Whether the remote's branch holds `path`."""
        return plain(self.bare, "ls-tree", "--name-only", "main", path, check=False) != ""

    def holds(self, path: str) -> bool:
        """Whether `path` is committed in this clone and nothing waits for a commit."""
        waits = plain(self.clone, "status", "--porcelain", "--untracked-files=all")
        return waits == "" and plain(self.clone, "ls-tree", "--name-only", "HEAD", path) != ""


def left_running(mark: str) -> list[str]:
    """Processes that carry `mark` after those that were killed had time to go; [] where /proc is not there."""
    end = time.monotonic() + _GONE_SECONDS
    while found := list(_marked(f"{MARK}={mark}".encode())):
        if time.monotonic() > end:
            return found
        time.sleep(0.01)
    return []


def _marked(entry: bytes) -> Iterator[str]:
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if entry in (place / "environ").read_bytes().split(b"\0"):
                yield (place / "cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
        except OSError:
            continue


def first_person(folder: Path) -> Person:
    """A brain that was made with `brain init` and published to a bare repository, in the new `folder`."""
    folder.mkdir()
    bare = folder / "served" / "brain.git"
    bare.mkdir(parents=True)
    plain(bare, "init", "-q", "--bare", "-b", "main")
    person = Person(folder / "clone", bare)
    said = person.brain("init", str(person.clone), "--name", "acme", "--remote", str(bare))
    assert said.code == 0, said
    assert person.shared(".commonwealth/config.yaml")
    return person


def copied(source: Path, folder: Path) -> Person:
    """What `first_person` made in `source`, again in the new `folder`."""
    shutil.copytree(source, folder, symlinks=True)
    person = Person(folder / "clone", folder / "served" / "brain.git")
    person.goes_to(str(person.bare))
    return person


def colleague_publishes(bare: Path, count: int = 1) -> None:
    """Notes by somebody else, each of some 3 KB that no compression makes smaller."""
    clone = bare.parent.parent / f"colleague-{os.urandom(4).hex()}"
    plain(bare.parent, "clone", "-q", str(bare), str(clone))
    for number in range(count):
        note = clone / f"memory/2026-07/theirs-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"---\ntitle: Theirs {number}\n---\n{os.urandom(3000).hex()}\n", encoding="utf-8")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-q", "-m", "theirs")
    plain(clone, "push", "-q", "origin", "main")
