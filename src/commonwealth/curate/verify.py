"""What a text cites of a code repository, and what it means that the repository has it, changed it or lacks it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commonwealth.model import Candidate, Note

MOST_FILES = 50
MOST_SYMBOLS = 12

_SYMBOL = re.compile(r"`([A-Za-z_][\w.:]{2,79})(?:\(\))?`")
_PATH = re.compile(r"`((?:[\w@.-]+/)+[\w@.-]+\.[A-Za-z]\w{0,7})(?::\d+)?`")
_CODE_NAME = re.compile(r"\w*[a-z][A-Z]\w*|\w*_\w+|\w+(?:\.|::)\w+")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Cited:
    """What a text rests on: files by path from the repository's root, names in its code, the commit that it was
    observed at, and when."""

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    commit: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found of one file: `state` is `there`, `changed`, `gone` (it was there once), `never` or `unknown`;
    `by` is the commit that changed or removed it."""

    state: str
    by: str | None = None


def cited(note: Note | Candidate) -> Cited:
    """What a note or a candidate cites. Paths that lead out of a repository are left out."""
    text = "\n".join((note.title, note.summary or "", note.body))
    commit = None
    files = list(note.files)
    if isinstance(note, Note):
        files += note.provenance.files
        commit = note.provenance.commit
    files += _PATH.findall(text)
    symbols = [name.removesuffix("()") for name in _SYMBOL.findall(text) if _CODE_NAME.fullmatch(name)]
    inside = (path.removeprefix("./").replace("\\", "/") for path in files)
    return Cited(
        tuple(dict.fromkeys(path for path in inside if _is_inside(path)))[:MOST_FILES],
        tuple(dict.fromkeys(symbols))[:MOST_SYMBOLS],
        commit.lower() if commit and _COMMIT.fullmatch(commit.lower()) else None,
        note.observed_at,
    )


def _is_inside(path: str) -> bool:
    odd = not path or path.startswith(("/", "~", ":")) or "\0" in path or "\n" in path or "*" in path
    return not odd and ".." not in path.split("/") and ":" not in path


def result(files: Mapping[str, Seen], lost_symbols: Iterable[str] = ()) -> str:
    """`missing`, `changed`, `fresh` or `unknown`, by what was found of each cited file and name."""
    states = {seen.state for seen in files.values()}
    if states & {"gone", "never"} or list(lost_symbols):
        return "missing"
    if "changed" in states:
        return "changed"
    return "fresh" if "there" in states else "unknown"


def details(files: Mapping[str, Seen], lost_symbols: Iterable[str] = ()) -> tuple[str, ...]:
    """What a person should know, one sentence each; nothing for what is as it was."""
    told = {
        "gone": "the file {path} that it cites is gone{by}",
        "never": "the file {path} that it cites was never in the repository",
        "changed": "the file {path} that it cites has changed since{by}",
    }
    said = [
        told[seen.state].format(path=path, by=f" (commit {seen.by[:10]})" if seen.by else "")
        for path, seen in files.items()
        if seen.state in told
    ]
    return (*said, *(f"`{name}` that it names is no longer in the files that it cites" for name in lost_symbols))
