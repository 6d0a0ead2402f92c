"""`brain import`: what was written elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from commonwealth import timeline
from commonwealth.adapters import show
from commonwealth.adapters.cli import documents, written
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.flows import importing
from commonwealth.flows.import_shelf import SOURCES


@command(
    "import", "brain import ~/notes", "brain import docs/adr --from adr --json", "brain import memory.db --from sqlite"
)
@click.argument("path")
@click.option("--from", "kind", type=click.Choice(SOURCES), help="What the files are; found out if not said.")
@with_call
def import_command(call: Call, path: str, kind: str | None) -> int:
    """Make notes of a folder of markdown files or of decision records, or of a SQLite memory database.

    Every file or row becomes a note with its body as it is, or is named with the reason. Importing again,
    or one file of the folder alone, changes only what has changed in the source.
    """
    brain = call.brain()
    with call.screen.working(f"Reading {path}") as say:
        report = importing.import_folder(
            brain,
            Path(call.path(path)),
            kind=kind,
            now=timeline.now(),
            progress=lambda done, total: say(f"Importing {path}: {done} of {total}"),
        )
    if call.screen.as_json:
        call.screen.document(documents.imported(report))
    else:
        show.imported(call.screen, report)
    if report.imported:
        written.leave_worker(brain)
    return 0
