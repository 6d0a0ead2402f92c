"""The options for the fields of a note, and the drafts and changes that are made of them."""

from __future__ import annotations

from collections.abc import Mapping

import click

from commonwealth.adapters.cli.options import TIME, Given, many, options
from commonwealth.errors import Usage
from commonwealth.flows.remember import Draft
from commonwealth.flows.update import FieldValue
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Provenance

OPEN = tuple(status for status in STATUSES if status not in CLOSED_STATUSES)
"""What a note may be set to; closing one takes more than a word."""

body_options = options(
    click.option("-m", "--body", "body", metavar="TEXT", help="The body, in markdown."),
    click.option("--body-file", metavar="FILE", help="A file that holds the body; - is standard input."),
)

note_options = options(
    click.option("--summary", metavar="TEXT", help="One or two sentences that tell the whole fact."),
    click.option("--type", "type", type=click.Choice(TYPES), help="What kind of fact it is."),
    click.option("--status", type=click.Choice(OPEN), help="How well it is established."),
    click.option("--confidence", type=click.Choice(CONFIDENCES), help="How sure you are."),
    click.option("--observed-at", type=TIME, metavar="TIME", help="When it was seen; now, if left out."),
    click.option("--valid-from", type=TIME, metavar="TIME", help="Since when it is true."),
    click.option("--valid-until", type=TIME, metavar="TIME", help="Until when it is true."),
    click.option("--repository", metavar="NAME", help="The code repository it is about."),
    many("--component", "components", metavar="NAME", help="A component it is about."),
    many("--tag", "tags", metavar="TAG", help="A tag."),
    many("--relates", "relates", metavar="ID", help="A note that it relates to."),
    click.option("--branch-scope", metavar="BRANCH", help="Only true on this branch until it is merged."),
)

decider_option = many("--decider", "deciders", metavar="NAME", help="Who decided.")

idempotency_option = click.option(
    "--idempotency-key", metavar="KEY", help="Writing again with the same key changes nothing."
)

provenance_options = options(
    many("--file", "files", metavar="PATH", help="A source file that shows it."),
    many("--evidence", "evidence", metavar="TEXT", help="What was seen: a test, a log line, a measurement."),
    many("--url", "urls", metavar="URL", help="A page that shows it."),
    click.option("--issue", metavar="ID", help="The issue it belongs to."),
    click.option("--pull-request", metavar="ID", help="The pull request it belongs to."),
    click.option("--commit", metavar="SHA", help="The commit it was seen at; this repository's, if left out."),
    click.option("--branch", metavar="BRANCH", help="The branch it was seen on."),
    click.option("--human", metavar="NAME", help="Who found it; you, if left out."),
    click.option("--agent", metavar="NAME", help="The coding tool that found it."),
    click.option("--session", metavar="ID", help="The tool's session it was found in."),
)

_OWN = ("summary", "type", "status", "confidence", "observed_at", "valid_from", "valid_until", "repository")
_OWN_LISTS = ("components", "tags", "relates", "deciders")
_ORIGIN = ("human", "agent", "commit", "pull_request", "issue", "session")
_ORIGIN_LISTS = ("files", "urls", "evidence")


def draft(title: str, body: str, values: Mapping[str, object], *, kind: str = "memory") -> Draft:
    """A draft from the options of `remember` and `decide`."""
    given = Given(values)
    return Draft(
        title=title,
        body=body,
        kind=kind,
        summary=given.text("summary"),
        type=given.text("type"),
        status=given.text("status"),
        confidence=given.text("confidence"),
        observed_at=given.text("observed_at"),
        valid_from=given.text("valid_from"),
        valid_until=given.text("valid_until"),
        repository=given.text("repository"),
        components=given.texts("components"),
        tags=given.texts("tags"),
        relates=given.texts("relates"),
        deciders=given.texts("deciders"),
        branch=given.text("branch_scope"),
        provenance=_provenance(given),
        idempotency_key=given.text("idempotency_key"),
    )


def _provenance(given: Given) -> Provenance:
    return Provenance(
        human=given.text("human"),
        agent=given.text("agent"),
        branch=given.text("branch"),
        commit=given.text("commit"),
        pull_request=given.text("pull_request"),
        issue=given.text("issue"),
        files=given.texts("files"),
        urls=given.texts("urls"),
        evidence=given.texts("evidence"),
        session=given.text("session"),
    )


CLEARABLE = tuple(sorted(name.replace("_", "-") for name in (*_OWN, *_OWN_LISTS, "branch_scope")))


def changes(values: Mapping[str, object], clear: tuple[str, ...]) -> dict[str, FieldValue]:
    """The changed fields of `update`: what was given, and None for what is to be emptied.

    Raises Usage when a field is both given and cleared.
    """
    given = Given(values)
    found: dict[str, FieldValue] = {}
    for name in ("title", *_OWN, "branch_scope"):
        found |= {_field(name): text} if (text := given.text(name)) is not None else {}
    for name in _OWN_LISTS:
        found |= {name: texts} if (texts := given.texts(name)) else {}
    for name in (*_ORIGIN, "branch"):
        found |= {f"provenance.{name}": text} if (text := given.text(name)) is not None else {}
    for name in _ORIGIN_LISTS:
        found |= {f"provenance.{name}": texts} if (texts := given.texts(name)) else {}
    for name in clear:
        field = _field(name.replace("-", "_"))
        if field in found:
            raise Usage(f"`--clear {name}` and a value for it cannot be used together.", hint="Choose one.")
        found[field] = None
    return found


def _field(option: str) -> str:
    return "branch" if option == "branch_scope" else option
