"""`brain review`: what waits for a person, and what they decide about it."""

from __future__ import annotations

import sys

import click

from commonwealth import timeline
from commonwealth.adapters import show_review, wire_review
from commonwealth.adapters.cli import editor, fields, requesting, walk, written
from commonwealth.adapters.cli.body import read_body
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.choosing import ALL, chosen_by, filter_options, filters_of, left_waiting
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.errors import Usage
from commonwealth.flows import evidence, requestlog, review
from commonwealth.flows.identity import Session
from commonwealth.flows.requestanswer import Wanted
from commonwealth.flows.review import Filters
from commonwealth.model import Receipt

# The queue as a whole


@filter_options
@with_call
def _alone(call: Call, **values: object) -> int:
    filters = filters_of(values)
    if call.screen.is_terminal and sys.stdin.isatty() and not call.screen.as_json:
        return walk.walk(call, filters)
    return _list(call, filters, limit=50, page=1)


def _callback(**values: object) -> int:
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        return _alone(**values)
    if any(values.values()):
        name = context.invoked_subcommand
        raise Usage("Options stand after the command.", hint=f"`brain review {name} --help` lists those of it.")
    return 0


review_command = Group(
    "review",
    help="See what waits for a person, and decide about it.\n\n"
    "Alone on a terminal it walks through the queue, one key for each candidate; in a pipe it lists the queue. What "
    "waits is in this clone only: nobody else sees it, no search finds it and no session is told of it before it is "
    "approved.",
)
review_command.params.extend(reversed(getattr(_alone, "__click_params__", ())))
review_command.callback = _callback


@command(
    "list",
    "brain review list",
    "brain review list --host codex --type gotcha --since 2026-07-01",
    "brain review list --json | jq -r '.candidates[].id'",
)
@filter_options
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="The most on a page.")
@click.option("--page", type=click.IntRange(1), default=1, show_default=True, help="Which page.")
@with_call
def list_command(call: Call, limit: int, page: int, **values: object) -> int:
    """List the candidates that wait, the oldest first, with the reasons why.

    A file in staging/ that is no candidate is named with line and cause, and left as it is.
    """
    return _list(call, filters_of(values), limit=limit, page=page)


