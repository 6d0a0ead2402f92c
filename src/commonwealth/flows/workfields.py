"""What a work record may say: the fields that a caller gives, checked and put into their canonical form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import Usage
from commonwealth.flows import identity, leases, workpaths
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.model import WORK_STATUSES, Note, Provenance, same_repository

MAX_TITLE = 1000
"""Characters; a longer title is a summary in the wrong place."""

MAX_TEXT = 20_000
"""Characters of a summary, a report of progress, an outcome or a reason."""

MAX_NAMES = 500
"""Files, and components, of one record."""

LEASE_MINUTES = int(leases.USUAL / timedelta(minutes=1))
SHORTEST_LEASE, LONGEST_LEASE = 5, 7 * 24 * 60
"""Bounds of a lease in minutes."""

Value = str | Sequence[str] | int | None
"""Text, a list of text, or minutes; None takes the field away."""

_TEXTS = ("title", "summary", "repository", "branch")
_ORIGIN = {entry.name: entry.name in ("files", "urls", "evidence") for entry in fields(Provenance)}
_FILES = ("files", "add_files", "remove_files")
_COMPONENTS = ("components", "add_components", "remove_components")


@dataclass(frozen=True, slots=True)
class WorkDraft:
    """Work as a caller announces it. `files` are paths, folders or globs; a lease of None is the usual one, in
    minutes; `status` planned, in-progress (None) or blocked."""

    title: str
    summary: str | None = None
    repository: str | None = None
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    branch: str | None = None
    lease_minutes: int | None = None
    status: str | None = None
    provenance: Provenance = field(default_factory=Provenance)
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes of one call, checked. `values` are fields of a note; lists are what they grow and shrink by."""

    values: Mapping[str, str | tuple[str, ...] | None]
    origin: Mapping[str, str | tuple[str, ...] | None]
    added: Mapping[str, tuple[str, ...]]
    removed: Mapping[str, tuple[str, ...]]
    lease_minutes: int | None = None
    progress: str | None = None

    def of(self, note: Note) -> Note:
        """The note with everything but status, lease and progress changed."""
        values = {name: value for name, value in self.values.items() if name != "status"}
        for name in ("files", "components"):
            kept = [item for item in values.get(name, getattr(note, name)) or () if item not in self.removed[name]]
            values[name] = tuple(dict.fromkeys((*kept, *self.added[name])))
        origin = replace(note.provenance, **self.origin)  # type: ignore[arg-type]
        return replace(note, **values, provenance=origin)  # type: ignore[arg-type]


def validated(draft: WorkDraft, brain: Brain) -> WorkDraft:
    """`draft` in canonical form, its paths from the root of the repository. Raises Usage that names every bad field."""
    check = _Check(brain, draft.repository)
    made = replace(
        draft,
        title=check.text("title", draft.title, needed=True) or "",
        summary=check.text("summary", draft.summary),
        repository=check.text("repository", draft.repository),
        files=check.files("files", draft.files),
        components=check.names("components", draft.components),
        branch=check.text("branch", draft.branch),
        status=check.status(draft.status or "in-progress", leases.OPEN),
        lease_minutes=check.minutes(draft.lease_minutes or (None if draft.lease_minutes is None else 0)),
    )
    check.done()
    return made


def note_of(draft: WorkDraft, brain: Brain, author: Identity, session: Session, now: str) -> Note:
    """The record of a valid draft, still without an id."""
    origin = identity.provenance(draft.provenance, brain, author, session)
    repository = draft.repository or origin.repository
    here = repository is not None and origin.repository is not None and same_repository(repository, origin.repository)
    return Note(
        id="",
        kind=leases.KIND,
        title=draft.title,
        summary=draft.summary,
        status=draft.status or "in-progress",
        created_at=now,
        updated_at=now,
        started_at=now,
        lease_until=lease(now, draft.lease_minutes or LEASE_MINUTES),
        branch=draft.branch or (origin.branch if here else None),
        repository=repository,
        files=draft.files,
        components=draft.components,
        owner=author.name,
        agent=origin.agent,
        author=author.name,
        author_ref=author.ref,
        provenance=origin,
    )


def lease(now: str, minutes: int) -> str:
    """The end of a lease of so many minutes from `now`."""
    return later(now, timedelta(minutes=minutes))


def later(now: str, by: timedelta) -> str:
    """An instant after `now`, at most the last that can be written."""
    try:
        return timeline.render(timeline.parse(now) + by)
    except (ValueError, OverflowError):
        return now


