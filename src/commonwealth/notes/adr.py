"""Decision records of other tools: Nygard's form with a Status section, MADR's with frontmatter.

What replaces what is only known once all records are read: `record` reads one, `link` joins them.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from commonwealth.model import Note, Source
from commonwealth.notes import foreign, naming, prose, sections
from commonwealth.notes.foreign import Foreign, Origin

_DECIDERS = ("deciders", "decision-makers", "decision_makers", "decisionMakers")
_SECTION = re.compile(
    r"^#{2,3}[ \t]+(decision|context|considered options|consequences)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[`~]*[ \t]*\r?$", re.MULTILINE | re.DOTALL)
_DECIDED = re.compile(r"(?i)(?:\d+[.)]?[ \t]+)?(?:the[ \t]+)?decision\b(?![ \t]+(?:drivers?|makers?))")
_WHY = re.compile(r"(?i)(?:\d+[.)]?[ \t]+)?(?:context|problem)\b")
_STATUS_SECTION = re.compile(r"(?ims)^#{1,6}[ \t]+status[ \t]*:?[ \t]*\r?\n(.*?)(?=^#|\Z)")
_STATUS_LINE = re.compile(r"(?im)^[ \t>*-]{0,4}(?:\*\*|__)?status(?:\*\*|__)?:(?:\*\*|__)?[ \t]*(\S.*)$")
_FIRST_SECTION = re.compile(r"^##", re.MULTILINE)
_TABLES = frozenset(("index", "readme", "toc", "contents", "summary", "_index", "overview"))

_STATUSES: Mapping[str, str] = {
    **dict.fromkeys(("accepted", "approved", "adopted", "agreed", "decided", "active", "final"), "decision"),
    **dict.fromkeys(("implemented", "done", "ratified", "valid", "partly", "partially", "amended"), "decision"),
    **dict.fromkeys(("superseded", "superceded", "deprecated", "obsolete", "retired", "replaced"), "superseded"),
    **dict.fromkeys(("rejected", "declined", "withdrawn", "abandoned", "cancelled", "canceled"), "retracted"),
}
"""The first word of a status. Any other (proposed, pending, on hold, …) says no decision: a hypothesis."""

_PART = re.compile(r"(?i)\b(?:part(?:ly|ially)?|in part)\b")
_CLOSED_BY = re.compile(r"(?i)\b(?:super(?:sed|ced|ceed|seed)ed|replaced|obsoleted)\b.*\bby\b")
_CLOSES = re.compile(r"(?i)\b(?:super(?:sed|ced|ceed|seed)es|replaces|obsoletes)\b")
_RELATES = re.compile(r"\b(?:super[sc]e+d|amend|replac|clarif|extend|relate|link|refine|depend|see)", re.IGNORECASE)
_TARGET = re.compile(
    r"\]\(\s*<?(?P<file>[^)>\s#]+\.(?:md|markdown))[^)]*\)"
    r"|\[\[(?P<wiki>[^\]|#]+)[^\]]*\]\]"
    r"|\b(?:ADR|adr)[- #]{0,3}(?P<number>\d{1,5})\b",
)


def unfit(source: Foreign) -> str | None:
    """Why a file of an ADR folder is no decision and no note: a template, a table of contents; else None."""
    stem = naming.stem(source.path).lower()
    name = foreign.heading(source.body) or ""
    if "template" in stem or name.startswith(("{", "[short", "<")):
        return "a template, not a decision"
    if stem in _TABLES and foreign.number_of(source) is None:
        return "a table of contents, not a decision"
    return None


def is_record(source: Foreign) -> bool:
    """Whether a file has a decision record's number or sections."""
    return foreign.number_of(source) is not None or _SECTION.search(source.body) is not None


