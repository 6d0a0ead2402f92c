"""`brain search`, `recall`, `read` and `brief`: what people and tools look up."""

from __future__ import annotations

import os
import sys

import click

from commonwealth import config, timeline, userconfig
from commonwealth.adapters import show, wire
from commonwealth.adapters.cli import filters
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.cli.wording import warned
from commonwealth.errors import Usage
from commonwealth.flows import brief, indexing, moments, recall

budget_option = click.option(
    "--budget", type=click.IntRange(min=50), metavar="TOKENS", help="The most that the text may take."
)


@command(
    "search",
    'brain search "retry after 409" --repository acme/shop --type gotcha',
    "brain search deadlock --json | jq -r '.results[].id'",
    "brain search payments --valid-at 2026-02-01",
    "brain search payments --as-of 2026-02-01",
)
@click.argument("query", nargs=-1)
@filters.filter_options
@filters.as_of_option
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="The most to list.")
@with_call
def search_command(call: Call, query: tuple[str, ...], as_of: str | None, **values: object) -> int:
    """List the notes that match a query, best first.

    Only what is true now is listed: --include-superseded and --valid-at look further, and --as-of asks what the
    brain said at an earlier time, right or wrong. A filter that is given twice takes either value. Without a query
    the newest notes are listed.
    """
    brain = call.brain()
    wanted = filters.query(" ".join(query), values, brain, timeline.now())
    result = warned(recall.search(brain, wanted, as_of=as_of))
    if call.screen.as_json:
        call.screen.document(wire.search_json(result))
    else:
        show.results(call.screen, result)
    return 0


@command("recall", 'brain recall "how do retries work" --budget 800')
@click.argument("query", nargs=-1, required=True)
@filters.filter_options
@filters.as_of_option
@budget_option
@with_call
def recall_command(call: Call, query: tuple[str, ...], as_of: str | None, budget: int | None, **values: object) -> int:
    """Print what the brain knows about a subject, ready to read for a person or a model.

    Notes are quoted as data between two marked lines, and the text stays within the budget.
    """
    brain, now = call.brain(), timeline.now()
    tokens = budget or userconfig.load().start_tokens or config.DEFAULT_START_TOKENS
    text = " ".join(query)
    wanted = filters.query(text, values, brain, now)
    found = recall.recall(brain, text, budget=tokens, now=now, filters=wanted, as_of=as_of)
    return show_brief(call, found)


@command("read", "brain read 2026-06-02-http-409", "brain read 2026-06-02-http-409 --as-of 2026-06-30")
@click.argument("note_id", metavar="ID")
@filters.as_of_option
@with_call
def read_command(call: Call, note_id: str, as_of: str | None) -> int:
    """Show one note with its links and history.

    The links are its own and those of other notes to it; the history is its versions. An id may be shortened
    as long as only one note begins with it. With --as-of it is the note of then, wherever it lay, with the links
    and versions of then.
    """
    reading = warned(recall.read(call.brain(), note_id, as_of=as_of, now=timeline.now()))
    if call.screen.as_json:
        call.screen.document(wire.reading_json(reading))
    else:
        show.reading(call.screen, reading)
    return 0


_EVENTS = {
    "start": "start",
    "sessionstart": "start",
    "prompt": "prompt",
    "userpromptsubmit": "prompt",
    "edit": "edit",
    "pretooluse": "edit",
}


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and value.lower() not in _EVENTS:
        raise click.BadParameter(f"{value} is none of start, prompt, edit, SessionStart, UserPromptSubmit, PreToolUse.")
    return _EVENTS[value.lower()] if value else None


@command(
    "brief",
    "brain brief",
    "brain brief --prompt 'why do retries of refunds fail?'",
    "brain brief --file src/payments/RetryPolicy.ts",
    "brain brief --json | jq '.left'",
)
@click.option("--event", metavar="EVENT", callback=_moment, help="start, prompt or edit, or as a host spells it.")
@click.option("--prompt", metavar="TEXT", help="What the person asks; `-` reads it from stdin.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file that is about to be changed.")
@click.option("--change", metavar="TEXT", default="", help="The text or patch that comes in; `-` reads it from stdin.")
@budget_option
@with_call
def brief_command(
    call: Call, event: str | None, prompt: str | None, files: tuple[str, ...], change: str, budget: int | None
) -> int:
    """Show what a session here would be told, and why: at its start, at a prompt, or before a file is changed.

    Stdout is exactly the text that a coding tool gets. Beside it, on stderr, stands why each note was taken or
    left. Notes that a session was told already are told here again.
    """
    event = event or ("prompt" if prompt is not None else "edit" if files else "start")
    if event == "prompt" and prompt is None:
        raise Usage("A prompt brings nothing without its text.", hint="Give it with `--prompt`.")
    if event == "edit" and not files:
        raise Usage("An edit needs the file that is changed.", hint="Name it with `--file`.")
    brain, own, now = call.brain(), userconfig.load(), timeline.now()
    tokens = budget or moments.tokens(event, own, brain, os.environ)
    if not tokens:
        found = brief.Brief("", 0, reason=f"what a session is told then ({event}) is switched off")
    elif event == "prompt":
        found = brief.at_prompt(brain, _given(prompt or ""), now=now, budget=tokens, ask=indexing.ask)
    elif event == "edit":
        paths = [os.path.join(brain.cwd, path) for path in files]
        found = brief.before_edit(brain, paths, _given(change), now=now, budget=tokens, ask=indexing.ask)
    else:
        found = brief.session_start(brain, now=now, budget=tokens, ask=indexing.ask)
    return show_brief(call, found, reasons=True)


def _given(text: str) -> str:
    return sys.stdin.read() if text == "-" else text


def show_brief(call: Call, found: brief.Brief, *, reasons: bool = False) -> int:
    """Print a brief: its document, or exactly its text; `reasons` go beside it, on stderr."""
    if call.screen.as_json:
        call.screen.document(wire.brief_json(found))
    else:
        show.brief(call.screen, found, reasons=reasons)
    return 0
