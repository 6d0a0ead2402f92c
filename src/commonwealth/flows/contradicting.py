"""What a decision speaks against, told from its words, and whether the text of a change, or a prompt, has it. Pure.

A hint and no proof: whoever reads it is told the words. So only names count by themselves (code, what is written in
capitals, what is imported); of ordinary words two of one clause have to occur together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from commonwealth.index.plainwords import HOLLOW, LOOSE
from commonwealth.index.shown import plain
from commonwealth.index.stem import stem
from commonwealth.index.terms import holds, looks_like_code
from commonwealth.index.words import STOP, identifiers
from commonwealth.model import Note

_READ = 4_000
_RULES = ("decision", "domain-rule", "gotcha")

# Sought in text in lower case, which is much faster than without regard to case.
_CUE = (
    r"\b(?:do not|don['’]t|never|must not|mustn['’]t|should not|shouldn['’]t|may not|avoid|stop|no longer|no more"
    r"|instead of|rather than|in place of|(?:chose|chosen|picked|prefer|preferred|decided for)\b[^.;:\n]{1,60}?\bover"
    r"|rejected|bans?|banned|forbid|forbids|forbidden|disallowed|not allowed|replaces?|replaced|drops?|dropped"
    r"|removed?|away from|(?:moved?|migrated?) from)\b(?P<what>(?:[^.;:,\n()]|\.(?=\w)){1,120})"
)
_SAID_OF = (
    r" (?:is|are|was|were|has been|have been|must|may|should) (?:now )?"
    r"(?:banned|forbidden|rejected|disallowed|deprecated|not (?:be )?(?:allowed|used|called)|never (?:be )?\w+"
    r"|no longer)\b"
)
_HINTS = (
    "not ",
    "n't ",
    "n’t ",
    "never",
    "avoid",
    "stop",
    "no longer",
    "no more",
    "instead",
    "rather",
    "in place of",
    " over",
    "reject",
    "ban",
    "forbid",
    "disallow",
    "replac",
    "drop",
    "remov",
    "away from",
    "moved",
    "migrate",
    "deprecat",
    "alternative",
    "considered",
)
_SECTION = (
    r"(?ims)^#{1,6}[ \t]*(?:rejected|alternatives?|(?:considered|other)[ \t]+(?:options?|alternatives?))\b[^\n]*\n"
    r"(.*?)(?=^#|\Z)"
)
_BULLET = r"(?m)^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(?P<what>[^\n]{1,200})"
_END = r"[:;—–(]| - |\. |, | because | since "
_CODE = r"`([^`\n]{2,80})`"
_WORD = r"[^\W_][\w.:/@+#-]*[\w+#]|[^\W_]{2,}"
_IMPORTED = (
    r"(?m)^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w.]+)|(?:import|export)\b[^\n]*?\bfrom\s+['\"]([^'\"\n]+)"
    r"|use\s+([\w:]+)|#include\s+[<\"]([^>\"\n]+))|\brequire\(?\s*['\"]([^'\"\n]+)"
)
_PATCH = r"(?m)^(?:@@|\*\*\* |diff --git )"

_pattern = lru_cache(maxsize=16)(re.compile)
"""Compiled when they are first needed: most prompts and most edits need none."""


def rules(note: Note) -> bool:
    """Whether a note lays down what is done, so that something can go against it."""
    return (note.kind == "decision" or note.type in _RULES) and note.status != "hypothesis"


def against(note: Note, added: str, brought: frozenset[str]) -> str | None:
    """The words of what the note speaks against that stand in the added text, which brings in these modules; None
    where there is nothing."""
    low = added.lower()
    if not _may_speak_against(note):
        return None
    for clause in _clauses(note):
        names, words = _of_clause(clause, note)
        found = next((name for name in names if len(name) > 2 and (holds(low, name) or name in brought)), None)
        both = [word for word in words if holds(low, word)]
        module = next((word for word in _words_of(clause) if word in brought), None) if brought else None
        if told := found or module or (" ".join(both[:3]) if len(both) >= 2 else None):
            return told
    return None


def rejects(note: Note, names: frozenset[str]) -> str | None:
    """Which of these names the note speaks against; None where it does not."""
    if not _may_speak_against(note):
        return None
    chosen = _chosen(note)
    for clause in _clauses(note):
        found = next((word for word in _words_of(clause) if word in names and word not in chosen), None)
        if found:
            return found
    return None


def added_text(change: str) -> str:
    """The added lines of a patch; any other text as it is."""
    change = change[:60_000]
    if not _pattern(_PATCH).search(change):
        return change
    return "\n".join(line[1:] for line in change.split("\n") if line.startswith("+") and not line.startswith("+++"))


def imported(text: str) -> frozenset[str]:
    """The names of modules that some code brings in, in lower case, each also by its first part."""
    if not any(word in text for word in ("import", "require", "use ", "include")):
        return frozenset()
    found = [next(filter(None, groups), "").lower() for groups in _pattern(_IMPORTED).findall(text)]
    return frozenset([*found, *(re.split(r"[./:]", name)[0] for name in found)]) - {""}


def _may_speak_against(note: Note) -> bool:
    """A cheap look at whether any clause can be found: most notes speak against nothing."""
    low = f"{note.title}\n{note.summary or ''}\n{note.body[:_READ]}".lower()
    return any(hint in low for hint in _HINTS)


def _clauses(note: Note) -> Iterator[str]:
    """What the note speaks against, clause by clause."""
    text = "\n".join((note.title, note.summary or "", note.body[:_READ]))
    low = plain(text)
    yield from (text[start:end] for start, end, _ in _spoken_of(low))
    yield from (text[match.start("what") : match.end("what")] for match in _pattern(_CUE).finditer(low))
    if "\n#" in f"\n{note.body[:_READ]}":
        for section in _pattern(_SECTION).finditer(note.body[:_READ]):
            bullets = _pattern(_BULLET).finditer(section[1])
            yield from (_pattern(_END).split(match["what"], maxsplit=1)[0] for match in bullets)


def _spoken_of(low: str) -> Iterator[tuple[int, int, int]]:
    """Where a text says of something that it is banned: where what it speaks of begins and ends, and the whole."""
    for match in _pattern(_SAID_OF).finditer(low):
        at = match.start()
        before = re.split(r"[;:,\n()]|\.\s", low[max(0, at - 60) : at])[-1]
        if before.strip():
            yield at - len(before), at, match.end()


def _chosen(note: Note) -> frozenset[str]:
    """The words of a title that it does not speak against."""
    low = plain(note.title)
    for start, _, end in _spoken_of(low):
        low = low[:start] + " " * (end - start) + low[end:]
    return frozenset(_pattern(_WORD).findall(_pattern(_CUE).sub(" ", low)))


def _of_clause(clause: str, note: Note) -> tuple[list[str], list[str]]:
    """The names in a clause, and its ordinary words that say something, in lower case; what the title is for is
    neither."""
    chosen = _chosen(note)
    names = [code.strip().rstrip("()").lower() for code in _pattern(_CODE).findall(clause)]
    words: list[str] = []
    for number, written in enumerate(_pattern(_WORD).findall(_pattern(_CODE).sub(" ", clause))):
        low = written.lower()
        if low in STOP or len(low) < 3:
            continue
        is_name = looks_like_code(written) or bool(identifiers(written)) or (number > 0 and written[0].isupper())
        if is_name or (written[0].isupper() and not _is_plain(low)):
            names.append(low)
        elif not _is_plain(low):
            words.append(low)
    return [name for name in names if name not in chosen], [word for word in words if word not in chosen]


def _is_plain(word: str) -> bool:
    return stem(word) in HOLLOW or stem(word) in LOOSE


def _words_of(clause: str) -> list[str]:
    found = _pattern(_WORD).findall(clause)
    return [word.lower() for word in found if len(word) > 2 and word.lower() not in STOP]
