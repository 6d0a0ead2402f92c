"""An index as fresh as the files: every read goes through here, and a damaged index heals here.

What is cheap is checked at every read: HEAD, git's index and the times of the folders, then the files that are
returned. A sweep looks at every file; only what changed is read again.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from commonwealth.errors import BadNote, Busy, Damaged, Refused
from commonwealth.flows.brains import Brain
from commonwealth.flows.freshness import ask_as_it_is, known_times, standing, time_of, trusted
from commonwealth.index import build, schema, update
from commonwealth.index.rows import Entry
from commonwealth.index.schema import Unusable
from commonwealth.index.values import storable
from commonwealth.model import Problem
from commonwealth.notes import naming, store
from commonwealth.notes.listing import changed_at, list_folder
from commonwealth.notes.obstacle import Obstacle, in_the_way
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER, FileLock

T = TypeVar("T")

_BUILD_SECONDS = 60
_ROOM = "Free some space on that disk, or make the folder writable. No note is harmed: the index is made of the files."


def ask(brain: Brain, question: Callable[[sqlite3.Connection], T], *, sweep: bool = False) -> T:
    """The answer to `question` from an index that is up to date, after a `sweep` over every file if asked for.

    An index that is missing or damaged is rebuilt and asked again. Where it cannot be written, or another process
    does not let go of it, the answer comes from one that is made for this question alone: slow, and right.
    Raises Damaged for a folder of notes that cannot be read.
    """
    try:
        _ensure(brain, sweep)
        return _asked(brain, question)
    except (Unusable, Busy, Refused) as error:
        try:
            return _asked_aside(brain, question)
        except OSError:
            raise error from None


def ask_of_files(
    brain: Brain,
    question: Callable[[sqlite3.Connection], T],
    paths: Callable[[T], Iterable[str]],
    *,
    sweep: bool = False,
) -> T:
    """As `ask`, for an answer that rests on files: they are looked at, and where one has changed it is asked again."""
    answer = ask(brain, question, sweep=sweep)
    try:
        again, sweep = reread(brain, paths(answer)), False
    except (Unusable, Busy):
        again, sweep = True, True
    return ask(brain, question, sweep=sweep) if again else answer


def _asked(brain: Brain, question: Callable[[sqlite3.Connection], T]) -> T:
    generation = schema.current(brain.index_dir)
    try:
        return ask_as_it_is(brain, question)
    except Unusable:
        with _in_turn(brain):
            if schema.current(brain.index_dir) == generation:  # nobody has mended it meanwhile
                _rebuild(brain, brain.index_dir)
        return ask_as_it_is(brain, question)


def _asked_aside(brain: Brain, question: Callable[[sqlite3.Connection], T]) -> T:
    with aside(brain) as beside, closing(schema.connect(beside.index_dir)) as conn:
        return question(conn)


@contextmanager
def aside(brain: Brain) -> Iterator[Brain]:
    """The same brain with an index of its own elsewhere, so that its questions write nothing to the clone.

    Raises as `rebuild` does, OSError where there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="commonwealth-") as folder:
        _rebuild(brain, Path(folder))
        yield replace(brain, index_at=Path(folder))


def ensure(brain: Brain, *, sweep: bool = False) -> None:
    """Bring the index up to the files, or make it anew where there is none that works.

    An index that another process is just writing stays as it is. Raises as `rebuild` does.
    """
    with suppress(Busy):
        _ensure(brain, sweep)


def _ensure(brain: Brain, sweep: bool) -> None:
    try:
        refresh(brain, sweep=sweep)
    except Unusable:
        with _in_turn(brain):
            try:
                refresh(brain)  # somebody else may have made it meanwhile
            except Unusable:
                _rebuild(brain, brain.index_dir)


@contextmanager
def _in_turn(brain: Brain) -> Iterator[None]:
    """One builder at a time: of two side by side, the first to be done would sweep the other's away."""
    lock = FileLock(os.path.join(Git(brain.root).git_dir, FOLDER, "index.lock"), "build the index")
    try:
        lock.acquire(_BUILD_SECONDS)
    except OSError as error:
        raise Refused(f"{lock.path} cannot be written ({error.strerror or error}).", hint=_ROOM) from None
    try:
        yield
    finally:
        lock.release()


def refresh(brain: Brain, *, sweep: bool = False) -> bool:
    """Bring the index up to the files. True when anything in it changed.

    Raises Unusable where there is no index to bring up to date or it cannot be written, Busy where another process
    does not end its transaction in time, Damaged for a folder that cannot be read; the index then stays as it is.
    """
    changes = _compared(brain, sweep)
    if not changes.any:
        return False
    with closing(schema.connect(brain.index_dir, read_only=False)) as conn:
        update.apply(conn, changes.upserts.values(), changes.gone, changes.now.state())
    return bool(changes.upserts or changes.gone)


