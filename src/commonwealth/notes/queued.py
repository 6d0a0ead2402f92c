"""How many candidates wait, told from the names of their files: a session that starts reads none of them."""

from __future__ import annotations

import os
from contextlib import suppress

from commonwealth.notes.naming import is_note_name
from commonwealth.notes.obstacle import in_the_way

MOST = 1000
"""Where more wait than that, so many is the answer."""


def count(root: str | os.PathLike[str]) -> int:
    """The number of files in the brain's staging folder that have a note's name, at most `MOST`."""
    number = 0
    with suppress(OSError):
        if in_the_way(root, "staging") is None:
            with os.scandir(os.path.join(root, "staging")) as entries:
                for entry in entries:
                    number += is_note_name(entry.name, top=True)
                    if number == MOST:
                        break
    return number
