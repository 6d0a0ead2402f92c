"""Two versions of one note and what they grew from become one note, the same bytes whichever side asks.

Frontmatter is merged by key and body by section. What only one side changed is taken as it was written, comments
included. Lists are sets. Where both changed one thing differently, the version that was updated later keeps its
text, and the other lives on as a sibling: a note of its own with `conflict_of`, named from its content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from commonwealth.errors import BadNote, Refused
from commonwealth.model import KINDS, Extra, Note
from commonwealth.notes import codec, document, edits, naming, schema, threeway, yamlwrite
from commonwealth.notes.sections import sections
from commonwealth.notes.threeway import Piece

_CLOSING = ("status", "superseded_by", "superseded_at", "valid_until")
_SHORT_ID = re.compile(r"-[0-9a-z]{8,12}\Z")
_SAFE_STEM = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The text for the note's own path, and, after a true conflict, a sibling's path and text."""

    text: str
    sibling: tuple[str, str] | None = None
    warnings: tuple[str, ...] = ()


def merge3(base: str | None, ours: str, theirs: str, path: str) -> MergeResult:
    """Merge two texts of the note at `path`; `base` is None where both added it.

    Swapping the sides changes nothing. CR is ignored in comparisons and kept. A text that cannot be read as a note
    is never taken apart: both are kept.
    """
    settled = _settled(base, ours, theirs)
    if settled is not None:
        return MergeResult(settled)
    one, other = _read(ours, path), _read(theirs, path)
    if one is None or other is None:
        return _unread(one or ours, other or theirs, path)
    root = _read(base, path) if base is not None else None
    winner, loser = (one, other) if one.order > other.order else (other, one)
    return _Merge(root, winner, loser, path).result()


def _settled(base: str | None, ours: str, theirs: str) -> str | None:
    """The text where at most one side changed anything, first to the byte, then but for line ends."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    one, other = _plain(ours), _plain(theirs)
    if one == other:
        return min(ours, theirs, key=lambda text: (text.count("\r"), text))
    if base is None or _plain(base) not in (one, other):
        return None
    return ours if _plain(base) == other else theirs


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class _Version:
    """One side, read: line ends are plain, pieces stand in order."""

    text: str
    parts: document.Document
    front: tuple[Piece, ...]
    tail: str
    body: tuple[Piece, ...]
    values: Mapping[str, Extra]

    @property
    def order(self) -> tuple[str, str, str]:
        """By what the version that keeps its text is chosen: later, then by content; never by side."""
        times = [_time(self.values.get(key, "")) for key in ("updated_at", "created_at")]
        return times[0] or times[1], _digest(self.text), self.text


def _digest(text: str) -> str:
    return hashlib.sha256(_plain(text).encode("utf-8", "replace")).hexdigest()


def _time(said: Extra) -> str:
    try:
        return schema.time(said) if isinstance(said, str) else ""
    except ValueError:
        return ""


def _read(text: str, path: str) -> _Version | None:
    try:
        codec.front(document.split(text, path), path)  # CR CR LF is readable only in its plain form
        parts = document.split(_plain(text), path)
        root, _ = codec.compose(parts, path)
    except BadNote:
        return None
    lines = parts.frontmatter.split("\n")[:-1]
    found, tail = edits.blocks(lines, root, 0, len(lines))
    values = root.value if isinstance(root.value, dict) else {}
    front = tuple(
        Piece(block.key, _joined(block.lead + block.lines), values[block.key], _joined(block.lead)) for block in found
    )
    return _Version(text, parts, front, _joined(tail), _body(parts.body), values)


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _body(body: str) -> tuple[Piece, ...]:
    """Sections as pieces; a heading that stands there again gets a number. White space at the end is no change."""
    seen: dict[str, int] = {}
    found: list[Piece] = []
    parts = sections(body)
    for part in parts:
        name = f"{part.level} {part.title.casefold()}"
        seen[name] = seen.get(name, 0) + 1
        named = f"{name} {seen[name]}"
        found.append(Piece(named, part.text, part.text.rstrip(), last=len(found) == len(parts) - 1))
    return tuple(found)


@dataclass(slots=True)
class _Merge:
    base: _Version | None
    winner: _Version
    loser: _Version
    path: str
    conflicts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def result(self) -> MergeResult:
        text = self.style(self.assembled(self.front(), self.body()))
        if _read(text, self.path) is None:  # both sides together are more than a note may hold
            text = self.winner.text
            self.conflicts.append("the whole note")
        sibling = None
        if self.conflicts:
            sibling = _sibling(self.loser, _root_id(self.winner, self.path), self.path)
            what = ", ".join(sorted(set(self.conflicts)))
            self.warnings.append(f"{self.path}: two versions of {what}; the other one is kept as {sibling[0]}.")
        return MergeResult(text, sibling, tuple(sorted(self.warnings)))

    def front(self) -> str:
        closing = self.closing()

        def resolve(old: Piece | None, one: Piece, other: Piece) -> Piece:
            if closing is not None and one.name in _CLOSING:
                return one if closing is self.winner else other
            return self.key(old.same if old else None, one, other)

        base = self.base.front if self.base else ()
        found = threeway.pieces(base, self.winner.front, self.loser.front, resolve, self.kept)
        return "".join(piece.text for piece in found) + (self.winner.tail or self.loser.tail)

    def closing(self) -> _Version | None:
        """Of two supersessions the earlier one closes the note; that there are two shows in the replacements."""
        sides = [self.winner, self.loser]
        by = {str(side.values.get("superseded_by", "")) for side in sides}
        if len(by) < 2 or "" in by or any(side.values.get("status") != "superseded" for side in sides):
            return None
        self.warnings.append(f"{self.path}: it was superseded twice, by {' and by '.join(sorted(by))}.")
        return min(
            sides, key=lambda side: (_time(side.values.get("valid_until", "")), str(side.values["superseded_by"]))
        )

    def key(self, old: Extra | None, one: Piece, other: Piece) -> Piece:
        """A key that both sides changed; `one` is the winner's."""
        value, clean = threeway.value(one.name, old, one.same, other.same)
        if not clean:
            self.conflicts.append(one.name)
        if value == one.same:
            return one
        if value == other.same:
            return other
        text = yamlwrite.entry(one.name, value, block=one.name == "provenance")
        return Piece(one.name, one.lead + text, value)

    def body(self) -> str:
        def resolve(_old: Piece | None, one: Piece, _other: Piece) -> Piece:
            title = one.name.partition(" ")[2].rpartition(" ")[0]
            self.conflicts.append(f"the section {title!r}" if title else "the text before the first heading")
            return one

        base = self.base.body if self.base else ()
        found = threeway.pieces(base, self.winner.body, self.loser.body, resolve, self.kept)
        return "".join(_spaced(piece, last=piece is found[-1]) for piece in found)

    def kept(self, name: str) -> None:
        self.warnings.append(f"{self.path}: {name!r} was removed by one side and changed by the other; it stays.")

    def assembled(self, front: str, body: str) -> str:
        parts = self.winner.parts if self.winner.parts.opening else self.loser.parts
        opening, closing = (parts.opening, parts.closing) if front or parts.opening else ("", "")
        if body and closing and not closing.endswith("\n"):
            closing += "\n"
        return opening + front + closing + body

    def style(self, text: str) -> str:
        """Line ends and byte order mark as the side has them that changed them."""
        old = self.base.text if self.base else ""
        sides = [self.winner.text, self.loser.text]
        if _changed(_is_crlf(old), *map(_is_crlf, sides)):
            text = text.replace("\n", "\r\n")
        return f"\ufeff{text}" if _changed(_has_bom(old), *map(_has_bom, sides)) else text


