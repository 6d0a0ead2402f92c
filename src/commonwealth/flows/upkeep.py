"""Status: what is unsynced, staged, held back, disputed or unreadable."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from commonwealth.flows import heartbeat, identity, indexing, recall, syncing, synclog
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.heartbeat import Pulse
from commonwealth.flows.synclog import Round, Written
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
    daemon: Pulse
    stopped: str | None = None
    """Why no sync goes on by itself until a person acts: the last one was refused."""
    rescued: tuple[str, ...] = ()
    """Refs that keep what was ours when the remote was found rewritten."""
    last: Round | None = None
    log: tuple[Round, ...] | None = None
    receipts: tuple[Written, ...] = ()


def status(brain: Brain, *, log: int | None = None) -> Status:
    """What is unsynced, staged, held back, disputed or unreadable, and the `log` last syncs and writes."""
    git = Git(brain.root)
    last = next(iter(synclog.rounds(brain.root, 1)), None)
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
        daemon=heartbeat.pulse(brain.root),
        stopped=last.reason if last and last.state == "refused" else None,
        rescued=tuple(git.text("for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue").split()),
        last=last,
        log=synclog.rounds(brain.root, log) if log else None,
        receipts=synclog.receipts(brain.root, log) if log else (),
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


SETTLE = "`brain conflicts list` shows the versions, `brain conflicts resolve` ends it."
"""What a person does about a conflict."""
