"""What a hand has got wrong in a note that can be read all the same: a key that is nearly one of ours, no title.

Any other unknown key is the person's own and stays (`extra`). Only what waits for a person is looked at so: in canon a
key that nobody knows is data like another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonwealth.model import Note, Problem
from commonwealth.notes import naming, schema

_NEAR = 0.8
"""How alike two keys are (0 to 1) of which the one is taken for a slip of the other."""
_SETTLED = ("id", "valid_until")
"""A doubt about these is no slip: the file's name counts for an id, and what is true at no time is told everywhere."""
_PEOPLE = ("name", "org", "role")


def slips(note: Note, path: str, text: str, *, own: Iterable[str] = ()) -> Iterator[Problem]:
    """The doubts about a note that was read from `text`; `own` are keys besides those of a note that are ours."""
    known = {key: None for key in schema.KEYS if key not in _PEOPLE} | dict.fromkeys(own)
    slipped = dict(_near(note.extra, known))
    for key, near in slipped.items():
        yield _doubt(path, text, key, f"it is no key of a note, and nearly `{near}`")
    for key, near in _near(note.provenance.extra, schema.SUB_KEYS["provenance"]):
        yield _doubt(path, text, key, f"it is no key of `provenance`, and nearly `{near}`")
    if note.title == naming.stem(path) and "title" not in slipped.values():
        yield _doubt(path, text, "title", "there is none, so the name of the file stands for it")


def is_slip(doubt: Problem) -> bool:
    """Whether a doubt about a candidate is about what one of its keys says, or fails to say: a slip of a hand. The
    others are about the file as a whole."""
    key, _, cause = doubt.cause.partition(": ")
    return (key in schema.KEYS and key not in _SETTLED) or cause.startswith("it is no key of ")


def _near(extra: Iterable[str], known: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key in extra:
        if key not in known and key not in schema.KEYS and (near := _nearest(key, known)) is not None:
            yield key, near


def _nearest(key: str, known: Mapping[str, object]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415  # nearly no file has a key that is unknown

    plain = key.strip().casefold().replace("-", "_").replace(" ", "_")
    return next(iter(get_close_matches(plain, known, n=1, cutoff=_NEAR)), None)


def _doubt(path: str, text: str, key: str, cause: str) -> Problem:
    lines = text.split("\n")
    line = next((number for number, one in enumerate(lines, 1) if one.strip().startswith(f"{key}:")), 1)
    return Problem(path, line, f"{key}: {cause}", fatal=False)
