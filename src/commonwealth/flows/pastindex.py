"""The index of an earlier commit: made of git's objects, with no file of the clone touched, and kept for a while.

Each lies in a folder of its own, named after the commit, below `index/asof/`, by the conventions of the ordinary
index (see `index.schema`). Those used last are kept; the others go.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from commonwealth import config
from commonwealth.errors import BadNote, Busy, Damaged, Refused
from commonwealth.flows.brains import Brain
from commonwealth.index import build, schema, update
from commonwealth.index.rows import Entry
from commonwealth.index.schema import Unusable
from commonwealth.model import Problem
from commonwealth.notes import codec, naming
from commonwealth.repo.git import Git, decode
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.repo.objects import Objects

T = TypeVar("T")

KEPT = 2
"""Indexes of earlier commits that a clone keeps at most."""

SHELF = "asof"
"""Their folder, below the brain's own index."""

_BUILD_SECONDS = 60
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LINK = b"120000"
_FILES = (b"100644", b"100755", b"100664", _LINK)
_ALIKE = 8
"""One file in so many may differ between two commits that are taken for much alike."""

_File: TypeAlias = tuple[bytes, bytes, str]
"""Mode, name of the object, and path, as git tells them."""


def ask(brain: Brain, commit: str, question: Callable[[sqlite3.Connection], T]) -> T:
    """The answer to `question` from an index of the tree at that commit, made now unless it is kept.

    One that is damaged is made again. Where none can be kept, it is made for this question alone. Raises Refused where
    there is no room for that either.
    """
    place = brain.index_dir / SHELF / commit
    generation = schema.current(place)
    try:
        with suppress(Unusable):
            return _asked(place, question)
        with closing(_made(brain, commit, place, generation)) as conn:
            return question(conn)
    except (Unusable, Busy, Refused, OSError):
        return _asked_aside(brain, commit, question)


def _asked(place: Path, question: Callable[[sqlite3.Connection], T]) -> T:
    with closing(schema.connect(place)) as conn:
        _use(place)
        return question(conn)


def _use(place: Path) -> None:
    """Note that this index was used just now."""
    with suppress(OSError):
        os.utime(place / schema.POINTER)


def _made(brain: Brain, commit: str, place: Path, unusable: Path | None) -> sqlite3.Connection:
    """A connection to a new index at `place`, opened before anybody may remove it again."""
    with _in_turn(brain):
        if schema.current(place) in (None, unusable):  # nobody has made it meanwhile
            if os.path.islink(place.parent) or os.path.islink(place):
                raise Unusable(f"{place.parent} is a link")
            try:
                _build(brain, commit, place, afresh=unusable is not None)
            except BaseException:
                _remove(place)
                raise
        _use(place)
        _tidy(place)
        return schema.connect(place)


def forget(brain: Brain) -> None:
    """Remove every kept index: what they hold may have been taken out of the history for good. Raises Busy, Refused."""
    with _in_turn(brain):
        for name in _kept(brain.index_dir / SHELF):
            _remove(brain.index_dir / SHELF / name)


@contextmanager
def _in_turn(brain: Brain) -> Iterator[None]:
    """One at a time makes and removes indexes of earlier commits."""
    lock = FileLock(os.path.join(Git(brain.root).git_dir, FOLDER, "asof.lock"), "build an index of an earlier commit")
    lock.acquire(_BUILD_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _tidy(kept: Path) -> None:
    """Remove all but the indexes used last, `kept` among those that stay; what a killed build left goes as well.

    Who is just reading one goes on: the pointer goes first, and an open file stays.
    """
    used = {}
    for place in (kept.parent / name for name in _kept(kept.parent)):
        if place != kept:
            pointer = place / schema.POINTER
            used[place] = pointer.stat().st_mtime_ns if pointer.is_file() else 0
    newest = sorted(used, key=lambda place: (-used[place], place.name))
    stay = [place for place in newest if used[place]][: KEPT - 1]
    for place in newest:
        if place not in stay:
            _remove(place)


def _kept(shelf: Path) -> list[str]:
    """The commits that have a folder there."""
    try:
        names = [] if shelf.is_symlink() else sorted(os.listdir(shelf))
    except OSError:
        return []
    return [name for name in names if _COMMIT.fullmatch(name) and not (shelf / name).is_symlink()]


def _remove(place: Path) -> None:
    with suppress(OSError):
        os.unlink(place / schema.POINTER)
    shutil.rmtree(place, ignore_errors=True)


def _asked_aside(brain: Brain, commit: str, question: Callable[[sqlite3.Connection], T]) -> T:
    try:
        with tempfile.TemporaryDirectory(prefix="commonwealth-") as folder:
            _build(brain, commit, Path(folder), afresh=True)
            with closing(schema.connect(Path(folder))) as conn:
                return question(conn)
    except (Unusable, OSError) as error:
        cause = getattr(error, "strerror", None) or str(error.__cause__ or error).rstrip(".")
        raise Refused(
            f"The index of what the brain said at {commit[:12]} cannot be made ({cause}).",
            hint="Free some space on the disk of the brain or of the temporary files.",
        ) from None


def _build(brain: Brain, commit: str, place: Path, *, afresh: bool) -> None:
    """An index of the tree at a commit: unless `afresh`, that of a commit that is much alike brought to this one."""
    git = Git(brain.root)
    with Objects(git) as objects:
        folders = _folders(brain, objects, commit)
        state = {"commit": commit, "folders": json.dumps(dict(folders))}
        near = None if afresh else _nearest(brain, git, state, folders)
        if near is not None and _copied(near, objects, folders, place, state):
            return
        listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *sorted(naming.places(folders)))
        records = (record.partition(b"\t") for record in listing.split(b"\0") if record)
        found = ((what.split(b" ")[0], what.rpartition(b" ")[2], decode(name)) for what, _, name in records)
        build.build(place, _entries(objects, found, folders), state)


