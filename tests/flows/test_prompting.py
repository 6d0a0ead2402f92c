"""A prompt brings the notes that bear on it and no others; small talk brings none, however large the brain is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.flows.brains import Brain
from commonwealth.safetext import tokens

from .shelf import HERE, SHOP, at_prompt, note, shelf, told


@pytest.fixture(scope="module")
def shop() -> Brain:
    return shelf(SHOP)


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Customers are charged twice when a payment is retried after a 409, please find out why", "n409"),
        ("add a retry with backoff to PaymentService.charge", "n409"),
        ("stock does not match the warehouse for some SKU codes", "sku"),
        ("users get logged out in the second tab, something with refresh tokens", "tokens"),
        ("raise the connection pool of the database to 50", "pool"),
        ("add a call to the shipping provider using requests", "httpx"),
        ("show the delivery date with moment", "dates"),
        ("src/inventory/sync.py: keep the import log", "sku"),
    ],
)
def test_a_prompt_brings_what_bears_on_it(shop: Brain, prompt: str, wanted: str) -> None:
    assert wanted in told(at_prompt(shop, prompt))
    assert len(told(at_prompt(shop, prompt))) <= 2


SMALL_TALK = [
    "continue", "thanks, looks good", "yes please", "fix the typo", "run the tests", "commit this", "hi", "",
    "what does this function do?", "rename the variable", "can you explain the code in this file?", "undo that",
    "add type hints", "why is the build failing?", "update the README", "the test fails, fix it", "push it",
    "refactor this class to be smaller", "let's start over with another approach", "make the button blue", "👍", "...",
    "weiter", "show me the diff", "add a new endpoint that returns the version", "please review my changes", "retry",
    "write a helper that reverses a string", "write a script that converts csv to json", "use a list here instead",
]  # fmt: skip


@pytest.mark.parametrize("prompt", SMALL_TALK)
def test_small_talk_is_met_with_silence(shop: Brain, prompt: str) -> None:
    found = at_prompt(shop, prompt)
    assert (found.text, found.tokens, found.notes) == ("", 0, ())


@pytest.mark.parametrize("more", [0, 40, 1500])
def test_the_floor_does_not_depend_on_the_size_of_the_brain(more: int) -> None:
    filler = [note(f"f{n}", f"Widget{n} sprocket{n}", f"Gadget{n} needs oil{n}.") for n in range(more)]
    brain = shelf([*SHOP, *filler])
    assert told(at_prompt(brain, "a payment is charged twice after HTTP 409")) == ["n409"]
    for prompt in SMALL_TALK[::5]:
        assert at_prompt(brain, prompt).text == ""
    assert at_prompt(brain, "write the report of the payments").text == ""


def test_words_that_every_note_holds_say_nothing() -> None:
    brain = shelf([note(f"f{n}", f"Payment retry case {n}x{n}", "A payment is retried.") for n in range(200)])
    assert at_prompt(brain, "look at the payment retry").text == ""


def test_only_what_is_true_now_and_of_this_repository_is_told(shop: Brain) -> None:
    for prompt in (
        "payments are synchronous, the request charges the card",
        "the payments export counts refunds twice",
    ):
        assert not {"old", "data"} & set(told(at_prompt(shop, prompt)))
    elsewhere = shelf(SHOP, "git.example.com/acme/other")
    assert at_prompt(elsewhere, "a payment is charged twice after HTTP 409").notes == ()
    assert at_prompt(shelf(SHOP, None), "a payment is charged twice after HTTP 409").notes == ()


def test_what_a_note_says_of_its_repository_counts_before_where_it_was_found() -> None:
    one = note("x", "Zebra stripes need polishing", repository="acme/other")
    brain = shelf([replace(one, provenance=replace(one.provenance, repository=HERE))])
    assert at_prompt(brain, "zebra stripes need polishing").notes == ()


def test_a_note_of_no_repository_may_be_told_anywhere() -> None:
    brain = shelf([note("x", "Zebra stripes need polishing", repository=None)])
    assert told(at_prompt(brain, "zebra stripes")) == ["x"]
    assert told(at_prompt(replace(brain, project=None), "zebra stripes")) == ["x"]


def test_nothing_is_told_twice(shop: Brain) -> None:
    prompt = "a payment is charged twice after HTTP 409"
    again = at_prompt(shop, prompt, skip=frozenset(["n409"]))
    assert "n409" not in told(again)
    assert ("n409", "told already in this session") in again.left


def test_notes_that_say_one_thing_are_told_once() -> None:
    same = [note(f"s{n}", "Zebra stripes need polishing daily", "Polish the zebra.") for n in range(5)]
    found = at_prompt(shelf(same), "polishing zebra stripes")
    assert len(found.notes) == 1
    assert sum("says much the same" in reason for _, reason in found.left) == 4


def test_both_sides_of_a_conflict_are_told() -> None:
    one = note("one", "Zebra stripes need polishing daily")
    other = note("two", "Zebra stripes need polishing weekly", conflict_of="one")
    found = at_prompt(shelf([one, other]), "polishing zebra stripes")
    assert set(told(found)) == {"one", "two"}
    assert found.text.count("disputed") == 2


def test_what_is_doubtful_is_worth_less() -> None:
    sure = note("sure", "Zebra stripes need polishing daily", "With wax.")
    shaky = note("shaky", "Zebra stripes need sanding first", "Maybe.", status="hypothesis", confidence="low")
    found = at_prompt(shelf([shaky, sure]), "zebra stripes")
    assert told(found)[0] == "sure"


@pytest.mark.parametrize(
    "prompt", ["zebra " * 4000, "a" * 100_000, "\0\x1b[31m", "(((", '"', "NEAR AND OR NOT *", "\ud800"]
)
def test_any_text_is_a_prompt(shop: Brain, prompt: str) -> None:
    assert at_prompt(shop, prompt).tokens <= 400


def test_a_long_prompt_is_read_at_both_ends(shop: Brain) -> None:
    noise = "lorem ipsum dolor sit amet " * 400
    assert told(at_prompt(shop, f"{noise}\nWhy does HTTP 409 in PaymentService duplicate a payment?")) == ["n409"]


def test_other_scripts_are_words_too() -> None:
    brain = shelf(
        [
            note("ja", "支払いの再試行は二重請求になる", "冪等キーを使う。"),
            note("ru", "Повторная оплата удваивает заказ"),
        ]
    )
    assert told(at_prompt(brain, "支払いの再試行で二重請求が起きる")) == ["ja"]
    assert told(at_prompt(brain, "почему повторная оплата удваивает заказ?")) == ["ru"]
    assert at_prompt(brain, "続けてください").notes == ()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.integers(0, 500))
def test_the_budget_is_a_hard_limit(shop: Brain, text: str, budget: int) -> None:
    found = at_prompt(shop, f"HTTP 409 payment warehouse SKU refresh tokens {text}", budget=budget)
    assert found.tokens == tokens(found.text) <= budget
