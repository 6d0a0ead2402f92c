"""`brain sync` and `status`: commits go out and come in."""

from __future__ import annotations

from contextlib import suppress

import click

from commonwealth import timeline
from commonwealth.adapters import forge, show
from commonwealth.adapters.cli import documents
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.errors import BrainError
from commonwealth.flows import conflicts, publishing, syncing, synclog, upkeep
from commonwealth.flows.brains import Brain


@command("sync", "brain sync", "brain sync --timeout 60 --json")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the remote may take.",
)
@click.option("--accept-deletions", is_flag=True, help="Commit many deletions by hand at once.")
@click.option(
    "--adopt-remote",
    is_flag=True,
    help="Take a history of the remote that was rewritten, with your unpublished notes on top.",
)
@with_call
def sync_command(call: Call, timeout: float, accept_deletions: bool, adopt_remote: bool) -> int:
    """Exchange commits with the team's remote.

    What was edited by hand is committed, what teammates shared is taken in, and what is yours is shared.
    Nothing is overwritten: two versions that cannot both stand are kept and listed as a conflict. A conflict that came
    up with this sync, from whomever, makes the exit code 4; those that were open before do not. A merge or rebase that
    was left unfinished is brought to its end first.
    """
    brain = call.brain()
    with call.screen.working(f"Syncing {brain.name}"):
        receipt = publishing.sync_now(
            brain,
            timeline.now(),
            timeout=timeout,
            accept_deletions=accept_deletions,
            adopt_remote=adopt_remote,
            connect=forge.connect,
        )
    code = call.answer(receipt)
    if not (receipt.conflicts or call.screen.as_json):
        _remind(call, brain)
    return code


def _remind(call: Call, brain: Brain) -> None:
    """One line on conflicts that were open before; a document has those that came up, and `status` has all."""
    count = 0
    with suppress(BrainError, OSError):  # the sync is done; an index that balks is told of by `status`
        count = conflicts.count_open(brain)
    if count:
        call.screen.remark(f"{count} conflict{' is' if count == 1 else 's are'} open. {syncing.SETTLE}")


@command("status", "brain status", "brain status --log --json")
@click.option(
    "--log",
    type=click.IntRange(1, synclog.KEPT),
    is_flag=False,
    flag_value=20,
    metavar="[N]",
    help="Also the last syncs and writes, 20 if no number is given.",
)
@with_call
def status_command(call: Call, log: int | None) -> int:
    """Show what is unsynced, staged or in conflict, and which files have problems."""
    found, now = upkeep.status(call.brain(), log=log), timeline.now()
    if call.screen.as_json:
        call.screen.document(documents.status(found, now))
    else:
        show.status(call.screen, found, now)
    return 0
