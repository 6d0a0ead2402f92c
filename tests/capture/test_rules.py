"""Drafts without a model: what they keep of sessions that teach, and that the others give none."""

from __future__ import annotations

import re

import pytest

from commonwealth.capture import rules
from commonwealth.conversation import Conversation, Event
from commonwealth.model import CONFIDENCES, STATUSES, TYPES, Candidate
from tests.capture.far_situations import FAR
from tests.capture.further_situations import SMOOTH, WORDY
from tests.capture.more_situations import FLEETING, LASTING
from tests.capture.odd_situations import EMPTY, ODD
from tests.capture.other_situations import PASSING, SPOKEN
from tests.capture.sessions import edit, run, says, session, user
from tests.capture.situations import TEACHING, UNTEACHING, Situation
from tests.capture.story_situations import IDLE, TOLD
from tests.capture.trivial_situations import TRIVIAL

TEACH = [*TEACHING, *LASTING, *WORDY, *SPOKEN, *ODD, *FAR, *TOLD]
NONE = [*UNTEACHING, *FLEETING, *SMOOTH, *PASSING, *EMPTY, *TRIVIAL, *IDLE]
ALL = [*TEACH, *NONE]


def text_of(draft: Candidate) -> str:
    return f"{draft.title} {draft.summary}".lower()


def states(draft: Candidate, groups: tuple[tuple[str, ...], ...]) -> bool:
    return all(any(word in text_of(draft) for word in group) for group in groups)


def name_of(situation: Situation) -> str:
    return situation.name


@pytest.mark.parametrize("situation", TEACH, ids=name_of)
def test_a_session_that_teaches_gives_its_facts_and_little_else(situation: Situation) -> None:
    drafts = rules.drafts(situation.conversation)
    for groups in situation.facts:
        assert any(states(draft, groups) for draft in drafts), (groups, [draft.title for draft in drafts])
    assert len(drafts) <= situation.most
    for draft in drafts:
        assert not [word for word in situation.never if word in text_of(draft)]
        assert not situation.statuses or draft.status in situation.statuses


@pytest.mark.parametrize("situation", NONE, ids=name_of)
def test_a_session_that_deserves_none_gives_none(situation: Situation) -> None:
    assert [draft.title for draft in rules.drafts(situation.conversation)] == []


@pytest.mark.parametrize("situation", ALL, ids=name_of)
def test_every_draft_is_a_whole_candidate_with_lines_that_exist(situation: Situation) -> None:
    lines = {event.line for event in situation.conversation.events}
    for draft in rules.drafts(situation.conversation):
        assert 12 <= len(draft.title) <= 180
        assert 0 < len(draft.summary) <= 700
        assert draft.title[0] not in " -*#"
        assert "\n" not in draft.title
        assert (draft.type in TYPES, draft.status in STATUSES, draft.confidence in CONFIDENCES) == (True, True, True)
        assert (draft.kind == "decision") == (draft.status == "decision") == (draft.type == "decision")
        assert draft.evidence.first in lines
        assert draft.evidence.last <= max(lines) + 1
        assert 0 <= draft.evidence.last - draft.evidence.first < 40
        assert draft.signal
        assert draft.quotes
        assert 0 < draft.strength <= 1
        assert all(not file.startswith(("/", "~")) for file in draft.files)


@pytest.mark.parametrize("situation", ALL, ids=name_of)
def test_the_same_conversation_gives_the_same_drafts_in_the_same_order(situation: Situation) -> None:
    assert rules.drafts(situation.conversation) == rules.drafts(situation.conversation)


def test_nothing_said_gives_nothing() -> None:
    assert rules.drafts(Conversation("claude")) == ()
    assert rules.drafts(session(user(""))) == ()


def test_a_guess_is_never_confirmed() -> None:
    for situation in ALL:
        for draft in rules.drafts(situation.conversation):
            if re.search(r"\b(?:might|probably|perhaps|possibly)\b", draft.title, re.IGNORECASE):
                assert draft.status == "hypothesis", draft.title


def cause(text: str) -> Conversation:
    return session(
        user("why does the nightly sync fail?"),
        run("make sync", "exit 1", failed=True),
        says(text),
        edit("sync.py", "…"),
        run("make sync", "ok"),
        says("The sync runs through."),
    )


LESSON = "The sync fails because `push_rows()` opens the lock file in {} and the second worker cannot take it."


