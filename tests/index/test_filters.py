"""Every filter takes exactly what it says, one value or many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonwealth.index.query import Query, search
from commonwealth.model import Note

from .examples import ids, indexed, note

BRAIN = (
    note(
        "a",
        "Rule one",
        kind="decision",
        type="gotcha",
        status="confirmed",
        confidence="high",
        author="Alice",
        human="Bob",
        agent="Codex",
        components=("Payments",),
        tags=("50%", "Auth"),
        files=("src/payments/PaymentService.ts", "lib/a_b.py"),
        repository="acme/Commerce-Platform",
        created_at="2026-01-01T00:00:00Z",
        observed_at="2026-02-01T00:00:00Z",
        updated_at="2026-03-01T00:00:00Z",
    ),
    note(
        "b",
        "Rule two",
        tags=("50x", "a_b", "a\\b"),
        components=("payments-api",),
        files=("src/payments2/Service.ts", "lib/axb.py"),
        repository="other/commerce-platform",
        deciders=("Alice",),
        created_at="2026-06-01T00:00:00Z",
    ),
    Note("c", "work-state", "Rule three", files=("web/app.ts",), owner="Chen", agent="Claude Code"),
)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"kind": ("decision",)}, "a"),
        ({"kind": ("decision", "work-state")}, "ac"),
        ({"type": ("gotcha",)}, "a"),
        ({"status": ("confirmed", "hypothesis")}, "a"),
        ({"confidence": ("high",)}, "a"),
        ({"person": ("alice",)}, "ab"),
        ({"person": ("BOB",)}, "a"),
        ({"person": ("chen",)}, "c"),
        ({"agent": ("codex", "claude code")}, "ac"),
        ({"component": ("payments",)}, "a"),
        ({"tag": ("50%",)}, "a"),
        ({"tag": ("auth",)}, "a"),
        ({"tag": ("a_b",)}, "b"),
        ({"tag": ("a\\b",)}, "b"),
        ({"tag": ("%",)}, ""),
        ({"tag": ("a%",)}, ""),
        ({"tag": ("50%", "a_b")}, "ab"),
        ({"file": ("src/payments/PaymentService.ts",)}, "a"),
        ({"file": ("./src/payments/PaymentService.ts",)}, "a"),
        ({"file": ("src\\payments\\PaymentService.ts",)}, "a"),
        ({"file": ("src/payments",)}, "a"),
        ({"file": ("src/",)}, "ab"),
        ({"file": ("PaymentService.ts",)}, "a"),
        ({"file": ("payments/PaymentService.ts",)}, "a"),
        ({"file": ("Service.ts",)}, "b"),
        ({"file": ("a_b.py",)}, "a"),
        ({"file": ("app.ts",)}, "c"),
        ({"file": ("pay",)}, ""),
        ({"file": (".",)}, ""),
        ({"repository": ("commerce-platform",)}, "ab"),
        ({"repository": ("ACME/commerce-platform",)}, "a"),
        ({"repository": ("platform",)}, ""),
        ({"created_after": "2026-01-01T00:00:00Z"}, "ab"),
        ({"created_after": "2026-01-02"}, "b"),
        ({"created_before": "2026-01-01T00:00:00Z"}, ""),
        ({"observed_after": "2026-01-15T00:00:00Z", "observed_before": "2026-02-02T00:00:00Z"}, "a"),
        ({"updated_after": "2026-04-01T00:00:00Z"}, "b"),
        ({"kind": ("decision",), "tag": ("a_b",)}, ""),
    ],
)
def test_a_filter_takes_what_it_says(tmp_path: Path, filters: dict[str, Any], found: str) -> None:
    conn = indexed(tmp_path, *BRAIN)
    assert sorted(ids(conn, **filters)) == list(found)
    assert sorted(ids(conn, "rule", **filters)) == list(found)
    assert search(conn, Query("rule", **filters))[1] == len(found)
    conn.close()


def test_an_id_outside_the_filters_stays_outside(tmp_path: Path) -> None:
    conn = indexed(tmp_path, note("2026-01-01-a-rule-aaaa1111", "A rule"), note("b", "Other", tags=("x",)))
    assert ids(conn, "2026-01-01-a-rule-aaaa1111", tag=("x",)) == []


def test_a_time_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="yesterday"):
        ids(indexed(tmp_path), created_after="yesterday")


def test_work_that_is_over_is_history_unless_it_is_asked_for(tmp_path: Path) -> None:
    fact = note("a", "Payments retry")
    done, going = (
        Note(id_, "work-state", "Payments retry", status=status)
        for id_, status in (("b", "completed"), ("c", "in-progress"))
    )
    conn = indexed(tmp_path, fact, done, going)
    assert sorted(ids(conn, "payments")) == ["a", "c"]
    assert sorted(ids(conn, "payments", include_superseded=True)) == ["a", "b", "c"]
    assert sorted(ids(conn, "payments", kind=("memory", "work-state"))) == ["a", "b", "c"]
    assert ids(conn, "payments", status=("completed",)) == ["b"]
    conn.close()
