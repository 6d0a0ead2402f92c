"""How text reaches a person or a program: cleaned, in columns on a terminal, plain in a pipe, or as JSON."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from commonwealth.adapters.wire import Json
from commonwealth.errors import Refused
from commonwealth.safetext import clean, one_line

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_GAP = "  "
_LONG = 1 << 20
_DEFAULT_COLUMNS = 80
_ZERO_WIDTH = ("Mn", "Me", "Cf")
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


class Screen:
    """The standard streams of one command. Everything that is shown goes through here and is cleaned here."""

    answered = False
    """Whether this process has printed the JSON document of its command."""
    asked_for_json: bool | None = None
    """Whether the command of this process was asked for JSON; None before its options are understood."""

    def __init__(self, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.is_terminal = self.out.isatty()
        self.columns = _columns(self.out) if self.is_terminal else _LONG
        self._colour = self.is_terminal and _colour_wanted()

    def line(self, text: str = "") -> None:
        """One line, or several, on stdout; nothing of `text` but newlines and tabs controls the terminal."""
        self._write(self.out, clean(text) + "\n")

    def exactly(self, text: str) -> None:
        """`text` cleaned and otherwise as it is; on a terminal it is ended with a newline."""
        shown = clean(text)
        self._write(self.out, shown + "\n" if self.is_terminal and not shown.endswith("\n") else shown)

    def styled(self, *parts: tuple[str, str]) -> None:
        """One line of (text, style) parts; a style is a name such as `bold`, or empty."""
        painted = (self.paint(_flat(text), style) for text, style in parts)
        self._write(self.out, "".join(painted) + "\n")

    def document(self, value: Json) -> None:
        """The one JSON document of this command: exact values, everything but ASCII escaped."""
        text = json.dumps(value, ensure_ascii=True, indent=2 if self.is_terminal else None)
        Screen.answered = True
        self._write(self.out, text.replace("\x7f", "\\u007f") + "\n")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], *, elastic: int = -1) -> None:
        """Aligned columns under `headers` on a terminal; tab-separated cells without headers in a pipe.

        On a terminal the column `elastic` gives way where a line would be too long.
        """
        cells = [[one_line(cell, _LONG) for cell in row] for row in rows]
        if not self.is_terminal:
            for row in cells:
                self._write(self.out, "\t".join(row) + "\n")
            return
        widths = _widths([list(headers), *cells], elastic % len(headers), self.columns)
        self._write(self.out, self.paint(_aligned(headers, widths), "bold") + "\n")
        for row in cells:
            self._write(self.out, _aligned(row, widths) + "\n")

    def remark(self, text: str, kind: str = "note") -> None:
        """A line for people beside the result, on stderr: `warning: …`, `hint: …`."""
        self._write(self.err, f"{kind}: {one_line(text, _LONG)}\n")

    def paint(self, text: str, style: str) -> str:
        """`text` in a style, where this terminal shows styles. `text` must be clean."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text and self._colour else text

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Say on a terminal what takes its time, and take the line away again. Yields what says how far it is."""
        shown = self.err.isatty() and not self.as_json

        def say(text: str) -> None:
            if shown:
                self._write(self.err, f"\r\x1b[K{one_line(text)} …")
                self.err.flush()

        if shown:
            self._write(self.err, f"{one_line(what)} …")
            self.err.flush()
        try:
            yield say
        finally:
            if shown:
                self._write(self.err, "\r\x1b[K")

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Refused(f"The output could not be written ({error.strerror}).") from None


def _flat(text: str) -> str:
    """`text` clean and on one line; inner spaces stay, as columns need them."""
    return clean(text).replace("\n", " ").replace("\t", " ")


def width(text: str) -> int:
    """How many cells of a terminal `text` takes: wide characters two, marks none, a joined emoji as one."""
    if text.isascii():
        return len(text)
    total, before, joined = 0, 0, False
    for character in text:
        if character == _EMOJI_STYLE:
            total += before == 1
        elif joined or unicodedata.category(character) in _ZERO_WIDTH or character in _SKIN_TONES:
            joined = character == _JOINER
            continue
        else:
            before = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            total += before
        joined = False
    return total


def fit(text: str, cells: int) -> str:
    """The beginning of `text` that takes at most `cells` cells, marked `…` where something was cut."""
    if width(text) <= cells:
        return text
    end = min(len(text), cells)
    while end and width(text[:end]) > cells - 1:
        end -= 1
    while end and unicodedata.category(text[end : end + 1] or " ") in _ZERO_WIDTH:
        end -= 1
    return text[:end].rstrip() + "…" if cells > 0 else ""


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    shown = [fit(cell, limit) for cell, limit in zip(row, widths, strict=True)]
    padded = [cell + " " * (limit - width(cell)) for cell, limit in zip(shown, widths, strict=True)]
    return _GAP.join(padded).rstrip()


def _widths(rows: Sequence[Sequence[str]], elastic: int, columns: int) -> list[int]:
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - columns
    if over > 0:
        widths[elastic] = max(widths[elastic] - over, 12)
    return widths


def _columns(stream: TextIO) -> int:
    configured = os.environ.get("COLUMNS", "")
    if configured.isdecimal() and int(configured) > 0:
        return int(configured)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_COLUMNS
    except (OSError, ValueError):
        return _DEFAULT_COLUMNS


def _colour_wanted() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    old_console = os.name == "nt" and not (os.environ.get("WT_SESSION") or os.environ.get("TERM"))
    return not plain and not old_console
