"""The process that a hook or the server leaves behind: it commits what is pending, syncs, and is gone.

At most one works on a brain at a time (`flows.publishing`). It has no connection to the host: see `detach`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commonwealth.adapters import detach
from commonwealth.faults import fault

LIFE = 120
"""Seconds after which a worker is gone, with every git that it started."""

DEBOUNCE = 3.0
"""Seconds that a worker waits for further writes before it syncs. Up to a third is added at random, so that
the workers of a team do not come all at once."""

_BEGIN = 100
_SWEEPING = 60.0
"""Seconds after which a worker begins to sweep no further session: what is committed is to be published too."""

_FAULTS = 3
_TRAMPOLINE = "import os, sys; os.fork() and os._exit(0); os.execv(sys.argv[1], sys.argv[1:])"


def spawn(root: Path, *, delay: float = DEBOUNCE) -> None:
    """Leave a worker for the brain at `root`; returns at once.

    A process with one thread is copied as it is, which takes 2 ms; from any other one it is `launch`.
    """
    fault("worker-spawn")
    if detach.FORKS and _one_thread():
        detach.detached(lambda: work(root, delay), LIFE)
    else:
        launch(root, delay=delay)


def _one_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


@dataclass(frozen=True, slots=True)
class Awaited:
    """A worker that syncs at once. `wait` once; without it the worker does its work all the same."""

    pipe: int | None

    def wait(self, seconds: float) -> dict[str, object]:
        """What came of the sync: `state`, `reason`, `next`, `pulled`, `pushed`.

        The state is `late` where the worker is not done after `seconds`: it goes on by itself, and is not
        stopped half way.
        """
        line = b""
        if self.pipe is not None:
            try:
                line = detach.read_line(self.pipe, seconds)
            finally:
                os.close(self.pipe)
        told = json.loads(line) if line else {"state": "late"}
        return told if isinstance(told, dict) else {"state": "late"}


def spawn_awaited(root: Path, seconds: float) -> Awaited:
    """Leave a worker that syncs at once and tells what came of it; for a process with one thread.

    It gives another worker of the same brain `seconds` to serve the request first.
    """
    if not detach.FORKS:
        launch(root, delay=0)
        return Awaited(None)
    ours, theirs = os.pipe()
    detach.detached(lambda: work(root, 0, patience=seconds, report=_to(theirs)), LIFE)
    os.close(theirs)
    return Awaited(ours)


def _to(pipe: int) -> Callable[[bytes], None]:
    def report(line: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # the hook has gone on without us
            os.write(pipe, line)

    return report


def launch(root: Path, *, delay: float = DEBOUNCE) -> None:
    """Leave a worker, from a process that has threads or cannot fork: a fresh interpreter is started.

    Takes some 20 ms. Raises OSError where no process can be started.
    """
    launching(root, delay=delay)()


def launching(root: Path, *, delay: float = DEBOUNCE) -> Callable[[], object]:
    """Begin to `launch` a worker, which takes some 3 ms and can be undone by nobody; what is returned has to be called
    in the end. Raises OSError where no process can be started."""
    import subprocess  # noqa: PLC0415  # a hook that forks does without

    # -P: a folder named like one of our modules, in whatever folder we are, is not imported.
    command = [sys.executable, "-P", "-m", __name__, str(root), str(delay)]
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        process = subprocess.Popen(command, creationflags=flags, close_fds=True, cwd=root)
        return lambda: process
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _TRAMPOLINE, *command],
        start_new_session=True,
        cwd=os.sep,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return process.wait


def work(root: Path, delay: float, *, patience: float = 0, report: Callable[[bytes], None] | None = None) -> None:
    """Serve the brain at `root` in this process, and `report` the outcome as one line of JSON."""
    fault("worker-started")
    end = time.monotonic() + _BEGIN
    if report is None:
        _sweep(root, end)
    # What moves commits is loaded here, in the worker: the hook that left it is long gone by then.
    from commonwealth.flows import publishing  # noqa: PLC0415

    pace = publishing.Pace(delay * (1 + os.urandom(1)[0] / 768), patience, max(0.0, end - time.monotonic()))
    outcome = publishing.serve_at(root, pace)
    if report:
        if outcome:
            report(json.dumps(outcome).encode() + b"\n")
        before = publishing.committed(root)
        if _sweep(root, end) and publishing.committed(root) != before:
            publishing.serve_at(root, publishing.Pace(0.0, 0, max(0.0, end - time.monotonic())))


def _sweep(root: Path, end: float) -> int:
    """Sweep the sessions that are due at the brain at `root`; no model is waited for after `end`.

    A fault of ours leaves them, and publishing goes on.
    """
    from commonwealth.flows import sweeping  # noqa: PLC0415  # as above

    for _ in range(_FAULTS):
        try:
            return sweeping.sweep_all(root, _SWEEPING, asking=end)
        except Exception as error:  # noqa: BLE001  # the edge of the process: others wait, and what is committed
            _report(error)
    return 0


def _report(error: Exception) -> None:
    from commonwealth.adapters import faultlog  # noqa: PLC0415  # needed once in a blue moon

    with contextlib.suppress(OSError):
        faultlog.write(error, ["worker"])


def main(arguments: list[str]) -> int:
    """`python -m commonwealth.adapters.worker ROOT DELAY`, as `launch` starts it."""
    root, delay = Path(arguments[0]), float(arguments[1])
    if detach.FORKS:
        detach.limited(lambda: work(root, delay), LIFE)
    else:
        work(root, delay)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
