"""Whether a note still rests on what its code repository says: cited files, names and commits, at one commit.

Everything is asked of git's objects, never of a work tree's filters or of the network, with a limit on time, files and
bytes. What cannot be told is `unknown`, and harms no note.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from commonwealth.curate import verify
from commonwealth.curate.verify import Cited, Seen
from commonwealth.errors import BrainError
from commonwealth.model import Candidate, Note, Verified
from commonwealth.repo.git import Git, fields
from commonwealth.repo.objects import Objects
from commonwealth.repo.project import Project

SECONDS = 5.0
"""So long the questions about one note may take together."""

_BYTES = 512 << 10
_LOG_COMMITS = 2000


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found: for the note, and in sentences for a person."""

    verified: Verified
    details: tuple[str, ...] = ()


def checked(
    note: Note | Candidate, project: Project | None, *, now: str, since: str | None = None, seconds: float = SECONDS
) -> Checked:
    """What `project` says of the citations of `note` at its present commit.

    `since` is the commit that the note was observed at, where the note does not say. Unknown where there is no
    repository or nothing is cited, and where git has no answer within `seconds`. Never raises for what git says.
    """
    wanted = verify.cited(note)
    if project is None or project.commit is None or not (wanted.files or wanted.symbols):
        return Checked(Verified(now, project.commit if project else None, "unknown"))
    look = _Look(project, wanted, since or wanted.commit, time.monotonic() + seconds)
    try:
        files, lost = look.run()
    except BrainError:
        return Checked(Verified(now, project.commit, "unknown"))
    return Checked(Verified(now, project.commit, verify.result(files, lost)), verify.details(files, lost))


@dataclass(slots=True)
class _Look:
    """One look at a repository. `end` is when to give up, by the monotonic clock."""

    project: Project
    wanted: Cited
    since: str | None
    end: float
    git: Git = field(init=False)

    def __post_init__(self) -> None:
        self.git = Git(self.project.root)

    def run(self) -> tuple[dict[str, Seen], tuple[str, ...]]:
        """What there is of each file, and the names that were in them and are no more."""
        assert self.project.commit is not None
        with Objects(self.git) as objects:
            before = self._observed(objects)
            found: dict[str, Seen] = {}
            for path in self.wanted.files:
                found[path] = self._file(objects, path, before)
            lost = tuple(self._lost(objects, found, before))
        absent = [path for path, seen in found.items() if seen.state == "never"]
        found |= self._history(absent, removed=True)
        if before is None and self.wanted.at:
            found |= self._history([path for path, seen in found.items() if seen.state == "there"], removed=False)
        return found, lost

    def _observed(self, objects: Objects) -> str | None:
        """The full name of the commit of the observation, where this clone has it."""
        if self.since is None:
            return None
        info = objects.info(f"{self.since}^{{commit}}")
        return info[0] if info is not None and info[1] == "commit" else None

    def _file(self, objects: Objects, path: str, before: str | None) -> Seen:
        self._within_time()
        here = objects.info(f"{self.project.commit}:{path}")
        there = objects.info(f"{before}:{path}") if before else None
        if here is None:
            if there is not None:
                return Seen("gone")
            return Seen("unknown" if os.path.lexists(os.path.join(self.project.root, path)) else "never")
        return Seen("changed") if there is not None and there[0] != here[0] else Seen("there")

    def _within_time(self) -> None:
        if time.monotonic() > self.end:
            raise BrainError("It took too long to look.")

    def _lost(self, objects: Objects, files: dict[str, Seen], before: str | None) -> Iterator[str]:
        """The names that stood in the cited files when the note was observed, and stand in none of them now."""
        if before is None or not self.wanted.symbols:
            return
        changed = [path for path, seen in files.items() if seen.state == "changed"]
        if not changed or len(changed) != sum(seen.state != "unknown" for seen in files.values()):
            return
        old = "\n".join(self._text(objects, f"{before}:{path}") for path in changed)
        new = "\n".join(self._text(objects, f"{self.project.commit}:{path}") for path in changed)
        for name in self.wanted.symbols:
            last = re.split(r"\.|::", name)[-1]
            if _stands_in(last, old) and not _stands_in(last, new):
                yield name

    def _text(self, objects: Objects, name: str) -> str:
        self._within_time()
        return (objects.beginning(name, _BYTES) or b"").decode("utf-8", "replace")

    def _history(self, paths: list[str], *, removed: bool) -> dict[str, Seen]:
        """Of files that are not there the commit that removed them, or of others the last that changed them since the
        note was observed."""
        if not paths:
            return {}
        what = ["--diff-filter=D"] if removed else [f"--since={self.wanted.at}"]
        limit = f"--max-count={_LOG_COMMITS}"
        done = self.git.call(
            "log", "--format=%x01%H", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", limit,
            *what, str(self.project.commit), "--", *paths, timeout=max(0.05, self.end - time.monotonic()),
        )  # fmt: skip
        return {} if done.code else _last_changes(fields(done.out), paths, "gone" if removed else "changed")


def _last_changes(said: Iterable[str], paths: Iterable[str], state: str) -> dict[str, Seen]:
    """By path the newest commit that names it, from a log of commits and the files that each changed."""
    found: dict[str, Seen] = {}
    wanted, commit = set(paths), ""
    for one in said:
        for line in one.split("\n"):
            if line.startswith("\x01"):
                commit = line[1:]
            elif line in wanted and line not in found:
                found[line] = Seen(state, commit)
    return found


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
