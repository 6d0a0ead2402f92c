"""What people did to the files since the last commit: edits are committed as theirs, strays only named."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.repo import deletions, workfiles
from commonwealth.repo.commit import Change, commit, refuse_secrets, shown
from commonwealth.repo.content import Content, Person
from commonwealth.repo.git import Git
from commonwealth.repo.ignored import ignored_on_purpose
from commonwealth.repo.kept import read_bases, write_bases
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.move import ABSENT
from commonwealth.repo.objects import Objects
from commonwealth.repo.repair import repair_committed, settle_unmerged
from commonwealth.repo.store import REGULAR, blob, matches
from commonwealth.repo.stranded import PATIENCE
from commonwealth.repo.tables import part_by_hand, put_back_made
from commonwealth.repo.tree import Entry
from commonwealth.repo.unplaced import put_down, unplaced
from commonwealth.repo.worklist import Listed, listed

_MOST_NAMED = 20
_BLOCKED = ("a link in the place of", "a file in the place of", f"{ABSENT}:")
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
    deletions: tuple[Edit, ...] = ()
    """Deletions by hand that are too many to be committed unasked; none of them is among `edits`."""
    held: tuple[tuple[str, str], ...] = ()
    """(path, cause) of what differs and cannot be committed as it is."""
    derived: tuple[tuple[str, Entry | None], ...] = ()
    """Derived files that differ from the last commit, with their committed entries."""
    strays: tuple[str, ...] = ()
    """Files and nested repositories that are nobody's note: never committed by us."""
    others: tuple[str, ...] = ()
    """Files in git that are nobody's note and differ from the last commit: a person's to commit."""
    debris: tuple[str, ...] = ()
    """Unfinished files that a writer of ours left behind when it was killed."""
    unmerged: tuple[str, ...] = ()
    """Notes, config and derived files of which git's index holds several versions."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of committing what was pending: the branch's tip, and what people have to know."""

    tip: str | None
    committed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def pending(git: Git, content: Content, *, without_index: bool = False) -> Pending:
    """Look for edits with one `git status` over the watched files and folders; nothing is changed.

    `without_index` compares with HEAD alone, for where git's index cannot be read. At the root, untracked files and
    repositories are named too; other folders there are somebody else's.
    """
    edits: list[Edit] = []
    held: list[tuple[str, str]] = blocked(git, content)
    in_the_way = {path for path, _ in held}
    absent = unplaced(git, content)
    held += [(path, cause) for path, cause in absent.items() if in_the_way.isdisjoint(_above(path))]
    in_the_way |= absent.keys()
    folders = {folder for path in absent for folder in _above(path)}
    derived: list[tuple[str, Entry | None]] = []
    foreign: list[Listed] = []
    debris: list[str] = []
    ignored: dict[str, Listed] = {}
    unmerged: list[str] = []
    for entry in listed(git, content.watched, without_index=without_index):
        path = entry.path
        if entry.unmerged and (content.owns(path) or content.is_config(path) or content.is_derived(path)):
            unmerged.append(path)
        if not in_the_way.isdisjoint((path, *_above(path))):
            continue  # what git takes for deleted there is only out of reach
        if entry.ignored and atomic.TEMPORARY.fullmatch(_name(path)):
            debris.append(path)
        elif entry.ignored:
            ignored[path] = entry
        elif content.is_derived(path):
            derived.append((path, entry.head))
        elif path.endswith("/") or (content.owns(path) is None and not content.is_config(path)):
            foreign.append(entry)
        elif (cause := _misplaced(entry, content, folders)) is not None:
            held.append((path, cause))
        else:
            _sort(git, entry, content, edits, held)
    _sort_ignored(git, ignored, content, edits, held)
    derived, by_hand = part_by_hand(git, derived, content, held)
    foreign += [Listed(path, head) for path, head in by_hand]
    strays = sorted(entry.path for entry in foreign if entry.head is None)
    debris += [path for path in strays if atomic.TEMPORARY.fullmatch(_name(path))]
    return Pending(
        *_without_bulk(git, edits, content),
        held=tuple(held),
        derived=tuple(derived),
        strays=tuple(path for path in strays if path not in debris),
        others=tuple(e.path for e in foreign if e.head and _differs(git, e, known=not without_index)),
        debris=tuple(debris),
        unmerged=tuple(unmerged),
    )


def _misplaced(entry: Listed, content: Content, folders: Collection[str]) -> str | None:
    """Why a note cannot be committed where it lies; `folders` are those of files that came in and have no place."""
    if entry.path in folders:
        return "a folder of this name has come in: rename the file"
    if any(content.is_derived(folder) for folder in _above(entry.path)):
        return "it lies below the place of a derived file"
    return "a merge by hand has left it unmerged" if entry.unmerged else None


def _without_bulk(git: Git, edits: list[Edit], content: Content) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
    """The edits, and the deletions among them that wait for a person's word."""
    gone = [edit.path for edit in edits if edit.data is None]
    lost = deletions.in_bulk(git, gone, [edit.path for edit in edits if edit.head is None], content)
    kept = tuple(edit for edit in edits if edit.path not in lost)
    return kept, tuple(edit for edit in edits if edit.path in lost)


