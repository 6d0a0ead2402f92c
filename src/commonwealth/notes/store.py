"""Notes on disk: read without following anything, list without guessing, write so that a crash leaves old or new.

Paths are relative to the brain's root, with forward slashes. A file that somebody else changed meanwhile is
never overwritten: writers say what they expect to find.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from commonwealth.errors import BadNote, Damaged, Refused
from commonwealth.model import Note, NoteFile, Problem
from commonwealth.notes import codec, naming

STAGING = "staging"
TEMPORARY = ".commonwealth-"
"""How the names of files begin that a crash can leave behind."""


class Any(Enum):
    """The type of `ANY`: whatever stands there may be replaced."""

    ANY = "any"


ANY: Final = Any.ANY
Expected = bytes | None | Any
"""What a writer expects to find: these bytes, no file, or `ANY`."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS |= getattr(os, "O_CLOEXEC", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")


class Changed(Refused):
    """The file is not what the writer read; it was left as it is."""


def read_bytes(root: Path, path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file inside the brain and its state just before they were read.

    Raises FileNotFoundError where there is none, BadNote for a link, a device, a file above the size limit or one
    that cannot be read, Refused for a path that leads outside.
    """
    try:
        descriptor = _open(root, path)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(root / path)) from None
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


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    chunks = [data]
    while data and sum(map(len, chunks)) <= codec.MAX_NOTE:
        data = os.read(descriptor, codec.MAX_NOTE + 1)
        chunks.append(data)
    return b"".join(chunks)


def _open(root: Path, path: str) -> int:
    """Open a file for reading so that no component below `root` can be a link, whatever changes meanwhile."""
    parts = naming.checked_parts(path)
    if not _BY_FOLDER:
        return os.open(naming.safe_join(root, path), _FLAGS)
    folder = os.open(root, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _unreadable(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "it is a symbolic link, which is not followed"
    return f"it cannot be read ({error.strerror})"


def read(root: Path, path: str, kind: str) -> tuple[NoteFile, tuple[Problem, ...]]:
    """The note at `path` and the doubts about it. Raises as `read_bytes`, and BadNote where it is not a note."""
    data, state = read_bytes(root, path)
    note, problems = codec.parse(codec.decode(data, path), path, kind)
    return NoteFile(note, path, state.st_size, state.st_mtime_ns), problems


def walk(root: Path, folders: Mapping[str, str]) -> Iterator[tuple[str, str, os.stat_result]]:
    """Every note file below the kinds' folders: path, kind and state, sorted by folder and name.

    Linked folders, hidden folders and repositories inside the brain are not entered; a note that is itself a link
    is listed (`read` refuses it). A kind without a folder has no notes.
    Raises Damaged where a folder cannot be read: an unreadable folder is never an empty one.
    """
    if not root.is_dir():
        raise Damaged(f"The brain's folder {root} is not there or cannot be read.", hint="Check the path.")
    for folder in sorted(set(folders.values())):
        inside_other = any(folder.startswith(f"{other}/") for other in folders.values())
        if not inside_other and os.path.lexists(root / folder):
            yield from _walk(root, folder, folders)


def _walk(root: Path, folder: str, folders: Mapping[str, str]) -> Iterator[tuple[str, str, os.stat_result]]:
    full = root / folder
    if full.is_symlink():
        raise Damaged(f"{folder} is a symbolic link, which is not followed.", hint="Replace it by a real folder.")
    try:
        with os.scandir(full) as found:
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


def find(root: Path, folders: Mapping[str, str], note_id: str) -> list[str]:
    """The paths of the notes with this id, at any depth; ids are compared without case and normal form.

    A file that cannot be read counts by its name.
    """
    wanted = naming.id_key(note_id)
    found = []
    others = []
    for path, kind, _ in walk(root, folders):
        named = naming.id_key(naming.stem(path)) == wanted
        if named and _id_of(root, path, kind) in (None, wanted):
            found.append(path)
        elif not named:
            others.append((path, kind))
    if not found:
        needle = note_id.encode("utf-8", "replace").lower()
        found = [path for path, kind in others if _mentions(root, path, needle) and _id_of(root, path, kind) == wanted]
    return found


def _id_of(root: Path, path: str, kind: str) -> str | None:
    try:
        return naming.id_key(read(root, path, kind)[0].note.id)
    except (BadNote, FileNotFoundError):
        return None


def _mentions(root: Path, path: str, needle: bytes) -> bool:
    try:
        data, _ = read_bytes(root, path)
    except (BadNote, FileNotFoundError):
        return False
    return not needle.isascii() or needle in data[: 20 * 1024].lower()


def write_atomic(root: Path, path: str, data: bytes, expect: Expected) -> None:
    """Put `data` at `path`: a temporary file in the same folder, flushed to disk, then renamed over the old one.

    Raises Changed where the file is not what `expect` says, just before the rename; Refused for a path outside;
    Damaged where the disk refuses (the old file is then still whole).
    """
    target = naming.safe_join(root, path)
    _check(root, path, expect)
    try:
        _make_folder(target.parent)
        mode = _mode(target)
        temporary = target.parent / f"{TEMPORARY}{os.urandom(8).hex()}.tmp"
        try:
            _write_file(temporary, data, mode)
            _check(root, path, expect)
            _put(temporary, target, path, new=expect is None)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        _sync_folder(target.parent)
    except OSError as error:
        raise Damaged(
            f"{path} could not be written ({error.strerror}); what was there is still there.",
            hint="Make room on the disk, or give yourself the right to write there.",
        ) from None


def _check(root: Path, path: str, expect: Expected) -> None:
    if isinstance(expect, Any):
        return
    try:
        now, _ = read_bytes(root, path)
    except FileNotFoundError:
        if expect is None:
            return
        raise _changed(path) from None
    except BadNote:
        raise _changed(path) from None
    if now != expect:
        raise _changed(path)


def _changed(path: str) -> Changed:
    return Changed(f"{path} was changed by somebody else meanwhile; nothing was overwritten.", hint="Try again.")


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(os.lstat(target).st_mode) & 0o777 | 0o600
    except FileNotFoundError:
        return 0o666


def _write_file(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _put(temporary: Path, target: Path, path: str, *, new: bool) -> None:
    """Move into place; a new file by a hard link, which fails where a name is taken, and a rename does not."""
    if new:
        try:
            os.link(temporary, target, follow_symlinks=False)
        except FileExistsError:
            raise _changed(path) from None
        except (OSError, NotImplementedError):
            if os.path.lexists(target):
                raise _changed(path) from None
        else:
            return
    os.replace(temporary, target)


def _make_folder(folder: Path) -> None:
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        _sync_folder(new.parent)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stage(root: Path, note: Note) -> str:
    """Keep a candidate in this clone's staging folder; the path. A candidate with the same id is replaced."""
    path = f"{STAGING}/{note.id}.md"
    write_atomic(root, path, codec.to_bytes(note, path), ANY)
    return path


def staged(root: Path) -> tuple[list[NoteFile], list[Problem]]:
    """The candidates that wait in this clone, by id, and the files among them that are none."""
    notes: list[NoteFile] = []
    problems: list[Problem] = []
    for path, _, _ in walk(root, {"memory": STAGING}):
        try:
            notes.append(read(root, path, "")[0])
        except BadNote as error:
            problems.append(Problem(path, error.line, error.cause))
        except FileNotFoundError:
            continue
    return sorted(notes, key=lambda file: file.note.id), problems


def unstage(root: Path, path: str) -> None:
    """Remove a candidate that was decided; one that is already gone is fine."""
    if naming.checked_parts(path)[0] != STAGING:
        raise Refused(f"{path} is not a candidate.")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(naming.safe_join(root, path))
