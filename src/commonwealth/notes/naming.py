"""Ids, slugs, the folder of each kind, and the one check that keeps a path inside the brain."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import Refused

MAX_ID = 120
_MAX_SLUG = 72
_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"

# Latin letters that have no decomposition in Unicode.
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ł": "l",
        "ı": "i",
        "ħ": "h",
        "'": "",
        "’": "",
    }
)
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NO_ID = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u2028\u2029]|^\.|[. ]$|^ ')
_IGNORED_BY_FILE_SYSTEMS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_GIT_SHORT_NAME = re.compile(r"git~\d+")


def slug(title: str) -> str:
    """ASCII lower-case words of `title` joined by `-`, at most 72 characters, never empty, never a device name.

    Accents are dropped; a title without any Latin letter or digit gives `note`.
    """
    text = unicodedata.normalize("NFKD", title[:1000].lower().translate(_LETTERS))
    if not text.isascii():
        text = "".join(c for c in text if not unicodedata.combining(c))
    words = _NOT_ALPHANUMERIC.sub("-", text).strip("-")
    if len(words) > _MAX_SLUG:
        words = words[: _MAX_SLUG + 1]
        words = words.rpartition("-")[0] if "-" in words[20:] else words[:_MAX_SLUG]
    if not words:
        return "note"
    return f"{words}-note" if _DEVICE.fullmatch(words) else words


def short_id(seed: bytes | None = None) -> str:
    """Eight characters of Crockford's base 32 in lower case: 40 bits, random or from the hash of `seed`."""
    bits = os.urandom(5) if seed is None else hashlib.sha256(seed).digest()[:5]
    number = int.from_bytes(bits, "big")
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(35, -1, -5))


def new_id(title: str, date: str, shortid: str) -> str:
    """`<YYYY-MM-DD>-<slug>-<shortid>`; `date` is canonical time or a date. Raises ValueError for another date."""
    return f"{_day(date)}-{slug(title)}-{shortid}"


def _day(date: str) -> str:
    if not _DATE.match(date):
        raise ValueError(f"{date!r} does not begin with a date")
    return date[:10]


def valid_id(text: str) -> bool:
    """Whether `text` may be an id: one file name on every file system, of at most 120 characters."""
    return 0 < len(text) <= MAX_ID and _NO_ID.search(text) is None


def id_key(text: str) -> str:
    """What two ids are compared by: names that differ in case or normal form only mean one note."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def stem(path: str) -> str:
    """The file name of `path` without folders and without its last extension, in normal form C."""
    name = path.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    base = name[:dot] if dot > 0 else name
    return base if base.isascii() else unicodedata.normalize("NFC", base)


def normal_tag(text: str) -> str:
    """A tag as it is written: lower case, trimmed, no leading `#`, and `-` where there was white space.

    A colon before white space goes with it, so that `auth: uses JWT` becomes `auth-uses-jwt`.
    """
    words = re.sub(r":?\s+", " ", unicodedata.normalize("NFC", text).lower()).strip().lstrip("#").strip()
    return words.replace(" ", "-")


def note_path(kind: str, note_id: str, date: str, folders: Mapping[str, str]) -> str:
    """Where a new note is written: by month of `date`, people directly in their folder."""
    if kind == "person":
        return f"{folders[kind]}/{note_id}.md"
    return f"{folders[kind]}/{_day(date)[:7]}/{note_id}.md"


def places(folders: Mapping[str, str]) -> dict[str, str]:
    """Folder → kind of every folder in which notes are found: those of `folders`, to which new notes are written,
    and the default ones, so that a change of the mapping hides no note. The mapping wins where both name a folder."""
    return {folder: kind for kind, folder in (*DEFAULT_FOLDERS.items(), *folders.items())}


def kind_of(path: str, folders: Mapping[str, str]) -> str | None:
    """The kind whose folder, of all `places`, holds the note `path` (the longest folder wins); None for any other
    file.

    `INDEX.md` is derived at any depth; `README.md` and `COMMONWEALTH.md` directly in a kind's folder belong to
    people; hidden files and folders are somebody else's.
    """
    if path[-3:].lower() != ".md":
        return None
    found: str | None = None
    longest = -1
    for kind, folder in folders.items():
        if len(folder) > longest and path.startswith(folder) and path[len(folder) : len(folder) + 1] == "/":
            found, longest = kind, len(folder)
    if folders is not DEFAULT_FOLDERS:
        for kind, folder in DEFAULT_FOLDERS.items():
            if len(folder) > longest and path.startswith(folder) and path[len(folder) : len(folder) + 1] == "/":
                found, longest = kind, len(folder)
    if found is None:
        return None
    inside = path[longest + 1 :]
    folder, _, name = inside.rpartition("/")
    hidden = folder.startswith(".") or "/." in folder
    return found if not hidden and is_note_name(name, top="/" not in inside) else None


def is_note_name(name: str, *, top: bool) -> bool:
    """Whether a file of this name is a note in a folder of notes; `top` says that this is a kind's own folder."""
    if name[-3:].lower() != ".md" or name[0] == "." or name == "INDEX.md":
        return False
    return not (top and name in ("README.md", "COMMONWEALTH.md"))


def checked_parts(relative: str) -> list[str]:
    """The components of a path inside a brain. Raises Refused where it could mean anything else, on any system."""
    parts = relative.split("/")
    for part in parts:
        if cause := _unsafe(part):
            raise Refused(
                f"The path {relative!r} is not inside the brain: {cause}.",
                hint="Use a path relative to the brain's folder, with forward slashes.",
            )
    if re.match(r"[A-Za-z]:", relative):
        raise Refused(f"The path {relative!r} names a drive.", hint="Use a path relative to the brain's folder.")
    return parts


def _unsafe(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "it is absolute or has an empty, '.' or '..' component"
    if "\x00" in part or "\\" in part:
        return "it has a NUL or a backslash"
    if part[0] in ".gG" or not part.isascii():
        bare = _IGNORED_BY_FILE_SYSTEMS.sub("", part).casefold().split(":")[0].rstrip(". ")
        if bare == ".git" or _GIT_SHORT_NAME.fullmatch(bare):
            return "it reaches into git's own folder"
    return None


def safe_join(root: Path, relative: str) -> Path:
    """`root/relative`, proven to lie inside `root`.

    Raises Refused for absolute paths, `..`, drive letters, NUL, backslashes, git's own folder in any spelling,
    and parents that are symbolic links to the outside.
    """
    target = root.joinpath(*checked_parts(relative))
    inside = os.path.realpath(root)
    parent = os.path.realpath(target.parent)
    if parent != inside and not parent.startswith(inside.rstrip(os.sep) + os.sep):
        raise Refused(
            f"The path {relative!r} leads outside the brain through a symbolic link.",
            hint="Replace the link by a real folder.",
        )
    return target
