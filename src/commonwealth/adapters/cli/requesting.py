"""`brain review pr`: candidates go to the team as a request on the brain's host."""

from __future__ import annotations

from commonwealth import timeline
from commonwealth.adapters import forge, show, show_review, wire_review
from commonwealth.adapters.cli.call import EXIT_CODES, Call
from commonwealth.errors import NeedsReview
from commonwealth.flows import requests
from commonwealth.flows.identity import Session
from commonwealth.flows.requestanswer import Answered, Wanted
from commonwealth.flows.review import Filters


def ask(call: Call, chosen: tuple[str, ...] | Filters, wanted: Wanted) -> int:
    """Send candidates to the team and show what became of that; the exit code."""
    brain = call.brain()
    with call.screen.working("Asking the team"):
        answered = requests.send(brain, chosen, wanted, connect=forge.connect, session=Session(), now=timeline.now())
    if call.screen.as_json:
        call.screen.document(wire_review.answered_json(answered))
    else:
        show.receipt(call.screen, answered.receipt)
        show_review.proposed(call.screen, answered)
    return _code(answered)


def _code(answered: Answered) -> int:
    """A request that is open is done, although its candidates wait; one that is not is told as what kept it."""
    receipt = answered.receipt
    if receipt.state not in ("staged", "unchanged"):
        return EXIT_CODES.get(receipt.state, 0)
    partly = any(item.state in ("refused", "deferred") for item in receipt.items)
    return NeedsReview.exit_code if partly else 0
