"""Whether a text only repeats what the repository states itself: its README, AGENTS.md, CLAUDE.md and the like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from commonwealth.curate.opposites import additions
from commonwealth.curate.texts import STOP, fold, sentences, words

_WIDTH = 3
_REPEATED = 0.6


def restated(claim: str, static: Sequence[str]) -> bool:
    """Whether one of the texts says all of `claim`: most of its runs of three words stand there, and no number or name
    of it is missing there. Works in any script."""
    mine = _runs(claim)
    if len(mine) < 2:
        return False
    return any(_holds(claim, mine, text) for text in static)


def _holds(claim: str, mine: frozenset[tuple[str, ...]], text: str) -> bool:
    if len(mine & _runs_of_document(text)) < _REPEATED * len(mine):
        return False
    whole = fold(text)
    return not any(fold(added).split()[0] not in whole for added in additions(claim, text[:4000]))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three telling words within each sentence; of a shorter sentence the whole."""
    found: set[tuple[str, ...]] = set()
    for sentence in sentences(text):
        stems = [word.stem for word in words(sentence) if word.stem not in STOP]
        if stems:
            found.update(tuple(stems[at : at + _WIDTH]) for at in range(max(1, len(stems) - _WIDTH + 1)))
    return frozenset(found)


@lru_cache(maxsize=32)
def _runs_of_document(text: str) -> frozenset[tuple[str, ...]]:
    """As `_runs`, over lines joined to paragraphs: documents are wrapped anywhere."""
    return _runs("\n".join(" ".join(part.split()) for part in text.split("\n\n"))) | _runs(text)
