"""What every command has in common: its three options, the brain it opens, and how its answer ends."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass

import click

from commonwealth.adapters import show
from commonwealth.adapters.cli.wording import warned
from commonwealth.adapters.terminal import Screen
from commonwealth.adapters.wire import receipt_json
from commonwealth.errors import NeedsReview, Offline, Refused
from commonwealth.flows.brains import Brain, resolve
from commonwealth.model import Receipt

EXIT_CODES = {
    "refused": Refused.exit_code,
    "staged": NeedsReview.exit_code,
    "deferred": Offline.exit_code,
}
"""By the state of a receipt; 0 for every other."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command: which brain was named, the folder it works in, and where its answer goes."""

    selector: str | None
    folder: str
    screen: Screen

    def brain(self) -> Brain:
        """The brain of this call. Raises Refused with the next step where there is none."""
        return resolve(self.selector, self.folder)

    def path(self, given: str) -> str:
        """A path argument, taken from the folder of this call."""
        return os.path.join(self.folder, os.path.expanduser(given))

    def answer(self, receipt: Receipt, shown: Callable[[Screen, Receipt], None] = show.receipt) -> int:
        """Show a receipt, to a person as `shown` does, and return the exit code."""
        receipt = warned(receipt)
        if self.screen.as_json:
            self.screen.document(receipt_json(receipt))
        else:
            shown(self.screen, receipt)
        if receipt.state in ("published", "committed", "unchanged") and receipt.conflicts:
            return NeedsReview.exit_code
        return EXIT_CODES.get(receipt.state, 0)


def with_call(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command `--brain`, `-C` and `--json`, and hand them to it as one `Call`."""

    @functools.wraps(function)
    def run(**values: object) -> int:
        selector, folder, as_json = (values.pop(name) for name in ("selector", "start_in", "as_json"))
        Screen.asked_for_json = bool(as_json)
        where = os.path.abspath(os.path.join(_here(), str(folder or "")))
        call = Call(str(selector) if selector else None, where, Screen(as_json=bool(as_json)))
        return function(call, **values)

    for option in reversed(_COMMON):
        run = option(run)
    return run


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise Refused("The current folder does not exist any more.", hint="Change to one that does.") from None


_COMMON = (
    click.option("--brain", "selector", metavar="PATH|NAME", help="The brain to use instead of the one found."),
    click.option(
        "-C",
        "start_in",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        help="Work as if started in this folder.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."),
)
