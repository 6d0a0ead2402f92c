"""Status: what is unsynced, staged, held back, disputed or unreadable."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace

from commonwealth.flows import heartbeat, identity, indexing, ownqueue, recall, requestlog, standing, syncing, synclog
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.heartbeat import Pulse
from commonwealth.flows.requestlog import Request
from commonwealth.flows.standing import Obstacle
from commonwealth.flows.synclog import Round, Written
from commonwealth.index import disputes, lookup
from commonwealth.repo import deletions
from commonwealth.repo.git import Git
from commonwealth.repo.pending import Pending, pending
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
    others: tuple[str, ...] = ()
    """Files in git that are no notes and differ from the last commit: a person's to commit."""
    obstacles: tuple[Obstacle, ...] = ()
    """What stands in the way of the next sync, seen now."""
    stopped: str | None = None
    """Why no sync goes on by itself until a person acts: the last one was refused."""
    rescued: tuple[str, ...] = ()
    """Refs that keep what was ours when the remote was found rewritten."""
    last: Round | None = None
    log: tuple[Round, ...] | None = None
    receipts: tuple[Written, ...] = ()
    requests: tuple[Request, ...] = ()
    """Requests for candidates that wait for the team, or were closed."""


def status(brain: Brain, *, log: int | None = None) -> Status:
    """What is unsynced, staged, held back, disputed or unreadable, and the `log` last syncs and writes."""
    git = Git(brain.root)
    last = next(iter(synclog.rounds(brain.root, 1)), None)
    open_work = pending(git, content_of(brain), without_index=not standing.has_index(git))
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
        debt=_debt(git),
        daemon=heartbeat.pulse(brain.root),
        obstacles=standing.obstacles(git),
        stopped=last.reason if last and last.state == "refused" else None,
        rescued=tuple(git.text("for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue").split()),
        last=last,
        log=synclog.rounds(brain.root, log) if log else None,
        receipts=synclog.receipts(brain.root, log) if log else (),
        edited=tuple(edit.path for edit in open_work.edits),
        held=(*_withheld(git, open_work), *(f"{path}: {cause}" for path, cause in open_work.held)),
        strays=open_work.strays,
        others=open_work.others,
        requests=tuple(one for one in requestlog.load(brain.root).requests.values() if one.commit is not None),
        staged=tuple(sorted(one.note.id for one in ownqueue.listed(brain.root)[0])),
        problems=tuple(str(problem) for problem in recall.problems(brain) if problem.fatal),
        conflicts=conflicts,
    )


def _debt(git: Git) -> Debt | None:
    """The debt, with its reason as the log of syncs keeps it."""
    debt = read_debt(git)
    return replace(debt, reason=synclog.safe(debt.reason) or "") if debt else None


def _withheld(git: Git, open_work: Pending) -> tuple[str, ...]:
    """Deletions in bulk, in one sentence for all of them."""
    lost = [edit.path for edit in open_work.deletions]
    return (deletions.told(git.root, lost),) if lost else ()


def summary(conn: sqlite3.Connection) -> tuple[dict[str, int], tuple[str, ...]]:
    """The number of notes of each kind, and the ids in dispute."""
    counts: dict[str, int] = {}
    for (kind, _), number in lookup.counts(conn).items():
        counts[kind] = counts.get(kind, 0) + number
    return counts, tuple(dispute.about for dispute in disputes.disputes(conn))


SETTLE = "`brain conflicts list` shows the versions, `brain conflicts resolve` ends it."
"""What a person does about a conflict."""
