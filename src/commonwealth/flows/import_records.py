"""A row of a memory database as a note. docs/import.md says which column becomes what.

Nothing is lost on the way: what no field of a note takes over, or takes over with a change, stays in `extra`, or at the
end of the body where it is too long for a frontmatter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from commonwealth.flows import allowed
from commonwealth.flows.import_cells import (
    MAX_BODY,
    Cell,
    Cells,
    Row,
    fits,
    leaves,
    listed,
    normal,
    parsed,
    put,
    scalar,
)
from commonwealth.model import TYPES, Extra, Note, Provenance, Source
from commonwealth.notes import naming, schema, strictyaml, yamlwrite
from commonwealth.notes.foreign import Origin

KIND: Final = "sqlite"


_TITLE = 300
_FRONT = 12 * 1024  # bytes of what is kept in the frontmatter
_KEYS = strictyaml.MAX_KEYS - 2  # a root and a digest are added

_TIMES = ("created_at", "updated_at", "observed_at", "valid_from", "valid_until", "superseded_at", "retracted_at")
_WORK_TIMES = ("started_at", "completed_at", "lease_until")
_TEXTS = ("summary", "retract_reason", "repository", "author", "number")
_WORK_TEXTS = ("owner", "agent", "branch")
_ORIGIN = schema.SUB_KEYS["provenance"]
_ORIGIN_ONLY = ("human", "agent", "branch", "commit", "pull_request", "issue", "files", "urls", "evidence", "session")


@dataclass(frozen=True, slots=True)
class Drafted:
    """The note of a row with its links still as the database has them, and what could not be read of it.

    `said` are the cells of the links with the keys that they are kept under where a link leads nowhere.
    """

    row: Row
    note: Note
    links: Mapping[str, tuple[str, ...]]
    said: Mapping[str, tuple[str, Cell]]
    doubts: tuple[str, ...] = ()
    kept: Mapping[str, Extra] = field(default_factory=dict)


def texts(row: Row) -> Iterator[tuple[str, str]]:
    """Every text of a row with its column, also those inside JSON as they read without escapes."""
    for column, cell in row.cells.items():
        if isinstance(cell, str):
            yield column, cell
            if (found := parsed(cell)) is not None:
                yield column, json.dumps(found, ensure_ascii=False)
                for item in leaves(found):
                    yield column, item


def secret_in(row: Row) -> str | None:
    """Why a row is not imported that holds a secret: the column and the rule, never the value."""
    for column, text in (("id", row.path), *texts(row)):
        found = allowed.scan(text, column) or allowed.scan(f"{column}: {text}", column)
        if found:
            return f"secret: {found[0].where} ({found[0].rule})"
    return None


def fingerprint(row: Row) -> str:
    """All that a row says, as one text."""
    return repr(sorted(row.cells.items()))


def draft(row: Row, origin: Origin) -> Drafted:
    """What a row says as a note, which has its final id and whose links are still to be set."""
    cells = Cells(row)
    values = _times_and_texts(cells)
    values.update(_choices(cells, is_done="completed_at" in values))
    for key in ("components", "deciders", *(("files",) if row.is_work else ())):
        values[key] = cells.listed(key)
    values["tags"] = cells.tags()
    body = cells.text("body", MAX_BODY) or ""
    title = _title(cells, values.get("summary"), body)
    values["provenance"] = _provenance(cells, is_work=row.is_work)
    links = {key: cells.listed(key) for key in ("superseded_by", "supersedes", "relates")}
    values.setdefault("created_at", values.get("observed_at") or values.get("started_at") or origin.day)
    note_id = naming.new_id(title, values["created_at"], origin.short)
    note = Note(id=note_id, title=title, body=body, source=Source(KIND, row.path), **values)
    said = {key: found for key in links if (found := cells.said(key))}
    return Drafted(row, note, links, said, tuple(cells.doubts), cells.rest())


def _times_and_texts(cells: Cells) -> dict[str, Any]:
    is_work = cells.row.is_work
    times = (*_TIMES, *(_WORK_TIMES if is_work else ()))
    texts = (*_TEXTS, *(_WORK_TEXTS if is_work else ()))
    found = {**{key: cells.time(key) for key in times}, **{key: cells.text(key) for key in texts}}
    return {key: value for key, value in found.items() if value}


def _choices(cells: Cells, *, is_done: bool) -> dict[str, str]:
    """Kind, type, status and confidence; what a row does not say is the default of its kind."""
    kind = _kind(cells)
    note_type = cells.choice("type", TYPES) or _type_of_kind(cells, kind)
    if note_type == "decision" and kind == "memory":
        kind = "decision"
    note_type = note_type or schema.default(kind, "type")
    default = "completed" if is_done else schema.default(kind, "status", note_type)
    statuses, confidences = schema.choices(kind, "status"), schema.choices(kind, "confidence")
    return {
        "kind": kind,
        "type": note_type,
        "status": cells.choice("status", statuses, default) or default,
        "confidence": cells.choice("confidence", confidences, "medium") or "medium",
    }


def linked(drafts: Sequence[Drafted]) -> Iterator[tuple[Drafted, Note, tuple[str, ...]]]:
    """Each note with its links translated, and every doubt about it: a link to no row stays as it was.

    An id means the row of its own table first, then one of another. Where only the old row names its replacement, the
    new note gets the link too, as it is the replacement that closes a note.
    """
    own = {(drafted.row.table, drafted.row.name): drafted.note.id for drafted in drafts}
    every: dict[str, str] = {}
    for drafted in drafts:
        every.setdefault(drafted.row.name, drafted.note.id)
        every.setdefault(drafted.row.path, drafted.note.id)

    def found(drafted: Drafted, key: str) -> dict[str, str | None]:
        ids = {name: own.get((drafted.row.table, name)) or every.get(name) for name in drafted.links[key]}
        return {name: None if note_id == drafted.note.id else note_id for name, note_id in ids.items()}

    replaced: dict[str, list[str]] = {}
    for drafted in drafts:
        for target in filter(None, found(drafted, "superseded_by").values()):
            replaced.setdefault(target, []).append(drafted.note.id)
    for drafted in drafts:
        note, doubts = _with_links(drafted, {key: found(drafted, key) for key in drafted.links}, replaced)
        yield drafted, note, doubts


def _with_links(
    drafted: Drafted, links: Mapping[str, Mapping[str, str | None]], replaced: Mapping[str, Sequence[str]]
) -> tuple[Note, tuple[str, ...]]:
    kept, doubts = dict(drafted.kept), list(drafted.doubts)
    ids: dict[str, tuple[str, ...]] = {}
    for key, said in links.items():
        ids[key] = tuple(dict.fromkeys(filter(None, said.values())))
        lost = [name for name, note_id in said.items() if note_id is None]
        if lost or (key == "superseded_by" and len(ids[key]) > 1):
            put(kept, *drafted.said[key])
        if lost:
            doubts.append(f"{key}: no other row has the id {lost[0][:60]!r}; kept in {drafted.said[key][0]}")
    note = replace(
        drafted.note,
        superseded_by=next(iter(ids["superseded_by"]), None),
        supersedes=tuple(dict.fromkeys((*ids["supersedes"], *replaced.get(drafted.note.id, ())))),
        relates=ids["relates"],
    )
    extra, tail = _fitted(note, kept)
    return replace(note, extra=extra, body=note.body + tail), tuple(doubts)


def _kind(cells: Cells) -> str:
    is_work = cells.row.is_work
    for column, cell in cells.each("kind"):
        if cell in (("work-state",) if is_work else ("memory", "decision")):
            cells.take(column)
            return str(cell)
    return "work-state" if is_work else "memory"


def _type_of_kind(cells: Cells, kind: str) -> str | None:
    """The type, where a database says it in its column `kind`."""
    for column, cell in cells.each("kind"):
        if cell in TYPES and kind != "work-state":
            cells.take(column)
            return str(cell)
    return None


def _title(cells: Cells, summary: str | None, body: str) -> str:
    """The title said, cut where it is too long; else the first heading or line of the text; else the row's id."""
    for column, cell in cells.each("title"):
        said = scalar(cell)
        title = " ".join(said.split())[:_TITLE].strip() if said else ""
        if title:
            if title == said:
                cells.take(column)
            return title
        cells.empty(column, cell)
    line = next((line.strip() for line in (summary or body).splitlines() if line.strip()), "")
    return (schema.first_heading(body) or " ".join(line.split()) or cells.row.path)[:_TITLE].strip()


