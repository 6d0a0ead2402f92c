"""Which candidates of this clone are in which request: a small file in its git folder.

Losing it costs little: `brain review pr` finds the branches with their notes on the remote again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from commonwealth import atomic
from commonwealth.errors import Refused
from commonwealth.flows.forges import CLOSED, OPEN
from commonwealth.notes import naming
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER, FileLock

_FILE = "requests.json"
_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True)
class Sent:
    """One note in a request: the id and path that it has there, the file of the queue that it was made of, and the
    hash of that file's bytes."""

    id: str
    path: str
    staged: str
    digest: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request of this clone's.

    `commit` is what the remote took last, `trying` what it may have taken before the process ended; `agit` says that
    the branch exists only inside the host. `opened` says that the host has the request, `manual` that a person opens
    it. `state` is open, or closed without having been merged; `changed` says that somebody else pushed to the branch.
    """

    branch: str
    base: str
    at: str
    notes: tuple[Sent, ...]
    title: str = ""
    kind: str = "plain"
    commit: str | None = None
    trying: str | None = None
    url: str | None = None
    number: int | None = None
    opened: bool = False
    manual: bool = False
    agit: bool = False
    draft: bool = False
    changed: bool = False
    state: str = OPEN

    def of(self, note_id: str) -> Sent | None:
        """The note of this id in the request."""
        key = naming.id_key(note_id)
        return next((one for one in self.notes if naming.id_key(one.id) == key), None)

    @property
    def is_open(self) -> bool:
        """Whether it still waits for the team."""
        return self.state != CLOSED

    @property
    def place(self) -> str:
        """Where a person finds it."""
        return self.url or f"the branch {self.branch}"


@dataclass(slots=True)
class Book:
    """The requests of a clone, as they are kept, by branch."""

    root: Path
    requests: dict[str, Request] = field(default_factory=dict)

    def put(self, request: Request) -> None:
        """Keep a request as it is now. Raises OSError where the git folder cannot be written."""
        self.requests[request.branch] = request
        self._save()

    def drop(self, branch: str) -> None:
        """The request is over, and nothing is left to tell of it."""
        if self.requests.pop(branch, None) is not None:
            self._save()

    def open_with(self, note_id: str) -> Request | None:
        """The open request that a candidate is in."""
        return next((one for one in self.requests.values() if one.is_open and one.of(note_id)), None)

    def _save(self) -> None:
        rows = [asdict(one) for one in self.requests.values()]
        data = json.dumps({"requests": rows}, indent=1).encode("utf-8", "surrogateescape")
        atomic.replace(str(_place(self.root)), data)


def _place(root: Path) -> Path:
    return Path(git_dir(str(root)), FOLDER, _FILE)


def load(root: Path) -> Book:
    """The requests that this clone remembers; none where the file is not there or cannot be read."""
    book = Book(root)
    text = read_text(str(_place(root)), _LIMIT)
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        found = {}
    rows = found.get("requests") if isinstance(found, dict) else None
    for row in rows if isinstance(rows, list) else ():
        request = _read(row)
        if request is not None:
            book.requests[request.branch] = request
    return book


def _read(row: object) -> Request | None:
    if not isinstance(row, dict):
        return None
    known = {name.name: name.type for name in fields(Request)}
    values = {key: value for key, value in row.items() if key in known}
    notes = values.pop("notes", None)
    if not isinstance(notes, list) or not all(isinstance(values.get(key), str) for key in ("branch", "base", "at")):
        return None
    nothing = type(None)
    wanted = {"str": (str,), "bool": (bool,), "str | None": (str, nothing), "int | None": (int, nothing)}
    for key, value in values.items():
        kind = wanted.get(str(known[key]))
        if kind is not None and not isinstance(value, kind):
            return None
    try:
        sent = tuple(Sent(**{key: str(one[key]) for key in ("id", "path", "staged", "digest")}) for one in notes)
        return Request(notes=sent, **values)
    except (TypeError, KeyError):
        return None


@contextmanager
def alone(root: Path, seconds: float) -> Iterator[Book]:
    """The requests, while nobody else changes them. Raises Busy after `seconds`, Refused where the git folder cannot be
    written."""
    lock = FileLock(str(Path(git_dir(str(root)), FOLDER, "requests.lock")), "review pr", "Requests are being looked at")
    lock.acquire(seconds)
    try:
        yield load(root)
    except OSError as error:
        raise Refused(
            f"{_place(root)} cannot be written ({error.strerror or error}).",
            hint="Make room on that disk, or give yourself the right to write there; then run it again.",
        ) from None
    finally:
        lock.release()


def by_candidate(root: Path) -> Mapping[str, Request]:
    """The request of each candidate that is in one, by the key of its id; an open one counts before a closed one."""
    found: dict[str, Request] = {}
    arrived = (one for one in load(root).requests.values() if one.commit is not None)
    for request in sorted(arrived, key=lambda one: (one.is_open, one.at)):
        for one in request.notes:
            found[naming.id_key(one.id)] = request
    return found