@pytest.mark.parametrize("place", ["/home/kim/src/shop/var/sync", "/Users/kim/work/other", r"C:\Users\kim\sync"])
def test_no_home_folder_reaches_a_draft(place: str) -> None:
    drafts = rules.drafts(cause(LESSON.format(f"`{place}`")))
    assert len(drafts) == 1
    told = "\n".join((drafts[0].title, drafts[0].summary, *drafts[0].quotes, *drafts[0].files))
    assert "kim" not in told


@pytest.mark.parametrize(
    "private",
    [
        "kim.lee@example.com",
        "@kimlee",
        "commit 4f8c2ab19d",
        "550e8400-e29b-41d4-a716-446655440000",
        "sk-live-9aF3kQ71xZp0T4mW8bVy",
    ],
)
def test_a_sentence_with_a_persons_address_or_a_one_off_id_is_left_out(private: str) -> None:
    drafts = rules.drafts(cause(LESSON.format(private)))
    assert all(private.rsplit(maxsplit=1)[-1] not in text_of(draft) for draft in drafts)


def test_a_pointer_to_where_more_stands_is_left_out() -> None:
    drafts = rules.drafts(cause(LESSON.format("`var/lock`") + " See https://example.org/issues/1 for more."))
    assert ["http" in text_of(draft) for draft in drafts] == [False]


@pytest.mark.parametrize(
    "rule",
    [
        "No, never fetch packages from https://old.example/simple, always from https://new.example/simple",
        "No, use https://new.example/simple instead of https://old.example/simple, because the old one is frozen",
    ],
)
def test_an_address_that_a_rule_is_about_stays_where_it_stood(rule: str) -> None:
    (draft,) = rules.drafts(session(user("set up pip"), says("I set up pip."), user(rule), says("Done.")))
    told = text_of(draft)
    assert told.index("old.example") < told.index("new.example") or "instead of https://old.example" in told
    assert "new.example" in told


QUOTED = "always run the importer as root because the old cluster needs it"


@pytest.mark.parametrize(
    "text",
    [
        f"> {QUOTED}\n\nwhat do you think of that?",
        f"The ticket says: {QUOTED}.",
        f'the docs of the vendor say "{QUOTED}"',
        f"In Slack somebody wrote: {QUOTED}",
    ],
)
def test_what_somebody_else_says_is_no_rule_of_the_person(text: str) -> None:
    assert not rules.drafts(session(user("go on"), says("I did."), user(f"No.\n{text}"), says("Ok.")))


RULED = "No, the importer always runs as the service user because vault denies everybody else"


@pytest.mark.parametrize(
    "veto",
    [
        "Don't remember this.",
        "(off the record)",
        "do not save that in the notes",
        "merk dir das nicht",
        "No lo guardes.",
    ],
)
def test_what_is_off_the_record_is_not_drafted(veto: str) -> None:
    before = [user("go on"), says("I ran it as root.")]
    assert rules.drafts(session(*before, user(RULED), says("Ok.")))
    assert not rules.drafts(session(*before, user(f"{RULED}. {veto}"), says("Ok.")))
    assert not rules.drafts(session(*before, user(RULED), says("Ok."), user(veto), says("Fine.")))


def test_a_rule_about_what_is_saved_where_is_no_veto() -> None:
    rule = "No, never save that token in localStorage, because any script on the page can read it"
    assert rules.drafts(session(user("go on"), says("I saved it."), user(rule), says("Ok.")))


def test_a_session_with_much_to_tell_gives_few_drafts() -> None:
    events: list[Event] = [user("why do the workers stall, one after another?")]
    for number in range(40):
        name = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"[number : number + 7]
        events += [
            run(f"make {name}", "stalled", failed=True),
            says(
                f"Found it: `{name}_queue()` blocks because the {name} broker never acknowledges messages above 64 KB."
            ),
            edit(f"{name}.py", "…"),
        ]
    assert 1 <= len(rules.drafts(session(*events))) <= 6


def test_the_wording_of_a_fact_stays_when_the_session_goes_on() -> None:
    situation = TEACHING[0].conversation
    events = situation.events
    before = rules.drafts(session(*events))
    after = rules.drafts(
        session(*events, user("thanks, commit it"), run("git commit -am fix", "[main 1a2b3c4]"), says("Committed."))
    )
    assert {draft.title for draft in before} == {draft.title for draft in after}


def test_a_rule_that_the_person_takes_back_is_none() -> None:
    events = (
        user("add the price to the export"),
        edit("export.py", "price"),
        says("The export has a `price` column now."),
        user("no, prices must never leave the `pricing` service because they are confidential"),
        says("Understood, I'll remove it."),
    )
    assert len(rules.drafts(session(*events))) == 1
    assert rules.drafts(session(*events, user("never mind, I was wrong about that"), says("Fine."))) == ()
