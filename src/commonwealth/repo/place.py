"""Where a new brain may lie on this machine: an own folder, complete or not there at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

from commonwealth.errors import Refused
from commonwealth.repo.common import find_git_dir, git_at
from commonwealth.repo.git import Git


def require_empty(root: str) -> None:
    """Refuse a folder that holds something, and what is no folder."""
    if os.path.lexists(root) and not os.path.isdir(root):
        raise Refused(f"{root} is a file.", hint="Name a folder that is new or empty.")
    if os.path.isdir(root) and os.listdir(root):
        raise Refused(
            f"{root} is not empty and not the root of a git repository.",
            hint=f"Name a new folder, or run `{git_at(root)} init` first if these files belong with the brain.",
        )


def require_outside(root: str) -> None:
    """Refuse a new repository inside another, unless that one ignores the folder or is all of the home."""
    outer = os.path.dirname(root)
    while find_git_dir(outer) is None:
        parent = os.path.dirname(outer)
        if parent == outer:
            return
        outer = parent
    if outer == os.path.realpath(os.path.expanduser("~")):
        return
    inside = f"./{os.path.relpath(root, outer)}/"
    literal = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes paths anyway, and refuses to be told so
    if Git(outer).call("check-ignore", "--quiet", "--", inside, env=literal).code != 0:
        raise Refused(
            f"{root} lies inside the repository {outer}.",
            hint=f"Name a folder outside it, or {outer} itself to keep the brain in that repository.",
        )


@contextlib.contextmanager
def new_folder(root: str) -> Iterator[str]:
    """A folder beside `root` that becomes `root` at the end, and disappears if anything goes wrong, together
    with the parents that were made for it."""
    made = []
    parent = os.path.dirname(root)
    while not os.path.isdir(parent):
        made.append(parent)
        parent = os.path.dirname(parent)
    os.makedirs(os.path.dirname(root), exist_ok=True)
    prefix = f".{os.path.basename(root)}.joining-"
    temporary = os.path.join(os.path.dirname(root), f"{prefix}{os.getpid()}")
    _discard_abandoned(os.path.dirname(root), prefix)
    done = False
    try:
        os.mkdir(temporary)
        yield temporary
        if os.path.isdir(root):
            os.rmdir(root)
        os.rename(temporary, root)
        done = True
    finally:
        if not done:
            _discard(temporary)
            for name in made:
                with contextlib.suppress(OSError):
                    os.rmdir(name)


def _discard_abandoned(parent: str, prefix: str) -> None:
    """Remove what a join into the same folder left when its process was killed."""
    for name in os.listdir(parent):
        number = name.removeprefix(prefix)
        if name.startswith(prefix) and number.isdecimal() and os.name == "posix":
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                _discard(os.path.join(parent, name))
            except PermissionError:
                continue


def _discard(folder: str) -> None:
    if os.name == "nt":  # read-only files, as git's objects are, cannot be removed there
        for place, _, names in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(place, name), stat.S_IWRITE)
    shutil.rmtree(folder, ignore_errors=True)
