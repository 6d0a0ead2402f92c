"""What a plan says that a person handed in to be carried out: the facts it starts from and what it requires.

Only its reasons are looked at, by their headings: what is to be done in which file will stand in the code.
"""

from __future__ import annotations

from math import fsum

from commonwealth.capture.claims import WEIGHTS
from commonwealth.capture.episodes import Episodes, Turn
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import Sentence
from commonwealth.capture.signals import assistant_flags
from commonwealth.capture.subjects import names, nearness
from commonwealth.capture.wording import shareable

LEAST = 600
"""Characters of a prompt from which on it may be a plan."""
HEADINGS = 3
GROUNDS = (
    "context",
    "problem",
    "background",
    "why",
    "motivation",
    "root cause",
    "finding",
    "reference",
    "analysis",
    "constraint",
)
RULES = ("requirement", "decision", "principle", "rule", "invariant")
FLOOR = 1.6
FIRST = 0.6
"""What the first sentence of a section weighs more: it says what the rest goes into."""
TELLING = frozenset({"cause", "law", "mechanism", "found", "contrast"})


def handed_in(told: Episodes) -> list[Finding]:
    """At most one finding of what a plan starts from and one of what it requires, in order of the plans."""
    results: list[Finding] = []
    for turn in told.turns:
        said = told.spoken.get(turn.start, ())
        if turn.prompt is None or not turn.edited or len(turn.prompt.text) < LEAST or not _planned(turn):
            continue
        for kind, status, headings in (("gotcha", "observed", GROUNDS), ("decision", "decision", RULES)):
            below = [one for one in said if any(word in one.heading for word in headings) and shareable(one.text)]
            finding = _best(below, kind, status)
            if finding is not None:
                results.append(finding)
    return results


def _planned(turn: Turn) -> bool:
    text = turn.prompt.text[:20_000] if turn.prompt is not None else ""
    rows = [row.strip() for row in text.split("\n")]
    return sum(row.startswith("#") and row.lstrip("#")[:1] == " " for row in rows) >= HEADINGS


def _best(below: list[Sentence], kind: str, status: str) -> Finding | None:
    scored = [(one, _score(one) + (FIRST if place == 0 else 0.0)) for place, one in enumerate(below[:40])]
    fit = [(one, score) for one, score in scored if status == "decision" or (score >= FLOOR and names(one.text))]
    if not fit:
        return None
    seed, score = max(fit, key=lambda entry: entry[1])
    near = [one for one in below if one is not seed and (status == "decision" or nearness(one.text, seed.text) > 0)]
    near.sort(key=lambda one: abs(one.block - seed.block))
    return Finding(seed, min(3.2, 2.4 + score / 4), "handed in", "plan", kind, status, "high", tuple(near[:4]))


def _score(sentence: Sentence) -> float:
    flags = assistant_flags(sentence.text)
    score = fsum(WEIGHTS.get(flag, 0.0) for flag in flags)
    return score + (0.4 if flags & TELLING else -1.0) - (0.5 if "bare" in flags else 0.0)
