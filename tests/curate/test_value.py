"""What is no lasting fact, and what looks like it and is one."""

from __future__ import annotations

import pytest

from commonwealth.curate import static, transient, value

STATE_OF_WORK = [
    "All tests pass", "The build is green", "CI is failing", "12 tests passed", "PR #42 is open",
    "The branch is merged", "I am working on the retry policy", "We're implementing the queue",
    "Currently broken on my branch", "TODO: write the migration", "Next steps", "Still need to update the docs",
    "Added a retry to the client", "I fixed the flaky test", "Work in progress", "Blocked on review",
    "Waiting for the review", "The refactoring is done", "Opened PR 12", "Test results: 3 failed",
    "45 new unit tests", "Pushed the branch",
]  # fmt: skip


@pytest.mark.parametrize("text", STATE_OF_WORK)
def test_the_state_of_the_work_is_told_from_a_fact(text: str) -> None:
    found = transient.reason(text, text)
    assert found is not None
    assert found[1], "it is beyond doubt"


LASTING = [
    ("Tests pass locally and fail in CI because the clock of the runner is UTC", ""),
    ("The build fails when the cache of the package manager is cold", ""),
    ("Waiting on multiple promises", "Promise.all rejects at once when one of them rejects."),
    ("A release branch is merged only by the release manager", ""),
    ("Blocking calls in the event loop stall every request", ""),
    ("The test suite must run single-threaded, otherwise the ports collide", ""),
    ("Currently supported regions are read from the config service at start", ""),
    ("Pull requests need two approvals", ""),
    ("Todo items are soft-deleted", "The table keeps them for 30 days."),
    ("Test coverage stats with Jest", ""),
]


@pytest.mark.parametrize(("title", "summary"), LASTING)
def test_a_rule_or_a_cause_outlasts_the_work(title: str, summary: str) -> None:
    found = transient.reason(title, summary)
    assert found is None or not found[1]


WORTHLESS = [
    ("Thanks!", True), ("ok", True), ("Hello there", True), ("???", True), ("", True),
    ("Should we use Kafka?", True), ("Why does the build fail?", True), ("src/app.py", True),
    ("PaymentService", True), ("v2.3.1", True), ("https://example.com/x", True), ("fix it", True),
    ("This is important", True), ("it works now", True), ("My editor is vim", True), ("I prefer dark mode", True),
    ("On my machine the port is 3000", True), ("The retry policy is defined in src/payments/retry.py", True),
    ("See `src/payments/retry.py:42`", True), ("React is a JavaScript library for building user interfaces", False),
    ("The docs say that fetch rejects on network errors", False),
]  # fmt: skip


@pytest.mark.parametrize(("title", "firm"), WORTHLESS)
def test_what_is_worth_no_note_is_told_with_the_reason(title: str, firm: bool) -> None:
    found = value.reason(title, "")
    assert found is not None
    assert found[1] == firm, found


WORTH = [
    "HTTP 409 means the payment already succeeded",
    "Always use UTC",
    "Never call the ledger from the web tier",
    "The retry policy in src/payments/retry.py must not retry 409, because the booking is duplicated",
    "数据库连接池最多五十个连接",
    "Платежи не повторяются после таймаута",
    "يجب استخدام التوقيت العالمي دائما",
    "The user service owns the sessions table",
    "`--frozen-lockfile` is required in CI",
]


@pytest.mark.parametrize("title", WORTH)
def test_facts_in_any_script_are_worth_a_note(title: str) -> None:
    assert value.reason(title, "") is None


def test_a_question_with_its_answer_is_a_fact() -> None:
    assert value.reason("Why is the first request slow?", "The pool opens its connections lazily.") is None


def test_a_persons_home_is_seen_and_a_common_one_is_not() -> None:
    assert value.holds_home_path("it is in /home/erika/work/x")
    assert value.holds_home_path(r"it is in C:\Users\Erika\x")
    assert not value.holds_home_path("it is in /home/runner/work/x")


README = """# Shop

Payments are retried three times with exponential backoff, and the ledger client never retries a 409.
Run `make test` before you push.

Alle Zeiten werden in UTC gespeichert und erst in der Oberfläche umgerechnet.

数据库连接池最多五十个连接，超过以后请求会排队等待。
"""


@pytest.mark.parametrize(
    "claim",
    [
        "Payments are retried three times with exponential backoff",
        "The ledger client never retries a 409",
        "Alle Zeiten werden in UTC gespeichert",
        "数据库连接池最多五十个连接",
    ],
)
def test_what_the_repository_states_itself_is_seen_in_any_script(claim: str) -> None:
    assert static.restated(claim, [README])


@pytest.mark.parametrize(
    "claim",
    [
        "Payments are retried five times with exponential backoff",
        "The ledger answers 409 when the idempotency key is known",
        "Payments of more than 1000 EUR are never retried",
    ],
)
def test_what_it_does_not_state_is_news(claim: str) -> None:
    assert not static.restated(claim, [README])


HOSTILE = [
    "all the my ",
    "please ",
    "a",
    "a.",
    "a/",
    "_",
    "\n",
    " ",
    "- ",
    "is defined in ",
    "ok, ",
    "tests ",
    "1",
    "`",
    "¿",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    for text in (unit * 20_000, unit * 20_000 + "x!"):
        value.reason(text[:1000], text, text)
        transient.reason(text[:1000], text, text)
        static.restated(text[:4000], [text])
        value.holds_home_path(text)
