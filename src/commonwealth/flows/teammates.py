"""Work records that wait on colleagues' branches for requests: they can be read before they are merged.

A worker learns the branches and keeps what it read in one small file of this clone, so that a search or a hook reads
that and asks neither git nor the network. Nothing of it becomes a file of the brain or a row of its index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from commonwealth.errors import BrainError
from commonwealth.flows.brains import Brain
from commonwealth.index import packing
from commonwealth.index.schema import Unusable
from commonwealth.model import Note
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER

UNMERGED = "not merged yet"
"""How such a record is labelled."""

_FILE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A work record on a colleague's branch. It has no body here; `path` is where it will lie once it is merged."""

    note: Note
    path: str
    branch: str


def records(brain: Brain) -> tuple[Unmerged, ...]:
    """The work records on colleagues' branches as the last look found them; none where there was no look."""
    return tuple(_unpacked(kept(brain).get("records")))


def is_news(unmerged: Note, merged: Note | None) -> bool:
    """Whether a record of a branch says more than the one of the same id that the main branch has."""
    return merged is None or _age(unmerged) > _age(merged)


def _age(note: Note) -> tuple[str, str]:
    lease = getattr(note, "lease_until", None) or note.extra.get("lease_until")
    return note.updated_at or note.created_at or "", lease if isinstance(lease, str) else ""


def _unpacked(rows: object) -> Iterable[Unmerged]:
    for row in rows if isinstance(rows, list) else ():
        with suppress(Unusable, TypeError, ValueError, AttributeError):  # of another version: the next look reads it
            branch, path, rest, check = row
            note = packing.proven(rest, "", check)
            if isinstance(branch, str) and isinstance(path, str):
                yield Unmerged(note, path, branch)


def place(brain: Brain) -> str:
    """The file of this clone in which it is kept. Raises Damaged where there is no git folder."""
    return os.path.join(git_dir(str(brain.root)), FOLDER, "teammates.json")


def kept(brain: Brain) -> Mapping[str, object]:
    """What the last look kept; nothing where there was none, or where it cannot be read."""
    try:
        found = json.loads(read_text(place(brain), _FILE_LIMIT) or "{}")
    except (BrainError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
