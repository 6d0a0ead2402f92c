"""How answers about candidates look: in short, as many as fit; one of them whole, as far as it fits."""

from __future__ import annotations

from functools import partial

from commonwealth.adapters.mcp.answers import LIMIT, NOTICE, ROOM, clipped_list, dumped, fitting
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.safetext import one_line

_SHORT = ("type", "status", "confidence", "repository", "branch")
_STEPS = ((300, 4, 200), (140, 2, 120), (0, 1, 80))
"""Characters of a summary, reasons that are named, and their characters, the roomiest first."""

_BODY = 3500
_DISPUTES = 5


def listing(found: JsonObject, disputes: list[Json], *, may_decide: bool) -> JsonObject:
    """A page of the queue, and the conflicts that a person has to settle."""
    candidates, total, page, pages = (found[name] for name in ("candidates", "total", "page", "pages"))
    assert isinstance(candidates, list)
    assert isinstance(page, int)
    assert isinstance(pages, int)
    frame: JsonObject = {"candidates": [], "total": total, "page": page, "pages": pages, "notice": NOTICE}
    broken = found["broken"]
    if isinstance(broken, list) and broken:
        frame["broken"] = [_broken(one) for one in broken[:_DISPUTES]]
    if disputes:
        frame["conflicts"] = disputes[:_DISPUTES]
    forms = [partial(_candidate, summary=summary, reasons=many, text=text) for summary, many, text in _STEPS]
    short = fitting(candidates, forms, LIMIT - ROOM - len(dumped(frame)))
    frame["candidates"] = short
    frame["truncated"] = len(short) < len(candidates) or page < pages
    frame["next"] = _next(len(short), len(candidates), page, pages, may_decide=may_decide, disputes=bool(disputes))
    return frame


def _broken(one: Json) -> Json:
    return (
        one_line(f"{one.get('path')}, line {one.get('line')}: {one.get('cause')}", 200) if isinstance(one, dict) else ""
    )


def _next(shown: int, found: int, page: int, pages: int, *, may_decide: bool, disputes: bool) -> str | None:
    steps = []
    if shown < found:
        steps.append(f"{shown} of {found} of this page fit: review_list with an id shows one.")
    if page < pages:
        steps.append(f"Page {page + 1} of {pages} goes on.")
    if found:
        told = "review_decide approves or rejects." if may_decide else "Only the user decides: `brain review`."
        steps.append(f"Read one with its id before you judge it. {told}")
    if disputes:
        step = "review_decide approves the rival that stands." if may_decide else "`brain conflicts resolve`."
        steps.append(f"Conflicts are the user's to settle: {step}")
    return " ".join(steps) or "Nothing waits for review."


def _candidate(one: JsonObject, *, summary: int, reasons: int, text: int) -> JsonObject:
    shown: JsonObject = {"id": one["id"], "title": one_line(str(one.get("title", "")), 200)}
    shown |= {name: one_line(str(one[name]), 120) for name in _SHORT if name in one}
    if summary and one.get("summary"):
        shown["summary"] = one_line(str(one["summary"]), summary)
    origin = one.get("candidate")
    if isinstance(origin, dict):
        shown["verdict"] = origin.get("verdict")
        if origin.get("reasons"):
            shown["reasons"] = clipped_list(origin["reasons"], reasons, text)
    if one.get("doubts"):
        shown["doubts"] = clipped_list(one["doubts"], max(1, reasons), text)
    if one.get("supersedes"):
        shown["supersedes"] = clipped_list(one["supersedes"], 3, 120)
    return shown


_ORIGIN = ("source", "host", "session", "evidence", "signal", "verdict", "at", "droppedAt", "droppedBecause")


def shown(found: JsonObject) -> JsonObject:
    """One candidate whole, with what speaks for and against it; its texts are cut where they would not fit."""
    origin = found.get("candidate")
    whole = _candidate(found, summary=1500, reasons=10, text=300)
    body = str(found.get("body") or "")
    whole["body"] = body if len(body) <= _BODY else body[: _BODY - 1] + "…"
    for name in ("components", "tags", "relates"):
        if found.get(name):
            whole[name] = clipped_list(found[name], 10, 80)
    provenance = found.get("provenance")
    for name in ("files", "evidence"):
        if isinstance(provenance, dict) and provenance.get(name):
            whole[name] = clipped_list(provenance[name], 6, 200)
    if isinstance(origin, dict):
        whole["origin"] = {name: origin[name] for name in _ORIGIN if name in origin}
        if origin.get("quotes"):
            whole["quotes"] = clipped_list(origin["quotes"], 4, 300)
    for name in ("wouldSupersede", "contradicts", "duplicateOf"):
        if found.get(name):
            whole[name] = found[name] if not isinstance(found[name], list) else found[name][:5]  # type: ignore[index]
    near = found.get("neighbours")
    whole["neighbours"] = [_near(hit) for hit in near if isinstance(hit, dict)] if isinstance(near, list) else []
    cut = len(body) > _BODY
    return {
        "candidates": [whole],
        "total": 1,
        "truncated": cut,
        "next": "Its body was cut; `brain review show` has all of it." if cut else None,
        "notice": NOTICE,
    }


def _near(hit: JsonObject) -> Json:
    return {
        "id": hit["id"],
        "title": one_line(str(hit.get("title", "")), 160),
        "summary": one_line(str(hit.get("summary") or ""), 200),
    }
