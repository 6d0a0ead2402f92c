"""The columns of a row of a memory database, by what they may mean, and their values as those of a frontmatter."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from commonwealth import timeline
from commonwealth.model import Extra
from commonwealth.notes import naming, schema, strictyaml

Cell: TypeAlias = str | int | float | bytes | bool | list[Any] | dict[str, Any] | None

MAX_BODY = 1 << 20
_LONGEST = 2_000  # characters of a text in the frontmatter, the title apart
_DEEPEST = strictyaml.MAX_DEPTH - 1
_LONG_KEY = 100
_SECONDS_END = 100_000_000_000  # larger numbers are milliseconds
_MILLISECONDS_END = 100_000_000_000_000
_DIGITS = re.compile(r"[0-9]{9,15}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[\s-]+")

_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title", "name", "subject"),
    "summary": ("summary", "description"),
    "body": ("body", "content", "details", "text"),
    "created_at": ("created_at", "created"),
    "updated_at": ("updated_at", "updated", "modified_at"),
    "observed_at": ("observed_at", "observed"),
    "valid_until": ("valid_until", "valid_to"),
    "lease_until": ("lease_until", "lease_expires_at", "expires_at"),
    "relates": ("relates", "relates_to", "related", "related_to", "related_ids"),
    "supersedes": ("supersedes", "supersedes_id", "supersedes_ids"),
    "superseded_by": ("superseded_by", "superseded_by_id"),
    "retract_reason": ("retract_reason", "retraction_reason"),
    "repository": ("repository", "repo"),
    "pull_request": ("pull_request", "pr"),
}
_ENVELOPES = ("data", "record", "json", "payload", "document")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: `path` names it in its database, `name` is its id, `cells` are its columns but for NULL."""

    path: str
    table: str
    name: str
    is_work: bool
    cells: Mapping[str, Cell]


def normal(column: str) -> str:
    """The name of a column in snake_case: `createdAt` and `Created At` are `created_at`."""
    return _NO_WORD.sub("_", _HUMP.sub("_", column.strip())).lower()


class Cells:
    """The cells of a row by the names of their columns, and which of them a field of the note has taken over."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.doubts: list[str] = []
        self._lists: dict[str, str] = {}
        self._taken: set[str] = set()
        self._cells = dict(row.cells)
        self._open()
        self._columns: dict[str, list[str]] = {}
        for column in self._cells:
            self._columns.setdefault(normal(column), []).append(column)
        self._taken |= {column for column in self._columns.get("id", ()) if scalar(self._cells[column]) == row.name}

    def _open(self) -> None:
        """A row that is an id and one JSON object has the keys of that object as columns."""
        names = {normal(column) for column in self._cells}
        if names & {"title", "summary", "body", "content", "details"}:
            return
        for column, cell in self.row.cells.items():
            found = parsed(cell) if normal(column) in _ENVELOPES and isinstance(cell, str) else None
            if isinstance(found, dict) and not names & {normal(key) for key in found if normal(key) != "id"}:
                del self._cells[column]
                self._cells |= {k: v for k, v in found.items() if k not in self._cells and v is not None}
                if "id" in found and scalar(found["id"]) != self.row.name:
                    self._cells[f"{column}_id"] = found["id"]
                return

    def each(self, key: str, prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """The cells that may be meant by a key of a note."""
        for name in _ALIASES.get(key, (key,)):
            for column in self._columns.get(prefix + name, ()):
                if column not in self._taken:
                    yield column, self._cells[column]

    def text(self, key: str, limit: int = _LONGEST, prefix: str = "") -> str | None:
        """A text or number that is not longer than `limit`."""
        for column, cell in self.each(key, prefix):
            found = scalar(cell)
            if found and found.strip() and len(found) <= limit:
                self._taken.add(column)
                return found
            self.empty(column, cell)
        return None

    def listed(self, key: str, prefix: str = "") -> tuple[str, ...]:
        """The items of a JSON list, or the text that stands for a list of one."""
        for column, cell in self.each(key, prefix):
            found = listed(cell)
            if found is not None and sum(map(len, found)) <= _LONGEST:
                self._taken.add(column)
                self._lists[key] = column
                return found
            self.empty(column, cell)
        return ()

    def said(self, key: str) -> tuple[str, Cell] | None:
        """The cell that a list was read from, and the key to keep it under."""
        column = self._lists.get(key)
        return None if column is None else (self.kept_as(column), self._cells[column])

    def tags(self) -> tuple[str, ...]:
        """The tags in normal form."""
        column = next((column for column, _ in self.each("tags")), None)
        said = self.listed("tags")
        found = tuple(dict.fromkeys(filter(None, map(naming.normal_tag, said))))
        if column and found != said:
            self._taken.discard(column)
        return found

    def time(self, key: str) -> str | None:
        """Canonical time of an ISO text, or of seconds or milliseconds since 1970."""
        for column, cell in self.each(key):
            found = _time(cell)
            if found:
                time, is_exact = found
                if is_exact:
                    self._taken.add(column)
                return time
            if not self.empty(column, cell):
                self.doubts.append(f"{column}: {str(cell)[:60]!r} is no time; kept in {self.kept_as(column)}")
        return None

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str | None:
        """One of the words `allowed`, however it is spelled; `default` is what counts where it is another."""
        for column, cell in self.each(key):
            said = scalar(cell) or ""
            word = _HUMP.sub("-", said.strip()).lower().replace("_", "-").replace(" ", "-")
            if word in allowed:
                if word == said:
                    self._taken.add(column)
                return word
            if not self.empty(column, cell):
                read = f"read as {default}; " if default else ""
                self.doubts.append(
                    f"{column}: {said[:60]!r} is not one of {', '.join(allowed)}; {read}kept in {self.kept_as(column)}"
                )
        return None

    def mapping(self, key: str) -> dict[str, Any]:
        """The JSON object of a column."""
        for column, cell in self.each(key):
            found = parsed(cell) if isinstance(cell, str) else cell
            if isinstance(found, dict) and len(json.dumps(found)) <= 2 * _LONGEST:
                self._taken.add(column)
                return found
            self.empty(column, cell)
        return {}

    def empty(self, column: str, cell: Cell) -> bool:
        """Take over a cell that says nothing."""
        if cell == "" or (isinstance(cell, str) and cell.strip() in ("[]", "{}", "null")):
            self._taken.add(column)
            return True
        return False

    def take(self, column: str) -> None:
        """A field of the note says what the column says."""
        self._taken.add(column)

    def kept_as(self, column: str) -> str:
        """The key under which a column is kept."""
        known = set(schema.KEYS) - (set() if self.row.is_work else schema.WORK_KEYS)
        is_ours = column in known or normal(column) in known or column in ("source_root", "source_digest")
        return f"source_{column}" if is_ours else column or "source_"

    def rest(self) -> dict[str, Extra]:
        """What no field took over; values that are JSON as values."""
        kept: dict[str, Extra] = {}
        for column, cell in self._cells.items():
            if column not in self._taken:
                put(kept, self.kept_as(column), cell)
        return kept


def put(kept: dict[str, Extra], key: str, cell: Cell) -> None:
    """Keep a cell under `key`, or under `key_2` where that is taken."""
    name, count = key, 1
    while name in kept:
        count += 1
        name = f"{key}_{count}"
    kept[name] = _extra(cell)


def scalar(cell: Cell) -> str | None:
    """The text of a text or number."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell) if isinstance(cell, int | float) else None


