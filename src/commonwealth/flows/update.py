"""Correct or enrich the record of a fact; reality did not change. Edits touch the named keys or section only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Refused, Usage
from commonwealth.flows import ends, guarding, identity, modes, recall, saving, scope
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import CLOSED_STATUSES, CONFIDENCES, STATUSES, TYPES, Item, Note, Provenance, Receipt
from commonwealth.notes import codec, naming, sections, store
from commonwealth.repo.commit import Change
from commonwealth.repo.refname import branch_name
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
    """A change of the section under one heading: text put at its end, right below its heading, or in place of what it
    says. `create` makes a section that is missing, as `append` does without being told."""

    heading: str
    append: str | None = None
    replace: str | None = None
    insert: str | None = None
    create: bool = False

    @property
    def adds(self) -> bool:
        """Whether it leaves what is there as it is, so that it may be done to whatever version there is by then."""
        return self.replace is None


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

    The change is made to the note as it was when this was called. What others have changed since is united with it; of
    what cannot be united both versions are kept, and the receipt names the other one under `conflicts`. The receipt is
    `committed`, `unchanged` where the note says so already, or `refused` for a secret and for text that speaks to a
    model. Raises Usage that names every invalid field, or for a heading that several sections have; Refused for an
    unknown or ambiguous id, and for a fact where the team takes changes by pull request only.
    """
    _require_one_edit(section, body)
    edit = _Edit(_validated(changes), body, section, now)
    author = identity.whoami(brain)
    found = recall.located_once(brain, note_id)
    _require_fields_of(found, changes)
    modes.require_direct(brain, found.id, found.kind, found.path, does="changed")
    ends.require_open(brain, found, edit.values)
    before = _bytes_at(brain, found)
    items: list[Item] = []
    edited = edit.of(before, found, again=False)
    if edited is None and (section is None or not section.adds):
        return Receipt("unchanged", (found.id,), reason=_SAID)
    if (refusal := _refusal(edited, found, before)) is not None:
        return refusal

    def plan() -> saving.Planned | Receipt:
        items.clear()
        place, there = _still(brain, found)
        was = _parsed(there, place)[1]
        planned = saving.Planned([Change(place.path, there, there)])
        if edited is not None:
            planned = saving.united(brain, place.path, before, edited)
        first, *beside = planned.changes
        data = first.data or b""
        added = edit.of(data, place, again=True) or data
        if added == there and not beside:
            return Receipt("unchanged", (place.id,), reason=_SAID)
        if added != edited and (refusal := _refusal(added, place, there)) is not None:
            return refusal
        along, told = ends.moved(brain, was, added, place.path)
        items.extend([Item(place.id, "changed"), *told] if told else [])
        ids = (place.id, *(item.id for item in told)) if told else planned.ids
        return replace(
            planned, changes=[replace(first, data=added), *beside, *(Change(*one) for one in along)], ids=ids
        )

    message = f"Update: {one_line(found.title, 60)}{identity.trailers(session)}"
    receipt = saving.save(brain, plan, ids=(found.id,), message=message, author=author, now=now, command="update")
    if receipt.state == "committed":
        receipt = replace(receipt, items=tuple(items))
    emptied = _emptied(section, body) if receipt.state == "committed" else ()
    unknown = scope.missing(brain, _parsed(edited, found)[1]) if edited and "branch" in edit.values else ()
    return replace(_explained(receipt), warnings=(*found.warnings, *emptied, *unknown, *receipt.warnings))


def edited(
    data: bytes,
    path: str,
    changes: Mapping[str, FieldValue],
    *,
    section: SectionEdit | None = None,
    body: str | None = None,
    now: str,
) -> bytes | None:
    """The bytes of a note's file with these changes, for one that is not canon; None where they change nothing.

    Raises Usage that names every invalid field, and as `update` does for a section; BadNote.
    """
    _require_one_edit(section, body)
    text = codec.decode(data, path)
    note = codec.parse(text, path, "")[0]
    at = recall.Located(note.id, path, note.kind, note.title)
    _require_fields_of(at, changes)
    made = _Edit(_validated(changes), body, section, now)
    first = made.of(data, at, again=False)
    then = made.of(first or data, at, again=True) if section is not None and section.adds else None
    return then or first


_SAID = "the note says so already"

_NO_FACTS = {"work-state": "a work record", "person": "the note of a person"}
_FACTS_ONLY = (*_CHOICES, *_TIMES, "deciders")


def _require_fields_of(found: recall.Located, changes: Mapping[str, FieldValue]) -> None:
    """Raises Usage where a note that tells no fact is given what only a fact has."""
    name = _NO_FACTS.get(found.kind)
    wrong = [key for key in _FACTS_ONLY if changes.get(key)]
    if name and wrong:
        step = "`brain work update` says how work stands; n" if found.kind == "work-state" else "N"
        raise Usage(
            f"{', '.join(wrong)}: {found.id} is {name}, and only a fact has this.", hint=f"{step}othing was written."
        )


def _explained(receipt: Receipt) -> Receipt:
    if not receipt.conflicts:
        return receipt
    reason = "the same part was changed meanwhile; both versions are kept"
    return replace(receipt, reason=reason, next="Compare the two notes and settle which one is right.")


