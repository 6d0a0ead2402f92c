"""Many objects through one process: `git cat-file` kept open for as long as a piece of work needs it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from commonwealth.errors import Refused
from commonwealth.repo.git import Git, encode
from commonwealth.safetext import one_line


class Objects:
    """Reads objects by name: `with Objects(git) as objects: objects.read("HEAD:memory/INDEX.md")`."""

    def __init__(self, git: Git) -> None:
        self._pipe = git.open("cat-file", "--batch-command", "-z")

    def __enter__(self) -> Self:
        self._pipe.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipe.__exit__(kind, error, trace)

    def info(self, name: str) -> tuple[str, str, int] | None:
        """(sha, type, size in bytes) of the object that `name` names (`sha`, `commit:path`), or None."""
        return self._ask("info", name)

    def read(self, name: str, limit: int | None = None) -> bytes | None:
        """The bytes of an object, or None where there is none. Refused if it is larger than `limit` bytes."""
        if limit is not None:
            info = self.info(name)
            if info is not None and info[2] > limit:
                raise Refused(f"{one_line(name)} is larger than {limit} bytes.")
        found = self._ask("contents", name)
        return None if found is None else self._pipe.read(found[2] + 1)[:-1]

    def beginning(self, name: str, most: int) -> bytes | None:
        """The first `most` bytes of an object, or None where there is none; more is never held in memory."""
        found = self._ask("contents", name)
        if found is None:
            return None
        data = self._pipe.read(min(most, found[2]))
        left = found[2] + 1 - len(data)
        while left:
            left -= len(self._pipe.read(min(left, 1 << 20)))
        return data

    def _ask(self, command: str, name: str) -> tuple[str, str, int] | None:
        if not name or "\0" in name:
            raise Refused("An object name is empty or contains a NUL character.")
        self._pipe.send(encode(f"{command} {name}\0"))
        line = self._pipe.line()
        words = line.split()
        if len(words) == 3 and len(words[0]) in {40, 64} and words[2].isdigit():
            return words[0].decode("ascii"), words[1].decode("ascii"), int(words[2])
        for _ in range(name.count("\n")):  # a missing name is echoed with its own line ends
            line += self._pipe.line()
        if not line.endswith((b" missing\n", b" ambiguous\n")):
            raise self._pipe.broken()
        return None
