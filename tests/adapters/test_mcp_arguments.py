"""The arguments of the tools: everything that is wrong is said at once, and what was meant is guessed."""

from __future__ import annotations

from .mcp_peer import FACT, Peer, ask, complaints, refused


def test_every_invalid_argument_is_listed_at_once(peer: Peer) -> None:
    told = complaints(
        peer,
        "memory_record",
        title=" ",
        kind="note",
        confidence=3,
        observedAt="yesterday",
        tags=[1],
        provenance={"files": {}, "file": "x"},
        files=["a"],
        sumary="x",
    )
    assert set(told) == {
        "title", "kind", "confidence", "observedAt", "tags[0]", "provenance.files", "provenance.file", "files",
        "sumary", "summary",
    }  # fmt: skip
    assert "memory" in told["kind"]
    assert "decision" in told["kind"]
    assert "provenance.files" in told["files"]
    assert "`summary`" in told["sumary"]
    assert "is required" in told["summary"]


def test_a_missing_title_and_a_missing_text_are_named_together(peer: Peer) -> None:
    assert complaints(peer, "memory_record") == {
        "title": "is required",
        "summary": "is required where there is no body: say the fact in a sentence or two",
    }


def test_snake_case_is_taken_for_the_same_name_unless_both_are_given(peer: Peer) -> None:
    fact = {**FACT, "observed_at": "2026-06-02", "provenance": {"pull_request": "7"}}
    read = ask(peer, "memory_read", id=ask(peer, "memory_record", **fact)["ids"][0])
    assert read["observedAt"] == "2026-06-02T00:00:00Z"
    assert read["provenance"]["pullRequest"] == "7"
    told = complaints(peer, "memory_search", valid_at="2026-01-01", validAt="2026-01-01")
    assert "another spelling" in told["valid_at"]


INVALID: list[tuple[str, dict[str, object], str]] = [
    ("memory_search", {"limit": 0}, "limit"),
    ("memory_search", {"limit": 101}, "limit"),
    ("memory_search", {"limit": "many"}, "limit"),
    ("memory_search", {"kind": ["memory", "gossip"]}, "kind[1]"),
    ("memory_search", {"createdAfter": "2026-02-30"}, "createdAfter"),
    ("memory_search", {"brain": "/etc"}, "brain"),
    ("memory_search", {"query": "x" * 10_001}, "query"),
    ("memory_read", {}, "id"),
    ("memory_read", {"id": 5}, "id"),
    ("memory_read", {"id": "x", "page": 0}, "page"),
    ("memory_record", {"title": "x", "body": "y" * 1_000_000}, "body"),
    ("memory_record", {"title": "a\ud800b", "body": "y"}, "title"),
    ("memory_record", {**FACT, "validFrom": "2026-02-01", "validUntil": "2026-01-01"}, "validUntil"),
    ("memory_update", {"id": "x"}, "id"),
    ("memory_update", {"id": "x", "title": None}, "title"),
    ("memory_update", {"id": "x", "section": "Y"}, "section"),
    ("memory_update", {"id": "x", "append": "y"}, "section"),
    ("memory_update", {"id": "x", "section": "Y", "append": "a", "replace": "b"}, "append"),
    ("memory_update", {"id": "x", "section": "Y", "append": "a", "body": "b"}, "body"),
    ("whoami", {"brain": "/etc"}, "brain"),
]


def test_an_invalid_argument_is_named(peer: Peer) -> None:
    for tool, arguments, field in INVALID:
        assert field in complaints(peer, tool, **arguments), (tool, arguments)


def test_an_id_that_is_none_is_refused_with_a_next_step(peer: Peer) -> None:
    for note_id in ["../../../etc/passwd", "/etc/passwd", "a\x00b", "-x", "*", "%s", "'; drop table notes", "x" * 999]:
        for tool, more in (("memory_read", {}), ("memory_update", {"title": "y"})):
            assert refused(peer, tool, id=note_id, **more)["next"]


def test_null_takes_a_field_away(peer: Peer) -> None:
    (note_id,) = ask(peer, "memory_record", **FACT)["ids"]
    ask(peer, "memory_update", id=note_id, summary=None, tags=None, provenance={"evidence": None})
    read = ask(peer, "memory_read", id=note_id)
    assert "summary" not in read
    assert "tags" not in read
    assert "evidence" not in read["provenance"]
    assert read["provenance"]["files"] == FACT["provenance"]["files"]
