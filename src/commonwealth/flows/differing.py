"""In what several notes differ: fields and sections, with what each of them says there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonwealth.model import Note
from commonwealth.notes import schema, sections, yamlwrite

_ASIDE = ("id", "kind", "conflict_of", "created_at", "updated_at", "author", "author_ref", "provenance")
"""What says nothing of how two versions differ."""


MOST = 20
"""So many notes of one conflict are compared; the others are named."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`what` names a field, or a section; `texts` is what each note says there, by id, None where it has no such. A
    note that was not compared is not among them."""

    what: str
    texts: Mapping[str, str | None]

    def between(self, one: str, other: str) -> bool:
        """Whether these two notes differ in it, as far as both were compared."""
        return other in self.texts and self.texts[one] != self.texts[other]


def differences(notes: Sequence[Note]) -> tuple[Difference, ...]:
    """The fields, then the sections, that are not the same in all of these notes: of many, in the first `MOST`."""
    notes = notes[:MOST]
    found: list[Difference] = []
    for sides in ([_fields(note) for note in notes], _bodies(notes)):
        for what in dict.fromkeys(name for side in sides for name in side):
            texts = {note.id: side.get(what) for note, side in zip(notes, sides, strict=True)}
            if len(set(texts.values())) > 1:
                found.append(Difference(what, texts))
    return tuple(found)


def _bodies(notes: Sequence[Note]) -> Sequence[Mapping[str, str]]:
    """The sections of each; the whole text where they differ in nothing but order or the level of a heading."""
    sides = [_sections(note.body) for note in notes]
    if all(side == sides[0] for side in sides):
        return [{"the text": _plain(note.body)} for note in notes]
    return sides


def _fields(note: Note) -> dict[str, str]:
    """The values of a note as text; one that is no text is written as in the file, on one line."""
    return {
        key: value if isinstance(value, str) else yamlwrite.flow(value)
        for key, value in schema.fields(note).items()
        if key not in _ASIDE
    }


def _sections(body: str) -> dict[str, str]:
    """What stands below each heading; a heading that is there again gets a number."""
    found: dict[str, str] = {}
    seen: dict[tuple[int, str], int] = {}
    for part in sections.sections(body):
        head = part.level, part.title
        seen[head] = seen.get(head, 0) + 1
        name = f"section {part.title!r}" if part.title else "the text"
        name = f"{name} ({seen[head]})" if seen[head] > 1 else name
        while name in found:
            name += "'"
        found[name] = _plain(part.content)
    return found


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n").rstrip()
