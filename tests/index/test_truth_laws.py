"""The answer at an instant is one thing: from the index after any changes, from a fresh one, from the notes alone."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth import timeline
from commonwealth.index.build import build
from commonwealth.index.query import Query, search
from commonwealth.index.schema import connect
from commonwealth.index.update import apply
from commonwealth.model import Note

from .examples import file, ids, indexed, note

IDS = ("a", "b", "c", "d")
TIMES = tuple(f"2026-0{month}-01T00:00:00Z" for month in range(1, 7))
NOW = TIMES[3]
INSTANTS = (
    "2025-12-31T23:59:59Z",
    *(moment for time in TIMES for moment in (time, timeline.render(timeline.parse(time)).replace("00Z", "01Z"))),
)


def true_at(notes: Collection[Note], at: str, *, now: str | None) -> list[str]:
    """The ids of what is true at an instant, by a plain reading of the notes; `now` None asks for what is true now."""
    found = []
    for one in notes:
        if one.status == "retracted":
            continue
        until = one.valid_until or (one.superseded_at if one.status == "superseded" else None)
        replaced = [
            other.valid_from or other.observed_at or other.created_at or "0001-01-01T00:00:00Z"
            for other in notes
            if other.id != one.id and one.id in other.supersedes and other.id not in one.supersedes
            if other.status != "retracted"
        ]
        ends = [end for end in (until, *replaced) if end]
        if one.status == "superseded" and not ends and (now is None or at >= now):
            continue
        if timeline.holds(one.valid_from, min(ends, default=None), at):
            found.append(one.id)
    return sorted(found)


times = st.none() | st.sampled_from(TIMES)


@st.composite
def notes(draw: st.DrawFn) -> Note:
    status = draw(st.sampled_from(("observed", "observed", "superseded", "retracted")))
    return note(
        draw(st.sampled_from(IDS)),
        "Rule",
        status=status,
        observed_at=draw(times),
        valid_from=draw(times),
        valid_until=draw(times),
        superseded_at=draw(times) if status == "superseded" else None,
        supersedes=tuple(draw(st.sets(st.sampled_from(IDS), max_size=2))),
    )


changes = st.lists(notes() | st.sampled_from(IDS), min_size=1, max_size=8)


@settings(max_examples=100, deadline=None)
@given(changes)
def test_index_and_plain_reading_and_a_fresh_index_agree_at_every_instant(steps: list[Note | str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        there: dict[str, Note] = {}
        indexed(place).close()
        with closing(connect(place / "index", read_only=False)) as conn:
            for step in steps:
                if isinstance(step, str):
                    there.pop(step, None)
                    apply(conn, removed_paths=[f"memory/{step}.md"])
                else:
                    there[step.id] = step
                    apply(conn, [file(step)])
        build(place / "fresh", [file(one) for one in there.values()], {})
        for name in ("index", "fresh"):
            check(place / name, there)


def check(place: Path, there: Mapping[str, Note]) -> None:
    with closing(connect(place)) as conn:
        for at in INSTANTS:
            for now, wanted in ((None, Query(now=at)), (NOW, Query(now=NOW, valid_at=at))):
                answered = sorted(hit.note.id for hit in search(conn, wanted)[0])
                assert answered == true_at(there.values(), at, now=now), (at, now)
            assert len(search(conn, Query(now=at, include_superseded=True))[0]) == len(there)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(TIMES), min_size=1, max_size=5, unique=True).map(sorted), st.randoms())
def test_of_a_chain_exactly_one_note_is_true_from_its_beginning_on(starts: list[str], random: object) -> None:
    chain = [
        note(f"n{at}", "Rule", valid_from=start, supersedes=(f"n{at - 1}",) if at else ())
        for at, start in enumerate(starts)
    ]
    random.shuffle(chain)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder, closing(indexed(Path(folder), *chain)) as conn:
        for at in INSTANTS:
            begun = sum(start <= at for start in starts)
            assert ids(conn, "rule", now=at) == ([f"n{begun - 1}"] if begun else [])
            assert ids(conn, "rule", valid_at=at) == ids(conn, "rule", now=at)


def test_what_ends_with_a_replacement_to_come_is_true_until_then(tmp_path: Path) -> None:
    before, change, after = TIMES[0], TIMES[2], TIMES[4]
    old = note("old", "Rule", status="superseded", valid_until=change, superseded_by="new", superseded_at=before)
    conn = indexed(tmp_path, old, note("new", "Rule", valid_from=change, supersedes=("old",)))
    assert ids(conn, "rule", now=before) == ids(conn, "rule", valid_at=before) == ["old"]
    assert ids(conn, "rule", now=change) == ids(conn, "rule", now=after) == ["new"]
    assert ids(conn, "rule", now=before, valid_at=after) == ["new"]


def test_a_superseded_note_ends_where_it_says_else_when_it_was_superseded_else_before_now(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("until", "Rule", status="superseded", valid_until=TIMES[1], superseded_at=TIMES[2]),
        note("at", "Rule", status="superseded", superseded_at=TIMES[2]),
        note("some-time", "Rule", status="superseded"),
    )
    asked = {at: ids(conn, "rule", valid_at=at, now=NOW) for at in (TIMES[0], TIMES[1], TIMES[2], NOW, TIMES[5])}
    assert list(map(sorted, asked.values())) == [
        ["at", "some-time", "until"],
        ["at", "some-time"],
        ["some-time"],
        [],
        [],
    ]
    assert ids(conn, "rule", now=NOW) == []


def test_a_fact_may_be_true_in_two_periods_and_an_empty_one_never(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("first", "Rule", valid_from=TIMES[0], valid_until=TIMES[1]),
        note("again", "Rule", valid_from=TIMES[3], valid_until=TIMES[4]),
        note("never", "Rule", valid_from=TIMES[3], valid_until=TIMES[1]),
        note("none", "Rule", valid_from=TIMES[3], valid_until=TIMES[3]),
    )
    found = [ids(conn, "rule", valid_at=at) for at in TIMES]
    assert found == [["first"], [], [], ["again"], [], []]


def test_a_colleague_whose_clock_is_ahead_hides_nothing_and_sorts_by_what_is_said(tmp_path: Path) -> None:
    ahead = "2026-04-01T02:00:00Z"
    conn = indexed(
        tmp_path,
        note("ahead", "Rule", created_at=ahead, updated_at=ahead, observed_at=ahead),
        note("now", "Rule", created_at=NOW, updated_at=NOW),
        note("far", "Rule", created_at="9999-12-31T23:59:59Z"),
    )
    assert ids(conn, now=NOW) == ["far", "ahead", "now"]
    assert sorted(ids(conn, "rule", now=NOW)) == ["ahead", "far", "now"]
    assert ids(conn, now=NOW, created_before=ahead) == ["now"]
