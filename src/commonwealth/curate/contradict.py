"""Which notes a text cannot stand beside: the same subject and scope, and another value or the opposite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commonwealth.curate.dedupe import CHANGED, NEAR, Likeness
from commonwealth.curate.opposites import Change
from commonwealth.model import Candidate, Note, same_repository

_SAME_SUBJECT = 0.65
_VALUES = ("number", "name", "word")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A note that says otherwise. `is_value` tells that only a value differs: then the text may replace the note."""

    id: str
    differences: tuple[Change, ...]

    @property
    def is_value(self) -> bool:
        """Whether another value stands there and nothing is denied: a number, a version, a name."""
        return all(change.kind in _VALUES for change in self.differences)

    def __str__(self) -> str:
        return f"{self.id} says otherwise ({'; '.join(map(str, self.differences[:3]))})"


def found(
    candidate: Candidate, notes: Iterable[tuple[Note, Likeness]], *, repository: str | None, branch: str | None
) -> tuple[Contradiction, ...]:
    """The contradictions of `candidate` with `notes`, each of which comes with how the candidate stands to it."""
    return tuple(
        Contradiction(note.id, like.differences)
        for note, like in notes
        if in_scope(candidate, note, repository=repository, branch=branch) and _says_otherwise(like)
    )


def in_scope(candidate: Candidate, note: Note, *, repository: str | None, branch: str | None) -> bool:
    """Whether both hold in one place: repository, branch and components agree, or one of the two names none."""
    if repository and note.repository and not same_repository(repository, note.repository):
        return False
    if branch and note.branch and branch != note.branch:
        return False
    mine, theirs = ({name.casefold() for name in names} for names in (candidate.components, note.components))
    return not (mine and theirs) or bool(mine & theirs)


def _says_otherwise(like: Likeness) -> bool:
    if like.kind == CHANGED:
        return True
    if like.kind != NEAR or not like.differences:
        return False
    return like.subject >= _SAME_SUBJECT and len(like.differences) == 1
