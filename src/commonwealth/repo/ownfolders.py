"""The folders of one clone (`index/`, `staging/`), where a history carries files of theirs all the same.

Whoever committed them, by a slip or on purpose: such a file is never laid out, as it would pass for this clone's own,
and it takes no part in what a sync does to files. It stays in the history, is named with the step that takes it out,
and never stops a sync.
"""

from __future__ import annotations

from collections.abc import Collection

from commonwealth.config import OWN_FOLDERS
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git, fields
from commonwealth.repo.tree import Entry
from commonwealth.safetext import one_line


def holds(path: str) -> bool:
    """Whether a path lies in a folder of one clone, or in the place of one, as any file system may see it."""
    return path.partition("/")[0].rstrip(" .").casefold() in OWN_FOLDERS


def tracked(git: Git, commit: str = "HEAD") -> dict[str, Entry]:
    """The files of a commit that lie there, by path; none where there is no such commit. One git process, or two."""
    listed = fields(git.call("ls-tree", "-z", "--name-only", commit).out)
    names = [name for name in listed if holds(name)]
    found: dict[str, Entry] = {}
    for record in fields(git.run("ls-tree", "-r", "-z", commit, "--", *names)) if names else ():
        meta, _, path = record.partition("\t")
        mode, _, name = meta.split(" ")
        found[path] = (mode, name)
    return found


def told(git: Git, paths: Collection[str], commit: str) -> str:
    """What there is to say of such files in the history of `commit`: which, and since when."""
    first = min(paths)
    more = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
    lie = "belong" if len(paths) > 1 else "belongs"
    came = since(git, first, commit)
    return (
        f"{one_line(first, 120)}{more} {lie} to a folder of one clone and came in with {came or 'a commit'}: nothing "
        "of that is written here, or taken for a candidate."
    )


def since(git: Git, path: str, commit: str = "HEAD") -> str | None:
    """The newest commit that changed a file, as `commit 4f8c2ab by Bob`; None where git does not tell."""
    said = git.call("log", "-1", "--format=%h%x00%an", commit, "--", path).out.decode("utf-8", "replace")
    name, _, who = said.strip().partition("\0")
    return f"commit {name} by {one_line(who, 60)}" if name else None


def way_out(git: Git, paths: Collection[str]) -> str:
    """How such files leave the brain for everybody, and this clone keeps its own."""
    folders = " ".join(sorted({path.partition("/")[0] for path in paths}))
    at = git_at(git.root)
    return f"`{at} rm -r -q --cached {folders}` and `{at} commit -m 'Untrack {folders}'`, then `brain sync`, ends it."
