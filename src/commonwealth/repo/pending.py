"""What people did to the files since the last commit: edits are committed as theirs, strays only named."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.repo import workfiles
from commonwealth.repo.commit import Change, commit, refuse_secrets, shown
from commonwealth.repo.content import Content, Person
from commonwealth.repo.git import Git, fields
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.move import keep_bytes, read_bases, write_bases
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, blob, matches, set_index
from commonwealth.repo.tree import Entry

MOST_DELETIONS, MOST_DELETED_SHARE = 20, 0.1
"""More hand deletions than this at once, or more than this share of all notes, wait for a person's word."""

_MOST_NAMED = 20
_LARGEST = 1 << 20
"""Bytes; a larger file is no note, whatever its name is."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One note or config that differs from the last commit: `data` lies in the work tree (None: gone)."""

    path: str
    head: Entry | None
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Pending:
    """Everything in a work tree that no commit holds yet."""

    edits: tuple[Edit, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    """(path, cause) of what differs and cannot be committed as it is."""
    derived: tuple[tuple[str, Entry | None], ...] = ()
    """Derived files that differ from the last commit, with their committed entries."""
    strays: tuple[str, ...] = ()
    """Files and nested repositories that are nobody's note: never committed by us."""
    debris: tuple[str, ...] = ()
    """Unfinished files that a writer of ours left behind when it was killed."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of committing what was pending: the branch's tip, and what people have to know."""

    tip: str | None
    committed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    head: Entry | None
    unmerged: bool = False


def pending(git: Git, content: Content) -> Pending:
    """Look for edits with one `git status` over the watched files and folders; nothing is changed."""
    edits: list[Edit] = []
    held: list[tuple[str, str]] = []
    derived: list[tuple[str, Entry | None]] = []
    strays: list[str] = []
    debris: list[str] = []
    for entry in _status(git, content.watched):
        path = entry.path
        if content.is_derived(path):
            derived.append((path, entry.head))
        elif path.endswith("/") or (content.owns(path) is None and not content.is_config(path)):
            (debris if atomic.TEMPORARY.fullmatch(_name(path)) else strays).append(path)
        elif entry.unmerged:
            held.append((path, "a merge by hand has left it unmerged"))
        else:
            _sort(git, entry, content, edits, held)
    return Pending(tuple(edits), tuple(held), tuple(derived), tuple(sorted(strays)), tuple(debris))


def _status(git: Git, watched: tuple[str, ...]) -> Iterator[_Entry]:
    out = git.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignored=no",
        "--",
        *watched,
    )
    seen: dict[str, _Entry] = {}
    for record in fields(out):
        if record.startswith("1 "):
            words = record.split(" ", 8)
            head = None if words[3] == "000000" else (words[3], words[6])
            seen[words[8]] = _Entry(words[8], head)
        elif record.startswith("u "):
            path = record.split(" ", 10)[10]
            seen[path] = _Entry(path, None, unmerged=True)
        elif record.startswith("? "):
            # A file that was taken out of the index alone comes twice: the first record knows its commit.
            seen.setdefault(record[2:], _Entry(record[2:], None))
    yield from seen.values()


def _sort(git: Git, entry: _Entry, content: Content, edits: list[Edit], held: list[tuple[str, str]]) -> None:
    path = entry.path
    try:
        data = _read(git, path)
        if matches(data, entry.head):
            return
        if data is not None:
            refuse_secrets(path, data, content)
            cause = content.check(path, data)
            if cause is not None:
                held.append((path, cause))
                return
    except BadNote as error:
        held.append((path, error.cause))
    except (Refused, Damaged) as error:
        held.append((path, error.message))
    else:
        edits.append(Edit(path, entry.head, data))


