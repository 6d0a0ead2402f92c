"""Files of the work tree: read without following links, replaced only while they are what was read."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable

from commonwealth import atomic
from commonwealth.errors import Damaged, Refused

_RESERVED = re.compile(r"(?i)\.git[ .]*|git~[0-9]+|\.git:.*")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_NAME = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})
_IN_THE_WAY = frozenset({errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EEXIST})


class Changed(Refused):
    """A file is not what its writer read: somebody else was faster. `path` names it; reading again helps."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since it was read.", hint="Read it again and repeat the change.")
        self.path = path


class Unfit(Refused):
    """The file system cannot hold a file of this name, whoever writes it. `path` names it."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be held by this file system ({error.strerror}).",
            hint="Rename it with git on a machine that can hold it, and push.",
        )
        self.path = path


def is_unfit(error: OSError) -> bool:
    """Whether the file system refused this one path, and would take others."""
    return error.errno in _NO_NAME | _IN_THE_WAY


def obstacle(root: str, path: str) -> str | None:
    """Why no file can be at `path`, with the step, in one clause; None where nothing is seen that forbids it."""
    parts, place = path.split("/"), root
    for depth, part in enumerate(parts, 1):
        place = os.path.join(place, part)
        here = "/".join(parts[:depth])
        mode = None
        try:
            with contextlib.suppress(FileNotFoundError):
                os.lstat(os.path.join(root, part))  # a name can be refused before the folders above it are there
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            if error.errno not in _NO_NAME:
                return None
            cause = f"this file system cannot hold its name ({error.strerror})"
            return f"{cause}: rename it with git on a machine that can, and push"
        if mode is None:
            continue
        if depth == len(parts):
            return f"the folder {here} is in its place: move it away" if stat.S_ISDIR(mode) else None
        if not stat.S_ISDIR(mode):
            what = "link" if stat.S_ISLNK(mode) else "file"
            return f"the {what} {here} is in its way: move it away"
    try:
        os.lstat(place)
    except OSError as error:
        if error.errno in _NO_NAME:
            return f"its path is too long here ({error.strerror}): use a folder with a shorter path"
    return None


def blob_id(data: bytes, width: int = 40) -> str:
    """The name git gives to these bytes; `width` is the length of the repository's object names."""
    head = b"blob %d\0" % len(data)
    if width == 64:
        return hashlib.sha256(head + data).hexdigest()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


def locate(root: str, path: str) -> str:
    """The absolute place of a file of the brain. Raises Refused where it lies, or leads by a link, outside."""
    parts = path.split("/")
    if not path or "\0" in path or any(_unsafe(part) for part in parts):
        raise Refused(f"{path!r} is not a path inside the brain.")
    place = root
    for part in parts[:-1]:
        place = os.path.join(place, part)
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            break
        except OSError as error:
            if error.errno in _NO_NAME:
                raise Unfit(path, error) from None
            raise
        if stat.S_ISLNK(mode):
            raise Refused(f"{path} leads through the link {os.path.relpath(place, root)}.", hint="Remove the link.")
        if not stat.S_ISDIR(mode):
            break
    return os.path.join(root, *parts)


def _unsafe(part: str) -> bool:
    return part in ("", ".", "..") or _RESERVED.fullmatch(part) is not None or (os.name == "nt" and "\\" in part)


def read(root: str, path: str) -> bytes | None:
    """The bytes of a file, or None where there is none.

    A folder of that name is no file. Raises Damaged for a link or a device, and for what cannot be read.
    """
    place = locate(root, path)
    try:
        fd = os.open(place, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in _NO_NAME:
            raise Unfit(path, error) from None
        raise Damaged(f"{path} cannot be read: {error.strerror}.", hint="Look at the file by hand.") from None
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise Damaged(f"{path} is not a regular file.", hint="Look at it by hand.")
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def is_executable(root: str, path: str) -> bool:
    """Whether the file carries the owner's executable bit."""
    try:
        return bool(os.lstat(locate(root, path)).st_mode & stat.S_IXUSR)
    except (FileNotFoundError, NotADirectoryError):
        return False


class Prepared:
    """The new bytes of a file, durable beside it under a temporary name, waiting for the rename."""

    def __init__(
        self, root: str, path: str, data: bytes, *, executable: bool | None = None, flush: bool = True
    ) -> None:
        self.root, self.path, self.data = root, path, data
        self._place = locate(root, path)
        folder = os.path.dirname(self._place)
        atomic.make_folders(folder, root)
        self._temporary = atomic.write_beside(
            folder, data, mode=lambda usual: self._mode(usual, executable), flush=flush
        )

    def _mode(self, usual: int, executable: bool | None) -> int:
        try:
            mode = stat.S_IMODE(os.lstat(self._place).st_mode)
        except OSError:
            mode = usual
            if not executable:
                return mode
        if executable is None:
            return mode
        return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111

    def place(self, expect: bytes | None) -> None:
        """Rename into place if the file still is `expect` (None: absent). Raises Changed."""
        if expect is None:
            self._place_new()
            return
        if read(self.root, self.path) != expect:
            self.drop()
            raise Changed(self.path)
        os.replace(self._temporary, self._place)

    def _place_new(self) -> None:
        # A link, unlike a rename, never overwrites a file that somebody makes at this moment.
        try:
            os.link(self._temporary, self._place)
        except FileExistsError:
            self.drop()
            raise Changed(self.path) from None
        except OSError:
            if os.path.lexists(self._place):
                self.drop()
                raise Changed(self.path) from None
            try:
                os.rename(self._temporary, self._place)
            except OSError:
                self.drop()
                raise
            return
        os.unlink(self._temporary)

    def drop(self) -> None:
        """Remove the temporary file."""
        atomic.drop(self._temporary)


def replace(root: str, path: str, data: bytes, expect: bytes | None, *, executable: bool | None = None) -> None:
    """Write a file durably if it still is `expect` (None: absent). Raises Changed, Refused, OSError."""
    Prepared(root, path, data, executable=executable).place(expect)
    sync_folders(root, [path])


def remove(root: str, path: str, expect: bytes) -> None:
    """Remove a file if it still is `expect`, and the folders that this leaves empty. Raises Changed."""
    place = locate(root, path)
    if read(root, path) != expect:
        raise Changed(path)
    os.unlink(place)
    folder = os.path.dirname(place)
    while folder != root:
        try:
            os.rmdir(folder)
        except OSError:
            break
        folder = os.path.dirname(folder)


def sync_folders(root: str, paths: list[str]) -> None:
    """Make renames and removals durable: each folder that holds one of `paths` is flushed once."""
    for folder in sorted({os.path.dirname(os.path.join(root, path)) for path in paths}):
        try:
            atomic.flush_folder(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            if not is_unfit(error):
                raise


def flush_file(place: str) -> None:
    """Flush a file's bytes to disk; one that is gone needs none, nor what is no file."""
    try:
        if not stat.S_ISREG(os.lstat(place).st_mode):
            return
        fd = os.open(place, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return
    except OSError as error:
        if is_unfit(error):
            return
        raise
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def undoing(steps: list[Callable[[], None]]) -> None:
    """Run undo steps, last first; a step that finds somebody else's bytes leaves them alone."""
    for step in reversed(steps):
        with contextlib.suppress(Refused, Damaged, OSError):
            step()
