"""Which keys a note has, and how the text of frontmatter becomes a typed note and back.

A value that does not fit its key (a bad time, an unknown status) is a doubt, not an error: the note gets the
default, the value as written stays in `extra` under its key, and so survives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from commonwealth import timeline
from commonwealth.model import (
    CLOSED_STATUSES,
    CONFIDENCES,
    KINDS,
    SILENT_CHOICES,
    STATUSES,
    TYPES,
    VERIFICATIONS,
    WORK_STATUSES,
    Extra,
    Note,
    Provenance,
    Reviewed,
    Source,
    Verified,
)
from commonwealth.notes import naming

TEXT, TIME, LIST, CHOICE, MAP = range(5)

KEYS: Final[Mapping[str, int]] = {
    "id": TEXT,
    "kind": CHOICE,
    "type": CHOICE,
    "title": TEXT,
    "summary": TEXT,
    "status": CHOICE,
    "confidence": CHOICE,
    "created_at": TIME,
    "updated_at": TIME,
    "observed_at": TIME,
    "started_at": TIME,
    "completed_at": TIME,
    "lease_until": TIME,
    "valid_from": TIME,
    "valid_until": TIME,
    "superseded_at": TIME,
    "superseded_by": TEXT,
    "supersedes": LIST,
    "relates": LIST,
    "retracted_at": TIME,
    "retract_reason": TEXT,
    "branch": TEXT,
    "conflict_of": TEXT,
    "repository": TEXT,
    "files": LIST,
    "components": LIST,
    "tags": LIST,
    "owner": TEXT,
    "agent": TEXT,
    "author": TEXT,
    "author_ref": TEXT,
    "deciders": LIST,
    "number": TEXT,
    "name": TEXT,
    "org": TEXT,
    "role": TEXT,
    "provenance": MAP,
    "reviewed": MAP,
    "source": MAP,
    "verified": MAP,
}
"""The keys of a note in canonical order."""

WORK_KEYS: Final = frozenset(("owner", "agent", "files", "started_at", "completed_at", "lease_until"))
"""Keys that are known where the kind is work-state; in other notes they stay as they were written."""

_UNKNOWN: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset() if kind == "work-state" else WORK_KEYS for kind in KINDS
}

SUB_KEYS: Final[Mapping[str, Mapping[str, int]]] = {
    "provenance": {
        "human": TEXT,
        "agent": TEXT,
        "repository": TEXT,
        "branch": TEXT,
        "commit": TEXT,
        "pull_request": TEXT,
        "issue": TEXT,
        "files": LIST,
        "urls": LIST,
        "evidence": LIST,
        "session": TEXT,
    },
    "reviewed": {"by": TEXT, "at": TIME},
    "source": {"kind": TEXT, "path": TEXT},
    "verified": {"at": TIME, "commit": TEXT, "result": CHOICE},
}

_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "memory": {"type": "discovery", "status": "observed", "confidence": "medium"},
    "decision": {"type": "decision", "status": "decision", "confidence": "medium"},
    "work-state": {"type": "discovery", "status": "in-progress", "confidence": "medium"},
    "person": {"type": "discovery", "status": "observed", "confidence": "medium"},
}
_ALLOWED = {"type": TYPES, "status": STATUSES, "confidence": CONFIDENCES}
# The words of Nygard's and MADR's decision records.
_FOREIGN_STATUS: Mapping[str, str] = {
    "accepted": "decision",
    "approved": "decision",
    "proposed": "hypothesis",
    "draft": "hypothesis",
    "deprecated": "superseded",
    "superseded": "superseded",
    "rejected": "retracted",
}
_CANONICAL_TIME = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
)
_ONLY_TEXT = frozenset((str,))
_NO_EXTRA: Mapping[str, Extra] = MappingProxyType({})

Doubt = Callable[[str, str], None]
"""Called with a key and one clause about its value."""


def default(kind: str, key: str, note_type: str | None = None) -> str:
    """The value of `type`, `status` or `confidence` where a note of this kind does not say."""
    if key == "status" and note_type == "decision" and kind in ("memory", "decision"):
        return "decision"
    return _DEFAULTS[kind][key]


def choices(kind: str, key: str) -> tuple[str, ...]:
    """The words that `type`, `status` or `confidence` may be in a note of this kind."""
    return WORK_STATUSES if kind == "work-state" and key == "status" else _ALLOWED[key]


def time(text: str) -> str:
    """Canonical time; the usual case costs no calendar. Raises ValueError."""
    return text if _CANONICAL_TIME.fullmatch(text) else timeline.canonical(text)


def to_note(values: Mapping[str, Extra], body: str, stem: str, kind: str, doubt: Doubt) -> Note:
    """The note of a frontmatter's values. An empty `kind` is taken from the values, else `memory`."""
    fields: dict[str, Any] = {}
    extra: dict[str, Extra] = {}
    kind = _kind(values, kind, doubt)
    unknown = _UNKNOWN[kind]
    for key, value in values.items():
        how = KEYS.get(key)
        if how is None or key in unknown:
            extra[key] = value
        elif how == TEXT and type(value) is str and value:
            fields[key] = value
        elif how != CHOICE:
            made = _submap(key, value, doubt) if how == MAP else _read(how, key, value, doubt)
            if made is not None:
                fields[key] = made
            elif value not in ("", [], {}):
                extra[key] = value
    fields["kind"] = kind
    _choose(values, kind, fields, extra, doubt)
    _name(fields, extra, body, stem, doubt)
    starts, ends = fields.get("valid_from"), fields.get("valid_until")
    if starts and ends and ends <= starts and fields["status"] not in CLOSED_STATUSES:
        doubt("valid_until", f"it is not after valid_from {starts}, so the note is true at no time")
    return Note(body=body, extra=extra or _NO_EXTRA, **fields)


