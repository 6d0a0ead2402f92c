"""What the person stated: corrections, refusals with a reason, rules in passing, facts of their system, `remember`.

A person's sentence is worth more than any of the assistant's: nobody else knows why the team does it this way. But
most of what people say is an order for now, a question or a paste, so that a sentence needs a rule's form or a reason.
"""

from __future__ import annotations

import re
from math import fsum

from commonwealth.capture.episodes import PASTED, Episodes, Turn, asks
from commonwealth.capture.finding import Finding
from commonwealth.capture.quoted import relayed
from commonwealth.capture.refuting import WITHDRAWN, withdrawals
from commonwealth.capture.sentences import Sentence, clauses
from commonwealth.capture.signals import assistant_flags, points_back, user_flags
from commonwealth.capture.subjects import names, nearness
from commonwealth.capture.wording import shareable, unled
from commonwealth.conversation import Said, Used

FLOOR = 2.0
_SEEN = re.compile(
    r"\b(?:not working|doesn't work|errors?|crash\w*|fail\w*|broken|looks?|shows?|showing|getting|see|seeing|now|still|"
    r"again|i want|i need|i'd like)\b",
    re.IGNORECASE,
)
"""Words of a report on how the work at hand came out."""
_ASKED_FOR = re.compile(r"\b(?:can|could|would|will) you\b|\bplease\b|\bbitte\b|\bpor favor\b", re.IGNORECASE)
CLAUSE = {"states": 1.0, "rule": 0.8, "because": 0.4, "code": 0.4, "process": -2.0, "question": -2.0, "short": -1.5}
CLEARLY = 0.8
"""How much more a later clause has to weigh than the first to be the title."""
PROBLEM = 1.0
"""What a sentence weighs less that reports the problem to be solved: every `every` in it is no rule."""
REPLY = 900
"""Characters of a message beyond which it is instructions rather than an answer."""
REPLIES = 1.2
"""What a statement weighs more that answers what the assistant found or did: a person tells what it could not know."""
WEIGHTS = {
    "remember": 3.0, "correct": 1.2, "rule": 1.1, "because": 0.8, "code": 0.7, "number": 0.2, "system": 0.3,
    "should": 0.6, "propose": 0.3, "hedge": -1.2, "question": -2.5, "personal": -4.0, "inject": -6.0,
    "secret": -1.0, "short": -1.2, "affirm": -0.3, "choose": -0.5, "work": -1.0,
}  # fmt: skip


def stated(told: Episodes) -> list[Finding]:
    """Findings from what the person said, in order."""
    results: list[Finding] = []
    for place, spoken in told.spoken.items():
        event = told.event(place)
        if not isinstance(event, Said) or event.manner == "answer":
            continue
        turn = told.turn_of(place)
        results.extend(
            _of_message(
                turn,
                event,
                spoken,
                asked=_was_asked(told, turn),
                replies=_replies(told, turn, event),
                undone=bool(turn.number and told.turns[turn.number - 1].edited),
                context=_context(told, turn),
            )
        )
    back = withdrawals(told)
    return [finding for finding in results if not back.cover(told, finding.seed)]


def _of_message(
    turn: Turn,
    event: Said,
    spoken: tuple[Sentence, ...],
    *,
    asked: bool,
    undone: bool,
    replies: bool,
    context: tuple[Sentence, ...],
) -> list[Finding]:
    long = len(event.text) > PASTED
    replies = replies and len(event.text) <= REPLY and not any(one.item for one in spoken)
    scored = [(sentence, _score(sentence, event, turn, long=long)) for sentence in spoken]
    reason = any("because" in user_flags(sentence.text) for sentence in spoken) and not long
    opened = bool(spoken) and bool({"correct"} & user_flags(spoken[0].text)) and turn.number > 0
    objects = undone and not long
    replied = asked and not long and event.manner == "message"
    results: list[Finding] = []
    for sentence, base in scored:
        score, flags = base, user_flags(sentence.text)
        if reason and "correct" in flags and "code" in flags:
            score += 0.8
        if opened and sentence is not spoken[0]:
            score += 0.8 if flags & {"because", "rule"} else 1.2 if _tells(sentence, flags) else 0.0
        objected = event.manner == "refusal" or (opened and not _SEEN.search(sentence.text))
        if replies and _explains(flags, objected=objected):
            score += REPLIES
        if objects and flags & {"because"} and "process" not in flags:
            score += 0.4
        if replied and "system" in flags and not flags & {"process", "short", "question"}:
            score += 1.2
        if "remember" in flags and len(sentence.text) < 40 and sentence is not spoken[-1]:
            continue
        if score < FLOOR or not shareable(sentence.text) or relayed(sentence.text) or relayed(sentence.heading):
            continue
        near = [
            other
            for other in results
            if nearness(other.seed.text, sentence.text) >= 0.25 or other.seed.block == sentence.block
        ]
        if near:
            continue
        results.append(_finding(sentence, score, flags, (*spoken, *context)))
    return results[:3]


