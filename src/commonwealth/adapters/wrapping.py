"""Text of several sentences on a terminal, whole: cut into lines between words, by the cells that they take."""

from __future__ import annotations

from commonwealth.adapters.terminal import Screen, width
from commonwealth.safetext import one_line

_LONG = 1 << 20
_NARROWEST = 20


def paragraph(screen: Screen, text: str, style: str = "", *, indent: str = "", mark: str = "") -> None:
    """Show `text` as one paragraph, each line after `indent`, the first after `mark` as well, which is yellow; in a
    pipe on one line."""
    room = max(_NARROWEST, screen.columns - len(indent) - len(mark) - 1)
    for number, line in enumerate(wrapped(one_line(text, _LONG), room)):
        screen.styled((indent, ""), (mark if number == 0 else " " * len(mark), "yellow"), (line, style))


def wrapped(text: str, cells: int) -> list[str]:
    """The words of `text` in lines of at most `cells` cells; a word that is wider has lines of its own."""
    lines, line, used = [], "", 0
    for word in text.split():
        for piece in _pieces(word, cells):
            size = width(piece)
            if line and used + 1 + size > cells:
                lines.append(line)
                line, used = "", 0
            line, used = (f"{line} {piece}", used + 1 + size) if line else (piece, size)
    return [*lines, line] if line else lines


def _pieces(word: str, cells: int) -> list[str]:
    if width(word) <= cells:
        return [word]
    pieces, piece, used = [], "", 0
    for character in word:
        size = width(character)
        if piece and used + size > cells:
            pieces.append(piece)
            piece, used = "", 0
        piece, used = piece + character, used + size
    return [*pieces, piece]
