"""Processes that a host cannot hold up, kill or wait for.

A host ends the process tree of a hook that takes too long, and waits while any child keeps the hook's output
open. What is left behind here is no child of the hook's any more (fork, new session, fork), has no stream of
the host's, and ends by itself.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable

FORKS = sys.platform != "win32"
"""Whether this system can fork. Elsewhere a job runs in a process that is started anew."""

_LIMIT = 1 << 20
_GLANCE = 0.1
_LEEWAY = 3


class TimeIsUp(BaseException):
    """A detached job has used up its time. No Exception, so that it passes every handler on its way out."""


def detached(job: Callable[[], None], seconds: float) -> None:
    """Run `job` in a process of its own that outlives this one and is ended after `seconds`.

    For a process with one thread: the copy starts from the modules that are loaded. Returns at once.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            _leave_streams()
            os.chdir(os.sep)  # where we are may be removed, or be on a disk that is to be unmounted
            limited(job, seconds)
    finally:
        os._exit(0)


def answer_within(job: Callable[[], bytes], seconds: float) -> bytes:
    """What `job` answers (without line ends), or nothing when it has no answer within `seconds`.

    The job runs in a child, so that nothing it may hang on or die of reaches this process. A late child is
    left alone: it has no stream of ours and ends by itself soon.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _leave_streams()
            limited(lambda: _say(theirs, job()), seconds * _LEEWAY)
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        return read_line(ours, seconds, lambda: os.waitpid(child, os.WNOHANG) == (0, 0))
    finally:
        os.close(ours)


def read_line(pipe: int, seconds: float, alive: Callable[[], bool] = lambda: True) -> bytes:
    """One line from `pipe` without its end; nothing where it does not arrive whole within `seconds`.

    `alive` says whether the writer still runs: what it left behind may hold the pipe open for longer.
    """
    deadline = time.monotonic() + seconds
    data, last = b"", False
    while not data.endswith(b"\n"):
        left = max(0.0, deadline - time.monotonic())
        if select.select([pipe], [], [], 0 if last else min(left, _GLANCE))[0]:
            part = os.read(pipe, 1 << 16)
            if not part or len(data) > _LIMIT:
                return b""
            data += part
        elif last or not left:
            return b""
        else:
            last = not alive()
    return data[:-1]


def limited(job: Callable[[], None], seconds: float) -> None:
    """Run `job`, and end it after `seconds` by TimeIsUp; one that does not heed it is ended for good.

    The exception is what lets the runner of git take its own helpers along.
    """
    grace = max(1.0, seconds / 12)
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.1, seconds - grace), grace)
    try:
        job()
    except TimeIsUp:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number: int, _frame: object) -> None:
    signal.signal(number, _end_for_good)
    raise TimeIsUp


def _end_for_good(_number: int, _frame: object) -> None:
    for runner in ("commonwealth.repo.git", "commonwealth.flows.asking"):
        if runner in sys.modules:
            sys.modules[runner].stop_all()  # each in a session of its own, which no signal to our group reaches
    if os.getpgrp() != os.getsid(0):  # a group that we share with a host is not ours to end
        os._exit(1)
    os.killpg(0, signal.SIGKILL)


def _say(pipe: int, answer: bytes) -> None:
    data = answer + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _leave_streams() -> None:
    """Let go of the host's streams: it waits for whoever holds them."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    if null > 2:
        os.close(null)
