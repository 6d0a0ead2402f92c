"""Text that was made to be slow or to break the cutting of sentences."""

from __future__ import annotations

import random

import pytest

from commonwealth.capture import rules
from commonwealth.capture.sentences import LONGEST, sentences
from tests.capture.sessions import run, says, session, user

LINES = {
    "blanks": " " * 100_000,
    "backticks": "`" * 100_000,
    "brackets": "(" * 100_000,
    "stars": "*" * 100_000,
    "squares": "[" * 100_000,
    "words without an end": "word " * 20_000,
    "one word": "a" * 100_000,
    "dots": "." * 100_000,
    "table": "| " * 50_000,
    "links": "[a](" * 25_000,
    "paths": "/a" * 50_000,
    "hexadecimal": "a1" * 50_000,
    "items": "- a\n" * 25_000,
    "deep items": "".join(" " * (place % 40) + "- x:\n" for place in range(10_000)),
    "addresses": "a@" * 50_000,
    "digits": "1," * 50_000,
    "labels": "a: " * 30_000,
    "bold": "**a" * 30_000,
    "joined": "_a" * 50_000,
    "mixed": "`a (b [c](d) **e** " * 5_000,
    "options": "Option 1. " * 10_000,
    "causes": "because the issue is that " * 4_000,
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_a_hostile_line_is_cut_short_and_read_to_the_end(text: str) -> None:
    looked_at = list(sentences(text, line=1, event=0))
    assert all(len(sentence.text) <= LONGEST for sentence in looked_at)
    drafts = rules.drafts(
        session(
            user("why is it slow"), says(text), run(text[:4000], text[:4000], failed=True), run(text[:4000]), user(text)
        )
    )
    assert all(len(draft.title) <= 120 and len(draft.summary) <= 700 for draft in drafts)


def test_random_text_breaks_nothing() -> None:
    chance = random.Random(5)
    letters = "aB1 .,:;!?`*_#-|[](){}<>/\\\"'\n\t—→✅äñ中\u202e\u200b\x00" + "because never `x_y()` issue is "
    for _ in range(200):
        texts = ["".join(chance.choice(letters) for _ in range(chance.randrange(400))) for _ in range(4)]
        drafts = rules.drafts(session(user(texts[0]), says(texts[1]), user(texts[2]), says(texts[3])))
        assert all(draft.title and draft.evidence.first > 0 for draft in drafts)
