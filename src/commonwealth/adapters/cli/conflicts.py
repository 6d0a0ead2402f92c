"""`brain conflicts`: what cannot both stand, and what a person decides about it."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters import show_conflicts
from commonwealth.adapters.cli import documents, fields, written
from commonwealth.adapters.cli.body import read_body
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.flows.conflicts import conflicts, resolve
from commonwealth.flows.identity import Session

conflicts_command = Group(
    "conflicts",
    help="List what cannot both stand, and say what does.\n\n"
    "Two versions of a note that could not be united, and two notes that replace the same one, are both kept and "
    "marked as disputed until a person decides. What was decided in one clone holds in all.",
)


@command("list", "brain conflicts list", "brain conflicts list --json | jq -r '.conflicts[].id'")
@with_call
def list_command(call: Call) -> int:
    """List every conflict: its notes, who wrote them, and what each says where they differ.

    Who wrote a note is the author of the commit that brought its text. On the screen texts are cut; in JSON `differs`
    of a conflict has them whole: `what`, and `texts` by id, null where a note has no such field or section.
    """
    found = conflicts(call.brain())
    if call.screen.as_json:
        call.screen.document(documents.conflicts(found))
    else:
        show_conflicts.conflicts(call.screen, found)
    return 0


@command(
    "resolve",
    "brain conflicts resolve 2026-06-02-http-409 --keep 2026-06-02-http-409-means-paid-c1e0x4tz",
    "brain conflicts resolve 2026-06-02-http-409 --both",
    "brain conflicts resolve 2026-06-02-http-409 --body-file united.md",
)
@click.argument("conflict_id", metavar="ID")
@click.option("--keep", multiple=True, metavar="ID", help="The note that stands. May be repeated.")
@click.option("--both", "everything", is_flag=True, help="All of them stand, each as a note of its own.")
@fields.body_options
@with_call
def resolve_command(
    call: Call, conflict_id: str, keep: tuple[str, ...], everything: bool, body: str | None, body_file: str | None
) -> int:
    """End one conflict in one commit.

    The version that is kept stands under the note's id, with the text of -m or --body-file if you give one. The
    others stay in the brain, closed as superseded. So if you keep ID2 of a note ID, ID says afterwards what ID2 said,
    and ID2 keeps the other text; the answer tells what each id says. Standard input is read only for --body-file -.
    """
    text = read_body(body, body_file, call.folder, call.screen) if body or body_file else body
    brain = call.brain()
    receipt = resolve(
        brain, conflict_id, keep=keep, everything=everything, body=text, session=Session(), now=timeline.now()
    )
    return written.answer(call, receipt, brain)


for made in (list_command, resolve_command):
    conflicts_command.add_command(made)
