"""What a candidate looks like to a person: whole on a terminal of any width, one line in a pipe, and always clean."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.adapters import show_review
from commonwealth.adapters.terminal import Screen, width
from commonwealth.adapters.wrapping import wrapped
from commonwealth.flows.beside import Shown
from commonwealth.flows.evidence import Words
from commonwealth.flows.review import REJECTED
from commonwealth.model import Item, Note, Receipt
from commonwealth.notes.candidate import Origin
from commonwealth.notes.waiting import Waiting

LONG = "The payment gateway answers 409 where a key was used before, " * 12 + "which is the end."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(columns: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Screen, Terminal]:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    return Screen(out=out, err=out), out


def one(summary: str, *, verdict: str = "review", dropped: bool = False) -> Waiting:
    note = Note("2026-07-01-a-note-aaaaaaaa", "memory", "A note", "", summary=summary)
    return Waiting(note, "staging/a.md", b"", Origin(verdict=verdict, host="codex"), is_dropped=dropped)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_summary_is_shown_whole(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at, out = screen(columns, monkeypatch)
    show_review.head(at, one(LONG))
    said = out.getvalue()
    assert LONG in " ".join(said.split())
    assert max(len(line) for line in said.splitlines() if "aaaaaaaa" not in line) <= columns


def test_what_controls_a_terminal_is_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    at, out = screen(60, monkeypatch)
    show_review.head(at, one(f"\x1b[2J\x1b]0;title\x07\u202e{LONG}\r\x9b2J"))
    assert {char for char in out.getvalue() if not char.isprintable()} == {"\n"}
    assert "which is the end." in " ".join(out.getvalue().split())


@pytest.mark.parametrize("verdict", ["promote", "review", "drop"])
def test_the_verdict_and_the_state_are_shown(verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for dropped, state in ((False, "waits"), (True, "turned down")):
        at, out = screen(80, monkeypatch)
        show_review.shown(at, Shown(one("Short.", verdict=verdict, dropped=dropped)), Words())
        lines = dict(line.split(maxsplit=1) for line in out.getvalue().splitlines() if len(line.split()) > 1)
        assert lines["verdict"].startswith(verdict)
        assert lines["state"].startswith(state)


def test_what_was_rejected_is_headed_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for item, dropped, word in (
        (Item("a", "dropped", None), ("a",), "rejected"),
        (Item("a", "unchanged", REJECTED), (), "already rejected"),
    ):
        at, out = screen(80, monkeypatch)
        show_review.rejected(at, Receipt("unchanged", ("a",), items=(item,), dropped=dropped))
        assert out.getvalue().splitlines()[0] == word


@given(st.text(max_size=200), st.integers(min_value=2, max_value=60))
def test_no_word_is_lost_and_no_line_too_wide(text: str, cells: int) -> None:
    lines = wrapped(text, cells)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= cells for line in lines)
