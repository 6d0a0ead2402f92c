"""When a server looks at every file for edits made in place: never while somebody waits, if it can be helped.

What changes by a rename (a pull, a checkout, most editors) is seen by every call. An edit that keeps the file in its
place is only seen by looking at the file.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

from commonwealth.errors import BrainError
from commonwealth.flows import indexing
from commonwealth.flows.brains import Brain

BETWEEN = 2.0
"""Seconds that pass at least between two sweeps in the background."""

STALE = 30.0
"""Seconds after which a call sweeps first: the server was idle, and anything may have happened."""


class Sweeps:
    """The sweeps of one server, for each brain that it serves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[Path, float] = {}

    def due_now(self, brain: Brain) -> bool:
        """Whether this call has to look at every file itself."""
        return self._due(brain, STALE)

    def follow(self, brain: Brain) -> None:
        """Sweep in the background, unless that was done a moment ago."""
        if self._due(brain, BETWEEN):
            threading.Thread(target=_sweep, args=(brain,), name="sweep", daemon=True).start()

    def _due(self, brain: Brain, seconds: float) -> bool:
        now = time.monotonic()
        with self._lock:
            if now - self._last.get(brain.root, -STALE) < seconds:
                return False
            self._last[brain.root] = now
            return True


def _sweep(brain: Brain) -> None:
    with suppress(BrainError):  # the next call meets the same trouble, and says so
        indexing.ensure(brain, sweep=True)


SWEEPS = Sweeps()
