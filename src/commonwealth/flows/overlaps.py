"""Whether two pieces of work touch the same things: files, folders, globs and components. Pure, and light for a hook.

An entry stands for the path that it names and, unless that ends like a file (`.py`), for all below it. In a pattern
`*` and `?` match within one name and `**` any number of them; a pattern without a slash matches at any depth, as git
ignores files. What people call `[id]` is a name. Two entries overlap where some path is named by both: the same
whichever is asked first. Case makes no difference, for on many machines it makes none to the files. The cost is
bounded whatever a record says: no pattern is searched by going back and forth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonwealth.index.values import clean_path

MOST = 500
"""So many entries of a record are compared."""

LONGEST = 400
"""Characters of a path; of a longer one only the equal is found."""

_TOLD = 5
_ANY = "**"
_LIKE_A_FILE = re.compile(r".+\.[a-z][a-z0-9]{0,7}")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry as it is compared: `parts` are its names, in lower case; none for one that is too long."""

    text: str
    folded: str
    parts: tuple[str, ...]
    is_glob: bool
    is_file: bool = False


def why(
    files: Sequence[str], components: Sequence[str], others: Iterable[str], other_components: Iterable[str]
) -> tuple[str, ...]:
    """Why a record with these `files` and `components` overlaps with `others`: `file src/a.py`, `folder src/payments`,
    `glob src/**`, `component payments`; at most a few, empty where nothing does."""
    found: dict[str, None] = {}
    wanted = _Wanted(others)
    for entry in _entries(files):
        if (reason := wanted.reason(entry)) is not None:
            found.setdefault(reason)
            if len(found) == _TOLD:
                return tuple(found)
    here = {name.strip().casefold() for name in other_components}
    for name in components[:MOST]:
        if name.strip().casefold() in here:
            found.setdefault(f"component {name.strip()}")
    return tuple(found)[:_TOLD]


def touching(paths: Iterable[str]) -> Callable[[str], bool]:
    """A test of whether an entry overlaps with any of these."""
    wanted = _Wanted(paths)

    def touches(path: str) -> bool:
        entry = _entry(path)
        return bool(entry.folded) and wanted.reason(entry) is not None

    return touches


def _entries(paths: Iterable[str]) -> Iterator[_Entry]:
    seen: set[str] = set()
    for path in paths:
        made = _entry(path)
        if made.folded and made.folded not in seen and len(seen) < MOST:
            seen.add(made.folded)
            yield made


@lru_cache(maxsize=16_384)
def _entry(path: str) -> _Entry:
    text = "/".join(part for part in clean_path(path).split("/") if part not in ("", "."))
    folded = text.casefold()
    if len(folded) > LONGEST:
        return _Entry(text, folded, (), is_glob=False)
    is_glob = _wild(folded)
    parts = tuple(folded.split("/"))
    if is_glob and len(parts) == 1 and folded != _ANY:
        parts = (_ANY, *parts)
    return _Entry(text, folded, parts, is_glob, _LIKE_A_FILE.fullmatch(parts[-1]) is not None)


class _Wanted:
    """The other side, ready to be compared with many entries: plain paths are looked up, globs are tried one by one."""

    def __init__(self, paths: Iterable[str]) -> None:
        entries = list(_entries(paths))
        self._plain = [entry for entry in entries if not entry.is_glob]
        self._globs = [entry for entry in entries if entry.is_glob]
        self._named = {entry.folded: entry for entry in entries}
        self._above: set[str] = set()
        for entry in self._plain:
            self._above.update(_above(entry))

    def reason(self, entry: _Entry) -> str | None:
        """Why an entry overlaps with this side: the most exact of the reasons."""
        if entry.folded in self._named:
            return f"{'glob' if entry.is_glob else 'file'} {entry.text}"
        if entry.is_glob:
            tried = next((other for other in (*self._plain, *self._globs) if _entries_meet(entry, other)), None)
            return f"glob {entry.text}" if tried is not None else None
        folder = next((self._named[name] for name in reversed(_above(entry)) if name in self._named), None)
        if folder is not None and not folder.is_glob:
            return f"folder {folder.text}"
        if entry.folded in self._above:
            return f"folder {entry.text}"
        other = next((other for other in self._globs if _entries_meet(other, entry)), None)
        return f"glob {other.text}" if other is not None else None


def _above(entry: _Entry) -> list[str]:
    """The folders that a plain path lies in, the outermost first."""
    return ["/".join(entry.parts[:end]) for end in range(1, len(entry.parts))]


def _entries_meet(one: _Entry, other: _Entry) -> bool:
    return meet(one.parts, other.parts, below_one=not one.is_file, below_other=not other.is_file)


def meet(one: Sequence[str], other: Sequence[str], *, below_one: bool = True, below_other: bool = True) -> bool:
    """Whether some path is named by both patterns, given as their names; one that goes on is met by what lies below
    the other, if anything does.

    All pairs of positions are looked at once, so the cost is the product of the lengths.
    """
    if not one or not other:
        return False
    same = 0
    while same < min(len(one), len(other)) and not _wild(one[same]) and not _wild(other[same]):
        if one[same] != other[same]:
            return False
        same += 1
    one, other = one[same:], other[same:]
    row = _reached(one, other, None, 0)
    for at in range(len(one) + 1):
        ends = at == len(one)
        if row[len(other)] and (ends or below_other):
            return True
        if ends and below_one and any(row):
            return True
        if ends or not any(row):
            return False
        row = _reached(one, other, row, at + 1)
    return False


def _wild(name: str) -> bool:
    return "*" in name or "?" in name


def _reached(one: Sequence[str], other: Sequence[str], before: Sequence[bool] | None, at: int) -> list[bool]:
    """For each position in `other` whether it can be stood at together with position `at` in `one`."""
    row = [before is None] + [False] * len(other)
    mine = one[at - 1] if at else ""
    for there in range(len(other) + 1):
        if before is not None and (
            (mine == _ANY and before[there])  # it stands for no name, or has matched the last of its own
            or (there and before[there - 1] and (other[there - 1] == _ANY or names_meet(mine, other[there - 1])))
            or (there < len(other) and other[there] == _ANY and before[there])  # the other one goes on
        ):
            row[there] = True
        if there and not row[there]:
            row[there] = row[there - 1] and (other[there - 1] == _ANY or (at < len(one) and one[at] == _ANY))
    return row


def names_meet(one: str, other: str) -> bool:
    """Whether some name is matched by both patterns of one name."""
    if _ANY in (one, other):
        return True
    if "*" not in one and "*" not in other:
        return len(one) == len(other) and _alike(one, other)
    if "*" in one and "*" in other:
        # What stands between the first and the last star of either finds its place in the stars of the other.
        first, last = one.partition("*")[0], one.rpartition("*")[2]
        return _alike(first, other.partition("*")[0]) and _alike(last[::-1], other.rpartition("*")[2][::-1])
    pattern, name = (one, other) if "*" in one else (other, one)
    return _matches(pattern.split("*"), name)


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same as far as both go; `?` is any character."""
    return all(a == b or "?" in (a, b) for a, b in zip(one, other, strict=False))


def _matches(pieces: Sequence[str], name: str) -> bool:
    """Whether a name without stars is matched by a pattern with stars between its `pieces`, each taken as soon as it
    fits: no later place could leave more room for the rest."""
    first, *middle, last = pieces
    if len(first) + len(last) > len(name) or not _alike(first, name) or not _alike(last[::-1], name[::-1]):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        while at + len(piece) <= end and not _alike(piece, name[at:]):
            at += 1
        at += len(piece)
        if at > end:
            return False
    return True
