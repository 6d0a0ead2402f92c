"""Every test gets a home, a registry and a git configuration of its own; nothing of the user's is read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point HOME, COMMONWEALTH_HOME and git's configuration into the test's own folder."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("GIT_", "COMMONWEALTH_", "XDG_", "CLAUDE_")) and name != "COMMONWEALTH_SHARED":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COMMONWEALTH_HOME", str(home / ".commonwealth"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    config = home / ".gitconfig"
    config.write_text(
        "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n",
        encoding="utf-8",
    )


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and evaluation data, which is not part of the project."""
    folder = Path(os.environ.get("COMMONWEALTH_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "corpora").is_dir():
        pytest.skip(f"no corpora below {folder}; set COMMONWEALTH_SHARED to the folder that has them")
    return folder


@pytest.fixture
def git() -> Callable[..., str]:
    """Plain git, as a person would run it: `git(folder, "log", "-1")` returns what it printed."""

    def run(folder: Path, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *args], capture_output=True, text=True, check=False, encoding="utf-8"
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)} failed in {folder}: {done.stderr}")
        return done.stdout

    return run
