"""`brain work`: who is changing what, announced, found and ended."""

from __future__ import annotations

from dataclasses import replace

import click

from commonwealth import timeline
from commonwealth.adapters import show_work, wire
from commonwealth.adapters.cli import written
from commonwealth.adapters.cli.call import EXIT_CODES, Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.adapters.cli.options import Given, many, options
from commonwealth.adapters.cli.wording import warned
from commonwealth.errors import Usage
from commonwealth.flows import identity, leases, work
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.workfields import LEASE_MINUTES, Value
from commonwealth.model import WORK_STATUSES, Provenance

work_command = Group(
    "work",
    help="Say what you are changing, and see who is changing the same.\n\n"
    "A work record is advice: it warns and never blocks. It is active until its lease is over, its work is completed "
    "or abandoned, or its branch is merged.",
)

_OPEN = click.Choice(leases.OPEN)
_LEASE = click.option(
    "--lease",
    "lease_minutes",
    type=int,
    metavar="MIN",
    help=f"How long it counts without a sign of life; {LEASE_MINUTES} minutes, if left out.",
)
_ABOUT = options(
    click.option("--summary", metavar="TEXT", help="One or two sentences on what is being done."),
    many("--file", "files", metavar="PATH", help="A file, folder or glob that is being changed."),
    many("--component", "components", metavar="NAME", help="A component that is being changed."),
    click.option("--repository", metavar="NAME", help="The code repository; the one here, if left out."),
    click.option("--branch", metavar="BRANCH", help="The branch that it happens on; the one here, if left out."),
)
_ORIGIN = options(
    click.option("--issue", metavar="ID", help="The issue it belongs to."),
    click.option("--pull-request", metavar="ID", help="The pull request it belongs to."),
    click.option("--agent", metavar="NAME", help="The coding tool that does it."),
    click.option("--session", metavar="ID", help="The tool's session that does it."),
)
_LIMIT = click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="The most to list.")
_FORCE = click.option("--force", is_flag=True, help="Also where it is somebody else's and active.")


@command(
    "start",
    'brain work start "Handle duplicate payments" --file src/payments/PaymentService.ts --component payments',
    'brain work start "Move to the new queue" --file "src/queue/**" --lease 480',
)
@click.argument("title")
@_ABOUT
@_LEASE
@click.option("--status", type=_OPEN, help="in-progress, if left out.")
@_ORIGIN
@click.option("--idempotency-key", metavar="KEY", help="Announcing again with the same key changes nothing.")
@with_call
def start_command(call: Call, title: str, **values: object) -> int:
    """Announce what you are about to change, and learn who is changing the same.

    Paths are taken from the root of the repository; a folder stands for all below it, and a glob knows *, ? and **.
    `.` is the folder that you are in: at the root, everything. Work that names no file and no component warns nobody.
    """
    given, brain = Given(values), call.brain()
    draft = work.WorkDraft(
        title=title,
        summary=given.text("summary"),
        repository=given.text("repository"),
        files=given.texts("files"),
        components=given.texts("components"),
        branch=given.text("branch"),
        lease_minutes=_minutes(values),
        status=given.text("status"),
        provenance=Provenance(
            agent=given.text("agent"),
            session=given.text("session"),
            issue=given.text("issue"),
            pull_request=given.text("pull_request"),
        ),
        idempotency_key=given.text("idempotency_key"),
    )
    session = Session(given.text("agent"), given.text("session"))
    return _started(call, work.start(brain, draft, session=session, now=timeline.now()), brain)


@command(
    "search",
    "brain work search --file src/payments",
    "brain work search duplicate payments --repository acme/shop --json",
    "brain work search --person Alice --status completed",
)
@click.argument("query", nargs=-1)
@many("--file", "files", metavar="PATH", help="Only what touches this file, folder or glob.")
@many("--component", "components", metavar="NAME", help="Only what touches this component.")
@many("--repository", "repository", metavar="NAME", help="Only of this code repository.")
@many("--person", "person", metavar="NAME", help="Only of this person.")
@many("--agent", "agent", metavar="NAME", help="Only of this coding tool.")
@many("--status", "status", type=click.Choice(WORK_STATUSES), help="Only of this status; the open ones, if left out.")
@_LIMIT
@with_call
def search_command(call: Call, query: tuple[str, ...], limit: int, **values: object) -> int:
    """Find work by words, files, components, repository, person, coding tool and status.

    Files and components find what overlaps with any of them. What is past its lease comes last, marked as stale.
    """
    return _found(call, _query(values, query=" ".join(query), limit=limit), call.brain())


