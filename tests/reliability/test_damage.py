"""Every damage is detected, named, and mended or refused: no traceback, no lost byte, no silent failure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import damage, machine
from .damage import Case
from .machine import FACTS, TOKENS, Done, World

STOPS = {1, 4, 5, 6, 7}
"""Exit codes with which a command may stop: never 2 or 3."""

SLOW = ("young lock on the index", "old lock that a process holds")
"""Cases in which every write waits its time for the lock: one shows it."""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The place of the machine, and a copy of it as it is when it is well."""
    top = tmp_path_factory.mktemp("damage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        made = machine.make(top / "machine", patch)
        made.rest()
    shutil.copytree(made.top, top / "well", symlinks=True)
    yield made.top, top / "well"
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def world(template: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    place, well = template
    if place.exists():
        shutil.rmtree(place)
    shutil.copytree(well, place, symlinks=True)
    found = World(place)
    machine.enter(found, monkeypatch)
    yield found
    found.rest()


def test_the_zoo_is_large_and_no_two_cases_are_alike() -> None:
    assert len({case.name for case in damage.CASES}) == len(damage.CASES) >= 100


@pytest.mark.parametrize("case", damage.CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_damage_is_named_and_mended_or_refused(case: Case, world: World) -> None:
    note = world.note("Alice").stem
    with damage.applied(case, world) as why:
        if why:
            pytest.skip(why)
        before = world.bytes()
        checks = named(case, world)
        assert world.bytes() == before, "the doctor changes nothing"
        ordinary(case, world, note)
        mended(case, world, checks)
    intact(case, world)


def named(case: Case, world: World) -> list[dict[str, str]]:
    """What the doctor says: the damage by its name, with a next step."""
    done = world.run("doctor", "--json")
    checks: list[dict[str, str]] = json.loads(done.out)["checks"]
    failing = [check for check in checks if check["state"] == "fail"]
    assert done.code == (1 if failing else 0)
    assert all(check["hint"] for check in checks if check["state"] in ("fail", "warn")), checks
    if case.says:
        assert [check for check in checks if check["state"] != "ok" and case.says in check["message"]], checks
    else:
        assert not failing
    return checks


def sound(done: Done) -> Done:
    """Whatever a command does, it ends in a way that people can do something with."""
    assert "Traceback" not in done.said
    assert done.code == 0 or (done.code in STOPS and ("hint: " in done.err or "next" in done.said or done.out)), done
    return done


def ordinary(case: Case, world: World, note: str) -> None:
    """A session as on any other day."""
    recorded = sound(world.run("remember", f"A fact that came with {case.name}", "-m", "It says tokennew5555."))
    assert (recorded.code == 0) is case.writable, recorded
    if case.name in SLOW:
        return
    for command in ("status", "sync"):
        sound(world.run(command))
    started = world.session_start()
    assert (started.code, started.err) == (0, "")
    assert started.out or case.silent, "the session is told something, be it that the brain cannot be loaded"
    found, reading = sound(world.run("search", "case")), sound(world.run("read", note))
    if case.readable:
        assert (found.code, reading.code) == (0, 0), (found, reading)
        assert FACTS["Alice"][0] in found.out
        assert "tokalice7431" in reading.out
        assert (FACTS["Bob"][0] in found.out) is (case.unread != "Bob")


def mended(case: Case, world: World, checks: list[dict[str, str]]) -> None:
    """What ordinary use or `--fix` has mended is not named any more; what is refused is as it was."""
    before = world.bytes()
    first = sound(world.run("doctor", "--fix"))
    if case.ends == "healed":
        assert "mended:" not in first.out
        assert not case.says or case.says not in problems(first), first
    once = world.bytes()
    again = sound(world.run("doctor", "--fix"))
    assert not [line for line in again.out.splitlines() if line.startswith("ok    mended:")]
    if case.ends in ("refused", "named"):
        assert case.says in again.said
        assert {path: data for path, data in once.items() if "/.git/" not in path and "/index" not in path} == {
            path: data for path, data in before.items() if "/.git/" not in path and "/index" not in path
        }
    else:
        assert again.code == 0, again
        assert not case.says or case.says not in problems(again), again
        assert sound(world.run("sync")).code == 0
        assert "tokalice7431" in world.run("read", world.note("Alice").stem).out


def problems(done: Done) -> str:
    """What the doctor says that is neither fine nor history."""
    return "\n".join(
        line for line in done.out.splitlines() if line.startswith(("fail", "warn")) and "sync:" not in line
    )


def intact(case: Case, world: World) -> None:
    """Every fact is in the branch, in a file of the work tree, or still in the remote."""
    held = world.git("grep", "-h", "tok", "HEAD", check=False) + world.git(
        "grep", "-h", "tok", "main", folder=world.remote
    )
    held += "".join(
        path.read_bytes().replace(b"\0", b"").decode("utf-8", "replace")
        for top in (world.brain, world.top / "away")
        for path in top.rglob("*.md")
        if path.is_file() and path.stat().st_size < 1 << 20
    )
    assert [token for token in TOKENS if token not in held] == []
    if case.ends in ("healed", "fixed") and case.writable:
        assert "tokennew5555" in held
