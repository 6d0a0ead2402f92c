"""Two versions of one note and what they grew from become one note, the same bytes whichever side asks.

Frontmatter is merged by key and body by section. What only one side changed is taken as it was written, comments
included. Lists are sets. Where both changed one thing differently, the version that was updated later keeps its
text, and the other lives on as a sibling: a note of its own with `conflict_of`, named from its content. Who may close
a note against an edit of it is in `standing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from commonwealth.errors import BadNote, Bug, Refused
from commonwealth.model import Extra
from commonwealth.notes import codec, sibling, threeway, yamlwrite
from commonwealth.notes.headings import named_alike
from commonwealth.notes.standing import Ruling, ruling
from commonwealth.notes.threeway import Clash, Piece
from commonwealth.notes.version import Version, digest, plain, read

_RETRACTED = "the content and a retraction of it"
_ALL = "the whole note"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The text for the note's own path, and, after a true conflict, a sibling's path and text."""

    text: str
    sibling: tuple[str, str] | None = None
    warnings: tuple[str, ...] = ()


def merge3(base: str | None, ours: str, theirs: str, path: str) -> MergeResult:
    """Merge two texts of the note at `path`; `base` is None where both added it.

    Swapping the sides changes nothing, nor does merging the result again with either side. CR is ignored in
    comparisons and kept. A text that cannot be read as a note is never taken apart: both are kept.
    """
    settled = _settled(base, ours, theirs)
    if settled is not None:
        return MergeResult(settled)
    one, other = read(ours, path), read(theirs, path)
    if one is None or other is None:
        return _unread(one or ours, other or theirs, path)
    root = read(base, path) if base is not None else None
    rules = ruling(root, one, other)
    if rules.retracted is not None:
        winner, loser = (one, other) if rules.retracted is one else (other, one)
    else:
        winner, loser = _in_order(root, one, other, rules, path)
    return _Merge(root, winner, loser, path, rules).result()


