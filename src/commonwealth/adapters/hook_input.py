"""What a host says on stdin, taken in bounded time and memory: a host need not close its end, nor ever say a thing."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 64 << 20
"""Bytes of one call that are kept. Of a longer one only what stands at its beginning is known."""

_PART = 1 << 16
_PAUSE = 0.02
"""Seconds of silence after a closing brace before we look whether the object is complete."""

_GRACE = 0.05


@dataclass(frozen=True, slots=True)
class Input:
    """The bytes that came; `whole` is False where the host had not ended when the time or the room was over."""

    data: bytes
    whole: bool


def read_call(seconds: float, *, stdin: int = 0, limit: int = LIMIT) -> Input:
    """One JSON object from `stdin`: until it is complete, the host closes its end, or `seconds` are over.

    What comes above `limit` bytes is read and dropped, so that the host can write to its end.
    """
    read = _read_when_ready if sys.platform != "win32" else _read_in_thread
    kept = bytearray()
    dropped = False

    def take(part: bytes) -> None:
        nonlocal dropped
        room = limit - len(kept)
        dropped = dropped or len(part) > room
        kept.extend(part[: max(0, room)])

    ended = read(stdin, time.monotonic() + seconds, take, lambda: not dropped and _is_object(kept))
    return Input(bytes(kept), ended and not dropped)


def _read_when_ready(
    stdin: int, deadline: float, take: Callable[[bytes], None], is_complete: Callable[[], bool]
) -> bool:
    """Hand on what comes. Whether it ended before the deadline."""
    untried = False
    while (left := deadline - time.monotonic()) > 0:
        try:
            if not select.select([stdin], [], [], min(left, _PAUSE) if untried else left)[0]:
                if untried and is_complete():
                    return True
                untried = False
                continue
            part = os.read(stdin, _PART)
        except (OSError, ValueError):  # no stdin at all
            return True
        if not part:
            return True
        take(part)
        if said := part.rstrip():
            untried = said.endswith(b"}")
    return untried and is_complete()


def _read_in_thread(
    stdin: int, deadline: float, take: Callable[[bytes], None], is_complete: Callable[[], bool]
) -> bool:
    """The same where a pipe cannot be asked whether anything is in it: the thread that waits is left behind."""
    lock = threading.Lock()
    over = False
    moved = threading.Event()

    def pump() -> None:
        nonlocal over
        try:
            while part := os.read(stdin, _PART):
                with lock:
                    take(part)
                moved.set()
        except (OSError, ValueError):
            pass
        over = True
        moved.set()

    threading.Thread(target=pump, daemon=True).start()
    while not over and (left := deadline - time.monotonic()) > 0:
        if moved.wait(min(left, _GRACE)):
            moved.clear()
            continue
        with lock:
            if is_complete():
                return True
    return over


def _is_object(data: bytearray) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
