"""`brain history`: the versions of a note, and how an old one comes back."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters import show_past
from commonwealth.adapters.cli import documents, filters, written
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.cli.wording import warned
from commonwealth.errors import Usage
from commonwealth.flows import history
from commonwealth.flows.identity import Session


@command(
    "history",
    "brain history 2026-06-02-http-409",
    "brain history 2026-06-02-http-409 --at 4f8c2ab",
    "brain history 2026-06-02-http-409 --restore 4f8c2ab",
)
@click.argument("note_id", metavar="ID")
@click.option("--at", "at_commit", metavar="COMMIT", help="Print the note as it was at this commit.")
@click.option("--restore", metavar="COMMIT", help="Make the note again what it was at this commit.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=history.LIMIT,
    show_default=True,
    help="The most versions to list.",
)
@filters.as_of_option
@with_call
def history_command(
    call: Call, note_id: str, at_commit: str | None, restore: str | None, limit: int, as_of: str | None
) -> int:
    """Show the versions of a note, or bring one back.

    Each version says who changed what, when and why. A note that was deleted has its versions too. A version that
    is restored becomes a new commit; nothing is taken out of the history. With --as-of only the versions are
    listed that there were then.
    """
    if at_commit is not None and restore is not None:
        raise Usage("`--at` and `--restore` cannot be used together.", hint="Look first, then restore.")
    if as_of is not None and (at_commit is not None or restore is not None):
        raise Usage("`--as-of` lists versions; `--at` and `--restore` take one.", hint="Leave `--as-of` out.")
    brain = call.brain()
    if restore is not None:
        receipt = history.restore(brain, note_id, restore, session=Session(), now=timeline.now())
        return written.answer(call, receipt, brain)
    if at_commit is not None:
        found, commit, path, data = history.version_at(brain, note_id, at_commit)
        text = data.decode("utf-8", "replace")
        if call.screen.as_json:
            call.screen.document({"id": found.id, "commit": commit, "path": path, "text": text})
        else:
            call.screen.exactly(text)
        return 0
    told = warned(history.history(brain, note_id, as_of=as_of, limit=limit, now=timeline.now()))
    if call.screen.as_json:
        call.screen.document(documents.history(told))
    else:
        show_past.history(call.screen, told)
    return 0
