"""Notes are found by what they are called, and come back exactly as they were handed in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings

from commonwealth.index import lookup
from commonwealth.index.packing import pack, proven
from commonwealth.index.rows import Entry
from commonwealth.model import Note, Problem

from .examples import entries, file, indexed, note, notes

ONE = note("2026-06-02-one-9f3d7k2m", "One", "See [[two-aaaa1111]] and [[Three|the third]].", relates=("three",))
TWO = note("2026-06-02-two-aaaa1111", "Two", "text", supersedes=("three",))
THREE = note("three", "Three", "text")


def test_an_id_is_found_whole_by_its_end_or_by_its_beginning(tmp_path: Path) -> None:
    conn = indexed(tmp_path, ONE, TWO, THREE)

    def found(id_: str) -> list[str]:
        return [item.note.title for item in lookup.get(conn, id_)]

    assert found(ONE.id) == found(ONE.id.upper()) == found("9f3d7k2m") == found("2026-06-02-o") == ["One"]
    assert found("2026-06-02-") == ["One", "Two"]
    assert found("nothing") == found("") == found("%") == found("9f3d7k2") == []


def test_an_exact_id_wins_over_longer_ones(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("a"), note("ab"), note("abc"))
    assert [item.note.id for item in lookup.get(conn, "a")] == ["a"]


def test_two_files_with_one_id_are_both_named(tmp_path: Path) -> None:
    twin = Entry("decisions/three.md", 1, 1, THREE)
    conn = indexed(tmp_path, THREE, twin)
    assert [item.path for item in lookup.get(conn, "three")] == ["memory/three.md", "decisions/three.md"]


def test_links_to_a_note_are_listed_by_what_they_say(tmp_path: Path) -> None:
    conn = indexed(tmp_path, ONE, TWO, THREE)
    assert [(how, item.note.title) for how, item in lookup.backlinks(conn, "Three")] == [
        ("supersedes", "Two"),
        ("relates", "One"),
        ("wikilink", "One"),
    ]


def test_titles_counts_and_problems(tmp_path: Path) -> None:
    broken = Entry("memory/x.md", 1, 1, None, (Problem("memory/x.md", 2, "bad"),))
    conn = indexed(tmp_path, ONE, TWO, THREE, broken)
    assert lookup.by_title(conn, " TWO") == (file(TWO),)
    assert lookup.counts(conn) == {("memory", "observed"): 3}
    assert lookup.problems(conn) == (Problem("memory/x.md", 2, "bad"),)


@settings(max_examples=200)
@given(notes("a"))
def test_a_note_is_unpacked_as_it_was_packed(made: Note) -> None:
    assert proven(*pack(made)) == made


@settings(max_examples=40, deadline=None)
@given(entries())
def test_a_note_comes_back_as_it_was_handed_in(made: Entry) -> None:
    with tempfile.TemporaryDirectory() as folder:
        conn = indexed(Path(folder), made)
        found = lookup.stored(conn, [rowid for (rowid,) in conn.execute("SELECT rowid FROM notes")])
        conn.close()
    assert [item.note for item in found.values()] == ([made.note] if made.note else [])
