"""What the floors above know about notes, handed to the code that moves files: it knows no format itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from commonwealth.model import Finding


class Person(Protocol):
    """Whoever a commit is made for."""

    @property
    def name(self) -> str:
        """The name as it stands in the commit."""

    @property
    def email(self) -> str:
        """The address as it stands in the commit; may be empty."""


class Snapshot(Protocol):
    """The files of one commit or tree."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None where there is none."""

    def list(self, folder: str) -> Mapping[str, bool]:
        """The names directly in `folder` ("" is the root); True for sub-folders, False for files."""

    def warn(self, text: str) -> None:
        """Say something about these files to whoever works with them."""


@dataclass(frozen=True, slots=True)
class Merged:
    """Two versions of one note as one; `siblings` are the files that keep what could not be united."""

    data: bytes
    siblings: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def _nothing(_path: str, _data: bytes) -> str | None:
    return None


def _always(_: bytes) -> bool:
    return True


def _none(
    _paths: frozenset[str] | None, _snapshot: Snapshot, _earlier: Callable[[str], Iterable[bytes]]
) -> Mapping[str, bytes]:
    return {}


@dataclass(frozen=True, slots=True)
class Content:
    """The meaning of a brain's files, as functions over paths (relative, with forward slashes) and bytes."""

    watched: tuple[str, ...]
    """Files and folders in which people's edits are looked for: the folders of all kinds, the config, the
    router."""
    owns: Callable[[str], str | None]
    """The kind of note that lies at a path; None where the path is no note's."""
    is_derived: Callable[[str], bool]
    """Whether the file at a path is made from notes."""
    is_config: Callable[[str], bool]
    """Whether a path is a file of the brain's that is no note and still the team's to edit."""
    check: Callable[[str, bytes], str | None]
    """Why a note or config cannot be committed (unreadable, conflict markers), in one clause; None if it can."""
    scan: Callable[[str, bytes], Sequence[Finding]]
    """The secrets in a file's path and bytes; a commit message is scanned under the path ""."""
    merge: Callable[[bytes | None, bytes, bytes, str], Merged]
    """(base, one side, other side, path) as one. May raise BadNote where a version cannot be read."""
    derive: Callable[[frozenset[str] | None, Snapshot], Mapping[str, bytes | None]]
    """The derived files of a snapshot that the change of some paths touches (None: all of them); None as the
    bytes of a file that should not be there. A note that cannot be read is left out, never raised."""
    disputes: Callable[[str, bytes], str | None] = _nothing
    """The id (the stem of the file name) of the note of which the note at this path keeps another version, if any."""
    is_made: Callable[[bytes], bool] = _always
    """Whether these bytes of a file in the place of a derived one are of our making; else a person's, who keeps
    them."""
    close: Callable[[frozenset[str] | None, Snapshot, Callable[[str], Iterable[bytes]]], Mapping[str, bytes]] = _none
    """The notes of a snapshot that have to say something else because of what others say, after the change of some
    paths (None: of all), by nothing but these notes and the earlier versions of a file, the newest first."""
