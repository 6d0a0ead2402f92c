"""Two people with a real brain each and a remote between them, put back to a known state as often as a test likes.

A state is made once by real commands and copied from then on, always to the same place: a brain's index knows the
folder that it was made for. Every command is a process of its own (see `failing`).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonwealth.atomic import TEMPORARY
from commonwealth.index import schema

from .failing import WRAPPER

SOURCE = Path(__file__).resolve().parents[2]
NOW = "2026-07-01T10:00:00Z"
DOCUMENTED = frozenset({0, 1, 2, 4, 5, 6, 7})
"""Exit codes of commands; 3, a fault of our own, is none that a failing disk may bring about."""

KILLED = -9


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run ended: exit code (negative: the signal), streams, and the calls that were counted."""

    code: int
    out: str
    err: str
    events: int
    event: str

    @property
    def said(self) -> dict[str, Any]:
        """The document on stdout; empty where the run did not get that far."""
        try:
            found = json.loads(self.out)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def acknowledged(self) -> bool:
        """Whether the caller was told that the fact is in git."""
        return self.said.get("state") in ("committed", "published", "unchanged")


@dataclass(slots=True)
class Scene:
    """The folder of all states; `live` is the one that is played now."""

    folder: Path
    tokens: set[str] = field(default_factory=set)
    states: dict[str, set[str]] = field(default_factory=dict)
    server: subprocess.Popen[str] | None = None

    @property
    def live(self) -> Path:
        return self.folder / "live"

    @property
    def remote(self) -> Path:
        return self.live / "remote.git"

    def root(self, who: str) -> Path:
        """The brain of one person."""
        return self.live / who / "brain"

    def people(self) -> list[str]:
        """Everybody who has a brain at this moment."""
        return sorted(path.parent.name for path in self.live.glob("*/brain") if (path / ".git").exists())

    # Processes

    def environment(self, who: str) -> dict[str, str]:
        """What a process of this person gets."""
        home = self.live / who / "home"
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "REAL_GIT": shutil.which("git") or "git",
            "HOME": str(home),
            "COMMONWEALTH_HOME": str(home / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": who.title(),
            "COMMONWEALTH_AUTHOR_EMAIL": f"{who}@example.com",
            "COMMONWEALTH_NOW": NOW,
            "GIT_CONFIG_NOSYSTEM": "1",
            "LANG": "C.UTF-8",
        }

    def run(self, who: str, *argv: str, fault: str | None = None, **failing: Any) -> Answer:
        """One command by one person; `failing` are `how`, `at` and `sticky` of a call that is to fail."""
        env = self.environment(who)
        if fault is not None:
            env |= {"COMMONWEALTH_FAULT": fault, "COMMONWEALTH_FAULT_LOG": str(self.folder / "reached")}
        root = self.root(who)
        request = {
            "argv": argv,
            "env": env,
            "cwd": str(root if root.is_dir() else self.live / who),
            "root": str(self.live),
            **failing,
        }
        server = self._started()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        return Answer(**json.loads(server.stdout.readline()))

    def good(self, who: str, *argv: str) -> Answer:
        """A command that must succeed."""
        answer = self.run(who, *argv)
        assert answer.code == 0, (argv, answer)
        return answer

    def traced(self, who: str, *argv: str) -> list[str]:
        """The calls of a command that must succeed, in order; a flush names its file, a start of git all words."""
        log = self.folder / "trace"
        log.unlink(missing_ok=True)
        answer = self.run(who, *argv, how="EIO", at=0, trace=str(log))
        assert answer.code == 0, (argv, answer)
        return log.read_text(encoding="utf-8").splitlines()

    def reached(self) -> set[str]:
        """The fault points that runs have passed since the last call."""
        log = self.folder / "reached"
        if not log.exists():
            return set()
        found = set(log.read_text(encoding="utf-8").split())
        log.unlink()
        return found

    def _started(self) -> subprocess.Popen[str]:
        if self.server is None:
            wrapper = self.folder / "bin/git"
            wrapper.parent.mkdir(parents=True, exist_ok=True)
            wrapper.write_text(WRAPPER, encoding="utf-8")
            wrapper.chmod(0o755)
            env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE / "src"), str(SOURCE)])}
            self.server = subprocess.Popen(
                [sys.executable, "-m", "tests.reliability.failing"],
                cwd=SOURCE,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        return self.server

    def close(self) -> None:
        """End the server."""
        if self.server is not None:
            self.server.communicate()
            self.server = None

    def git(self, place: Path, *args: str, check: bool = True) -> str:
        """Plain git, as a person would run it."""
        env = {**os.environ, **self.environment("alice")}
        who = ("-c", "user.name=Hand", "-c", "user.email=hand@example.com")
        done = subprocess.run(["git", *who, "-C", str(place), *args], capture_output=True, env=env, check=False)
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)} in {place}: {done.stderr!r}")
        return done.stdout.decode("utf-8", "replace")

    # States

    def load(self, name: str, make: Callable[[Scene], None]) -> None:
        """Make the state `name` the live one; made by `make` the first time."""
        kept = self.folder / name
        if name not in self.states:
            shutil.rmtree(self.live, ignore_errors=True)
            self.live.mkdir(parents=True)
            self.tokens = set()
            make(self)
            shutil.copytree(self.live, kept, symlinks=True)
            self.states[name] = set(self.tokens)
            return
        shutil.rmtree(self.live, ignore_errors=True)
        shutil.copytree(kept, self.live, symlinks=True)
        self.tokens = set(self.states[name])

    def write(self, who: str, path: str, text: str) -> None:
        """A file by hand."""
        place = self.root(who) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def fact(self, token: str) -> str:
        """A token that from now on must not be lost."""
        self.tokens.add(token)
        return token

    def pass_time(self) -> None:
        """Make everything an hour old: what somebody may still be at work on is nobody's to clear away."""
        then = time.time() - 3600
        for who in self.people():
            for folder, folders, names in os.walk(self.root(who)):
                folders[:] = [name for name in folders if name not in ("objects", "index")]
                for name in (*folders, *names):
                    os.utime(os.path.join(folder, name), (then, then), follow_symlinks=False)

    # What must hold

    def settle(self) -> None:
        """Everybody syncs until everybody has everything."""
        people = self.people()
        for who in (*people, *people[:-1]):
            answer = self.run(who, "sync", "--json")
            assert answer.code == 0, (who, answer)

    def check(self, suspect: str) -> None:
        """No fact is lost, all clones are equal, and in that of `suspect`, in which something failed, nothing is
        left over and the index is what the files say."""
        people = self.people()
        heads = {self.git(self.root(who), "rev-parse", "HEAD") for who in people}
        assert heads == (there := {self.git(self.remote, "for-each-ref", "--format=%(objectname)")}), (heads, there)
        self.git(self.remote, "fsck", "--full", "--strict")
        for who in people:
            status = self.git(self.root(who), "status", "--porcelain", "--untracked-files=all")
            assert status == "", (who, status)
        root = self.root(suspect)
        self.git(root, "fsck", "--full", "--strict")
        assert leftovers(root) == [], leftovers(root)
        self._check_index(suspect)
        files = [path.read_text(encoding="utf-8") for path in self.root(people[0]).rglob("*.md")]
        everything = "\n".join(files)
        lost = sorted(token for token in self.tokens if token not in everything)
        assert not lost, lost

    def _check_index(self, who: str) -> None:
        self.good(who, "search", "anything", "--json")
        healed = rows(self.root(who) / "index")
        self.good(who, "rebuild-index", "--json")
        assert healed == rows(self.root(who) / "index"), who
        assert len(list((self.root(who) / "index").glob("*.db"))) == 1, who


