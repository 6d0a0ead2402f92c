"""The JSON of candidates: the note that one would become, `candidate` with where it comes from, and what is odd."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonwealth.adapters.wire import Json, JsonObject, camel, hit_json, note_json, receipt_json

if TYPE_CHECKING:
    from commonwealth.flows.evidence import Words
    from commonwealth.flows.recall import Link
    from commonwealth.flows.requestanswer import Answered
    from commonwealth.flows.requestlog import Request
    from commonwealth.flows.review import Listing, Origin, Shown, Waiting
    from commonwealth.model import Problem

_TEXTS = (
    "source", "host", "session", "transcript", "signal", "verdict", "at", "duplicate_of", "dropped_at", "dropped_by",
    "dropped_because",
)  # fmt: skip
_LISTS = ("reasons", "quotes", "contradicts")


def origin_json(origin: Origin) -> JsonObject:
    """Where a candidate comes from; `evidence` is a range of lines of the transcript."""
    shown: JsonObject = {camel(name): value for name in _TEXTS if (value := getattr(origin, name))}
    if origin.evidence is not None:
        shown["evidence"] = {"from": origin.evidence.first, "to": origin.evidence.last}
    shown |= {camel(name): list[Json](values) for name in _LISTS if (values := getattr(origin, name))}
    return shown


def candidate_json(one: Waiting, *, body: bool = False) -> JsonObject:
    """One candidate; `candidate` is null where its file does not say where it comes from."""
    shown = note_json(one.note, one.path, body=body)
    shown["candidate"] = origin_json(one.origin) if one.origin else None
    if one.doubts:
        shown["doubts"] = list[Json](map(str, one.doubts))
    return shown


def problems_json(found: Iterable[Problem]) -> list[Json]:
    """Files that cannot be read, with line and cause."""
    return [{"path": one.path, "line": one.line, "cause": one.cause} for one in found]


def request_json(request: Request) -> JsonObject:
    """A request: its branch and page; `state` is open, closed, or pushed where it is not open on its host yet."""
    state = request.state if request.opened or request.manual or not request.is_open else "pushed"
    return {
        "branch": request.branch,
        "base": request.base,
        "host": request.kind,
        "url": request.url,
        "number": request.number,
        "state": state,
        "changedByOthers": request.changed,
        "ids": [one.id for one in request.notes],
    }


def answered_json(answered: Answered) -> JsonObject:
    """`review pr`: the receipt, and `requests` with what was done and the text of each."""
    rows: list[Json] = [
        {
            **request_json(one.request),
            "done": one.done,
            "title": one.ask.title,
            "body": one.ask.body,
            "paths": list[Json](one.paths),
        }
        for one in answered.requests
    ]
    return {**receipt_json(answered.receipt), "requests": rows}


def listing_json(
    found: Listing, page: Sequence[Waiting], number: int, pages: int, asked: Mapping[str, Request] | None = None
) -> JsonObject:
    """`review list`: one page of `candidates`; `total` counts those that fit, `waiting` all. `asked` are the requests
    that candidates are in, by the key of their ids."""
    return {
        "candidates": [_asked_json(one, asked or {}) for one in page],
        "total": len(found.candidates),
        "waiting": found.waiting,
        "page": number,
        "pages": pages,
        "broken": problems_json(found.broken),
    }


def _asked_json(one: Waiting, asked: Mapping[str, Request]) -> JsonObject:
    shown = candidate_json(one)
    request = asked.get(one.note.id.casefold())
    if request is not None:
        shown["request"] = request_json(request)
    return shown


def shown_json(found: Shown, said: Words | None = None, request: Request | None = None) -> JsonObject:
    """`review show`: the candidate whole, with the notes that speak for and against it; a title is null where there is
    no such note. `state` is waiting or dropped, `verdict` the gate's, null for what was not captured. `said` are the
    words of the session, where its file is still there, and `request` the one that it is in, or was."""
    one = found.candidate
    shown = candidate_json(one, body=True)
    shown["state"] = "dropped" if one.is_dropped else "waiting"
    shown["verdict"] = one.origin.verdict if one.origin else None
    if request is not None:
        shown["request"] = request_json(request)
    shown["neighbours"] = [hit_json(hit) for hit in found.neighbours]
    shown["wouldSupersede"] = _links(found.supersedes)
    shown["contradicts"] = _links(found.contradicts)
    shown["duplicateOf"] = _links([found.duplicate_of])[0] if found.duplicate_of else None
    shown["review"] = found.mode
    if said is not None:
        shown["said"] = [{"line": line, "who": who, "text": text} for line, who, text in said.lines]
    return shown


def _links(links: Iterable[Link]) -> list[Json]:
    return [{"id": link.id, "title": link.title} for link in links]
