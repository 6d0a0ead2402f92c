"""What the tools about candidates do: arguments → flow → answer. A coding tool decides only where the user lets it."""

from __future__ import annotations

from commonwealth.adapters import wire, wire_review
from commonwealth.adapters.mcp import answers, answers_review, models_review
from commonwealth.adapters.mcp.arguments import check
from commonwealth.adapters.mcp.calling import Call
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.flows import brains, conflicts, modes, review

_PAGE = 20


def listing(given: JsonObject, one: Call) -> JsonObject:
    """`review_list`."""
    asked = check(models_review.ReviewListArguments, given)
    brain = one.brain()
    if asked.id is not None:
        shown = wire_review.shown_json(review.shown(brain, asked.id, now=one.now))
        return answers.result(answers_review.shown(shown))
    filters = review.Filters(session=(asked.session,) if asked.session else (), dropped=asked.dropped)
    found = review.listed(brain, filters)
    pages = max(1, -(-len(found.candidates) // _PAGE))
    part = found.candidates[(asked.page - 1) * _PAGE : asked.page * _PAGE]
    shown = wire_review.listing_json(found, part, asked.page, pages)
    disputes = [] if asked.dropped else _conflicts(brain)
    return answers.result(answers_review.listing(shown, disputes, may_decide=modes.agents_may_approve(brain)))


def _conflicts(brain: brains.Brain) -> list[Json]:
    return [
        {"id": found.id, "cause": found.cause, "rivals": [rival.id for rival in found.rivals]}
        for found in conflicts.conflicts(brain)
    ]


def decide(given: JsonObject, one: Call) -> JsonObject:
    """`review_decide`."""
    asked = check(models_review.ReviewDecideArguments, given)
    brain = one.brain()
    if not modes.agents_may_approve(brain):
        team = brain.config.agents == "propose"
        return answers.failure(
            "Coding tools may list candidates here, and not decide on them: nothing was changed.",
            "Tell the user which you would approve or reject, and why: `brain review` walks through them."
            if team
            else "Tell the user which you would approve or reject, and why: `brain review` walks through them; "
            "`brain config set agents approve` lets coding tools decide.",
        )
    if asked.decision == "approve" and (kept := conflicts.rivals_of(brain, asked.id)) is not None:
        return one.written(conflicts.resolve(brain, kept[0], keep=kept, session=one.session(), now=one.now), brain)
    if asked.decision == "approve":
        return one.written(review.approve(brain, asked.id, session=one.session(), now=one.now), brain)
    receipt = review.reject(brain, asked.id, reason=asked.reason, session=one.session(), now=one.now)
    return one.written(receipt, brain, wire.receipt_json(receipt))
