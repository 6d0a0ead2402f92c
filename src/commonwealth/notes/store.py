"""Notes on disk: read without following anything, listed without guessing; and those that wait for a review.

Paths are relative to the brain's root, with forward slashes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from commonwealth import atomic
from commonwealth.errors import BadNote, Damaged
from commonwealth.model import Note, NoteFile, Problem
from commonwealth.notes import codec, naming
from commonwealth.notes.obstacle import in_the_way

STAGING = "staging"
DROPPED = f"{STAGING}/dropped"
"""Candidates that were turned down: they wait no more, and can be brought back for a while."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS |= getattr(os, "O_CLOEXEC", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")


class Reader:
    """Reads files of one brain, following no link below its root, whatever changes meanwhile.

    The folder of the last file stays open: the files of one folder are read without a walk to each of them. A
    context manager, for one thread.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._name: str | None = None
        self._folder = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._name is not None:
            self._name = None
            os.close(self._folder)

    def note(self, path: str, kind: str) -> tuple[NoteFile, tuple[Problem, ...]]:
        """The note at `path` and the doubts about it. Raises as `data`, and BadNote where it is not a note."""
        data, state = self.data(path)
        note, problems = codec.parse(codec.decode(data, path), path, kind)
        return NoteFile(note, path, state.st_size, state.st_mtime_ns), problems

    def data(self, path: str) -> tuple[bytes, os.stat_result]:
        """The bytes of a regular file and its state just before they were read.

        Raises FileNotFoundError where there is none, BadNote for a link, a device, a file above the size limit or
        one that cannot be read, Refused for a path that leads outside.
        """
        try:
            descriptor = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._root / path)) from None
        except OSError as error:
            raise BadNote(path, 0, _unreadable(error)) from None
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise BadNote(path, 0, "it is not a regular file")
            if state.st_size > codec.MAX_NOTE:
                limit = codec.MAX_NOTE // 1024
                raise BadNote(path, 0, f"the file has {state.st_size:,} bytes; a note has at most {limit} KiB")
            return _read_all(descriptor, state.st_size), state
        except OSError as error:
            raise BadNote(path, 0, _unreadable(error)) from None
        finally:
            os.close(descriptor)

    def _open(self, path: str) -> int:
        *parts, name = naming.checked_parts(path)
        if not _BY_FOLDER:
            return os.open(naming.safe_join(self._root, path), _FLAGS)
        folder = path[: -len(name)]
        if folder != self._name:
            self._leave()
            self._folder = _open_folder(self._root, parts)
            self._name = folder
        return os.open(name, _FLAGS, dir_fd=self._folder)


def _open_folder(root: Path, parts: Sequence[str]) -> int:
    folder = os.open(root, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
    for part in parts:
        try:
            inner = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    chunks = [data]
    while data and sum(map(len, chunks)) <= codec.MAX_NOTE:
        data = os.read(descriptor, codec.MAX_NOTE + 1)
        chunks.append(data)
    return b"".join(chunks)


def _unreadable(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "it is a symbolic link, which is not followed"
    return f"it cannot be read ({error.strerror})"


def read_bytes(root: Path, path: str) -> tuple[bytes, os.stat_result]:
    """`Reader.data` of one file."""
    with Reader(root) as reader:
        return reader.data(path)


def read(root: Path, path: str, kind: str) -> tuple[NoteFile, tuple[Problem, ...]]:
    """`Reader.note` of one file."""
    with Reader(root) as reader:
        return reader.note(path, kind)


def walk(root: Path, folders: Mapping[str, str]) -> Iterator[tuple[str, str, os.stat_result]]:
    """Every note file below the folders of `folders` (kind → folder) and the default ones: path, kind and state,
    sorted by folder and name.

    Linked folders, hidden folders and repositories inside the brain are not entered; a note that is itself a link
    is listed (`read` refuses it). A kind without a folder has no notes, nor has one with a file or a link in the
    folder's place (`obstacle.in_the_way` names it).
    Raises Damaged where a folder cannot be read: an unreadable folder is never an empty one.
    """
    if not root.is_dir():
        raise Damaged(f"The brain's folder {root} is not there or cannot be read.", hint="Check the path.")
    yield from _walk_all(root, naming.places(folders), folders)


def _walk_all(
    root: Path, roots: Collection[str], folders: Mapping[str, str]
) -> Iterator[tuple[str, str, os.stat_result]]:
    for folder in sorted(roots):
        inside_other = any(folder.startswith(f"{other}/") for other in roots)
        if not inside_other and os.path.lexists(root / folder):
            yield from _walk(root, folder, folders)


def _walk(root: Path, folder: str, folders: Mapping[str, str]) -> Iterator[tuple[str, str, os.stat_result]]:
    try:
        if in_the_way(root, folder) is not None:
            return
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        listed = [(entry, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        raise Damaged(
            f"The folder {folder} cannot be read ({error.strerror}).",
            hint="Give yourself the right to read it; what was known of its notes is kept.",
        ) from None
    for entry, is_folder in listed:
        path = f"{folder}/{entry.name}"
        if is_folder:
            if not entry.name.startswith(".") and not os.path.lexists(os.path.join(entry.path, ".git")):
                yield from _walk(root, path, folders)
        elif kind := naming.kind_of(path, folders):
            try:
                yield path, kind, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise Damaged(f"{path} cannot be examined ({error.strerror}).") from None


def stage(root: Path, note: Note) -> str:
    """Keep a candidate in this clone's staging folder; the path. A candidate with the same id is replaced.

    Raises Damaged where that cannot be, or where a link or a file stands in the folder's place.
    """
    path = f"{STAGING}/{note.id}.md"
    put(root, path, codec.to_bytes(note, path))
    return path


def put(root: Path, path: str, data: bytes) -> None:
    """Write a file below the staging folder. Raises as `stage` does."""
    target = naming.safe_join(root, path)
    try:
        odd = in_the_way(root, path.rpartition("/")[0])
        if odd is not None:
            raise Damaged(f"{path} could not be written ({odd.cause}).", hint=f"Move {odd.path} away, then try again.")
        atomic.replace(target, data)
    except OSError as error:
        if target.is_dir():
            raise Damaged(
                f"{path} could not be written: a folder is in its place.", hint="Move that folder away, then try again."
            ) from None
        raise Damaged(
            f"{path} could not be written ({error.strerror}).",
            hint="Make room on the disk, or give yourself the right to write there.",
        ) from None


def staged_paths(root: Path, folder: str = STAGING) -> Iterator[str]:
    """The files of candidates in `folder`, by name: those that wait, or, in `DROPPED`, those that were turned down.

    Raises Damaged where a folder cannot be read.
    """
    for path, _, _ in _walk_all(root, [folder], {"memory": folder}):
        if folder != STAGING or not path.startswith(f"{DROPPED}/"):
            yield path


def staged(root: Path) -> tuple[list[NoteFile], list[Problem]]:
    """The candidates that wait in this clone, by id, and the files among them that are none."""
    notes: list[NoteFile] = []
    problems: list[Problem] = []
    try:
        odd = in_the_way(root, STAGING)
    except OSError:
        odd = None  # the walk says it
    if odd is not None:
        problems.append(Problem(odd.path, 0, odd.cause))
    with Reader(root) as reader:
        for path in staged_paths(root):
            try:
                notes.append(reader.note(path, "")[0])
            except BadNote as error:
                problems.append(Problem(path, error.line, error.cause))
            except FileNotFoundError:
                continue
    return sorted(notes, key=lambda file: file.note.id), problems
