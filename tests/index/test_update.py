"""An index that followed changes says what a new one says, and touches no more rows than changed."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.errors import Busy
from commonwealth.index import schema
from commonwealth.index.build import build
from commonwealth.index.rows import Entry
from commonwealth.index.schema import connect, get_state
from commonwealth.index.update import Applied, apply, files
from commonwealth.model import Problem

from .examples import dump, entries, file, ids, indexed, note

steps = st.lists(
    st.tuples(
        st.lists(entries(), max_size=4),
        st.lists(st.sampled_from(("memory/a.md", "memory/b.md", "none.md")), max_size=2),
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(first=st.lists(entries(), max_size=4), then=steps)
def test_any_sequence_of_changes_ends_equal_to_a_new_index(
    first: list[Entry], then: Sequence[tuple[list[Entry], list[str]]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        there = {made.path: made for made in first}
        build(folder / "followed", there.values(), {})
        with closing(connect(folder / "followed", read_only=False)) as conn:
            for upserts, removed in then:
                apply(conn, upserts, removed)
                changed = {made.path: made for made in upserts}
                there = {path: made for path, made in there.items() if path not in removed} | changed
            conn.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        build(folder / "new", there.values(), {})
        assert dump(folder / "followed") == dump(folder / "new")


def many(count: int) -> list[Entry]:
    return [Entry(f"memory/{n}.md", 1, 1, note(f"n{n}", f"Title {n}", "some body")) for n in range(count)]


@pytest.mark.parametrize("size", [10, 1000])
def test_a_change_of_one_note_touches_as_many_rows_in_a_large_brain_as_in_a_small_one(
    tmp_path: Path, size: int
) -> None:
    build(tmp_path, many(size), {})
    with closing(connect(tmp_path, read_only=False)) as conn:
        before = conn.total_changes
        done = apply(conn, [Entry("memory/3.md", 2, 2, note("n3", "Another title", "other body"))])
        assert done == Applied(written=1)
        assert conn.total_changes - before < 40


def test_a_file_whose_note_is_the_same_gets_only_its_new_time(tmp_path: Path) -> None:
    made = note("a", "T", "body", tags=("x",))
    build(tmp_path, [file(made)], {})
    with closing(connect(tmp_path, read_only=False)) as conn:
        before = conn.total_changes
        assert apply(conn, [file(made, 9, 9)]) == Applied(touched=1)
        assert conn.total_changes - before == 1
        assert files(conn) == {"memory/a.md": (9, 9)}


def test_state_changes_with_the_rows_or_not_at_all(tmp_path: Path) -> None:
    build(tmp_path, [], {"head": "1", "kept": "x"})

    def failing() -> object:
        yield file(note("a"))
        raise RuntimeError("the caller's own failure")

    with closing(connect(tmp_path, read_only=False)) as conn:
        with pytest.raises(RuntimeError):
            apply(conn, failing(), state={"head": "2"})  # type: ignore[arg-type]
        assert get_state(conn) == {"head": "1", "kept": "x"}
        apply(conn, [file(note("a"))], state={"head": "2"})
        assert get_state(conn) == {"head": "2", "kept": "x"}


def test_a_writer_that_meets_another_for_too_long_is_told_busy_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 1)
    build(tmp_path, [], {})
    with closing(connect(tmp_path, read_only=False)) as first, closing(connect(tmp_path, read_only=False)) as second:
        first.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy):
            apply(second, [file(note("a"))])
        first.execute("ROLLBACK")
        apply(second, [file(note("a"))])
        assert list(files(first)) == ["memory/a.md"]


def test_a_reader_sees_one_state_while_a_writer_commits(tmp_path: Path) -> None:
    build(tmp_path, [file(note("a", "Apple"))], {})
    with closing(connect(tmp_path)) as reader, closing(connect(tmp_path, read_only=False)) as writer:
        with schema.snapshot(reader):
            assert ids(reader, "apple") == ["a"]
            apply(writer, [file(note("b", "Apple"))], ["memory/a.md"])
            assert ids(reader, "apple") == ["a"]
        assert ids(reader, "apple") == ["b"]


def test_problems_come_and_go_with_their_file(tmp_path: Path) -> None:
    broken = Entry("memory/a.md", 1, 1, None, (Problem("memory/a.md", 4, "a duplicate key"),))
    build(tmp_path, [broken], {})
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert conn.execute("SELECT count(*) FROM problems").fetchone() == (1,)
        apply(conn, [file(note("a", "Mended"))])
        assert conn.execute("SELECT count(*) FROM problems").fetchone() == (0,)
        assert ids(conn, "mended") == ["a"]
        apply(conn, [broken])
        assert ids(conn, "mended") == []


def test_a_note_with_half_a_surrogate_pair_is_a_problem_and_disturbs_no_other(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("bad", "T", "half \ud800"), note("good", "Fine", "text"))
    assert ids(conn, "fine") == ["good"]
    assert conn.execute("SELECT cause FROM problems").fetchone()[0].startswith("it holds half of a surrogate pair")


def test_a_file_name_that_is_no_unicode_is_kept_spelled_out(tmp_path: Path) -> None:
    odd = "memory/\udcff.md"
    build(tmp_path, [Entry(odd, 1, 1, None, (Problem(odd, 0, "its name is no UTF-8"),))], {})
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert list(files(conn)) == ["memory/\\udcff.md"]
        assert apply(conn, removed_paths=[odd]).removed == 1


def test_thousands_of_paths_and_values_pass_in_one_call(tmp_path: Path) -> None:
    build(tmp_path, many(200), {})
    paths = [f"memory/{n}.md" for n in range(40_000)]
    with closing(connect(tmp_path, read_only=False)) as conn:
        assert ids(conn, tag=tuple(paths), file=tuple(paths), component=tuple(paths)) == []
        assert apply(conn, removed_paths=paths).removed == 200
        assert isinstance(conn, sqlite3.Connection)
