"""The versions of a note: who changed what, when and why, across names and folders; and how an old one comes back."""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from commonwealth.errors import BadNote, Refused
from commonwealth.flows import ends, identity, indexing, modes, origins, past, recall, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.past import Moment
from commonwealth.index import lookup
from commonwealth.model import Note, Receipt
from commonwealth.notes import codec, naming
from commonwealth.notes.sections import sections
from commonwealth.repo import history as repo_history
from commonwealth.repo import workfiles
from commonwealth.repo.commit import Change
from commonwealth.repo.git import Git
from commonwealth.repo.objects import Objects
from commonwealth.safetext import one_line

LIMIT = 50
"""Versions that are told unless more are asked for."""


_BEGAN = ("created",)


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a note. `changed` says in short what differs from the version before: fields, sections, place.

    Why it was made is what the commit's message says: its `subject`, and its `trailers` (`Agent: Codex`).
    """

    commit: str
    at: str
    author: str
    subject: str
    path: str
    deleted: bool
    changed: tuple[str, ...]
    trailers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a note, newest first. `siblings` are notes that keep another version of it in a conflict.

    Of a note that was itself kept aside the first version is the one of the other note that it was made from.
    """

    id: str
    path: str
    versions: tuple[Edition, ...]
    deleted: bool = False
    conflict_of: str | None = None
    siblings: tuple[str, ...] = ()
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    then: Moment | None = None


def history(
    brain: Brain, note_id: str, *, as_of: str | None = None, limit: int = LIMIT, now: str | None = None
) -> History:
    """The last `limit` versions of a note, also of one whose file is gone. Raises Refused for an unknown id.

    `as_of` asks for those that there were then (see `past.moment`).
    """
    git = Git(brain.root)
    then = None if as_of is None else past.moment(brain, as_of, now=now)
    ref = "HEAD" if then is None else then.commit
    found, deleted = _found(brain, git, note_id) if then is None else _found_then(brain, git, note_id, then)
    ask = partial(indexing.ask, brain) if then is None else partial(past.ask, brain, then)
    versions = repo_history.versions(git, found.path, ref=ref, limit=limit + 1)
    shown = versions[:limit]
    conflict_of, siblings = (None, ()) if deleted else ask(partial(_rivals, found))
    with Objects(git) as objects:
        names = list(dict.fromkeys(version.path for version in versions))
        told = [_edition(objects, version, names, found.kind) for version in shown]
        aside = None if len(versions) > limit else _aside(brain, git, objects, versions, found.kind)
        if aside is not None:
            told = [*(_set_aside(edition, aside.of) for edition in told), aside.edition]
    more = len(versions) > limit or len(told) > limit
    said = repo_history.trailers(git, [edition.commit for edition in told])
    editions = tuple(replace(edition, trailers=said.get(edition.commit, ())) for edition in told[:limit])
    warnings = (*(then.warnings if then else ()), *found.warnings)
    return History(found.id, found.path, editions, deleted, conflict_of, siblings, more, warnings, then)


def version_at(brain: Brain, note_id: str, commit: str) -> tuple[recall.Located, str, str, bytes]:
    """A note as it was at a commit: where it lies now, the commit's full name, its path then, its bytes.

    Raises Refused for an unknown id or commit, and where the note was not there.
    """
    git = Git(brain.root)
    found, _ = _found(brain, git, note_id)
    full = git.resolve(commit)
    if full is None:
        hint = f"`brain history {found.id}` lists the note's commits."
        raise Refused(f"There is no commit {one_line(commit, 80)!r}.", hint=hint)
    versions = repo_history.versions(git, found.path)
    with Objects(git) as objects:
        aside = _aside(brain, git, objects, versions, found.kind)
    paths = [found.path, *(version.path for version in versions)]
    if aside is not None and aside.edition.commit == full:
        paths.append(aside.edition.path)
    for path in dict.fromkeys(paths):
        data = repo_history.read_at(git, full, path)
        if data is not None:
            return found, full, path, data
    raise Refused(
        f"{found.id} was not there at {full[:12]}.", hint=f"`brain history {found.id}` lists when it was there."
    )


