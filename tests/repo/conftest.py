"""Real repositories for the tests of `repo`: made by plain git, with files given as path → text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth.repo.git import Git

from .clones import Person, copied, first_person
from .servers import Site, Ssh, http_site, stand_in_ssh

PlainGit = Callable[..., str]
MakeRepository = Callable[..., Path]


@dataclass(frozen=True)
class Author:
    name: str = "Alice"
    email: str = "alice@example.com"


@pytest.fixture
def author() -> Author:
    return Author()


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


@pytest.fixture
def make_repository(tmp_path: Path, git: PlainGit) -> MakeRepository:
    """`make_repository("name", {"a.md": "text"})` is the folder of a repository with one commit."""

    def make(name: str = "repository", files: Mapping[str, str | bytes] | None = None) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")
        write_files(folder, files if files is not None else {"a.md": "one\n"})
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
        return folder

    return make


@pytest.fixture
def make_remote(tmp_path: Path, git: PlainGit, make_repository: MakeRepository) -> MakeRepository:
    """Like `make_repository`, but a bare repository, as a server has it."""

    def make(name: str = "remote", files: Mapping[str, str | bytes] | None = None) -> Path:
        source = make_repository(f"{name}-source", files)
        git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / f"{name}.git"))
        return tmp_path / f"{name}.git"

    return make


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that must never appear: every trap in these tests would make it."""
    return tmp_path / "canary"


@pytest.fixture
def trap(tmp_path: Path, canary: Path) -> Path:
    """A program that makes the canary when anything runs it."""
    path = tmp_path / "trap"
    path.write_text(f"#!/bin/sh\ntouch '{canary}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(make_repository: MakeRepository) -> Git:
    """A repository with one commit, as our own code sees it."""
    return Git(make_repository())


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the one brain lies that the persons below have copies of, once it is made."""
    return tmp_path_factory.mktemp("first") / "brain"


@pytest.fixture
def person(first: Path, tmp_path: Path) -> Person:
    """A person with a clone of a published brain, whose bare repository is theirs alone."""
    if not first.exists():
        first_person(first)
    return copied(first, tmp_path / "person")


@pytest.fixture
def site(person: Person) -> Iterator[Site]:
    """The person's bare repository, served by http."""
    with http_site(person.bare.parent) as served:
        person.goes_to(f"{served.url}/brain.git")
        yield served


@pytest.fixture
def ssh(person: Person, tmp_path: Path) -> Ssh:
    """The person's bare repository, reached by a stand-in for ssh."""
    made = stand_in_ssh(tmp_path / "ssh")
    person.env["GIT_SSH_COMMAND"] = made.command
    person.goes_to(f"git@git.example.com:{person.bare}")
    return made
