"""A process in the foreground that polls, syncs and indexes one brain for as long as it lives.

It is a convenience: whoever finds it gone, or silent for two polls, does its work as if there had never been one.
Locks and the state that it shows die with it, whatever ended it.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from commonwealth import timeline
from commonwealth.errors import BrainError, Damaged
from commonwealth.flows import heartbeat, indexing, publishing, sweeping
from commonwealth.flows.brains import open_brain
from commonwealth.flows.heartbeat import Beat
from commonwealth.model import Receipt
from commonwealth.repo.common import find_git_dir

INTERVAL = 60.0
"""Seconds between two polls."""

SHORTEST = 1.0
LONGEST = 900.0
"""Seconds between two polls at most while the remote cannot be reached."""

_GLANCE = 0.2
"""Seconds between two looks for requests."""

_LEAST, _MOST = 5.0, 60.0
"""Seconds that a sync may wait for the network."""

_SWEEPING = 30.0
"""Seconds after which a round begins to sweep no further session: somebody may wait for the next one."""


class Stopped(BaseException):
    """The daemon was asked to end. No Exception, so that it passes every handler on its way out."""


def never() -> bool:
    """A daemon that is ended from outside."""
    return False


@dataclass(slots=True)
class Daemon:
    """The daemon of the clone at `root`; `begun` is called once nobody else serves it, `say` hears of each round,
    `stopping` is asked often."""

    root: Path
    interval: float = INTERVAL
    rng: random.Random = field(default_factory=random.Random)
    say: Callable[[Receipt], None] = field(default=lambda _receipt: None)
    begun: Callable[[], None] = field(default=lambda: None)
    stopping: Callable[[], bool] = never
    rounds: int = 0
    _failed: int = 0
    _due: float = 0
    _shown: float = 0
    _beat: Beat = field(default_factory=lambda: Beat(os.getpid(), INTERVAL, timeline.now()))

    def run(self) -> None:
        """Serve until asked to stop. Raises Busy where another daemon serves, Damaged where the clone is gone."""
        lock = heartbeat.lock_of(self.root)
        lock.acquire(1.0)
        try:
            self._beat = Beat(os.getpid(), self.interval, timeline.now())
            self._show(busy=False)
            self._due = time.monotonic()
            self.begun()
            while not self.stopping():
                self._step()
        finally:
            heartbeat.clear(self.root)
            lock.release()

    def _step(self) -> None:
        """Serve what is asked for or due, or wait a moment."""
        marks = publishing.Marks.of(self.root)
        asked = marks.wanted.exists()
        if asked:
            publishing.pause(publishing.UNHURRIED * self.rng.uniform(0.75, 1), marks.hurry)
        if asked or time.monotonic() >= self._due:
            self._round(marks)
            return
        if time.monotonic() - self._shown >= self.interval / 2:
            heartbeat.touch(self.root)
            self._shown = time.monotonic()
        time.sleep(_GLANCE)

    def _round(self, marks: publishing.Marks) -> None:
        if find_git_dir(str(self.root)) is None:
            raise Damaged(f"The brain at {self.root} is gone.", hint="Stop its daemon, or bring the folder back.")
        self._beat = replace(self._beat, polled=timeline.now())
        self._show(busy=True)
        receipt = self._synced(marks)
        self.rounds += 1
        self._beat = replace(self._beat, state=receipt.state, reason=receipt.reason, next=receipt.next)
        self._show(busy=False)
        self._failed = self._failed + 1 if receipt.state in ("deferred", "refused") else 0
        self._due = time.monotonic() + self.wait(self._failed)
        self.say(receipt)

    def _synced(self, marks: publishing.Marks) -> Receipt:
        try:
            brain = open_brain(self.root, cwd=os.sep)
            seconds = min(max(self.interval, _LEAST), _MOST)
            receipt = publishing.one_round(brain, marks, seconds, trigger="daemon")
            before = publishing.committed(self.root)
            swept = sweeping.sweep_all(self.root, _SWEEPING, asking=time.monotonic() + _MOST)
            if swept and publishing.committed(self.root) != before:
                receipt = publishing.one_round(brain, marks, seconds, trigger="daemon")
        except BrainError as error:
            return Receipt("refused", reason=error.message, next=error.hint)
        with suppress(BrainError, OSError):  # the index heals at the next read
            indexing.ensure(brain, sweep=True)
        return receipt

    def wait(self, failed: int) -> float:
        """Seconds until the next poll after so many failures in a row: doubled each time, and never just the same for
        two clones."""
        doubled = self.interval * 2.0 ** min(failed, 20)
        return max(self.interval, min(doubled, LONGEST)) * self.rng.uniform(0.9, 1.1)

    def _show(self, *, busy: bool) -> None:
        self._beat = replace(self._beat, busy=busy)
        heartbeat.write(self.root, self._beat)
        self._shown = time.monotonic()
