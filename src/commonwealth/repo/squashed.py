"""Whether the default branch has the changes of a branch under other commits: squashed into one, or replayed.

Told by patch ids, so the lines around a change may have moved, and by what the files became. Nothing is written, and no
driver that a repository names is run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from commonwealth.repo.git import Git, decode

MOST = 200
"""So many commits are compared on either side, and so many files of a branch are followed."""

PATCHES = 8 << 20
"""Bytes of patches; more is not compared."""

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--ignore-submodules=none")
_WHOLE = b"0" * 40


def landing(git: Git, into: str, tip: str, end: float) -> str | None:
    """The commit on the first-parent line of `into` with which it had what `tip` changed since they parted: the one
    that makes the whole change, the last of those that make each of its commits' own, or the first after which the
    files are what the branch made of them. None where there is none, and for a branch that changes nothing.

    `end` is when to give up, by the monotonic clock; raises BrainError then, and for what git cannot read.
    """

    def run(*args: str, data: bytes | None = None) -> bytes:
        return git.run(*args, input=data, timeout=max(0.02, end - time.monotonic()))

    done = git.call(
        "diff",
        "--raw",
        "-z",
        "--no-abbrev",
        "-p",
        "--merge-base",
        *_PLAIN,
        into,
        tip,
        "--",
        timeout=max(0.02, end - time.monotonic()),
    )
    if done.code == 1 or (done.code == 128 and "merge base" in done.err):
        return None
    if done.code:
        raise git.failure(done)
    files, whole = _parted(done.out)
    if not files or len(files) > MOST or len(whole) > PATCHES:
        return None
    span = (f"--max-count={MOST}", "--first-parent", "-m", f"{tip}..{into}", "--", *map(decode, files))
    theirs = run("log", "-p", "--format=commit %H", *_PLAIN, *span)
    if not theirs:
        return None
    own = run("log", "-p", f"--max-count={MOST}", "--format=commit %H", *_PLAIN, "--no-merges", f"{into}..{tip}", "--")
    if len(theirs) + len(own) <= PATCHES and b"\nBinary files " not in whole:
        text = b"".join((b"commit ", _WHOLE, b"\n", whole, b"\n", own, b"\n", theirs))
        own_names = {line[7:] for line in own.split(b"\n") if line.startswith(b"commit ")}
        found = _matching(run("patch-id", "--stable", data=text), own_names)
        if found is not None:
            return found.decode("ascii")
    return _alike(run("log", "--raw", "-z", "--no-abbrev", "--format=commit %H", *_PLAIN, *span), files)


def _matching(patch_ids: bytes, own: set[bytes]) -> bytes | None:
    """The commit that makes the whole change, or the last of those that make each of the branch's `own` changes."""
    whole: bytes | None = None
    mine: list[bytes] = []
    others: dict[bytes, tuple[int, bytes]] = {}
    for row, line in enumerate(patch_ids.splitlines()):
        patch, _, commit = line.partition(b" ")
        if commit == _WHOLE:
            whole = patch
        elif commit in own:
            mine.append(patch)
        else:
            others[patch] = row, commit  # the newest come first, so that the oldest of each change stays
    if whole in others:
        return others[whole][1]
    if 0 < len(mine) < MOST and others.keys() >= set(mine):
        return min(others[patch] for patch in mine)[1]
    return None


def _alike(log: bytes, files: Mapping[bytes, tuple[bytes, bytes]]) -> str | None:
    """The first commit of a log (the newest first) after which all `files` are what the branch made of them."""
    steps: list[tuple[str, dict[bytes, bytes]]] = []
    parts = iter(log.split(b"\0"))
    for part in parts:
        said = part.lstrip(b"\n")
        if said.startswith(b"commit "):
            steps.append((said[7:].decode("ascii", "replace").strip(), {}))
        elif said.startswith(b":") and steps:
            steps[-1][1][next(parts, b"")] = said.split(b" ")[3]
    now = {name: before for name, (before, _) in files.items()}
    wanted = {name: after for name, (_, after) in files.items()}
    for commit, changed in reversed(steps):
        now.update(changed)
        if changed and now == wanted:
            return commit
    return None


def _parted(out: bytes) -> tuple[dict[bytes, tuple[bytes, bytes]], bytes]:
    """The files that `--raw -z -p` names, each with the objects before and after, and its patch."""
    files: dict[bytes, tuple[bytes, bytes]] = {}
    at = 0
    while out[at : at + 1] == b":":
        name = out.index(b"\0", at) + 1
        _, _, before, after, *_ = out[at:name].split(b" ")
        at = out.index(b"\0", name)
        files[out[name:at]] = before, after
        at += 1
    return files, out[at:].lstrip(b"\0")
