"""The remote's history is not the one that we know: nothing goes out and nothing comes in until a person decides.

Their history may have been rewritten to take something out of it for good. So `--adopt-remote` (see `adopt`) never
brings back what was public once; and as a last door, what an adoption has left behind may not be pushed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from commonwealth import atomic
from commonwealth.errors import Refused
from commonwealth.repo import request
from commonwealth.repo.adopt import adopt, published_tips
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import ref_value, state_file
from commonwealth.repo.objects import Objects, is_commit
from commonwealth.repo.outcome import rescue, seen_ref
from commonwealth.repo.purged import purged
from commonwealth.repo.remote import tracking_ref
from commonwealth.repo.run import Run
from commonwealth.repo.store import differences

_GONE = "purged"
_LOG = 1 << 16
"""Bytes of the end of a ref's log that are looked at."""


def check(run: Run, *, gone: bool) -> Refused | None:
    """Whether the remote's history is still the one we know, or is adopted now; if neither, why and what to do.

    `gone` says that a remote which shows no branch really has none. Ours is kept under a rescue ref.
    """
    if run.theirs is None:
        return _branch_gone(run) if run.known is not None and gone else None
    run.known = _lost_of_ours(run) or run.known
    rewritten = run.known is not None and not run.follows(run.theirs, run.known)
    if rewritten and not _taken_by_hand(run):
        what = f"The remote's {run.branch} was rewritten: it no longer holds {str(run.known)[:12]}"
    elif run.tip not in (None, run.theirs) and not run.bases(str(run.tip), run.theirs):
        what = f"The remote's {run.branch} has nothing in common with this brain"
    else:
        if rewritten:
            request.forget(run)
        if run.known is None or ref_value(run.git, seen_ref(run.branch)) != run.theirs:
            run.see(run.theirs)
        return None
    kept = rescue(run.git, run.tip)
    if run.consent.adopt_remote and not run.adopted:
        remember_gone(run)
        refusal = adopt(run, kept)
        if refusal is None:
            request.forget(run)
            run.see(run.theirs)
        return refusal
    return Refused(
        f"{what}. Nothing was pushed or taken over; ours is kept as {kept}.",
        hint="Ask whoever keeps the remote. If its history is right, `brain sync --adopt-remote` takes it, with only "
        "those notes of yours on top that were never published.",
    )


def _lost_of_ours(run: Run) -> str | None:
    """A commit of our branch that the remote's had since our last look, and has no more: somebody pushed or fetched it
    with plain git, so that only the log of the tracking ref knows."""
    seen, tip = ref_value(run.git, seen_ref(run.branch)), run.tip
    if tip is None:
        return None
    moves = _moves_of(run.git, tracking_ref(str(run.remote), run.branch))
    since = moves if seen is None else moves[len(moves) - moves[::-1].index(seen) :] if seen in moves else []
    for name in reversed(since):
        if name == run.theirs or not is_commit(run.git, name):  # what was pruned since is none of our branch
            continue
        if run.follows(tip, name) and not run.follows(str(run.theirs), name):
            return name
    return None


def _moves_of(git: Git, ref: str) -> list[str]:
    """Where a ref was lately, as its log says, the oldest first; a clone logs only what comes after it."""
    try:
        with open(os.path.join(git.common_dir, "logs", *ref.split("/")), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG))
            lines = file.read(_LOG).split(b"\n")
    except OSError:
        return []
    pairs = [line.split(b" ", 2)[:2] for line in lines if line.count(b" ") > 1]
    names = [name.decode("ascii", "replace") for name in (*(pairs[0][:1] if pairs else ()), *(new for _, new in pairs))]
    return [name for name in names if name.strip("0")]  # a ref that was just made was nowhere before


def _branch_gone(run: Run) -> Refused:
    kept = rescue(run.git, run.tip)
    return Refused(
        f"The branch {run.branch} is gone from the remote. Nothing was pushed; ours is kept as {kept}.",
        hint="It may have been removed to take something out for good, so it is not made again by itself. Bring it "
        f"back there; or, if all that this clone holds may be public, "
        f"`{git_at(run.git.root)} push {run.remote} {run.branch}` by hand.",
    )


def _taken_by_hand(run: Run) -> bool:
    """Whether a person has put our branch onto the new history (`git reset`, `git rebase`), and none of the notes
    that it lacks, nor what it took out of one, is on top of it again."""
    tip, theirs, known = run.tip, str(run.theirs), str(run.known)
    if tip is None or run.follows(theirs, tip):
        return True
    if not run.follows(tip, theirs):
        return False
    if any(not run.follows(theirs, base) for base in run.bases(tip, known)):
        return False
    if not _names(fields(run.git.run("ls-tree", "-r", "-z", "--name-only", known))).isdisjoint(_added(run)):
        return False
    with Objects(run.git) as objects:
        lost = purged(run.git, run.content, objects, known, theirs)
        ours = differences(run.git, theirs, tip)
        return not any(lost.comes_back(objects, path, delta.old, delta.new) for path, delta in ours.items())


def _added(run: Run) -> set[str]:
    """The file names of notes that our branch has and the remote's lacks."""
    deltas = differences(run.git, run.theirs, str(run.tip))
    come = {path for path, delta in deltas.items() if delta.old is None and run.content.owns(path)}
    return _names(come) - _names(path for path, delta in deltas.items() if delta.new is None)


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rsplit("/", 1)[-1] for path in paths}


def remember_gone(run: Run) -> None:
    """Keep the names of notes that the adopted history lacks, for `refuse_return`; what was kept earlier stays."""
    there = _names(fields(run.git.run("ls-tree", "-r", "-z", "--name-only", str(run.theirs))))
    were: set[str] = set(_gone(run.git))
    for tip in published_tips(run):
        listed = fields(run.git.run("ls-tree", "-r", "-z", "--name-only", tip))
        were |= _names(path for path in listed if run.content.owns(path))
    if were - there:
        listing = "".join(f"{name}\n" for name in sorted(were - there))
        atomic.replace(state_file(run.git, _GONE), listing.encode("utf-8", "surrogateescape"))


def _gone(git: Git) -> tuple[str, ...]:
    return tuple(filter(None, (read_text(state_file(git, _GONE), 1 << 26) or "").split("\n")))


def refuse_return(run: Run) -> None:
    """Raise Refused where a push would bring back a note that an adopted history has taken out: an editor may have
    saved it again."""
    if run.tip is None or not os.path.exists(state_file(run.git, _GONE)):
        return
    back = sorted(_added(run).intersection(_gone(run.git)))
    if back:
        raise Refused(
            f"{back[0]} was taken out of the remote's history, and this push would bring it back.",
            hint="Nothing was pushed. Delete that file; or, if the fact may be public, record it as a new note.",
        )