def records_among(sources: Sequence[Foreign]) -> frozenset[str]:
    """The paths of the decision records among the files of one folder, templates and tables of contents included.

    There are some where most of the numbered files have a record's parts; beside those, a file without a number
    is one only if it has a record's parts as well.
    """
    real = [source for source in sources if unfit(source) is None]
    numbered = [source for source in real if foreign.number_of(source) is not None]
    if sum(map(_has_parts, numbered)) * 2 <= len(numbered):
        return frozenset()
    lone = [source for source in real if source not in numbered and _has_parts(source)]
    rest = [source for source in sources if source not in real]
    return frozenset(source.path for source in (*numbered, *lone, *rest))


def _has_parts(source: Foreign) -> bool:
    """Whether a file has two parts of a record: what was decided, why, what else was possible, its status."""
    text = _CODE.sub("", source.body)
    parts = {match[1].split()[0].lower() for match in _SECTION.finditer(text)}
    return len(parts) + bool(source.values.get("status") or _status_text(text)) >= 2


@dataclass(frozen=True, slots=True)
class Record:
    """One decision, and the targets as written of what it says about others."""

    note: Note
    path: str
    closed_by: tuple[str, ...]
    closes: tuple[str, ...]
    relates: tuple[str, ...]


def record(source: Foreign, origin: Origin) -> Record:
    """The decision of one record. The status as written stays in `extra` under `adr_status`."""
    fields = foreign.Fields(source.values)
    text = _CODE.sub("", source.body)
    title = foreign.title_of(source, fields, numbered=True)
    told = foreign.date_of(source, fields) or (origin.day if origin.told else None)
    date = told or origin.day
    said = fields.first(("status",), foreign.text) or _status_text(text)
    closed_by, closes, relates = _relations(said, text)
    status = "superseded" if closed_by else _status(said)
    retracted = status == "retracted"
    deciders = fields.listed(_DECIDERS)
    summary = fields.first(foreign.SUMMARY, foreign.text) or _summary(source.body)
    tags = foreign.tags_of(source, fields)
    return Record(
        Note(
            id=naming.new_id(title, date, origin.short),
            kind="decision",
            title=title,
            body=source.body,
            type="decision",
            summary=summary,
            status=status,
            created_at=date,
            observed_at=date,
            valid_from=told,
            retracted_at=date if retracted else None,
            retract_reason=_one_line(said) if retracted else None,
            repository=origin.repository,
            tags=tags,
            deciders=deciders,
            number=foreign.number_of(source),
            source=Source("adr", source.path),
            extra={**({"adr_status": _one_line(said)} if said else {}), **fields.rest()},
        ),
        source.path,
        closed_by,
        closes,
        relates,
    )


def _summary(body: str) -> str | None:
    """What was decided in a few words: the first paragraph of that section, else of the context, else of all."""
    parts = sections.sections(body)
    for wanted in (_DECIDED, _WHY):
        for at, part in enumerate(parts):
            if part.level and wanted.match(part.title):
                text = part.content + _below(parts[at + 1 :], part.level)
                if found := prose.first_paragraph(text, or_list=True):
                    return found
    return prose.first_paragraph(body)


def _below(parts: Sequence[sections.Section], level: int) -> str:
    """The text of the sections that belong to one of `level` before them."""
    return "".join(part.text for part in itertools.takewhile(lambda part: part.level > level, parts))


def _status_text(text: str) -> str:
    """The text of the Status section, else of a `Status:` line above the sections; empty if there is none."""
    if section := _STATUS_SECTION.search(text):
        return section[1].strip()
    end = _FIRST_SECTION.search(text)
    line = _STATUS_LINE.search(text, 0, end.start() if end else len(text))
    return line[1].strip() if line else ""


def _status(said: str) -> str:
    """A record that says no status stands: it is a decision."""
    word = re.search(r"[^\W\d_]+", said)
    if word is None:
        return "decision"
    return _STATUSES.get(word[0].lower(), "hypothesis")


def _one_line(said: str) -> str:
    return " ".join(said.split())[:300]


