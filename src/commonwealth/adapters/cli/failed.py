"""A command that fails under `--json` still prints one document: a receipt that says why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from commonwealth.adapters.terminal import Screen
from commonwealth.adapters.wire import receipt_json
from commonwealth.errors import BrainError, Offline
from commonwealth.model import Receipt


def answer(error: BrainError, arguments: Sequence[str]) -> None:
    """Print the receipt of a failure, if the command was asked for JSON and has printed no document before.

    A call that failed before its options were understood is taken as it reads. An output that cannot be written is
    passed over: `error` is told on stderr all the same.
    """
    asked = Screen.asked_for_json
    if Screen.answered or not (_reads_json(arguments) if asked is None else asked):
        return
    state = "deferred" if isinstance(error, Offline) else "refused"
    with suppress(BrainError, OSError):
        Screen(as_json=True).document(receipt_json(Receipt(state, reason=error.message, next=error.hint)))


def _reads_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options
