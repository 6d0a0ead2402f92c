"""How a write ends: its receipt is shown, and a worker is left to publish it."""

from __future__ import annotations

from contextlib import suppress

from commonwealth.adapters import worker
from commonwealth.adapters.cli.call import Call
from commonwealth.errors import BrainError
from commonwealth.flows.brains import Brain
from commonwealth.flows.syncing import has_remote
from commonwealth.model import Receipt


def answer(call: Call, receipt: Receipt, brain: Brain) -> int:
    """Show the receipt of a write, leave publishing to a worker, and return the exit code."""
    code = call.answer(receipt)
    if receipt.state == "committed":
        leave_worker(brain)
    return code


def leave_worker(brain: Brain) -> None:
    """Leave publishing what was committed to a worker, where there is a remote to publish to."""
    with suppress(OSError, BrainError):  # no room for a process: the next sync publishes
        if has_remote(brain):
            worker.spawn(brain.root)