def _require_one_edit(section: SectionEdit | None, body: str | None) -> None:
    if section is None:
        return
    if body is not None:
        raise Usage(
            "A whole body and the edit of a section cannot be given together.",
            hint="Give one of them; nothing was written.",
        )
    texts = [text for text in (section.append, section.replace, section.insert) if text is not None]
    if len(texts) != 1:
        raise Usage("section: give one of the texts to append, to insert, or to put in its place.")
    if section.adds and not texts[0].strip():
        raise Usage(f"section {section.heading!r}: the text to add is empty.", hint="Nothing was written.")


def _emptied(section: SectionEdit | None, body: str | None) -> tuple[str, ...]:
    """What an empty text has taken away, so that nobody does so without noticing."""
    if section is not None and section.replace is not None and not section.replace.strip():
        said = f"the text of the section {section.heading!r} was removed with its deeper sections; its heading stays"
        return (said,)
    return ("the note has no body now",) if body is not None and not body.strip() else ()


def _require_one_section(text: str, body: str, heading: str, at: recall.Located) -> None:
    """Raises Usage where the heading means several sections of the file's `text`."""
    lines = sections.lines_of(body, heading)
    if len(lines) < 2:
        return
    above = text.count("\n") - body.count("\n")
    named = ", ".join(str(above + line) for line in lines)
    raise Usage(
        f"{at.path} has {len(lines)} sections {heading!r}, at the lines {named}.",
        hint="Where their levels differ, `## NAME` means one of them. Else edit that file by hand, then `brain sync`; "
        "nothing was written.",
    )


def _bytes_at(brain: Brain, found: recall.Located) -> bytes:
    return recall.at_its_place(lambda: store.read_bytes(brain.root, found.path)[0], found.path)


def _still(brain: Brain, found: recall.Located) -> tuple[recall.Located, bytes]:
    """The note as it lies there now; one that was moved since it was found is looked up again."""
    try:
        return found, _bytes_at(brain, found)
    except Refused:
        moved = recall.located_once(brain, found.id)
        if moved.path == found.path:
            raise
        return moved, _bytes_at(brain, moved)


def _parsed(data: bytes, at: recall.Located) -> tuple[str, Note]:
    text = codec.decode(data, at.path)
    return text, codec.parse(text, at.path, at.kind)[0]


def _refusal(data: bytes | None, at: recall.Located, before: bytes) -> Receipt | None:
    if data is None:
        return None
    refusal = guarding.refused(_parsed(data, at)[1], _parsed(before, at)[1])
    return replace(refusal, ids=(at.id,)) if refusal is not None else None


@dataclass(frozen=True, slots=True)
class _Edit:
    """What one call changes, ready to be made to a version of the note."""

    values: Mapping[str, FieldValue]
    body: str | None
    section: SectionEdit | None
    now: str

    def of(self, data: bytes, at: recall.Located, *, again: bool) -> bytes | None:
        """The version in `data` as changed; None where nothing differs.

        What replaces something is made to the version that was read; what only adds, to the one that is there `again`,
        so that it needs no uniting.
        """
        text, old = _parsed(data, at)
        section = self.section if self.section is not None and self.section.adds == again else None
        if section is not None:
            _require_one_section(text, old.body, section.heading, at)
        body = _body(old.body, section, None if again else self.body)
        new = replace(old if again else _with(old, self.values), body=body)
        if new == old:
            return None
        if not again and not self.values.keys().isdisjoint(_TIMES):
            ends.require_order(new, self.values)
        new = replace(new, updated_at=self.now)
        changed = codec.changes(old, new)
        return codec.edit(text, changed, None if new.body == old.body else new.body, at.path).encode()


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
    if not value or (head == "provenance" and not value.strip()):
        if name in ("title", *_CHOICES):
            raise ValueError("it cannot be empty")
        return None
    if key == "branch":
        return branch_name(value)
    if name in _TIMES:
        return timeline.canonical(value)
    allowed = _CHOICES.get(name)
    if allowed and value not in allowed:
        offered = (word for word in allowed if word not in CLOSED_STATUSES)
        raise ValueError(f"{value!r} is none of {', '.join(offered)}")
    if name == "status" and value in CLOSED_STATUSES:
        act = "supersede` replaces it" if value == "superseded" else "retract` withdraws it"
        raise ValueError(f"no update closes a fact: `brain {act}")
    return value


def _with(note: Note, values: Mapping[str, FieldValue]) -> Note:
    own = {key: value for key, value in values.items() if "." not in key}
    origin = {key.partition(".")[2]: value for key, value in values.items() if "." in key}
    made = replace(note.provenance, **origin)  # type: ignore[arg-type]
    if origin and made == Provenance():
        raise Usage("provenance: at least one field has to stay.", hint="Give the new value; nothing was written.")
    return replace(note, **own, provenance=made)  # type: ignore[arg-type]


def _body(old: str, section: SectionEdit | None, body: str | None) -> str:
    new = old
    if body is not None:
        new = body.replace("\r\n", "\n").rstrip("\n") + "\n" if body.strip() else ""
    if section is None:
        return new
    if section.append is not None:
        return sections.append_to_section(new, section.heading, section.append)
    if section.insert is not None:
        return sections.insert_into_section(new, section.heading, section.insert, create=section.create)
    return sections.replace_section(new, section.heading, section.replace or "", create=section.create)
