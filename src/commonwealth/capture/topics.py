"""What each turn is about, and which problems a person said were not solved by what was done about them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.capture.episodes import Episodes, Turn
from commonwealth.capture.signals import user_flags
from commonwealth.capture.subjects import terms

_UNSOLVED = re.compile(
    r"\b(?:still (?:not|no|isn't|doesn't|don't|fail\w*|broken|happen\w*|see\w*|get\w*|the same|wrong|there|\w{3,}s)|"
    r"(?:isn't|is not|aren't|not|doesn't|does not|don't|didn't|did not|won't) (?:\w+ ){0,4}?(?:work\w*|help\w*|fix\w*)|"
    r"not working|same (?:error|issue|problem|thing|result)|no (?:change|luck|difference)|made it worse|"
    r"immer noch|geht nicht|funktioniert nicht|sigue sin|no funciona|toujours pas)\b|^\W*(?:nope|no+)\W*$|"
    r"\b(?:happen\w*|fail\w*|broken?|not working|n't work\w*|wrong|back) again\b",
    re.IGNORECASE,
)
_EMPTY = frozenset(("again", "still", "isn", "don", "doesn", "hmm", "hmmm", "work", "lets", "pleas", "happen", "noth"))
HEAD = 200
"""Characters of a prompt that say whether something still fails."""
OWN = 2
"""Terms from which on a prompt has a topic of its own."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """A prompt that says a problem is still there, and the numbers of the earlier turns that were about it."""

    turn: Turn
    earlier: tuple[int, ...]


def topics(told: Episodes) -> list[frozenset[str]]:
    """The terms that each turn is about; a prompt that names nothing goes on with the topic before it."""
    found: list[frozenset[str]] = []
    for turn in told.turns:
        own = terms(turn.prompt.text[:600]) - _EMPTY if turn.prompt is not None else frozenset()
        known = len(own) >= OWN or any(own & other for other in found[-FAR:])
        found.append(own if known or not found else found[-1])
    return found


def reopened(told: Episodes) -> list[Reopened]:
    """The prompts that say a problem is still there, in order."""
    about = topics(told)
    results: list[Reopened] = []
    clusters: list[set[int]] = []
    for turn in told.turns[1:]:
        said = turn.prompt.text[:HEAD] if turn.prompt is not None else ""
        if not _UNSOLVED.search(said) or "affirm" in user_flags(said.split("\n", 1)[0]):
            continue
        subject = about[turn.number]
        earlier = {one for one in range(max(0, turn.number - FAR), turn.number) if _alike(about[one], subject)}
        for cluster in clusters[-CLUSTERS:]:
            if not earlier.isdisjoint(cluster):
                earlier |= cluster
        earlier = {one for one in earlier if one >= turn.number - FAR}
        if earlier:
            results.append(Reopened(turn, tuple(sorted(earlier))))
            clusters.append(earlier | {turn.number})
    return results


CLUSTERS = 8
"""Earlier reports of a problem that another one is held against, to know by them what else was done about it."""
FAR = 40
"""Turns back in which a problem that is still there may have been worked at."""


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    both = len(one & other)
    return both >= OWN or (both == 1 and min(len(one), len(other)) <= OWN)