def _read(how: int, key: str, value: Extra, doubt: Doubt) -> str | tuple[str, ...] | None:
    """A text, time or list of texts; None for nothing and for what does not fit."""
    if how == LIST:
        return _texts(key, value, doubt)
    if type(value) is not str:
        doubt(key, "it is not text")
    elif how == TIME and value:
        try:
            return time(value)
        except ValueError as error:
            doubt(key, str(error))
    elif value:
        return value
    return None


def _texts(key: str, value: Extra, doubt: Doubt) -> tuple[str, ...] | None:
    """The texts of a list, or of the one item that stands for it."""
    if type(value) is list:
        if _ONLY_TEXT.issuperset(map(type, value)):
            return tuple(filter(None, value)) or None  # type: ignore[arg-type]
        doubt(key, "it holds more than text")
    elif type(value) is str:
        return (value,) if value else None
    else:
        doubt(key, "it is not a list")
    return None


def _submap(key: str, value: Extra, doubt: Doubt) -> Provenance | Reviewed | Source | Verified | None:
    if type(value) is not dict:
        if value not in ("", []):
            doubt(key, "it has no keys of its own")
        return None
    known, fields, extra = SUB_KEYS[key], dict[str, Any](), dict[str, Extra]()
    for name, item in value.items():
        how = known.get(name)
        if how == TEXT and type(item) is str and item:
            fields[name] = item
        elif how is None:
            extra[name] = item
        elif how == CHOICE and item not in VERIFICATIONS:
            doubt(key, f"{name} is not one of {', '.join(VERIFICATIONS)}")
        elif (read := _read(how, key, item, doubt)) is not None:
            fields[name] = read
    if key == "provenance":
        return Provenance(extra=extra or _NO_EXTRA, **fields) if fields or extra else None
    if key == "source":
        return Source(fields.get("kind", ""), fields.get("path", "")) if fields else None
    made = Reviewed(**fields) if key == "reviewed" else Verified(**fields)
    return made if fields else None


def _kind(values: Mapping[str, Extra], kind: str, doubt: Doubt) -> str:
    said = values.get("kind", "")
    if not kind:
        if said in KINDS:
            return str(said)
        if said:
            doubt("kind", f"it is not one of {', '.join(KINDS)}")
        return "decision" if values.get("type") == "decision" else "memory"
    if said and said != kind:
        doubt("kind", f"the file lies in the folder of kind {kind}, which counts")
    return kind


def _choose(
    values: Mapping[str, Extra], kind: str, fields: dict[str, Any], extra: dict[str, Extra], doubt: Doubt
) -> None:
    for key in _ALLOWED:
        said = values.get(key)
        allowed = choices(kind, key)
        if said in allowed:
            fields[key] = said
            continue
        fields[key] = default(kind, key, fields.get("type"))
        if said is None or said in ("", []):
            continue
        text = said.strip().lower() if type(said) is str else ""
        word = text.partition(" ")[0].rstrip(",.:;")
        if text in allowed:
            fields[key] = text
        elif key == "status" and kind != "work-state" and word in _FOREIGN_STATUS:
            fields[key] = _FOREIGN_STATUS[word]
        else:
            doubt(key, f"it is not one of {', '.join(allowed)}; read as {fields[key]}")
        extra[key] = said


def _name(fields: dict[str, Any], extra: dict[str, Extra], body: str, stem: str, doubt: Doubt) -> None:
    """The id and the title of a note that lacks them, from its file and its first heading."""
    said = fields.get("id")
    if said is None:
        fields["id"] = stem
    elif said != stem and not naming.valid_id(said):
        doubt("id", "it cannot be a file name, so the file's own name counts")
        extra["id"] = said
        fields["id"] = stem
    if "title" not in fields:
        fields["title"] = fields.get("name") or first_heading(body) or stem


_HEADING = re.compile(r"^(?:(?P<fence>```|~~~)|#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\r?$)", re.MULTILINE)


def first_heading(body: str) -> str | None:
    """The text of the first markdown heading that does not stand in a fenced block."""
    fence = None
    for match in _HEADING.finditer(body):
        if match["fence"]:
            fence = None if fence == match["fence"] else fence or match["fence"]
        elif fence is None and match["title"]:
            return match["title"]
    return None


def fields(note: Note) -> dict[str, Any]:
    """The values of a note's frontmatter in canonical order; what is empty or goes without saying is left out."""
    kind, extra = note.kind, note.extra
    silent = SILENT_CHOICES[kind]
    values: dict[str, Any] = {}
    for key, how in KEYS.items():
        value = getattr(note, key)
        if how == CHOICE and key != "kind":
            if key in extra and value == _read_choice(key, extra[key], kind, note.type):
                value = extra[key]
            elif key in silent and value == default(kind, key, note.type):
                continue
        elif not value or (key == "id" and key in extra) or (how == MAP and not (value := submap(value))):
            continue
        values[key] = value
    for key, value in extra.items():
        if key not in values:
            values[key] = value
    return values


def _read_choice(key: str, said: Extra, kind: str, note_type: str) -> str:
    made: dict[str, Any] = {"type": note_type} if key == "status" else {}
    _choose({"type": note_type, key: said} if key == "status" else {key: said}, kind, made, {}, lambda *_: None)
    return str(made[key])


def submap(value: Provenance | Reviewed | Source | Verified) -> dict[str, Any]:
    """The values of a nested record in canonical order, unknown keys last."""
    if type(value) is Provenance:
        found = {key: item for key in SUB_KEYS["provenance"] if (item := getattr(value, key))}
        return {**found, **value.extra} if value.extra else found
    names = type(value).__slots__
    return {key: item for key in names if (item := getattr(value, key))}
