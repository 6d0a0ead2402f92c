"""The two ends of the wire: lines in, lines out, and nothing else on either.

Descriptor 1 is pointed at standard error and descriptor 0 at the null device, so that neither a stray print
nor a child process can tear a message or eat one.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

LINE_LIMIT = 4 * 1024 * 1024
"""Bytes of one message; a longer one is answered with an error and never held in memory."""

_CHUNK = 1 << 16
_ENDS = 256


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit: only its first and last bytes were kept."""

    head: bytes
    tail: bytes


class Wire:
    """Newline-delimited messages over two descriptors."""

    def __init__(self, read_fd: int, write_fd: int, limit: int = LINE_LIMIT) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._limit = limit
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes | TooLong]:
        """Each line without its end; a last line that the peer did not end counts too."""
        pending, head = bytearray(), b""
        while chunk := self._read():
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                pending += piece
                yield self._line(head, pending)
                pending.clear()
                head = b""
            pending += rest
            if head or len(pending) > self._limit:
                head = head or bytes(pending[:_ENDS])
                del pending[:-_ENDS]
        if pending.strip():
            yield self._line(head, pending)

    def _read(self) -> bytes:
        try:
            return os.read(self._read_fd, _CHUNK)
        except OSError:  # a terminal that went away
            return b""

    def _line(self, head: bytes, line: bytearray) -> bytes | TooLong:
        if head or len(line) > self._limit:
            return TooLong(head or bytes(line[:_ENDS]), bytes(line[-_ENDS:]))
        return bytes(line)

    def send(self, line: bytes) -> bool:
        """Write one line. False when the peer has closed its end: there is nobody left to tell."""
        view = memoryview(line + b"\n")
        with self._lock:
            try:
                while view:
                    view = view[os.write(self._write_fd, view) :]
            except OSError:
                return False
        return True


def claim() -> Wire:
    """Take the process's standard streams for the wire and leave harmless ones in their place."""
    sys.stdout.flush()
    read_fd, write_fd = _above_standard(0), _above_standard(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0, inheritable=True)
    os.close(null)
    os.dup2(2, 1, inheritable=True)
    return Wire(read_fd, write_fd)


def _above_standard(descriptor: int) -> int:
    """A private duplicate (not inherited by children) that cannot land on 0, 1 or 2."""
    low: list[int] = []
    copy = os.dup(descriptor)
    while copy <= 2:
        low.append(copy)
        copy = os.dup(descriptor)
    for number in low:
        os.close(number)
    return copy
