"""Text becomes the same terms in a note and in a query, whatever the script; names keep their parts."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.index.stem import stem
from commonwealth.index.words import MAX_TERMS, asked, identifiers, parts, searchable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PaymentService", "Payment Service"),
        ("HTTPServer", "HTTP Server"),
        ("http409", "http 409"),
        ("see sha256sum, parseJSON and E2E", "sha 256 sum parse JSON"),
        ("getUserName getUserName", "get User Name"),
        ("plain words, Title Case, CAPS, 42, snake_case", ""),
        ("tests/PaymentService.py", "Payment Service"),
        ("日本PaymentService語", "Payment Service"),
    ],
)
def test_words_inside_names_are_found(text: str, expected: str) -> None:
    assert parts(text) == expected


@given(st.text())
def test_identifiers_are_words_of_the_text(text: str) -> None:
    for word in identifiers(text):
        assert word in text
        assert re.fullmatch("[A-Za-z0-9]{2,}", word)


def test_a_run_without_spaces_becomes_pairs_and_its_last_character() -> None:
    assert searchable("API決済税だ。").split() == ["API", "決済", "済税", "税だ", "だ", "。"]


def test_compatibility_forms_are_one_text() -> None:
    assert searchable("ﾃｽﾄ ｆｕｌｌ") == searchable("テスト full")


@pytest.mark.parametrize("text", ["what is it", "to be or not to be", "How?"])
def test_function_words_are_kept_when_nothing_else_is_left(text: str) -> None:
    assert asked(text).match


def test_function_words_are_dropped_beside_others() -> None:
    assert asked("How do I retry the payment?").match == '"retry" OR "payment"'


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("why does PaymentService.retry fail", ("paymentservice.retry",)),
        ("--no-verify", ("--no-verify",)),
        ("E_CONN_409.", ("e_conn_409",)),
        ("HTTP 409 means success", ("http 409",)),
        ("see src/payments/PaymentService.ts", ("src/payments/paymentservice.ts",)),
        ("a round-trip that isn't long, in January 2022", ()),
    ],
)
def test_what_looks_like_code_is_told_from_prose(text: str, literals: tuple[str, ...]) -> None:
    assert asked(text).literals == literals


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters()) | st.text(st.sampled_from("\"*():^-+ ANDORNOTEAR'\\{}[]_.,/%\x00\ud800é決")))
def test_no_text_makes_an_expression_that_sqlite_refuses(text: str) -> None:
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    expression = asked(text).match
    assert len(expression.split(" OR ")) <= MAX_TERMS
    if expression:
        conn.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,)).fetchall()
    conn.close()


def test_stems_are_those_of_sqlite(shared: Path) -> None:
    found: set[str] = set()
    for path in sorted((shared / "corpora").rglob("*.md"))[:600]:
        found |= set(re.findall("[a-z]{1,30}", path.read_text(encoding="utf-8", errors="replace").lower()))
    words = sorted(found)
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    conn.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    conn.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(words))
    different = [
        (words[row], term) for term, row in conn.execute("SELECT term, doc FROM v") if stem(words[row]) != term
    ]
    conn.close()
    assert len(words) > 5000
    assert different == []
