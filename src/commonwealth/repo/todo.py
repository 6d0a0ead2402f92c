"""Whether a person has changed the list of steps of a rebase: then it is theirs, and says what is to be taken out."""

from __future__ import annotations

import os
import re

from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git

_COMMANDS = {
    "p": "pick",
    "e": "edit",
    "r": "reword",
    "f": "fixup",
    "s": "squash",
    "x": "exec",
    "b": "break",
    "l": "label",
    "t": "reset",
    "m": "merge",
    "d": "drop",
    "u": "update-ref",
}
_NAMES = frozenset({*_COMMANDS.values(), "revert", "noop"})
_WITH_COMMIT = frozenset({"pick", "edit", "reword", "fixup", "squash", "drop", "revert"})
_HEX = re.compile(r"[0-9a-f]{4,64}")

Step = tuple[str, ...]


def is_by_hand(git: Git) -> bool:
    """Whether a rebase under way does not do what git wrote into its list, which git keeps as a backup before any
    editor sees it (sequencer.c, edit_todo_list): a `pull --rebase` never differs."""
    folder = os.path.join(git.git_dir, "rebase-merge")
    written = _steps(os.path.join(folder, "git-rebase-todo.backup"))
    if written is None:
        return False
    done = _steps(os.path.join(folder, "done")) or []
    ahead = _steps(os.path.join(folder, "git-rebase-todo")) or []
    # A step that git takes up, or puts back, stands in both lists for a moment.
    overlaps = (number for number in range(len(ahead) + 1) if done[len(done) - number :] == ahead[:number])
    if any(_same(written, [*done, *ahead[number:]]) for number in overlaps):
        return False
    # Between two writes of git's, the step that it takes up stands in neither; `end` counts the steps after editing.
    total = (read_text(os.path.join(folder, "end"), 64) or "").strip()
    whole = len(done) + 1 + len(ahead) == len(written) and total == str(len(written))
    return not (whole and _same(written, [*done, written[len(done)], *ahead]))


def _steps(place: str) -> list[Step] | None:
    text = read_text(place)
    return None if text is None else [step for line in text.splitlines() if (step := _step(line))]


def _step(line: str) -> Step:
    """A step without the subject of its commit, which means nothing; empty for a comment."""
    words = line.split()
    name = _COMMANDS.get(words[0], words[0]) if words else ""
    if name not in _NAMES or name == "noop":
        return ()
    if name not in _WITH_COMMIT:
        return (name, *words[1:])
    end = next((at for at, word in enumerate(words) if at and not word.startswith("-")), len(words))
    return (name, *words[1 : end + 1])


def _same(written: list[Step], found: list[Step]) -> bool:
    return len(written) == len(found) and all(
        len(one) == len(other) and all(map(_means, one, other)) for one, other in zip(written, found, strict=True)
    )


def _means(one: str, other: str) -> bool:
    """Whether two words are the same, where the name of a commit may be a short one."""
    if _HEX.fullmatch(one) and _HEX.fullmatch(other):
        return one.startswith(other) or other.startswith(one)
    return one == other
