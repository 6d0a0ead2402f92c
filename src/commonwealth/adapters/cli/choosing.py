"""Which candidates a command of `brain review` is about: by id, or by filters."""

from __future__ import annotations

import click

from commonwealth.adapters.cli.options import TIME, Given, many, options
from commonwealth.errors import NeedsReview, Usage
from commonwealth.flows.review import Filters
from commonwealth.model import STATUSES, TYPES, VERDICTS, Receipt

_HOSTS = ("claude", "codex")

filter_options = options(
    many("--host", "host", type=click.Choice(_HOSTS), help="Captured from sessions of this coding tool."),
    many("--session", "session", metavar="ID", help="Captured from this session; the beginning of its id is enough."),
    many("--type", "type", type=click.Choice(TYPES), help="Of this type."),
    many("--status", "status", type=click.Choice(STATUSES), help="With this status."),
    many("--verdict", "verdict", type=click.Choice(VERDICTS), help="What the gate said of it."),
    many("--component", "component", metavar="NAME", help="About this component."),
    click.option("--since", type=TIME, metavar="TIME", help="Waiting since then or later."),
    click.option("--mine", is_flag=True, help="Only your own."),
    click.option("--dropped", is_flag=True, help="Those that were turned down in the last 30 days."),
)
ALL = click.option("--all", "everything", is_flag=True, help="All of them, or all that the filters let through.")


def filters_of(values: dict[str, object]) -> Filters:
    """The filters among a command's options."""
    given = Given(values)
    names = ("host", "session", "type", "status", "verdict", "component")
    chosen = {name: given.texts(name) for name in names}
    return Filters(
        **chosen,
        since=given.text("since"),
        mine=values.get("mine") is True,
        dropped=values.get("dropped") is True,
    )


def chosen_by(act: str, ids: tuple[str, ...], *, everything: bool, filters: Filters) -> tuple[str, ...] | Filters:
    """What the call names. Raises Usage where it names nothing, or in two ways."""
    by_filter = everything or filters.any
    if bool(ids) == by_filter:
        cause = "Ids, and filters or `--all`, cannot be given together." if ids else "It is not said which candidates."
        raise Usage(cause, hint=f"`brain review {act} ID…`, or `brain review {act} --all`; filters narrow that.")
    return ids or filters


def left_waiting(code: int, receipt: Receipt) -> int:
    """The exit code: of a batch of which something waits on, that a person has to look."""
    partly = receipt.state != "refused" and any(item.state in ("refused", "staged") for item in receipt.items)
    return NeedsReview.exit_code if partly and not code else code
