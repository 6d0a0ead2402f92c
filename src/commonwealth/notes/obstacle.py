"""What stands in the way of a folder of ours: a file or a link, as a colleague may have pushed it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What lies at `path` (relative to the brain's root) in the place of a folder."""

    path: str
    cause: str
    state: os.stat_result


def in_the_way(root: str | os.PathLike[str], folder: str) -> Obstacle | None:
    """What stands in the way of `folder` or of a folder above it; None where it can be a folder, or is one.

    Raises OSError where that cannot be told: a folder that may not be looked at is no obstacle.
    """
    path = ""
    for part in folder.split("/"):
        path = f"{path}/{part}" if path else part
        try:
            state = os.stat(os.path.join(root, path), follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(state.st_mode):
            return Obstacle(
                path, "a symbolic link, which is not followed, stands where a folder of notes belongs", state
            )
        if not stat.S_ISDIR(state.st_mode):
            return Obstacle(path, "a file stands where a folder of notes belongs", state)
    return None
