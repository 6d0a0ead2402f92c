"""A file through time: its versions, what it said at a commit, and which commit was current at an instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth.errors import Refused
from commonwealth.repo.git import Git, fields
from commonwealth.repo.objects import Objects
from commonwealth.safetext import one_line
from commonwealth.timeline import canonical

_FORMAT = "--format=%H%x00%cI%x00%an%x00%s"


@dataclass(frozen=True, slots=True)
class Version:
    """One commit that changed a file. `at` is canonical UTC text; `path` is what the file was called then."""

    commit: str
    at: str
    author: str
    subject: str
    path: str


def versions(git: Git, path: str, *, ref: str = "HEAD", limit: int | None = None) -> list[Version]:
    """The versions of `path` as of `ref`, newest first, through renames; empty if it was never committed.

    A merge counts where its content is neither side's. A file that began as a copy of another begins there:
    two notes that read alike are two notes.
    """
    args = ("log", "-z", "--follow", "--topo-order", "-c", "--name-status", "--no-ext-diff", _FORMAT)
    done = git.call(*args, "--end-of-options", ref, "--", path)
    if done.code:
        if git.resolve(ref) is None:
            return []
        raise git.failure(done)
    found: list[Version] = []
    for version, copied in _records(fields(done.out)):
        found.append(version)
        if copied or len(found) == limit:
            break
    return found


def _records(parts: list[str]) -> Iterator[tuple[Version, bool]]:
    """Pairs of a version and whether the file is a copy made there.

    A record is the four fields of the format, for a merge an empty field, then the status and one path, or
    the old and the new path of a rename or copy. A merge that took over one side has no status.
    """
    at = 0
    while at + 4 < len(parts):
        commit, when, author, subject = parts[at : at + 4]
        at += 5 if parts[at + 4] == "" else 4
        status = parts[at].strip("\n") if at < len(parts) else ""
        if not status[:1].isupper():
            continue
        two = status[1:].isdigit()
        path = parts[at + 2] if two else parts[at + 1]
        at += 3 if two else 2
        yield Version(commit.strip("\n"), canonical(when), author, subject, path), status.startswith("C")


def read_at(git: Git, commit: str, path: str, *, limit: int = 1 << 20) -> bytes | None:
    """The bytes of `path` in `commit`, or None if it is not there. Refused if larger than `limit` bytes."""
    with Objects(git) as objects:
        name = f"{commit}:{path}"
        info = objects.info(name)
        if info is None:
            if objects.info(f"{commit}^{{commit}}") is None:
                hint = "`brain history ID` lists a note's commits."
                raise Refused(f"There is no commit {one_line(commit)}.", hint=hint)
            return None
        return objects.read(name, limit) if info[1] == "blob" else None


def commit_at(git: Git, ref: str, instant: str) -> str | None:
    """The newest commit on the first-parent line of `ref` dated at or before `instant` (canonical UTC)."""
    args = ("--max-count=1", "--first-parent", f"--before={instant}", "--end-of-options", ref, "--")
    return git.text("rev-list", *args) or None
