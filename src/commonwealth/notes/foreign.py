"""Markdown that was not written for a brain: what its frontmatter, name and first heading say, as a note.

Nothing here reads a clock or a disk: the same source at the same time gives the same bytes in every clone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from commonwealth import timeline
from commonwealth.errors import BadNote
from commonwealth.model import CONFIDENCES, STATUSES, TYPES, Extra, Note, Source
from commonwealth.notes import document, naming, prose, schema, strictyaml
from commonwealth.yamlnodes import YamlError

_MAX_TITLE = 300
_CREATED = ("date", "created", "created_at", "createdAt", "created-at", "publishDate", "pubDate")
_UPDATED = ("updated", "updated_at", "updatedAt", "modified", "lastmod", "last_modified")
_TAGS = ("tags", "tag", "keywords")
SUMMARY = ("summary", "description")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Foreign:
    """One source: `path` is relative to the imported folder; `values` is its frontmatter, `body` the rest."""

    path: str
    values: Mapping[str, Extra]
    body: str


def read(text: str, path: str) -> Foreign:
    """The frontmatter and body of a source. Raises BadNote with line and cause; an empty file is one."""
    parts = document.split(text, path)
    if not parts.frontmatter:
        return Foreign(path, {}, parts.body)
    try:
        root, _ = strictyaml.compose_tolerant(parts.yaml)
    except YamlError as error:
        raise BadNote(path, error.line + 2, error.cause) from None
    return Foreign(path, root.value if isinstance(root.value, dict) else {}, parts.body)


class Fields:
    """The values of a frontmatter, and which of them a field of the note has taken over."""

    def __init__(self, values: Mapping[str, Extra]) -> None:
        self._values = values
        self._taken: set[str] = set()

    def first(self, keys: tuple[str, ...], accept: Callable[[Extra], _T | None]) -> _T | None:
        """What `accept` makes of the first key whose value it takes."""
        for key in keys:
            if key in self._values and (found := accept(self._values[key])):
                self._taken.add(key)
                return found
        return None

    def listed(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """The texts under all of `keys`, each once."""
        found: dict[str, None] = {}
        for key in keys:
            if key in self._values and (items := texts(self._values[key])):
                self._taken.add(key)
                found.update(dict.fromkeys(items))
        return tuple(found)

    def rest(self) -> dict[str, Extra]:
        """What no field took over. A key that means something else in a brain is kept as `source_id`."""
        return {
            f"source_{key}" if key in schema.KEYS and key not in schema.WORK_KEYS else key: value
            for key, value in self._values.items()
            if key not in self._taken and value not in ("", [], {})
        }


def text(value: Extra) -> str | None:
    """A text that is not empty."""
    return value.strip() or None if isinstance(value, str) else None


def time(value: Extra) -> str | None:
    """Canonical time of a date or time, also with slashes or in brackets."""
    if not isinstance(value, str):
        return None
    try:
        return timeline.canonical(value.strip().strip("[]\"'").replace("/", "-"))
    except ValueError:
        return None


def texts(value: Extra) -> tuple[str, ...]:
    """The items of a list of texts, or of a text that lists them with commas; empty for anything else."""
    if isinstance(value, dict):
        return ()
    items = value.strip("[]").split(",") if isinstance(value, str) else value
    bare = [item.strip().removeprefix("[[").removesuffix("]]") for item in items if isinstance(item, str)]
    return tuple(filter(None, bare)) if len(bare) == len(items) else ()


def _one_of(allowed: tuple[str, ...]) -> Callable[[Extra], str | None]:
    return lambda value: value if isinstance(value, str) and value in allowed else None


# what a source says about itself

_SETEXT = re.compile(r"\A\s*(?P<title>\S[^\n]{0,300})\n=+[ \t]*\r?$", re.MULTILINE)
_ATX = re.compile(r"^(?:(?P<fence>```|~~~)|(?P<level>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\r?$)", re.MULTILINE)
_NUMBERED = re.compile(r"(?:ADR|adr)?[- #]*(\d{1,5})(?:\s*[.:)](?!\d)\s*|\s+[—–-]\s+|\s(?=[A-Z]))(?=\S)")
_FILE_NUMBER = re.compile(r"(?:adr[-_ ]?)?(\d{1,5})(?!\d|-\d{2}-\d{2})(?:[-_ .]+|$)", re.IGNORECASE)
_FILE_DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
_BODY_DATE = re.compile(r"^[ \t>*-]{0,4}(?:\*\*|__)?[Dd]ate(?:\*\*|__)?:(?:\*\*|__)?[ \t]*(\S+)", re.MULTILINE)
_TOP = 4_000  # characters in which a record's `Date:` line stands


def heading(body: str) -> str | None:
    """The heading that names a document: its first one, if that is of level 1 or stands on top."""
    if underlined := _SETEXT.match(body):
        return underlined["title"].strip()
    fence = None
    for match in _ATX.finditer(body):
        if match["fence"]:
            fence = None if fence == match["fence"] else fence or match["fence"]
        elif fence is None and match["title"]:
            named = len(match["level"]) == 1 or not body[: match.start()].strip()
            return match["title"] if named else None
    return None


def title_of(source: Foreign, fields: Fields, *, numbered: bool = False) -> str:
    """The title of the frontmatter, else of the first heading, else its `name`, else the name of the file.

    `numbered` takes a leading number away: "1. Record decisions", "ADR-0007: Record decisions".
    """
    found = fields.first(("title",), text) or heading(source.body) or fields.first(("name",), text)
    if not found:
        found = naming.stem(source.path)
        if numbered:
            found = _FILE_NUMBER.sub("", found, count=1) or found
        found = found.replace("-", " ").replace("_", " ").strip() or found
    elif numbered and (number := _NUMBERED.match(found)):
        found = found[number.end() :]
    return found[:_MAX_TITLE]


def number_of(source: Foreign) -> str | None:
    """The number of a decision record as written, "0010": of its file's name, else of its heading."""
    if match := _FILE_NUMBER.match(naming.stem(source.path)):
        return match[1]
    match = _NUMBERED.match(heading(source.body) or "")
    return match[1] if match else None


