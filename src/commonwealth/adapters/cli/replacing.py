"""`brain supersede` and `retract`: what ended, and what was never true."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters.cli import fields, written
from commonwealth.adapters.cli.body import read_body
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.cli.options import TIME, many
from commonwealth.flows.identity import Session
from commonwealth.flows.retract import retract
from commonwealth.flows.supersede import supersede


@command(
    "supersede",
    'brain supersede 2026-02-01-payments-are-synchronous "Payments go through a queue" --at 2026-04-17',
    'brain supersede 9f3d7k2m "One limit for all clients" --also 4b1d90c2 -m "Merged in PAY-1842."',
)
@click.argument("note_id", metavar="ID")
@click.argument("title")
@many("--also", "also", metavar="ID", help="Another note that is replaced as well.")
@click.option("--at", type=TIME, metavar="TIME", help="From when on the new fact is true; now, if left out.")
@click.option(
    "--kind", type=click.Choice(("memory", "decision")), help="What the new note is; what ID is, if left out."
)
@fields.body_options
@fields.note_options
@fields.decider_option
@fields.provenance_options
@fields.idempotency_option
@with_call
def supersede_command(
    call: Call,
    note_id: str,
    title: str,
    also: tuple[str, ...],
    at: str | None,
    kind: str | None,
    body: str | None,
    body_file: str | None,
    **values: object,
) -> int:
    """Replace a note, as reality has changed: it was true until now, and TITLE is true from now on.

    What is left out of type, components, tags and repository is the old note's; status and confidence never are.
    One commit adds the new note and ends the old one at that instant; both name each other. A correction of what was
    wrong from the start is no replacement: `brain update` corrects a note, `brain retract` withdraws it. Where somebody
    else replaces the same note at the same time, both replacements are kept as a conflict, and the exit code is 4.
    """
    text = read_body(body, body_file, call.folder, call.screen)
    brain = call.brain()
    draft = fields.draft(title, text, values, kind=kind or "")
    receipt = supersede(brain, (note_id, *also), draft, effective_at=at, session=Session(), now=timeline.now())
    return written.answer(call, receipt, brain)


@command("retract", 'brain retract 2026-06-02-http-409 --reason "The test that showed it was broken"')
@click.argument("note_id", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="Why it was never true.")
@with_call
def retract_command(call: Call, note_id: str, reason: str) -> int:
    """Withdraw a note that was never true.

    The note stays, with the reason, and answers nothing any more. What it had replaced is true again, unless another
    note replaces that as well. A fact that was true and has ended is no mistake: `brain supersede` ends it.
    """
    brain = call.brain()
    receipt = retract(brain, note_id, reason, session=Session(), now=timeline.now())
    return written.answer(call, receipt, brain)
