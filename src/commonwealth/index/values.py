"""The values by which notes are filtered and linked, in the form in which they are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from zlib import crc32

from commonwealth.index import schema
from commonwealth.index.scope import key_of
from commonwealth.index.words import fold
from commonwealth.model import DONE_STATUSES, WORK_STATUSES, Note
from commonwealth.timeline import canonical

_SHORT = re.compile(r".*-([0-9a-z]{8,16})", re.DOTALL)
_OPEN = frozenset(WORK_STATUSES) - frozenset(DONE_STATUSES)
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})")

folded = lru_cache(maxsize=8192)(fold)
"""`words.fold` for the values that come again and again."""


def links(note: Note) -> set[tuple[int, str]]:
    """Every value by which a note is filtered or linked, as rows of `links` without the note."""
    origin = note.provenance
    found = {(schema.COMPONENT, folded(value)) for value in note.components}
    found.update([(schema.TAG, folded(value)) for value in note.tags])
    for path in map(clean_path, (*origin.files, *note.files)):
        found.add((schema.FILE, path))
        found.add((schema.FILE_REVERSED, reversed_path(path)))
    people = (note.owner, note.author, note.author_ref, origin.human, note.name, *note.deciders)
    found.update([(schema.PERSON, folded(value)) for value in people if value])
    found.update([(schema.AGENT, folded(value)) for value in (note.agent, origin.agent) if value])
    found.update([(schema.REPOSITORY, repository(name)) for name in (note.repository, origin.repository) if name])
    found.update([(schema.SUPERSEDES, key(id_)) for id_ in note.supersedes])
    found.update([(schema.RELATES, key(id_)) for id_ in note.relates])
    if note.superseded_by:
        found.add((schema.SUPERSEDED_BY, key(note.superseded_by)))
    if note.conflict_of:
        found.add((schema.CONFLICT_OF, key(note.conflict_of)))
    found.update([(schema.BRANCH, value) for value in (note.branch, origin.branch) if value])
    if (limited := key_of(note)) is not None:
        found.add((schema.SCOPE, limited))
    if note.kind == "work-state" and note.status in _OPEN:
        found.update([(schema.WORK_FILE, clean_path(path).casefold()) for path in note.files])
        if origin.commit:
            found.add((schema.WORK_COMMIT, origin.commit))
    if "[[" in note.body:
        found.update([(schema.WIKILINK, key(id_)) for id_ in _WIKILINK.findall(note.body)])
    return found


def key(id_: str) -> str:
    """An id as it is compared: without case. Any text is an id to look for, so lone surrogates are replaced."""
    folded_id = id_.strip().casefold()
    return folded_id if folded_id.isascii() else folded_id.encode("utf-8", "replace").decode("utf-8")


def title_key(title: str) -> int:
    """A number by which notes of this very title are found; compare the titles, it is only 32 bits."""
    return crc32(fold(title).encode())


def storable(path: str) -> str:
    """`path` as it stands in the index: bytes of a file name that are no UTF-8 are spelled out."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def short_id(id_: str) -> str | None:
    """The random end of an id of ours."""
    match = _SHORT.fullmatch(id_)
    return match[1] if match else None


def repository(name: str) -> str:
    """A repository's name as it is compared (see `model.same_repository`)."""
    return name.strip("/").casefold()


def clean_path(path: str) -> str:
    """A path of a code repository with forward slashes and none before or after it."""
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.strip().removeprefix("./").strip("/")


def reversed_path(path: str) -> str:
    """The segments of a path last to first: a suffix becomes a prefix, which a table in order finds."""
    return "/".join(path.split("/")[::-1])


def stamp(time: str | None) -> int | None:
    """Canonical time as a number with the same order, 20260602122000: a third of the text's size in the index.

    Raises ValueError for anything that is no time.
    """
    if time is None:
        return None
    if len(time) != 20:
        time = canonical(time)
    return int(time[:4] + time[5:7] + time[8:10] + time[11:13] + time[14:16] + time[17:19])
