"""Files of the last commit that could not be put where they belong: named, tried again, never taken for deleted."""

from __future__ import annotations

from collections.abc import Iterator

from commonwealth.errors import BrainError
from commonwealth.repo import workfiles
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.kept import read_bases, write_bases
from commonwealth.repo.move import ABSENT
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, blob, entries_at
from commonwealth.repo.tree import Entry


def unplaced(git: Git, content: Content) -> dict[str, str]:
    """Path and cause of the notes that a move or a join had to leave out, and that still have no place."""
    causes = ((path, workfiles.obstacle(git.root, path)) for path, _ in _left_out(git, content))
    return {path: f"{ABSENT}: {cause}" for path, cause in causes if cause is not None}


def put_down(git: Git, content: Content) -> None:
    """Write those whose place is free by now; the caller holds the writer lock."""
    done: set[str] = set()
    with Objects(git) as objects:
        for path, entry in _left_out(git, content):
            if workfiles.obstacle(git.root, path) is not None:
                continue
            try:
                workfiles.replace(git.root, path, blob(objects, entry) or b"", None, executable=entry[0] == REGULAR[1])
            except BrainError:
                continue
            except OSError as error:
                if not workfiles.is_unfit(error):
                    raise
                continue
            done.add(path)
    if done:
        write_bases(git, {path: base for path, base in read_bases(git).items() if path not in done})


def _left_out(git: Git, content: Content) -> Iterator[tuple[str, Entry]]:
    """Files of ours that the last move or a join has kept out, with their entries of the last commit."""
    bases = [path for path in read_bases(git) if content.owns(path) or content.is_config(path)]
    if not bases or git.resolve("HEAD") is None:
        return
    for path, entry in entries_at(git, "HEAD", bases).items():
        if entry[0] in REGULAR and not _is_here(git.root, path):
            yield path, entry


def _is_here(root: str, path: str) -> bool:
    try:
        return workfiles.read(root, path) is not None
    except workfiles.Unfit:
        return False
    except (BrainError, OSError):
        return True  # something is: a person looks at it
