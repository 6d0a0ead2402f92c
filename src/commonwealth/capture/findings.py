"""From the assistant's claims to findings: the strongest sentence of each subject with what else was said of it."""

from __future__ import annotations

import re

from commonwealth.capture.claims import Claim
from commonwealth.capture.episodes import Episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import Sentence
from commonwealth.capture.signals import assistant_flags, user_flags
from commonwealth.capture.subjects import names, nearness, shared, terms
from commonwealth.capture.wording import SUMMARY, shareable
from commonwealth.conversation import Used

_FIGURE = re.compile(r"\d[\d.,]*")
FLOOR = 2.5
"""Score below which a sentence opens no draft: a cause or a law with a name in it, in a conclusion, is just above."""
ROUGH_FLOOR = 2.2
"""The same in a turn in which something went wrong or was asked about: there more is worth keeping."""
SUPPORT = 0.9
BESIDE = 0.4
"""Score that a supporting sentence needs, and one of the seed's own paragraph."""
NEAR = 0.22
FAR = 0.5
"""Nearness at which two sentences of one turn, and of two turns, speak of one thing."""
LINES = 40
"""Lines of a transcript within which one draft's sentences lie, but for its turn's conclusion."""
MOST = 12
"""Findings made; a session has few facts."""
UNFIT = frozenset({"question", "offer", "narration", "status", "tests", "noise", "hedge", "ruled out"})
"""What no seed may do."""
TELLING = frozenset({"cause", "law", "found", "choice", "chosen", "contrast", "mechanism", "remedy", "shown"})
"""What makes a sentence tell more than that something is there."""
MUTE = frozenset({"question", "narration", "noise", "tests", "offer"})
"""What adds nothing to another sentence."""


def found(told: Episodes, standing: list[Claim]) -> list[Finding]:
    """Findings, strongest first."""
    usable = [claim for claim in standing if shareable(claim.sentence.text) and "question" not in claim.flags]
    order = sorted(usable, key=lambda claim: (-seed_score(claim), claim.sentence.event, claim.sentence.block))
    used: set[Sentence] = set()
    results: list[Finding] = []
    for claim in order:
        if len(results) >= MOST or seed_score(claim) < ROUGH_FLOOR:
            break
        if claim.sentence in used or (seed_score(claim) < FLOOR and not claim.turn.rough):
            continue
        role = role_of(claim)
        support = _support(claim, usable, role, used)
        used.add(claim.sentence)
        used.update(support)
        used.update(other.sentence for other in usable if role_of(other) == role and _akin(claim, other))
        results.append(_finding(told, claim, role, (*_borne_out(told, claim, role, support), *support)))
    return results


def seed_score(claim: Claim) -> float:
    """The score of a claim as the opening of a draft: what cannot stand alone or names nothing opens none."""
    score = claim.score
    if claim.flags & UNFIT:
        score -= 1.5
    if not claim.stands:
        score -= 1.2
    if not names(claim.sentence.text) and "shown" not in claim.flags:
        score -= 0.5
    if "remedy" in claim.flags and not claim.flags & {"cause", "choice", "chosen", "measured", "contrast", "law"}:
        score -= 0.6
    if not claim.flags & TELLING and not ("measured" in claim.flags and names(claim.sentence.text)):
        score -= 0.7
    if "work" in claim.flags and not claim.flags & {"cause", "choice", "measured"}:
        score -= 1.0
    if claim.turn.prompt is not None:
        score += 0.4 * min(1.0, len(terms(claim.turn.prompt.text[:600]) & terms(claim.sentence.text)) / 3)
    return score


def role_of(claim: Claim) -> str:
    """Whether a claim says how something is, or what was done about it."""
    return "remedy" if claim.flags & {"remedy", "work"} and "found" not in claim.flags else "cause"


def _akin(claim: Claim, other: Claim) -> bool:
    """Whether two claims speak of one thing, so that one draft is enough for them."""
    one, two = claim.sentence, other.sentence
    near = nearness(one.text, two.text)
    if claim.turn is not other.turn:
        return near >= FAR and _shared(claim, other)
    if claim.turn.asked and (_on_the_way(claim, other) or _figures_only(other)):
        return True
    section = one.event == two.event and one.heading == two.heading and abs(one.block - two.block) <= 3
    if section and claim.turn.asked and claim.final:
        return bool(shared(one.text, two.text) or other.flags & {"cause", "law", "number", "mechanism"})
    return near >= (0.08 if section else NEAR) and (_shared(claim, other) or section)


def _on_the_way(claim: Claim, other: Claim) -> bool:
    """Whether `other` is a thought on the way to the conclusion `claim`, about a thing that this names too."""
    return claim.final and not other.final and bool(shared(claim.sentence.text, other.sentence.text))


def _figures_only(claim: Claim) -> bool:
    """Whether a claim only gives figures, without a name or a reason: it bears out what its turn concluded."""
    return "shown" in claim.flags and not claim.flags & (TELLING - {"shown"}) and not names(claim.sentence.text)


