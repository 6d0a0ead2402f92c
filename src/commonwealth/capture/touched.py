"""The files that a draft is about: those that its words name, and those that were changed at its lines."""

from __future__ import annotations

from commonwealth.capture.episodes import Episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.subjects import names
from commonwealth.conversation import Used
from commonwealth.model import Span

FILES = 6
NAME = 4
"""Letters of a file's name without its ending, from which on a text that has it speaks of the file."""
ALL_OVER = frozenset((
    "index", "main", "init", "test", "tests", "utils", "util", "config", "types", "readme", "setup", "common", "base",
    "core", "helpers", "package", "makefile", "dockerfile", "models", "views", "server", "client", "default",
))  # fmt: skip
"""Names that so many files have that they tell none."""


def touched(told: Episodes, finding: Finding, span: Span, text: str) -> tuple[str, ...]:
    """Files of the project, relative to it, at most `FILES`: those that the draft names first."""
    plain, known = text.lower(), names(text)
    turn = told.turn_of(finding.seed.event)
    named: list[str] = []
    changed: list[str] = []
    for place, event in enumerate(told.conversation.events):
        if not isinstance(event, Used) or event.use == "search":
            continue
        near = span.first <= event.line <= span.last
        follows = finding.role in ("cause", "remedy") and turn.start <= place < turn.end
        for file in filter(_is_inside, event.files):
            if _is_named(file, plain, known):
                named.append(file)
            elif event.use == "edit" and not event.failed and (near or follows):
                changed.append(file)
    return tuple(dict.fromkeys((*named, *changed)))[:FILES]


def _is_inside(file: str) -> bool:
    return not file.startswith(("/", "~", "..")) and ":" not in file[:3] and "\\" not in file[:2]


def _is_named(file: str, plain: str, known: frozenset[str]) -> bool:
    """Whether a text (lower-case, with the names in it) speaks of a file: by its whole name, or by its stem as a name
    in code."""
    base = file.replace("\\", "/").rsplit("/", 1)[-1].lower()
    stem = base.rsplit(".", 1)[0]
    if "." in base.strip(".") and base in plain:
        return True
    joined = "".join(filter(str.isalnum, stem))
    return len(stem) >= NAME and stem not in ALL_OVER and joined in known
