"""Where the body of a note comes from: `-m`, a file, or standard input; never a wait without an end."""

from __future__ import annotations

import os
import select
import stat
import sys
from pathlib import Path

from commonwealth.adapters.terminal import Screen
from commonwealth.errors import Refused, Usage

LIMIT = 256 * 1024
"""Bytes of one note file."""

FIRST_BYTE_SECONDS = 1.0
"""How long a pipe on standard input that nobody asked for may stay silent: hosts leave theirs open."""


def read_body(text: str | None, file: str | None, folder: str, screen: Screen) -> str:
    """The body given by `-m`, `--body-file` (`-`: standard input), or else piped in; empty where none is.

    A pipe that was not asked for and stays silent for a second is left alone, with a warning.
    Raises Usage when both options are given or the text is no UTF-8, Refused for an unreadable or huge file.
    """
    if text is not None and file is not None:
        raise Usage("`-m` and `--body-file` cannot be used together.", hint="Give the body once.")
    if text is not None:
        return text
    if file == "-":
        return _decoded(_read_all(), "standard input")
    if file is not None:
        return _decoded(_read_file(Path(folder, file)), file)
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    found = _read_offered(FIRST_BYTE_SECONDS)
    if found is None:
        screen.remark(
            "standard input is open but silent, so the note has no body; `--body-file -` waits for one",
            "warning",
        )
    return _decoded(found or b"", "standard input")


def _read_file(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return _bounded(file.read(LIMIT + 1), str(path))
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}).", hint="Check the path.") from None


def _read_all() -> bytes:
    try:
        return _bounded(sys.stdin.buffer.read(LIMIT + 1), "standard input") if sys.stdin else b""
    except OSError as error:
        raise Refused(f"Standard input cannot be read ({error.strerror}).") from None


def _bounded(data: bytes, where: str) -> bytes:
    if len(data) > LIMIT:
        raise Refused(
            f"{where} holds more than {LIMIT // 1024} KiB, the most that one note can hold.",
            hint="A note is one fact: record the fact, and where the long text is kept.",
        )
    return data


def _read_offered(patience: float) -> bytes | None:
    """What standard input offers; None when its first byte, or its end, does not come within `patience` s.

    Where pipes cannot be polled (Windows), only a redirected file is read unasked.
    """
    if os.name == "nt":
        return _read_all() if stat.S_ISREG(os.fstat(0).st_mode) else b""
    offered = bool(select.select([0], [], [], patience)[0])
    return _read_all() if offered else None


def _decoded(data: bytes, where: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Usage(f"{where} is not UTF-8 text (byte {error.start + 1}).", hint="Save it as UTF-8.") from None
    if "\x00" in text:
        raise Usage(f"{where} holds a NUL byte and is no text.", hint="Save it as UTF-8.")
    return text.replace("\r\n", "\n")