def _provenance(cells: Cells, *, is_work: bool) -> Provenance:
    """The JSON object of the column, else flat columns, with or without `provenance_` before their names."""
    known: dict[str, Any] = {}
    extra: dict[str, Extra] = {}
    for name, value in cells.mapping("provenance").items():
        key = {"pr": "pull_request"}.get(normal(name), normal(name))
        how = _ORIGIN.get(key)
        found = listed(value) if how == schema.LIST else scalar(value)
        if how is not None and found and key not in known:
            known[key] = found
        elif value is not None:
            extra[f"source_{name}" if name in _ORIGIN else name] = value if fits(value, 2) else json.dumps(value)
    for key in _ORIGIN:
        if key in known:
            continue
        take = cells.listed if _ORIGIN[key] == schema.LIST else cells.text
        found = take(key, prefix="provenance_")
        is_taken = is_work and key in ("agent", "branch", "files")
        if not found and key in _ORIGIN_ONLY and not is_taken:
            found = take(key)
        if found:
            known[key] = found
    return Provenance(extra=extra, **known)


def _fitted(note: Note, kept: Mapping[str, Extra]) -> tuple[dict[str, Extra], str]:
    """What is kept, as far as a frontmatter holds it, and the rest as sections for the end of the body."""
    extra = dict(kept)
    while _keys(schema.fields(replace(note, extra=extra))) > _KEYS:
        most = max(extra, key=lambda key: _keys(extra[key]), default=None)
        if most is None or not _keys(extra[most]):
            break
        extra[most] = json.dumps(extra[most], ensure_ascii=False)
    over = _keys(schema.fields(replace(note, extra=extra))) - _KEYS
    sizes = {key: len(yamlwrite.entry(key, value).encode("utf-8")) for key, value in extra.items()}
    tail = ""
    while sizes and (sum(sizes.values()) > _FRONT or over > 0):
        over -= 1
        largest = max(sizes, key=lambda key: sizes[key])
        del sizes[largest]
        value = extra.pop(largest)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
        tail += f"\n\n## {' '.join(largest.split())}\n\n{fence}\n{text}\n{fence}\n"
    return extra, tail


def _keys(value: Extra) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_keys, value.values()))
    return sum(map(_keys, value)) if isinstance(value, list) else 0
