"""Processes that outlive their starter, hold nothing of its, and end by themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.adapters import detach

pytestmark = pytest.mark.skipif(not detach.FORKS, reason="needs a system that can fork")
SECONDS = 20


def script(body: str, *args: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A Python process in a session of its own, as a host starts a hook, with both outputs on pipes."""
    code = f"import os, sys, time, signal\nfrom commonwealth.adapters import detach\n{body}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=env,
    )


def until(condition: Callable[[], bool]) -> None:
    """Wait, for as long as the slowest machine needs, until `condition` holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


def test_a_detached_job_outlives_the_end_of_its_starters_whole_group(tmp_path: Path) -> None:
    body = f"""
def job():
    open({str(tmp_path / "pid")!r}, "w").write(f"{{os.getpid()}} {{os.getppid()}} {{os.getcwd()}}")
    while not os.path.exists({str(tmp_path / "go")!r}):
        time.sleep(0.01)
    open({str(tmp_path / "done")!r}, "w").close()
detach.detached(job, 60)
print("left", flush=True)
time.sleep(600)
"""
    starter = script(body)
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"left\n"
    until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text(encoding="utf-8")))
    os.killpg(starter.pid, signal.SIGKILL)
    out, err = starter.communicate(timeout=SECONDS)  # no stream of the starter's is held open
    assert (out, err) == (b"", b"")
    (tmp_path / "go").touch()
    until((tmp_path / "done").exists)
    pid, _, folder = (tmp_path / "pid").read_text(encoding="utf-8").split()
    assert folder == "/"
    until(lambda: not runs(int(pid)))


def sleeping_git(tmp_path: Path) -> dict[str, str]:
    """An environment in which every git adds its process to the file `git.pid`, and sleeps."""
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "git").write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/git.pid\nexec sleep 600\n", encoding="utf-8")
    (fake / "git").chmod(0o755)
    return os.environ | {"PATH": f"{fake}{os.pathsep}{os.environ['PATH']}"}


def test_a_job_whose_time_is_over_is_ended_with_its_git(tmp_path: Path) -> None:
    body = f"""
from commonwealth.repo.git import Git
def job():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    Git({str(tmp_path)!r}).run("fetch", timeout=None)
detach.detached(job, 2)
"""
    starter = script(body, env=sleeping_git(tmp_path))
    assert starter.communicate(timeout=SECONDS) == (b"", b"")
    until(lambda: (tmp_path / "git.pid").exists() and bool((tmp_path / "git.pid").read_text(encoding="utf-8")))
    for name in ("pid", "git.pid"):
        pid = int((tmp_path / name).read_text(encoding="utf-8"))
        until(lambda pid=pid: not runs(pid))  # type: ignore[misc]


def test_a_job_that_heeds_no_exception_is_ended_for_good(tmp_path: Path) -> None:
    body = f"""
def job():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
detach.detached(job, 1.5)
"""
    assert script(body).communicate(timeout=SECONDS) == (b"", b"")
    until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text(encoding="utf-8")))
    until(lambda: not runs(int((tmp_path / "pid").read_text(encoding="utf-8"))))


def test_a_job_that_is_ended_for_good_takes_the_git_that_it_has_running_along(tmp_path: Path) -> None:
    body = f"""
from commonwealth.repo.git import Git
def job():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    while True:
        try:
            Git({str(tmp_path)!r}).run("fetch", timeout=None)
        except BaseException:
            pass
detach.detached(job, 2)
"""
    assert script(body, env=sleeping_git(tmp_path)).communicate(timeout=SECONDS) == (b"", b"")
    until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text(encoding="utf-8")))
    until(lambda: not runs(int((tmp_path / "pid").read_text(encoding="utf-8"))))
    started = (tmp_path / "git.pid").read_text(encoding="utf-8").split()
    assert len(started) > 1  # the second alarm has found another git than the first
    until(lambda: not any(runs(int(pid)) for pid in started))


@pytest.mark.parametrize(
    ("job", "answer"),
    [
        ("return b'yes'", b"yes"),
        ("return b'x' * 300_000", b"x" * 300_000),
        ("return b''", b""),
        ("print('stray'); os.write(1, b'stray'); return b'yes'", b"yes"),
        ("raise ValueError('lost')", b""),
        ("os._exit(3)", b""),
        ("os.kill(os.getpid(), signal.SIGKILL)", b""),
        ("detach.detached(lambda: time.sleep(30), 30); os.kill(os.getpid(), signal.SIGKILL)", b""),
    ],
    ids=[
        "a word",
        "much",
        "nothing",
        "stray output",
        "an error",
        "an exit",
        "a crash",
        "a crash with a child",
    ],
)
def test_only_the_answer_of_a_job_gets_out(job: str, answer: bytes) -> None:
    body = f"""
def job():
    {job}
said = detach.answer_within(job, 600)
sys.stdout.buffer.write(b"[" + said + b"]")
"""
    done = script(body)
    out, err = done.communicate(timeout=SECONDS)
    assert (done.returncode, out, err) == (0, b"[" + answer + b"]", b"")


def test_a_job_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    body = f"""
def job():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    time.sleep(600)
    return b"late"
sys.stdout.buffer.write(b"[" + detach.answer_within(job, 0.5) + b"]")
"""
    done = script(body)
    assert done.communicate(timeout=SECONDS) == (b"[]", b"")
    assert done.returncode == 0
    until(lambda: not runs(int((tmp_path / "pid").read_text(encoding="utf-8"))))
