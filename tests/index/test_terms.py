"""The words of a text one by one: which are code, which say nothing, and where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.index import candidates, filters, plainwords, schema
from commonwealth.index.build import build
from commonwealth.index.query import Query
from commonwealth.index.stem import stem
from commonwealth.index.terms import both, holds, looks_like_code, rows, terms, word_stems
from commonwealth.index.words import STOP
from commonwealth.model import Note, NoteFile, Provenance

NOW = "2026-07-01T10:00:00Z"


@pytest.mark.parametrize(
    "code",
    ["PaymentService", "src/pay/a.py", "a.py", "retry_all", "PAY-1842", "ECONNRESET", "SQLITE_BUSY", "--no-verify",
     "E2BIG", "v2.3.1", "std::vector", "SIGKILL", "sha256"],
)  # fmt: skip
def test_what_is_surely_code(code: str) -> None:
    assert looks_like_code(code)
    assert any(term.code for term in terms(f"look at {code}, please"))


@pytest.mark.parametrize(
    "prose", ["and/or", "e.g", "client-side", "don't", "GitHub", "README.md", "OK", "Payments", "42"]
)
def test_what_is_prose_with_signs(prose: str) -> None:
    assert not looks_like_code(prose)


def test_a_name_and_a_number_are_one_word_too() -> None:
    assert {"http 409", "409"} <= {term.text for term in terms("an HTTP 409 came")}
    assert "node 22" in {term.text for term in terms("upgrade to Node 22")}
    assert "step 12" not in {term.text for term in terms("Step 12 failed")}


def test_the_pieces_of_a_name_are_pieces() -> None:
    found = terms("PaymentService.ts")
    assert {term.text for term in found if term.code} == {"paymentservice.ts", "paymentservice"}
    assert {term.text for term in found if term.part} >= {"payment", "service", "ts"}


@given(st.text(max_size=200))
def test_any_text_has_words(text: str) -> None:
    found = terms(text)
    assert len({term.key for term in found}) == len(found)


def test_the_plain_words_are_stems_and_apart() -> None:
    assert not plainwords.HOLLOW & plainwords.LOOSE
    assert not (plainwords.HOLLOW | plainwords.LOOSE) & STOP
    for word in ("fix", "please", "continuing", "tests", "typos", "functions", "requests", "sessions"):
        assert stem(word) in plainwords.HOLLOW | plainwords.LOOSE
    for word in ("payment", "kafka", "invoice", "retry", "warehouse", "timezone", "idempotent", "migration"):
        assert stem(word) not in plainwords.HOLLOW | plainwords.LOOSE


def test_a_literal_is_held_as_a_whole() -> None:
    assert holds("call retry now", "retry")
    assert not holds("call retry_all now", "retry")
    assert not holds("4090", "409")


def place(tmp_path: Path, notes: list[Note]) -> Path:
    build(tmp_path / "index", [NoteFile(one, f"memory/{one.id}.md", 1, 0) for one in notes], {})
    return tmp_path / "index"


def test_every_word_finds_the_note_that_holds_it(tmp_path: Path) -> None:
    text = "PaymentService.ts answers HTTP 409; see src/pay/a.py and 支払いの再試行, naïve cafés --no-verify"
    folder = place(tmp_path, [Note("a", "memory", "Title", text), Note("b", "memory", "Other", "nothing of it")])
    with schema.connect(folder) as conn:
        found = {term.text: rows(conn, term, 10) for term in terms(text)}
        common = [term for term in terms("nothing other answers") if rows(conn, term, 10)]
        assert len(both(conn, common, 5)) == 1
    assert set(map(tuple, found.values())) == {(1,)}, found
    assert word_stems("Retries, retrying RETRY") == ["retri"]


def test_true_now_is_what_a_search_takes_for_it(tmp_path: Path) -> None:
    times = (None, "2026-06-01T00:00:00Z", NOW, "2026-08-01T00:00:00Z")
    notes = [
        Note(
            f"n{number}-{status}-{kind}", kind, "Zebra", status=status, valid_from=start, valid_until=end,
            supersedes=(f"n{number + 1}-{status}-{kind}",) if number % 5 == 0 else (), repository="acme/shop",
        )
        for kind in ("memory", "decision")
        for status in ("observed", "superseded", "retracted")
        for number, (start, end) in enumerate((start, end) for start in times for end in times)
    ]  # fmt: skip
    with schema.connect(place(tmp_path, notes)) as conn:
        query = Query(repository=("acme/shop",), kind=("memory", "decision"), now=NOW)
        where, arguments = filters.on("w.rowid", filters.conditions(conn, query))
        wanted = {row for (row,) in conn.execute(f"SELECT w.rowid FROM notes AS w WHERE 1{where}", arguments)}
        assert set(candidates.here(conn, range(1, len(notes) + 1), "acme/shop", NOW, ())) == wanted
    assert 0 < len(wanted) < len(notes)


def test_a_note_of_another_repository_is_no_candidate(tmp_path: Path) -> None:
    origin = Provenance(repository="git.example.com/acme/shop")
    notes = [
        Note("a", "memory", "T", repository="acme/shop"), Note("b", "memory", "T", provenance=origin),
        Note("c", "memory", "T", repository="acme/other"), Note("d", "memory", "T"),
        Note("e", "work-state", "T", repository="acme/shop"),
    ]  # fmt: skip
    with schema.connect(place(tmp_path, notes)) as conn:
        assert candidates.here(conn, range(1, 6), "git.example.com/acme/shop", NOW, ()) == [1, 2, 4]
        assert candidates.here(conn, range(1, 6), None, NOW, ()) == [4]
        assert candidates.latest(conn, "git.example.com/acme/shop", 10) == [1, 2]
        assert candidates.latest(conn, "git.example.com/acme/shop", 10, ("decision",)) == []
        assert candidates.size(conn) == 5


def test_the_latest_of_a_large_repository_are_found_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [
        Note(f"n{n:02}", "memory", "T", repository="acme/shop" if n % 2 else "acme/other",
             updated_at=f"2026-06-{n + 1:02}T00:00:00Z")
        for n in range(20)
    ]  # fmt: skip
    with schema.connect(place(tmp_path, notes)) as conn:
        whole = candidates.latest(conn, "acme/shop", 3)
        monkeypatch.setattr(candidates, "_SCANNED", 5)
        assert candidates.latest(conn, "acme/shop", 3) == whole == [20, 18, 16]
