"""Moving commits between this clone and the team's remote, and saying exactly what happened."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import BrainError, Busy, Damaged, Refused
from commonwealth.flows import identity, indexing, pastindex, surfaced, synclog
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.content import content_of
from commonwealth.model import Item, Receipt
from commonwealth.notes.naming import stem
from commonwealth.repo import remote
from commonwealth.repo import sync as machine
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, ref_value
from commonwealth.repo.renamed import REQUESTS

SETTLE = "`brain conflicts list` shows what is in conflict, `brain conflicts resolve` ends it."
"""What a person does about conflicts."""

_ITEMS = 200
"""A receipt names at most so many changed notes one by one; `pulled` counts them all."""


def sync(
    brain: Brain,
    *,
    timeout: float = 60,
    accept_deletions: bool = False,
    adopt_remote: bool = False,
    asked: bool = False,
    trigger: str = "sync",
) -> Receipt:
    """Commit what people edited, take in the remote's notes, publish ours, and bring the index along.

    `timeout` in seconds bounds the waiting for the network; `adopt_remote` takes a rewritten history of the remote;
    `asked` says that a person asked and waits (see `Consent`); `trigger` is what asked, for the log.

    The receipt's state is `published`, `committed` (no remote, or it declined), `deferred` (the remote was not
    reached; the next sync goes on), `refused` or `unchanged`. `conflicts` names the notes by which conflicts came up
    in this clone: not only those that this merge made, but none that was open before. Where the team takes changes by
    request, or the remote's main branch is protected, what waits goes to a branch named after the author, and the
    state is `committed`. Raises Busy, Refused and Damaged where the clone itself stands in the way.
    """
    with synclog.noted(brain.root, trigger, timeline.now()) as told:
        author = identity.whoami(brain)
        outcome = machine.sync(
            Git(brain.root),
            content_of(brain),
            author,
            now=timeline.now(),
            timeout=timeout,
            consent=machine.Consent(
                accept_deletions=accept_deletions,
                adopt_remote=adopt_remote,
                asked=asked,
                request=f"{REQUESTS}{author.ref}",
                by_request=review_mode(brain) == "pull-request",
            ),
        )
        with suppress(Damaged, Busy, Refused, OSError):  # the notes are safe; what balks heals at the next read
            if adopt_remote:
                pastindex.forget(brain)
            indexing.refresh(brain)
        receipt = _receipt(brain, outcome)
        told(receipt, outcome.rounds, outcome.refused)
    return receipt


def _receipt(brain: Brain, outcome: machine.Outcome) -> Receipt:
    """What a sync is answered with."""
    conflicts = _conflicts(brain, outcome)
    steps = [outcome.trouble.hint if outcome.trouble else None, SETTLE if conflicts else None]
    return Receipt(
        outcome.state,
        commit=outcome.head,
        reason=outcome.trouble.message if outcome.trouble else None,
        warnings=outcome.warnings,
        next=" ".join(filter(None, steps)) or None,
        items=tuple(replace(item, id=secrets.mask(item.id)) for item in _items(brain, outcome)[:_ITEMS]),
        pulled=outcome.pulled,
        pushed=outcome.pushed,
        conflicts=conflicts,
        dropped=(),
    )


def _conflicts(brain: Brain, outcome: machine.Outcome) -> tuple[str, ...]:
    """The notes by which conflicts came up; where no index can be asked, those that the merge itself made."""
    found = set(map(stem, outcome.conflicts))
    with suppress(BrainError, OSError):
        found.update(surfaced.conflicts(brain, outcome))
    return tuple(sorted(found))


def _items(brain: Brain, outcome: machine.Outcome) -> tuple[Item, ...]:
    """What became of each note: added, changed (also where it was moved) or removed."""
    states: dict[str, set[str]] = {}
    for path in outcome.changed:
        if content_of(brain).owns(path):
            state = "added" if path in outcome.added else "removed" if path in outcome.removed else "changed"
            states.setdefault(stem(path), set()).add(state)
    return tuple(Item(name, found.pop() if len(found) == 1 else "changed") for name, found in states.items())


def has_remote(brain: Brain) -> bool:
    """Whether this clone knows a remote to publish to."""
    return remote.remote_name(Git(brain.root)) is not None


def unpublished(brain: Brain) -> int:
    """How many commits of this clone are not on the remote as far as is known; 0 without a remote."""
    git = Git(brain.root)
    name = remote.remote_name(git)
    branch = main_branch(git)
    tip = branch_tip(git, branch)
    if name is None or tip is None:
        return 0
    theirs = ref_value(git, remote.tracking_ref(name, branch))
    if tip == theirs:
        return 0
    return int(git.text("rev-list", "--count", tip, *([f"^{theirs}"] if theirs else [])) or 0)