def is_behind(brain: Brain) -> bool:
    """Whether a look at every file finds one that the index does not know as it is; nothing is written.

    Raises Unusable where there is no index that could know, Damaged for a folder that cannot be read.
    """
    changes = _compared(brain, sweep=True)
    return bool(changes.upserts or changes.gone)


def _compared(brain: Brain, sweep: bool) -> _Changes:
    with closing(schema.connect(brain.index_dir)) as conn:
        state = schema.get_state(conn)
        if state.get("root") != str(brain.root) or state.get("folders") != json.dumps(dict(brain.folders)):
            raise Unusable("it was made for another folder or another layout")
        changes = _Changes(brain, conn, state)
        changes.look(sweep)
    return changes


class _Changes:
    """The difference between the files and what the index knows of them."""

    def __init__(self, brain: Brain, conn: sqlite3.Connection, state: Mapping[str, str]) -> None:
        self.brain, self.conn, self.state = brain, conn, state
        self.upserts: dict[str, Entry] = {}
        self.gone: set[str] = set()
        self.odd: set[str] = set()
        self.known_times = known_times(state)
        self.known_below: dict[str, list[str]] = {}
        for folder in self.known_times:
            self.known_below.setdefault(folder.rpartition("/")[0], []).append(folder)
        self.times: dict[str, int] = {}
        self.now = standing(brain, self.times)

    @property
    def any(self) -> bool:
        """Whether there is anything to write, were it only the new state."""
        return bool(self.upserts or self.gone) or self.now.state() != dict(self.state)

    def look(self, sweep: bool) -> None:
        """Compare. Without `sweep` only folders whose time changed, and files that differ between commits."""
        before = self.state.get("head", "")
        if self.now.head == before and self.now.staged != self.state.get("staged"):
            sweep = True  # somebody worked with git's index: any file may have been edited in place
        changed = None if sweep else self._between(before, self.now.head)
        todo = list(naming.places(self.brain.folders))
        while todo:
            folder = todo.pop()
            if folder not in self.times:  # a kind's folder may lie in another kind's
                todo += self._folder(folder, force=changed is None)
        for folder in self.known_times.keys() - self.times.keys():
            self.gone.update(update.files_in(self.conn, folder))
        self._cleared()
        for path in changed or ():
            if path.rpartition("/")[0] in self.times and path not in self.upserts:
                self._file(path)

    def _cleared(self) -> None:
        """What stood in the place of a kind's folder and no longer does is no problem any more."""
        places = {folder[:at] for folder in naming.places(self.brain.folders) for at in _ends(folder)}
        for path in update.stamps(self.conn, sorted(places)):
            if path not in self.odd and _is_clear(self.brain, path):
                self.gone.add(path)

    def _between(self, old: str, new: str) -> list[str] | None:
        """The paths that differ between two commits; None where that cannot be told."""
        if old == new:
            return []
        if not old or not new:
            return None
        git = Git(self.brain.root)
        done = git.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        return [os.fsdecode(name) for name in done.out.split(b"\0") if name] if done.code == 0 else None

    def _folder(self, folder: str, *, force: bool) -> Iterator[str]:
        """Compare the files directly in `folder`; yields its sub-folders."""
        known_time = self.known_times.get(folder)
        stamp = time_of(self.brain, folder)
        self.times[folder] = stamp
        if stamp == known_time and stamp > 0 and not force:
            yield from self.known_below.get(folder, ())
            return
        listing = list_folder(self.brain.root, folder, self.brain.folders)
        known = update.files_in(self.conn, folder)
        for path, size, stamp in listing.files:
            if known.pop(storable(path), None) != (size, stamp):
                self.upserts[path] = read_entry(self.brain, path, size, stamp)
        for found in listing.obstacles:
            self.odd.add(found.path)
            entry = _odd_entry(found)
            seen = known.pop(storable(found.path), None) or update.stamps(self.conn, [found.path]).get(found.path)
            if seen != (entry.size, entry.mtime_ns) or not entry.mtime_ns:
                self.upserts[found.path] = entry
        for path in known:  # a file is gone when it is gone, not when a listing of a busy folder has missed it
            self._file(path)
        yield from listing.folders

    def _file(self, path: str) -> None:
        """Compare one file by its path."""
        if naming.kind_of(path, self.brain.folders) is None:
            if path not in self.odd:  # what stood in a folder's place
                self.gone.add(path)
            return
        found = stat_file(self.brain, path)
        if found is None:
            self.gone.add(path)
        else:
            self.upserts[path] = read_entry(self.brain, path, *found)


def _ends(folder: str) -> list[int]:
    """Where the name of `folder`, or of a folder above it, ends."""
    return [at for at, letter in enumerate(f"{folder}/") if letter == "/"]


def _is_clear(brain: Brain, path: str) -> bool:
    try:
        return in_the_way(brain.root, path) is None
    except OSError as error:
        raise Damaged(f"{path} cannot be looked at ({error.strerror}).", hint="Mend its permissions.") from None


