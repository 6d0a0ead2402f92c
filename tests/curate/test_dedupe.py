"""What says the same, what says otherwise, and what only looks alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.curate.dedupe import CHANGED, MORE, NEAR, OTHER, REWORDED, SAME, compare, likeness
from commonwealth.model import Note


def note(title: str, summary: str | None = None, body: str = "") -> Note:
    return Note(id="x", kind="memory", title=title, summary=summary, body=body)


SAYS_THE_SAME = [
    (
        "HTTP 409 means an idempotent payment already succeeded",
        "HTTP 409 signals that the idempotent payment has already succeeded",
    ),
    ("Postgres locks the table when an index is created", "Creating an index in Postgres locks the table"),
    ("Never call the ledger from the web tier", "Don't call the ledger from the web tier"),
    ("The timeout is 30 s", "The timeout is 30 seconds"),
    ("数据库的连接池最多有五十个连接", "数据库连接池最多五十个连接"),
    ("المهلة الافتراضية للطلب هي 30 ثانية", "المهلة الافتراضية للطلبات هي 30 ثانية"),
    ("Индекс строится без блокировки таблицы заказов", "Индексы строятся без блокировки таблицы заказов"),
]


@pytest.mark.parametrize(("one", "other"), SAYS_THE_SAME)
def test_a_rewording_in_any_script_is_found(one: str, other: str) -> None:
    kinds = {compare(note(one), note(other)).kind, compare(note(other), note(one)).kind}
    assert SAME in kinds or REWORDED in kinds, kinds
    assert kinds <= {SAME, REWORDED, MORE, NEAR}


SAYS_OTHERWISE = [
    ("The warranty lasts 5 years", "The warranty lasts 6 years"),
    ("The warranty lasts five years", "The warranty lasts 6 years"),
    ("The timeout is 30 ms", "The timeout is 30 seconds"),
    ("The port is 5432", "The port is 5433"),
    ("Timeout: 30s", "Timeout: 60s"),
    ("Requires Node 18.2", "Requires Node 18.3"),
    ("Always call the ledger from the web tier", "Never call the ledger from the web tier"),
    ("Call the ledger from the web tier", "Do not call the ledger from the web tier"),
    ("Retries are enabled in production", "Retries are disabled in production"),
    ("Pass --no-cache to the build", "Pass --cache to the build"),
    ("Set cache to true", "Set cache to false"),
    ("Run migrations before deploy", "Run migrations after deploy"),
    ("Deploy runs before migrations", "Migrations run before deploy"),
    ("Moved from MySQL to Postgres", "Moved from Postgres to MySQL"),
    ("Swap the ports from 80 to 443", "Swap the ports from 443 to 80"),
    ("The client is synchronous", "The client is asynchronous"),
    ("Es gibt keine Sperre auf der Tabelle", "Es gibt eine Sperre auf der Tabelle"),
    ("数据库连接池最多五十个连接", "数据库连接池最多六十个连接"),
    ("この関数は例外を投げない", "この関数は例外を投げる"),
    ("المهلة الافتراضية للطلبات هي 30 ثانية", "المهلة الافتراضية للطلبات هي 60 ثانية"),
    ("Платежи повторяются после таймаута", "Платежи не повторяются после таймаута"),
]


@pytest.mark.parametrize(("one", "other"), SAYS_OTHERWISE)
def test_a_changed_value_or_sense_is_a_change_and_no_duplicate(one: str, other: str) -> None:
    forth, back = compare(note(one), note(other)), compare(note(other), note(one))
    assert (forth.kind, back.kind) == (CHANGED, CHANGED)
    assert forth.differences


LOOKS_ALIKE = [
    ("The order service retries requests to the ledger", "The payment service retries requests to the ledger"),
    ("Use Redis for sessions", "Use Memcached for sessions"),
    ("Retry at most 3 times when the ledger is down", "Retry when the ledger is down"),
    ("What to do with the and of a", "What to do with the and of an error"),
]


@pytest.mark.parametrize(("one", "other"), LOOKS_ALIKE)
def test_what_says_more_or_speaks_of_another_thing_is_no_duplicate(one: str, other: str) -> None:
    assert compare(note(one), note(other)).kind in (NEAR, MORE, OTHER, CHANGED)


def test_a_short_note_is_contained_in_a_long_one_and_not_the_other_way_round() -> None:
    short = note("The ledger answers 409 when a payment exists")
    long = note(
        "The ledger answers 409 when a payment exists",
        "The ledger answers 409 when a payment exists. Its operators see each in the audit trail.",
        "The audit trail is kept for a month.",
    )
    assert compare(short, long).kind == SAME
    assert compare(long, short).kind == MORE


def test_function_words_make_nothing_alike() -> None:
    one = note("It is the one that has to be in the first of all of them, and so is the queue")
    other = note("It is the one that has to be in the first of all of them, and so is the cache")
    assert compare(one, other).kind != SAME
    assert likeness("it is what it is and that is that", "it is what it is, and this is this") == 0


WORDS = st.sampled_from(
    ["ledger", "queue", "payment", "retry", "index", "table", "client", "token", "region", "cache", "worker", "order"]
)
SENTENCE = st.lists(WORDS, min_size=3, max_size=9, unique=True)


@settings(max_examples=60, deadline=None)
@given(SENTENCE, st.integers(2, 10**6), st.integers(2, 10**6), st.integers(0, 8))
def test_a_changed_number_is_never_a_duplicate(words: list[str], one: int, other: int, at: int) -> None:
    texts = []
    for number in (one, other):
        place = at % (len(words) + 1)
        texts.append(" ".join([*words[:place], str(number), *words[place:]]))
    kind = compare(note(texts[0]), note(texts[1])).kind
    assert kind == SAME if one == other else kind not in (SAME, REWORDED, MORE)


@settings(max_examples=60, deadline=None)
@given(SENTENCE, st.sampled_from(["never", "not", "no longer without", "cannot"]))
def test_a_negation_more_is_never_a_duplicate(words: list[str], word: str) -> None:
    plain, denied = " ".join(words), " ".join([words[0], word, *words[1:]])
    for one, other in ((plain, denied), (denied, plain)):
        assert compare(note(one), note(other)).kind not in (SAME, REWORDED, MORE)


@settings(max_examples=60, deadline=None)
@given(SENTENCE, SENTENCE, st.booleans())
def test_comparing_is_deterministic_and_its_differences_symmetric(
    left: list[str], right: list[str], negated: bool
) -> None:
    one, other = note(" ".join(left)), note(("never " if negated else "") + " ".join(right))
    forth, back = compare(one, other), compare(other, one)
    assert forth == compare(one, other)
    assert (forth.kind == CHANGED) == (back.kind == CHANGED)
    assert sorted(change.kind for change in forth.differences if forth.kind == CHANGED) == sorted(
        change.kind for change in back.differences if back.kind == CHANGED
    )


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_compared_and_is_the_same_as_itself(title: str, summary: str, body: str) -> None:
    one = note(title, summary, body)
    assert compare(one, one).kind in (SAME, OTHER)
    assert 0 <= compare(one, note(summary, title)).score <= 1


@pytest.mark.parametrize("unit", ["a ", "a", "\n", "1 ", "never ", "x_y ", "- a\n", "字", "— "])
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    one, other = note(unit * 300, unit * 30_000, unit * 30_000), note(unit * 301, unit * 30_001, unit * 29_999)
    assert compare(one, other).kind in (SAME, MORE, CHANGED, NEAR, OTHER)


NEWS = [
    ("The cache is warmed before the migration runs", "The migration runs before the cache is warmed"),
    ("Traffic moves from the old cluster to the new cluster", "Traffic moves from the new cluster to the old cluster"),
    ("Service A calls service B for prices", "Service B calls service A for prices"),
    ("The billing worker calls the ledger", "The ledger calls the billing worker"),
    ("Retries need a key and a lock", "Retries need a key or a lock"),
    ("The importer may run twice a day", "The importer must run twice a day"),
    ("The flag is valid until March", "The flag is valid from March"),
    ("Only admins can rotate keys", "Admins can rotate keys"),
    ("All but the EU region use the new queue", "All regions including the EU use the new queue"),
    ("The gateway was the bottleneck in load tests", "The gateway is the bottleneck in load tests"),
    ("The old endpoint is still used by mobile", "The old endpoint is no longer used by mobile"),
    ("Latency must stay < 200 ms", "Latency must stay > 200 ms"),
    ("The offset is -3 hours", "The offset is +3 hours"),
    ("Staging supports webhooks ✅", "Staging supports webhooks ❌"),
    ("Pass -v to print the version of the tool", "Pass -V to print the version of the tool"),
    ("Set maxRetry to limit the attempts in the client", "Set maxretry to limit the attempts in the client"),
    ("Çerezler üretimde kullanılır", "Çerezler üretimde kullanılmaz"),
    ("Le cache est vidé au démarrage", "Le cache n'est pas vidé au démarrage"),
    ("La cache viene svuotata all'avvio", "La cache non viene svuotata all'avvio"),
    ("O cache é limpo no início", "O cache não é limpo no início"),
    ("De cache wordt geleegd bij de start", "De cache wordt niet geleegd bij de start"),
    ("Cachen töms vid start", "Cachen töms inte vid start"),
    ("Bộ nhớ đệm được xóa khi khởi động", "Bộ nhớ đệm không được xóa khi khởi động"),
    ("कैश शुरू में साफ होता है", "कैश शुरू में साफ नहीं होता है"),
    ("Välimuisti tyhjennetään käynnistyksessä", "Välimuistia ei tyhjennetä käynnistyksessä"),
    ("Кэш очищается при запуске", "Кэш не очищается при запуске"),
    ("キャッシュは起動時に消去されます", "キャッシュは起動時に消去されません"),
    ("缓存在启动时清空", "缓存在启动时不清空"),
    ("캐시는 시작할 때 비워집니다", "캐시는 시작할 때 비워지지 않습니다"),
    ("Timeouts are 30 s in the proxy", "Timeouts are 30 ms in the proxy"),
    ("The limit is 5 MB per upload", "The limit is 5 GB per upload"),
    ("Payments retry more often than refunds", "Refunds retry more often than payments"),
    ("Deploy the schema after the service", "Deploy the schema before the service"),
    ("Use pnpm rather than npm", "Use npm rather than pnpm"),
    ("Requests should carry a trace id", "Requests must carry a trace id"),
    ("Errors go to Sentry without PII", "Errors go to Sentry with PII"),
    ("The job runs at least once per shard", "The job runs at most once per shard"),
    ("Every tenant has its own schema", "Some tenants have their own schema"),
    ("The token expires if unused", "The token expires unless unused"),
    ("The broker pushes to the worker", "The broker pulls from the worker"),
]


@pytest.mark.parametrize(("one", "other"), NEWS)
def test_the_same_words_that_say_something_else_are_news(one: str, other: str) -> None:
    assert compare(note(one), note(other)).kind not in (SAME, REWORDED, MORE)
    assert compare(note(other), note(one)).kind not in (SAME, REWORDED, MORE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cache is warmed before the migration runs", "the Cache is warmed before the Migration runs."),
        ("HTTP 409 means the payment already succeeded", "HTTP 409 means that a payment already succeeded"),
        ("Use pnpm, never npm", "Use pnpm , never npm !"),
        ("The staging database listens on port 5433", "Staging database listens on port 5433"),
        ("Refunds are retried only by the nightly job", "Refunds are retried  only by the\nnightly job"),
        ("Never call the ledger from the importer", "never call ‘the ledger’ from the importer"),
    ],
)
def test_what_carries_no_meaning_makes_no_other_note(one: str, other: str) -> None:
    assert compare(note(one), note(other)).kind == SAME
    assert compare(note(other), note(one)).kind == SAME