def _spaced(piece: Piece, *, last: bool) -> str:
    """A section that was the last one and is so no more ends with an empty line, and the other way round."""
    if piece.last == last:
        return piece.text
    kept = piece.text.rstrip()
    return kept + ("\n" if last else "\n\n")


def _is_crlf(text: str) -> bool:
    return text.partition("\n")[0].endswith("\r")


def _has_bom(text: str) -> bool:
    return text.startswith("\ufeff")


def _changed(base: bool, one: bool, other: bool) -> bool:
    return one if one == other else not base


def _root_id(version: _Version | None, path: str) -> str:
    """The id that a sibling disputes: never that of a sibling."""
    for key in ("conflict_of", "id") if version else ():
        value = version.values.get(key) if version else None
        if isinstance(value, str) and value:
            return value
    return naming.stem(path)


def _sibling_id(text: str, path: str) -> str:
    stem = _SHORT_ID.sub("", naming.stem(path))
    name = stem if _SAFE_STEM.fullmatch(stem) else naming.slug(stem)
    return f"{name[: naming.MAX_ID - 9].rstrip('-')}-{naming.short_id(_plain(text).encode('utf-8', 'replace'))}"


def _sibling(loser: _Version, disputed: str, path: str) -> tuple[str, str]:
    """The other version as a note of its own, which exists with the same bytes in every clone."""
    new_id = _sibling_id(loser.text, path)
    try:
        text = codec.edit(loser.text, {"id": new_id, "conflict_of": disputed}, path=path)
    except Refused:
        text = _wrapped(loser.text, loser, new_id, disputed)
    return _beside(path, new_id), text


def _wrapped(raw: str, like: _Version | None, new_id: str, disputed: str) -> str:
    """A note whose body is a text that cannot be a note, byte for byte."""
    said = like.values.get("kind") if like else None
    kind = said if isinstance(said, str) and said in KINDS else "memory"
    title = f"A version of {disputed} that cannot be read"
    return codec.render(Note(id=new_id, kind=kind, title=title, body=raw, conflict_of=disputed))


def _beside(path: str, note_id: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{note_id}.md"


def _unread(one: _Version | str, other: _Version | str, path: str) -> MergeResult:
    """Keep a version that can be read, and beside it one that cannot; of two such, by content."""
    if isinstance(one, str) and (not isinstance(other, str) or _digest(one) < _digest(other)):
        one, other = other, one
    raw = other if isinstance(other, str) else other.text
    like = one if isinstance(one, _Version) else None
    disputed = _root_id(like, path)
    new_id = _sibling_id(raw, path)
    sibling = _beside(path, new_id)
    warning = f"{path}: one of two versions cannot be read as a note; it is kept as {sibling}."
    return MergeResult(
        one if isinstance(one, str) else one.text,
        (sibling, _wrapped(raw, like, new_id, disputed)),
        (warning,),
    )
