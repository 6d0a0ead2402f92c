"""What an edit may not bring into a note: a secret, and text that speaks to a model instead of telling a fact.

A new fact that holds such text waits for a person; an edit has nowhere to wait, so it is refused. Only what the edit
brings is looked at: what stands there already was let in.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonwealth.curate import injection
from commonwealth.curate.injection import Sign
from commonwealth.flows import saving
from commonwealth.model import Note, Receipt

_AROUND = 3
"""Lines beside a change that are read with it: what speaks to a model may begin in one and end in the other."""

_STEP = (
    "Nothing was written. Say it as a fact and in other words; if it has to stand there as it is, a person puts it in "
    "the file by hand."
)


def refused(new: Note, old: Note | None = None) -> Receipt | None:
    """The refusal of a note as an edit of `old` would leave it; None where nothing speaks against it."""
    return saving.refused_for_secret(new) or refused_for_orders(new, old)


def refused_for_orders(new: Note, old: Note | None = None) -> Receipt | None:
    """The refusal of `new` where it brings text that speaks to a model, with the field and what it does there."""
    for sign in signs(new, old):
        if sign.firm:
            return _refusal(sign)
    return None


def refused_text(where: str, text: str) -> Receipt | None:
    """As `refused_for_orders`, of a text that is to be put in the field `where`."""
    return next((_refusal(sign) for sign in injection.found([(where, text)]) if sign.firm), None)


def _refusal(sign: Sign) -> Receipt:
    return Receipt("refused", reason=f"{sign.where}: {sign.what}, so a person has to look at it", next=_STEP)


def signs(new: Note, old: Note | None = None) -> tuple[Sign, ...]:
    """The signs of text that speaks to a model in `new` that are not in `old`, those in doubt included."""
    seen = injection.found(_brought(new, old))
    if not seen or old is None:
        return seen
    known = {(sign.what, sign.passage) for sign in injection.found(saving.texts(old))}
    return tuple(sign for sign in seen if (sign.what, sign.passage) not in known)


def _brought(new: Note, old: Note | None) -> Iterator[tuple[str, str]]:
    """The fields that differ from those of `old`, of a long text the lines around the change."""
    before = set() if old is None else set(saving.texts(old))
    for where, text in saving.texts(new):
        if (where, text) not in before:
            yield where, _changed(text, old.body) if old is not None and where == "body" else text


def _changed(text: str, before: str) -> str:
    """The lines of `text` from the first to the last that differ from `before`, with some around them."""
    lines, others = text.split("\n"), before.split("\n")
    most = min(len(lines), len(others))
    start = next((at for at in range(most) if lines[at] != others[at]), most)
    end = next((at for at in range(most - start) if lines[-1 - at] != others[-1 - at]), most - start)
    return "\n".join(lines[max(0, start - _AROUND) : len(lines) - end + _AROUND])
