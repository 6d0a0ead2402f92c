"""A file through time: its versions, what it said at a commit, and which commit was current at an instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commonwealth.errors import Refused
from commonwealth.repo.git import Git, fields
from commonwealth.repo.objects import Objects
from commonwealth.safetext import one_line
from commonwealth.timeline import of_seconds, parse, shown_seconds

_FORMAT = "--format=%H%x00%ct%x00%an%x00%s%x00%P"
_FIELDS = 5
_FIRST = 64
"""Commits asked for at first where only some versions are wanted: merges that took over one side are among them."""

_NEAR = 1000


@dataclass(frozen=True, slots=True)
class Version:
    """One commit that changed a file. `at` is canonical UTC text; `path` is what the file was called then."""

    commit: str
    at: str
    author: str
    subject: str
    path: str
    deleted: bool = False
    parents: tuple[str, ...] = field(default=(), compare=False)

    @property
    def merged(self) -> bool:
        """Whether the commit united two lines of work."""
        return len(self.parents) > 1


def versions(git: Git, path: str, *, ref: str = "HEAD", limit: int | None = None) -> list[Version]:
    """The versions of `path` as of `ref`, newest first, through renames; empty if it was never committed.

    What a merge did not take over is a version as well; the merge counts where its content is neither side's. A file
    that began as a copy of another begins there: two notes that read alike are two notes. History is walked once for
    each name that the file had: git's own `--follow` knows one name at a time, and misses what the other side of a
    merge did under the old one. All of the history is walked: some 0.2 s for 10,000 commits.
    """
    names = [path]
    asked: set[tuple[str, str]] = set()
    while True:
        found, added = _walk(git, names, ref, limit)
        new = [
            earlier for pair in added if pair not in asked for earlier in _earlier(git, *pair) if earlier not in names
        ]
        asked |= set(added)
        if not new:
            return found
        names += dict.fromkeys(new)


def at_paths(git: Git, paths: Sequence[str], *, ref: str = "HEAD") -> dict[str, list[Version]]:
    """The versions of several files as of `ref`, each newest first, by one walk; renames are not followed."""
    found: dict[str, list[Version]] = {path: [] for path in paths}
    for version, changes in _log(git, list(found), ref, None) if found else ():
        for status, name in changes:
            if name in found:
                found[name].append(replace(version, path=name, deleted="D" in status))
    return found


def _walk(git: Git, names: list[str], ref: str, limit: int | None) -> tuple[list[Version], list[tuple[str, str]]]:
    """The commits that changed a file of these names, and those (with the name) in which one began."""
    found: list[Version] = []
    added: list[tuple[str, str]] = []
    for version, changes in _log(git, names, ref, limit):
        there = [name for status, name in changes if "D" not in status]
        found.append(replace(version, path=(there or [changes[0][1]])[0], deleted=not there))
        added += [(version.commit, name) for status, name in changes if "A" in status]
    return found, added


def _log(git: Git, names: list[str], ref: str, limit: int | None) -> list[tuple[Version, list[tuple[str, str]]]]:
    """The newest commits that changed one of these files, with pairs of status and path; none where `ref` is none."""
    asked = max(_FIRST, 2 * limit) if limit is not None else None
    while True:
        args = ["log", "-z", "--date-order", "--full-history", "-c", "--name-status", "--no-renames", "--no-ext-diff"]
        if asked is not None:
            args.append(f"--max-count={asked}")
        done = git.call(*args, _FORMAT, "--end-of-options", ref, "--", *names)
        if done.code:
            if git.resolve(ref) is None:
                return []
            raise git.failure(done)
        every = list(_records(fields(done.out)))
        found = [(version, changes) for version, changes in every if changes]
        if limit is None or asked is None or len(found) >= limit or len(every) < asked:
            return found[:limit]
        asked *= 8


def _records(parts: list[str]) -> Iterator[tuple[Version, list[tuple[str, str]]]]:
    """Each version with the pairs of status and path behind it.

    A record is the fields of the format, for a merge an empty field, then the pairs; a merge that took over
    one side has none. A status is in capitals, which no name of a commit is.
    """
    at = 0
    while at + _FIELDS <= len(parts):
        commit, when, author, subject, parents = parts[at : at + _FIELDS]
        at += _FIELDS
        if at < len(parts) and parts[at] == "":
            at += 1
        changes: list[tuple[str, str]] = []
        while at + 1 < len(parts) and (status := parts[at].strip("\n")) and status.isalpha() and status.isupper():
            changes.append((status, parts[at + 1]))
            at += 2
        known = commit.strip("\n"), of_seconds(shown_seconds(when)), author, subject
        yield Version(*known, path="", parents=tuple(parents.split())), changes


def _earlier(git: Git, commit: str, path: str) -> list[str]:
    """What the file that began in `commit` was called before: a file of the same name that went away there, or one
    that reads alike."""
    args = ("diff-tree", "-r", "-z", "-m", "--root", "--no-commit-id", "--name-status", "--no-ext-diff")
    name = path.rpartition("/")[2]
    gone = fields(git.run(*args, "--no-renames", "--diff-filter=D", commit))[1::2]
    if same := [other for other in gone if other.rpartition("/")[2] == name]:
        return same
    if not gone:
        return []
    parts = fields(git.run(*args, "--find-renames", "--diff-filter=R", commit))
    return [parts[at + 1] for at in range(0, len(parts) - 2, 3) if parts[at + 2] == path]


def deleted(git: Git, folders: Sequence[str], *, ref: str = "HEAD") -> list[str]:
    """The files below some folders that were there once and are not any more, the latest first.

    All of the history is walked: some 2 s for 10,000 commits.
    """
    args = ("log", "-z", "--name-only", "--diff-filter=D", "--no-renames", "-m", "--no-ext-diff", "--format=")
    if git.resolve(ref) is None:
        return []
    gone = dict.fromkeys(name.strip("\n") for name in fields(git.run(*args, "--end-of-options", ref, "--", *folders)))
    there = set(fields(git.run("ls-tree", "-r", "-z", "--name-only", ref, "--", *folders)))
    return [path for path in gone if path and path not in there]


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
    """The last commit on the first-parent line of `ref` that is dated at or before `instant` (canonical UTC).

    Dates need not follow the line, as clocks differ: the commit nearest to `ref` counts, with all that it holds.
    """
    seconds = _seconds(instant)
    if seconds < 0:
        return None
    args = ("--max-count=1", "--first-parent", f"--before=@{seconds} +0000", "--end-of-options", ref, "--")
    return git.text("rev-list", *args) or None


def first_on_line(git: Git, ref: str) -> tuple[str, str]:
    """The first commit on the first-parent line of `ref`, and its date; in a shallow clone the first that is here."""
    args = ("--first-parent", "--max-parents=0", "--max-count=1", "--no-commit-header", "--format=%H %ct")
    commit, _, seconds = git.text("rev-list", *args, "--end-of-options", ref, "--").partition(" ")
    return commit, of_seconds(shown_seconds(seconds))


def later_on_line(git: Git, commit: str, instant: str) -> str | None:
    """A commit before `commit` on its first-parent line that is dated after `instant`, among the nearest thousand."""
    args = ("--first-parent", f"--max-count={_NEAR}", "--no-commit-header", "--format=%H %ct")
    limit = _seconds(instant)
    for line in git.text("rev-list", *args, "--end-of-options", commit, "--").splitlines():
        name, _, seconds = line.partition(" ")
        if shown_seconds(seconds) > limit:
            return name
    return None


def date_of(git: Git, commit: str) -> str:
    """When a commit was made, by its committer's clock, as canonical UTC text."""
    return of_seconds(shown_seconds(git.text("log", "-1", "--format=%ct", "--end-of-options", commit, "--")))


def _seconds(instant: str) -> int:
    """Seconds since 1970 of canonical text; git's own reading of dates ends in 2099."""
    return int(parse(instant).timestamp())


def trailers(git: Git, commits: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The trailers of some commits' messages, each as one line `Name: value`."""
    if not commits:
        return {}
    args = ("--no-walk=unsorted", "-z", "--format=%H%n%(trailers:only=true,unfold=true)", "--stdin")
    out = git.run("log", *args, input="".join(f"{commit}\n" for commit in commits).encode("ascii"))
    found = (record.split("\n") for record in fields(out))
    return {commit: tuple(line for line in lines if line.strip()) for commit, *lines in found}
