"""The filters of a search as options, and the query that is made of them."""

from __future__ import annotations

from collections.abc import Mapping

import click

from commonwealth.adapters.cli.options import TIME, Given, many, options
from commonwealth.flows.brains import Brain
from commonwealth.index.query import Query
from commonwealth.model import CONFIDENCES, KINDS, STATUSES, TYPES

filter_options = options(
    many("--repository", "repository", metavar="NAME", help="About this code repository."),
    many("--kind", "kind", type=click.Choice(KINDS), help="Of this kind."),
    many("--type", "type", type=click.Choice(TYPES), help="Of this type."),
    many("--status", "status", type=click.Choice(STATUSES), help="With this status."),
    many("--confidence", "confidence", type=click.Choice(CONFIDENCES), help="With this confidence."),
    many("--person", "person", metavar="NAME", help="By this person."),
    many("--agent", "agent", metavar="NAME", help="Found by this coding tool."),
    many("--component", "component", metavar="NAME", help="About this component."),
    many("--tag", "tag", metavar="TAG", help="With this tag."),
    many("--file", "file", metavar="PATH", help="About this source file."),
    many("--branch", "branch", metavar="BRANCH", help="Found on this branch, or true on it only."),
    *(
        click.option(f"--{what}-{side}", type=TIME, metavar="TIME", help=f"{what.title()} {words} then.")
        for what in ("created", "observed", "updated")
        for side, words in (("after", "at or after"), ("before", "before"))
    ),
    click.option("--valid-at", type=TIME, metavar="TIME", help="What was true then, instead of now."),
    click.option("--include-superseded", is_flag=True, help="Also what is no longer true, or on another branch only."),
)

as_of_option = click.option(
    "--as-of", metavar="TIME|COMMIT", help="What the brain said then: at a time, or at a commit of its history."
)


def query(text: str, values: Mapping[str, object], brain: Brain, now: str) -> Query:
    """The query for `text` and the values of `filter_options`; the session's repository comes first."""
    given = Given(values)
    limit = values.get("limit")
    return Query(
        text=text,
        repository=given.texts("repository"),
        kind=given.texts("kind"),
        type=given.texts("type"),
        status=given.texts("status"),
        confidence=given.texts("confidence"),
        person=given.texts("person"),
        agent=given.texts("agent"),
        component=given.texts("component"),
        tag=given.texts("tag"),
        file=given.texts("file"),
        branch=given.texts("branch"),
        created_after=given.text("created_after"),
        created_before=given.text("created_before"),
        observed_after=given.text("observed_after"),
        observed_before=given.text("observed_before"),
        updated_after=given.text("updated_after"),
        updated_before=given.text("updated_before"),
        valid_at=given.text("valid_at"),
        include_superseded=bool(values.get("include_superseded")),
        limit=limit if isinstance(limit, int) else 20,
        now=now,
        first_repository=brain.repository,
    )
