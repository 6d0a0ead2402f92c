"""Repairs of a clone's git folder that lose no byte: what is broken is set aside, what is missing is made again.

The caller holds the writer lock. Each step looks for itself and does nothing where nothing is wrong, so that all
of it is safe to repeat, and to end anywhere.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.repo import examine, restore
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git
from commonwealth.repo.harden import harden, lacking
from commonwealth.repo.head import is_abandoned
from commonwealth.repo.lock import FOLDER
from commonwealth.repo.restore import aside


def open_the_way(root: str) -> Iterator[str]:
    """What must be done before the writer lock can be taken: our folder and its locks are what they should be."""
    folder = examine.folder_of(root)
    if folder is None:
        return
    own = os.path.join(folder, FOLDER)
    if os.path.lexists(own) and not os.path.isdir(own):
        spare = f"{own}-{os.urandom(4).hex()}"
        os.rename(own, spare)
        os.makedirs(own, exist_ok=True)
        yield f"Moved {own}, which was no folder, to {spare}."
    for name in examine.LOCK_FILES:
        place = os.path.join(own, name)
        if os.path.lexists(place) and not stat.S_ISREG(os.lstat(place).st_mode):
            yield f"Moved {place}, which was no file, to {aside(folder, place)}."


def mend(root: str, address: str | None) -> Iterator[str]:
    """Mend what can be mended in the git folder of the brain at `root`; a sentence for each repair.

    `address` is where the brain's rule says that it comes from, for a clone that has forgotten it. Raises what git
    says where the damage cannot be mended.
    """
    folder = examine.folder_of(root)
    if folder is None:
        return
    yield from _states(folder)
    yield from _head(folder)
    yield from _config(root, folder, address)
    yield from _locks(root, folder)
    if any(one.state == "fail" for one in examine.settings(root)):
        return  # git answers nothing here; the doctor names what a person must do
    git = Git(root)
    if missing := lacking(git):
        harden(git, adopted=all(name.startswith("merge.") for name in missing))
        yield f"Wrote the settings that a brain needs: {', '.join(missing)}."
    yield from _branch_record(git)
    yield from restore.objects(git)
    yield from restore.branch(git)
    yield from restore.other_refs(git)
    yield from restore.index(git)
    yield from _pack(git)


def _states(folder: str) -> Iterator[str]:
    for finding in list(examine.states(folder)):
        if finding.place:
            yield f"Set {finding.place} aside as {aside(folder, finding.place)}: it could not be used."


def _head(folder: str) -> Iterator[str]:
    if not list(examine.head(folder)):
        return
    place = os.path.join(folder, "HEAD")
    kept = f" (the old one is {aside(folder, place)})" if os.path.lexists(place) else ""
    branch = _likely_branch(folder)
    atomic.replace(place, f"ref: refs/heads/{branch}\n".encode())
    yield f"Wrote {place} anew: it names {branch}{kept}."


def _likely_branch(folder: str) -> str:
    """The brain's branch without HEAD: as recorded, else where the last move was, else `main`."""
    recorded = (read_text(os.path.join(folder, FOLDER, "branch"), 1024) or "").strip()
    if recorded:
        return recorded
    logs = os.path.join(folder, "logs", "refs", "heads")
    found = [os.path.join(place, name) for place, _, names in os.walk(logs) for name in names]
    newest = max(found, key=os.path.getmtime, default=os.path.join(logs, "main"))
    return os.path.relpath(newest, logs).replace(os.sep, "/")


def _config(root: str, folder: str, address: str | None) -> Iterator[str]:
    git = Git(root)
    place = os.path.join(git.common_dir, "config")
    if not examine.is_blank(place):
        return
    was = "empty" if os.path.lexists(place) else "missing"
    if was == "empty":
        aside(folder, place)
    width = len(next(iter(examine.reflog(git, f"refs/heads/{_likely_branch(folder)}")), "0" * 40))
    text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
    if width == 64:
        text = text.replace("version = 0", "version = 1") + "[extensions]\n\tobjectFormat = sha256\n"
    atomic.replace(place, text.encode("utf-8"))
    harden(git)
    yield f"Wrote {place} anew: it was {was}."
    if address:
        git.run("remote", "add", "--", "origin", address)
        yield "Set the remote origin to the address that the rule names."


def _locks(root: str, folder: str) -> Iterator[str]:
    for place in examine.lock_files(folder):
        with contextlib.suppress(FileNotFoundError):
            if is_abandoned(place, time.time() - os.lstat(place).st_mtime, root, examine.patience_of(place)):
                os.unlink(place)
                yield f"Removed git's lock {place}, which nobody holds."


def _branch_record(git: Git) -> Iterator[str]:
    """The record of the brain's branch names one that is not there, and HEAD another that is."""
    wrong = [one for one in examine.refs(git.root) if one.about == "state"]
    if wrong:
        place = os.path.join(git.git_dir, FOLDER, "branch")
        yield f"Set {place} aside as {aside(git.git_dir, place)}: it named a branch that is not there."


def _pack(git: Git) -> Iterator[str]:
    before = examine.loose_objects(git)
    if before <= examine.MANY_LOOSE:
        return
    with contextlib.suppress(BrainError):  # the doctor says so again if it did not help
        git.run("gc", "--quiet", "--no-prune", timeout=600)
    if examine.loose_objects(git) < before // 2:
        yield "Packed the objects that lay in files of their own."