def restore(brain: Brain, note_id: str, commit: str, *, session: Session, now: str) -> Receipt:
    """Make the note again what it was at a commit, by a new commit; nothing of the history is taken away.

    What others change meanwhile is united with it, as with any other edit. Raises what `version_at` does, BadNote
    where the version cannot be read as a note, and Refused where facts change by pull request only.
    """
    found, full, path, data = version_at(brain, note_id, commit)
    modes.require_direct(brain, found.id, found.kind, found.path, does="restored")
    text = codec.decode(data, path)
    old, _ = codec.parse(text, path, found.kind)
    made = replace(old, updated_at=now)
    if naming.stem(path) != naming.stem(found.path) and old.id != found.id:  # as it was before it was kept aside
        made = replace(made, id=found.id)
    edited, kept = ends.kept_closed(brain, found, codec.edit(text, codec.changes(old, made), path=found.path))
    fresh = edited.encode()
    if (refusal := saving.refused_for_secret(old)) is not None:
        return replace(refusal, ids=(found.id,))
    before = workfiles.read(str(brain.root), found.path)

    def plan() -> Sequence[Change] | saving.Planned | Receipt:
        if before == data:
            return Receipt("unchanged", (found.id,), reason="the note says so already")
        if before is None:
            return [Change(found.path, fresh)]
        return saving.united(brain, found.path, before, fresh)

    message = f"Restore: {one_line(found.title, 60)}, as of {full[:12]}{identity.trailers(session)}"
    author = identity.whoami(brain)
    receipt = saving.save(brain, plan, ids=(found.id,), message=message, author=author, now=now, command="restore")
    return replace(receipt, warnings=(*receipt.warnings, kept)) if kept and receipt.state == "committed" else receipt


# Finding


def _found(brain: Brain, git: Git, note_id: str) -> tuple[recall.Located, bool]:
    """The note that an id means, and whether its file is gone."""
    try:
        return recall.locate(brain, note_id), False
    except BadNote as error:
        path = error.path
        return recall.Located(naming.stem(path), path, _kind(brain, path), naming.stem(path)), False
    except Refused as refusal:
        gone = _gone(brain, git, note_id)
        if not gone:
            raise
        if len(gone) > 1:
            listed = recall.some([naming.stem(path) for path in gone])
            raise Refused(
                f"The id {one_line(note_id, 120)!r} means {len(gone)} notes that were deleted: {listed}.",
                hint="Give more of it.",
            ) from refusal
        path = gone[0]
        return recall.Located(naming.stem(path), path, _kind(brain, path), naming.stem(path)), True


def _found_then(brain: Brain, git: Git, note_id: str, then: Moment) -> tuple[recall.Located, bool]:
    """The note that an id meant at an earlier commit, and whether its file was gone by then."""
    try:
        return recall.locate_then(brain, note_id, then), False
    except Refused:
        gone = _gone(brain, git, note_id, then.commit)
        if len(gone) != 1:
            raise
        path = gone[0]
        return recall.Located(naming.stem(path), path, _kind(brain, path), naming.stem(path)), True


def _kind(brain: Brain, path: str) -> str:
    return naming.kind_of(path, brain.folders) or "memory"


def _gone(brain: Brain, git: Git, note_id: str, ref: str = "HEAD") -> list[str]:
    """The paths of deleted notes that an id means: exactly, by its short id, or by its beginning."""
    wanted = naming.id_key(note_id.strip())
    if not wanted:
        return []
    deleted = repo_history.deleted(git, sorted(naming.places(brain.folders)), ref=ref)
    keys = {path: naming.id_key(naming.stem(path)) for path in deleted if naming.kind_of(path, brain.folders)}
    for means in (wanted.__eq__, lambda key: key.endswith(f"-{wanted}"), lambda key: key.startswith(wanted)):
        if found := [path for path, key in keys.items() if means(key)]:
            return found
    return []


def _rivals(found: recall.Located, conn: sqlite3.Connection) -> tuple[str | None, tuple[str, ...]]:
    """What the note is another version of, and which notes are other versions of it."""
    own = next((file.note.conflict_of for file in lookup.get(conn, found.id)), None)
    back = [file.note.id for relation, file in lookup.backlinks(conn, found.id) if relation == "conflict_of"]
    return own, tuple(back)


