"""What comes back by default is true now; history answers when it is asked for; conflicts are shown as such."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from commonwealth.index.disputes import Dispute, disputes
from commonwealth.index.schema import connect
from commonwealth.index.update import apply

from .examples import file, hits, ids, indexed, note

EARLY, CHANGE, NOW, LATER = (f"2026-0{month}-01T00:00:00Z" for month in (1, 4, 7, 9))


def test_only_what_is_true_now_comes_back_by_default(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("live", "Rule"),
        note("superseded", "Rule", status="superseded"),
        note("retracted", "Rule", status="retracted"),
        note("expired", "Rule", valid_until=NOW),
        note("future", "Rule", valid_from=LATER),
        note("begins", "Rule", valid_from=NOW),
        note("lasts", "Rule", valid_until=LATER),
    )
    assert sorted(ids(conn, "rule")) == sorted(ids(conn)) == ["begins", "lasts", "live"]
    assert len(ids(conn, "rule", include_superseded=True)) == 7
    assert ids(conn, "rule", status=("superseded",)) == ["superseded"]


def test_at_the_instant_of_change_the_old_is_out_and_the_new_is_in(tmp_path: Path) -> None:
    old = note("old", "Rule", valid_until=CHANGE, status="superseded", superseded_by="new")
    conn = indexed(tmp_path, old, note("new", "Rule", valid_from=CHANGE, supersedes=("old",)))
    assert ids(conn, "rule", valid_at=CHANGE) == ["new"]
    assert ids(conn, "rule", valid_at="2026-03-31T23:59:59Z") == ["old"]
    assert ids(conn, valid_at=CHANGE) == ["new"]


def test_a_replacement_closes_the_old_note_before_anybody_writes_so_there(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("old", "Rule"), note("new", "Rule", supersedes=("OLD",), valid_from=CHANGE))
    assert ids(conn, "rule", now=NOW) == ["new"]
    assert ids(conn, "rule", now=EARLY) == ["old"]
    assert ids(conn, "rule", valid_at=EARLY) == ["old"]


@pytest.mark.parametrize(("status", "found"), [("retracted", ["old"]), ("superseded", []), ("confirmed", ["new"])])
def test_a_retracted_replacement_closes_nothing(tmp_path: Path, status: str, found: list[str]) -> None:
    conn = indexed(tmp_path, note("old", "Rule"), note("new", "Rule", supersedes=("old",), status=status))
    assert ids(conn, "rule") == found


def test_two_notes_that_replace_each_other_are_both_shown(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("a", "Rule", supersedes=("b", "a")), note("b", "Rule", supersedes=("a",)))
    assert ids(conn, "rule") == ["a", "b"]


def test_a_chain_shows_its_end(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("a", "Rule"),
        note("b", "Rule", supersedes=("a",), valid_from=EARLY),
        note("c", "Rule", supersedes=("b",), valid_from=CHANGE),
    )
    assert ids(conn, "rule") == ["c"]
    assert ids(conn, "rule", valid_at="2026-02-01T00:00:00Z") == ["b"]


def test_closing_follows_every_change_of_the_replacement(tmp_path: Path) -> None:
    indexed(tmp_path, note("old", "Rule")).close()
    with closing(connect(tmp_path / "index", read_only=False)) as conn:
        apply(conn, [file(note("new", "Rule", supersedes=("old",)))])
        assert ids(conn, "rule") == ["new"]
        apply(conn, [file(note("new", "Rule", supersedes=("old",), valid_from=LATER))])
        assert ids(conn, "rule") == ["old"]
        apply(conn, [file(note("new", "Rule", supersedes=("other",)))])
        assert sorted(ids(conn, "rule")) == ["new", "old"]
        apply(conn, [file(note("other", "Rule"))])
        assert sorted(ids(conn, "rule")) == ["new", "old"]
        apply(conn, removed_paths=["memory/new.md"])
        assert sorted(ids(conn, "rule")) == ["old", "other"]


def test_what_was_retracted_was_never_true(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("a", "Rule", status="retracted"), note("b", "Rule"))
    assert ids(conn, "rule", valid_at=EARLY) == ["b"]
    assert ids(conn, "rule", valid_at=EARLY, include_superseded=True) == ["a", "b"]


def test_a_hundred_old_notes_do_not_crowd_out_the_live_ones(tmp_path: Path) -> None:
    old = [note(f"old{i}", "Retry rule", "retry rule", status="superseded") for i in range(100)]
    conn = indexed(tmp_path, *old, *(note(f"live{i}", "On retries", "a rule " + "x " * 50) for i in range(10)))
    assert sorted(ids(conn, "retry rule")) == sorted(f"live{i}" for i in range(10))


def test_versions_and_rival_replacements_are_shown_as_disputed(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("x", "Rule"),
        note("y", "Rule", supersedes=("x",)),
        note("z", "Rule", supersedes=("x",)),
        note("v", "Rule"),
        note("v-other", "Rule", conflict_of="v"),
        note("calm", "Rule"),
    )
    marked = {hit.note.id for hit in hits(conn, "rule") if "disputed" in hit.why}
    assert marked == {"y", "z", "v", "v-other"}
    assert disputes(conn) == (Dispute("version", "v", ("v", "v-other")), Dispute("replacement", "x", ("y", "z")))


def test_a_resolved_dispute_is_none(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("x", "Rule"),
        note("y", "Rule", supersedes=("x",), status="retracted"),
        note("z", "Rule", supersedes=("x",)),
        note("v", "Rule"),
        note("v-other", "Rule", conflict_of="v", status="superseded"),
    )
    assert disputes(conn) == ()
    assert not any("disputed" in hit.why for hit in hits(conn, include_superseded=True))


def test_a_rival_that_only_the_closed_note_names_is_one(tmp_path: Path) -> None:
    closed = note("x", "Rule", status="superseded", superseded_by="y")
    conn = indexed(tmp_path, closed, note("y", "Rule"), note("z", "Rule", supersedes=("x",)))
    assert disputes(conn) == (Dispute("replacement", "x", ("y", "z")),)
    assert {hit.note.id for hit in hits(conn, "rule") if "disputed" in hit.why} == {"y", "z"}


def test_replacements_that_name_each_other_stand_together(tmp_path: Path) -> None:
    pair = note("y", "Rule", supersedes=("x",), relates=("z",)), note("z", "Rule", supersedes=("x",))
    conn = indexed(tmp_path, note("x", "Rule"), *pair)
    assert disputes(conn) == ()
    assert not any("disputed" in hit.why for hit in hits(conn, include_superseded=True))


def test_notes_closed_by_each_other_are_one_dispute_of_all_that_they_replaced(tmp_path: Path) -> None:
    ring = [
        note(id_, "Rule", status="superseded", superseded_by=by, supersedes=("x",))
        for id_, by in (("y", "z"), ("z", "w"), ("w", "y"))
    ]
    conn = indexed(tmp_path, note("x", "Rule"), *ring, note("v", "Rule", status="superseded", superseded_by="y"))
    assert disputes(conn) == (Dispute("replacement", "x", ("w", "y", "z")),)
    shown = hits(conn, "rule", include_superseded=True)
    assert {hit.note.id for hit in shown if "disputed" in hit.why} == {"w", "y", "z"}


def test_a_sibling_counts_for_its_root_wherever_it_is_named(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("r", "Rule", supersedes=("x",)),
        note("s", "Rule", supersedes=("x",), conflict_of="r"),
        note("t", "Rule", conflict_of="s"),
    )
    assert disputes(conn) == (Dispute("version", "r", ("r", "s", "t")),)
