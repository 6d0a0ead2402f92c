"""Which findings of a session become drafts: one for each subject, few, and none below the floor."""

from __future__ import annotations

import math
from dataclasses import replace

from commonwealth.capture.episodes import Episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.subjects import nearness, shared, within

SAME = 0.45
CLOSE = 0.15
"""Nearness of seeds at which two findings, of two turns and of one, speak of one subject."""
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
    near = nearness(one.seed.text, other.seed.text)
    named = bool(shared(one.seed.text, other.seed.text))
    if one.role == other.role:
        together = told.turn_of(one.seed.event) is told.turn_of(other.seed.event)
        return (near >= (CLOSE if together else SAME) and named) or near >= 0.7
    if "ruled" in (one.role, other.role):
        ruled, said = (one, other) if one.role == "ruled" else (other, one)
        return near >= 0.35 or (named and within(said.seed.text, _text(ruled)) >= 0.6)
    return near >= 0.8


def _merged(kept: Finding, twin: Finding) -> Finding:
    """The stronger of two findings of one subject, with what the other adds."""
    near = [one for one in (twin.seed, *twin.support) if abs(one.line - kept.seed.line) < LINES and one != kept.seed]
    return replace(kept, support=(*kept.support, *(one for one in near if one not in kept.support))[:7])


def _text(finding: Finding) -> str:
    return " ".join((finding.title, finding.seed.text, *(one.text for one in finding.support)))
