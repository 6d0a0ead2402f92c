"""Real repositories for the tests of `repo`: made by plain git, with files given as path → text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth.repo.git import Git

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