def _folders(brain: Brain, objects: Objects, commit: str) -> Mapping[str, str]:
    """The folder of each kind as the commit's own config says; today's where that cannot be read."""
    try:
        data = objects.read(f"{commit}:{config.CONFIG_PATH}", config.CONFIG_LIMIT)
        return brain.folders if data is None else config.read_brain_config(data, config.CONFIG_PATH).folders
    except (Damaged, Refused):
        return brain.folders


def _entries(objects: Objects, files: Iterable[_File], folders: Mapping[str, str]) -> Iterator[Entry]:
    """Every one of these files that is a note, as the index takes it."""
    notes: list[tuple[str, str, str]] = []
    for mode, sha, path in files:
        kind = naming.kind_of(path, folders)
        if kind is None or mode not in _FILES:
            continue
        if mode == _LINK:
            yield _problem(path, "it is a symbolic link, which is not followed")
        else:
            notes.append((sha.decode("ascii"), path, kind))
    found = objects.many((sha for sha, _, _ in notes), codec.MAX_NOTE)
    for (_, path, kind), (size, data) in zip(notes, found, strict=True):
        yield _entry(path, kind, size, data)


def _entry(path: str, kind: str, size: int, data: bytes | None) -> Entry:
    if data is None:
        much = f"the file has {size:,} bytes; a note has at most {codec.MAX_NOTE // 1024} KiB"
        return _problem(path, much if size >= 0 else "its content is missing in this clone")
    try:
        path.encode("utf-8")
        naming.checked_parts(path)
        note, problems = codec.parse(codec.decode(data, path), path, kind)
    except BadNote as error:
        return Entry(path, size, 0, None, (Problem(path, error.line, error.cause),))
    except Refused:
        return _problem(path, "its name is not safe on every system")
    except UnicodeEncodeError:
        return _problem(path, "its name is not UTF-8")
    return Entry(path, size, 0, note, problems)


def _problem(path: str, cause: str) -> Entry:
    return Entry(path, 0, 0, None, (Problem(path, 0, cause),))


# From an index of a commit that is much alike


@dataclass(frozen=True, slots=True)
class _Near:
    """A kept index, and what its commit does not have in common with the one that is wanted."""

    place: Path
    files: Sequence[_File]
    gone: Sequence[str]


def _nearest(brain: Brain, git: Git, state: Mapping[str, str], folders: Mapping[str, str]) -> _Near | None:
    """The kept index from which the fewest files differ, if they are few: a row costs more to replace than to make."""
    found: list[_Near] = []
    for name in _kept(brain.index_dir / SHELF):
        if name == state["commit"]:
            continue
        place = brain.index_dir / SHELF / name
        try:
            with closing(schema.connect(place)) as conn:
                known = schema.get_state(conn)
                number = conn.execute("SELECT count(*) FROM files").fetchone()[0]
        except (Unusable, Busy, sqlite3.Error):
            continue
        if known.get("commit") == name and known.get("folders") == state["folders"]:
            near = _between(git, place, name, state["commit"], folders)
            if near is not None and len(near.files) + len(near.gone) <= number // _ALIKE:
                found.append(near)
    return min(found, key=lambda near: len(near.files) + len(near.gone), default=None)


def _between(git: Git, place: Path, old: str, new: str, folders: Mapping[str, str]) -> _Near | None:
    args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-abbrev", old, new, "--")
    done = git.call(*args, *sorted(naming.places(folders)))
    if done.code:
        return None  # that commit is gone by now
    parts = done.out.split(b"\0")
    files: list[_File] = []
    gone: list[str] = []
    for what, name in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, _, sha, _ = what.split(b" ")
        path = decode(name)
        if mode in _FILES:
            files.append((mode, sha, path))
        else:
            gone.append(path)
    return _Near(place, files, gone)


def _copied(near: _Near, objects: Objects, folders: Mapping[str, str], place: Path, state: Mapping[str, str]) -> bool:
    """Make the index at `place` of a copy of a near one; False where that one is damaged."""
    path = schema.claim(place)
    try:
        with closing(schema.connect(near.place)) as source, closing(_opened(path)) as target:
            with schema.translated():
                source.backup(target)
            update.apply(target, _entries(objects, near.files, folders), near.gone, state)
        schema.publish(path)
    except (Unusable, Busy):
        schema.discard(path)
        return False
    except BaseException:
        schema.discard(path)
        raise
    return True


def _opened(path: Path) -> sqlite3.Connection:
    conn = sqlite3.connect(path, isolation_level=None)
    conn.execute("PRAGMA synchronous = OFF")  # it is flushed as a whole before it is used
    return conn
