"""A process that acts for others and may die for it: it forks a child for every call, which costs some 10 ms.

`Actor` is the handle; `python -m tests.reliability.actor` is the process. One call at a time: a line of JSON in,
then a line with the child's pid, then, when it has ended, one with its exit code and its answer.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import commonwealth

from .calls import perform

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = Path(commonwealth.__file__).resolve().parents[1]


class Actor:
    """`with Actor() as actor: actor.play(call, environment)`."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(SOURCE), str(REPOSITORY)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; a child that still works is let go on to its end."""
        self._process.communicate(timeout=60)

    def start(self, call: Mapping[str, Any], environment: Mapping[str, str], *, room: int = 0) -> int:
        """Begin a call with these variables, and files of at most `room` bytes (0: any); the pid of its process."""
        line = json.dumps({"call": dict(call), "environment": dict(environment), "room": room})
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(line + "\n")
        stdin.flush()
        return int(self._said()["pid"])

    def finish(self) -> tuple[int, dict[str, Any]]:
        """The exit code (negative: the signal) and the answer of the call that was begun."""
        said = self._said()
        return int(said["code"]), said["answer"] or {}

    def play(
        self, call: Mapping[str, Any], environment: Mapping[str, str], *, room: int = 0
    ) -> tuple[int, dict[str, Any]]:
        """Begin a call and wait for its end."""
        self.start(call, environment, room=room)
        return self.finish()

    def _said(self) -> dict[str, Any]:
        out: IO[str] | None = self._process.stdout
        assert out is not None
        line = out.readline()
        assert line, "the actor is gone"
        found: dict[str, Any] = json.loads(line)
        return found


def child(work: Callable[[], dict[str, Any]]) -> tuple[int, int]:
    """Run `work` in a child; its pid, and where its answer can be read from."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return pid, ours
    code = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)
        answer = json.dumps(work())
        os.write(theirs, answer.encode())
        code = 0
    except BaseException:  # told, as the process ends without any of the usual ways out
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _limited(order: Mapping[str, Any]) -> dict[str, Any]:
    os.environ.update(order["environment"])
    if order["room"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["room"], order["room"]))
    return perform(order["call"])


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        pid, pipe = child(lambda order=order: _limited(order))  # type: ignore[misc]
        print(json.dumps({"pid": pid}), flush=True)
        with open(pipe, encoding="utf-8") as file:
            answer = file.read()
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"code": code, "answer": json.loads(answer) if answer else None}), flush=True)


if __name__ == "__main__":
    main()
