"""What may not leave this clone: every name, file and commit that a push would make public is looked through.

Bounded in memory and time. A text is looked through whole, in windows that share some bytes; one of more than 64 MiB
is no note and is not pushed by us at all. Of a binary file, which holds no text that anybody typed, the first 4 MiB
are looked through, and whatever looks like text after that. What was found clean is remembered until it is
published, so that a sync that runs out of time goes on from there the next time, also within a file.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from commonwealth import atomic
from commonwealth.errors import Busy, Refused
from commonwealth.repo.commit import shown
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, decode, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.objects import Objects

_WINDOW = 1 << 18
_OVERLAP = 1 << 13
"""Bytes; a secret is shorter than what two windows share."""

_MOST = 1 << 22
"""Bytes of a binary file that are looked through in any case."""

_MOST_TEXT = 1 << 26
"""Bytes of text in one file that can be looked through."""

_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"
_STATE = "clean"
_BATCH = 64
"""So many objects at most are looked through again after a sync was killed."""

_ARMOR = re.compile(rb" (?:-----(?:BEGIN|END) [A-Z ]+-----|[A-Za-z0-9+/=]{0,76})")
"""A line of a signature, as it stands in the header of a commit."""


def refuse_outgoing_secrets(
    git: Git, commit: str, known: Sequence[str], content: Content, deadline: float = math.inf
) -> tuple[str, ...]:
    """Scan every name, file and commit that a push of `commit` would make public for the first time.

    `known` are commits whose history is public already; `deadline` is a monotonic time. Returns what was looked
    at in part only, as warnings. Raises Refused for the first secret, Busy when the time is over.
    """
    exclude = [f"^{name}" for name in known]
    listed = [line for line in decode(git.run("rev-list", "--objects", commit, *exclude)).split("\n") if line]
    warnings: list[str] = []
    number = 0

    def late() -> None:
        if time.monotonic() >= deadline:
            raise Busy(
                f"Looking for secrets in what is not published yet takes longer than this sync may: "
                f"{number} of {len(listed)} objects are done.",
                hint="Nothing was pushed. The next sync goes on from there; `brain sync --timeout` gives it more.",
            )

    with _Clean(git) as clean, Objects(git) as objects:
        search = _Search(git, objects, content, commit, known, clean, warnings, late)
        _refuse_names(search, [line for line in listed if " " not in line])
        for number, line in enumerate(listed):  # noqa: B007 - `late` says how far it is
            name, _, path = line.partition(" ")
            if name in clean.names:
                continue
            if clean.added:  # at least one, so that every sync comes nearer the end
                late()
            _refuse_object(search, name, path)
            clean.add(name)
    return tuple(warnings)


def forget_clean(git: Git) -> None:
    """Everything is published: what was found clean needs no memory."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(git, _STATE))


