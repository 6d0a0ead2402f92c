"""What the assistant stated: each sentence weighed by what it does and where it was said.

The weights follow one idea: worth keeping is what the code does not say and a later session would have to find out
again. So causes, limits, measured numbers and reasons for a choice weigh, and what was done, what is planned, what is
true for a moment and where code lies weigh against. Conclusions count more than thoughts on the way to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import fsum

from commonwealth.capture.episodes import Episodes, Turn
from commonwealth.capture.sentences import ASIDE, Sentence
from commonwealth.capture.signals import assistant_flags
from commonwealth.conversation import Said, Used

WEIGHTS = {
    "cause": 1.5, "found": 1.2, "law": 0.8, "choice": 0.6, "chosen": 0.8, "remedy": 0.4, "measured": 0.5,
    "number": 0.5, "code": 0.6, "contrast": 0.4, "mechanism": 0.5, "switch": 0.3, "env": 0.2, "hedge": -1.6,
    "narration": -3.0, "status": -1.4, "work": -1.0, "offer": -2.0, "transient": -0.8, "noise": -1.5, "place": -0.7,
    "tests": -1.5, "refute": -0.7, "praise": -1.0, "mine": -0.8, "unchanged": -3.0, "ruled out": -0.6, "done to": -1.5,
    "moment": -2.0, "question": -3.0, "short": -1.5,
}  # fmt: skip
GOOD_HEADINGS = (
    "cause", "problem", "why", "issue", "finding", "insight", "explanation", "how it works", "limitation", "caveat",
    "trade", "gotcha", "what happened", "what's happening", "what is happening", "impact",
    "conclusion", "answer", "reason", "rationale", "analysis", "diagnosis", "result", "warning", "important",
    "note", "lesson", "bottom line", "short", "behavior", "behaviour", "ursache", "grund", "problema", "causa",
    "key", "design", "decision", "difference", "background",
)  # fmt: skip
CAUSES = (
    "root cause", "cause", "the cause", "actual cause", "reason", "why ", "what was wrong", "what went wrong",
    "ursache", "causa", "diagnosis",
)  # fmt: skip
"""Headings and labels whose text is a cause, whatever words it uses."""
BAD_HEADINGS = (
    "test", "file", "next step", "option", "usage", "how to", "to test", "source", "command", "verification",
    "status", "todo", "recommend", "suggest", "question", "what was created", "structure", "setup", "install",
    "example", "reference", "checklist", "plan", "step", "task", "if you", "would you", "let me know",
    "alternativ", "future", "follow-up", "remaining", "quick start", "try", "commit", "positive", "strength",
    "what's good", "looks good", "minor", "nit", "deliverable", "coverage", "overview of", "run it", "created",
)  # fmt: skip

SHOWN = 0.7
"""What a sentence weighs more that says what a command just run has shown."""
DIAGNOSED = 0.4
"""What the thought weighs more that a problem's fix was made on, after something had been looked at."""
GROUNDLESS = -1.6
"""What is said without having looked at anything weighs: it is what everybody can know."""
PROBES = 6
"""Tool uses before a message whose output it may speak of."""
FIGURE = re.compile(r"\d+(?:\.\d+)?")
FIX_HEADINGS = (
    "fix",
    "the fix",
    "solution",
    "the solution",
    "what changed",
    "changes",
    "what i changed",
    "what i did",
    "implementation",
    "what was fixed",
)
"""Headings of what was done: it belongs to the cause, and the code shows it."""
_VAIN = re.compile(
    r"(?:hm+,? |ok,? |okay,? )?(?:still|same (?:error|issue|problem|result)|no (?:change|luck|difference)|that "
    r"(?:didn|did not)|didn|not fixed|wait)\b"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence with its weight. `stands` says whether it can be read alone; `flags` are those of `signals`."""

    sentence: Sentence
    turn: Turn
    score: float
    flags: frozenset[str]
    final: bool
    stands: bool


def claims(told: Episodes) -> list[Claim]:
    """Every sentence of the assistant's in order, weighed."""
    weighed: list[Claim] = []
    previous: Claim | None = None
    exclaimed: tuple[int, int] | None = None
    for sentence in told.assistant:
        flags = assistant_flags(sentence.text)
        place = (sentence.event, sentence.block)
        if "found" in flags and "code" not in flags and len(sentence.text) < 45:
            exclaimed = place
            continue
        if exclaimed == place:
            flags |= {"found"}
        exclaimed = None
        if "cause" not in flags and sentence.heading.startswith(CAUSES) and len(sentence.text) > 30:
            flags |= {"cause"}
        turn = told.turn_of(sentence.event)
        final = sentence.event == turn.final
        score = _score(sentence, flags, turn, final, last=turn.number == len(told.turns) - 1)
        if _follows_failure(told, sentence.event):
            score += 0.5
        if _shown(told, sentence):
            flags |= {"shown"}
            score += SHOWN
        if not final and turn.rough and _acted_on(told, sentence.event):
            score += -0.3 if _in_vain(told, turn, sentence.event) else 0.9 if turn.proved else 0.7
            score += DIAGNOSED if turn.asked and turn.looked else 0.0
        claim = Claim(sentence, turn, round(score, 3), flags, final, "bare" not in flags)
        if previous is not None and _concludes(previous, claim):
            weighed[-1] = replace(previous, score=previous.score + 0.8)
        weighed.append(claim)
        previous = claim
    return weighed


def _shown(told: Episodes, sentence: Sentence) -> bool:
    """Whether a sentence speaks of figures that a command just run gave out: it says what an experiment showed."""
    figures = {figure for figure in FIGURE.findall(sentence.text.replace(",", "")) if len(figure) > 1}
    if not figures:
        return False
    place = sentence.event - 1
    while place >= max(0, sentence.event - PROBES):
        event = told.event(place)
        if isinstance(event, Said):
            return False
        if event.use == "run" and figures & set(FIGURE.findall(event.result[:6000].replace(",", ""))):
            return True
        place -= 1
    return False


def _follows_failure(told: Episodes, place: int) -> bool:
    """Whether a message came right after something had failed: then it says why."""
    before = told.event(place - 1) if place else None
    return isinstance(before, Used) and before.failed


def _acted_on(told: Episodes, place: int) -> bool:
    """Whether the next thing done after a message was a change: then it says what the change rests on."""
    events = told.conversation.events
    after = events[place + 1] if place + 1 < len(events) else None
    return isinstance(after, Used) and after.use == "edit" and not after.failed


def _in_vain(told: Episodes, turn: Turn, place: int) -> bool:
    """Whether the next message says that the change did not help."""
    later = turn.messages[turn.messages.index(place) + 1 :]
    event = told.event(later[0]) if later else None
    return isinstance(event, Said) and bool(_VAIN.match(event.text[:60].lower()))


def _concludes(previous: Claim, claim: Claim) -> bool:
    """Whether a sentence draws the conclusion (`That's why …`) of the one before it, which is then a cause."""
    one, two = previous.sentence, claim.sentence
    return not claim.stands and "cause" in claim.flags and one.event == two.event and one.block == two.block


def _score(sentence: Sentence, flags: frozenset[str], turn: Turn, final: bool, *, last: bool) -> float:
    score = fsum(WEIGHTS.get(flag, 0.0) for flag in flags) + _together(flags) + heading_weight(sentence.heading)
    if final:
        score += 0.7 + (0.2 if last else 0.0)
        if turn.asked and turn.looked + turn.failed:
            score += 0.5
        if turn.reaction == "affirmed":
            score += 0.5
    elif turn.broken:
        score -= 0.3
    if not turn.used:
        score += GROUNDLESS
    if not turn.rough:
        score -= 0.8
    if turn.wording:
        score -= 2.5
    if len(sentence.text) < 45:
        score -= 0.6
    if sentence.text.endswith(":"):
        score -= 1.5
    return round(score, 3)


def _together(flags: frozenset[str]) -> float:
    """What flags weigh beyond their own weights where they meet."""
    score = 0.0
    if "work" in flags and flags & {"cause", "choice", "measured"}:
        score += 0.7  # what was done, with its reason or effect
    if "number" in flags and "remedy" in flags:
        score += 0.4
    if {"number", "measured"} <= flags:
        score += 0.4 - (WEIGHTS["status"] if "status" in flags else 0.0)
    if {"chosen", "mine"} <= flags:
        score -= WEIGHTS["mine"]  # only the one who chose can say why
    return score


def heading_weight(heading: str) -> float:
    """How much a heading says that what stands below it explains something."""
    if not heading:
        return 0.0
    if heading == ASIDE:
        return -1.0
    if any(heading.startswith(word) or f" {word}" in f" {heading}" for word in BAD_HEADINGS):
        return -2.5
    if heading.startswith(FIX_HEADINGS):
        return -0.8
    return 0.8 if any(word in heading for word in GOOD_HEADINGS) else 0.0
