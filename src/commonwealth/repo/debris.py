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

    Costs a listing of a few small folders; what cannot be removed stays.
    """
    own, oldest = state_file(git, ""), time.time() - _ABANDONED_AFTER
    # Git's own settings are written by us too: what it ignores, and where its HEAD or config was broken.
    for folder in (own, git.git_dir, os.path.join(git.common_dir, "info")):
        with contextlib.suppress(OSError), os.scandir(folder) as found:
            for entry in found:
                scratch = folder == own and entry.name.startswith(SCRATCH)
                ours = scratch or atomic.TEMPORARY.fullmatch(entry.name)
                if ours and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