def changed(changes: Mapping[str, Value], brain: Brain, repository: str | None) -> Changed:
    """`changes` in canonical form. Raises Usage with one sentence for each that is none."""
    check = _Check(brain, str(changes.get("repository") or repository or "") or None)
    values: dict[str, str | tuple[str, ...] | None] = {}
    origin: dict[str, str | tuple[str, ...] | None] = {}
    lists: dict[str, tuple[str, ...]] = {}
    minutes = progress = None
    for name, value in changes.items():
        head, _, inner = name.partition(".")
        if head == "provenance" and inner in _ORIGIN and inner != "extra":
            origin[inner] = check.names(name, value) if _ORIGIN[inner] else check.text(name, value)
        elif name in _TEXTS:
            values[name] = check.text(name, value, needed=name == "title")
        elif name == "status":
            values[name] = check.status(value, WORK_STATUSES)
        elif name == "lease_minutes":
            minutes = check.minutes(value)
        elif name == "progress":
            progress = check.text(name, value, needed=True)
        elif name in (*_FILES, *_COMPONENTS):
            lists[name] = check.files(name, value) if name in _FILES else check.names(name, value)
        else:
            check.problems.append(f"{name}: no field of a work record that can be changed has this name")
    check.done()
    values |= {name: lists[name] for name in ("files", "components") if name in lists}
    added, removed = ({name: lists.get(f"{act}_{name}", ()) for name in ("files", "components")} for act in _ACTS)
    return Changed(values, origin, added, removed, minutes, progress)


_ACTS = ("add", "remove")


def text(name: str, given: str | None, *, needed: bool = False) -> str | None:
    """One text of a call as it is written; None for an empty one. Raises Usage."""
    check = _Check(None, None)
    found = check.text(name, given, needed=needed)
    check.done()
    return found


class _Check:
    """Collects what is wrong with the fields of one call."""

    def __init__(self, brain: Brain | None, repository: str | None) -> None:
        project = brain.project if brain else None
        if project is not None and repository and not same_repository(project.identity, repository):
            project = None
        self._place = workpaths.Place(project, brain.cwd if brain else "")
        self.problems: list[str] = []

    def done(self) -> None:
        """Raises Usage where anything was wrong."""
        if self.problems:
            said = secrets.mask("; ".join(self.problems[:10]))
            raise Usage(f"{said}.", hint="Correct the fields named here; nothing was written.")

    def text(self, name: str, value: Value, *, needed: bool = False) -> str | None:
        if value is not None and not isinstance(value, str):
            self.problems.append(f"{name}: it takes one text")
            return None
        found = (value or "").replace("\r\n", "\n").strip()
        limit = MAX_TITLE if name == "title" else MAX_TEXT
        if len(found) > limit:
            self.problems.append(f"{name}: it has {len(found)} characters, and at most {limit} are possible")
        if needed and not found:
            self.problems.append(f"{name}: it is empty")
        return found or None

    def status(self, value: Value, allowed: Sequence[str]) -> str:
        if value not in allowed:
            self.problems.append(f"status: {value!r} is none of {', '.join(allowed)}")
        return str(value)

    def minutes(self, value: Value) -> int | None:
        if value is None:
            return None
        if not isinstance(value, int) or not SHORTEST_LEASE <= value <= LONGEST_LEASE:
            bounds = f"{SHORTEST_LEASE} and {LONGEST_LEASE} (7 days)"
            self.problems.append(f"lease_minutes: {value} is not between {bounds}")
            return None
        return value

    def names(self, name: str, value: Value) -> tuple[str, ...]:
        return self._list(name, value, str.strip)

    def files(self, name: str, value: Value) -> tuple[str, ...]:
        return self._list(name, value, self._place.inside)

    def _list(self, name: str, value: Value, made: Callable[[str], str]) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value if isinstance(value, Sequence) else []
        if isinstance(value, int):
            self.problems.append(f"{name}: it takes a list of texts")
        if len(given) > MAX_NAMES:
            step = "; name folders or globs" if name in _FILES else ""
            self.problems.append(f"{name}: it has {len(given)} entries, and at most {MAX_NAMES} are possible{step}")
            return ()
        found: dict[str, None] = {}
        for item in given:
            try:
                found[made(item)] = None
            except ValueError as error:
                self.problems.append(f"{name}: {error}")
        return tuple(filter(None, found))
