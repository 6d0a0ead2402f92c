"""Derived files are pure text of the notes: the same bytes whoever makes them, and safe to show."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commonwealth.notes import derived

from .examples import NOTE, TITLES, texts

FOLDERS = {"memory": "memory", "decision": "adr"}


@given(texts, texts)
def test_a_line_is_one_line_whose_link_leads_to_the_note(title: str, summary: str) -> None:
    line = derived.index_line(replace(NOTE, title=title, summary=summary), "a (b)]é.md")
    assert line.isprintable() or all(c.isprintable() or c.isspace() or ord(c) > 127 for c in line)
    assert "\n" not in line
    assert derived.line_path(line) == "a%20%28b%29%5D%C3%A9.md"


def test_no_text_of_a_note_opens_a_link_or_tag() -> None:
    hostile = "x](http://evil) [y](z) <script> ![i](j) `c` | \x1b[31m\u202e"
    line = derived.index_line(replace(NOTE, title=hostile, summary=hostile), "x.md")
    for mark in ("](http", "[y](", "<script", "![", "\x1b", "\u202e"):
        assert mark not in line.replace("\\]", "").replace("\\<", "").replace("\\[", "").replace("\\!", "")


def test_a_line_says_what_is_no_longer_true() -> None:
    old = replace(NOTE, status="superseded", superseded_by="2026-07-01-new-aaaaaaaa")
    assert "(superseded by 2026-07-01-new-aaaaaaaa)" in derived.index_line(old, "x.md")
    dated = replace(old, superseded_at="2026-07-01T00:00:00Z")
    assert "(superseded by 2026-07-01-new-aaaaaaaa from 2026-07-01)" in derived.index_line(dated, "x.md")
    planned = replace(NOTE, created_at="2026-06-02T00:00:00Z", valid_from="2027-01-01T00:00:00Z", valid_until=None)
    assert "(from 2027-01-01)" in derived.index_line(planned, "x.md")
    assert "(retracted)" in derived.index_line(replace(NOTE, status="retracted"), "x.md")
    assert "(disputes other)" in derived.index_line(replace(NOTE, conflict_of="other"), "x.md")


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_a_table_does_not_depend_on_order_and_changes_by_line(order: list[int], removed: set[int]) -> None:
    lines = {f"2026-06-0{n}-x.md": _line(n) for n in order}
    whole = derived.lines_index("memory", "memory/2026-06", lines.values())
    assert whole == derived.lines_index("memory", "memory/2026-06", map(_line, range(6)))
    left = [_line(n) for n in order if n not in removed]
    gone = derived.updated_lines(whole, {f"2026-06-0{n}-x.md": None for n in removed})
    changed = derived.lines_index("memory", "memory/2026-06", gone)
    assert changed == derived.lines_index("memory", "memory/2026-06", left)
    back = derived.updated_lines(changed, lines)
    assert derived.lines_index("memory", "memory/2026-06", back) == whole


def _line(number: int) -> str:
    return derived.index_line(replace(NOTE, title=TITLES[number * 7]), f"2026-06-0{number}-x.md")


def test_a_kinds_table_counts_its_folders_and_lists_its_own_notes() -> None:
    counts = {"2026-06": 1, "2026-07": 1200, "empty": 0}
    text = derived.kind_index("memory", "memory", counts, [derived.index_line(NOTE, "flat.md")])
    assert text.index("[2026-07](2026-07/INDEX.md): 1,200 notes") < text.index("[2026-06](2026-06/INDEX.md): 1 note\n")
    assert "](flat.md)" in text
    assert "empty" not in text


@given(texts, st.lists(texts, max_size=5), st.integers(0, 400))
def test_the_router_is_bounded_and_ends_with_whole_lines(name: str, titles: list[str], many: int) -> None:
    lines = [derived.index_line(replace(NOTE, title=title), "x.md") for title in titles] * many
    counts = {"memory": 12, "decision": 3}
    text = derived.router(name, FOLDERS, counts, lines)
    assert len(text.encode()) <= derived.MAX_ROUTER
    assert text == derived.router(name, FOLDERS, counts, lines)
    assert text.endswith("\n")
    assert "[adr](adr/INDEX.md)" in text
    assert "people/INDEX.md" not in text


def test_ended_work_is_not_counted_as_active() -> None:
    text = derived.router("b", FOLDERS | {"work-state": "work-state"}, {"work-state": 10})
    assert "| Work records | [work-state](work-state/INDEX.md) | 10 |" in text
    assert "Active" not in text


def test_a_line_can_move_to_the_root() -> None:
    line = derived.index_line(NOTE, "x.md")
    assert derived.moved_line(line, "memory/2026-06") == derived.index_line(NOTE, "memory/2026-06/x.md")
