"""What tells the sources of two teams apart where their paths are the same: the root that a path starts from."""

from __future__ import annotations

import hashlib
import hmac
import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from commonwealth.errors import BrainError
from commonwealth.repo.git import Git
from commonwealth.repo.project import repository_of
from commonwealth.timeline import canonical

_SHOWN = 16  # hex digits of a commit or of a folder's hash
_DEPTH = 40  # folders above one that are considered without a repository


class Root(NamedTuple):
    """One name of a folder, the same in every clone; `repository` is the remote's identity where that is the name."""

    name: str
    repository: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The repository around a source: `top` is its work tree, None without one, `names` what it is known by.

    `key` is the brain's: it hides the path of a folder that has no other name.
    """

    key: str
    top: str | None = None
    names: tuple[Root, ...] = ()

    def roots(self, folder: str) -> tuple[Root, ...]:
        """What the real path `folder` is called: by the repository's remote and the folder in it, by its first commit,
        by a short keyed hash of the path. The first one counts; the others are what it was called before it had that.
        """
        digest = hmac.new(self.key.encode("utf-8"), os.fsencode(folder), hashlib.sha256).hexdigest()
        hidden = Root(f"folder:{digest[:_SHOWN]}")
        if self.top is None:
            return (hidden,)
        inside = unicodedata.normalize("NFC", os.path.relpath(folder, self.top).replace(os.sep, "/"))
        rest = "" if inside == "." else f"#{inside}"
        return (*(Root(name + rest, repository) for name, repository in self.names), hidden)

    def above(self, folder: str) -> Iterator[str]:
        """`folder` and the folders above it, up to the repository's own."""
        for _ in range(_DEPTH):
            yield folder
            parent = os.path.dirname(folder)
            if folder in (self.top, parent):
                return
            folder = parent


def surroundings(folder: str, key: str) -> Surroundings:
    """What is around the real path `folder`. A remote that is a path on this machine names nothing."""
    project = repository_of(folder)
    if project is None:
        return Surroundings(key)
    is_path = project.identity.startswith("/") or project.identity[1:2] == ":"
    names = [] if is_path else [Root(project.identity, project.identity)]
    if first := _first_commit(project.root):
        names.append(Root(f"commit:{first[:_SHOWN]}"))
    return Surroundings(key, project.root, tuple(names))


def _first_commit(top: str) -> str | None:
    """The oldest commit of a whole history; the least of several, so that every clone takes the same."""
    git = Git(top)
    try:
        if git.text("rev-parse", "--is-shallow-repository").strip() == "true":
            return None
        return min(git.text("rev-list", "--max-parents=0", "HEAD").split(), default=None)
    except BrainError:  # nothing is committed yet
        return None


def first_seen(around: Surroundings, folder: str) -> Mapping[str, str]:
    """When each file below `folder` came into the repository's history, by path.

    A history that is cut short says nothing: its oldest commit seems to have added every file.
    """
    if around.top is None:
        return {}
    inside = os.path.relpath(folder, around.top).replace(os.sep, "/")
    prefix = "" if inside == "." else f"{inside}/"
    git = Git(around.top)
    try:
        if git.text("rev-parse", "--is-shallow-repository").strip() == "true":
            return {}
        log = git.text("log", "--no-renames", "--diff-filter=A", "--name-only", "--format=%x01%aI", "--", inside)
    except BrainError:
        return {}
    seen: dict[str, str] = {}
    when = ""
    for line in log.splitlines():
        if line.startswith("\x01"):
            when = canonical(line[1:])
        elif line and line.startswith(prefix):
            seen[unicodedata.normalize("NFC", line[len(prefix) :])] = when
    return seen