def _sort_ignored(
    git: Git, ignored: dict[str, Listed], content: Content, edits: list[Edit], held: list[tuple[str, str]]
) -> None:
    notes = [path for path in ignored if content.owns(path) is not None]
    for path, cause in ignored_on_purpose(git, notes).items():
        if cause:
            held.append((path, cause))
        else:
            _sort(git, ignored[path], content, edits, held)


def blocked(git: Git, content: Content) -> list[tuple[str, str]]:
    """(path, cause) of what lies in the place of a folder of notes and is none: a colleague may have pushed it."""
    found: dict[str, str] = {}
    for folder in content.watched:
        if content.is_config(folder) or content.is_derived(folder):
            continue
        for place in (*reversed(_above(folder)), folder):
            try:
                mode = os.lstat(os.path.join(git.root, place)).st_mode
            except OSError:
                break
            if not stat.S_ISDIR(mode):
                what = "link" if stat.S_ISLNK(mode) else "file"
                found[place] = f"a {what} in the place of a folder of notes: move it away to use that folder"
                break
    return list(found.items())


def _above(path: str) -> list[str]:
    """The folders that hold `path`, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def _sort(git: Git, entry: Listed, content: Content, edits: list[Edit], held: list[tuple[str, str]]) -> None:
    path = entry.path
    try:
        data = _read(git, path)
        if matches(data, entry.head):
            return
        if data is None and (cause := _out_of_reach(git, path, content)) is not None:
            held.append((path, f"{ABSENT}: {cause}"))
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
        step = f". {error.hint}" if error.message.startswith("secret:") else ""
        held.append((path, f"{error.message}{step}"))
    else:
        edits.append(Edit(path, entry.head, data))


def _differs(git: Git, entry: Listed, *, known: bool) -> bool:
    """Whether a file differs from the commit. With an index this is `known`: git has said so."""
    if known or entry.head is None or entry.head[0] not in REGULAR:
        return known
    try:
        return not matches(_read(git, entry.path), entry.head)
    except (Refused, Damaged):
        return False


def _out_of_reach(git: Git, path: str, content: Content) -> str | None:
    """What keeps a file that is not deleted from being seen; a note in the place of its folder, or a folder in its
    own, is a person's doing."""
    if any(content.owns(folder) for folder in _above(path)) or os.path.isdir(os.path.join(git.root, path)):
        return None
    return workfiles.obstacle(git.root, path)


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
    patience: float = PATIENCE,
) -> Settled:
    """Commit people's edits as one commit of theirs, put derived files back, name what stays behind.

    What `check` or `scan` objects to stays uncommitted, as do deletions in bulk unless they are accepted. Notes in
    which a merge by hand has left its markers are repaired, uncommitted ones once nobody saved them for `patience`
    seconds.
    """
    put_down(git, content)
    found = pending(git, content)
    told: list[str] = []
    if found.held or found.unmerged:
        paths = [*found.unmerged, *(path for path, _ in found.held if path not in found.unmerged)]
        told = settle_unmerged(git, content, tip, paths, patience)
        found = pending(git, content) if told or found.unmerged else found
    for path in found.debris:  # we hold the lock, so no writer of ours is at work on it
        with contextlib.suppress(OSError):
            os.unlink(workfiles.locate(git.root, path))
    warnings = told + _named(found, content)
    warnings += put_back_made(git, found.derived)
    edits = found.edits
    if accept_deletions:
        edits += found.deletions
    elif found.deletions:
        warnings.append(deletions.told(git.root, [edit.path for edit in found.deletions]))
    changes, bases = _changes(git, edits, content, warnings)
    if changes:
        message = _message(edits)
        tip = commit(git, changes, message, author, now=now, content=content, held=held)
    if bases:
        kept = read_bases(git)
        write_bases(git, {path: base for path, base in kept.items() if path not in bases})
    tip, repaired = repair_committed(git, content, tip, held)
    return Settled(tip, tuple(change.path for change in changes), tuple(warnings + repaired))


def _named(found: Pending, content: Content) -> list[str]:
    warnings = [
        f"{path} is {cause}." if cause.startswith(_BLOCKED) else f"{shown(path, content)} is not committed: {cause}"
        for path, cause in found.held
    ]
    left = sorted(found.strays + found.others)
    strays = left[:_MOST_NAMED]
    warnings += [f"{shown(path, content)} is not a note and was left alone." for path in strays]
    if len(left) > len(strays):
        warnings.append(f"{len(left) - len(strays)} other files are no notes and were left alone.")
    return warnings


def _message(edits: tuple[Edit, ...]) -> str:
    added = sum(edit.head is None for edit in edits)
    removed = sum(edit.data is None for edit in edits)
    counts = ((added, "added"), (len(edits) - added - removed, "changed"), (removed, "removed"))
    return "Notes by hand: " + ", ".join(f"{count} {what}" for count, what in counts if count)


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
