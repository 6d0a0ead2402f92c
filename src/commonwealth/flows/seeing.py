"""What the chooser asks of a session beside the index: its hidden scopes, its person, and how a note is labelled. Each
is loaded only where a note makes it matter."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from commonwealth import userconfig
from commonwealth.flows.brains import Brain
from commonwealth.index import scope as scopes
from commonwealth.model import Hit, Note, same_repository


class Seen(NamedTuple):
    """Of the facts that hold on one branch only: the keys of those that are left out here, and all labels."""

    hidden: tuple[str, ...] = ()
    labels: Mapping[str, str] = MappingProxyType({})


def seen(brain: Brain, conn: sqlite3.Connection) -> Seen:
    """What this session sees of the facts that are limited to a branch."""
    if not scopes.scopes(conn):
        return Seen()
    from commonwealth.flows import scope  # noqa: PLC0415  # few brains have notes that are limited to a branch

    view = scope.view(brain, conn, seconds=scope.HOOK_SECONDS)
    return Seen(view.hidden, view.labels)


def is_here(note: Note, name: str | None) -> bool:
    """Whether a note is about the repository that `name` means, or about none: then nobody can say that it is of
    another one. What it says itself counts before where it was found."""
    own = note.repository or note.provenance.repository
    return own is None or (name is not None and same_repository(own, name))


def own_name() -> str | None:
    """The name of the person at this machine, in lower case, as far as it is known without asking git."""
    name = os.environ.get("COMMONWEALTH_AUTHOR") or userconfig.load().name
    return name.casefold() if name else None


def as_hits(conn: sqlite3.Connection, taken: Mapping[int, tuple[Note, str]], labels: Mapping[str, str]) -> list[Hit]:
    """Notes by row, with why each was taken, as hits: those that are limited to a branch and those that contradict
    another are labelled."""
    if not taken:
        return []
    from commonwealth.index.disputes import disputed  # noqa: PLC0415  # not where no note is told

    contested = disputed(conn, {row: note for row, (note, _) in taken.items()})
    hits = []
    for row, (note, why) in taken.items():
        label = labels.get(scopes.key_of(note) or "")
        hits.append(Hit(note, "", 0.0, (*filter(None, (label, why)), *(["disputed"] if row in contested else []))))
    return hits
