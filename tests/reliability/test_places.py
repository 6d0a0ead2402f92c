"""A healthy brain in an odd place: moved, behind links, on a disk that is full or cannot be written, or gone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.adapters.mcp_peer import Peer, refused

from . import machine
from .machine import FACTS, Done, World

NOBODY = 65534


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return machine.make(tmp_path / "machine", monkeypatch)


def works(world: World) -> None:
    assert world.run("doctor").code == 0
    assert world.run("remember", "It works here", "-m", "x").code == 0
    assert world.run("sync").code == 0
    assert FACTS["Bob"][0] in world.run("search", "tokbob9127").out
    assert FACTS["Bob"][0] in world.session_start().out
    assert world.git("status", "--porcelain") == ""


def refuses(done: Done) -> None:
    assert done.code in (1, 5, 7), done
    assert done.err.startswith("error: "), done
    assert "hint: " in done.err, done


def test_a_brain_that_was_moved_is_named_with_the_next_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.brain.rename(world.top / "elsewhere")
    monkeypatch.delenv("COMMONWEALTH_BRAIN")
    for command in (["status"], ["search", "x"], ["sync"], ["remember", "A fact", "-m", "x"]):
        done = world.run(*command)
        refuses(done)
        assert str(world.brain) in done.err
        assert "brain join" in done.err
    told = world.run("doctor")
    assert told.code == 1
    assert str(world.brain) in told.out
    assert world.run("status", "--brain", str(world.top / "elsewhere")).code == 0


def test_a_home_behind_a_link_is_one_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    link = world.top.parent / "link"
    link.symlink_to(world.top)
    works(world)
    through = World(link)
    machine.enter(through, monkeypatch)
    works(through)
    assert through.run("status", "--json").out == world.run("status", "--json").out


def test_a_path_with_blanks_and_letters_of_any_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    works(machine.make(tmp_path / "Ma chine é 机 'quoted'", monkeypatch))


def test_a_brain_that_goes_away_in_a_session_stops_nobody(world: World) -> None:
    with Peer(world.code, "--brain", str(world.brain)) as peer:
        peer.initialize()
        assert peer.call("memory_search", {"query": "tokbob9127"})["isError"] is False
        shutil.rmtree(world.brain)
        for tool, arguments in (("memory_search", {"query": "schema"}), ("memory_read", {"id": "schema"})):
            assert refused(peer, tool, **arguments)["error"]
        assert peer.close() == 0
    started = world.session_start()
    assert (started.code, started.err) == (0, "")
    refuses(world.run("search", "x"))


def test_a_brain_of_longer_object_names_works_and_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = _rehashed(machine.make(tmp_path / "machine", monkeypatch))
    works(world)
    world.loose("HEAD^{tree}").unlink()
    assert world.run("doctor").code == 1
    assert world.run("doctor", "--fix").code == 0
    assert world.run("remember", "It works again", "-m", "x").code == 0


def _rehashed(world: World) -> World:
    """The same files in a brain whose repository, and remote, use SHA-256."""
    for folder, kind in ((world.brain / ".git", ()), (world.remote, ("--bare",))):
        shutil.rmtree(folder)
        root = folder.parent if folder.name == ".git" else folder
        root.mkdir(exist_ok=True)
        world.git("init", "-q", "-b", "main", "--object-format=sha256", *kind, folder=root)
    (world.git_dir / "info").mkdir(exist_ok=True)
    (world.git_dir / "info/exclude").write_text("/index/\n/staging/\n", encoding="utf-8")
    world.git("remote", "add", "origin", str(world.remote))
    world.git("add", "-A")
    world.git("commit", "-qm", "all")
    world.git("push", "-q", "-u", "origin", "main")
    world.state.mkdir()
    (world.state / "worker.lock").touch()
    assert len(world.git("rev-parse", "HEAD")) == 64
    return world


@pytest.fixture
def open_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A machine that any account may look at."""
    top = Path(tempfile.mkdtemp(prefix="commonwealth-places-"))
    top.chmod(0o755)
    world = machine.make(top / "machine", monkeypatch)
    world.git("config", "--global", "--add", "safe.directory", "*")
    yield world
    shutil.rmtree(top)


