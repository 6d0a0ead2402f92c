"""The shared gold set: every fact that must be drafted is, and next to no junk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.bench_capture import Figures, run


@pytest.fixture(scope="module")
def figures(shared: Path) -> list[Figures]:
    return run(shared / "corpora" / "gold")


def test_every_fact_that_must_be_drafted_is(figures: list[Figures]) -> None:
    assert len(figures) >= 4
    assert [one.missed for one in figures if one.must[0] < one.must[1]] == []


def test_most_facts_that_should_be_drafted_are(figures: list[Figures]) -> None:
    found, all_of_them = (sum(one.should[place] for one in figures) for place in (0, 1))
    assert found >= 0.7 * all_of_them


def test_no_session_keeps_more_than_one_draft_without_a_fact_or_more_notes_than_it_deserves(
    figures: list[Figures],
) -> None:
    assert [one.name for one in figures if one.junk > 1 or one.notes > one.most] == []


def test_the_evidence_of_every_draft_of_a_fact_has_a_line_that_says_it(figures: list[Figures]) -> None:
    assert [one.name for one in figures if one.rested[0] < one.rested[1]] == []
