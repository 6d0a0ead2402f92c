"""What reaches a terminal and what reaches a pipe."""

from __future__ import annotations

import io
import json
import re
import unicodedata

import pytest

from commonwealth.adapters.terminal import Screen, fit, width
from commonwealth.errors import Refused


class Stream(io.StringIO):
    """A stream that says of itself whether it is a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Shown:
    """A screen with what it has shown: `out` and `err`."""

    def __init__(self, *, terminal: bool, as_json: bool = False) -> None:
        self._out, self._err = Stream(terminal=terminal), Stream(terminal=terminal)
        self.screen = Screen(as_json=as_json, out=self._out, err=self._err)

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()

    @property
    def plain_lines(self) -> list[str]:
        return re.sub("\x1b\\[[0-9]*m", "", self.out).splitlines()


@pytest.fixture(autouse=True)
def sixty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("plain", 5),
        ("日本語", 6),
        ("ｱ", 1),
        ("Ａ", 2),
        ("cafe\u0301", 4),
        ("🎉", 2),
        ("👩\u200d💻", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("🇨🇭", 2),
        ("สวัสดี", 4),
    ],
)
def test_the_width_of_a_text_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize("cells", range(1, 12))
@pytest.mark.parametrize(
    "text",
    [
        "a long title",
        "日本語の題名",
        "e\u0301" * 12,
        "👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻",
    ],
)
def test_a_cut_text_never_takes_more_cells_than_there_are(text: str, cells: int) -> None:
    cut = fit(text, cells)

    assert width(cut) <= cells
    assert cut.endswith("…")
    assert cut == "…" or not unicodedata.combining(cut[0])


def test_columns_align_under_wide_characters() -> None:
    shown = Shown(terminal=True)

    shown.screen.table(["NAME", "STATE"], [("日本語", "ok"), ("plain", "ok")])

    assert [width(re.split("ok|STATE", line)[0]) for line in shown.plain_lines] == [8, 8, 8]


def test_a_line_of_a_table_never_wraps() -> None:
    shown = Shown(terminal=True)

    shown.screen.table(["ID", "TITLE"], [("x" * 20, "題" * 300), ("y", "short")])

    assert max(width(line) for line in shown.plain_lines) <= 60
    assert shown.plain_lines[1].endswith("…")


def test_a_pipe_gets_whole_cells_between_tabs_and_no_colour() -> None:
    shown = Shown(terminal=False)

    shown.screen.table(["ID", "TITLE"], [("a", "t" * 500), ("b", "two\nlines\tand a tab")])
    shown.screen.styled(("green", "green"))

    assert shown.out == f"a\t{'t' * 500}\nb\ttwo lines and a tab\ngreen\n"


def test_colour_is_shown_on_a_terminal_and_not_against_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = Shown(terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Shown(terminal=True)

    for shown in (coloured, plain):
        shown.screen.styled(("done", "green"))

    assert (coloured.out, plain.out) == ("\x1b[32mdone\x1b[0m\n", "done\n")


HOSTILE = "a\x1b]0;title\x07b\x1b[2Jc\u202ed\u2066e\u200bf\U000e0041g\rh\x9bi\x00"


@pytest.mark.parametrize("terminal", [True, False])
def test_no_text_controls_the_terminal(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = Shown(terminal=terminal)

    shown.screen.line(HOSTILE)
    shown.screen.exactly(HOSTILE)
    shown.screen.styled((HOSTILE, "bold"))
    shown.screen.table(["X"], [(HOSTILE,)])
    shown.screen.remark(HOSTILE)
    with shown.screen.working(HOSTILE):
        pass

    letters = shown.out + shown.err.replace("\r\x1b[K", "")
    assert [letter for letter in letters if unicodedata.category(letter) in ("Cc", "Cf")] == ["\n"] * letters.count(
        "\n"
    )


def test_a_document_is_one_json_value_with_exact_text() -> None:
    shown = Shown(terminal=False, as_json=True)

    shown.screen.document({"title": HOSTILE + "\x7f日"})

    assert json.loads(shown.out) == {"title": HOSTILE + "\x7f日"}
    assert shown.out.isascii()
    assert shown.out.rstrip("\n").isprintable()


def test_exact_text_gets_a_newline_on_a_terminal_only() -> None:
    terminal, pipe = Shown(terminal=True), Shown(terminal=False)

    for shown in (terminal, pipe):
        shown.screen.exactly("text")

    assert (terminal.out, pipe.out) == ("text\n", "text")


@pytest.mark.parametrize(
    ("terminal", "as_json", "told"),
    [(True, False, "Cloning …\r\x1b[K"), (True, True, ""), (False, False, "")],
)
def test_progress_is_told_on_a_terminal_and_leaves_no_trace(terminal: bool, as_json: bool, told: str) -> None:
    shown = Shown(terminal=terminal, as_json=as_json)

    with shown.screen.working("Cloning"):
        pass

    assert (shown.out, shown.err) == ("", told)


def test_a_stream_that_takes_no_more_is_a_sentence() -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(Refused, match="No space left"):
        Screen(out=Full()).line("text")