def _read(git: Git, path: str) -> bytes | None:
    try:
        info = os.lstat(workfiles.locate(git.root, path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(info.st_mode):
        return None
    if not stat.S_ISREG(info.st_mode):
        raise Damaged(f"{path} is not a regular file.")
    if info.st_size > _LARGEST:
        raise Refused(f"{path} is larger than {_LARGEST} bytes.")
    return workfiles.read(git.root, path)


def commit_pending(
    git: Git,
    content: Content,
    author: Person,
    *,
    now: str,
    held: WriterLock,
    tip: str | None,
    accept_deletions: bool = False,
) -> Settled:
    """Commit people's edits as one commit of theirs, put derived files back, name what stays behind.

    What `check` or `scan` objects to stays uncommitted, as do deletions in bulk unless they are accepted.
    """
    found = pending(git, content)
    for path in found.debris:  # we hold the lock, so no writer of ours is at work on it
        with contextlib.suppress(OSError):
            os.unlink(workfiles.locate(git.root, path))
    warnings = _named(found, content)
    warnings += _put_back_derived(git, found)
    edits, held_back = _without_bulk_deletions(git, found.edits, tip, content, accept=accept_deletions)
    warnings += held_back
    changes, bases = _changes(git, edits, content, warnings)
    if changes:
        message = _message(edits)
        tip = commit(git, changes, message, author, now=now, content=content, held=held)
    if bases:
        kept = read_bases(git)
        write_bases(git, {path: base for path, base in kept.items() if path not in bases})
    return Settled(tip, tuple(change.path for change in changes), tuple(warnings))


def _named(found: Pending, content: Content) -> list[str]:
    warnings = [f"{shown(path, content)} is not committed: {cause}" for path, cause in found.held]
    strays = found.strays[:_MOST_NAMED]
    warnings += [f"{shown(path, content)} is not a note and was left alone." for path in strays]
    if len(found.strays) > len(strays):
        warnings.append(f"{len(found.strays) - len(strays)} other files are no notes and were left alone.")
    return warnings


def _message(edits: tuple[Edit, ...]) -> str:
    added = sum(edit.head is None for edit in edits)
    removed = sum(edit.data is None for edit in edits)
    counts = ((added, "added"), (len(edits) - added - removed, "changed"), (removed, "removed"))
    return "Notes by hand: " + ", ".join(f"{count} {what}" for count, what in counts if count)


def _put_back_derived(git: Git, found: Pending) -> list[str]:
    """Derived files are made, not edited: what a person wrote into one is kept aside under a private ref."""
    warnings: list[str] = []
    clean: list[str] = []
    if not found.derived:
        return warnings
    with Objects(git) as objects:
        for path, head in found.derived:
            data = workfiles.read(git.root, path)
            if head is None:
                continue  # the next refresh makes it, or it is nobody's
            clean.append(path)
            if matches(data, head):
                continue
            if data is not None:
                name = keep_bytes(git, data)
                warnings.append(
                    f"{path} is made from the notes, so the edit by hand was taken out; "
                    f"`git cat-file -p {name[:12]}` still shows it."
                )
            workfiles.replace(git.root, path, blob(objects, head) or b"", data)
    if clean:
        set_index(git, clean, {})
    return warnings


def _without_bulk_deletions(
    git: Git, edits: tuple[Edit, ...], tip: str | None, content: Content, *, accept: bool
) -> tuple[tuple[Edit, ...], list[str]]:
    arrived = {_name(edit.path) for edit in edits if edit.head is None}
    gone = {edit.path for edit in edits if edit.data is None and _name(edit.path) not in arrived}
    if accept or len(gone) < 2 or tip is None:
        return edits, []
    if len(gone) <= MOST_DELETIONS:
        listed = fields(git.run("ls-tree", "-r", "-z", "--name-only", tip))
        if len(gone) <= MOST_DELETED_SHARE * sum(content.owns(path) is not None for path in listed):
            return edits, []
    first = min(gone)
    warning = (
        f"{len(gone)} notes were deleted by hand ({first} and others): not committed until "
        "`brain sync --accept-deletions`; `git restore FOLDER` brings them back."
    )
    return tuple(edit for edit in edits if edit.path not in gone), [warning]


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _changes(git: Git, edits: tuple[Edit, ...], content: Content, warnings: list[str]) -> tuple[list[Change], set[str]]:
    """The changes to commit, and the paths whose remembered bases they settle.

    An edit that began before the last move is merged with what came in since: as it lies there, it would
    take that back.
    """
    bases = read_bases(git)
    changes: list[Change] = []
    settled: set[str] = set()
    if not bases:
        return [Change(edit.path, edit.data, edit.data) for edit in edits], settled
    with Objects(git) as objects:
        for edit in edits:
            data = edit.data
            if edit.path in bases:
                settled.add(edit.path)
                newest = blob(objects, edit.head)
                if data is None and newest is not None:
                    data = newest
                    warnings.append(f"{edit.path} was deleted here and changed elsewhere: it is back.")
                elif data is not None and newest is not None and content.owns(edit.path) is not None:
                    base = blob(objects, (REGULAR[0], bases[edit.path])) if bases[edit.path] else None
                    merged = content.merge(base, data, newest, edit.path)
                    warnings.extend(merged.warnings)
                    data = merged.data
                    changes += [
                        Change(path, more, None)
                        for path, more in merged.siblings.items()
                        if workfiles.read(git.root, path) is None
                    ]
            changes.append(Change(edit.path, data, edit.data))
    return changes, settled
