"""How long to wait after a push for which somebody else was faster, and that whoever has lost often waits less.

Everybody waits a random time, so that rivals spread out. The unit is what our own last round took: a slow remote or a
busy machine needs more room between two tries. With each lost round the longest wait doubles, until it has room for a
crowd of 32; whoever has lost more often than that waits half as long each time, in the end less than any newcomer.
Lost rounds are remembered in the clone until a push lands, so a sync that ran out of time goes on where it was.

The doubling is binary exponential back-off (Metcalfe and Boggs, Ethernet, 1976): a writer among n loses about log2(n)
rounds. The way back is ours: back-off alone favours newcomers.
"""

from __future__ import annotations

import contextlib
import os
import random

from commonwealth import atomic
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file

PEAK = 5
"""Lost rounds after which the longest wait shrinks again; 2 to the power of it is the crowd that it has room for."""

SHORTEST, LONGEST = 0.05, 20.0
"""Seconds; a round is taken to last at least the first, and no pause is longer than the second."""

_STATE = "lost"
_MOST = 64


def longest_pause(lost: int, took: float) -> float:
    """Seconds that a writer waits at most after its round number `lost` that was in vain, which `took` seconds."""
    exponent = lost if lost <= PEAK else max(2 * PEAK - lost, -1)
    return min(LONGEST, max(SHORTEST, took) * 2.0**exponent)


def pause(rng: random.Random, lost: int, took: float) -> float:
    """Seconds to wait before the next round: random, up to `longest_pause`."""
    return rng.uniform(0, longest_pause(lost, took))


def lost_rounds(git: Git) -> int:
    """How often somebody else was faster since our last push that landed; 0 where that is not known."""
    text = (read_text(state_file(git, _STATE), 16) or "").strip()
    return int(text) if text.isascii() and text.isdecimal() else 0


def remember_lost(git: Git, lost: int) -> None:
    """Keep the number of lost rounds for the next sync."""
    atomic.replace(state_file(git, _STATE), f"{min(lost, _MOST)}\n".encode())


def forget_lost(git: Git) -> None:
    """Our push has landed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(git, _STATE))
