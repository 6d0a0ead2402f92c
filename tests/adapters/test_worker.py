"""The worker: at most one a brain, no request lost, gone in time, and nobody waits longer than asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonwealth.adapters import detach

from .sessions import SECONDS, Machine, until

pytestmark = pytest.mark.skipif(not detach.FORKS, reason="needs a system that can fork")
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
EACH_WAY = ["spawn", "launch"]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Alice's machine, with a note that is not committed yet."""
    made = Machine(tmp_path / "alice").build()
    yield made
    made.clear()


def python(machine: Machine, code: str, **how: Any) -> subprocess.Popen[bytes]:
    """Run `code` on the machine, with `root` as the brain's folder."""
    before = f"import json, os, sys, threading\nfrom pathlib import Path\nroot = Path({str(machine.brain)!r})\n"
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"{before}from commonwealth.adapters import worker\n{code}"],
        env=os.environ | machine.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **how,
    )


def said(process: subprocess.Popen[bytes]) -> str:
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, b"")
    return out.decode()


def fetches(machine: Machine) -> int:
    """How often the remote was asked for news."""
    return sum("upload-pack" in call for call in machine.calls())


@pytest.mark.parametrize("way", EACH_WAY)
def test_a_worker_publishes_and_is_gone(machine: Machine, way: str) -> None:
    path = machine.write("by-hand")
    assert said(python(machine, f"worker.{way}(root, delay=0)")) == ""
    until(lambda: machine.published(path), "publishing")
    until(lambda: not machine.processes(), "the worker's end")
    told = json.loads((machine.brain / ".git/commonwealth/worker.json").read_text(encoding="utf-8"))
    assert told["state"] == "published"


def test_a_worker_can_be_left_by_a_process_with_threads(machine: Machine) -> None:
    path = machine.write("by-hand")
    code = """
stop = threading.Event()
threading.Thread(target=stop.wait).start()
worker.spawn(root, delay=0)
stop.set()
"""
    assert said(python(machine, code)) == ""
    until(lambda: machine.published(path), "publishing")


def test_a_worker_starts_from_a_hostile_or_deleted_folder(machine: Machine, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    (hostile / "commonwealth").mkdir(parents=True)
    for name in ("commonwealth/__init__.py", "yaml.py", "json.py", "sitecustomize.py"):
        (hostile / name).write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\n", encoding="utf-8")
    path = machine.write("by-hand")
    said(python(machine, "worker.launch(root, delay=0)", cwd=hostile))
    until(lambda: machine.published(path), "publishing")
    assert not (tmp_path / "owned").exists()

    other = machine.write("by-hand-again")
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"os.rmdir({str(gone)!r})\nworker.spawn(root, delay=0)\nworker.launch(root, delay=0)"
    said(python(machine, code, cwd=gone))
    until(lambda: machine.published(other), "publishing")


@needs_proc
def test_requests_that_come_while_a_worker_waits_are_one_round(machine: Machine) -> None:
    said(python(machine, "for _ in range(8):\n    worker.spawn(root, delay=2)"))
    until(lambda: not machine.processes(), "the workers' end")
    assert sum("receive-pack" in call for call in machine.calls()) == 1


@needs_proc
def test_a_request_that_comes_during_a_round_gets_a_round_of_its_own(machine: Machine) -> None:
    machine.shut.touch()
    said(python(machine, "worker.spawn(root, delay=0)"))
    until(lambda: fetches(machine) == 1, "the first round")
    first = set(machine.processes())
    path = machine.write("late")
    for way in EACH_WAY:
        said(python(machine, f"worker.{way}(root, delay=0)"))
    until(lambda: set(machine.processes()) <= first, "the end of the later workers")
    machine.shut.unlink()
    until(lambda: machine.published(path), "publishing")
    until(lambda: not machine.processes(), "the worker's end")


@needs_proc
def test_a_worker_that_died_holds_nobody_up(machine: Machine) -> None:
    machine.shut.touch()
    said(python(machine, "worker.spawn(root, delay=0)"))
    until(lambda: fetches(machine) == 1, "the first round")
    machine.clear()
    path = machine.write("after")
    said(python(machine, "worker.spawn(root, delay=0)"))
    until(lambda: machine.published(path), "publishing")


def test_whoever_waits_is_told_the_outcome(machine: Machine) -> None:
    told = json.loads(said(python(machine, "print(json.dumps(worker.spawn_awaited(root, 60).wait(60)))")))
    assert told["state"] in ("published", "unchanged")
    assert set(told) == {"state", "reason", "next", "pulled", "pushed"}


def test_whoever_waits_is_not_made_to_wait_for_the_debouncing_of_another(machine: Machine) -> None:
    said(python(machine, "worker.spawn(root, delay=50)"))
    until((machine.brain / ".git/commonwealth/wanted").exists, "the first request")
    told = json.loads(said(python(machine, "print(json.dumps(worker.spawn_awaited(root, 40).wait(40)))")))
    assert told["state"] in ("published", "unchanged")


def test_whoever_waits_goes_on_without_a_remote_that_hangs(machine: Machine) -> None:
    machine.shut.touch()
    path = machine.write("by-hand")
    assert said(python(machine, "print(worker.spawn_awaited(root, 0.3).wait(0.3))")) == "{'state': 'late'}\n"
    machine.shut.unlink()
    until(lambda: machine.published(path), "publishing")


@pytest.mark.parametrize("damage", ["gone", "no git", "read-only"])
def test_a_brain_that_cannot_be_served_is_told(machine: Machine, damage: str) -> None:
    if damage == "gone":
        machine.brain.rename(machine.root / "elsewhere")
    elif damage == "no git":
        (machine.brain / ".git").rename(machine.root / "git")
    else:
        folder = machine.brain / ".git" / "commonwealth"
        folder.rmdir()
        folder.write_text("a file where a folder should be", encoding="utf-8")
    told = json.loads(said(python(machine, "print(json.dumps(worker.spawn_awaited(root, 60).wait(60)))")))
    assert told["state"] == "refused"
    assert told["reason"]


@needs_proc
def test_a_worker_keeps_the_persons_home(machine: Machine) -> None:
    machine.shut.touch()
    for way in EACH_WAY:
        said(python(machine, f"worker.{way}(root, delay=0)"))
    until(lambda: fetches(machine) == 1, "the first round")
    assert machine.processes()  # they are found by their HOME
