"""The JSON that others build on: notes, hits and receipts as the CLI's `--json` and the MCP tools spell them.

Names are camelCase; empty fields are left out, except in a receipt, whose six fields are always there.
Values are exact: whoever shows them to a model or on a terminal cleans them first (`cleaned`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, TypeAlias

from commonwealth.model import Hit, Note, Receipt, goes_without_saying
from commonwealth.safetext import clean

if TYPE_CHECKING:
    from commonwealth.flows.brief import Brief
    from commonwealth.flows.past import Moment
    from commonwealth.flows.recall import Reading, SearchResult
    from commonwealth.flows.work import Started, WorkFound, WorkHit
    from commonwealth.repo.history import Version

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

_NESTED = ("provenance", "reviewed", "source", "verified")
_LAST = ("body", "extra")


def camel(name: str) -> str:
    """The wire's spelling of a snake_case name: `observed_at` is `observedAt`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def note_json(note: Note, path: str | None = None, *, body: bool = True) -> JsonObject:
    """A note as JSON: its frontmatter in canonical order, then `extra`, `body` and `path`.

    Choices that say nothing in a note of its kind (the `type` of a work record) are left out. `extra` holds the keys
    that this version does not know, as they were read.
    """
    shown: JsonObject = {}
    for field in fields(Note):
        if field.name not in _LAST and not goes_without_saying(note, field.name):
            value = getattr(note, field.name)
            _put(shown, field.name, _record(value) if field.name in _NESTED else value)
    _put(shown, "extra", _plain(note.extra))
    if body:
        shown["body"] = note.body
    _put(shown, "path", path)
    return shown


def hit_json(hit: Hit) -> JsonObject:
    """One search result: the note without its body, `score`, `why` and `snippet`."""
    shown = note_json(hit.note, hit.path, body=False)
    shown["score"] = float(f"{hit.score:.4g}")
    shown["why"] = list(hit.why)
    shown["snippet"] = hit.snippet
    return shown


def search_json(result: SearchResult) -> JsonObject:
    """`search --json`: `results`, `total` (before the limit), `tookMs`, and `warnings` if there are any; `asOf` where
    an earlier time was asked for."""
    shown: JsonObject = {
        "results": [hit_json(hit) for hit in result.hits],
        "total": result.total,
        "tookMs": round(result.took_ms, 2),
    }
    _put(shown, "warnings", result.warnings)
    _put(shown, "as_of", _moment(result.then))
    return shown


def _moment(then: Moment | None) -> JsonObject | None:
    """The commit that answered, and the instant that counted as now."""
    return None if then is None else {"commit": then.commit, "at": then.at}


def work_hit_json(hit: WorkHit) -> JsonObject:
    """A work record without its body, `overlap` (why it touches what was asked about), `stale`, `score`, and `labels`
    where a reader should know more."""
    shown = note_json(hit.note, hit.path, body=False)
    shown["overlap"] = list(hit.overlap)
    shown["stale"] = hit.stale
    shown["score"] = float(f"{hit.score:.4g}")
    _put(shown, "labels", hit.labels)
    return shown


def work_found_json(found: WorkFound) -> JsonObject:
    """`work search --json`: `results`, the likeliest to matter first, and `total` before the limit."""
    return {"results": [work_hit_json(hit) for hit in found.results], "total": found.total}


def started_json(started: Started) -> JsonObject:
    """The receipt of announced work and, as `overlaps`, the records of others that touch the same."""
    return {**receipt_json(started.receipt), "overlaps": [work_hit_json(hit) for hit in started.overlaps]}


def reading_json(reading: Reading) -> JsonObject:
    """One note with its `freshness`, `links`, `backlinks` and `history`, and `warnings` if there are any; `asOf` as in
    `search_json`."""
    note = reading.note
    shown = note_json(note, reading.path)
    shown["freshness"] = note.verified.result if note.verified else "unknown"
    shown["links"] = [_record(link) for link in reading.links]
    shown["backlinks"] = [_record(link) for link in reading.backlinks]
    shown["history"] = [_version(version) for version in reading.history]
    _put(shown, "warnings", reading.warnings)
    _put(shown, "as_of", _moment(reading.then))
    return shown


def _version(version: Version) -> JsonObject:
    shown: JsonObject = {
        "commit": version.commit,
        "at": version.at,
        "author": version.author,
        "subject": version.subject,
        "path": version.path,
    }
    if version.deleted:
        shown["deleted"] = True
    return shown


def brief_json(brief: Brief) -> JsonObject:
    """What is injected or recalled: the text, its tokens, the notes in it and those left out, with why; `reason` where
    no note was looked at, `against` where an edit seems to contradict some."""
    shown: JsonObject = {
        "text": brief.text,
        "tokens": brief.tokens,
        "notes": [{"id": note, "why": why} for note, why in brief.notes],
        "left": [{"id": note, "reason": reason} for note, reason in brief.left],
    }
    if brief.reason:
        shown["reason"] = brief.reason
    if brief.against:
        shown["against"] = list(brief.against)
    return shown


def receipt_json(receipt: Receipt) -> JsonObject:
    """The answer of a write or sync; the fields of batches and syncs only where they are set."""
    shown: JsonObject = {
        "state": receipt.state,
        "ids": list(receipt.ids),
        "commit": receipt.commit,
        "reason": receipt.reason,
        "warnings": list(receipt.warnings),
        "next": receipt.next,
    }
    if receipt.items:
        shown["items"] = [{"id": item.id, "state": item.state, "reason": item.reason} for item in receipt.items]
    for name in ("pulled", "pushed"):
        count: int | None = getattr(receipt, name)
        if count is not None:
            shown[name] = count
    for name in ("conflicts", "dropped"):
        ids: tuple[str, ...] | None = getattr(receipt, name)
        if ids is not None:
            shown[name] = list(ids)
    return shown


def cleaned(value: Json) -> Json:
    """`value` with every text in it made safe to show (`safetext.clean`), names of fields included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(name): cleaned(item) for name, item in value.items()}
    return value


def cleaned_object(value: JsonObject) -> JsonObject:
    """`cleaned` for an object."""
    return {clean(name): cleaned(item) for name, item in value.items()}


def _record(record: object) -> JsonObject:
    """A frozen dataclass of ours as an object without its empty fields; {} for None."""
    shown: JsonObject = {}
    for name in getattr(record, "__dataclass_fields__", ()):
        _put(shown, name, getattr(record, name))
    return shown


def _put(shown: JsonObject, name: str, value: object) -> None:
    plain = _plain(value)
    if plain is not None and plain not in ("", [], {}):
        shown[camel(name)] = plain


def _plain(value: object) -> Json:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")
