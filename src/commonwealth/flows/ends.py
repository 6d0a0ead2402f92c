"""Where a correction meets a supersession: what a replacement decides of a note, and what moves along with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonwealth.errors import Refused, Usage
from commonwealth.flows import closures, recall, replaced
from commonwealth.flows.brains import Brain
from commonwealth.model import Item, Note
from commonwealth.notes import closing, codec, naming

_NOTHING = "Nothing was written."


def require_open(brain: Brain, found: recall.Located, values: Mapping[str, str | Sequence[str] | None]) -> None:
    """Raises Refused for a status or an end that a replacement of the note decides: sync would put it back."""
    if found.kind not in closing.KINDS or values.keys().isdisjoint(("status", "valid_until")):
        return
    old = replaced.read(brain, found)
    by = closing.closer(old.note, old.others)
    if by is None or old.note.status == "retracted":
        return
    at = closing.begins(by) or ""
    end = values.get("valid_until", at)
    later = end != old.note.valid_until and (not isinstance(end, str) or end > at)
    wrong = [name for name, is_wrong in (("status", "status" in values), ("valid_until", later)) if is_wrong]
    if wrong:
        raise Refused(
            f"{', '.join(wrong)}: {by.id} supersedes {old.note.id} from {at} on, which decides this.",
            hint=f"If that instant is wrong: `brain update {by.id} --valid-from T`. If the replacement was never true, "
            f"or is not to come: `brain retract {by.id} --reason R` opens {old.note.id} again. {_NOTHING}",
        )


def require_order(note: Note, given: Mapping[str, object]) -> None:
    """Raises Usage, by a field that was given, where a note would be true at no time."""
    if not note.valid_from or not note.valid_until or note.valid_from < note.valid_until:
        return
    if "valid_until" in given:
        raise Usage(f"valid_until: {note.valid_until} is not after valid_from {note.valid_from}.", hint=_NOTHING)
    step = "Give an earlier instant, or correct valid_until as well. "
    if note.status == "superseded" and note.superseded_by:
        step = f"{note.superseded_by} replaces it then: `brain update {note.superseded_by} --valid-from T` moves that. "
    raise Usage(f"valid_from: {note.valid_from} is not before valid_until {note.valid_until}.", hint=step + _NOTHING)


Edited = tuple[str, bytes, bytes]
"""The path of a note, what it says then, and what it said when it was read."""


def moved(brain: Brain, was: Note, data: bytes, path: str) -> tuple[list[Edited], list[Item]]:
    """What ends otherwise once the note `was` is what `data` says, and begins at another instant.

    Raises Usage where what it replaces would then have been true at no time.
    """
    note = codec.parse(codec.decode(data, path), path, was.kind)[0]
    if closing.begins(note) == closing.begins(was) or note.status == "retracted":
        return [], []
    changes: list[Edited] = []
    items: list[Item] = []
    for id_ in note.supersedes:
        try:
            old = replaced.read(brain, recall.located_once(brain, id_))
        except Refused:
            continue
        others = [*(other for other in old.others if naming.id_key(other.id) != naming.id_key(note.id)), note]
        edited = old.edited(brain, others)
        if edited == old.data:
            continue
        after = codec.parse(codec.decode(edited, old.path), old.path, old.note.kind)[0]
        if after.valid_from and after.valid_until and after.valid_until <= after.valid_from:
            raise Usage(
                f"valid_from: {after.valid_until} is not after valid_from {after.valid_from} of {after.id}, which this "
                "note replaces and which would have been true at no time.",
                hint=f"Give a later instant. {_NOTHING}",
            )
        changes.append((old.path, edited, old.data))
        items.append(Item(after.id, "closed", f"is true until {after.valid_until}"))
    return changes, items


def kept_closed(brain: Brain, found: recall.Located, text: str) -> tuple[str, str | None]:
    """An earlier text of a note with what its replacements make of it now, and a warning where that differs."""
    if found.kind not in closing.KINDS:
        return text, None
    note = codec.parse(text, found.path, found.kind)[0]
    others = replaced.naming_it(brain, note.id)
    owed = closures.owed(note, others, found.path, lambda: replaced.earlier(brain, found.path))
    by = closing.closer(note, others)
    if not owed or by is None:
        return text, None
    told = f"it stays superseded by {by.id}; `brain retract {by.id} --reason R` opens it, if that was never true"
    return codec.edit(text, owed, path=found.path), told
