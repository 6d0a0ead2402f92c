"""Search finds the right note first, in any script, and no text makes it fail."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.index.query import Query, search
from commonwealth.model import Note

from .examples import NOW, hits, ids, indexed, note

BRAIN = (
    note(
        "2026-06-02-http-409-means-success-9f3d7k2m",
        "HTTP 409 means an idempotent payment already succeeded",
        "Treat `PaymentService.retry` answers with E_CONN_409 as success. Never use --no-verify here.",
        files=("src/payments/PaymentService.ts", "src/payments/RetryPolicy.ts"),
        components=("payments",),
        tags=("idempotency",),
        issue="PAY-1842",
    ),
    note(
        "2026-06-03-http-404-from-gateway-aaaa1111",
        "HTTP 404 comes from the gateway",
        "409 of the services are 404 here. PaymentService and its retry are elsewhere: E_CONN_408, conn 409. Verify!",
        files=("src/payments/PaymentServiceTest.ts",),
    ),
    note("c-notes", "We build with C++", "The C compiler is not enough."),
    note("c-plain", "C only", "We write C and c, C code in C."),
    note("japanese", "二重決済の対策", "同じ注文の決済が二度実行されると税も二重になる。"),
    note("chinese", "重复支付", "支付服务返回错误代码。"),
    note("korean", "중복 결제 방지", "결제가 두 번 실행되지 않는다"),
    note("russian", "Повторный платёж", "Сервис платежей возвращает ошибку"),
    note("thai", "การชำระเงินซ้ำ", "ระบบชำระเงินส่งข้อผิดพลาด"),
    note("hindi", "दोहरा भुगतान", "भुगतान सेवा त्रुटि देती है"),
    note("french", "Café fermé", "L'été, le garçon ne vient pas."),
    note("rocket", "🚀🚀", "Deploy -> done"),
    note("agents", "multi-agent setups", "A pre-edit-check measured GB/s with foo:bar in src/a.py"),
)


@pytest.fixture
def brain(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = indexed(tmp_path, *BRAIN)
    yield conn
    conn.close()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("HTTP 409", BRAIN[0].id),
        ("http-409", BRAIN[0].id),
        ("what does HTTP 409 mean?", BRAIN[0].id),
        ("E_CONN_409", BRAIN[0].id),
        ("e_conn_409 timeout", BRAIN[0].id),
        ("E_CONN_408", BRAIN[1].id),
        ("PaymentService.retry", BRAIN[0].id),
        ("--no-verify", BRAIN[0].id),
        ("src/payments/PaymentService.ts", BRAIN[0].id),
        ("PaymentServiceTest.ts", BRAIN[1].id),
        ("PAY-1842", BRAIN[0].id),
        ("idempotent payment service", BRAIN[0].id),
        ("retrying payments", BRAIN[0].id),
        ("C++", "c-notes"),
        ("multi-agent", "agents"),
        ("pre-edit-check", "agents"),
        ("GB/s", "agents"),
        ("don't use agents", "agents"),
        ("foo:bar", "agents"),
        ("src/a.py", "agents"),
        ("二重決済", "japanese"),
        ("決済が失敗", "japanese"),
        ("税", "japanese"),
        ("支付", "chinese"),
        ("결제", "korean"),
        ("платёж сервис", "russian"),
        ("ПЛАТЕЖЕЙ", "russian"),
        ("ชำระเงิน", "thai"),
        ("भुगतान", "hindi"),
        ("cafe ferme", "french"),
        ("🚀", "rocket"),
        ("->", "rocket"),
    ],
)
def test_the_right_note_comes_first(brain: sqlite3.Connection, text: str, first: str) -> None:
    assert ids(brain, text)[:1] == [first]


@pytest.mark.parametrize(
    "text", ['"', "*", "NEAR(", "AND", "a AND", "^x", "{title}:", "🙈", "\x00", "\ud800", "((((", "-"]
)
def test_signs_of_the_query_language_are_ordinary_text(brain: sqlite3.Connection, text: str) -> None:
    assert isinstance(hits(brain, text), list)


def test_any_text_is_a_query() -> None:
    with tempfile.TemporaryDirectory() as folder:
        conn = indexed(Path(folder), *BRAIN)

        @settings(max_examples=300, deadline=None)
        @given(st.text(st.characters(), max_size=60))
        def run(text: str) -> None:
            found, total = search(conn, Query(text, now=NOW))
            assert len(found) == min(20, total)

        run()
        conn.close()


def test_a_pasted_page_is_a_query(brain: sqlite3.Connection) -> None:
    assert ids(brain, "idempotent payment " + "lorem ipsum dolor " * 20_000)[0] == BRAIN[0].id


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BRAIN[0].id, "id"),
        (BRAIN[0].id.upper(), "id"),
        ("9f3d7k2m", "id"),
        ("2026-06-02-http", "id"),
        (f"memory/2026-06/{BRAIN[0].id}.md", "id"),
        (f"see [[{BRAIN[0].id}]]", "id"),
        ("http 409 means an  Idempotent payment already succeeded", "title"),
        ("idempotent", "title"),
        ("gateways", "title"),
        ("compiler", "body"),
        ("idempotency RetryPolicy", "body"),
        ("policy", "identifier"),
    ],
)
def test_a_hit_says_why(brain: sqlite3.Connection, text: str, why: str) -> None:
    assert why in hits(brain, text)[0].why


def test_an_exact_id_or_title_is_first_among_many_that_match(tmp_path: Path) -> None:
    crowd = [note(f"n{i}", "Retry retry", "retry retry retry") for i in range(50)]
    target = note("2026-01-01-retry-abcd1234", "Retry", "Something else at length " * 20)
    conn = indexed(tmp_path, *crowd, target)
    assert ids(conn, "retry")[0] == target.id
    assert ids(conn, target.id)[0] == target.id
    assert hits(conn, "retry")[0].score > hits(conn, "retry")[1].score


def test_scores_fall_and_pages_join_without_gap(tmp_path: Path) -> None:
    conn = indexed(tmp_path, *(note(f"n{i:03}", "Retry", "same words " * (i % 7)) for i in range(100)))
    whole = hits(conn, "retry words", limit=100)
    assert [hit.score for hit in whole] == sorted((hit.score for hit in whole), reverse=True)
    pages = [id_ for at in range(0, 100, 30) for id_ in ids(conn, "retry words", limit=30, offset=at)]
    assert pages == [hit.note.id for hit in whole]
    assert search(conn, Query("retry words", limit=0))[1] == 100


def test_equal_notes_come_in_one_order_however_they_came_in(tmp_path: Path) -> None:
    made = [note(f"n{i:02}", "Retry", "same") for i in range(60)]
    one, other = indexed(tmp_path / "a", *made), indexed(tmp_path / "b", *reversed(made))
    assert ids(one, "retry", limit=7) == ids(other, "retry", limit=7) == [f"n{i:02}" for i in range(7)]


def test_no_text_lists_the_newest_first(tmp_path: Path) -> None:
    conn = indexed(
        tmp_path,
        note("old", created_at="2026-01-01T00:00:00Z", updated_at="2026-06-01T00:00:00Z", tags=("x",)),
        note("new", created_at="2026-05-01T00:00:00Z", tags=("x",)),
        note("other", created_at="2026-06-20T00:00:00Z"),
        note("undated"),
    )
    assert ids(conn) == ["other", "old", "new", "undated"]
    assert ids(conn, "  ", tag=("x",)) == ["old", "new"]
    assert hits(conn, tag=("x",))[0].why == ("filter",)
    assert hits(conn)[0].why == ("recent",)


def test_the_repository_of_the_session_comes_first_and_hides_no_other(tmp_path: Path) -> None:
    def made(id_: str, repository: str, day: int) -> Note:
        return note(id_, "Retry rule", "the same text", repository=repository, created_at=f"2026-06-0{day}T00:00:00Z")

    conn = indexed(tmp_path, made("a", "acme/web", 3), made("b", "acme/Shop", 1), made("c", "acme/shop", 2))
    assert ids(conn, "retry") == ["a", "c", "b"]
    assert ids(conn, "retry", first_repository="shop") == ["c", "b", "a"]
    assert ids(conn, first_repository="acme/shop") == ["c", "b", "a"]
    assert ids(conn, "retry", first_repository="shop", repository=("web",)) == ["a"]


def test_a_snippet_shows_the_words_that_matched(tmp_path: Path) -> None:
    body = "Nothing to see here. " * 40 + "The lease of the\nwriter lock expires early. " + "More of nothing. " * 40
    conn = indexed(tmp_path, note("a", "T", body), note("b", "Lock", "", summary="A summary"))
    by_id = {hit.note.id: hit.snippet for hit in hits(conn, "expired locks")}
    assert "of the writer lock expires early." in by_id["a"]
    assert by_id["a"].startswith("… ")
    assert by_id["a"].endswith(" …")
    assert len(by_id["a"]) < 300
    assert by_id["b"] == "A summary"
