"""Status: what is unsynced, staged, held back, disputed or unreadable."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from commonwealth.flows import identity, indexing, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.index import disputes, lookup
from commonwealth.notes import store
from commonwealth.repo.git import Git
from commonwealth.repo.pending import pending
from commonwealth.repo.sync import Debt, read_debt


@dataclass(frozen=True, slots=True)
class Status:
    """What waits, where: everything that is not simply published canon."""

    name: str
    root: str
    rule: str | None
    repository: str | None
    person: str
    counts: dict[str, int]
    remote: bool
    unpublished: int
    debt: Debt | None
    edited: tuple[str, ...]
    held: tuple[str, ...]
    strays: tuple[str, ...]
    staged: tuple[str, ...]
    problems: tuple[str, ...]
    conflicts: tuple[str, ...]


def status(brain: Brain) -> Status:
    """What is unsynced, staged, held back, disputed or unreadable."""
    git = Git(brain.root)
    open_work = pending(git, content_of(brain))
    counts, conflicts = indexing.ask(brain, summary, sweep=True)
    return Status(
        name=brain.name,
        root=str(brain.root),
        rule=brain.rule.match if brain.rule else None,
        repository=brain.repository,
        person=identity.whoami(brain).name,
        counts=counts,
        remote=syncing.has_remote(brain),
        unpublished=syncing.unpublished(brain),
        debt=read_debt(git),
        edited=tuple(edit.path for edit in open_work.edits),
        held=tuple(f"{path}: {cause}" for path, cause in open_work.held),
        strays=open_work.strays,
        staged=tuple(sorted(file.note.id for file in store.staged(brain.root)[0])),
        problems=tuple(str(problem) for problem in recall.problems(brain) if problem.fatal),
        conflicts=conflicts,
    )


def summary(conn: sqlite3.Connection) -> tuple[dict[str, int], tuple[str, ...]]:
    """The number of notes of each kind, and the ids in dispute."""
    counts: dict[str, int] = {}
    for (kind, _), number in lookup.counts(conn).items():
        counts[kind] = counts.get(kind, 0) + number
    return counts, tuple(dispute.about for dispute in disputes.disputes(conn))


SETTLE = "Edit the one to keep, delete the other's file, then `brain sync`."
"""What a person does about a conflict."""
