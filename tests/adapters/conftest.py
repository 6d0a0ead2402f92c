"""`brain` as people and tools run it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from commonwealth import timeline
from commonwealth.flows import setup

from .mcp_peer import Peer

Done = subprocess.CompletedProcess[bytes]
SECONDS = 60


@pytest.fixture
def brain(tmp_path: Path) -> Callable[..., Done]:
    """Run `brain` with arguments, in a folder outside any repository unless `cwd` names another."""
    outside = tmp_path / "outside"
    outside.mkdir()

    def run(*args: str, cwd: Path = outside, stdin: bytes | None = b"", env: Mapping[str, str] | None = None) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "commonwealth", *args],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env=os.environ | dict(env or {}),
            timeout=SECONDS,
            check=False,
        )

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = setup.init(tmp_path / "acme", name="acme", remote=None, cwd=str(tmp_path), now=timeline.now())
    return made.brain.root


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A code repository with a remote, which no rule maps."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://git.example.com/acme/shop.git")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


@pytest.fixture
def peer(root: Path, project: Path) -> Iterator[Peer]:
    with Peer(project, "--brain", str(root)) as peer:
        peer.initialize()
        yield peer