def listed(cell: Cell) -> tuple[str, ...] | None:
    """The items of a list of texts or numbers; a text that is no JSON list is one of itself."""
    found = parsed(cell) if isinstance(cell, str) else cell
    if not isinstance(found, list):
        text = scalar(cell)
        return (text,) if text and text.strip() and not isinstance(found, dict) else None
    items = [scalar(item) for item in found if isinstance(item, str | int) and not isinstance(item, bool)]
    if len(items) < len(found) or not all(items):
        return None
    return tuple(item for item in items if item)


def _time(cell: Cell) -> tuple[str, bool] | None:
    """Canonical time, and whether it is the very instant that was said."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    if isinstance(cell, str) and not _DIGITS.fullmatch(cell.strip()):
        try:
            return timeline.canonical(cell), not re.search(r"[.,]0*[1-9]", cell)
        except ValueError:
            return None
    try:
        number = float(cell)
        if not 0 <= number < _MILLISECONDS_END:
            return None
        seconds = number if number < _SECONDS_END else number / 1000
        return timeline.of_seconds(int(seconds)), seconds == int(seconds)
    except (ValueError, OverflowError):
        return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def parsed(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that a text is in JSON; None for any other, and where a key stands twice."""
    if text.strip()[:1] not in ("[", "{"):
        return None
    try:
        found = json.loads(text, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list | dict) else None


def leaves(value: object) -> Iterator[str]:
    """The texts in JSON, and its keys with the text behind them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}: {item}" if isinstance(item, str) else key
            yield from leaves(item)


def _extra(cell: Cell) -> Extra:
    """A cell as a value of a frontmatter, where every scalar is text.

    JSON that holds more than texts, lists and objects, or is too deep, stays the text that it was.
    """
    if isinstance(cell, bytes):
        return "base64:" + base64.b64encode(cell).decode("ascii")
    found = parsed(cell) if isinstance(cell, str) else cell
    if isinstance(found, list | dict):
        if fits(found, _DEEPEST):
            return found
        return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=True)
    return scalar(cell) or ""


def fits(value: object, depth: int) -> bool:
    """Whether a value is nothing but texts, lists and objects of so many levels."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    if depth == 0 or not isinstance(value, list | dict):
        return False
    if isinstance(value, list):
        return all(fits(item, depth - 1) for item in value)
    return all(len(key) <= _LONG_KEY and fits(key, 0) and fits(item, depth - 1) for key, item in value.items())
