"""The files of a folder that is imported, and what the repository around it knows of them."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.notes import store
from commonwealth.repo.git import Git
from commonwealth.repo.project import repository_of
from commonwealth.timeline import canonical

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that did not become a note, and why. Neither holds a secret."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """The files of a folder: those to read as markdown with their bytes, and the others with a reason.

    `repository` is the identity of the repository around the folder where it has a remote; `seen` the time at
    which each path first came into its history.
    """

    files: tuple[tuple[str, bytes], ...]
    skipped: tuple[Skipped, ...] = ()
    repository: str | None = None
    seen: Mapping[str, str] = field(default_factory=dict)


def gather(path: Path) -> Gathered:
    """Read the folder (or the one file) at `path`. Links and hidden files and folders are not followed.

    Raises Refused where there is neither.
    """
    if path.is_file():
        root, names, skipped = path.parent, [path.name], list[Skipped]()
    elif path.is_dir():
        root, skipped = path, list[Skipped]()
        names = list(_walk(path, "", skipped))
    else:
        raise Refused(f"There is no folder or file at {path}.", hint="Check the path.")
    files: list[tuple[str, bytes]] = []
    for name in names:
        if not name.lower().endswith(_MARKDOWN):
            skipped.append(Skipped(name, "not a markdown file"))
            continue
        try:
            files.append((name, store.read_bytes(root, name)[0]))
        except (BadNote, Refused, FileNotFoundError) as error:
            skipped.append(Skipped(name, reason_of(error)))
    repository, seen = _history(root)
    return Gathered(tuple(files), tuple(skipped), repository, seen)


def _walk(root: Path, folder: str, skipped: list[Skipped]) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        skipped.append(Skipped(f"{folder}/", f"the folder cannot be read ({error.strerror})"))
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if reason := _passed_over(entry):
            if entry.name != ".git":
                skipped.append(Skipped(_shown(path) + ("/" if is_folder else ""), reason))
        elif is_folder:
            yield from _walk(root, path, skipped)
        else:
            yield path


def _passed_over(entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "a symbolic link, which is not followed"
    if entry.name.startswith("."):
        return "hidden"
    if not entry.is_dir() and not entry.is_file():
        return "not a regular file"
    try:
        entry.name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode("utf-8")


def reason_of(error: Exception) -> str:
    """Why a file was not read, in one clause with its line."""
    if isinstance(error, BadNote):
        return f"line {error.line}: {error.cause}" if error.line else error.cause
    return error.message if isinstance(error, BrainError) else "it is gone"


def _history(root: Path) -> tuple[str | None, Mapping[str, str]]:
    """The repository around `root`, if its identity is everybody's, and when each path came into its history.

    A history that is cut short says nothing: its oldest commit seems to have added every file.
    """
    project = repository_of(root)
    if project is None:
        return None, {}
    identity = None if project.identity.startswith("/") or project.identity[1:2] == ":" else project.identity
    inside = os.path.relpath(os.path.realpath(root), project.root).replace(os.sep, "/")
    prefix = "" if inside == "." else f"{inside}/"
    seen: dict[str, str] = {}
    git = Git(project.root)
    try:
        if git.text("rev-parse", "--is-shallow-repository").strip() == "true":
            return identity, {}
        log = git.text("log", "--no-renames", "--diff-filter=A", "--name-only", "--format=%x01%aI", "--", inside)
    except BrainError:
        return identity, {}
    when = ""
    for line in log.splitlines():
        if line.startswith("\x01"):
            when = canonical(line[1:])
        elif line and line.startswith(prefix):
            seen[unicodedata.normalize("NFC", line[len(prefix) :])] = when
    return identity, seen
