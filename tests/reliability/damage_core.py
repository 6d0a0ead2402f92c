"""What a case of the damage zoo is, and the table that the cases are in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .machine import World


@dataclass(frozen=True, slots=True)
class Case:
    """One damage. `says` is what the doctor calls it ("" where it is none). `ends`:

    `healed` - commands go on, and the first of them mends it; `fixed` - `brain doctor --fix` mends it;
    `named` - everything goes on, and a person decides; `refused` - commands stop with a sentence and a next step.
    """

    name: str
    does: Callable[[World], object]
    says: str
    ends: str
    readable: bool = True
    """Whether notes can be searched and read meanwhile."""
    writable: bool = True
    """Whether a note can be recorded meanwhile."""
    silent: bool = False
    """Whether a session is told nothing: there are no notes within reach."""
    unread: str = ""
    """Whose note cannot be read as it lies there."""


CASES: list[Case] = []


def case(says: str, ends: str, **options: object) -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    """Put a function that damages a world into the table."""

    def add(does: Callable[[World], object]) -> Callable[[World], object]:
        name = does.__name__.replace("_", " ").strip()
        CASES.append(Case(name, does, says, ends, **options))  # type: ignore[arg-type]
        return does

    return add


@contextlib.contextmanager
def applied(case_: Case, world: World) -> Iterator[str]:
    """Inside, the world has the damage; yields why it cannot be made on this machine, or nothing."""
    made = case_.does(world)
    if isinstance(made, str):
        yield made
    elif callable(made):
        try:
            yield ""
        finally:
            made()
    else:
        yield ""
