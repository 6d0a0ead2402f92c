"""What becomes of a note that one side closed: whose word on its state counts, and what contradicts it.

A retraction says that the fact was never true: it keeps the id, and content that the other side changed at the same
time is a conflict. A supersession says that the fact ended: corrections of its record join it. Of two supersessions
the earlier one closes the note; that there are two shows in the replacements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from commonwealth.model import CLOSED_STATUSES
from commonwealth.notes import yamlwrite
from commonwealth.notes.threeway import Piece
from commonwealth.notes.version import Version

_ENDING = ("valid_until", "superseded_at", "superseded_by")
_TAKEN_BACK = ("retracted_at", "retract_reason")
_STATE = ("status", *_ENDING, *_TAKEN_BACK)
_CONTENT = (
    "title", "summary", "type", "confidence", "observed_at", "valid_from", "branch", "deciders", "name", "org", "role",
)  # fmt: skip
"""Keys that a retraction speaks about; tags, links, provenance and checks go on beside it."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """`given` are keys that are not merged (None: left out). `retracted` is the side whose body counts as well,
    where the other one contradicts the retraction."""

    given: Mapping[str, Piece | None] = field(default_factory=dict)
    retracted: Version | None = None
    warning: str | None = None


def ruling(base: Version | None, one: Version, other: Version) -> Ruling:
    """Whose word on the state of the note counts. Swapping the sides changes nothing."""
    states = [_closed(base, side) for side in (one, other)]
    if states == [None, None]:
        return Ruling()
    if states[0] == states[1]:
        return _twice_superseded(one, other) if states[0] == "superseded" else Ruling(_twice_retracted(one, other))
    if "retracted" not in states:
        by, open_side = (one, other) if states[0] else (other, one)
        return _superseded(base, by, open_side)
    by, against = (one, other) if states[0] == "retracted" else (other, one)
    if None not in states:
        given = _from(by, ("status", *_TAKEN_BACK)) | _from(against, _ENDING)
        return Ruling(given, warning="one side retracted it and the other superseded it; it is retracted")
    if _disagrees(base, by, against):
        return Ruling(_from(by, (*_STATE, *_CONTENT)), retracted=by)
    return Ruling(_from(by, _STATE))


def _closed(base: Version | None, side: Version) -> str | None:
    """The status by which this side closed the note, if it did so since the base."""
    status, by = side.note.status, side.note.superseded_by
    if status not in CLOSED_STATUSES:
        return None
    if base is not None and status == base.note.status and (status == "retracted" or by == base.note.superseded_by):
        return None
    return status


def _from(side: Version, keys: Iterable[str]) -> dict[str, Piece | None]:
    return {key: side.keys.get(key) for key in keys}


def _disagrees(base: Version | None, by: Version, against: Version) -> bool:
    """Whether the other side says something new about what was retracted."""
    if base is not None and _said(against, "status") != _said(base, "status"):
        return True
    said = _content(against)
    return said != _content(by) and (base is None or said != _content(base))


def _content(side: Version) -> tuple[object, ...]:
    return (*(_said(side, key) for key in (*_CONTENT, "valid_until")), side.parts.body.rstrip())


def _said(side: Version, key: str) -> object:
    return side.values.get(key) or None


def _superseded(base: Version | None, by: Version, other: Version) -> Ruling:
    lost = [
        key
        for key in ("status", *_ENDING)
        if base is not None and _said(other, key) not in (_said(base, key), _said(by, key), None)
    ]
    given = _from(by, ("status", *_ENDING))
    if not lost:
        return Ruling(given)
    return Ruling(given, warning=f"the supersession by one side outranks what the other wrote as {', '.join(lost)}")


def _twice_superseded(one: Version, other: Version) -> Ruling:
    first, second = sorted((one, other), key=_by_time)
    given = _from(first, ("status", *_ENDING))
    rivals = sorted({str(side.note.superseded_by) for side in (first, second)})
    return Ruling(given, warning=f"it was superseded twice, by {' and by '.join(rivals)}" if len(rivals) == 2 else None)


def _by_time(side: Version) -> tuple[str, ...]:
    note = side.note
    texts = [piece.text for key in ("status", *_ENDING) if (piece := side.keys.get(key))]
    return (note.valid_until or "", note.superseded_by or "", note.superseded_at or "", *texts)


def _twice_retracted(one: Version, other: Version) -> dict[str, Piece | None]:
    """The earlier retraction, with the reasons of both."""
    first, second = sorted(
        (one, other), key=lambda side: (side.note.retracted_at or "", _reason(side), _reason_text(side))
    )
    given = _from(first, ("status", "retracted_at", "retract_reason"))
    reasons = _reason(first), _reason(second)
    if reasons[0] in reasons[1]:
        given["retract_reason"] = second.keys.get("retract_reason")
    elif reasons[1] not in reasons[0]:
        joined = "; ".join(reasons)
        given["retract_reason"] = Piece("retract_reason", yamlwrite.entry("retract_reason", joined), joined)
    return given


def _reason(side: Version) -> str:
    return side.note.retract_reason or ""


def _reason_text(side: Version) -> str:
    piece = side.keys.get("retract_reason")
    return piece.text if piece else ""
