"""A process that runs `brain` commands, each in a copy of itself, and lets one file-system or git call of a run fail.

Started once, it answers requests, a line of JSON each, so that a run costs no start of an interpreter. A run is a
process of its own: `commonwealth.__main__.main` with an environment, a folder and streams of its own.

Counted are the calls of a run that change files below the folder of the test (opened for writing, renamed, removed,
linked, flushed, folders made), every start of git, and every connection to an index. The method is that of
SQLite's I/O error tests: the first call fails, then in a new run the second, until a run ends without a failure.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_CHANGES = {
    "os.chmod": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
}
"""Audit events, and how many of their first arguments are paths."""

_FREEING = frozenset({"os.remove", "os.rmdir"})
"""What works on a disk that is full."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_FLUSHES = ("fsync", "fdatasync", "write", "pwrite", "ftruncate", "sync")
_GIT = "FAILING_GIT"
"""Read by the `git` that stands first on PATH: what the start of git that it belongs to is to do."""

WRAPPER = """\
#!/bin/sh
action=$FAILING_GIT
unset FAILING_GIT
case "$action" in
  exit) echo "fatal: this call was made to fail" >&2; exit 128 ;;
  die) kill -9 $$ ;;
  orphan) kill -9 $PPID; exec "$REAL_GIT" "$@" ;;
  widow) "$REAL_GIT" "$@"; code=$?; kill -9 $PPID; exit $code ;;
esac
exec "$REAL_GIT" "$@"
"""
"""`orphan` kills whoever started git and goes on; `widow` does its work first."""


def _shown(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)


@dataclass
class Failing:
    """The calls of one run, counted; number `at` fails in the way of `how`, and with `sticky` all after it."""

    root: str
    how: str
    at: int
    sticky: bool
    report: int
    trace: int = -1
    count: int = 0
    busy: bool = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """The audit hook."""
        if self.busy:
            return
        if event == "subprocess.Popen":
            self.met(event, args, " ".join(map(_shown, args[1])))
        elif self.how.startswith("git-"):
            return
        elif event == "open":
            path, _, flags = args
            if flags & _WRITING and self.within(path):
                self.met(f"open {path}", args)
        elif event == "sqlite3.connect":
            if self.within(str(args[0]).removeprefix("file://")):
                self.met(event, args)
        elif self.sticky and event in _FREEING:
            return
        elif event in _CHANGES and any(self.within(path) for path in args[: _CHANGES[event]]):
            self.met(f"{event} {' '.join(map(_shown, args[: _CHANGES[event]]))}", args)

    def within(self, path: object) -> bool:
        """Whether a path is one of the test's."""
        if isinstance(path, int):
            return self.opened(path)
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        return os.path.abspath(text).startswith(self.root)

    def opened(self, descriptor: int) -> bool:
        """Whether a descriptor is open on one of the test's files."""
        return self.name(descriptor).startswith(self.root)

    def name(self, descriptor: int) -> str:
        """The file behind a descriptor; empty where there is none."""
        self.busy = True
        try:
            return os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            return ""
        finally:
            self.busy = False

    def met(self, event: str, args: tuple[Any, ...], about: str = "") -> None:
        """One counted call: told to whoever asked for the run, and made to fail if it is its turn."""
        self.count += 1
        if self.trace >= 0:
            os.write.__wrapped__(self.trace, f"{event} {about}".rstrip().encode() + b"\n")  # type: ignore[attr-defined]
        fails = self.count == self.at or (self.sticky and 0 < self.at <= self.count)
        os.pwrite.__wrapped__(self.report, b"%-9d" % self.count, 0)  # type: ignore[attr-defined]
        if not fails:
            return
        if self.count == self.at:
            os.pwrite.__wrapped__(self.report, event.encode()[:200], 10)  # type: ignore[attr-defined]
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how.startswith("git-"):
            args[3][_GIT] = self.how.removeprefix("git-")
        elif event == "sqlite3.connect":
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            error.sqlite_errorname = "SQLITE_CANTOPEN"
            raise error
        else:
            code = errno.EAGAIN if event == "subprocess.Popen" else getattr(errno, self.how)
            raise OSError(code, os.strerror(code))

    def install(self) -> None:
        """Begin to count."""
        for name in _FLUSHES:
            self._wrap(name)
        sys.addaudithook(self)

    def _wrap(self, name: str) -> None:
        real: Callable[..., Any] = getattr(os, name)

        def call(*args: Any) -> Any:
            if not self.how.startswith("git-") and not self.busy and (not args or self.within(args[0])):
                self.met(f"os.{name}", args, self.name(args[0]) if args else "")
            return real(*args)

        call.__wrapped__ = real  # type: ignore[attr-defined]
        setattr(os, name, call)


def _leave_no_worker() -> None:
    """A worker that outlives its run would work in the next one's folder: what it does has runs of its own."""
    detach: Any = importlib.import_module("commonwealth.adapters.detach")
    detach.detached = lambda job, seconds: None


def _run(request: Mapping[str, Any], streams: tuple[int, int], report: int) -> int:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, descriptor in enumerate(streams, 1):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = ["brain", *request["argv"]]
    if request.get("how"):
        trace = os.open(request["trace"], os.O_WRONLY | os.O_CREAT | os.O_APPEND) if "trace" in request else -1
        sticky = request.get("sticky", False)
        Failing(request["root"], request["how"], request["at"], sticky, report, trace).install()
    if request["argv"][0] == "worker":
        from commonwealth.adapters import worker  # noqa: PLC0415  # as `python -m` would

        return worker.main(request["argv"][1:])
    _leave_no_worker()
    from commonwealth.__main__ import main  # noqa: PLC0415  # loaded before, and used in the copy only

    return main()


def _answer(request: Mapping[str, Any]) -> dict[str, object]:
    out, err, report = (os.memfd_create(name) for name in ("out", "err", "report"))
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _run(request, (out, err), report)
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:  # noqa: BLE001  # a copy must never go on as the server
            os.write(err, traceback.format_exc().encode())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    count = os.pread(report, 9, 0).strip()
    answer = {
        "code": os.waitstatus_to_exitcode(status),
        "out": _text(out),
        "err": _text(err),
        "events": int(count or 0),
        "event": os.pread(report, 200, 10).decode("utf-8", "replace"),
    }
    for descriptor in (out, err, report):
        os.close(descriptor)
    return answer


def _text(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode("utf-8", "replace")


def main() -> None:
    """Answer requests on stdin until it ends."""
    for name in ("__main__", "adapters.worker", "adapters.hooks", "flows.publishing"):
        importlib.import_module(f"commonwealth.{name}")
    for name in ("writing", "moving", "upkeep", "importing", "setup", "finding"):
        importlib.import_module(f"commonwealth.adapters.cli.{name}")
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
