"""The JSON that others build on."""

from __future__ import annotations

import json

from commonwealth.adapters import wire
from commonwealth.model import Hit, Item, Note, Provenance, Receipt, Reviewed, Source, Verified


def test_a_note_is_its_frontmatter_in_camel_case_with_body_and_path() -> None:
    note = Note(
        id="2026-06-02-x-9f3d7k2m",
        kind="memory",
        title="X",
        body="Details.\n",
        observed_at="2026-06-02T12:15:00Z",
        supersedes=("a",),
        author_ref="alice-4b1d90c2",
        provenance=Provenance(human="Alice", pull_request="7", files=("a.py",), extra={"tool_version": "3"}),
        reviewed=Reviewed(by="Bob"),
        source=Source("adr", "adr/0001.md"),
        verified=Verified(commit="4f8c2ab", result="fresh"),
        extra={"team_key": ["1", {"snake_case": "2"}]},
    )
    assert wire.note_json(note, "memory/x.md") == {
        "id": "2026-06-02-x-9f3d7k2m",
        "kind": "memory",
        "title": "X",
        "type": "discovery",
        "status": "observed",
        "confidence": "medium",
        "observedAt": "2026-06-02T12:15:00Z",
        "supersedes": ["a"],
        "authorRef": "alice-4b1d90c2",
        "provenance": {
            "human": "Alice",
            "pullRequest": "7",
            "files": ["a.py"],
            "extra": {"tool_version": "3"},
        },
        "reviewed": {"by": "Bob"},
        "source": {"kind": "adr", "path": "adr/0001.md"},
        "verified": {"commit": "4f8c2ab", "result": "fresh"},
        "extra": {"team_key": ["1", {"snake_case": "2"}]},
        "body": "Details.\n",
        "path": "memory/x.md",
    }


def test_choices_that_say_nothing_in_their_kind_are_left_out() -> None:
    work = wire.note_json(Note(id="w", kind="work-state", title="W", status="blocked"))
    assert (work["status"], "type" in work, "confidence" in work) == ("blocked", False, False)
    person = wire.note_json(Note(id="p", kind="person", title="P"))
    assert not {"type", "status", "confidence"} & person.keys()
    said = wire.note_json(Note(id="w", kind="work-state", title="W", status="blocked", type="gotcha"))
    assert said["type"] == "gotcha"


def test_an_empty_body_is_there_and_a_hit_has_none() -> None:
    note = Note(id="a", kind="memory", title="A")
    assert wire.note_json(note)["body"] == ""
    hit = wire.hit_json(Hit(note, "memory/a.md", 1.234567e-7, ("title",), "…"))
    assert "body" not in hit
    assert (hit["score"], hit["why"], hit["snippet"], hit["path"]) == (1.235e-7, ["title"], "…", "memory/a.md")


def test_a_receipt_has_its_six_fields_always_and_those_of_a_sync_when_they_are_set() -> None:
    assert wire.receipt_json(Receipt("unchanged")) == {
        "state": "unchanged",
        "ids": [],
        "commit": None,
        "reason": None,
        "warnings": [],
        "next": None,
    }
    synced = Receipt("published", items=(Item("a", "changed"),), pulled=0, pushed=2, conflicts=(), dropped=("b",))
    told = wire.receipt_json(synced)
    assert told["items"] == [{"id": "a", "state": "changed", "reason": None}]
    assert (told["pulled"], told["pushed"], told["conflicts"], told["dropped"]) == (0, 2, [], ["b"])


def test_cleaning_reaches_every_text_and_every_name() -> None:
    dirty = {"a\u202e": ["x\x1b[31m", {"b": "c\u200b"}], "n": 1, "t": True, "z": None}
    assert wire.cleaned(json.loads(json.dumps(dirty))) == {"a": ["x", {"b": "c"}], "n": 1, "t": True, "z": None}