def _odd_entry(found: Obstacle) -> Entry:
    """What stands in a folder's place, as the index keeps it: a file with a problem, and no note."""
    stamp = changed_at(found.state)
    stamp = stamp if trusted(stamp) else 0
    return Entry(found.path, found.state.st_size, stamp, None, (Problem(found.path, 0, found.cause),))


def read_entry(brain: Brain, path: str, size: int, stamp: int, reader: store.Reader | None = None) -> Entry:
    """One file as the index takes it; what is wrong with it becomes part of the entry.

    `stamp` is when the file changed last, in ns.
    """
    stamp = stamp if trusted(stamp) else 0
    kind = naming.kind_of(path, brain.folders) or "memory"
    try:
        path.encode("utf-8")
        file, problems = reader.note(path, kind) if reader else store.read(brain.root, path, kind)
    except BadNote as error:
        return Entry(path, size, stamp, None, (Problem(path, error.line, error.cause),))
    except Refused:
        return Entry(path, size, stamp, None, (Problem(path, 0, "its name is not safe on every system"),))
    except UnicodeEncodeError:
        return Entry(path, size, stamp, None, (Problem(path, 0, "its name is not UTF-8"),))
    except FileNotFoundError:
        return Entry(path, size, 0)
    return Entry(path, size, stamp, file.note, problems)


def stat_file(brain: Brain, path: str) -> tuple[int, int] | None:
    """Size of one file and when it changed last (ns), or None where there is no file.

    Raises Damaged where that cannot be told.
    """
    try:
        found = os.stat(os.path.join(brain.root, path), follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ):
            return None  # this file system cannot hold such a name
        raise Damaged(f"{path} cannot be looked at ({error.strerror}).", hint="Mend its permissions.") from None
    return None if stat.S_ISDIR(found.st_mode) else (found.st_size, changed_at(found))


def reread(brain: Brain, paths: Iterable[str]) -> bool:
    """Look at the files that a search is about to return; True when any of them had to be read again.

    Raises Unusable where the index cannot be written, Busy where another process does not let go of it.
    """
    upserts: list[Entry] = []
    gone: list[str] = []
    with closing(schema.connect(brain.index_dir)) as conn:
        known = update.stamps(conn, paths)
    for path, seen in known.items():
        found = stat_file(brain, path)
        if found is None:
            gone.append(path)
        elif found != seen:
            upserts.append(read_entry(brain, path, *found))
    if not upserts and not gone:
        return False
    with closing(schema.connect(brain.index_dir, read_only=False)) as conn:
        applied = update.apply(conn, upserts, gone)
    return bool(applied.written or applied.removed)


@dataclass(frozen=True, slots=True)
class Built:
    """A full rebuild: how many files, how long it took in seconds."""

    files: int
    seconds: float


def rebuild(brain: Brain) -> Built:
    """Read every file and make a new generation of the index.

    Raises Refused where the index folder cannot be written, Damaged where a folder of notes cannot be read.
    """
    with _in_turn(brain):
        return _rebuild(brain, brain.index_dir)


def rebuild_at(brain: Brain, index_dir: Path) -> Built:
    """Read every file and make an index in `index_dir`; the brain's own stays as it is. Raises as `rebuild` does."""
    return _rebuild(brain, index_dir)


def _rebuild(brain: Brain, index_dir: Path) -> Built:
    started = time.perf_counter()
    times: dict[str, int] = {}
    now = standing(brain, times)
    state: dict[str, str] = {}
    odd: set[str] = set()
    counter = 0

    def entries(reader: store.Reader) -> Iterator[Entry]:
        nonlocal counter
        todo = list(naming.places(brain.folders))
        while todo:
            folder = todo.pop()
            if folder in times:
                continue
            times[folder] = time_of(brain, folder)
            listing = list_folder(brain.root, folder, brain.folders)
            todo += listing.folders
            for found in listing.obstacles:
                if found.path not in odd:  # two kinds may share what stands in their way
                    odd.add(found.path)
                    yield _odd_entry(found)
            for path, size, stamp in listing.files:
                counter += 1
                yield read_entry(brain, path, size, stamp, reader)
        state.update(now.state())  # stored with the last file, so that no index is ever without it

    try:
        with store.Reader(brain.root) as reader:
            build.build(index_dir, entries(reader), state)
    except OSError as error:
        raise Refused(
            f"The index folder {index_dir} cannot be written ({error.strerror}).",
            hint=_ROOM,
        ) from None
    except Unusable as error:  # SQLite says so of a disk that is full or failing
        cause = str(error.__cause__ or error).rstrip(".")
        raise Refused(f"The index in {index_dir} cannot be made ({cause}).", hint=_ROOM) from None
    return Built(counter, time.perf_counter() - started)
