"""Whether an index still says what the files say, told cheaply: HEAD, git's index and the times of the folders.

Hooks ask this and no more; what it takes to bring an index up to date is loaded only where it is needed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from commonwealth.errors import BrainError, Damaged
from commonwealth.flows import asis
from commonwealth.flows.brains import Brain
from commonwealth.index import schema
from commonwealth.index.schema import Unusable
from commonwealth.notes import naming
from commonwealth.notes.obstacle import in_the_way
from commonwealth.repo import head
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git

RACY_NS = 50_000_000
"""A file or folder that changed this recently may change again without a new time stamp: it is looked at again."""

ABSENT = -1

ask_as_it_is = asis.ask_as_it_is


@dataclass(frozen=True, slots=True)
class Standing:
    """What tells cheaply that a brain's files may have changed; `times` of its folders in ns."""

    root: str
    folders: str
    head: str
    staged: str
    times: Mapping[str, int] = field(default_factory=dict)

    def state(self) -> dict[str, str]:
        """As it is kept with the index."""
        return {
            "root": self.root,
            "folders": self.folders,
            "head": self.head,
            "staged": self.staged,
            "times": json.dumps(self.times, sort_keys=True),
        }


def standing(brain: Brain, times: Mapping[str, int]) -> Standing:
    """How the clone stands now."""
    git = Git(brain.root)
    try:
        found = os.stat(os.path.join(git.git_dir, "index"))
        staged = f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
    except FileNotFoundError:
        staged = ""
    return Standing(str(brain.root), json.dumps(dict(brain.folders)), _tip(git), staged, times)


def _tip(git: Git) -> str:
    """Where HEAD is; empty where git cannot say, which is no reason not to read notes."""
    with suppress(BrainError):
        branch = head.current_branch(git)
        return head.ref_value(git, f"refs/heads/{branch}" if branch else "HEAD") or ""
    return ""


def known_times(state: Mapping[str, str]) -> dict[str, int]:
    """The folders that an index knows, with their times."""
    times: dict[str, int] = json.loads(state.get("times") or "{}")
    return times


def time_of(brain: Brain, folder: str) -> int:
    """The modification time of a folder in ns; 0 where it is too young to be trusted, ABSENT where it is not there.

    What stands in its place counts like the folder.

    Raises Damaged for a folder that cannot be looked at.
    """
    place = os.path.join(brain.root, folder)
    try:
        stamp = os.stat(place, follow_symlinks=False).st_mtime_ns
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        if _is_obstructed(brain, folder):
            return ABSENT
        raise Damaged(
            f"{place} cannot be read ({error.strerror}).", hint="Mend its permissions; the index was kept as it is."
        ) from None
    return stamp if trusted(stamp) else 0


def _is_obstructed(brain: Brain, folder: str) -> bool:
    try:
        return in_the_way(brain.root, folder) is not None
    except OSError:
        return False


def trusted(stamp: int) -> bool:
    """Whether a time stamp (ns) is old enough that a later change must bear another."""
    return time.time_ns() - stamp > RACY_NS


def is_current(brain: Brain) -> bool:
    """Whether nothing that is cheap to see has changed since the index was brought up to date.

    False where there is no usable index. Raises Damaged for a folder that cannot be looked at.
    """
    try:
        state = ask_as_it_is(brain, schema.get_state)
    except Unusable:
        return False
    times = known_times(state)
    if not naming.places(brain.folders).keys() <= times.keys():
        return False
    now = standing(brain, {folder: time_of(brain, folder) for folder in times})
    return 0 not in now.times.values() and now.state() == state


def is_shared(brain: Brain) -> bool:
    """Whether the clone knows any remote; told from git's own file, without a process."""
    config = read_text(os.path.join(Git(brain.root).common_dir, "config")) or ""
    return '[remote "' in config
