"""A branch of the remote that holds a few new notes and nothing else: what a request asks the team to take.

It begins at the tip of the remote's main branch, so no other unpublished work is on it, and it holds no derived file,
so two of them never touch the same path. Work tree, index and our own branches stay as they are. Like any branch that
others may push to, it is only gone on from where this clone has pushed its tip itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonwealth.errors import BrainError, Refused
from commonwealth.repo import outgoing, remote
from commonwealth.repo.commit import Change, refuse_unfit
from commonwealth.repo.content import Content, Person
from commonwealth.repo.failures import Declined
from commonwealth.repo.git import Git, decode, fields
from commonwealth.repo.head import ref_value
from commonwealth.repo.objects import Objects, is_commit
from commonwealth.repo.renamed import NOTES
from commonwealth.repo.store import entries_at, make_commit, move_ref, stamp, store_files
from commonwealth.repo.tree import edit_tree

__all__ = [
    "NOTES", "Answer", "Target", "added_by", "fetch", "forget", "keep", "main_tip", "make", "offer", "paths", "read",
]  # fmt: skip

_KEPT = "refs/commonwealth/notes/"
"""Private refs that keep what we pushed to branches with notes, by the name of the branch."""

_READ_LIMIT = 1 << 22
"""Bytes of a note."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A push that arrived: what the remote printed, and whether it took the push options."""

    said: tuple[str, ...] = ()
    took_options: bool = True


def main_tip(git: Git, name: str, branch: str, timeout: float) -> str:
    """The tip of the remote's main branch, fetched. Raises Refused where it has none, and as `remote.fetch` does."""
    found = remote.fetch(git, name, branch, timeout)
    if found is None:
        raise Refused(
            f"The remote has no branch {branch} yet, which a request could be for.",
            hint="`brain sync` publishes this brain first.",
        )
    return found


def make(
    git: Git, content: Content, parent: str, files: Mapping[str, bytes], message: str, author: Person, *, now: str
) -> str:
    """A commit on top of `parent` that sets exactly `files`; `parent` itself where it has them. No ref moves.

    Raises Refused for a secret in a file, a path, the message or the author, and for what cannot be canon.
    """
    refuse_unfit([Change(path, data) for path, data in files.items()], message, author, content)
    entries = store_files(git, files, {})
    if entries_at(git, parent, entries) == entries:
        return parent
    tree = edit_tree(git, parent, entries)
    return make_commit(git, tree, [parent], message, stamp(author, now), sign=True)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a push goes: the `branch` of a remote, or another `ref` of it, with `options` for the server."""

    remote: str
    branch: str
    ref: str | None = None
    options: tuple[str, ...] = ()


def offer(git: Git, content: Content, target: Target, commit: str, known: Sequence[str], timeout: float) -> Answer:
    """Push `commit` once, after a look through everything that becomes public.

    `known` are commits that the remote has. A remote that takes no push options gets the push without them. Raises
    Refused for a secret, Declined with the remote's words where it does not take the push or somebody else has pushed
    there, Offline, and what else the answer means.
    """
    outgoing.refuse_outgoing_secrets(git, commit, known, content, math.inf)
    name, branch, ref = target.remote, target.branch, target.ref
    answer = remote.push(git, name, branch, commit, timeout, ref=ref, options=target.options)
    took = answer.state != "plain"
    if not took and ref is None:
        answer = remote.push(git, name, branch, commit, timeout)
    if answer.state == "accepted":
        return Answer(answer.said, took)
    if answer.state == "plain":
        raise Declined("The remote takes no push options, which this kind of request needs.")
    if answer.state == "raced":
        raise Declined(
            f"The remote did not take the branch {branch}: its name is taken, or somebody pushed to it just now.",
            hint="Run the same command again.",
        )
    raise Declined(
        f"The remote declines pushes to {branch}: {answer.words}",
        hint=answer.hint or "Nothing is lost: the notes wait here as they were.",
    )


def fetch(git: Git, name: str, branch: str, timeout: float) -> str | None:
    """The tip of the remote's branch with notes, with its objects, which no ref keeps; None where it is gone."""
    tip = remote.remote_tip(git, name, branch, timeout)
    if tip is None or is_commit(git, tip):
        return tip
    words = ("fetch", "--quiet", "--no-tags", "--no-filter", "--no-write-fetch-head", "--end-of-options", name)
    git.run(*words, f"refs/heads/{branch}", timeout=timeout)
    return tip if is_commit(git, tip) else None


def keep(git: Git, branch: str, commit: str) -> None:
    """Keep what was pushed to `branch`, so that it can be compared with what the remote has."""
    move_ref(git, _KEPT + branch, commit, ref_value(git, _KEPT + branch), "notes offered")


def forget(git: Git, branch: str) -> None:
    """The request is over."""
    git.call("update-ref", "-d", _KEPT + branch)


def read(git: Git, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those of `paths` that are files in `commit`; of one that is too large for a note, nothing."""
    found: dict[str, bytes] = {}
    with Objects(git) as objects:
        for path, (_, sha) in entries_at(git, commit, paths).items():
            info = objects.info(sha)
            if info is not None and info[2] <= _READ_LIMIT:
                found[path] = objects.read(sha) or b""
    return found


def paths(git: Git, tip: str, folders: Sequence[str]) -> list[str]:
    """All files below `folders` in the tree of `tip`."""
    return fields(git.run("ls-tree", "-r", "-z", "--name-only", tip, "--", *folders))


def added_by(git: Git, tip: str, path: str) -> str | None:
    """Who brought a file into the history of `tip`, as its first-parent line has it."""
    words = ("log", "-1", "--first-parent", "-m", "--no-renames", "--diff-filter=A", "--format=%cn%x00%an", tip, "--")
    try:
        said = decode(git.run(*words, path)).strip("\n").split("\0")
    except BrainError:
        return None
    return next((who for who in said if who and who not in ("GitHub", "GitLab", "Gitea", "Forgejo")), None)
