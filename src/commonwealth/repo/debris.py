"""What killed processes of ours leave among the private files of a clone, where git shows it to nobody."""

from __future__ import annotations

import contextlib
import os
import shutil
import time

from commonwealth import atomic
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file

SCRATCH = "scratch-"
"""How the names of our folders for short-lived files begin."""

_ABANDONED_AFTER = 600.0
"""Seconds. Nothing of ours lies unfinished for so long while its process lives."""


def sweep(git: Git) -> None:
    """Remove unfinished files and scratch folders that are old enough to have no owner any more.

    Costs one listing of a small folder; what cannot be removed stays.
    """
    folder = state_file(git, "")
    oldest = time.time() - _ABANDONED_AFTER
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            ours = entry.name.startswith(SCRATCH) or atomic.TEMPORARY.fullmatch(entry.name)
            if ours and entry.stat(follow_symlinks=False).st_mtime < oldest:
                _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
