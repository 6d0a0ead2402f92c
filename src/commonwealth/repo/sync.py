"""The state machine of a sync: fetch, then under the lock recover, commit what people edited, integrate, move,
refresh derived files, and without the lock push; again with random pauses while others are faster.

The writer lock is never held while the network is waited for, so no write waits for a slow remote; a second
lock keeps syncs of one clone apart. Every step may be the last: the next sync goes on from what is there.
"""

from __future__ import annotations

import os
import random
import time

from commonwealth.errors import BrainError, Busy, Refused
from commonwealth.faults import fault
from commonwealth.repo import debris, publish, remote, renamed, request, rewritten, stranded, workfiles
from commonwealth.repo.commit import disk_trouble
from commonwealth.repo.common import git_at
from commonwealth.repo.content import Content, Person
from commonwealth.repo.failures import Declined
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, ref_value, under_way
from commonwealth.repo.integrate import integrate
from commonwealth.repo.lock import FOLDER, FileLock, WriterLock
from commonwealth.repo.move import move
from commonwealth.repo.objects import Objects, reading
from commonwealth.repo.outcome import Debt, Outcome, read_debt, seen_ref
from commonwealth.repo.pending import commit_pending
from commonwealth.repo.recovery import recover_branch
from commonwealth.repo.refresh import (
    MESSAGES,
    is_marked,
    read_mark,
    refresh_commit,
    refreshed,
    touched,
    write_mark,
)
from commonwealth.repo.repair import repair_committed
from commonwealth.repo.run import Consent, Ended, Run
from commonwealth.repo.store import CommitInfo, commit_info, make_own_commit

__all__ = ["Consent", "Debt", "Outcome", "read_debt", "sync"]

MERGE_MESSAGE = "Merge notes"
_ROUNDS = 64
_LOCAL_ATTEMPTS = 4


def sync(
    git: Git,
    content: Content,
    author: Person,
    *,
    now: str,
    timeout: float = 60,
    push: bool = True,
    consent: Consent | None = None,
    rng: random.Random | None = None,
) -> Outcome:
    """Bring this clone and its remote together; `timeout` in seconds bounds all waiting for the network.

    `consent` is what the caller allows beyond an ordinary sync. Raises Busy where another sync, writer or git
    process does not let go in time, Refused where HEAD is not on the brain's branch, a merge by hand is under way, or
    the disk is full, Damaged. Trouble with the remote is no exception but part of the outcome: local work is
    committed all the same.
    """
    place = os.path.join(git.common_dir, FOLDER, "sync.lock")
    lock = FileLock(place, "sync", "Another sync of this brain is under way")
    deadline = time.monotonic() + timeout
    lock.acquire(timeout)
    try:
        spread = rng or random.Random()  # noqa: S311 - spreads rivals
        run = Run(git, content, author, now, deadline, consent or Consent(), spread)
        with reading(git):
            return run.outcome(_go(run, push=push))
    except OSError as error:
        raise disk_trouble(git, error) from error
    finally:
        lock.release()


def _go(run: Run, *, push: bool) -> Ended:
    """Rounds of fetch, local work and push until the remote has our tip; the state and the trouble."""
    run.branch = main_branch(run.git)
    run.start = run.tip = branch_tip(run.git, run.branch)
    names = remote.remote_names(run.git)
    run.remote = remote.chosen(names)
    if (lost := remote.lost(run.git)) is not None:
        run.warnings.append(f"{lost.message} {lost.step}")
    if run.remote is None and names:
        run.warnings.append(
            f"Nothing is shared: of the remotes {', '.join(names)} none is called origin. "
            f"Say which is the brain's: `{git_at(run.git.root)} remote rename {names[0]} origin`."
        )
    for _ in range(_ROUNDS):
        ended = _round(run, push=push)
        if ended is not None:
            return ended
        if time.monotonic() >= run.deadline:
            break
    return run.owing("deferred", publish.outrun(run.branch))


def _round(run: Run, *, push: bool) -> Ended | None:
    """Fetch, work here, push; None if somebody else pushed first."""
    run.rounds, run.began = run.rounds + 1, time.monotonic()
    trouble = _fetch(run)
    refusal = _local(run, gone=trouble is None)
    if refusal is not None:
        return run.owing("refused", refusal)
    if trouble is not None:
        hopeless = isinstance(trouble, Refused) and not isinstance(trouble, Declined)
        return run.owing("refused" if hopeless else "deferred", trouble)
    if run.remote is None:
        return run.done("committed")
    if run.tip is None or run.tip == run.theirs or publish.is_settled(run):
        return run.published()
    return publish.push(run) if push else run.owing("committed", None)


def _fetch(run: Run) -> BrainError | None:
    """Learn the remote's tip; where it cannot be asked, go on with what was fetched before."""
    if run.remote is None:
        return None
    ref = remote.tracking_ref(run.remote, run.branch)
    run.known = ref_value(run.git, seen_ref(run.branch)) or ref_value(run.git, ref)
    try:
        run.theirs = remote.fetch(run.git, run.remote, run.branch, run.left())
        renamed.look(run)
        if publish.shares_by_request(run):
            request.look(run)
    except BrainError as error:
        run.theirs = run.known
        return error
    fault("fetched")
    return None


