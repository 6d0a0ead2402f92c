"""What may not leave this clone: every name, file and commit that a push would make public is looked through.

Bounded in memory and time. A text is looked through in windows, up to its first 4 MiB; a binary file, which holds
no text that anybody typed, up to its first window. What was found clean is remembered until it is published, so
that a sync that runs out of time goes on from there the next time.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Self

from commonwealth import atomic
from commonwealth.errors import Busy, Refused
from commonwealth.repo.commit import shown
from commonwealth.repo.common import read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, decode, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.objects import Objects

_WINDOW = 1 << 18
_OVERLAP = 1 << 13
"""Bytes; a secret is shorter than what two windows share."""

_MOST = 1 << 22
"""Bytes of one file that are looked through."""

_SAMPLE = 1 << 13
_STATE = "clean"
_BATCH = 64
"""So many objects at most are looked through again after a sync was killed."""

_SIGNATURE = re.compile(rb"-----BEGIN [A-Z ]*SIGNATURE-----.*?-----END [A-Z ]*SIGNATURE-----", re.DOTALL)


def refuse_outgoing_secrets(
    git: Git, commit: str, known: Sequence[str], content: Content, deadline: float = math.inf
) -> tuple[str, ...]:
    """Scan every name, file and commit that a push of `commit` would make public for the first time.

    `known` are commits whose history is public already; `deadline` is a monotonic time. Returns what was looked
    at in part only, as warnings. Raises Refused for the first secret, Busy when the time is over.
    """
    _refuse_names(git, commit, known, content)
    exclude = [f"^{name}" for name in known]
    listed = [line for line in decode(git.run("rev-list", "--objects", commit, *exclude)).split("\n") if line]
    warnings: list[str] = []
    with _Clean(git) as clean, Objects(git) as objects:
        for number, line in enumerate(listed):
            name, _, path = line.partition(" ")
            if name in clean.names:
                continue
            if clean.added and time.monotonic() >= deadline:  # at least one, so that every sync comes nearer the end
                raise Busy(
                    f"Looking for secrets in what is not published yet takes longer than this sync may: "
                    f"{number} of {len(listed)} objects are done.",
                    hint="Nothing was pushed. The next sync goes on from there; `brain sync --timeout` gives it more.",
                )
            _refuse_object(objects, name, path, known, content, warnings)
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
        self.names = set((read_text(self._place, 1 << 26) or "").split())
        self.added = 0
        self._saved = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.added != self._saved and (kind is not None or self.added >= _BATCH):
            self._save()

    def add(self, name: str) -> None:
        self.names.add(name)
        self.added += 1
        if self.added - self._saved >= max(_BATCH, len(self.names) // 8):
            self._save()

    def _save(self) -> None:
        self._saved = self.added
        atomic.replace(self._place, "".join(f"{name}\n" for name in sorted(self.names)).encode())


def _refuse_names(git: Git, commit: str, known: Sequence[str], content: Content) -> None:
    """A name is public with its commit, also that of a file whose bytes are known: a copy, a move, a submodule."""
    commits = git.run("rev-list", commit, *(f"^{name}" for name in known))
    flags = ("-r", "-t", "-m", "--root", "--no-commit-id", "--no-renames", "--name-only", "-z")
    only = ("--diff-filter=d", "--ignore-submodules=none")
    for path in dict.fromkeys(fields(git.run("diff-tree", "--stdin", *flags, *only, input=commits))):
        if content.scan(path, b"") and not _was_public(git, path, known):
            raise Refused(
                f"secret: {shown(path, content)}: file name in a commit that is not published yet",
                hint="Nothing was pushed. Revoke the secret; rename the file; then rewrite the commits that hold "
                f"that name: {_rewrite(known)}.",
            )


def _was_public(git: Git, path: str, known: Sequence[str]) -> bool:
    return bool(known) and bool(git.run("rev-list", "-1", "--full-history", *known, "--", path))


def _rewrite(known: Sequence[str]) -> str:
    return f"`git rebase -i {known[-1][:12] if known else '--root'}`"


def _refuse_object(
    objects: Objects, name: str, path: str, known: Sequence[str], content: Content, warnings: list[str]
) -> None:
    info = objects.info(name)
    if info is None or info[1] not in ("blob", "commit"):
        return
    where = path if info[1] == "blob" else ""
    data = objects.beginning(name, _MOST) or b""
    if not where:
        data = _words_of_commit(data)
    elif content.is_derived(where):
        data = _new_lines(objects, data, [f"{name}:{where}" for name in known])
    seen = 0
    for start, window in _windows(data):
        for finding in content.scan(where, window):
            place = shown(path, content) if where else f"the commit {name[:12]}"
            spot = f"{finding.where} after byte {start}" if start else finding.where
            raise Refused(
                f"secret: {place}: {spot} ({finding.rule}) in a commit that is not published yet",
                hint="Nothing was pushed. Revoke the secret; take it out of the file; then rewrite the commits "
                f"that hold it: {_rewrite(known)}.",
            )
        seen = start + len(window)
    if (where and seen < len(data)) or info[2] > _MOST:
        size = f"{info[2] / (1 << 20):.1f} MiB"
        warnings.append(f"{shown(path, content)} has {size}: only its beginning was looked through for secrets.")


def _windows(data: bytes) -> Iterator[tuple[int, bytes]]:
    end = _WINDOW if _is_binary(data[:_SAMPLE]) else len(data)
    for start in range(0, max(1, end - _OVERLAP), _WINDOW - _OVERLAP):
        yield start, data[start : min(end, start + _WINDOW)]


def _is_binary(sample: bytes) -> bool:
    """Whether this is the beginning of no text: it holds NUL, and not as UTF-16 does, in every other place."""
    if b"\0" not in sample or sample[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return max(even, odd) * 4 < len(sample) or min(even, odd) * 8 > len(sample)


def _new_lines(objects: Objects, data: bytes, published: Sequence[str]) -> bytes:
    """The lines of a derived file that no published version has: such a file may be long, its news are not."""
    known = {line for name in published for line in (objects.beginning(name, _MOST) or b"").split(b"\n")}
    return b"\n".join(line for line in data.split(b"\n") if line not in known)


def _words_of_commit(data: bytes) -> bytes:
    """What people wrote into a commit: all but object names and signatures."""
    head, _, message = data.partition(b"\n\n")
    kept: list[bytes] = []
    dropped = False
    for line in head.split(b"\n"):
        dropped = dropped if line.startswith(b" ") else line.startswith((b"tree ", b"parent ", b"gpgsig"))
        if not dropped:
            kept.append(line)
    return _SIGNATURE.sub(b"", b"\n".join([*kept, message]))