def date_of(source: Foreign, fields: Fields) -> str | None:
    """Canonical time of the frontmatter, a `Date:` line or the file's name; None where none says one."""
    if found := fields.first(_CREATED, time):
        return found
    if (line := _BODY_DATE.search(source.body, 0, _TOP)) and (found := time(line[1].strip("*_"))):
        return found
    named = _FILE_DATE.match(naming.stem(source.path))
    return time("-".join(named.groups())) if named else None


def tags_of(source: Foreign, fields: Fields) -> tuple[str, ...]:
    """The folders above the file and the tags of the frontmatter, in normal form, each once."""
    normal = (naming.normal_tag(word) for word in (*source.path.split("/")[:-1], *fields.listed(_TAGS)))
    return tuple(dict.fromkeys(filter(None, normal)))


# the note


def short_id(kind: str, path: str, repository: str | None, root: str | None = None) -> str:
    """The end of the id of a source's note. `repository` keeps the same path of two repositories apart.

    `root` is added where another document has that id already.
    """
    parts = ("import", kind, repository or "", path, *([root] if root else []))
    return naming.short_id("\x1f".join(parts).encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known of a source beside its text.

    `short` is the end of its note's id. `day` is the time that counts where the source says none; `told` says
    whether that time is the source's own, by its history, or only that of the import.
    """

    short: str
    repository: str | None
    day: str
    told: bool = False


def note(source: Foreign, origin: Origin) -> Note:
    """The memory note of a markdown file.

    Keys of our own names (`type`, `valid_from`) count where their value is one of ours; every key that no
    field takes over stays in `extra`. The summary is the first paragraph where no key says one.
    """
    fields = Fields(source.values)
    title = title_of(source, fields)
    date = date_of(source, fields) or origin.day
    return Note(
        id=naming.new_id(title, date, origin.short),
        kind="memory",
        title=title,
        body=source.body,
        type=fields.first(("type",), _one_of(TYPES)) or "discovery",
        summary=fields.first(SUMMARY, text) or prose.first_paragraph(source.body),
        status=fields.first(("status",), _one_of(STATUSES)) or "observed",
        confidence=fields.first(("confidence",), _one_of(CONFIDENCES)) or "medium",
        created_at=date,
        updated_at=fields.first(_UPDATED, time),
        observed_at=fields.first(("observed_at",), time) or date,
        valid_from=fields.first(("valid_from",), time),
        valid_until=fields.first(("valid_until",), time),
        repository=origin.repository or fields.first(("repository",), text),
        components=fields.listed(("components",)),
        tags=tags_of(source, fields),
        author=fields.first(("author",), text),
        source=Source("markdown", source.path),
        extra=fields.rest(),
    )
