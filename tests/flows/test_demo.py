"""The demo is the real thing on a small stage, and leaves the stage empty."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.flows import demo, indexing


@pytest.fixture(autouse=True)
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo starts `brain` as a process of its own, from this source."""
    monkeypatch.setenv("PYTHONPATH", str(Path(indexing.__file__).parents[2]))
    stage = tmp_path / "tmp"
    stage.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(stage))


def test_the_demo_tells_its_story_and_leaves_nothing_behind(tmp_path: Path) -> None:
    said: list[str] = []
    place = demo.run(None, said.append)
    text = "\n".join(said)
    assert "HTTP 409 means an idempotent payment already succeeded" in text
    assert "<<<notes" in text
    assert "Merge notes" in text
    assert re.search(r"hold the same bytes: tree [0-9a-f]{12}\.", text)
    assert place.parent == tmp_path / "tmp"
    assert not place.exists()
    assert os.listdir(tmp_path / "tmp") == []
    assert not (tmp_path / "home" / ".commonwealth").exists()


def test_a_demo_that_is_kept_stays_where_it_was_asked_for(tmp_path: Path) -> None:
    said: list[str] = []
    place = demo.run(tmp_path / "stage", said.append, keep=True)
    assert place == tmp_path / "stage"
    assert sorted(os.listdir(place)) == ["alice", "bob", "brain.git", "chen"]
    assert said[-1].strip() == f"Kept in {place}."


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    for place in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(Refused, match="empty folder"):
            demo.run(place, print)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"
