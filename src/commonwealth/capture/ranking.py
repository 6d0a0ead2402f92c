"""Which findings of a session become drafts: one for each subject, few, and none below the floor."""

from __future__ import annotations

import math
from dataclasses import replace

from commonwealth.capture.episodes import Episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.subjects import nearness, shared, terms, within

SAME = 0.45
CLOSE = 0.15
"""Nearness of seeds at which two findings, of two turns and of one, speak of one subject."""
REPEATED = 0.7
"""How much of a statement another finding has to hold to make it superfluous."""
MOST = 6
FLOORS = (0.0, 0.0, 2.6, 2.7, 3.0, 3.2)
"""Score that a session's first, second … draft needs beyond the floors of the rules: the more there are already, the
less likely another one is worth a reviewer's time."""
LOOKED_AT = 60
"""Findings that are compared; a session's budget is far below."""
LINES = 40
"""Lines of a transcript that one draft may rest on."""


def chosen(told: Episodes, findings: list[Finding]) -> list[Finding]:
    """The findings worth a draft, strongest first, at most the session's budget."""
    kept: list[Finding] = []
    ranked = sorted(findings, key=lambda one: (-one.score, one.seed.line, one.seed.block, one.role))
    for finding in ranked[:LOOKED_AT]:
        twin = next((place for place, other in enumerate(kept) if _same(told, finding, other)), None)
        if twin is None:
            kept.append(finding)
        else:
            kept[twin] = _merged(kept[twin], finding)
    few = kept[: budget(told)]
    return [finding for place, finding in enumerate(few) if finding.score >= FLOORS[place]]


def budget(told: Episodes) -> int:
    """How many drafts a session may have: grows slowly with what was said in it."""
    messages = sum(len(turn.messages) for turn in told.turns)
    prompts = sum(turn.prompt is not None for turn in told.turns)
    length = math.log2(1 + messages)
    return max(1, min(MOST, round(length), max(1 + prompts, round(length / 2))))


def _same(told: Episodes, one: Finding, other: Finding) -> bool:
    """Whether the weaker finding `one` says what `other` says already, or only what led to it."""
    if one.seed in other.support or other.seed in one.support:
        return True
    if within(one.seed.text, _text(other)) >= REPEATED and len(terms(one.seed.text)) >= 4:
        return True
    if other.role == "decided" and one.role == "cause" and _of_one_turn(told, one, other):
        return one.seed.event <= other.seed.event
    if one.role != other.role and "ruled" in (one.role, other.role):
        return _ruled_before(told, one, other)
    near = nearness(one.seed.text, other.seed.text)
    if one.role != other.role:
        return near >= 0.8
    named = bool(shared(one.seed.text, other.seed.text))
    return (near >= (CLOSE if _of_one_turn(told, one, other) else SAME) and named) or near >= 0.7


def _ruled_before(told: Episodes, one: Finding, other: Finding) -> bool:
    """Whether a person's word and a finding of the assistant's, of which one is the other's answer, say one thing."""
    ruled, said = (one, other) if one.role == "ruled" else (other, one)
    follows = told.turn_of(ruled.seed.event).number == told.turn_of(said.seed.event).number + 1
    both = terms(ruled.seed.text) & terms(_text(said))
    if follows and len(both) >= 2 and within(ruled.seed.text, _text(said)) >= 0.3:
        return True
    named = bool(shared(one.seed.text, other.seed.text))
    near = nearness(one.seed.text, other.seed.text)
    return near >= 0.35 or (named and within(said.seed.text, _text(ruled)) >= 0.6)


def _of_one_turn(told: Episodes, one: Finding, other: Finding) -> bool:
    return told.turn_of(one.seed.event) is told.turn_of(other.seed.event)


def _merged(kept: Finding, twin: Finding) -> Finding:
    """The stronger of two findings of one subject, with what the other adds."""
    near = [one for one in (twin.seed, *twin.support) if abs(one.line - kept.seed.line) < LINES and one != kept.seed]
    return replace(kept, support=(*kept.support, *(one for one in near if one not in kept.support))[:7])


def _text(finding: Finding) -> str:
    return " ".join((finding.title, finding.seed.text, *(one.text for one in finding.support)))
