"""A candidate as a file: what it says of where it comes from survives, and is never an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.model import Candidate, Extra, Note, Provenance, Span, Verdict, Verified
from commonwealth.notes import candidate, codec, queued, store, waiting
from commonwealth.notes.candidate import Found, Origin

NOW = "2026-07-01T10:00:00Z"
DRAFT = Candidate(
    "The port is 5433",
    "The test database listens there.",
    Span(214, 220),
    body="\r\nSeen.\r\n\n",
    status="confirmed",
    files=("compose.yaml",),
    tags=("postgres",),
    quotes=("no: the port is 5433",),
    signal="correction",
    scope="feature/db",
)
FOUND = Found(
    NOW, "codex", "s-1", author="Alice", author_ref="alice-1", provenance=Provenance(human="Alice", files=("a",))
)


def made(draft: Candidate = DRAFT, verdict: Verdict | None = None) -> Note:
    judged = verdict or Verdict(
        "review", ("why not: #1",), contradicts=("x-1",), verified=Verified(NOW, "abc", "fresh")
    )
    return candidate.to_note(draft, judged, id="2026-07-01-port-00000001", found=FOUND)


def test_a_candidate_is_a_note_that_reads_back_with_its_origin() -> None:
    note = made()
    text = codec.to_bytes(note, "staging/x.md").decode()
    again, doubts = codec.parse(text, "staging/x.md", "")
    assert doubts == ()
    assert (again.created_at, again.observed_at, again.branch, again.body) == (NOW, NOW, "feature/db", "Seen.\n")
    assert again.provenance.files == ("a", "compose.yaml")
    assert again.provenance.evidence == ("no: the port is 5433",)
    assert candidate.origin_of(again) == Origin(
        host="codex",
        session="s-1",
        evidence=Span(214, 220),
        signal="correction",
        reasons=("why not: #1",),
        at=NOW,
        quotes=("no: the port is 5433",),
        contradicts=("x-1",),
    )
    bare = candidate.stripped(again)
    assert candidate.origin_of(bare) is None
    assert "candidate" not in codec.render(bare)
    assert candidate.stripped(bare) == bare


def test_a_decision_is_one_by_kind_type_and_status() -> None:
    for draft in (Candidate("x", "y", Span(1, 1), kind="decision"), Candidate("x", "y", Span(1, 1), type="decision")):
        note = made(draft)
        assert (note.kind, note.type, note.status) == ("decision", "decision", "decision")


def test_what_the_gate_drops_says_since_when() -> None:
    origin = candidate.origin_of(made(verdict=Verdict("drop", ("a question",), duplicate_of="x-1")))
    assert origin is not None
    assert (origin.verdict, origin.dropped_at, origin.duplicate_of) == ("drop", NOW, "x-1")


SCALARS = st.text(max_size=8) | st.sampled_from(["0", "7", "-1", "9" * 30, "٣", "drop", "sweep", "yesterday", NOW])
ANYTHING: st.SearchStrategy[Extra] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCALARS, inner, max_size=3), max_leaves=6
)
KEYS = st.sampled_from([*Origin.__dataclass_fields__, "from", "to", "more"])


@given(st.dictionaries(KEYS, ANYTHING, max_size=8) | ANYTHING)
def test_nonsense_by_hand_is_passed_over(said: Extra) -> None:
    origin = candidate.origin_of(Note("x", "memory", "x", extra={candidate.KEY: said}))
    assert (origin is None) == (not isinstance(said, dict))
    if origin is not None:
        again = candidate.origin_of(Note("x", "memory", "x", extra={candidate.KEY: candidate.to_extra(origin)}))
        assert again == origin


def test_the_count_reads_no_file(tmp_path: Path) -> None:
    assert queued.count(tmp_path) == 0
    store.stage(tmp_path, made())
    for name in ("README.md", "notes.txt", ".hidden.md", "INDEX.md"):
        (tmp_path / "staging" / name).write_bytes(b"\xff")
    (tmp_path / "staging/broken.md").write_bytes(b"\xff")
    (tmp_path / "staging/dropped").mkdir()
    (tmp_path / "staging/dropped/x.md").write_bytes(b"x")
    assert queued.count(tmp_path) == 2


def test_a_file_that_somebody_edits_meanwhile_stays(tmp_path: Path) -> None:
    path = store.stage(tmp_path, made())
    (one,), _ = waiting.listed(tmp_path)
    (tmp_path / path).write_text("---\ntitle: By hand\n---\n", encoding="utf-8")
    assert not waiting.remove(tmp_path, path, one.data)
    assert (tmp_path / path).exists()
    assert waiting.remove(tmp_path, path, (tmp_path / path).read_bytes())
    assert waiting.remove(tmp_path, path, b"")


@pytest.mark.parametrize("at", ["---\ncandidate: {dropped_at: 2026-06-01T10:00:00Z}\n---\n", "---\ntitle: [\n---\n"])
def test_what_was_dropped_long_ago_is_let_go(tmp_path: Path, at: str) -> None:
    store.put(tmp_path, "staging/dropped/x.md", at.encode())
    os.utime(tmp_path / "staging/dropped/x.md", (1780308000, 1780308000))  # 2026-06-01T10:00:00Z
    assert waiting.tidy(tmp_path, "2026-07-01T09:59:59Z") == 0
    assert waiting.tidy(tmp_path, "2026-07-01T10:00:00Z") == 1