def _settled(base: str | None, ours: str, theirs: str) -> str | None:
    """The text where at most one side changed anything, first to the byte, then but for line ends."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    one, other = plain(ours), plain(theirs)
    if one == other:
        changed = [text for text in (ours, theirs) if base is None or _is_crlf(text) != _is_crlf(base)]
        return min(changed or (ours, theirs), key=lambda text: (text.count("\r"), text))
    if base is None or plain(base) not in (one, other):
        return None
    return ours if plain(base) == other else theirs


def _in_order(base: Version | None, one: Version, other: Version, rules: Ruling, path: str) -> tuple[Version, Version]:
    """The version that keeps its text where both say something else, and the other: the later one, then by what is
    in conflict. So a merged note wins against a version that has lost to it already."""
    trial = _Merge(base, one, other, path, rules)
    trial.text()
    # One clash decides, of a key before that of a section: a merged note and a version that it was made of may differ
    # in other sections than the two versions did, but they differ in the same keys.
    first = min(trial.clashes, key=lambda clash: (clash.name.startswith("#"), clash.name), default=None)
    words = [yamlwrite.flow(said) for said in (first.winner, first.loser)] if first else ["", ""]
    ranks = [
        (side.updated, digest(said), digest(side.text), side.text)
        for side, said in zip((one, other), words, strict=True)
    ]
    return (one, other) if ranks[0] > ranks[1] else (other, one)


@dataclass(slots=True)
class _Merge:
    base: Version | None
    winner: Version
    loser: Version
    path: str
    rules: Ruling
    clashes: list[Clash] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def result(self) -> MergeResult:
        text = self.text()
        reasons = {_named(clash.name) for clash in self.clashes}
        if text is None:
            text = self.winner.text
            reasons.add(_ALL)
        if self.rules.retracted is not None:
            reasons = {_RETRACTED}
        if self.rules.warning:
            self.warnings.append(f"{self.path}: {self.rules.warning}.")
        kept = None
        if reasons:
            kept = sibling.sibling(self.loser, sibling.root_id(read(text, self.path), self.path), self.path)
            what = ", ".join(sorted(reasons))
            self.warnings.append(f"{self.path}: two versions of {what}; the other one is kept as {kept[0]}.")
        return MergeResult(text, kept, tuple(sorted(set(self.warnings))))

    def text(self) -> str | None:
        """The united text; None where it would not say what it has to: both sides are too much for one note."""
        front, tail = self.front(), self.tail()
        body = self.body()
        text = self.assembled("".join(piece.text for piece in front) + tail, body)
        found = read(text, self.path)
        if found is None or found.values != {piece.name: piece.same for piece in front} or found.parts.body != body:
            return None
        return self.style(text)

    def front(self) -> list[Piece]:
        def resolve(old: Piece | None, one: Piece, other: Piece) -> Piece:
            return self.key(old.same if old else None, one, other)

        base = self.base.front if self.base else ()
        return threeway.pieces(base, self.winner.front, self.loser.front, resolve, self.kept, self.rules.given)

    def key(self, old: Extra | None, one: Piece, other: Piece) -> Piece:
        """A key that both sides changed; `one` is the winner's."""
        value = threeway.value(one.name, old, one.same, other.same, self.clashes)
        for piece in (one, other):
            if value == piece.same:
                return piece
        like = max(one, other, key=lambda piece: piece.text)
        text = _written(like, value)
        return Piece(one.name, text, value, threeway.remarks(text))

    def tail(self) -> str:
        """The comments behind the last key; those that both sides wrote stand one after the other."""
        base = self.base.tail if self.base else ""
        one, other = sorted((self.winner.tail, self.loser.tail))
        if base in (one, other) or one == other:
            return threeway.choice(base, one, other)
        there = other.split("\n")
        new = [line for line in one.split("\n") if line.strip() and line not in there and line not in base.split("\n")]
        return "".join(f"{line}\n" for line in new) + other

    def body(self) -> str:
        if self.rules.retracted is not None:
            return self.rules.retracted.parts.body

        def resolve(_old: Piece | None, one: Piece, other: Piece) -> Piece:
            self.clashes.append(Clash(f"#{one.name}", one.same, other.same))
            return one

        bodies = named_alike(self.base.body if self.base else (), self.winner.body, self.loser.body)
        found = threeway.pieces(*bodies, resolve, self.kept, {})
        ending = self.ending()
        return "".join(_spaced(piece, ending, last=piece is found[-1]) for piece in found) or ending

    def ending(self) -> str:
        """How the body ends; where the sides do not agree, empty lines do not count: a section may have gone."""
        one, other = self.winner.ending, self.loser.ending
        if one == other:
            return one
        base = self.base.ending if self.base else ""
        return threeway.choice(*("\n" if "\n" in end else end for end in (base, one, other)))

    def kept(self, name: str) -> None:
        self.warnings.append(f"{self.path}: {_named(name)} was removed by one side and changed by the other; it stays.")

    def assembled(self, front: str, body: str) -> str:
        sides = [side.parts for side in (self.winner, self.loser) if side.parts.opening]
        opening = closing = ""
        if sides:
            opening, closing = max((side.opening, side.closing) for side in sides)
        if body and closing and not closing.endswith("\n"):
            closing += "\n"
        return opening + front + closing + body

    def style(self, text: str) -> str:
        """Line ends and byte order mark as the side has them that changed them; plain where neither can be told."""
        sides = [self.winner.text, self.loser.text]
        old = self.base.text if self.base else None
        if _changed(old is None or _is_crlf(old), *map(_is_crlf, sides)):
            text = text.replace("\n", "\r\n")
        return f"\ufeff{text}" if _changed(old is None or _has_bom(old), *map(_has_bom, sides)) else text


def _written(like: Piece, value: Extra) -> str:
    """The lines of a key with another value; inside a nested record unchanged lines and comments stay."""
    try:
        return codec.edit(f"---\n{like.text}---\n", {like.name: value}).removeprefix("---\n").removesuffix("---\n")
    except (BadNote, Bug, Refused):
        return yamlwrite.entry(like.name, value, block=like.name == "provenance")


def _spaced(piece: Piece, ending: str, *, last: bool) -> str:
    """A section with the white space that belongs behind it at its place."""
    if last:
        return piece.text.rstrip() + ending
    return piece.text.rstrip() + "\n\n" if piece.last else piece.text


def _named(name: str) -> str:
    """How a clash or a piece is told to people."""
    level, _, rest = name.removeprefix("#").partition(" ")
    if not level.isdigit():
        return name
    title = rest.rpartition(" ")[0]
    return f"the section {title!r}" if title else "the text before the first heading"


def _is_crlf(text: str) -> bool:
    return text.partition("\n")[0].endswith("\r")


def _has_bom(text: str) -> bool:
    return text.startswith("\ufeff")


def _changed(base: bool, one: bool, other: bool) -> bool:
    return one if one == other else not base


def _unread(one: Version | str, other: Version | str, path: str) -> MergeResult:
    """Keep a version that can be read, and beside it one that cannot; of two such, by content."""
    if isinstance(one, str) and (not isinstance(other, str) or digest(one) < digest(other)):
        one, other = other, one
    raw = other if isinstance(other, str) else other.text
    kept = sibling.unreadable(raw, one if isinstance(one, Version) else None, path)
    warning = f"{path}: one of two versions cannot be read as a note; it is kept as {kept[0]}."
    return MergeResult(one if isinstance(one, str) else one.text, kept, (warning,))
