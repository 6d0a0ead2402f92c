"""What a move leaves to the next commit of people's edits: what kept files were edited from, notes to be looked at for
markers, and bytes that were replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping

from commonwealth import atomic
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.git import Git
from commonwealth.repo.head import state_file
from commonwealth.repo.store import store_blobs

_BASES = "bases"
_MARKED = "marked"


def read_bases(git: Git) -> dict[str, str]:
    """For each file that was kept in a move: the blob it was edited from ("": it was new)."""
    text = read_text(state_file(git, _BASES))
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def write_bases(git: Git, bases: Mapping[str, str]) -> None:
    """Remember `bases`; no file where there are none."""
    place = state_file(git, _BASES)
    if bases:
        atomic.replace(place, json.dumps(dict(bases), sort_keys=True).encode("utf-8"))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)


def read_marked(git: Git) -> set[str]:
    """The notes that came in with what may be git's conflict markers, and were not looked at yet."""
    text = read_text(state_file(git, _MARKED))
    return set(filter(None, text.split("\0"))) if text else set()


def write_marked(git: Git, paths: set[str]) -> None:
    """Remember those notes; no file where there are none."""
    place = state_file(git, _MARKED)
    if paths:
        atomic.replace(place, "\0".join(sorted(paths)).encode("utf-8", "surrogateescape"))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)


def kept_aside(git: Git, path: str, data: bytes) -> str:
    """Keep what a person wrote into a derived file that is made anew; what to tell of it."""
    name = keep_bytes(git, data)
    return (
        f"{path} is made from the notes, so the edit by hand was taken out; "
        f"`{git_at(git.root)} cat-file -p {name[:12]}` still shows it."
    )


def keep_bytes(git: Git, data: bytes) -> str:
    """Keep bytes that a person wrote and that we are about to replace, under a private ref; the blob's name."""
    name = store_blobs(git, [data])[0]
    git.run("update-ref", f"refs/commonwealth/kept/{name}", name)
    return name