def _support(claim: Claim, usable: list[Claim], role: str, used: set[Sentence]) -> tuple[Sentence, ...]:
    """What else was said of a claim's subject, best first, as much as a summary holds."""
    ranked: list[tuple[float, int, Claim]] = []
    for place, other in enumerate(usable):
        one, two = claim.sentence, other.sentence
        same = one.event == two.event
        least = BESIDE if same and one.block == two.block else SUPPORT
        if other is claim or two in used or other.score < least or other.flags & MUTE:
            continue
        beside = same and abs(one.block - two.block) <= 1 and not (one.item and "work" in other.flags)
        effect = same and role == "remedy" and {"measured", "number"} <= other.flags
        if not beside and not effect and not _akin(claim, other):
            continue
        joined = same and one.block == two.block
        if not joined and role_of(other) != role and (seed_score(other) >= FLOOR or role == "cause"):
            continue
        if not other.stands and not same and not (other.final and other.turn is claim.turn):
            continue
        if abs(one.line - two.line) >= LINES and not (other.final and other.turn is claim.turn):
            continue
        value = (
            other.score * 0.5
            + nearness(one.text, two.text) * 1.5
            + (0.6 if beside or effect else 0.0)
            + (0.3 if same else 0.0)
        )
        if one.event == two.event and one.block == two.block and not other.stands:
            value += 1.0
        ranked.append((-value, place, other))
    ranked.sort(key=lambda entry: entry[:2])
    chosen: list[Sentence] = []
    room = SUMMARY - len(claim.sentence.text)
    for _, _, other in ranked:
        text = other.sentence.text
        if len(text) < room and all(nearness(text, one.text) < 0.8 for one in (claim.sentence, *chosen)):
            chosen.append(other.sentence)
            room -= len(text) + 1
    return tuple(chosen[:5])


def _borne_out(told: Episodes, claim: Claim, role: str, support: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """What the person reported of an experiment of theirs in the prompt that a cause was looked for in."""
    prompt = claim.turn.prompt
    if role != "cause" or prompt is None or len(prompt.text) > 1200:
        return ()
    about = terms(prompt.text).intersection(*[terms(" ".join(one.text for one in (claim.sentence, *support)))])
    said = told.spoken.get(claim.turn.start, ())
    fits = [
        one
        for one in said
        if {"affirm", "code"} <= user_flags(one.text) and not user_flags(one.text) & {"question", "hedge"}
    ]
    return tuple(one for one in fits[:1] if about and shareable(one.text))


def _shared(one: Claim, other: Claim) -> bool:
    return bool(shared(one.sentence.text, other.sentence.text))


def _finding(told: Episodes, claim: Claim, role: str, support: tuple[Sentence, ...]) -> Finding:
    status, confidence = _status(told, claim)
    if status == "observed" and any(_measured(told, one) and one.event == claim.sentence.event for one in support):
        status, confidence = "confirmed", "high"
    if any(told.event(one.event).at == one.at and one.event == claim.turn.start for one in support):
        status, confidence = "confirmed", "high"
    kind = "gotcha" if claim.flags & {"cause", "law", "found"} else "discovery"
    if (
        ((role == "remedy" and "choice" in claim.flags) or "chosen" in claim.flags)
        and claim.turn.edited
        and claim.turn.reaction != "denied"
        and status != "hypothesis"
    ):
        kind, status = "decision", "decision"
    elif claim.turn.asked and not claim.turn.edited and claim.final:
        kind = "investigation"
    return Finding(
        seed=claim.sentence,
        score=seed_score(claim),
        role=role,
        signal="remedy" if role == "remedy" else "cause" if "cause" in claim.flags else "finding",
        type=kind,
        status=status,
        confidence=confidence,
        support=support,
    )


def _status(told: Episodes, claim: Claim) -> tuple[str, str]:
    """Confirmed only where a person or an experiment of the session said so; a guess is a hypothesis."""
    turn = claim.turn
    if "hedge" in claim.flags:
        return "hypothesis", "low"
    if _measured(told, claim.sentence):
        return "confirmed", "high"
    if turn.reaction == "affirmed" and claim.final:
        return "confirmed", "high"
    asked = turn.prompt.text[:600] if turn.prompt is not None else ""
    if "affirm" in user_flags(asked[:300]) and names(asked) & names(claim.sentence.text):
        return "confirmed", "high"
    if turn.proved and "cause" in claim.flags:
        return "confirmed", "high"
    return "observed", "medium"


def _measured(told: Episodes, sentence: Sentence) -> bool:
    """Whether a sentence reports figures of which one stands in what a tool of its turn gave out."""
    if not {"measured", "number"} <= assistant_flags(sentence.text):
        return False
    figures = [figure.strip(".,") for figure in _FIGURE.findall(sentence.text)]
    turn = told.turn_of(sentence.event)
    results = [event.result for event in told.conversation.events[turn.start : turn.end] if isinstance(event, Used)]
    return any(len(figure) > 1 and figure in result for figure in figures for result in results)
