"""One call of a tool: which brain it means, what is known of the session, and what follows once it is answered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from commonwealth import timeline
from commonwealth.adapters import wire, worker
from commonwealth.adapters.mcp import answers, wording
from commonwealth.adapters.mcp.session import Client, Place, project_of, session_of
from commonwealth.adapters.wire import JsonObject
from commonwealth.flows import brains, identity, syncing
from commonwealth.model import Receipt


@dataclass(slots=True)
class Call:
    """One call of a tool: from which session, and what is left to do once it is answered."""

    place: Place
    client: Client
    meta: JsonObject
    now: str = field(default_factory=timeline.now)
    afterwards: list[Callable[[], object]] = field(default_factory=list)

    def brain(self) -> brains.Brain:
        """The brain of the session: named at the start, or by the user's rule; never by an argument."""
        return brains.resolve(self.place.selector, self.place.folder, project_of(self.place, self.meta))

    def session(self) -> identity.Session:
        """What provenance is to know of the session."""
        return identity.Session(self.client.agent, session_of(self.meta))

    def written(self, receipt: Receipt, brain: brains.Brain, shown: JsonObject | None = None) -> JsonObject:
        """A receipt as an answer, in the form `shown` where that says more than the receipt.

        What was committed is published by a worker of its own. It is on its way before this is answered: a host may
        kill the server as soon as it has the answer.
        """
        if receipt.state == "committed" and syncing.has_remote(brain):
            with suppress(OSError):  # no process to be had now: the debt stands in the clone for the next worker
                self.afterwards.append(worker.launching(brain.root))
        return answers.result(
            wording.of_receipt(shown or wire.receipt_json(receipt)), is_error=receipt.state == "refused"
        )
