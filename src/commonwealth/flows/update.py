"""Correct or enrich the record of a fact; reality did not change. Edits touch the named keys or section only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Usage
from commonwealth.flows import identity, recall, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Note, Provenance, Receipt
from commonwealth.notes import codec, naming, sections, store
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

EDITABLE = (
    "title", "summary", "type", "status", "confidence", "observed_at", "valid_from", "valid_until", "branch",
    "repository", "components", "tags", "relates", "deciders",
)  # fmt: skip
PROVENANCE = tuple(field.name for field in fields(Provenance) if field.name != "extra")

FieldValue = str | Sequence[str] | None
"""Text or a list of text; None takes the field away."""

_LISTS = ("components", "tags", "relates", "deciders", "files", "urls", "evidence")
_TIMES = ("observed_at", "valid_from", "valid_until")
_CHOICES = {"type": TYPES, "status": STATUSES, "confidence": CONFIDENCES}


@dataclass(frozen=True, slots=True)
class SectionEdit:
    """A change of the section under one heading: text put at its end, or in place of what it says."""

    heading: str
    append: str | None = None
    replace: str | None = None


def update(
    brain: Brain,
    note_id: str,
    changes: Mapping[str, FieldValue],
    *,
    section: SectionEdit | None = None,
    body: str | None = None,
    session: Session,
    now: str,
) -> Receipt:
    """Change fields (`summary`, `provenance.files`, …), one section or the whole body of a note.

    The receipt is `committed`, `unchanged` where the note says so already, or `refused` for a secret.
    Raises Usage that names every invalid field, Refused for an unknown or ambiguous id.
    """
    values = _validated(changes)
    if section is not None and (section.append is None) == (section.replace is None):
        raise Usage("section: give either the text to append or the text that replaces it.")
    author = identity.whoami(brain)
    found = recall.locate(brain, note_id)

    def plan() -> Sequence[Change] | Receipt:
        before = recall.at_its_place(lambda: store.read_bytes(brain.root, found.path)[0], found.path)
        text = codec.decode(before, found.path)
        old, _ = codec.parse(text, found.path, found.kind)
        new = replace(_with(old, values), body=_body(old.body, section, body))
        if new == old:
            return Receipt("unchanged", (old.id,), reason="the note says so already")
        if not values.keys().isdisjoint(_TIMES):
            _check(new)
        new = replace(new, updated_at=now)
        if (refusal := saving.refused_for_secret(new)) is not None:
            return replace(refusal, ids=(old.id,))
        edited = codec.edit(text, codec.changes(old, new), None if new.body == old.body else new.body, found.path)
        return [Change(found.path, edited.encode(), before)]

    message = f"Update: {one_line(found.title, 60)}{identity.trailers(session)}"
    receipt = saving.save(brain, plan, ids=(found.id,), message=message, author=author, now=now)
    return replace(receipt, warnings=(*found.warnings, *receipt.warnings))


def _validated(changes: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """`changes` in canonical form. Raises Usage with one sentence for each invalid field."""
    problems: list[str] = []
    values: dict[str, FieldValue] = {}
    for key, value in changes.items():
        try:
            values[key] = _value(key, value)
        except ValueError as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise Usage(secrets.mask("; ".join(problems)) + ".", hint="Correct the fields named here; nothing was written.")
    return values


def _value(key: str, value: FieldValue) -> FieldValue:
    head, _, name = key.partition(".")
    if (head not in EDITABLE or name) and not (head == "provenance" and name in PROVENANCE):
        raise ValueError("no field of a note that can be changed has this name")
    name = name or head
    if name in _LISTS:
        given = [value] if isinstance(value, str) else list(value or ())
        clean = map(naming.normal_tag, given) if name == "tags" else (item.strip() for item in given)
        return tuple(dict.fromkeys(filter(None, clean)))
    if value is not None and not isinstance(value, str):
        raise ValueError("it takes one text, not a list")
    if not value:
        if name in ("title", *_CHOICES):
            raise ValueError("it cannot be empty")
        return None
    if name in _TIMES:
        return timeline.canonical(value)
    allowed = _CHOICES.get(name)
    if allowed and value not in allowed:
        offered = (word for word in allowed if word not in CLOSED_STATUSES)
        raise ValueError(f"{value!r} is none of {', '.join(offered)}")
    if name == "status" and value in CLOSED_STATUSES:
        field = "superseded_by" if value == "superseded" else "retract_reason"
        raise ValueError(
            f"a fact is closed by hand: set `status: {value}` and `{field}` in its file, then `brain sync`"
        )
    return value


def _with(note: Note, values: Mapping[str, FieldValue]) -> Note:
    own = {key: value for key, value in values.items() if "." not in key}
    origin = {key.partition(".")[2]: value for key, value in values.items() if "." in key}
    return replace(note, **own, provenance=replace(note.provenance, **origin))  # type: ignore[arg-type]


def _body(old: str, section: SectionEdit | None, body: str | None) -> str:
    new = old
    if body is not None:
        new = body.replace("\r\n", "\n").rstrip("\n") + "\n" if body.strip() else ""
    if section is not None and section.append is not None:
        return sections.append_to_section(new, section.heading, section.append)
    if section is not None and section.replace is not None:
        return sections.replace_section(new, section.heading, section.replace)
    return new


def _check(note: Note) -> None:
    if note.valid_from and note.valid_until and note.valid_until <= note.valid_from:
        raise Usage(f"valid_until: {note.valid_until} is not after valid_from {note.valid_from}.")
