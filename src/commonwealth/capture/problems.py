"""What a finding was found for: the problem in the words of the person who had it, which names what `it` is."""

from __future__ import annotations

from dataclasses import replace

from commonwealth.capture.episodes import PASTED, Episodes, Turn, asks
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import within
from commonwealth.capture.signals import user_flags
from commonwealth.capture.subjects import terms
from commonwealth.capture.wording import shareable

PROBLEM = 220
"""Characters of a problem that a summary quotes."""
BACK = 3
"""Turns back in which the problem is looked for that a short follow-up goes on about."""


def with_problems(told: Episodes, findings: list[Finding]) -> list[Finding]:
    """The findings, the strongest of each turn with the problem that it settles."""
    given: set[int] = set()
    results: list[Finding] = []
    for finding in findings:
        turn = told.turn_of(finding.seed.event)
        if (finding.role in ("cause", "remedy") or finding.signal == "suspicion") and turn.number not in given:
            given.add(turn.number)
            text, line = problem(told, turn)
            finding = replace(finding, context=text, asked=line)  # noqa: PLW2901 -- the finding with its problem
        results.append(finding)
    return results


def problem(told: Episodes, turn: Turn) -> tuple[str, int]:
    """The problem that a turn is about in a sentence or two of the person's, and its line; empty where none was told.
    A prompt that explains or rules something tells no problem of its own but goes on with the one before it."""
    for earlier in reversed(told.turns[max(0, turn.number - BACK) : turn.number + 1]):
        text = _stated(told, earlier)
        if text and earlier.prompt is not None:
            return text, earlier.prompt.line
    return "", 0


def _stated(told: Episodes, turn: Turn) -> str:
    if turn.prompt is None or not turn.asked or len(turn.prompt.text) > PASTED or "```" in turn.prompt.text:
        return ""
    fits = [
        one.text
        for one in told.spoken.get(turn.start, ())[:6]
        if shareable(one.text)
        and not user_flags(one.text) & {"personal", "inject", "secret"}
        and len(terms(one.text)) > 1
    ]
    if turn.number and user_flags(fits[0] if fits else "") & {"accept", "affirm", "correct", "rule", "because"}:
        return ""
    first = next((place for place, text in enumerate(fits) if asks(text)), 0)
    told_of = within(" ".join(fits[first : first + 2]), PROBLEM)
    return told_of if len(terms(told_of)) > 2 else ""