def _local(run: Run, *, gone: bool) -> Refused | None:
    """All that needs the writer lock. A reason to stop, or None."""
    for attempt in range(_LOCAL_ATTEMPTS):
        with WriterLock(run.git.git_dir, operation="sync") as held:
            try:
                return _local_once(run, held, gone=gone)
            except (Busy, workfiles.Changed):
                # Somebody saved a file, or used git, at this very moment.
                if attempt == _LOCAL_ATTEMPTS - 1:
                    raise
    return None


def _local_once(run: Run, held: WriterLock, *, gone: bool) -> Refused | None:
    """Recover, commit what people edited, integrate, move, refresh."""
    patience = 0 if run.consent.asked and not stranded.is_begun(run.git) else stranded.PATIENCE
    run.branch, warnings = recover_branch(run.git, run.content, patience=patience)
    run.warnings.extend(warnings)
    operation = under_way(run.git)
    if operation is not None:
        what, command = operation
        raise Refused(
            f"A {what} by hand is under way in {run.git.root}.",
            hint=f"End it (`{command} --continue`) or undo it (`{command} --abort`), then sync again. Where nobody "
            "is at work on it any more, `brain doctor --fix` ends it.",
        )
    run.tip = branch_tip(run.git, run.branch)
    if not run.settled:
        _settle(run, held)
    refusal = None
    if run.remote is not None:
        refusal = renamed.follow(run) or rewritten.check(run, gone=gone)
    if refusal is None:
        _bring_in(run)
        request.end_if_taken(run)
        # What a person pushed with a merge's markers in it is mended before anybody reads it here.
        run.tip, repaired = repair_committed(run.git, run.content, run.tip, held)
        run.warnings.extend(repaired)
    _refresh(run)
    return refusal


def _settle(run: Run, held: WriterLock) -> None:
    """Commit people's edits, once a sync."""
    debris.sweep(run.git)
    settled = commit_pending(
        run.git,
        run.content,
        run.author,
        now=run.now,
        held=held,
        tip=run.tip,
        accept_deletions=run.consent.accept_deletions,
    )
    run.tip, run.settled = settled.tip, True
    run.committed = bool(settled.committed)
    run.warnings.extend(settled.warnings)
    fault("settled")


def _bring_in(run: Run) -> None:
    """Unite our branch with the remote's, and move it and the work tree there."""
    theirs, tip = run.theirs, run.tip
    if theirs is None or theirs == tip:
        return
    bases = (tip,) if tip is None else run.bases(tip, theirs)
    if bases == (theirs,):
        return
    ours = tip if tip is None or bases == (tip,) else _own_notes(run, tip, theirs)
    if tip is None or ours is None or run.follows(theirs, ours):
        target = theirs
        run.pulled |= run.notes_in(tip, theirs)
    else:
        target = _merge(run, ours, theirs)
    run.warnings.extend(move(run.git, run.branch, tip, target, run.content))
    run.tip = target
    if target != theirs:
        write_mark(run.git, target)


def _merge(run: Run, ours: str, theirs: str) -> str:
    """The merge commit of our last note commit into the remote's tip; nothing has moved yet."""
    united = integrate(run.git, run.bases(ours, theirs), ours, theirs, run.content)
    run.pulled |= {path for path in united.pulled if run.content.owns(path)}
    run.warnings.extend(united.warnings)
    run.conflicts.update(united.conflicts)
    with Objects(run.git) as objects:
        infos = [commit_info(objects, commit) for commit in (theirs, ours)]
    if request.was_offered(run) and united.tree == infos[0].tree:
        return theirs  # a request was taken over, squashed or rebased: nothing of ours is left to say
    paths = touched(run.git, united.tree, [read_mark(run.git), theirs])
    tree = refreshed(run.git, united.tree, paths, run.content, run.warnings, history=[theirs, ours])
    fault("merge-tree")
    merged = make_own_commit(run.git, tree, [theirs, ours], MERGE_MESSAGE, max(info.seconds for info in infos))
    fault("merge-commit")
    return merged


def _own_notes(run: Run, tip: str, theirs: str) -> str:
    """Our last commit that carries notes: merges and derived-only commits of ours that nobody has seen
    say nothing of their own, and are made anew."""
    with Objects(run.git) as objects:
        while not run.follows(theirs, tip):
            info = commit_info(objects, tip)
            if len(info.parents) == 1 and _is_derived(info) and run.only_derived(info.parents[0], tip):
                tip = info.parents[0]
            elif len(info.parents) == 2 and info.is_ours(MERGE_MESSAGE):
                tip = info.parents[1]
            else:
                break
    return tip


def _is_derived(info: CommitInfo) -> bool:
    return any(map(info.is_ours, MESSAGES))


def _refresh(run: Run) -> None:
    """Bring the derived files up to date with the notes of our tip."""
    if run.tip is None or is_marked(run.git, run.tip):
        return
    commit = refresh_commit(run.git, run.tip, run.content, run.warnings)
    if commit != run.tip:
        run.warnings.extend(move(run.git, run.branch, run.tip, commit, run.content))
        run.tip = commit
        fault("derived")
        write_mark(run.git, commit)