def _as_nobody(world: World, *args: str) -> Done:
    """A command run by an account without rights: in a copy of this process, whose modules are loaded already."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            done = world.run(*args)
            os.write(theirs, json.dumps([done.code, done.out, done.err]).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(child, 0)
    assert said, "the command ended without an answer"
    return Done(*json.loads(said))


needs_root = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() != 0, reason="only root can act as an account without rights"
)


def _warm(world: World) -> None:
    """Load every module that the commands need, and wait until nothing of them is left."""
    for command in (["remember", "Warm", "-m", "x"], ["sync"], ["status"], ["doctor", "--fix"], ["rebuild-index"]):
        assert world.run(*command).code == 0
    world.run("search", "(")
    world.run("read", "nothing")
    machine.settle(world)


@needs_root
def test_a_brain_that_cannot_be_written_can_be_read(open_world: World) -> None:
    note = open_world.note("Bob").stem
    _warm(open_world)
    before = open_world.bytes()
    for command in (["search", "tokbob9127"], ["read", note]):
        done = _as_nobody(open_world, *command)
        assert done.code == 0, done
        assert FACTS["Bob"][0] in done.out
    assert _as_nobody(open_world, "status").code == 0
    for command in (["remember", "A fact", "-m", "x"], ["sync"], ["rebuild-index"]):
        refuses(_as_nobody(open_world, *command))
    for command in (["doctor"], ["doctor", "--fix"]):
        assert "Traceback" not in _as_nobody(open_world, *command).said
    assert open_world.bytes() == before


@needs_root
def test_a_folder_that_cannot_be_read_is_never_an_empty_one(open_world: World) -> None:
    folder = open_world.brain / "memory"
    _warm(open_world)
    index = {path: data for path, data in open_world.bytes().items() if "/index/" in path}
    folder.chmod(0o700)
    for command in (["search", "tokbob9127"], ["status"], ["sync"]):
        refuses(_as_nobody(open_world, *command))
    told = _as_nobody(open_world, "doctor")
    assert told.code == 1
    assert str(folder) in told.out
    folder.chmod(0o755)
    assert {path: data for path, data in open_world.bytes().items() if "/index/" in path} == index
    assert FACTS["Bob"][0] in open_world.run("search", "tokbob9127").out


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    if os.name == "nt" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can make a small disk")
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(place: Path) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 16, 1 << 12):
            with contextlib.suppress(OSError):
                while os.write(descriptor, b"\0" * size):
                    pass
    finally:
        os.close(descriptor)


def test_a_full_disk_loses_nothing_and_is_named(
    small_disk: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = small_disk / "brain"
    shutil.copytree(world.brain, target, symlinks=True)
    monkeypatch.setenv("COMMONWEALTH_BRAIN", str(target))
    shutil.rmtree(world.brain)
    world.brain.symlink_to(target)
    head = world.git("rev-parse", "HEAD")
    _fill(small_disk / "filler")
    refuses(world.run("remember", "A fact", "-m", "x" * 20_000))
    for command in (["sync"], ["status"], ["search", "tokbob9127"], ["doctor"], ["doctor", "--fix"]):
        done = world.run(*command)
        assert "Traceback" not in done.said
        assert done.code in (0, 1, 5, 6, 7), done
    started = world.session_start()
    assert (started.code, started.err) == (0, "")
    assert FACTS["Bob"][0] in world.run("search", "tokbob9127").out
    assert world.git("merge-base", "--is-ancestor", head, "HEAD") == ""
    (small_disk / "filler").unlink()
    works(world)


def test_the_doctor_changes_nothing_of_a_healthy_brain(world: World, git: Callable[..., str]) -> None:
    before = world.bytes()
    assert world.run("doctor").code == 0
    assert world.run("doctor", "--json").code == 0
    assert world.bytes() == before
    assert not [line for line in world.run("doctor", "--fix").out.splitlines() if "mended" in line]
    assert git(world.brain, "fsck", "--full", "--strict", "--no-dangling") == ""
