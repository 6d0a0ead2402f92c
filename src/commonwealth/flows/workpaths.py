"""Paths of a code repository as people and tools give them, and what they are called from its root."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonwealth.errors import BrainError, Usage
from commonwealth.index.values import clean_path
from commonwealth.repo.git import Git, fields
from commonwealth.repo.project import Project

LONGEST = 1000
"""Characters of a path."""

EVERYTHING = "**"
"""What the root of a repository is called: all that lies in it."""

GIT_SECONDS = 2.0
MOST_COMMITS = 20
"""So many commits that records began at are asked for renamed files."""

_EMPTY = "a path is empty; `.` stands for the folder that you are in, at the root for everything"
_DRIVE = re.compile(r"[A-Za-z]:/")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path is given: the code repository, if the path is one of it, and the folder that the caller is in."""

    project: Project | None
    cwd: str

    def inside(self, given: str) -> str:
        """The path from the root of the repository; the root itself is EVERYTHING. Raises ValueError with one clause.

        An absolute path has to lie in the work tree. A relative one is taken from the root, and from the caller's
        folder where it begins with `./` or `../`, or where only that has such a file.
        """
        text = given.strip().replace("\\", "/")
        if not text:
            raise ValueError(_EMPTY)
        if _CONTROL.search(text):
            raise ValueError(f"{given[:80]!r} holds a line break or another control character")
        if len(text) > LONGEST:
            raise ValueError(f"a path has {len(text)} characters, and at most {LONGEST} are possible")
        if text.startswith("/") or _DRIVE.match(text):
            return self._of_absolute(text)
        return _joined((*self._base(text), *text.split("/")), text) or EVERYTHING

    def _of_absolute(self, text: str) -> str:
        for root in self._roots():
            if text.rstrip("/") == root:
                return EVERYTHING
            if text.startswith(f"{root}/"):
                return _joined(text[len(root) + 1 :].split("/"), text) or EVERYTHING
        where = f"the repository at {self.project.root}" if self.project else "any repository that this session is in"
        raise ValueError(f"{text!r} lies outside {where}")

    def _roots(self) -> tuple[str, ...]:
        """The work tree's folder as its real path, and as the caller's folder spells it."""
        if self.project is None:
            return ()
        real = self.project.root.replace("\\", "/")
        below, cwd = "/".join(self._folder()), self.cwd.replace("\\", "/").rstrip("/")
        spelled = cwd.removesuffix(f"/{below}") if below else cwd
        return tuple(dict.fromkeys(root for root in (real, spelled) if root))

    def _folder(self) -> Sequence[str]:
        """The caller's folder below the root."""
        if self.project is None:
            return ()
        below = os.path.relpath(os.path.realpath(self.cwd), self.project.root).replace("\\", "/")
        return () if below == "." or below.startswith("..") else below.split("/")

    def _base(self, text: str) -> Sequence[str]:
        folder = self._folder()
        if self.project is None or not folder:
            return ()
        if text.startswith(("./", "../")) or text in (".", ".."):
            return folder
        fixed = []
        for part in text.split("/"):
            if "*" in part or "?" in part:
                break
            fixed.append(part)
        root = self.project.root
        if not fixed or os.path.lexists(os.path.join(root, *fixed)):
            return ()
        return folder if os.path.lexists(os.path.join(root, *folder, *fixed)) else ()


def _joined(parts: Iterable[str], given: str) -> str:
    found: list[str] = []
    for part in parts:
        if part == ".." and not found:
            raise ValueError(f"{given!r} leads out of the repository")
        if part == "..":
            found.pop()
        elif part not in ("", "."):
            found.append(part)
    return "/".join(found)


def asked(place: Place, paths: Iterable[str]) -> tuple[str, ...]:
    """Paths to look for: from the root where they can be taken from there, else as they are.

    Raises Usage for an empty one, which would find nothing.
    """
    found: dict[str, None] = {}
    for path in paths:
        if not path.strip():
            raise Usage(f"files: {_EMPTY}.")
        try:
            found[place.inside(path)] = None
        except ValueError:
            found[clean_path(path)] = None
    return tuple(filter(None, found))


def renamed(project: Project | None, commits: Iterable[str | None]) -> dict[str, Mapping[str, str]]:
    """By commit, what files were called there that have another name at HEAD: there → now.

    Empty for a commit that the clone lacks, where git has no answer in time, and without a repository.
    """
    if project is None or project.commit is None:
        return {}
    wanted = dict.fromkeys(commit for commit in commits if commit and _COMMIT.fullmatch(commit))
    git = Git(project.root)
    return {
        commit: _renames(git, commit, project.commit)
        for commit in list(wanted)[:MOST_COMMITS]
        if not project.commit.startswith(commit.lower())
    }


def _renames(git: Git, before: str, now: str) -> Mapping[str, str]:
    words = ("diff-tree", "-r", "-z", "--find-renames", "--diff-filter=R", "--name-status", "--no-ext-diff")
    try:
        done = git.call(*words, f"{before}^{{commit}}", now, "--", timeout=GIT_SECONDS)
    except BrainError:
        return {}
    told = fields(done.out) if done.code == 0 else []
    return dict(zip(told[1::3], told[2::3], strict=False))
