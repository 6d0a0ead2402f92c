"""What people did to the files since the last commit: edits are committed as theirs, strays only named."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
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
from commonwealth.repo.repair import repair_committed, settle_unmerged
from commonwealth.repo.store import REGULAR, blob, matches, set_index
from commonwealth.repo.stranded import PATIENCE
from commonwealth.repo.tree import Entry

MOST_DELETIONS, MOST_DELETED_SHARE = 20, 0.1
"""More hand deletions than this at once, or more than this share of all notes, wait for a person's word."""

_MOST_NAMED = 20
_BLOCKED = ("a link in the place of", "a file in the place of")
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
    unmerged: tuple[str, ...] = ()
    """Notes, config and derived files of which git's index holds several versions."""


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
    ignored: bool = False


def pending(git: Git, content: Content) -> Pending:
    """Look for edits with one `git status` over the watched files and folders; nothing is changed.

    At the root, untracked files and repositories are named too; other folders there are somebody else's.
    """
    edits: list[Edit] = []
    held: list[tuple[str, str]] = blocked(git, content)
    in_the_way = {path for path, _ in held}
    derived: list[tuple[str, Entry | None]] = []
    strays: list[str] = []
    debris: list[str] = []
    ignored: dict[str, _Entry] = {}
    unmerged: list[str] = []
    for entry in _status(git, content.watched):
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
            (debris if atomic.TEMPORARY.fullmatch(_name(path)) else strays).append(path)
        elif any(content.is_derived(folder) for folder in _above(path)):
            held.append((path, "it lies below the place of a derived file"))
        elif entry.unmerged:
            held.append((path, "a merge by hand has left it unmerged"))
        else:
            _sort(git, entry, content, edits, held)
    _sort_ignored(git, ignored, content, edits, held)
    return Pending(tuple(edits), tuple(held), tuple(derived), tuple(sorted(strays)), tuple(debris), tuple(unmerged))


def _sort_ignored(
    git: Git, ignored: dict[str, _Entry], content: Content, edits: list[Edit], held: list[tuple[str, str]]
) -> None:
    notes = [path for path in ignored if content.owns(path) is not None]
    for path, cause in _ignored_on_purpose(git, notes).items():
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


def _at_root(root: str, watched: Sequence[str]) -> list[str]:
    """The files and the nested repositories directly at the root."""
    tops = {path.split("/", 1)[0] for path in watched} | {".git"}
    with os.scandir(root) as entries:
        return sorted(
            entry.name
            for entry in entries
            if entry.name not in tops
            and (not entry.is_dir(follow_symlinks=False) or os.path.lexists(os.path.join(entry.path, ".git")))
        )


def _above(path: str) -> list[str]:
    """The folders that hold `path`, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def _ignored_on_purpose(git: Git, paths: list[str]) -> dict[str, str]:
    """For each ignored note the rule of this brain that ignores it; "" where only the person's own excludes do,
    which were made for other folders."""
    if not paths:
        return {}
    listing = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    words = ("check-ignore", "--verbose", "--no-index", "-z", "--stdin")
    done = git.call(*words, input=listing, env={"GIT_LITERAL_PATHSPECS": "0"})
    parts = fields(done.out)
    causes = dict.fromkeys(paths, "")
    for source, line, pattern, path in zip(*(parts[start::4] for start in range(4)), strict=True):
        local = not os.path.isabs(source) or source == os.path.join(git.common_dir, "info", "exclude")
        if local and path in causes:
            causes[path] = f"git ignores it by {source}, line {line} ({pattern})"
    return causes


def _status(git: Git, watched: tuple[str, ...]) -> Iterator[_Entry]:
    at_root = _at_root(git.root, watched)
    outside = {name for top in at_root for name in (top, f"{top}/")}
    out = git.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignored=traditional",
        "--",
        *watched,
        *at_root,
    )
    seen: dict[str, _Entry] = {}
    untracked: set[str] = set()
    for record in fields(out):
        if record.startswith("1 "):
            words = record.split(" ", 8)
            head = None if words[3] == "000000" else (words[3], words[6])
            seen[words[8]] = _Entry(words[8], head)
        elif record.startswith("u "):
            path = record.split(" ", 10)[10]
            seen[path] = _Entry(path, None, unmerged=True)
        elif record.startswith("? "):
            untracked.add(record[2:])
            # A file that was taken out of the index alone comes twice: the first record knows its commit.
            seen.setdefault(record[2:], _Entry(record[2:], None))
        elif record.startswith("! ") and record[2:] not in outside:
            seen.setdefault(record[2:], _Entry(record[2:], None, ignored=True))
    yield from (entry for entry in seen.values() if entry.path not in outside or entry.path in untracked)


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
    patience: float = PATIENCE,
) -> Settled:
    """Commit people's edits as one commit of theirs, put derived files back, name what stays behind.

    What `check` or `scan` objects to stays uncommitted, as do deletions in bulk unless they are accepted. Notes in
    which a merge by hand has left its markers are repaired, uncommitted ones once nobody saved them for `patience`
    seconds.
    """
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
    tip, repaired = repair_committed(git, content, tip, held)
    return Settled(tip, tuple(change.path for change in changes), tuple(warnings + repaired))


def _named(found: Pending, content: Content) -> list[str]:
    warnings = [
        f"{path} is {cause}." if cause.startswith(_BLOCKED) else f"{shown(path, content)} is not committed: {cause}"
        for path, cause in found.held
    ]
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
            if not _is_file_or_gone(git.root, path):
                warnings.append(f"{path} is no file, though that is the place of a derived one: move it away.")
                continue
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


def _is_file_or_gone(root: str, path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(workfiles.locate(root, path)).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except Refused:
        return False


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
