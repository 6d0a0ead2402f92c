"""What a draft says was said: its words stand at its lines, in their order, with nothing taken out of their middle."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.capture import rules
from commonwealth.conversation import Conversation, Said, Used
from commonwealth.model import Candidate
from tests.capture.sessions import edit, read, run, says, session, user
from tests.capture.situations import Situation
from tests.capture.test_rules import ALL, RULED, cause, name_of

WORD = re.compile(r"[^\W_]+")
OURS = re.compile(
    r"\b(?:Problem|Not chosen|Suspected, not proven|Not solved|Last said|It said): "
    r"|The problem was still there after \d+ attempts; why is unknown\."
    r"|\b(?:hangs|fails) without\b|\b(?:did not come to an end|failed); the same command with\b|\bworked\.$"
)
"""The words by which a draft says what the words of the session are in it."""


def words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def in_order(some: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in some)


def at_the_lines(conversation: Conversation, draft: Candidate) -> Iterator[list[str]]:
    span = range(draft.evidence.first, draft.evidence.last + 1)
    tools: list[str] = []
    for event in conversation.events:
        if isinstance(event, Said) and event.line in span:
            yield words(f"{event.question} {event.text}")
        elif isinstance(event, Used) and (event.line in span or event.result_line in span):
            yield words(event.text)
            tools += [event.text, event.result]
    yield words(" ".join(tools))


def is_faithful(conversation: Conversation, draft: Candidate) -> bool:
    lines = list(at_the_lines(conversation, draft))
    said = [re.split(r"(?<=[.!?…])\s+", OURS.sub(" ", text)) for text in (draft.title, draft.summary)]
    return all(any(in_order(words(part), line) for line in lines) for parts in said for part in parts)


@pytest.mark.parametrize("situation", ALL, ids=name_of)
def test_a_draft_says_nothing_that_its_lines_do_not_say(situation: Situation) -> None:
    for draft in rules.drafts(situation.conversation):
        assert is_faithful(situation.conversation, draft), (draft.title, draft.summary)


PIECE = st.sampled_from([
    "the mirror at https://old.example/simple", "https://new.example/simple", "the gateway", "`infra/main.tf:12`",
    "(never `infra/old.tf:3`, which is dead)", "(`src/gen/types.ts`)", "4f8c2ab19d", "(see lines 3-5)", "**not**",
    "[the guide](https://docs.example/guide)", "unless the tenant is frozen", "but never for admins", "`x(force=True)`",
    "the queue worker", "and every retry", "without a lock", "in `schema.yaml`", "because the other one is frozen",
    "when the cache is cold", "except on Fridays", "- and not the old one -", "; otherwise it fails", "for 7 days",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["No, never use", "No, always use", "Remember: we must keep"]), st.lists(PIECE, min_size=2))
def test_a_rule_keeps_every_word_that_may_turn_it(start: str, pieces: list[str]) -> None:
    text = f"{start} {' '.join(pieces)}."
    conversation = session(user("set it up"), edit("infra/main.tf"), says("I set it up."), user(text), says("Ok."))
    for draft in rules.drafts(conversation):
        assert is_faithful(conversation, draft), (text, draft)
        for mark in ("never", "not", "unless", "except", "without", "but"):
            kept, told = (re.findall(rf"\b{mark}\b", part.lower()) for part in (draft.summary, text))
            assert kept == told or "(see" in text, (text, draft)
        assert "…" not in draft.title


@pytest.mark.parametrize(
    "rule",
    [
        "never deploy the gateway to the shared cluster on the old machines without the approval of the platform team",
        "always take the lock of the tenant before the balance is read by the queue worker, except for admins",
        "the nightly export has to run on the replica with the long statement timeout unless the replica lags by a day",
        "siempre hay que reiniciar el servicio de pagos en el servidor de facturas, salvo que el lote esté abierto",
    ],
)
def test_a_title_is_not_cut_before_what_limits_it(rule: str) -> None:
    (draft,) = rules.drafts(session(user("go on"), edit("a.py"), says("Done."), user(f"No, {rule}."), says("Ok.")))
    assert words(draft.title)[-1] == words(rule)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "No, we always pin to 4f8c2ab19d because later commits broke the parser",
        "No, always call `x()` like this, because the cache lies:\n```\nx(force=True)\n```",
        "No, " + "the worker must always take the lock of the tenant first, " * 12 + "but never for admin accounts",
    ],
)
def test_a_rule_that_cannot_be_told_whole_is_left_out(text: str) -> None:
    assert rules.drafts(session(user("go on"), edit("a.py"), says("Done."), user(text), says("Ok."))) == ()


@pytest.mark.parametrize(
    "guess",
    [
        "The sync fails probably because `push_rows()` opens the lock file and the second worker cannot take it.",
        "The sync fails wahrscheinlich because `push_rows()` opens the lock file and the second worker cannot take it.",
        "I suspect that the sync fails because `push_rows()` opens the lock file twice and cannot take it.",
        "It seems that `push_rows()` opens the lock file, so the second worker cannot take it.",
        "La causa es probablemente `push_rows()`, porque abre el fichero y el segundo proceso no puede tomarlo.",
    ],
)
def test_a_guess_is_a_hypothesis_of_low_confidence(guess: str) -> None:
    for draft in rules.drafts(cause(guess)):
        assert (draft.status, draft.confidence) == ("hypothesis", "low"), draft


@pytest.mark.parametrize(
    "guess", ["I suspect", "my guess is that", "wahrscheinlich,", "probablemente", "je pense que", "vermutlich,"]
)
def test_what_a_person_guesses_is_not_confirmed(guess: str) -> None:
    text = f"No, {guess} {RULED.removeprefix('No, ')}"
    for draft in rules.drafts(session(user("go on"), says("I ran it as root."), user(text), says("Ok."))):
        assert draft.status == "hypothesis"


def test_a_draft_names_the_files_that_it_speaks_of_and_those_changed_at_its_lines() -> None:
    conversation = session(
        user("add the totals"),
        read("src/export/totals.py", "src/export/unrelated.py", "/etc/hosts"),
        edit("src/export/writer.py"),
        edit("docs/export.md", failed=True),
        says("I added them."),
        user("No, `totals.py` must never round, because the ledger compares cents."),
        says("Ok."),
    )
    (draft,) = rules.drafts(conversation)
    assert draft.files == ("src/export/totals.py",)


def test_a_cause_names_the_files_that_its_turn_changed() -> None:
    (draft,) = rules.drafts(
        session(
            user("why does the nightly sync fail?"),
            run("make sync", "exit 1", failed=True),
            says("The sync fails because `push_rows()` opens the lock file and the second worker cannot take it."),
            edit("jobs/sync.py"),
            run("make sync", "ok"),
            says("The sync runs through."),
        )
    )
    assert draft.files == ("jobs/sync.py",)
