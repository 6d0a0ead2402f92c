"""Moving commits between this clone and the team's remote, and saying exactly what happened."""

from __future__ import annotations

from contextlib import suppress

from commonwealth import timeline
from commonwealth.errors import Busy, Damaged, Refused
from commonwealth.flows import identity, indexing, synclog
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.content import content_of
from commonwealth.model import Item, Receipt
from commonwealth.notes.naming import stem
from commonwealth.repo import remote
from commonwealth.repo import sync as machine
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, ref_value
from commonwealth.repo.renamed import REQUESTS

_ITEMS = 200
"""A receipt names at most so many changed notes one by one; `pulled` counts them all."""


def sync(
    brain: Brain,
    *,
    timeout: float = 60,
    accept_deletions: bool = False,
    adopt_remote: bool = False,
    finish: bool = False,
    trigger: str = "sync",
) -> Receipt:
    """Commit what people edited, take in the remote's notes, publish ours, and bring the index along.

    `timeout` in seconds bounds the waiting for the network; `adopt_remote` takes a rewritten history of the remote;
    `finish` ends at once what a merge or rebase has left and nobody works on; `trigger` is what asked, for the log.

    The receipt's state is `published`, `committed` (no remote, or it declined), `deferred` (the remote was not
    reached; the next sync goes on), `refused` or `unchanged`. Where the team takes changes by request, or the remote's
    main branch is protected, what waits goes to the branch `brain/<author_ref>`, and the state is `committed`. Raises
    Busy, Refused and Damaged where the clone itself stands in the way.
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
                finish=finish,
                request=f"{REQUESTS}{author.ref}",
                by_request=review_mode(brain) == "pull-request",
            ),
        )
        receipt = _receipt(brain, outcome)
        told(receipt, outcome.rounds, outcome.refused)
    with suppress(Damaged, Busy, Refused, OSError):  # the notes are safe; an index that balks heals at the next read
        indexing.refresh(brain)
    return receipt


def _receipt(brain: Brain, outcome: machine.Outcome) -> Receipt:
    """What a sync is answered with."""
    notes = [path for path in outcome.changed if content_of(brain).owns(path)]
    return Receipt(
        outcome.state,
        commit=outcome.head,
        reason=outcome.trouble.message if outcome.trouble else None,
        warnings=outcome.warnings,
        next=outcome.trouble.hint if outcome.trouble else None,
        items=tuple(Item(stem(path), "changed") for path in notes[:_ITEMS]),
        pulled=outcome.pulled,
        pushed=outcome.pushed,
        conflicts=tuple(map(stem, outcome.conflicts)),
        dropped=(),
    )


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
