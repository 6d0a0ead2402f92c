"""The demo is the real thing on a small stage, and leaves the stage empty."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.flows import demo, demo_story, indexing

CALL = re.compile(r"^  \w+(\$|'s [\w ]+>) ")
SYNCHRONOUS = "Payment processing is synchronous [architecture, superseded; true from 2026-01-10 until 2026-04-17]"
QUEUED = "Payment processing goes through a queue [architecture, observed; true from 2026-04-17]"


@pytest.fixture(autouse=True)
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo starts `brain` as a process of its own, from this source."""
    monkeypatch.setenv("PYTHONPATH", str(Path(indexing.__file__).parents[2]))
    stage = tmp_path / "tmp"
    stage.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(stage))


def answers(lines: list[str]) -> list[tuple[str, str]]:
    """Every command and call of the story with the text of what came back."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if CALL.match(line):
            found.append((line.strip(), ""))
        elif line.startswith("      ") and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def after(told: list[tuple[str, str]], start: str) -> str:
    """What came back from the one call that starts so."""
    (text,) = [text for call, text in told if call.startswith(start)]
    return text


def test_the_demo_tells_its_story_on_the_days_that_are_given_and_stays_if_asked(tmp_path: Path) -> None:
    said: list[str] = []
    days = demo_story.Days(found="2031-03-04", shared="2031-03-05", later="2031-05-06")
    place = demo.run(tmp_path / "stage", said.append, keep=True, days=days)
    lines = [line for part in said for line in part.splitlines()]
    told = answers(lines)
    search = "Alice's Codex> memory_search"
    assert "payment retry idempotency" in next(call for call, _ in told if call.startswith(search))
    assert after(told, search) == " nothing found"
    assert "committed 2031-03-04-investigate" in after(told, "Alice's Codex> work_start")
    assert "HTTP 409 means" in after(told, 'Bob\'s Claude Code> memory_search {"query": "why')
    assert "! Bob with Claude Code" in after(told, "Chen's Codex> work_start")
    assert "! Chen with Codex: Log every answer of the bank (file" in after(told, "Bob's Claude Code> work_search")

    text = " ".join(" ".join(lines).split())
    session = text[text.index("<<<notes") : text.index(">>>")]
    assert "Work under way: Log every answer of the bank" in session
    assert "by Alice with Codex, 2026-06-02" in session, "when she observed it"

    (then,) = [text for call, text in told if '"validAt": "2026-02-01"' in call]
    (later,) = [text for call, text in told if '"validAt": "2026-08-01"' in call]
    assert SYNCHRONOUS in then
    assert "queue" not in then
    assert QUEUED in later
    assert "synchronous" not in later
    assert re.search(r"hold the same bytes: tree [0-9a-f]{12}\.", text)
    assert len(lines) < 100, "people are in a hurry"

    assert said[-1].strip() == f"Kept in {place}."
    assert place == tmp_path / "stage"
    assert sorted(os.listdir(place)) == ["alice", "bob", "brain.git", "chen", "code.git"]
    notes = [path.name[:10] for path in (place / "alice" / "brain").glob("*/2*/2*.md")]
    assert sorted(notes) == ["2031-03-04"] * 2 + ["2031-03-05"] * 4
    assert not (tmp_path / "home" / ".commonwealth").exists()


def test_the_demo_needs_nothing_of_its_viewers_and_leaves_nothing_behind_wherever_it_ends(tmp_path: Path) -> None:
    theirs = "[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n"
    (tmp_path / "home" / ".gitconfig").write_text(theirs, encoding="utf-8")
    said: list[str] = []

    class Enough(Exception):
        pass

    def say(text: str) -> None:
        said.append(text)
        if "Made the brain" in text:
            raise Enough

    with pytest.raises(Enough):
        demo.run(None, say)
    assert "commonwealth-demo-" in said[-1]
    assert os.listdir(tmp_path / "tmp") == []


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    for place in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(Refused, match="empty folder"):
            demo.run(place, print)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"
