"""Brains as people have them: made by `init`, joined by a teammate, each with a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth.flows import brains, freshness, indexing, setup, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.model import Receipt

NOW = "2026-07-01T10:00:00Z"
CODE = "https://git.example.com/acme/shop.git"

PlainGit = Callable[..., str]


def write(brain: Brain, files: Mapping[str, str | bytes]) -> None:
    """Files put into a brain by hand."""
    for name, content in files.items():
        path = brain.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def note_text(title: str, body: str = "Said by hand.\n", **fields: str) -> str:
    """A note as a person writes it."""
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\ntitle: {title}\n{lines}---\n{body}"


def record(brain: Brain, title: str = "Retries are safe", now: str = NOW, **fields: object) -> Receipt:
    """One note by `remember`."""
    draft = Draft(title, **fields)  # type: ignore[arg-type]
    return remember(brain, draft, session=Session(), now=now)


def recorded(brain: Brain, title: str = "Retries are safe", now: str = NOW, **fields: object) -> str:
    """The id of one committed note."""
    receipt = record(brain, title, now, **fields)
    assert receipt.state == "committed", receipt
    return receipt.ids[0]


def settle(brain: Brain) -> None:
    """Bring the index up to date until no time stamp in it is too young to be trusted."""
    indexing.ensure(brain, sweep=True)
    while not freshness.is_current(brain):
        indexing.ensure(brain, sweep=True)
    while indexing.refresh(brain, sweep=True):
        pass


def search_all(folder: Path, needle: str) -> list[str]:
    """The files below a folder that hold a text, packed git objects included."""
    found = [str(path) for path in folder.rglob("*") if path.is_file() and needle.encode() in path.read_bytes()]
    for git_dir in folder.rglob(".git"):
        command = ["git", "--git-dir", str(git_dir), "cat-file", "--batch", "--batch-all-objects"]
        if needle.encode() in subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout:
            found.append(f"{git_dir} (objects)")
    return found


def spawn(script: str, *args: str) -> subprocess.Popen[str]:
    """A python process with this test's environment that runs `script`."""
    source = Path(indexing.__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *args],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def together(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let processes go at once that say `ready` and wait for a line; what each says then."""
    for process in processes:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first == "ready\n", first + process.communicate()[1]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=300) for process in processes]
    for process, (_, errors) in zip(processes, answers, strict=True):
        assert process.returncode == 0, errors
    return [said for said, _ in answers]


@dataclass
class Teammate:
    """One person: `brain` is their clone, `act` makes this process theirs."""

    name: str
    home: Path
    monkeypatch: pytest.MonkeyPatch
    root: Path
    code: Path

    def act(self) -> Brain:
        self.monkeypatch.setenv("HOME", str(self.home))
        self.monkeypatch.setenv("COMMONWEALTH_HOME", str(self.home / ".commonwealth"))
        self.monkeypatch.setenv("COMMONWEALTH_AUTHOR", self.name)
        self.monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", f"{self.name.lower()}@example.com")
        return brains.open_brain(self.root, cwd=str(self.code))


@pytest.fixture
def code(tmp_path: Path, git: PlainGit) -> Path:
    """A code repository with one commit, which is what a session works in."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    git(folder, "remote", "add", "origin", CODE)
    return folder


@pytest.fixture
def brain(tmp_path: Path, code: Path) -> Brain:
    """A new brain without a remote, used from the code repository."""
    return setup.init(tmp_path / "brain", name="acme", remote=None, cwd=str(code), now=NOW).brain


@pytest.fixture
def remote(tmp_path: Path, git: PlainGit) -> Path:
    """An empty bare repository."""
    folder = tmp_path / "remote.git"
    folder.mkdir()
    git(folder, "init", "-q", "--bare", "-b", "main")
    return folder


@pytest.fixture
def team(tmp_path: Path, code: Path, remote: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Teammate, Teammate]:
    """Alice, who made the brain and published it, and Bob, who joined it."""
    people: list[Teammate] = []
    for name in ("Alice", "Bob"):
        home = tmp_path / name.lower()
        home.mkdir()
        person = Teammate(name, home, monkeypatch, home / "brain", code)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("COMMONWEALTH_HOME", str(home / ".commonwealth"))
        monkeypatch.setenv("COMMONWEALTH_AUTHOR", name)
        monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", f"{name.lower()}@example.com")
        if not people:
            setup.init(person.root, name="acme", remote=str(remote), cwd=str(code), now=NOW)
            assert syncing.sync(person.act()).state in ("published", "unchanged")
        else:
            setup.join(str(remote), person.root, cwd=str(code))
        people.append(person)
    return people[0], people[1]
