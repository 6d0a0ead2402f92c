"""Importing a folder of markdown or of decision records: every file becomes a note or is named with a reason.

A note is found again by the end of its id, which comes from the kind and path of its source, so that a repeat
changes nothing. `source_digest` in the note says what the source made of it: with it, edits here and edits at
the source are told apart.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from commonwealth import config
from commonwealth.curate import secrets
from commonwealth.errors import BadNote, BrainError, Refused, Usage
from commonwealth.flows import identity, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.import_source import Gathered, Skipped, gather, reason_of
from commonwealth.model import Note
from commonwealth.notes import adr, codec, foreign, naming, store
from commonwealth.notes.foreign import Foreign
from commonwealth.repo.commit import Change

KINDS = ("markdown", "adr")
BATCH = 200
"""Files in one commit: the writer lock is let go between two of them."""

_DIGEST = "source_digest"

Write = Callable[[Sequence[Change], str], str]
"""Commits changes under a message; returns the commit."""

Check = Callable[[str, bytes], str | None]
"""Why a note cannot be committed, in one clause; None if it can."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of every file: new or changed notes, notes that are as they were, and the rest by name."""

    imported: int
    unchanged: int
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that an import would commit, and the report once they are."""

    changes: tuple[Change, ...]
    report: ImportReport


class Shelf(Protocol):
    """The notes that are in the brain already."""

    def paths(self) -> Iterable[str]:
        """The path of every note."""

    def read(self, path: str) -> bytes | None:
        """The bytes of one."""


@dataclass(frozen=True, slots=True)
class BrainShelf:
    """The notes of the brain at `root`, as they lie in its work tree."""

    root: Path
    folders: Mapping[str, str]

    def paths(self) -> Iterator[str]:
        """The path of every note. Raises Damaged where a folder cannot be read."""
        return (path for path, _, _ in store.walk(self.root, self.folders))

    def read(self, path: str) -> bytes | None:
        """The bytes of one note; None where there is none. Raises BadNote for what is no readable file."""
        try:
            return store.read_bytes(self.root, path)[0]
        except FileNotFoundError:
            return None


def import_folder(brain: Brain, path: Path, *, kind: str | None, now: str) -> ImportReport:
    """Import the folder or file at `path` into `brain`, a commit for every 200 notes, and report on every file.

    Raises Refused where there is nothing to import from, where it is the brain's own notes, and where the team
    or the person wants every note reviewed first; Busy when the brain is in use for too long. What was written
    before stays, and importing again goes on from there.
    """
    _refuse_own_notes(brain, path)
    _refuse_unreviewed(brain)
    author = identity.whoami(brain)

    def write(changes: Sequence[Change], message: str) -> str:
        ids = tuple(naming.stem(change.path) for change in changes)

        def plan() -> Sequence[Change]:
            return (*changes, *saving.people_change(brain, author, now))

        receipt = saving.save(brain, plan, ids=ids, message=message, author=author, now=now)
        return receipt.commit or ""

    shelf = BrainShelf(brain.root, brain.folders)
    check = content_of(brain).check
    return run(path, kind=kind, folders=brain.folders, shelf=shelf, write=write, check=check)


def _refuse_own_notes(brain: Brain, path: Path) -> None:
    source, root = os.path.realpath(path) + os.sep, os.path.realpath(brain.root)
    for folder in brain.folders.values():
        own = os.path.join(root, folder) + os.sep
        if own.startswith(source) or source.startswith(own):
            raise Refused(
                f"{path} holds this brain's own notes ({folder}/).",
                hint="A folder of the brain is not imported: its files are notes already.",
            )


def _refuse_unreviewed(brain: Brain) -> None:
    for mode in (brain.config.review, config.load_user_config().review or "auto"):
        if mode != "auto":
            raise Refused(
                f"This brain reviews notes first (review: {mode}), and an import would pass that by.",
                hint="Import into a clone with `review: auto` on a branch, and let the team review its commits.",
            )


def run(
    path: Path,
    *,
    kind: str | None,
    folders: Mapping[str, str],
    shelf: Shelf,
    write: Write,
    check: Check | None = None,
) -> ImportReport:
    """Import the folder or file at `path` and say what became of every file.

    `kind` is `markdown` or `adr`; None finds out folder by folder. Raises Refused where there is nothing to
    import from, Usage for another kind, and whatever `write` raises; what was written before stays.
    """
    planned = plan(gather(path), kind=kind, folders=folders, shelf=shelf, check=check)
    total = len(planned.changes)
    for start in range(0, total, BATCH):
        batch = planned.changes[start : start + BATCH]
        some = f" ({start + 1}-{start + len(batch)} of {total})" if total > BATCH else ""
        write(batch, f"Import {len(batch)} {'note' if len(batch) == 1 else 'notes'}{some}")
    return planned.report


@dataclass(slots=True)
class _Planning:
    """What `plan` has found so far."""

    kind: str | None
    folders: Mapping[str, str]
    shelf: Shelf
    check: Check | None
    gathered: Gathered
    skipped: list[Skipped]
    known: dict[str, str]
    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0


def plan(
    gathered: Gathered,
    *,
    kind: str | None,
    folders: Mapping[str, str],
    shelf: Shelf,
    check: Check | None = None,
) -> Plan:
    """What importing these files would change in the brain. Nothing is written and no clock is read."""
    if kind is not None and kind not in KINDS:
        raise Usage(f"{kind!r} is no kind of source.", hint=f"Choose one of {', '.join(KINDS)}.")
    known = {found[1]: path for path in shelf.paths() if (found := _SHORT_ID.search(path))}
    state = _Planning(kind, folders, shelf, check, gathered, list(gathered.skipped), known)
    for note in _notes(state, _sources(state)):
        _place(state, note)
    skipped = sorted(state.skipped, key=lambda item: item.path)
    return Plan(tuple(state.changes), ImportReport(len(state.changes), state.unchanged, tuple(skipped)))


_SHORT_ID = re.compile(r"-([0-9a-z]{8})\.md$")


def _sources(state: _Planning) -> list[Foreign]:
    """The files that can be read and hold no secret."""
    sources = []
    for name, data in state.gathered.files:
        path = unicodedata.normalize("NFC", name)
        try:
            text = codec.decode(data, path)
            source = foreign.read(text, path)
        except BadNote as error:
            state.skipped.append(Skipped(secrets.mask(name), reason_of(error)))
            continue
        if found := (*secrets.scan(name, "its path"), *secrets.scan(text, "the file")):
            reason = f"secret: {found[0].rule} in {found[0].where}"
            state.skipped.append(Skipped(secrets.mask(name), reason))
            continue
        sources.append(source)
    return sources


def _notes(state: _Planning, sources: Sequence[Foreign]) -> Iterator[Note]:
    records: list[adr.Record] = []
    for source, is_adr in _sorted_out(state.kind, sources):
        facts = {"repository": state.gathered.repository, "seen": state.gathered.seen.get(source.path)}
        if is_adr and (reason := adr.unfit(source)):
            state.skipped.append(Skipped(source.path, reason))
        elif is_adr and adr.is_record(source):
            record = adr.record(source, **facts)
            records.append(replace(record, note=_with_known_id(state, record.note)))
        else:
            yield _with_known_id(state, foreign.note(source, **facts))
    yield from adr.link(records)


def _sorted_out(kind: str | None, sources: Sequence[Foreign]) -> Iterator[tuple[Foreign, bool]]:
    """Each source, and whether it lies in a folder of decision records."""
    if kind is not None:
        yield from ((source, kind == "adr") for source in sources)
        return
    folders: defaultdict[str, list[Foreign]] = defaultdict(list)
    for source in sources:
        folders[source.path.rpartition("/")[0]].append(source)
    for inside in folders.values():
        is_adr = adr.is_folder_of_records(inside)
        yield from ((source, is_adr) for source in inside)


def _with_known_id(state: _Planning, note: Note) -> Note:
    """The note under the id that an earlier import gave it, whatever its title or date has become."""
    path = state.known.get(note.id[-8:])
    return replace(note, id=naming.stem(path)) if path else note


def _place(state: _Planning, note: Note) -> None:
    """Decide what the note of one source means for the brain."""
    source = note.source.path if note.source else ""
    here = state.known.get(note.id[-8:])
    path = here or naming.note_path(note.kind, note.id, note.created_at or foreign.UNDATED, state.folders)
    digest = _digest(note)
    try:
        data = codec.to_bytes(replace(note, extra={**note.extra, _DIGEST: digest}), path)
        old = state.shelf.read(path)
        outcome = None if old is None else _against(old, path, note, digest)
    except BrainError as error:
        state.skipped.append(
            Skipped(source, f"its note {reason_of(error)}" if isinstance(error, BadNote) else error.message)
        )
        return
    reason = outcome or (state.check(path, data) if state.check else None)
    if outcome == _UNCHANGED:
        state.unchanged += 1
    elif reason:
        state.skipped.append(Skipped(source, reason))
    else:
        state.changes.append(Change(path, data, old))


_UNCHANGED = "unchanged"


def _digest(note: Note) -> str:
    """What the source made of a note, whatever id it has."""
    bare = replace(note, id="", extra={key: value for key, value in note.extra.items() if key != _DIGEST})
    return hashlib.sha256(codec.render(bare).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _against(old: bytes, path: str, note: Note, digest: str) -> str | None:
    """Why the note that is there stays as it is; None if the source may replace it."""
    there, _ = codec.parse(codec.decode(old, path), path, note.kind)
    made_from = there.extra.get(_DIGEST)
    if there.source != note.source or made_from is None:
        return f"the note {there.id} has its name and was not imported from it"
    if made_from == digest:
        return _UNCHANGED
    if _digest(there) != made_from:
        return f"changed at the source, and the note {there.id} was edited here since it was imported"
    if note.repository is None and not _alike(there.body, note.body):
        return f"another document was imported from this path before, as {there.id}"
    return None


def _alike(one: str, other: str) -> bool:
    """Whether two texts can be versions of one document: a quarter of the shorter one's lines are in both."""
    left, right = ({line.strip() for line in text.splitlines()} - {""} for text in (one, other))
    return len(left & right) * 4 >= min(len(left), len(right))
