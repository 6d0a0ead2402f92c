"""What hooks leave for the worker: one small file for a session however often it is asked for, and no request lost."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from commonwealth.flows import spool
from commonwealth.flows.spool import Entry

STOP = Entry("Stop", "claude", "s1", "/t/s1.jsonl", "/code", "2026-06-30T09:00:00Z")
LATER = "2026-06-30T09:10:00Z"
END = replace(STOP, trigger="SessionEnd", ended=True)


def waiting(folder: Path) -> spool.Waiting:
    (found,) = spool.waiting(folder)
    return found


def test_a_session_has_one_entry_and_others_have_theirs(tmp_path: Path) -> None:
    for _ in range(30):
        spool.put(tmp_path, STOP)
    assert len(list(tmp_path.glob("*.json"))) == 1
    spool.put(tmp_path, replace(STOP, host="codex"))
    spool.put(tmp_path, replace(STOP, transcript="/t/s2.jsonl"))
    assert len(spool.waiting(tmp_path)) == 3


def test_what_is_asked_for_again_at_once_is_not_written_again(tmp_path: Path) -> None:
    assert spool.put(tmp_path, STOP)
    assert not spool.put(tmp_path, replace(STOP, at=LATER))
    assert spool.put(tmp_path, END), "something else is asked for"
    spool.taken(waiting(tmp_path))
    assert spool.put(tmp_path, END), "a worker may have read the transcript already"


@pytest.mark.parametrize(
    ("asked", "trigger", "ended"),
    [
        ([("PreCompact", False), ("Stop", False)], "PreCompact", False),
        ([("Stop", False), ("SessionStart", False)], "Stop", False),
        ([("SessionStart", False), ("Stop", False)], "Stop", False),
        ([("Stop", False), ("SessionEnd", True)], "SessionEnd", True),
        ([("SessionEnd", True), ("SessionStart", False)], "SessionEnd", False),
    ],
)
@pytest.mark.parametrize("taken", [False, True], ids=["untouched", "taken meanwhile"])
def test_what_was_asked_for_stays_asked_for(
    tmp_path: Path, asked: list[tuple[str, bool]], trigger: str, *, ended: bool, taken: bool
) -> None:
    for number, (event, over) in enumerate(asked):
        spool.put(tmp_path, replace(STOP, trigger=event, ended=over, at=f"2026-06-30T09:0{number}:00Z"))
        if taken and not number:
            spool.taken(waiting(tmp_path))
    assert waiting(tmp_path).newest.ended is ended
    found = spool.taken(waiting(tmp_path))
    assert (found.newest.trigger, found.newest.ended) == (trigger, ended)
    assert len(list(tmp_path.glob("*.json"))) == 1


@pytest.mark.parametrize("order", [(STOP, END), (END, STOP)], ids=["the turn first", "the end first"])
def test_a_turns_hook_that_is_slow_does_not_open_a_session_that_ended(
    tmp_path: Path, order: tuple[Entry, Entry]
) -> None:
    for entry in order:
        spool.put(tmp_path, entry)
    assert waiting(tmp_path).newest.ended
    spool.put(tmp_path, replace(STOP, at="2026-06-30T08:59:59Z"))
    assert waiting(tmp_path).newest.ended


def test_what_is_asked_for_while_a_worker_sweeps_is_still_there_when_it_is_done(tmp_path: Path) -> None:
    spool.put(tmp_path, STOP)
    swept = spool.trying(waiting(tmp_path))
    assert swept.newest.tries == 1
    spool.put(tmp_path, END)
    spool.done(swept)
    assert waiting(tmp_path).newest == END


def test_what_a_hook_asked_for_since_the_worker_looked_is_taken_too(tmp_path: Path) -> None:
    spool.put(tmp_path, STOP)
    looked = waiting(tmp_path)
    spool.put(tmp_path, END)
    assert spool.taken(looked).newest.ended


def test_entries_of_an_earlier_version_become_one(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"0178000000000000000{number}-aabbccdd.json").write_text(json.dumps(asdict(STOP)), encoding="utf-8")
    spool.put(tmp_path, replace(END, at=LATER))
    assert spool.taken(waiting(tmp_path)).newest.ended
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_the_age_is_that_of_what_was_asked_for_whoever_wrote_the_file_since(tmp_path: Path) -> None:
    spool.put(tmp_path, replace(STOP, at="2020-01-01T00:00:00Z"))
    assert spool.trying(waiting(tmp_path)).age > 86_400
