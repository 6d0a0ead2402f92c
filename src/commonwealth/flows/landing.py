"""Swept drafts that land by themselves: where the person's own settings say so, and the gate has no question left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonwealth.errors import BrainError
from commonwealth.flows import identity, modes, ownqueue
from commonwealth.flows.approval import Approval
from commonwealth.flows.harvest import Ground
from commonwealth.flows.queueing import Placed
from commonwealth.model import Receipt


def land(ground: Ground, placed: Sequence[Placed]) -> tuple[Receipt | None, list[Placed]]:
    """Bring into canon what may go there by itself, unreviewed; the receipt of that, and what became of each draft.

    They wait in the queue already. What cannot be committed goes on waiting there, with the reason.
    """
    ready = {one.id for one in placed if one.state == "staged" and one.judged.verdict.verdict == "promote"}
    if not ready or modes.sweep_mode(ground.brain) != "auto":
        return None, list(placed)
    chosen = [one for one in ownqueue.listed(ground.brain.root)[0] if one.note.id in ready]
    author = identity.whoami(ground.brain)
    try:
        receipt = Approval(ground.brain, chosen, author, ground.session, ground.now, by_itself=True).run()
    except BrainError as error:
        return Receipt("deferred", warnings=(f"nothing landed by itself: {error.message}",)), list(placed)
    told = {item.id: item for item in receipt.items}
    return receipt, [_landed(one, told[one.id].state, told[one.id].reason) if one.id in told else one for one in placed]


def _landed(one: Placed, state: str, reason: str | None) -> Placed:
    return replace(one, state="staged" if state == "refused" else state, reason=reason)
