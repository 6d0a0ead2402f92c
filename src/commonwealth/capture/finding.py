"""What the rules hand on before it is worded: the best sentence of a subject, and what else was said of it."""

from __future__ import annotations

from dataclasses import dataclass

from commonwealth.capture.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """A draft in the making. `seed` is the sentence that states it; `support` says why, how much, and what follows.

    `role` keeps a cause apart from its remedy and both from what a person ruled. `title` overrides the seed's wording;
    `context` is what it was asked about, in the person's words, and `asked` the line of that.
    """

    seed: Sentence
    score: float
    role: str
    signal: str
    type: str = "discovery"
    status: str = "observed"
    confidence: str = "medium"
    support: tuple[Sentence, ...] = ()
    title: str = ""
    lines: tuple[int, ...] = ()
    context: str = ""
    asked: int = 0
