"""What a tool call is about to change: the files, and the text that comes in, from the arguments of either host.

Claude Code's editing tools name one file each. Codex hands over a patch, as the argument of its own tool or inside a
shell command; its form is the one that Codex documents for `apply_patch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MOST_FILES = 20
"""Of a patch that touches more files, the first are looked at."""

LONGEST = 20_000
"""Characters of incoming text that are looked at."""

_PATCHERS = frozenset({"apply_patch", "Bash", "shell"})
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)|\*\*\* Move to: (.+)")


@dataclass(frozen=True, slots=True)
class Edit:
    """`paths` as the host spells them, absolute or from the session's folder; `added` is the text that comes in."""

    paths: tuple[str, ...]
    added: str = ""


def edit_of(tool: object, given: object) -> Edit | None:
    """The change that a tool of this name makes with these arguments, or None where it is none that we know."""
    if not isinstance(tool, str) or not isinstance(given, Mapping):
        return None
    found = _patched(given) if tool in _PATCHERS else _written(tool, given)
    if found is None:
        return None
    paths = tuple(dict.fromkeys(path for path in found.paths if _is_path(path)))[:MOST_FILES]
    return Edit(paths, found.added[:LONGEST]) if paths else None


def _written(tool: str, given: Mapping[object, object]) -> Edit | None:
    """What Claude Code's tools write: one file, and one or several pieces of text."""
    texts: list[object]
    match tool:
        case "Edit":
            texts = [given.get("new_string")]
        case "Write":
            texts = [given.get("content")]
        case "MultiEdit":
            edits = given.get("edits")
            texts = [one.get("new_string") for one in edits if isinstance(one, dict)] if isinstance(edits, list) else []
        case "NotebookEdit":
            texts = [given.get("new_source")]
        case _:
            return None
    path = given.get("notebook_path" if tool == "NotebookEdit" else "file_path")
    return Edit((path,), "\n".join(filter(None, map(_as_text, texts)))) if isinstance(path, str) else None


def _patched(given: Mapping[object, object]) -> Edit | None:
    """What the patches in a command change; None for a command that holds none."""
    command = given.get("command")
    if isinstance(command, list):
        command = "\n".join(map(_as_text, command))
    if not isinstance(command, str) or _BEGIN not in command:
        return None
    lines = list(_patch_lines(command))
    paths = [(found[1] or found[2]).strip() for line in lines if (found := _FILE.fullmatch(line))]
    return Edit(tuple(paths), "\n".join(line[1:] for line in lines if line.startswith("+")))


def _patch_lines(command: str) -> Iterator[str]:
    inside = False
    for line in command.splitlines():
        text = line.rstrip()
        if text.endswith(_BEGIN):
            inside = True
        elif text.startswith(_END):
            inside = False
        elif inside:
            yield text


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_path(path: str) -> bool:
    return bool(path) and len(path) <= 4096 and "\0" not in path and "\n" not in path
