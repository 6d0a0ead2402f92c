"""Times have one spelling that sorts as time does, and validity is half-open."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth import timeline
from commonwealth.errors import Usage

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
FIRST, LAST = (datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (2, 9999))
MOMENTS = st.datetimes(FIRST, LAST, timezones=OFFSETS)
CANONICAL = MOMENTS.map(timeline.render)


@given(MOMENTS)
def test_every_spelling_of_an_instant_has_one_canonical_form(moment: datetime) -> None:
    second = moment.replace(microsecond=0)
    text = timeline.canonical(second.isoformat())
    assert text == timeline.canonical(second.astimezone(UTC).isoformat()) == timeline.render(moment)
    assert timeline.canonical(text) == text
    assert timeline.parse(text) == second


@given(MOMENTS, MOMENTS)
def test_canonical_text_sorts_as_time_does(one: datetime, other: datetime) -> None:
    left, right = one.replace(microsecond=0), other.replace(microsecond=0)
    assert (timeline.render(left) < timeline.render(right)) == (left < right)


@given(st.lists(CANONICAL, min_size=3, max_size=3, unique=True).map(sorted))
def test_of_two_facts_that_follow_each_other_exactly_one_holds_at_any_instant(times: list[str]) -> None:
    start, change, end = times
    for at in times:
        held = [timeline.holds(start, change, at), timeline.holds(change, end, at), timeline.holds(end, None, at)]
        assert held.count(True) == 1
    assert timeline.holds(change, end, change)
    assert not timeline.holds(start, change, change)


@given(CANONICAL, CANONICAL)
def test_a_missing_end_is_unbounded(bound: str, at: str) -> None:
    assert timeline.holds(None, None, at)
    assert timeline.holds(bound, None, at) == (bound <= at)
    assert timeline.holds(None, bound, at) == (at < bound)


@given(CANONICAL)
def test_an_empty_interval_holds_never(at: str) -> None:
    assert not timeline.holds(at, at, at)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2026-06-02", "2026-06-02T00:00:00Z"),
        ("2026-06-02 12:20", "2026-06-02T12:20:00Z"),
        ("  2026-06-02t12:20:30z\n", "2026-06-02T12:20:30Z"),
        ("2026-06-02T12:20:30 UTC", "2026-06-02T12:20:30Z"),
        ("2026-06-02T12:20:30.999999", "2026-06-02T12:20:30Z"),
        ("2026-06-02T12:20:30,5+02:00", "2026-06-02T10:20:30Z"),
        ("2026-06-02T12:20:30+0530", "2026-06-02T06:50:30Z"),
        ("2026-06-02T12:20:30+14", "2026-06-01T22:20:30Z"),
        ("2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00Z"),
        ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
    ],
)
def test_usual_spellings_are_read(text: str, canonical: str) -> None:
    assert timeline.canonical(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "yesterday",
        "2026",
        "2026-6-2",
        "20260602",
        "2026-02-29",
        "2026-13-01",
        "0000-01-01",
        "2026-06-02T24:00:00Z",
        "2026-06-02T12:60:00Z",
        "2026-06-02T12:20:61Z",
        "2026-06-02TT12:20",
        "2026-06-02T12",
        "2026-06-02T12:20:30+15:00",
        "2026-06-02T12:20:30+02:75",
        "2026-06-02T12:20:30 Europe/Paris",
        "9999-12-31T23:59:60Z",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "٢٠٢٦-٠٦-٠٢",
        "2026-06-02\n2026-06-03",
        "2026-06-02T12:20:30." + "9" * 100_000,
        "\x1b[31m2026-06-02\u202e",
    ],
)
def test_what_is_no_time_is_refused_with_one_short_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an ISO 8601 date or time|not a possible time") as caught:
        timeline.canonical(text)
    told = str(caught.value)
    assert len(told) < 250
    assert told.isprintable()


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert timeline.canonical(timeline.canonical(text)) == timeline.canonical(text)


@pytest.mark.parametrize("text", ["2026-06-02", "2026-06-02T12:20:00+00:00", "2026-06-02T12:20:00", "x"])
def test_only_canonical_text_is_parsed(text: str) -> None:
    with pytest.raises(ValueError, match=r"canonical|isoformat"):
        timeline.parse(text)


def test_the_clock_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONWEALTH_NOW", "2026-06-02T14:20:00+02:00")
    assert timeline.now() == "2026-06-02T12:20:00Z"
    monkeypatch.setenv("COMMONWEALTH_NOW", "noon")
    with pytest.raises(Usage, match="COMMONWEALTH_NOW: 'noon' is not an ISO 8601"):
        timeline.now()
    monkeypatch.delenv("COMMONWEALTH_NOW")
    assert timeline.parse(timeline.now()).tzinfo is UTC
