"""Many objects through one process: `git cat-file` kept open for as long as a piece of work needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import Self

from commonwealth.errors import Refused
from commonwealth.repo.git import Git, Pipe, encode
from commonwealth.safetext import one_line


@contextlib.contextmanager
def reading(git: Git) -> Iterator[None]:
    """Inside, all `Objects` of this `git` share one process, and `git.fact` asks once. One thread at a time."""
    if git.facts is not None:
        yield
        return
    git.facts = {}
    try:
        yield
    finally:
        git.facts = None
        _drop_reader(git)


def _reader(git: Git) -> Pipe:
    if git.reader is not None and git.reader.has_ended:
        _drop_reader(git)
    if git.reader is None:
        git.reader = _open(git)
    return git.reader


def _drop_reader(git: Git) -> None:
    reader, git.reader = git.reader, None
    if reader is not None:
        reader.__exit__(None, None, None)


def _open(git: Git) -> Pipe:
    return git.open("cat-file", "--batch-command", "-z").__enter__()


class Objects:
    """Reads objects by name: `with Objects(git) as objects: objects.read("HEAD:memory/INDEX.md")`."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._own: Pipe | None = None

    def __enter__(self) -> Self:
        if self._git.facts is None:
            self._own = _open(self._git)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own is not None:
            self._own.__exit__(kind, error, trace)
        elif kind is not None:  # what it may be in the middle of saying answers nobody else's question
            _drop_reader(self._git)

    def info(self, name: str) -> tuple[str, str, int] | None:
        """(sha, type, size in bytes) of the object that `name` names (`sha`, `commit:path`), or None."""
        return _ask(self._pipe, "info", name)

    def read(self, name: str, limit: int | None = None) -> bytes | None:
        """The bytes of an object, or None where there is none. Refused if it is larger than `limit` bytes."""
        if limit is not None:
            info = self.info(name)
            if info is not None and info[2] > limit:
                raise Refused(f"{one_line(name)} is larger than {limit} bytes.")
        pipe = self._pipe
        found = _ask(pipe, "contents", name)
        return None if found is None else pipe.read(found[2] + 1)[:-1]

    def many(self, names: Iterable[str], limit: int) -> Iterator[tuple[int, bytes | None]]:
        """Size and bytes of objects by their full names, in this order: -1 and None where there is none, None for the
        bytes of one that is larger than `limit`. Git is asked ahead of what is read, so that it never waits for us.
        Nothing else may be read until this is at its end, or has failed."""
        pipe, left = self._pipe, iter(names)
        asked = _ask_ahead(pipe, left)
        while asked:
            ahead = _ask_ahead(pipe, left)
            for name in asked:
                found = _answer(pipe, name)
                if found is None:
                    yield -1, None
                elif found[2] > limit:
                    _skip(pipe, found[2] + 1)
                    yield found[2], None
                else:
                    yield found[2], pipe.read(found[2] + 1)[:-1]
            asked = ahead

    def beginning(self, name: str, most: int) -> bytes | None:
        """The first `most` bytes of an object, or None where there is none; more is never held in memory."""
        pipe = self._pipe
        found = _ask(pipe, "contents", name)
        if found is None:
            return None
        data = pipe.read(min(most, found[2]))
        _skip(pipe, found[2] + 1 - len(data))
        return data

    def windows(self, name: str, size: int, overlap: int, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """The bytes of an object from `start` on, as (offset, at most `size` bytes), each window beginning with the
        last `overlap` bytes of the one before. Nothing else may be read until it is at its end, or has failed."""
        pipe = self._pipe
        found = _ask(pipe, "contents", name)
        if found is None:
            return
        left, window = found[2], b""
        skipped = min(start, left)
        while skipped:
            done = len(pipe.read(min(skipped, 1 << 20)))
            skipped, left = skipped - done, left - done
        while True:
            more = pipe.read(min(size - len(window), left))
            left -= len(more)
            window += more
            yield start, window
            if not left:
                break
            start += len(window) - overlap
            window = window[-overlap:]
        pipe.read(1)

    @property
    def _pipe(self) -> Pipe:
        return self._own or _reader(self._git)


def is_commit(git: Git, name: str) -> bool:
    """Whether `name` is the full name of a commit that is here."""
    with Objects(git) as objects:
        info = objects.info(name)
    return info is not None and info[:2] == (name, "commit")


def _ask(pipe: Pipe, command: str, name: str) -> tuple[str, str, int] | None:
    if not name or "\0" in name:
        raise Refused("An object name is empty or contains a NUL character.")
    pipe.send(encode(f"{command} {name}\0"))
    return _answer(pipe, name)


_AHEAD = 64
"""Requests that are sent at once: twice as many full names are less than any pipe holds, so neither side blocks."""


def _ask_ahead(pipe: Pipe, names: Iterator[str]) -> list[str]:
    """Send the next requests for contents; the names in them."""
    asked = list(islice(names, _AHEAD))
    if asked:
        pipe.send(b"".join(encode(f"contents {name}\0") for name in asked))
    return asked


def _skip(pipe: Pipe, left: int) -> None:
    while left:
        left -= len(pipe.read(min(left, 1 << 20)))


def _answer(pipe: Pipe, name: str) -> tuple[str, str, int] | None:
    line = pipe.line()
    words = line.split()
    if len(words) == 3 and len(words[0]) in {40, 64} and words[2].isdigit():
        return words[0].decode("ascii"), words[1].decode("ascii"), int(words[2])
    for _ in range(name.count("\n")):  # a missing name is echoed with its own line ends
        line += pipe.line()
    if not line.endswith((b" missing\n", b" ambiguous\n")):
        raise pipe.broken()
    return None
