"""How answers about active work look: work records in short, as many as fit."""

from __future__ import annotations

from functools import partial

from commonwealth.adapters.mcp.answers import LIMIT, NOTICE, ROOM, clipped_list, dumped, fitting, listed
from commonwealth.adapters.wire import JsonObject
from commonwealth.safetext import one_line

MOST_OVERLAPS = 20
"""Overlaps that an announcement is answered with; `work_search` finds the others."""

_SHORT = ("status", "owner", "agent", "repository", "branch", "updatedAt", "leaseUntil")
_STEPS = ((300, 5), (140, 3), (0, 1))
"""Characters of a summary, and files, components and reasons that are named, the roomiest first."""


def search(found: JsonObject) -> JsonObject:
    """`work search --json` in the compact form of `work_search`, shortened until it fits."""
    nothing = "No open work touches it. Announce yours with work_start before you change anything."
    return listed(found, _FORMS, nothing)


def started(told: JsonObject) -> JsonObject:
    """The receipt of announced work with its overlaps in short, as many as fit."""
    hits = told["overlaps"]
    assert isinstance(hits, list)
    frame: JsonObject = {**told, "overlaps": [], "notice": NOTICE}
    frame["warnings"] = clipped_list(told.get("warnings"), 10, 300)
    short = fitting(hits[:MOST_OVERLAPS], _FORMS, LIMIT - ROOM - len(dumped(frame)))
    frame["overlaps"] = short
    frame["truncated"] = len(short) < len(hits)
    if hits and not frame.get("next"):
        frame["next"] = _advice(len(short), len(hits))
    return frame


def _advice(shown: int, found: int) -> str:
    more = f" ({shown} of {found} are shown; work_search finds the others)" if shown < found else ""
    return f"Others work on the same{more}: tell the user, talk to them if it matters, then go on. It blocks nothing."


def _hit(hit: JsonObject, *, summary: int, items: int) -> JsonObject:
    shown: JsonObject = {"id": hit["id"], "title": one_line(str(hit.get("title", "")), 200)}
    shown |= {name: one_line(str(hit[name]), 120) for name in _SHORT if name in hit}
    if summary and hit.get("summary"):
        shown["summary"] = one_line(str(hit["summary"]), summary)
    for name in ("files", "components"):
        if hit.get(name):
            shown[name] = clipped_list(hit[name], items, 120)
    shown["overlap"] = clipped_list(hit.get("overlap"), items, 160)
    shown["stale"] = hit["stale"]
    if hit.get("labels"):
        shown["labels"] = clipped_list(hit["labels"], 3, 60)
    return shown


_FORMS = [partial(_hit, summary=summary, items=items) for summary, items in _STEPS]