@command("list", "brain work list", "brain work list --mine", "brain work list --all --json")
@click.option("--mine", is_flag=True, help="Only your own.")
@click.option("--all", "everything", is_flag=True, help="Also what was completed or abandoned.")
@_LIMIT
@with_call
def list_command(call: Call, mine: bool, everything: bool, limit: int) -> int:
    """List the open work of everybody: what is active first, then what is past its lease."""
    brain = call.brain()
    people = (identity.whoami(brain).ref,) if mine else ()
    wanted: dict[str, object] = {"person": people, "status": WORK_STATUSES if everything else ()}
    return _found(call, _query(wanted, limit=limit), brain)


@command(
    "update",
    "brain work update 9f3d7k2m --status blocked --progress 'Waits for the schema change.'",
    "brain work update 9f3d7k2m --add-file src/payments/RetryPolicy.ts --lease 480",
)
@click.argument("note_id", metavar="ID")
@click.option("--title", metavar="TEXT", help="A new title; the id stays.")
@_ABOUT
@many("--add-file", "add_files", metavar="PATH", help="One file more.")
@many("--remove-file", "remove_files", metavar="PATH", help="One file less.")
@click.option("--progress", metavar="TEXT", help="What has happened; becomes a section of the record.")
@click.option("--status", type=click.Choice(WORK_STATUSES), help="How it stands.")
@_LEASE
@_FORCE
@with_call
def update_command(call: Call, note_id: str, force: bool, **values: object) -> int:
    """Change a record of yours, and learn who is changing the same now.

    --file and --component replace the whole list. Every change is a sign of life: the lease begins anew.
    """
    given = Given(values)
    changes: dict[str, Value] = {
        name: text
        for name in ("title", "summary", "repository", "branch", "status", "progress")
        if (text := given.text(name)) is not None
    }
    lists = ("files", "components", "add_files", "remove_files")
    changes |= {name: texts for name in lists if (texts := given.texts(name))}
    minutes = _minutes(values)
    if minutes is not None:
        changes["lease_minutes"] = minutes
    if not changes:
        raise Usage("There is nothing to change.", hint="`brain work update --help` lists the options.")
    brain = call.brain()
    told = work.update(brain, note_id, changes, session=Session(), now=timeline.now(), force=force)
    return _started(call, told, brain)


@command("complete", "brain work complete 9f3d7k2m --summary '409 counts as success now.'")
@click.argument("note_id", metavar="ID")
@click.option("--summary", metavar="TEXT", help="What came of it.")
@_FORCE
@with_call
def complete_command(call: Call, note_id: str, summary: str | None, force: bool) -> int:
    """End work that is done.

    Yours at any time; somebody else's once it is past its lease. The record says who ended it.
    """
    brain = call.brain()
    receipt = work.complete(brain, note_id, summary, session=Session(), now=timeline.now(), force=force)
    return written.answer(call, receipt, brain)


@command("abandon", "brain work abandon 9f3d7k2m --reason 'The supplier fixed it.'")
@click.argument("note_id", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why it is given up.")
@_FORCE
@with_call
def abandon_command(call: Call, note_id: str, reason: str | None, force: bool) -> int:
    """End work that is given up.

    Yours at any time; somebody else's once it is past its lease. The record says who ended it.
    """
    brain = call.brain()
    receipt = work.abandon(brain, note_id, reason, session=Session(), now=timeline.now(), force=force)
    return written.answer(call, receipt, brain)


def _minutes(values: dict[str, object]) -> int | None:
    given = values.get("lease_minutes")
    return given if isinstance(given, int) else None


def _query(values: dict[str, object], *, query: str = "", limit: int) -> work.WorkQuery:
    given = Given(values)
    return work.WorkQuery(
        query=query,
        repository=given.texts("repository"),
        files=given.texts("files"),
        components=given.texts("components"),
        person=given.texts("person"),
        agent=given.texts("agent"),
        status=given.texts("status"),
        limit=limit,
        now=timeline.now(),
    )


def _found(call: Call, wanted: work.WorkQuery, brain: Brain) -> int:
    found = work.search(brain, wanted)
    if call.screen.as_json:
        call.screen.document(wire.work_found_json(found))
    else:
        show_work.found(call.screen, found, wanted.now)
    return 0


def _started(call: Call, told: work.Started, brain: Brain) -> int:
    """Show the receipt with the overlaps, leave publishing to a worker, and return the exit code."""
    if not call.screen.as_json:
        code = written.answer(call, told.receipt, brain)
        show_work.overlaps(call.screen, told.overlaps, timeline.now())
        return code
    call.screen.document(wire.started_json(replace(told, receipt=warned(told.receipt))))
    if told.receipt.state == "committed":
        written.leave_worker(brain)
    return EXIT_CODES.get(told.receipt.state, 0)


for made in (start_command, search_command, list_command, update_command, complete_command, abandon_command):
    work_command.add_command(made)
