"""Brains for tests: a bare remote with clones that hold line notes, and real processes that work in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .linenotes import run_sync

SOURCE = Path(__file__).resolve().parents[2]


def plain(folder: Path, *args: str, check: bool = True) -> str:
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)} in {folder}: {done.stderr!r}")
    return done.stdout.decode("utf-8", "replace")


def put(folder: Path, path: str, text: str) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())


def first_brain(folder: Path) -> Path:
    folder.mkdir(parents=True)
    plain(folder, "init", "-q", "-b", "main")
    put(folder, "memory/2026-07/first.md", "title: first\ntags: a\n")
    put(folder, ".commonwealth/config.yaml", "name: brain\n")
    put(folder, "README.md", "A brain.\n")
    put(folder, ".gitignore", "/index/\n/staging/\n")
    plain(folder, "add", "-A")
    plain(folder, "commit", "-q", "-m", "first")
    return folder


def team(tmp_path: Path, count: int) -> tuple[Path, list[Path]]:
    """A bare remote, and `count` clones of it."""
    seed = first_brain(tmp_path / "seed")
    remote = tmp_path / "remote.git"
    plain(tmp_path, "clone", "-q", "--bare", str(seed), str(remote))
    clones = []
    for number in range(count):
        folder = tmp_path / f"clone{number}"
        plain(tmp_path, "clone", "-q", str(remote), str(folder))
        clones.append(folder)
    return remote, clones


def tree(folder: Path) -> dict[str, bytes]:
    """All tracked files of the work tree."""
    names = plain(folder, "ls-files", "-z").split("\0")
    return {name: (folder / name).read_bytes() for name in names if name}


def status(folder: Path) -> str:
    return plain(folder, "status", "--porcelain", "--untracked-files=all")


def head(folder: Path) -> str:
    return plain(folder, "rev-parse", "HEAD").strip()


def start(*words: str, fault: str | None = None) -> subprocess.Popen[str]:
    """A process of its own that runs `linenotes` with these words."""
    env = {**os.environ, "PYTHONPATH": f"{SOURCE / 'src'}{os.pathsep}{SOURCE / 'tests'}"}
    if fault is not None:
        env["COMMONWEALTH_FAULT"] = fault
    return subprocess.Popen(
        [sys.executable, "-m", "repo.linenotes", *words],
        env=env,
        cwd=SOURCE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def dies(process: subprocess.Popen[str]) -> None:
    """The process ends by the fault it was given, and by nothing else."""
    _, err = process.communicate(timeout=120)
    assert process.returncode == -9, err


def settle(clones: list[Path], rounds: int = 2) -> None:
    for _ in range(rounds):
        for clone in clones:
            run_sync(clone)


def assert_equal(clones: list[Path]) -> dict[str, bytes]:
    heads = {head(clone) for clone in clones}
    assert len(heads) == 1
    trees = [tree(clone) for clone in clones]
    assert all(one == trees[0] for one in trees)
    for clone in clones:
        assert status(clone) == ""
        plain(clone, "fsck", "--full", "--strict")
    return trees[0]