def _relations(said: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The targets that close this record, that it closes, and that it only touches.

    Only the status closes: elsewhere in the text, and wherever it is "in part", both records stay true.
    """
    closed_by: list[str] = []
    closes: list[str] = []
    relates: list[str] = []
    for line in said.splitlines():
        whole = not _PART.search(line)
        closed, closing = whole and _CLOSED_BY.search(line), whole and _CLOSES.search(line)
        into = closed_by if closed else closes if closing else relates
        into += _targets(line, numbers=True) or (["?"] if closed else [])
    for line in text.splitlines():
        if _RELATES.search(line) and line.strip() not in said:
            relates += _targets(line, numbers=False)
    return tuple(closed_by), tuple(closes), tuple(relates)


def _targets(line: str, *, numbers: bool) -> list[str]:
    """The files, wiki names and, if wanted, numbers (`#12`) that a line points to."""
    found = []
    for match in _TARGET.finditer(line):
        if match["number"] is None:
            found.append(match["file"] or match["wiki"])
        elif numbers:
            found.append(f"#{int(match['number'])}")
    return found


# records that know each other


class _Lookup:
    """Finds the note that a link means: by path, by the file's name, by number, where that is unique."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._ids = {record.path: record.note.id for record in records}
        names = [(posixpath.basename(path), note_id) for path, note_id in self._ids.items()]
        stems = [(naming.stem(name), note_id) for name, note_id in names]
        numbers = [(f"#{int(r.note.number)}", r.note.id) for r in records if r.note.number]
        pairs = (*names, *stems, *numbers)
        counts = Counter(name for name, _ in pairs)
        self._unique = {name: note_id for name, note_id in pairs if counts[name] == 1}

    def find(self, target: str, path: str) -> str | None:
        target = unquote(target)
        near = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return self._ids.get(near) or self._unique.get(posixpath.basename(target))

    def all(self, targets: tuple[str, ...], record: Record) -> Iterator[str]:
        for target in dict.fromkeys(targets):
            found = self.find(target, record.path)
            if found and found != record.note.id:
                yield found


def link(records: Sequence[Record]) -> list[Note]:
    """The notes of `records`, each closed by what replaces it, from the replacement's values alone."""
    lookup = _Lookup(records)
    notes = {record.note.id: record.note for record in records}
    closing: dict[str, str] = {}  # the closed one to its replacement
    related: dict[str, list[str]] = {note_id: [] for note_id in notes}
    for record in records:
        replacements = list(lookup.all(record.closed_by, record))
        if replacements:
            closing.setdefault(record.note.id, replacements[0])
        related[record.note.id] += replacements[1:]
    for record in records:
        for old in lookup.all(record.closes, record):
            if closing.setdefault(old, record.note.id) != record.note.id:
                related[record.note.id].append(old)
        related[record.note.id] += lookup.all(record.relates, record)
    _break_circles(closing)
    return [_joined(note, notes, closing, related[note.id]) for note in notes.values()]


def _break_circles(closing: dict[str, str]) -> None:
    """Forget the last link of every circle: two records cannot replace each other."""
    for start in list(closing):
        seen, here = {start}, closing.get(start)
        while here is not None and here not in seen:
            seen.add(here)
            here = closing.get(here)
        if here == start:
            del closing[start]


def _joined(note: Note, notes: Mapping[str, Note], closing: Mapping[str, str], related: list[str]) -> Note:
    closes = tuple(old for old, new in closing.items() if new == note.id)
    by = closing.get(note.id)
    relates = tuple(dict.fromkeys(other for other in related if other not in closes and other != by))
    note = replace(note, supersedes=closes, relates=relates)
    if by is None:
        return note
    until = notes[by].valid_from
    after = note.valid_from if until is None or (note.valid_from or "") < until else None
    return replace(
        note, status="superseded", superseded_by=by, superseded_at=until, valid_until=until, valid_from=after
    )
