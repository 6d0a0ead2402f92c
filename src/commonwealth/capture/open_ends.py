"""What a session left open: a suspicion that nobody could prove in it, and a problem that came back to the end."""

from __future__ import annotations

import re

from commonwealth.capture.claims import Claim
from commonwealth.capture.episodes import Episodes, Turn
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import Sentence
from commonwealth.capture.signals import user_flags
from commonwealth.capture.subjects import names, terms
from commonwealth.capture.topics import Reopened
from commonwealth.capture.wording import shareable

_SUSPECTS = re.compile(
    r"\b(?:my (?:best |main |strongest )?(?:suspicion|guess|hypothesis|theory)|i suspect|(?:prime|main|likely) suspect|"
    r"most likely|"
    r"unproven|not proven|(?:can't|cannot|couldn't|could not) (?:prove|confirm)|vermut\w*|verdacht|sospech\w*)\b",
    re.IGNORECASE,
)
_SUSPICION = re.compile(
    r"^(?:so |but )?(?:my (?:best |main |strongest )?(?:suspicion|guess|hypothesis|theory) is(?: that)?|"
    r"i suspect(?: that)?) ",
    re.IGNORECASE,
)
OFTEN = 3
"""Times that a person has to say that a problem is still there before it is one that the session left open."""
LINES = 40
"""Lines of a transcript within which one draft's sentences lie."""
TOLD = 140
"""Characters of a sentence that tells such a problem."""
LAST = 2
"""Turns before the end within which an open end has to lie."""


def left_open(told: Episodes, claimed: list[Claim], back: list[Reopened]) -> list[Finding]:
    """At most one finding each of a suspicion and of a problem that the session left open."""
    return [*_suspicion(told, claimed), *_unsolved(told, back)]


def _suspicion(told: Episodes, claimed: list[Claim]) -> list[Finding]:
    """The last suspicion about what was asked, where something was measured about it and nothing settled it."""
    last = [turn for turn in told.turns[-1 - LAST :] if turn.asked and not turn.proved and turn.reaction != "denied"]
    mine = [claim for claim in claimed if claim.turn in last and shareable(claim.sentence.text)]
    suspected = [
        claim
        for claim in mine
        if claim.final
        and names(claim.sentence.text)
        and _SUSPECTS.search(claim.sentence.text)
        and "question" not in claim.flags
    ]
    if not suspected:
        return []
    chosen = suspected[-1]
    around = [claim for claim in mine if claim.turn is chosen.turn and claim is not chosen]
    if not any(claim.flags & {"shown", "ruled out"} for claim in around):
        return []
    seed = chosen.sentence
    beside = [one.sentence for one in around if one.final and len(one.sentence.text) > 40]
    excluded = [one.sentence for one in around if "ruled out" in one.flags and one.sentence not in beside]
    title = f"Suspected, not proven: {_SUSPICION.sub('', seed.text)}"
    support = (*excluded[-2:], *beside[:3])
    return [Finding(seed, 2.9, "open", "suspicion", "investigation", "hypothesis", "low", support, title)]


def _unsolved(told: Episodes, back: list[Reopened]) -> list[Finding]:
    """A problem that the person said again and again was still there, and at the end of the session too."""
    if not back or len(told.turns) - 1 - back[-1].turn.number > LAST or _settled(told, back[-1].turn):
        return []
    last = back[-1]
    about = {last.turn.number, *last.earlier}
    times = [one for one in back if one.turn.number in about]
    said = [one for number in sorted(about) for one in told.spoken.get(told.turns[number].start, ())[:1]]
    fit = [one for one in said if shareable(one.text) and len(terms(one.text)) > 1 and len(one.text) <= TOLD]
    if len(times) < OFTEN or not fit:
        return []
    latest = fit[-1]
    first = next(one for one in fit if latest.line - one.line < LINES)
    title = f"Not solved: {first.text.rstrip('?. ')}"
    text = f"{title}. The problem was still there after {len(times)} attempts; why is unknown. Last said: {latest.text}"
    seed = Sentence(text, latest.line, latest.event, 0, "", False, latest.at)
    return [Finding(seed, 2.8, "open", "unsolved", "investigation", "hypothesis", "low", (), title, (first.line,))]


def _settled(told: Episodes, turn: Turn) -> bool:
    """Whether a later prompt says that the problem is gone."""
    later = [one.prompt for one in told.turns[turn.number + 1 :] if one.prompt is not None]
    return any(user_flags(prompt.text[:200]) & {"affirm", "accept"} for prompt in later)
