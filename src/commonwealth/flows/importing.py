"""Importing a folder of markdown or of decision records: every file becomes a note or is named with a reason.

A source is its kind, its path and the root that the path starts from. Its note is found again by the end of its id,
which comes from kind and path, so that a repeat changes nothing; where another document has that id, the root makes
a second one.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commonwealth.curate import secrets
from commonwealth.errors import BadNote, BrainError, Refused, Usage
from commonwealth.faults import fault
from commonwealth.flows import allowed, identity, import_records, import_sqlite
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.content import content_of
from commonwealth.flows.import_shelf import (
    DIGEST,
    ROOT,
    SOURCES,
    BrainShelf,
    Held,
    Imported,
    Shelf,
    digests,
    made_of,
    short_ids,
    text_hash,
)  # fmt: skip
from commonwealth.flows.import_source import Gathered, Skipped, gather, reason_of
from commonwealth.flows.import_writing import BATCH, Left, Writer
from commonwealth.model import Note
from commonwealth.notes import adr, codec, foreign, naming
from commonwealth.notes.foreign import Foreign, Origin
from commonwealth.repo.commit import Change

Write = Callable[[Sequence[Change], str], Left]
"""Commits changes under a message; returns what it left because the brain had changed."""

Check = Callable[[str, bytes], str | None]
"""Why a note cannot be committed, in one clause; None if it can."""

Progress = Callable[[int, int], None]
"""Told how many of how many notes are written."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of every file.

    `imported` counts the notes that are new or changed, `updated` those of them that were there before. `kinds` says
    as what the files were taken that are or were imported. `doubts` are what could not be read of sources that were.
    """

    imported: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    updated: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that an import would commit, and the report once they are. `sources` says for each path which source
    the note is made of, and of what kind that is."""

    changes: tuple[Change, ...]
    report: ImportReport
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def without(self, left: Left) -> Plan:
        """The report where some of the changes were left."""
        report = self.report
        kinds, skipped = Counter(report.kinds), list(report.skipped)
        for path in left.other:
            source, kind = self.sources[path]
            kinds[kind] -= 1
            skipped.append(Skipped(source, f"its note {naming.stem(path)} was changed here while it was imported"))
        gone = {*left.same, *left.other}
        updated = sum(change.path in gone and change.expect is not None for change in self.changes)
        changed = ImportReport(
            report.imported - len(gone),
            report.unchanged + len(left.same),
            tuple(sorted(skipped, key=lambda item: item.path)),
            report.updated - updated,
            +kinds,
            report.doubts,
        )
        return replace(self, report=changed)


def import_folder(
    brain: Brain, path: Path, *, kind: str | None, now: str, progress: Progress | None = None
) -> ImportReport:
    """Import the folder or file at `path` into `brain`, a commit for every 100 notes, and report on every file.

    Raises Refused where there is nothing to import from, where it is the brain's own notes, and where the team
    or the person wants every note reviewed first; Busy when the brain is in use for too long. What was written
    before stays, and importing again goes on from there.
    """
    _refuse_own_notes(brain, path)
    _refuse_unreviewed(brain)
    write = Writer(brain, identity.whoami(brain), now)
    write.take_up()
    shelf = BrainShelf(brain.root, brain.folders)
    settings = Settings(kind, brain.folders, brain.config.key, now, content_of(brain).check)
    return run(path, settings, shelf=shelf, write=write, progress=progress)


def _refuse_own_notes(brain: Brain, path: Path) -> None:
    source, root = os.path.realpath(path) + os.sep, os.path.realpath(brain.root)
    for folder in naming.places(brain.folders):
        own = os.path.join(root, folder) + os.sep
        if own.startswith(source) or source.startswith(own):
            raise Refused(
                f"{path} holds this brain's own notes ({folder}/).",
                hint="A folder of the brain is not imported: its files are notes already.",
            )