def _explains(flags: frozenset[str], *, objected: bool) -> bool:
    """Whether a sentence tells how something is, and not how the work at hand looks or should look: by a rule or a
    reason in it, or because it objects to something."""
    if "states" not in flags or flags & {"question", "process", "deny", "affirm"}:
        return False
    return objected or bool(flags & {"rule", "because"})


def _replies(told: Episodes, turn: Turn, event: Said) -> bool:
    """Whether a message answers work: what the assistant found or did in the turn before, or was about to do."""
    if event.manner in ("refusal", "interruption"):
        return True
    before = told.turns[turn.number - 1] if turn.number else None
    if before is None or before.broken:
        return False
    return any(isinstance(one, Used) for one in told.conversation.events[before.start : before.end])


def _was_asked(told: Episodes, turn: Turn) -> bool:
    """Whether the assistant's last words before a turn were a question, so that the prompt answers it."""
    before = told.turns[turn.number - 1] if turn.number else None
    event = told.event(before.final) if before is not None and before.final is not None else None
    return isinstance(event, Said) and "?" in event.text[-240:]


def _score(sentence: Sentence, event: Said, turn: Turn, *, long: bool) -> float:
    flags = user_flags(sentence.text)
    score = fsum(WEIGHTS.get(flag, 0.0) for flag in flags)
    if "process" in flags and not flags & {"correct", "rule", "remember"}:
        score -= 1.5
    if flags & {"correct", "rule", "because"} and assistant_flags(sentence.text) & {"law", "cause"}:
        score += 0.4
    if event.manner in ("refusal", "interruption"):
        score += 1.2
    if turn.number == 0 and "remember" not in flags:
        score -= 0.5
    if turn.asked and not flags & {"remember", "correct", "should"} and asks(sentence.text):
        score -= PROBLEM
    if turn.wording or WITHDRAWN.search(sentence.text[:80]):
        score -= 3.0
    if long and "remember" not in flags:
        score -= 1.6
    if points_back(unled(sentence.text)):
        score -= 0.7
    return score


def _context(told: Episodes, turn: Turn) -> tuple[Sentence, ...]:
    """What the assistant said last before a prompt: what an `it` in the prompt means."""
    before = told.turns[turn.number - 1] if turn.number else None
    if before is None or before.final is None:
        return ()
    said = [
        one
        for one in told.heard.get(before.final, ())
        if names(one.text) and "question" not in assistant_flags(one.text)
    ]
    return tuple(said[:1])


def _tells(sentence: Sentence, flags: frozenset[str]) -> bool:
    """Whether a sentence beside a correction states a fact that names its thing: the reason, without a `because`."""
    return {"system", "code"} <= flags and not flags & {"correct", "question"} and not points_back(sentence.text)


def _finding(sentence: Sentence, score: float, flags: frozenset[str], spoken: tuple[Sentence, ...]) -> Finding:
    bare = points_back(unled(sentence.text))
    support = [
        other
        for other in spoken
        if other is not sentence
        and (other.event == sentence.event or bare)
        and shareable(other.text)
        and not user_flags(other.text) & {"question", "personal", "inject", "short"}
        and ("process" not in user_flags(other.text) or user_flags(other.text) & {"because", "rule"})
        and (
            other.event != sentence.event
            or abs(other.block - sentence.block) <= 1
            or names(other.text) & names(sentence.text)
        )
    ][:3]
    signal = "remember" if "remember" in flags else "correction" if "correct" in flags else "rule"
    unsure = "hedge" in flags
    proposed = "propose" in flags and not unsure
    return Finding(
        seed=sentence,
        score=score + 0.8,
        role="ruled",
        signal=signal,
        type="decision" if proposed else "domain-rule",
        status="hypothesis" if unsure else "decision" if proposed else "confirmed",
        confidence="low" if unsure else "high",
        support=tuple(support),
        title=_main(sentence.text),
    )


_DEPENDS = re.compile(
    r"(?:and |but |,\s*)?(?:then|dann|entonces|alors|because|since|as|so|so that|which|while|whereas|although|"
    r"though|unless|if|when|otherwise|"
    r"weil|denn|da|damit|sonst|obwohl|während|porque|ya que|puesto que|aunque|para que|parce que|car|puisque|"
    r"sinon)\b",
    re.IGNORECASE,
)
"""How a clause begins that says nothing without the one before it."""


def _main(text: str) -> str:
    """A run-on sentence from the clause on that states something, where it begins with something else."""
    parts = clauses(text)
    weighed = [_clause_weight(part) for part in parts]
    best = max(range(len(parts)), key=lambda place: (weighed[place], -place))
    if best == 0 or weighed[best] < weighed[0] + CLEARLY:
        return ""
    return text[text.find(parts[best][:20]) :]


def _clause_weight(part: str) -> float:
    flags = user_flags(part)
    weight = fsum(CLAUSE.get(flag, 0.0) for flag in flags)
    weight -= 2.0 if _ASKED_FOR.search(part) else 0.0
    weight -= 4.0 if _DEPENDS.match(part) else 0.0
    return weight - (0.8 if points_back(part) else 0.0)
