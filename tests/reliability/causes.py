"""Who knew of what when they worked: so that a fact taken out by somebody who had seen all of it must stay out.

An edit is known to whoever made it, and travels with a sync that was published. What is not certain counts as not
known, so that the check never asks for more than was promised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Edit:
    """One change of one file: the facts in it before and after, those taken out, and what its author knew of."""

    author: str
    touched: frozenset[str]
    removed: frozenset[str]
    known: frozenset[int]
    certain: bool


@dataclass
class Causes:
    """All edits so far, and which of them each person has."""

    edits: list[Edit] = field(default_factory=list)
    known: dict[str, set[int]] = field(default_factory=dict)
    published: set[int] = field(default_factory=set)

    def edited(self, author: str, before: set[str], after: set[str], *, certain: bool = True) -> None:
        """`author` changed a file from one set of facts to another."""
        mine = self.known.setdefault(author, set())
        edit = Edit(author, frozenset(before | after), frozenset(before - after), frozenset(mine), certain)
        mine.add(len(self.edits))
        self.edits.append(edit)

    def met(self, author: str) -> None:
        """`author` has all that the remote has, and the remote all that they have."""
        mine = self.known.setdefault(author, set())
        self.published |= mine
        mine |= self.published

    def muddled(self, author: str) -> None:
        """`author` let git rewrite or unite their commits: what is not published of theirs may be anywhere."""
        for number in self.known.setdefault(author, set()) - self.published:
            self.edits[number].certain = False

    def doubted(self, facts: Iterable[str]) -> None:
        """Files with these facts are not what the edits say."""
        found = frozenset(facts)
        for edit in self.edits:
            if edit.touched & found:
                edit.certain = False

    def returned(self, present: set[str], gone: set[str]) -> list[str]:
        """The facts that are back though somebody took them out, nobody put them back, and nobody else was at it."""
        return [
            f"RETURNED {fact}: edit {number} of {edit.author} took it out"
            for number, edit in enumerate(self.edits)
            for fact in sorted(edit.removed & present & gone)
            if edit.certain and not any(self._beside(number, other) for other in range(len(self.edits)))
        ]

    def _beside(self, number: int, other: int) -> bool:
        """Whether another edit of the same note was made without knowing of this one, nor this one of it."""
        one, two = self.edits[number], self.edits[other]
        if number == other or not one.touched & two.touched:
            return False
        return (other not in one.known and number not in two.known) or not two.certain
