"""Whether the default branch has the changes of a branch under other commits: squashed into one, or replayed.

Told by patch ids, so the lines around a change may have moved. Nothing is written, and no driver that a repository
names is run.
"""

from __future__ import annotations

import time

from commonwealth.repo.git import Git, decode

MOST = 200
"""So many commits are compared on either side, and so many files of a branch are followed."""

PATCHES = 8 << 20
"""Bytes of patches; more is not compared."""

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--ignore-submodules=none")
_WHOLE = "0" * 40


def is_squashed(git: Git, into: str, tip: str, end: float) -> bool:
    """Whether the commit `into` has what `tip` changed since they parted: by one commit, or by one for each of its own.

    A branch that changes nothing, and one with a binary file, cannot be told so: no. `end` is when to give up, by the
    monotonic clock; raises BrainError then, and for what git cannot read.
    """

    def run(*args: str, data: bytes | None = None) -> bytes:
        return git.run(*args, input=data, timeout=max(0.02, end - time.monotonic()))

    done = git.call(
        "diff", "--raw", "-z", "-p", "--merge-base", *_PLAIN, into, tip, "--", timeout=max(0.02, end - time.monotonic())
    )
    if done.code == 1 or (done.code == 128 and "merge base" in done.err):
        return False
    if done.code:
        raise git.failure(done)
    files, whole = _parted(done.out)
    if not files or len(files) > MOST or len(whole) > PATCHES or b"\nBinary files " in whole:
        return False
    log = ("log", "-p", f"--max-count={MOST}", "--format=commit %H", *_PLAIN)
    theirs = run(*log, "--first-parent", "-m", f"{tip}..{into}", "--", *files)
    if not theirs:
        return False
    own = run(*log, "--no-merges", f"{into}..{tip}", "--")
    if len(theirs) + len(own) > PATCHES:
        return False
    text = b"".join((b"commit ", _WHOLE.encode(), b"\n", whole, b"\n", own, b"\n", theirs))
    own_names = {line[7:] for line in own.split(b"\n") if line.startswith(b"commit ")}
    return _holds(run("patch-id", "--stable", data=text), own_names)


def _holds(patch_ids: bytes, own: set[bytes]) -> bool:
    """Whether the whole change, or each of the branch's `own` commits, is among the others."""
    whole: bytes | None = None
    mine: list[bytes] = []
    others: set[bytes] = set()
    for line in patch_ids.splitlines():
        patch, _, commit = line.partition(b" ")
        if commit == _WHOLE.encode():
            whole = patch
        elif commit in own:
            mine.append(patch)
        else:
            others.add(patch)
    return whole in others or (0 < len(mine) < MOST and others.issuperset(mine))


def _parted(out: bytes) -> tuple[list[str], bytes]:
    """The files that `--raw -z -p` names, and its patch."""
    files: list[str] = []
    at = 0
    while out[at : at + 1] == b":":
        name = out.index(b"\0", at) + 1
        at = out.index(b"\0", name)
        files.append(decode(out[name:at]))
        at += 1
    return files, out[at:].lstrip(b"\0")
