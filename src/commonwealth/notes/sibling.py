"""The version that a conflict could not keep under the note's id: a note of its own, the same bytes everywhere."""

from __future__ import annotations

import re

from commonwealth.errors import Refused
from commonwealth.model import KINDS, Note
from commonwealth.notes import codec, naming
from commonwealth.notes.version import Version, plain

_SHORT_ID = re.compile(r"-[0-9a-z]{8,12}\Z")
_SAFE_STEM = re.compile(r"[a-z0-9][a-z0-9-]*")


def root_id(version: Version | None, path: str) -> str:
    """The id that a sibling disputes: never that of a sibling."""
    for key in ("conflict_of", "id") if version else ():
        value = version.values.get(key) if version else None
        if isinstance(value, str) and value:
            return value
    return naming.stem(path)


def sibling(loser: Version, disputed: str, path: str) -> tuple[str, str]:
    """Path and text of the other version of the note at `path`: the same but for its id and `conflict_of`."""
    new_id = named(loser.text, path)
    try:
        text = codec.edit(loser.text, {"id": new_id, "conflict_of": disputed}, path=path)
    except Refused:
        text = _wrapped(loser.text, loser, new_id, disputed)
    return _beside(path, new_id), text


def unreadable(raw: str, like: Version | None, path: str) -> tuple[str, str]:
    """Path and text of a note that holds, byte for byte, a version that cannot be read as one."""
    new_id = named(raw, path)
    return _beside(path, new_id), _wrapped(raw, like, new_id, root_id(like, path))


def named(text: str, path: str) -> str:
    """The id under which this text of the note at `path` is kept aside."""
    stem = _SHORT_ID.sub("", naming.stem(path))
    name = stem if _SAFE_STEM.fullmatch(stem) else naming.slug(stem)
    return f"{name[: naming.MAX_ID - 9].rstrip('-')}-{naming.short_id(plain(text).encode('utf-8', 'replace'))}"


def _wrapped(raw: str, like: Version | None, new_id: str, disputed: str) -> str:
    said = like.values.get("kind") if like else None
    kind = said if isinstance(said, str) and said in KINDS else "memory"
    title = f"A version of {disputed} that cannot be read"
    return codec.render(Note(id=new_id, kind=kind, title=title, body=raw, conflict_of=disputed))


def _beside(path: str, note_id: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{note_id}.md"