def leftovers(root: Path) -> list[str]:
    """What a killed process may leave behind in a brain, and the next one has to clear away."""
    own = root / ".git/commonwealth"
    names = [path.name for path in own.iterdir()]
    found = [name for name in names if name in ("journal", "bases", "debt", "clean") or name.startswith("scratch-")]
    places = [path for path in root.rglob("*") if not path.is_relative_to(root / ".git/objects")]
    found += [str(path) for path in places if TEMPORARY.fullmatch(path.name)]
    locks = ("*.lock", "refs/**/*.lock")
    return found + [str(path) for glob in locks for path in (root / ".git").glob(glob)]


def rows(index: Path) -> list[tuple[object, ...]]:
    """Everything that an index says, without numbers that depend on how it came about."""
    path = schema.current(index)
    assert path is not None
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        paths = dict(conn.execute("SELECT id, path FROM files"))
        found: list[tuple[object, ...]] = list(conn.execute("SELECT path, size FROM files"))
        for table in ("notes", "texts"):
            found += [(table, paths[row[0]], *row[2:]) for row in conn.execute(f"SELECT rowid, * FROM {table}")]
        found += [("links", field, value, paths[note]) for field, value, note in conn.execute("SELECT * FROM links")]
        found += [("problems", paths[row[0]], *row[1:]) for row in conn.execute("SELECT * FROM problems")]
        for word in ("fact", "shared", "note"):
            hits = conn.execute("SELECT rowid FROM words WHERE words MATCH ?", (f"{word}*",))
            found += [("words", word, paths[rowid]) for (rowid,) in hits]
    return sorted(found, key=repr)