# Where a version comes from that was kept aside


@dataclass(frozen=True, slots=True)
class _Aside:
    """The note that a note was another version of, and the version of that note which it was made from."""

    of: str
    edition: Edition


def _aside(
    brain: Brain, git: Git, objects: Objects, versions: Sequence[repo_history.Version], kind: str
) -> _Aside | None:
    """Where the first of these versions of a note comes from, if the note began as another version of one."""
    first = next((version for version in reversed(versions) if not version.deleted), None)
    data = origins.read(objects, f"{first.commit}:{first.path}") if first else None
    if first is None or data is None:
        return None
    try:
        note = _parsed(data, kind, first.path)
    except BadNote:
        return None
    if not note.conflict_of:
        return None
    of = repo_history.versions(git, _path_of(brain, note.conflict_of, first.path))
    version = origins.origin(objects, of, note.id)
    if version is None:
        return None
    names = list(dict.fromkeys(one.path for one in of))
    return _Aside(note.conflict_of, _edition(objects, version, names, kind))


def _path_of(brain: Brain, note_id: str, beside: str) -> str:
    """Where a note lies, or where it lay if it is gone: beside its other versions."""
    try:
        return recall.locate(brain, note_id).path
    except (BadNote, Refused):
        return posixpath.join(posixpath.dirname(beside), f"{note_id}.md")


def _set_aside(edition: Edition, of: str) -> Edition:
    """Say of the commit in which a note began that it only put it there."""
    return edition if edition.changed != _BEGAN else replace(edition, changed=(f"kept aside as a version of {of}",))


# What changed


def _edition(objects: Objects, version: repo_history.Version, names: Sequence[str], kind: str) -> Edition:
    changed: tuple[str, ...] = ("deleted",)
    if not version.deleted:
        after = origins.read(objects, f"{version.commit}:{version.path}")
        place, before = _before(objects, version, names)
        moved = (f"moved from {place}",) if place and place != version.path else ()
        changed = _BEGAN if before is None else (*moved, *_differences(before, after, kind))
    shown = (version.commit, version.at, version.author, version.subject, version.path, version.deleted)
    return Edition(*shown, changed)


def _before(objects: Objects, version: repo_history.Version, names: Sequence[str]) -> tuple[str, bytes | None]:
    """The version before, by the first parent that has the file under any of its names: its path and bytes."""
    for parent in ("^1", "^2"):
        for name in dict.fromkeys((version.path, *names)):
            data = origins.read(objects, f"{version.commit}{parent}:{name}")
            if data is not None:
                return name, data
    return "", None


def _differences(before: bytes, after: bytes | None, kind: str) -> Iterable[str]:
    """Names of fields and sections in which two versions differ."""
    if before == after:
        return ()
    try:
        old, new = (_parsed(data or b"", kind) for data in (before, after))
    except BadNote:
        return ("text that cannot be read as a note",)
    found = [field.name for field in fields(Note) if getattr(old, field.name) != getattr(new, field.name)]
    names = [name for name in found if name not in ("body", "updated_at", "extra")]
    if "extra" in found:
        names += sorted(key for key in {**old.extra, **new.extra} if old.extra.get(key) != new.extra.get(key))
    if "body" in found:
        names += _sections(old.body, new.body)
    return names or found or ("layout",)


def _parsed(data: bytes, kind: str, path: str = "a version") -> Note:
    return codec.parse(codec.decode(data, path), path, kind)[0]


def _sections(old: str, new: str) -> list[str]:
    sides = [[(part.title, part.content.strip()) for part in sections(body)] for body in (old, new)]

    def of(side: list[tuple[str, str]], title: str) -> list[str]:
        return [text for name, text in side if name == title]

    titles = dict.fromkeys(title for title, _ in (*sides[1], *sides[0]))
    differ = [title for title in titles if of(sides[0], title) != of(sides[1], title)]
    return [f"section {one_line(title, 60)!r}" if title else "body" for title in differ] or ["body"]
