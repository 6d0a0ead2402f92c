"""The daemon: it serves while it lives, others take over when it does not, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import plistlib
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonwealth.flows import heartbeat, publishing, recall, syncing, synclog, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.daemon import LONGEST, Daemon
from commonwealth.index.query import Query

from .conftest import NOW, Teammate, recorded

PlainGit = Callable[..., str]
Start = Callable[..., "subprocess.Popen[str]"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def until(holds: Callable[[], object], what: str) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, f"no {what}"
        time.sleep(0.05)


def brain_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "commonwealth", *words]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts daemons that end with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(brain: Brain, *, interval: float = 60, **env: str) -> subprocess.Popen[str]:
        words = brain_command("daemon", "run", "--brain", str(brain.root), "--interval", f"{interval:g}")
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, env=os.environ | env, stdout=pipe, stderr=pipe, text=True, encoding="utf-8")
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def polled(brain: Brain) -> bool:
    """Whether a daemon serves the brain and has ended its first round."""
    found = heartbeat.pulse(brain.root)
    return found.fresh and found.beat is not None and found.beat.state is not None


def triggers(brain: Brain) -> list[str]:
    return [line.trigger for line in synclog.rounds(brain.root)]


def ended(process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def test_a_daemon_serves_requests_and_polls_and_leaves_nothing(
    team: tuple[Teammate, Teammate], start: Start, git: PlainGit
) -> None:
    alice, bob = team
    brain = alice.act()
    process = start(brain, interval=1)
    until(lambda: polled(brain), "first poll")
    note_id = recorded(brain, "From Alice")
    receipt = publishing.serve(brain, publishing.Pace(0, patience=60))
    assert receipt is not None
    assert receipt.state in ("published", "unchanged")
    assert triggers(brain)[0] == "daemon"
    assert "worker" not in triggers(brain)
    assert syncing.unpublished(brain) == 0
    syncing.sync(bob.act())
    assert recall.locate(bob.act(), note_id).id == note_id
    theirs = recorded(bob.act(), "From Bob")
    syncing.sync(bob.act())
    brain = alice.act()
    until(lambda: list(brain.root.glob(f"memory/*/{theirs}.md")), "note of a colleague")
    query = Query(text="bob", kind=("memory",), now=NOW)
    until(lambda: recall.search(brain, query, sweep=False).total, "note in the index")
    until(lambda: git(brain.root, "status", "--porcelain") == "", "end of the move")
    assert ended(process) == (0, "")
    assert not heartbeat.pulse(brain.root).alive
    assert not (brain.root / ".git/commonwealth/daemon.json").exists()
    assert "daemon" not in git(brain.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_a_background_request_is_left_to_the_daemon(team: tuple[Teammate, Teammate], start: Start) -> None:
    brain = team[0].act()
    start(brain)
    until(lambda: polled(brain), "first poll")
    recorded(brain, "From Alice")
    publishing.serve(brain, publishing.Pace(0.1))
    until(lambda: syncing.unpublished(brain) == 0, "publishing")
    assert "worker" not in triggers(brain)


def test_a_daemon_that_hangs_is_passed_by_and_one_that_was_killed_blocks_nobody(
    team: tuple[Teammate, Teammate], start: Start
) -> None:
    brain = team[0].act()
    process = start(brain)
    until(lambda: polled(brain), "first poll")
    process.send_signal(signal.SIGSTOP)
    recorded(brain, "While it hangs")
    receipt = publishing.serve(brain, publishing.Pace(0, patience=60))
    assert receipt is not None
    assert (receipt.state, triggers(brain)[0]) == ("published", "worker")
    file = brain.root / ".git/commonwealth/daemon.json"
    old = time.time() - 2 * 60 - 1
    os.utime(file, (old, old))
    assert heartbeat.pulse(brain.root).alive
    assert not heartbeat.pulse(brain.root).fresh
    process.kill()
    process.communicate()
    recorded(brain, "After it was killed")
    receipt = publishing.serve(brain, publishing.Pace(0))
    assert receipt is not None
    assert (receipt.state, heartbeat.pulse(brain.root).alive) == ("published", False)
    again = start(brain)
    until(lambda: polled(brain), "a daemon after the killed one")
    assert ended(again, signal.SIGINT) == (0, "")


def test_a_second_daemon_says_so_and_ends(brain: Brain, start: Start) -> None:
    first = start(brain)
    until(lambda: polled(brain), "first poll")
    said, errors = (second := start(brain)).communicate(timeout=60)
    assert (second.returncode, "Serving" in said) == (6, False)
    assert f"Another daemon serves this brain: process {first.pid} (daemon)." in errors
    assert heartbeat.pulse(brain.root).fresh


def test_a_daemon_ends_at_once_while_it_waits_for_a_silent_remote(
    team: tuple[Teammate, Teammate], start: Start, git: PlainGit, tmp_path: Path
) -> None:
    brain = team[0].act()
    mark = tmp_path / "waiting"
    script = tmp_path / "silent-ssh"
    script.write_text(f"#!/bin/sh\necho $$ > {shlex.quote(str(mark))}\nexec sleep 600\n", encoding="utf-8")
    script.chmod(0o755)
    git(brain.root, "remote", "set-url", "origin", "ssh://git@example.invalid/brain.git")
    process = start(brain, GIT_SSH_COMMAND=shlex.quote(str(script)))
    until(lambda: mark.exists() and mark.read_text(encoding="utf-8").strip(), "connection")
    found = heartbeat.pulse(brain.root)
    assert found.beat is not None
    assert found.beat.busy
    assert ended(process) == (0, "")
    helper = int(mark.read_text(encoding="utf-8"))
    until(lambda: not Path(f"/proc/{helper}").exists() or not Path("/proc").exists(), "end of its helpers")
    assert synclog.rounds(brain.root)[0].state == "stopped"
    assert (brain.root / ".git/commonwealth/lock").exists()
    recorded(brain, "Written right after")


def test_status_shows_the_daemon_the_last_sync_and_the_age_of_debt(
    team: tuple[Teammate, Teammate], start: Start, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = team[0].act()
    git(brain.root, "remote", "set-url", "origin", str(team[0].home / "nowhere"))
    monkeypatch.setenv("COMMONWEALTH_NOW", NOW)
    recorded(brain)
    syncing.sync(brain)

    def told(*words: str) -> str:
        done = subprocess.run(brain_command(*words, "--brain", str(brain.root)), capture_output=True, check=True)
        return done.stdout.decode()

    monkeypatch.setenv("COMMONWEALTH_NOW", "2026-07-03T11:00:00Z")
    found = json.loads(told("status", "--log", "--json"))
    assert (found["debt"]["since"], found["debt"]["age"]) == (NOW, "2 days")
    assert (found["lastSync"]["trigger"], found["daemon"]["running"]) == ("sync", False)
    assert found["log"][0] == found["lastSync"]
    assert found["receipts"][0]["command"] == "remember"
    assert "(2 days)" in told("status")
    assert len(json.loads(told("status", "--log", "1", "--json"))["receipts"]) == 1
    process = start(brain)
    until(lambda: heartbeat.pulse(brain.root).fresh, "daemon")
    seen = json.loads(told("daemon", "status", "--json"))
    assert (seen["running"], seen["fresh"], seen["pid"], seen["interval"]) == (True, True, process.pid, 60)
    assert f"process {process.pid}" in told("daemon", "status")
    assert upkeep.status(brain).daemon.alive


def test_a_remote_that_cannot_be_reached_is_asked_ever_more_rarely(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, interval=60, rng=random.Random(1))
    waits = [daemon.wait(failed) for failed in range(12)]
    assert 54 <= waits[0] <= 66
    assert 108 <= waits[1] <= 132
    assert all(LONGEST * 0.9 <= wait <= LONGEST * 1.1 for wait in waits[5:])
    assert 0.9 * 3600 <= Daemon(tmp_path, interval=3600).wait(3) <= 1.1 * 3600


def test_a_request_that_the_disk_does_not_let_go_is_told_by_worker_and_daemon(brain: Brain, start: Start) -> None:
    marks = publishing.Marks.of(brain.root)
    (marks.wanted / "in the way").mkdir(parents=True)
    told = publishing.serve_at(brain.root, publishing.Pace(0))
    assert told is not None
    assert (told["state"], str(marks.folder) in str(told["reason"])) == ("refused", True)
    process = start(brain, interval=1)
    until(lambda: (found := heartbeat.pulse(brain.root).beat) and found.state == "refused", "refusal")
    code, said = ended(process)
    assert code == 0
    assert f"{marks.folder} cannot be written" in said


def unit(brain: Brain, kind: str) -> str:
    words = brain_command("daemon", "unit", "--kind", kind, "--interval", "30", "--brain", str(brain.root))
    return subprocess.run(words, capture_output=True, check=True).stdout.decode()


def test_the_units_name_paths_with_spaces_and_signs_exactly(
    tmp_path: Path, brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / 'My $HOME "x" 100%n é\\'
    brain.root.rename(odd)
    moved = Brain(odd, brain.config, "/")
    monkeypatch.setenv("COMMONWEALTH_HOME", str(tmp_path / "a %h & <b>"))
    before = sorted(tmp_path.rglob("*"))
    wanted = [sys.executable, "-P", "-m", "commonwealth", "daemon", "run"]
    wanted += ["--brain", str(odd), "--interval", "30"]
    line = re.search(r"^ExecStart=(.*)$", unit(moved, "systemd"), re.MULTILINE)
    assert line is not None
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line[1])
    plain = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in words]
    assert plain == wanted
    assert re.search(r'^Environment="COMMONWEALTH_HOME=.*/a %%h & <b>"$', unit(moved, "systemd"), re.MULTILINE)
    found = plistlib.loads(unit(moved, "launchd").encode())
    assert found["ProgramArguments"] == wanted
    assert found["EnvironmentVariables"]["COMMONWEALTH_HOME"].endswith("/a %h & <b>")
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before and odd not in path.parents] == []
    assert git(odd, "status", "--porcelain") == ""