def _list(call: Call, filters: Filters, *, limit: int, page: int) -> int:
    brain = call.brain()
    found = review.listed(brain, filters)
    pages = max(1, -(-len(found.candidates) // limit))
    shown = found.candidates[(page - 1) * limit : page * limit]
    asked = requestlog.by_candidate(brain.root)
    if call.screen.as_json:
        call.screen.document(wire_review.listing_json(found, shown, page, pages, asked))
    else:
        show_review.listing(call.screen, found, shown, page, pages, dropped=filters.dropped, asked=asked)
    return 0


@command("show", "brain review show 9f3d7k2m", "brain review show 9f3d7k2m --json | jq .neighbours")
@click.argument("note_id", metavar="ID")
@with_call
def show_command(call: Call, note_id: str) -> int:
    """Show one candidate whole: what it says, where in which session, why it waits, and the notes nearest to it."""
    brain = call.brain()
    found = review.shown(brain, note_id, now=timeline.now())
    said = evidence.words(found.candidate.origin)
    request = requestlog.by_candidate(brain.root).get(found.candidate.note.id.casefold())
    if call.screen.as_json:
        call.screen.document(wire_review.shown_json(found, said, request))
    else:
        show_review.shown(call.screen, found, said, request)
    return 0


# Decisions


@command(
    "approve",
    "brain review approve 9f3d7k2m c1e0x4tz",
    "brain review approve --all",
    "brain review approve --session 0197c2e4 --verdict promote",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--anyway", is_flag=True, help="Also what something speaks against; the receipt says what.")
@ALL
@filter_options
@with_call
def approve_command(call: Call, ids: tuple[str, ...], *, everything: bool, anyway: bool, **values: object) -> int:
    """Bring candidates into canon, all in one commit.

    A note that one of them replaces is closed in the same commit. One that was turned down in the last 30 days can be
    named as well. What cannot be approved waits on, and the exit code is 4 if something else could. So does what has to
    be looked at first: a file with a slip in it, a note that says nearly the same and has landed since, and, where it
    was not named, what the gate warned of. `--anyway` approves that as well. Safe to repeat.
    """
    brain = call.brain()
    chosen = chosen_by("approve", ids, everything=everything, filters=filters_of(values))
    receipt = review.approve(brain, chosen, session=Session(), now=timeline.now(), anyway=anyway)
    return left_waiting(written.answer(call, receipt, brain), receipt)


@command(
    "reject",
    'brain review reject 9f3d7k2m --reason "It is in the README."',
    "brain review reject --session 0197c2e4 --all",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--reason", metavar="TEXT", help="Why; it is kept with the candidate.")
@ALL
@filter_options
@with_call
def reject_command(call: Call, ids: tuple[str, ...], reason: str | None, everything: bool, **values: object) -> int:
    """Set candidates aside. For 30 days `review list --dropped` shows them, and `review approve` brings them back.

    Nothing is committed. A broken file is named by its name and set aside as it is.
    """
    chosen = chosen_by("reject", ids, everything=everything, filters=filters_of(values))
    receipt = review.reject(call.brain(), chosen, reason=reason, session=Session(), now=timeline.now())
    return call.answer(receipt, show_review.rejected)


@command(
    "edit",
    "brain review edit 9f3d7k2m",
    "brain review edit 9f3d7k2m --type gotcha --confidence high --tag retries",
)
@click.argument("note_id", metavar="ID")
@click.option("--title", metavar="TEXT", help="A new title; the id stays.")
@fields.body_options
@fields.note_options
@fields.decider_option
@fields.provenance_options
@click.option("--clear", multiple=True, type=click.Choice(fields.CLEARABLE), help="A field to empty. May be repeated.")
@with_call
def edit_command(
    call: Call, note_id: str, body: str | None, body_file: str | None, clear: tuple[str, ...], **values: object
) -> int:
    """Change a candidate before it is approved: in your editor, or by options as `brain update` has them.

    The editor is that of $VISUAL or $EDITOR, and the file that of the candidate: the mapping `candidate` in it says
    where it comes from and does not get into canon.
    """
    text = read_body(body, body_file, call.folder, call.screen) if body or body_file else body
    changes = fields.changes(values, clear)
    brain = call.brain()
    if not changes and text is None:
        return _edited(call, editor.edit(brain, review.place(brain, note_id)))
    return _edited(call, review.edit(brain, note_id, changes, body=text, now=timeline.now()))


def _edited(call: Call, receipt: Receipt) -> int:
    """Show the receipt of an edit, which is done although the candidate waits."""
    code = call.answer(receipt)
    return 0 if receipt.state == "staged" else code


@command(
    "pr",
    "brain review pr 9f3d7k2m",
    "brain review pr --all --title 'What we learned about payments'",
    "brain review pr c1e0x4tz --add-to 9f3d7k2m",
    "brain review pr --all --dry-run --json",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--title", metavar="TEXT", help="The title of the request; made from the notes if left out.")
@click.option("--draft", is_flag=True, help="Open it as a draft.")
@click.option("--add-to", metavar="REQUEST", help="Add to an open request: its branch, page, number, or a note in it.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and send nothing.")
@ALL
@filter_options
@with_call
def pr_command(
    call: Call,
    *,
    ids: tuple[str, ...],
    title: str | None,
    draft: bool,
    add_to: str | None,
    dry_run: bool,
    everything: bool,
    **values: object,
) -> int:
    """Ask the team to take candidates, in one request on the brain's host.

    A branch with nothing but their files is pushed and the request opened: on GitHub and Gitea with your token, on
    GitLab and Gitea by the push itself, elsewhere you open it from the text that is printed. Safe to repeat: what is
    in an open request is not asked for twice, and grows it where you have edited the candidate. The candidates leave
    the queue by the next sync after the merge, and wait again if the request is closed.
    """
    chosen = chosen_by("pr", ids, everything=everything, filters=filters_of(values))
    return requesting.ask(call, chosen, Wanted(title, draft, add_to, dry_run))


for made in (list_command, show_command, approve_command, reject_command, edit_command, pr_command):
    review_command.add_command(made)
