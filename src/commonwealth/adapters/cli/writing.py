"""`brain remember`, `decide` and `update`: what people and tools write."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters.cli import fields, written
from commonwealth.adapters.cli.body import read_body
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.cli.options import Given
from commonwealth.errors import Usage
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import remember
from commonwealth.flows.update import SectionEdit, update


@command(
    "remember",
    'brain remember "HTTP 409 means the payment already succeeded" --type gotcha --tag http-409 \\\n'
    '      --file src/payments/RetryPolicy.ts -m "Retrying can duplicate downstream processing."',
    'git log -1 --format=%b | brain remember "The nightly job needs the old schema"',
)
@click.argument("title")
@fields.body_options
@fields.note_options
@fields.provenance_options
@fields.idempotency_option
@with_call
def remember_command(call: Call, title: str, body: str | None, body_file: str | None, **values: object) -> int:
    """Record a fact as a new note.

    The title says the fact in one sentence. The body comes from -m, from --body-file, or from a pipe.
    The answer says what happened to the note: committed, staged for review, refused, or unchanged.
    """
    text = read_body(body, body_file, call.folder, call.screen)
    brain = call.brain()
    draft = fields.draft(title, text, values)
    receipt = remember(brain, draft, session=Session(), now=timeline.now())
    return written.answer(call, receipt, brain)


@command(
    "decide",
    'brain decide "JWT over server sessions" --decider Alice --decider Bob --body-file decision.md',
)
@click.argument("title")
@fields.body_options
@fields.note_options
@fields.decider_option
@fields.provenance_options
@fields.idempotency_option
@with_call
def decide_command(call: Call, title: str, body: str | None, body_file: str | None, **values: object) -> int:
    """Record a decision as a new note.

    A decision's body has the sections Context, Decision, Rejected and Consequences.
    """
    text = read_body(body, body_file, call.folder, call.screen)
    brain = call.brain()
    draft = fields.draft(title, text, values, kind="decision")
    receipt = remember(brain, draft, session=Session(), now=timeline.now())
    return written.answer(call, receipt, brain)


@command(
    "update",
    "brain update 2026-06-02-http-409 --status confirmed --confidence high",
    'brain update 2026-06-02-http-409 --section Consequences --append "The worker retries no more."',
)
@click.argument("note_id", metavar="ID")
@click.option("--title", metavar="TEXT", help="A new title; the id stays.")
@fields.body_options
@fields.note_options
@fields.decider_option
@fields.provenance_options
@click.option("--section", metavar="HEADING", help="Change only this section of the body.")
@click.option("--append", metavar="TEXT", help="Text to put at the section's end.")
@click.option("--insert", metavar="TEXT", help="Text to put right below the section's heading.")
@click.option("--replace", metavar="TEXT", help="Text to put in the section's place; '' empties it.")
@click.option("--create", is_flag=True, help="Make the section where it is missing; --append does so anyway.")
@click.option("--clear", multiple=True, type=click.Choice(fields.CLEARABLE), help="A field to empty. May be repeated.")
@with_call
def update_command(
    call: Call,
    note_id: str,
    body: str | None,
    body_file: str | None,
    clear: tuple[str, ...],
    **values: object,
) -> int:
    """Correct or extend a note: the fields that are given change, everything else stays as it is.

    A list that is given takes the place of the old one. -m and --body-file replace the whole body; standard
    input is read only for --body-file -. Where somebody else changed the same part meanwhile, both versions are
    kept, and the exit code is 4. A section is edited, or the body replaced, never both at once. --replace also takes
    the place of the section's deeper sections. Where two sections have one name, --section '## NAME' means the one of
    that level.
    """
    section = _section(Given(values))
    if section is not None and (body is not None or body_file is not None):
        raise Usage(
            "A whole body (`-m`, `--body-file`) and `--section` cannot be given together.",
            hint="Give one of them; nothing was written.",
        )
    text = read_body(body, body_file, call.folder, call.screen) if body or body_file else body
    changes = fields.changes(values, clear)
    brain = call.brain()
    if section is None and text is None and not changes:
        raise Usage("There is nothing to change.", hint="`brain update --help` lists the options.")
    receipt = update(brain, note_id, changes, section=section, body=text, session=Session(), now=timeline.now())
    return written.answer(call, receipt, brain)


def _section(given: Given) -> SectionEdit | None:
    heading = given.text("section")
    texts = {name: text for name in ("append", "insert", "replace") if (text := given.text(name)) is not None}
    create = given.get("create") is True
    if heading is None and not texts and not create:
        return None
    if heading is None or len(texts) != 1:
        raise Usage(
            "A section edit takes `--section` and one of `--append`, `--insert` and `--replace`.",
            hint='For example: brain update ID --section Consequences --append "…"',
        )
    return SectionEdit(heading, create=create, **texts)
