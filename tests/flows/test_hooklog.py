"""The doctor tells what the last hooks did, whatever their log holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.flows import hooklog


@pytest.fixture
def log() -> Path:
    path = config.home() / "logs" / "hooks.jsonl"
    path.parent.mkdir(parents=True)
    return path


def run(number: int, outcome: str = "silent", **fields: object) -> str:
    line = {"at": f"2026-07-01T10:00:{number:02}Z", "event": "UserPromptSubmit", "host": "claude", "session": "s"}
    return json.dumps(line | {"ms": 41, "outcome": outcome, "notes": 0, "reason": None} | fields)


def test_the_last_ten_runs_are_told_the_oldest_first(log: Path) -> None:
    log.write_text("\n".join(run(number) for number in range(25)) + "\n", encoding="utf-8")
    told = [check.message for check in hooklog.checks()]
    assert len(told) == 10
    assert told[0].startswith("2026-07-01T10:00:15Z claude UserPromptSubmit: silent, 41 ms")
    assert told[-1].startswith("2026-07-01T10:00:24Z")


def test_a_run_says_how_many_notes_it_told_and_why_it_told_none(log: Path) -> None:
    log.write_text(run(1, "injected", notes=2) + "\n" + run(2, reason="told already") + "\n", encoding="utf-8")
    told = [check.message for check in hooklog.checks()]
    assert "injected, 2 notes" in told[0]
    assert "(told already)" in told[1]


@pytest.mark.parametrize("outcome", ["failed", "fault", "late", "damaged", "not kept"])
def test_a_run_that_went_wrong_is_a_warning_with_a_hint(log: Path, outcome: str) -> None:
    log.write_text(run(1, outcome) + "\n", encoding="utf-8")
    (check,) = hooklog.checks()
    assert (check.state, bool(check.hint)) == ("warn", True)


def test_a_broken_log_tells_what_can_be_read(log: Path) -> None:
    log.write_bytes(b"\xff\xfe{\n[1]\n" + b"x" * 40_000 + b"\n" + run(3).encode() + b"\n{")
    assert len(list(hooklog.checks())) == 1


def test_where_no_hook_has_run_nothing_is_said() -> None:
    assert list(hooklog.checks()) == []