def _refuse_unreviewed(brain: Brain) -> None:
    mode = review_mode(brain)
    if mode != "auto":
        raise Refused(
            f"This brain reviews notes first (review: {mode}), and an import would pass that by.",
            hint="Import into a clone with `review: auto` on a branch, and let the team review its commits.",
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """How an import is done.

    `kind` is `markdown`, `adr` or `sqlite`; None finds out file by file. `key` is the brain's, `now` the
    time that counts for sources that say none.
    """

    kind: str | None
    folders: Mapping[str, str]
    key: str
    now: str
    check: Check | None = None


def run(
    path: Path, settings: Settings, *, shelf: Shelf, write: Write, progress: Progress | None = None
) -> ImportReport:
    """Import the folder or file at `path` and say what became of every file.

    Raises Refused where there is nothing to import from, Usage for another kind, and whatever `write` raises; what
    was written before stays.
    """
    planned = plan(path, settings, shelf=shelf)
    total = len(planned.changes)
    for start in range(0, total, BATCH):
        if progress:
            progress(start, total)
        batch = planned.changes[start : start + BATCH]
        some = f" ({start + 1}-{start + len(batch)} of {total})" if total > BATCH else ""
        left = write(batch, f"Import {len(batch)} {'note' if len(batch) == 1 else 'notes'}{some}")
        planned = planned.without(left)
        fault("import-batch")
    return planned.report


def plan(path: Path, settings: Settings, *, shelf: Shelf) -> Plan:
    """What importing the folder or file at `path` would change in the brain. Nothing is written."""
    if settings.kind is not None and settings.kind not in SOURCES:
        raise Usage(f"{settings.kind!r} is no kind of source.", hint=f"Choose one of {', '.join(SOURCES)}.")
    known = Imported(shelf, settings.folders)
    tally = _Tally()
    if settings.kind == import_records.KIND or (settings.kind is None and import_sqlite.is_database(path)):
        found = import_sqlite.read(path)
        roots = import_sqlite.roots(path, settings.key)
        _Group(settings, Gathered((), roots=roots), known, tally).plan_rows(found)
    else:
        for gathered in gather(path, key=settings.key, is_known=lambda *source: known.kind_of(*source) is not None):
            tally.skipped += gathered.skipped
            _Group(settings, gathered, known, tally).plan()
    changes = tuple(tally.changes)
    skipped, doubts = _masked(tally.skipped), _masked(tally.doubts)
    report = ImportReport(len(changes), tally.unchanged, skipped, tally.updated, tally.kinds, doubts)
    return Plan(changes, report, tally.sources)


def _masked(items: Sequence[Skipped]) -> tuple[Skipped, ...]:
    masked = (Skipped(secrets.mask(item.path), secrets.mask(item.reason)) for item in items)
    return tuple(sorted(masked, key=lambda item: item.path))


@dataclass(slots=True)
class _Tally:
    """What is found of all files so far."""

    changes: list[Change] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    doubts: list[Skipped] = field(default_factory=list)
    updated: int = 0
    unchanged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    sources: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Slot:
    """The place of one source in the brain: the end of its note's id, and the note that was made of it before.

    `is_twin`: that note was made of the same text from another root, and stands for both.
    """

    path: str
    short: str
    text: str
    held: Held | None = None
    is_twin: bool = False


@dataclass(slots=True)
class _Group:
    """The planning for the files of one folder."""

    settings: Settings
    gathered: Gathered
    known: Imported
    tally: _Tally
    slots: dict[str, _Slot] = field(default_factory=dict)

    def plan(self) -> None:
        for note in self._notes(self._sources()):
            slot = self.slots[note.id]
            if self._is_wanted(slot.path):
                self._place(note, slot)

    def plan_rows(self, found: import_sqlite.Rows) -> None:
        """The same for the rows of a database."""
        self.tally.skipped += found.skipped
        drafts = []
        for row in found.rows:
            if reason := import_records.secret_in(row):
                self._skip(row.path, reason)
                continue
            slot = self._slot(import_records.KIND, row.path, text_hash(import_records.fingerprint(row)))
            if isinstance(slot, str):
                self._skip(row.path, slot)
                continue
            drafted = import_records.draft(row, self._origin(slot))
            drafts.append(replace(drafted, note=self._named(drafted.note, slot)))
        for drafted, note, doubts in import_records.linked(drafts):
            self.tally.doubts += [Skipped(drafted.row.path, doubt) for doubt in doubts]
            self._place(note, self.slots[note.id])

    def _is_wanted(self, path: str) -> bool:
        wanted = self.gathered.wanted
        return wanted is None or unicodedata.normalize("NFC", path) in wanted

    def _skip(self, path: str, reason: str) -> None:
        if self._is_wanted(path):
            self.tally.skipped.append(Skipped(self.gathered.shown(path), reason))

    def _sources(self) -> list[tuple[Foreign, str]]:
        """The files that can be read and hold no secret, each with the hash of its text."""
        sources = []
        for name, data in self.gathered.files:
            path = unicodedata.normalize("NFC", name)
            try:
                text = codec.decode(data, path)
                source = foreign.read(text, path)
            except BadNote as error:
                self._skip(name, reason_of(error))
                continue
            if found := (*allowed.scan(name, "its path"), *allowed.scan(text, "the file")):
                self._skip(name, f"secret: {found[0].rule} in {found[0].where}")
                continue
            sources.append((source, text_hash(text.removeprefix("\ufeff"))))
        return sources

    def _notes(self, sources: Sequence[tuple[Foreign, str]]) -> Iterator[Note]:
        records: list[adr.Record] = []
        kinds = self._kinds([source for source, _ in sources])
        for source, text in sources:
            is_adr = kinds[source.path] == "adr"
            if is_adr and (reason := adr.unfit(source)):
                self._skip(source.path, reason)
                continue
            kind = "adr" if is_adr and adr.is_record(source) else "markdown"
            slot = self._slot(kind, source.path, text)
            if isinstance(slot, str):
                self._skip(source.path, slot)
                continue
            origin = self._origin(slot)
            if kind == "adr":
                record = adr.record(source, origin)
                records.append(replace(record, note=self._named(record.note, slot)))
            else:
                yield self._named(foreign.note(source, origin), slot)
        yield from adr.link(records)

    def _kinds(self, sources: Sequence[Foreign]) -> Mapping[str, str]:
        """What each source is, by path: as it was said, as it was taken before, or as its folder shows it."""
        if self.settings.kind:
            return dict.fromkeys((source.path for source in sources), self.settings.kind)
        folders: defaultdict[str, list[Foreign]] = defaultdict(list)
        for source in sources:
            folders[source.path.rpartition("/")[0]].append(source)
        adrs = frozenset[str]().union(*map(adr.records_among, folders.values()))
        found = {source.path: "adr" if source.path in adrs else "markdown" for source in sources}
        return {path: self.known.kind_of(self.gathered.roots, path) or kind for path, kind in found.items()}

    def _slot(self, kind: str, path: str, text: str) -> _Slot | str:
        """The place of a source's note, or why it has none."""
        roots = self.gathered.roots
        if ours := self.known.of(kind, roots, path):
            return _Slot(path, ours.short, text, ours)
        first, second = short_ids(kind, roots[0], path)
        there = self.known.at(first)
        for held in there:
            if held.bad:
                return f"its note {reason_of(held.bad)}"
            if held.is_from(kind, path) and digests(held)[0] == text:
                return _Slot(path, first, text, held, is_twin=True)
        if not there:
            return _Slot(path, first, text)
        if taken := self.known.at(second):
            return f"the note {naming.stem(taken[0].path)} has its name and was not imported from it"
        return _Slot(path, second, text)

    def _origin(self, slot: _Slot) -> Origin:
        """What is known of a source beside its text: a note keeps the day that it once got."""
        repository = self.gathered.roots[0].repository
        there = slot.held.note if slot.held else None
        if there and there.created_at:
            return Origin(slot.short, repository, there.created_at, bool(there.valid_from or there.valid_until))
        seen = self.gathered.seen.get(slot.path)
        return Origin(slot.short, repository, seen or self.settings.now, seen is not None)

    def _named(self, note: Note, slot: _Slot) -> Note:
        """The note under the id that it has in the brain, whatever its title or date has become."""
        if slot.held:
            note = replace(note, id=naming.stem(slot.held.path))
        self.slots[note.id] = slot
        return note

    def _place(self, note: Note, slot: _Slot) -> None:
        """Decide what the note of one source means for the brain."""
        kind = note.source.kind if note.source else ""
        path = slot.held.path if slot.held else self._new_path(note)
        outcome = _against(slot, note)
        if outcome == _UNCHANGED:
            self.tally.unchanged += 1
            self.tally.kinds[kind] += 1
            return
        extra = {**note.extra, ROOT: self.gathered.roots[0].name, DIGEST: f"{slot.text}-{made_of(note)}"}
        try:
            data = codec.to_bytes(replace(note, extra=extra), path)
        except BrainError as error:
            self._skip(slot.path, f"its note {reason_of(error)}" if isinstance(error, BadNote) else error.message)
            return
        check = self.settings.check
        if reason := outcome or (check(path, data) if check else None):
            self._skip(slot.path, reason)
            return
        self.tally.changes.append(Change(path, data, slot.held.data if slot.held else None))
        self.tally.sources[path] = (secrets.mask(self.gathered.shown(slot.path)), kind)
        self.tally.updated += slot.held is not None
        self.tally.kinds[kind] += 1
        self.known.put(slot.short, path, data)

    def _new_path(self, note: Note) -> str:
        return naming.note_path(note.kind, note.id, note.created_at or self.settings.now, self.settings.folders)


_UNCHANGED = "unchanged"


def _against(slot: _Slot, note: Note) -> str | None:
    """Why the note that is there stays as it is; None if there is none, or if the source may replace it."""
    if slot.held is None or slot.held.note is None:
        return None
    text, made = digests(slot.held)
    if slot.is_twin or made == made_of(note):
        return _UNCHANGED
    if made_of(slot.held.note) == made:
        return None
    if text == slot.text:  # edited here, and only here
        return _UNCHANGED
    return f"changed at the source, and the note {slot.held.note.id} was edited here since it was imported"
