"""The answer of a call that sends candidates to the team: what it asks for, what was done, and the receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonwealth.errors import BrainError
from commonwealth.flows.forges import Ask
from commonwealth.flows.requestlog import Request
from commonwealth.model import Item, Receipt

_NAMED = 5
"""So many more candidates are named one by one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller asks for: the request's title and whether it is a draft; the open request to add to, by its
    branch, page, number or a note in it; only to say what would be done."""

    title: str | None = None
    draft: bool = False
    add_to: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Proposed:
    """One request that a call is about, and what was done: `opened`, `grown`, `found`, `manual` (the branch is there, a
    person opens it), `pushed` (the branch is there, and `trouble` kept it from being opened) or `planned`."""

    request: Request
    done: str
    ask: Ask
    paths: tuple[str, ...] = ()
    trouble: BrainError | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The receipt, and the requests behind it. Where something is in a request now, its state is `staged`."""

    receipt: Receipt
    requests: tuple[Proposed, ...] = ()


def again(ids: Iterable[str]) -> str:
    """The step for candidates that could not be asked for: unlike notes of canon, no sync takes them along."""
    first, *more = ids
    named = first if not more else "--all" if len(more) > _NAMED else f"{first} {' '.join(more)}"
    return f"Once the remote can be reached, `brain review pr {named}` asks again; a sync does not."


def receipt_of(items: Sequence[Item], proposed: Sequence[Proposed]) -> Receipt:
    """The receipt of a call: `staged` where anything is in a request now."""
    states = {item.state for item in items}
    state = next((name for name in ("staged", "unchanged", "deferred", "refused") if name in states), "unchanged")
    told = [one for one in proposed if one.trouble is None]
    reason = "; ".join(dict.fromkeys(_sentence(one) for one in told))
    if not told:
        reason = " ".join(dict.fromkeys(item.reason or "" for item in items))
    return Receipt(
        state,
        tuple(item.id for item in items),
        commit=next((one.request.commit for one in told), None),
        reason=reason or None,
        next=_next(told),
        items=tuple(items),
    )


def _sentence(one: Proposed) -> str:
    where = one.request.place
    if one.done == "planned":
        return f"nothing was sent; the branch would be {one.request.branch}"
    if one.done == "manual":
        return f"the branch {one.request.branch} is on the remote; a person opens the request for it"
    return {"opened": "the request is open: ", "grown": "added to ", "found": "it is open already: "}[one.done] + where


def _next(told: Sequence[Proposed]) -> str | None:
    manual = [one for one in told if one.done == "manual"]
    if manual:
        url = manual[0].request.url
        at = f" at {url}" if url else ""
        return f"Open a request{at} to merge {manual[0].request.branch} into {manual[0].request.base}."
    if any(one.done in ("opened", "grown", "found") for one in told):
        return "Once it is merged, the next sync takes the candidates out of the queue."
    return None