class _Clean:
    """The objects that were found clean and are not published yet, in a file of this clone."""

    def __init__(self, git: Git) -> None:
        self._place = state_file(git, _STATE)
        words = (read_text(self._place, 1 << 26) or "").split()
        self.names = {word for word in words if ":" not in word}
        self._reached = dict(word.split(":", 1) for word in words if ":" in word)
        self.added = 0
        self._saved = 0
        self._further = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if (self.added != self._saved or self._further) and (kind is not None or self.added >= _BATCH):
            self._save()

    def add(self, name: str) -> None:
        self.names.add(name)
        self.added += 1
        if self.added - self._saved >= max(_BATCH, len(self.names) // 8):
            self._save()

    def reached(self, name: str) -> int:
        """The byte of a large object up to which it was found clean."""
        offset = self._reached.get(name, "")
        return int(offset) if offset.isdecimal() else 0

    def reach(self, name: str, offset: int) -> None:
        """Up to `offset`, the object is clean."""
        self._reached = {name: str(offset)}
        self._further = True

    def _save(self) -> None:
        self._saved, self._further = self.added, False
        lines = [*sorted(self.names), *(f"{name}:{offset}" for name, offset in self._reached.items())]
        atomic.replace(self._place, "".join(f"{line}\n" for line in lines).encode())


def _refuse_names(search: _Search, new: Sequence[str]) -> None:
    """A name is public with its commit, also that of a file whose bytes are known: a copy, a move, a submodule.

    `new` are the commits; in a listing of objects they alone have no name, not even an empty one.
    """
    commits = "".join(f"{name}\n" for name in new).encode("ascii")
    flags = ("-r", "-t", "-m", "--root", "--no-commit-id", "--no-renames", "--name-only", "-z")
    only = ("--diff-filter=d", "--ignore-submodules=none")
    for path in dict.fromkeys(fields(search.git.run("diff-tree", "--stdin", *flags, *only, input=commits))):
        found = search.content.scan(path, b"")
        if found and not _was_public(search.git, path, search.known):
            raise Refused(
                f"secret: {shown(path, search.content)}: file name in a commit that is not published yet",
                hint=_way_out(search, "Give the file another name") + found[0].allowing,
            )


def _was_public(git: Git, path: str, known: Sequence[str]) -> bool:
    return bool(known) and bool(git.run("rev-list", "-1", "--full-history", *known, "--", path))


def _way_out(search: _Search, change: str) -> str:
    """The steps after which a push works: the commits that nobody has yet go, and every file stays as it is."""
    take_back, again = _take_back(search)
    return (
        "Nothing was pushed. 1. Revoke the secret where it was issued. "
        f"2. {take_back} takes back the commits that nobody else has; no file changes. "
        f"3. {change}. 4. {again}."
    )


def _take_back(search: _Search) -> tuple[str, str]:
    """The command that takes the unpublished commits back, and how what is there is committed and published then."""
    at = git_at(search.git.root)
    sync = "`brain sync` commits what is there and publishes it"
    ours = [name for name in search.known if search.git.holds("merge-base", "--is-ancestor", name, search.tip)]
    if not ours:
        return f"`{at} update-ref -d HEAD`", f"`{at} commit -a -m 'Start the brain'`, then {sync}"
    nearest = min(ours, key=lambda name: int(search.git.text("rev-list", "--count", f"{name}..{search.tip}")))
    return f"`{at} reset --soft {nearest[:12]}`", sync


@dataclass(frozen=True, slots=True)
class _Search:
    """One look through what a push would publish."""

    git: Git
    objects: Objects
    content: Content
    tip: str
    known: Sequence[str]
    clean: _Clean
    warnings: list[str]
    late: Callable[[], None]
    """Raises Busy where the time is over."""


def _refuse_object(search: _Search, name: str, path: str) -> None:
    info = search.objects.info(name)
    if info is None or info[1] not in ("blob", "commit"):
        return
    size = info[2]
    if info[1] == "commit":
        _refuse_large(search, f"The message of the commit {name[:12]}", size)
        _refuse_windows(search, f"the commit {name[:12]}", "", _cut(words_of_commit(search.objects.read(name) or b"")))
        return
    place = shown(path, search.content)
    if search.content.is_derived(path) and size <= _MOST:
        data = search.objects.read(name) or b""
        new = _new_lines(search.objects, data, [f"{commit}:{path}" for commit in search.known])
        _refuse_windows(search, place, path, _cut(new))
        return
    sample = search.objects.beginning(name, _WINDOW) or b""
    if not is_binary(sample):
        _refuse_large(search, place, size)
    begin = search.clean.reached(name)
    _refuse_windows(search, place, path, _texts(search, name, place, begin), name=name)


def _refuse_large(search: _Search, what: str, size: int) -> None:
    if size > _MOST_TEXT:
        raise Refused(
            f"{what} has {size / (1 << 20):.1f} MiB of text: that is too much to be looked through for secrets.",
            hint="Nothing was pushed. If all of it may be public, push by hand: "
            f"`{git_at(search.git.root)} push`. Else: 1. {_take_back(search)[0]} takes back the commits that nobody "
            "else has; no file changes. 2. Move it out of the brain. 3. `brain sync`.",
        )


def _texts(search: _Search, name: str, place: str, begin: int) -> Iterator[tuple[int, bytes]]:
    """The windows of a file that are looked through: the first 4 MiB whatever they hold, then those of text."""
    texts, skipped = begin, False
    for start, window in search.objects.windows(name, _WINDOW, _OVERLAP, begin):
        if start >= _MOST and is_binary(window):
            skipped = True
            continue
        texts += len(window)
        _refuse_large(search, place, texts - _WINDOW)
        yield start, window
    if skipped:
        search.warnings.append(f"{place} is no text: secrets were looked for in its first 4 MiB and its texts.")


def _refuse_windows(
    search: _Search, place: str, path: str, windows: Iterable[tuple[int, bytes]], *, name: str | None = None
) -> None:
    """Raise Refused for the first secret in `windows`; with the `name` of an object, a later look goes on there."""
    fresh = True
    for start, window in windows:
        if name is not None and not fresh:
            search.clean.reach(name, start)
            search.late()
        fresh = False
        for finding in search.content.scan(path, window):
            spot = f"{finding.where} after byte {start}" if start else finding.where
            raise Refused(
                f"secret: {place}: {spot} ({finding.rule}) in a commit that is not published yet",
                hint=_way_out(search, "Take the secret out of the file" if path else "Leave it out of what you commit")
                + finding.allowing,
            )


def _cut(data: bytes) -> Iterator[tuple[int, bytes]]:
    for start in range(0, max(1, len(data) - _OVERLAP), _WINDOW - _OVERLAP):
        yield start, data[start : start + _WINDOW]


def is_binary(window: bytes) -> bool:
    """Whether a part of a file is no text: of its bytes many are controls that no text has. UTF-16 is text."""
    if len(window) - len(window.translate(None, _CONTROLS)) <= len(window) >> 5:
        return False
    if window[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    even, odd = window[::2].count(0), window[1::2].count(0)
    return max(even, odd) * 4 < len(window) or min(even, odd) * 8 > len(window)


def _new_lines(objects: Objects, data: bytes, published: Sequence[str]) -> bytes:
    """The lines of a derived file that no published version has: such a file may be long, its news are not."""
    known = {line for name in published for line in (objects.beginning(name, _MOST) or b"").split(b"\n")}
    return b"\n".join(line for line in data.split(b"\n") if line not in known)


def words_of_commit(data: bytes) -> bytes:
    """What people wrote into a commit: all but object names and signatures, which stand in its header."""
    head, _, message = data.partition(b"\n\n")
    kept: list[bytes] = []
    field, armored = b"", False
    for line in head.split(b"\n"):
        field, value = (field, line) if line.startswith(b" ") else line.partition(b" ")[::2]
        more = line if value is line else b" " + value
        armored = (armored or more.startswith(b" -----BEGIN ")) and value is line
        signed = field.startswith(b"gpgsig") or (field == b"mergetag" and armored)
        if field not in (b"tree", b"parent") and not (signed and _ARMOR.fullmatch(more)):
            kept.append(line)
    return b"\n".join([*kept, message])
