"""The state machine of a sync: fetch, then under the lock recover, commit what people edited, integrate, move,
refresh derived files, and without the lock push; again with growing pauses while others are faster.

The writer lock is never held while the network is waited for, so no write waits for a slow remote; a second
lock keeps syncs of one clone apart. Every step may be the last: the next sync goes on from what is there.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field

from commonwealth.errors import BrainError, Busy, Offline, Refused
from commonwealth.faults import fault
from commonwealth.repo import outgoing, remote, workfiles
from commonwealth.repo.commit import disk_trouble
from commonwealth.repo.content import Content, Person
from commonwealth.repo.failures import NoAccess
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, ref_value, under_way
from commonwealth.repo.integrate import integrate, merge_bases
from commonwealth.repo.lock import FOLDER, FileLock, WriterLock
from commonwealth.repo.move import move, recover_branch
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import (
    Debt,
    Outcome,
    clear_debt,
    read_debt,
    record_debt,
    rescue,
    seen_ref,
)
from commonwealth.repo.pending import blocked, commit_pending
from commonwealth.repo.refresh import (
    MESSAGE,
    is_marked,
    read_mark,
    refresh_commit,
    refreshed,
    touched,
    write_mark,
)
from commonwealth.repo.store import commit_info, differences, make_own_commit, move_ref

__all__ = ["Debt", "Outcome", "read_debt", "sync"]

MERGE_MESSAGE = "Merge notes"
_ROUNDS = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
"""Seconds; the pause before round n is random up to the first, doubled n times, at most the longest."""
_LOCAL_ATTEMPTS = 4


def sync(
    git: Git,
    content: Content,
    author: Person,
    *,
    now: str,
    timeout: float = 60,
    push: bool = True,
    accept_deletions: bool = False,
    rng: random.Random | None = None,
) -> Outcome:
    """Bring this clone and its remote together; `timeout` in seconds bounds all waiting for the network.

    Raises Busy where another sync, writer or git process does not let go in time, Refused where HEAD is not
    on the brain's branch, a merge by hand is under way, or the disk is full, Damaged. Trouble with the remote
    is no exception but part of the outcome: local work is committed all the same.
    """
    lock = FileLock(os.path.join(git.git_dir, FOLDER, "sync.lock"), "sync", "Another sync of this brain is under way")
    deadline = time.monotonic() + timeout
    lock.acquire(timeout)
    try:
        run = _Run(git, content, author, now, deadline, accept_deletions, rng or random.Random())  # noqa: S311 - spreads rivals
        return run.outcome(run.go(push=push))
    except OSError as error:
        raise disk_trouble(git, error) from error
    finally:
        lock.release()


@dataclass(slots=True)
class _Run:
    """One sync on its way."""

    git: Git
    content: Content
    author: Person
    now: str
    deadline: float
    accept_deletions: bool
    rng: random.Random
    branch: str = ""
    start: str | None = None
    tip: str | None = None
    remote: str | None = None
    theirs: str | None = None
    known: str | None = None
    settled: bool = False
    committed: bool = False
    sent: bool = False
    pulled: set[str] = field(default_factory=set)
    pushed: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    conflicts: set[str] = field(default_factory=set)
    scanned: list[str] = field(default_factory=list)
    based: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def go(self, *, push: bool) -> tuple[str, BrainError | None]:
        """Rounds of fetch, local work and push until the remote has our tip; the state and the trouble."""
        self.branch = main_branch(self.git)
        self.start = self.tip = branch_tip(self.git, self.branch)
        self.remote = remote.remote_name(self.git)
        for attempt in range(_ROUNDS):
            ended = self.round(attempt, push=push)
            if ended is not None:
                return ended
            if time.monotonic() >= self.deadline:
                break
        return self.owing("deferred", _outrun(self.branch))

    def round(self, attempt: int, *, push: bool) -> tuple[str, BrainError | None] | None:
        """Fetch, work here, push; None if somebody else pushed first."""
        trouble = self.fetch()
        refusal = self.local(gone=trouble is None)
        if refusal is not None:
            return self.owing("refused", refusal)
        if trouble is not None:
            hopeless = isinstance(trouble, Refused) and not isinstance(trouble, NoAccess)
            return self.owing("refused" if hopeless else "deferred", trouble)
        if self.remote is None:
            return self.done("committed")
        if self.tip is None or self.tip == self.theirs:
            return self.published()
        return self.push(attempt) if push else self.owing("committed", None)

    def fetch(self) -> BrainError | None:
        """Learn the remote's tip; where it cannot be asked, go on with what was fetched before."""
        if self.remote is None:
            return None
        ref = remote.tracking_ref(self.remote, self.branch)
        self.known = ref_value(self.git, seen_ref(self.branch)) or ref_value(self.git, ref)
        try:
            self.theirs = remote.fetch(self.git, self.remote, self.branch, self.left())
        except BrainError as error:
            self.theirs = self.known
            return error
        fault("fetched")
        return None

    def left(self) -> float:
        """Seconds left for the network; never none at all, so that a late call fails by its own deadline."""
        return max(0.05, self.deadline - time.monotonic())

    def local(self, *, gone: bool) -> Refused | None:
        """All that needs the writer lock. A reason to stop, or None."""
        for attempt in range(_LOCAL_ATTEMPTS):
            with WriterLock(self.git.git_dir, operation="sync") as held:
                try:
                    return self.local_once(held, gone=gone)
                except (Busy, workfiles.Changed):
                    # Somebody saved a file, or used git, at this very moment.
                    if attempt == _LOCAL_ATTEMPTS - 1:
                        raise
        return None

    def local_once(self, held: WriterLock, *, gone: bool) -> Refused | None:
        """Recover, commit what people edited, integrate, move, refresh."""
        operation = under_way(self.git)
        self.branch, warnings = recover_branch(self.git, self.content)
        self.warnings.extend(warnings)
        if operation is not None:
            what, command = operation
            raise Refused(
                f"A {what} by hand is under way in {self.git.root}.",
                hint=f"End it (`{command} --continue`) or undo it (`{command} --abort`), then sync again.",
            )
        self.tip = branch_tip(self.git, self.branch)
        if not self.settled:
            self.settle(held)
        refusal = self.rewritten(gone=gone)
        if refusal is None:
            self.bring_in()
        self.refresh()
        return refusal

    def settle(self, held: WriterLock) -> None:
        """Commit people's edits, once a sync."""
        settled = commit_pending(
            self.git,
            self.content,
            self.author,
            now=self.now,
            held=held,
            tip=self.tip,
            accept_deletions=self.accept_deletions,
        )
        self.tip, self.settled = settled.tip, True
        self.committed = bool(settled.committed)
        self.warnings.extend(settled.warnings)

    def rewritten(self, *, gone: bool) -> Refused | None:
        """Whether the remote's history is still the one we know; if not, ours is kept under a rescue ref."""
        if self.remote is None:
            return None
        if self.theirs is None:
            if self.known is None or not gone:
                return None
            what = f"The branch {self.branch} is gone from the remote"
        elif self.known is not None and not self.follows(self.theirs, self.known):
            what = f"The remote's {self.branch} was rewritten: it no longer holds {self.known[:12]}"
        elif self.tip not in (None, self.theirs) and not self.bases(str(self.tip), self.theirs):
            what = f"The remote's {self.branch} has nothing in common with this brain"
        else:
            seen = ref_value(self.git, seen_ref(self.branch)) if self.known else None
            if seen != self.theirs:
                move_ref(self.git, seen_ref(self.branch), self.theirs, seen, "seen")
            return None
        kept = rescue(self.git, self.tip)
        return Refused(
            f"{what}. Nothing was pushed or taken over; ours is kept as {kept}.",
            hint="Mend the remote; or, if its history is right, move this clone aside, `brain join` it anew, and "
            "record again what only the old clone holds.",
        )

    def bases(self, ours: str, theirs: str) -> tuple[str, ...]:
        """The merge bases of two commits, asked of git once."""
        if (ours, theirs) not in self.based:
            self.based[ours, theirs] = merge_bases(self.git, ours, theirs)
        return self.based[ours, theirs]

    def follows(self, new: str, old: str) -> bool:
        """Whether `new` holds the history of `old`."""
        return new == old or self.git.holds("merge-base", "--is-ancestor", old, new)

    def bring_in(self) -> None:
        """Unite our branch with the remote's, and move it and the work tree there."""
        theirs, tip = self.theirs, self.tip
        if theirs is None or theirs == tip:
            return
        bases = (tip,) if tip is None else self.bases(tip, theirs)
        if bases == (theirs,):
            return
        ours = tip if tip is None or bases == (tip,) else self.own_notes(tip, theirs)
        if tip is None or ours is None or self.follows(theirs, ours):
            target = theirs
            self.pulled |= self.notes_in(tip, theirs)
        else:
            target = self.merge(ours, theirs)
        self.warnings.extend(move(self.git, self.branch, tip, target, self.content))
        self.tip = target
        if target != theirs:
            write_mark(self.git, target)

    def merge(self, ours: str, theirs: str) -> str:
        """The merge commit of our last note commit into the remote's tip; nothing has moved yet."""
        united = integrate(self.git, self.bases(ours, theirs), ours, theirs, self.content)
        self.pulled |= {path for path in united.pulled if self.content.owns(path)}
        self.warnings.extend(united.warnings)
        self.conflicts.update(united.conflicts)
        paths = touched(self.git, united.tree, [read_mark(self.git), theirs])
        tree = refreshed(self.git, united.tree, paths, self.content, self.warnings)
        fault("merge-tree")
        with Objects(self.git) as objects:
            seconds = max(commit_info(objects, commit).seconds for commit in (theirs, ours))
        merged = make_own_commit(self.git, tree, [theirs, ours], MERGE_MESSAGE, seconds)
        fault("merge-commit")
        return merged

    def own_notes(self, tip: str, theirs: str) -> str:
        """Our last commit that carries notes: merges and derived-only commits of ours that nobody has seen
        say nothing of their own, and are made anew."""
        with Objects(self.git) as objects:
            while not self.follows(theirs, tip):
                info = commit_info(objects, tip)
                if len(info.parents) == 1 and info.is_ours(MESSAGE) and self.only_derived(info.parents[0], tip):
                    tip = info.parents[0]
                elif len(info.parents) == 2 and info.is_ours(MERGE_MESSAGE):
                    tip = info.parents[1]
                else:
                    break
        return tip

    def only_derived(self, parent: str, commit: str) -> bool:
        return all(self.content.is_derived(path) for path in differences(self.git, parent, commit))

    def refresh(self) -> None:
        """Bring the derived files up to date with the notes of our tip."""
        if self.tip is None or is_marked(self.git, self.tip):
            return
        commit = refresh_commit(self.git, self.tip, self.content, self.warnings)
        if commit != self.tip:
            self.warnings.extend(move(self.git, self.branch, self.tip, commit, self.content))
            self.tip = commit
            fault("derived")
            write_mark(self.git, commit)

    def push(self, attempt: int) -> tuple[str, BrainError | None] | None:
        """Offer our tip once; None if somebody else was faster, after a pause."""
        if self.remote is None or self.tip is None:
            return None
        tip = self.tip
        try:
            known = [*self.scanned, *filter(None, [self.theirs])]
            self.warnings += outgoing.refuse_outgoing_secrets(self.git, tip, known, self.content, self.deadline)
            self.scanned = [tip]
            fault("push-before")
            answer = remote.push(self.git, self.remote, self.branch, tip, self.left())
            if answer.state == "accepted":
                fault("push-accepted")
                if self.is_there(tip):
                    self.sent = True
                    self.pushed |= self.notes_in(self.theirs, tip)
                    return self.published()
        except Refused as error:
            return self.owing("committed" if isinstance(error, NoAccess) else "refused", error)
        except BrainError as error:
            return self.owing("deferred", error)
        if answer.state == "declined":
            return self.owing("committed", _declined(self.branch, answer.words))
        fault("push-refused")
        pause = self.rng.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))
        time.sleep(max(0.0, min(pause, self.deadline - time.monotonic())))
        return None

    def is_there(self, tip: str) -> bool:
        """Whether the remote's branch has `tip`, as the remote itself says."""
        remote_name = self.remote or ""
        found = remote.remote_tip(self.git, remote_name, self.branch, self.left())
        if found != tip:  # somebody may have pushed on top already
            found = remote.fetch(self.git, remote_name, self.branch, self.left())
        return found is not None and self.follows(found, tip)

    def notes_in(self, old: str | None, new: str) -> set[str]:
        """The notes that differ between two commits."""
        return {path for path in differences(self.git, old, new) if self.content.owns(path)}

    def published(self) -> tuple[str, BrainError | None]:
        """Everything of ours is on the remote: the debt is paid."""
        seen = ref_value(self.git, seen_ref(self.branch))
        if self.tip is not None and seen != self.tip:
            move_ref(self.git, seen_ref(self.branch), self.tip, seen, "seen")
        fault("debt")
        clear_debt(self.git)
        outgoing.forget_clean(self.git)
        return self.done("published")

    def owing(self, state: str, trouble: BrainError | None) -> tuple[str, BrainError | None]:
        """Something of ours is not on the remote: remember since when."""
        if self.tip is not None and self.tip != self.theirs:
            record_debt(self.git, self.now, trouble.message if trouble else "not pushed yet")
        return (state, trouble) if trouble else self.done(state)

    def done(self, state: str) -> tuple[str, BrainError | None]:
        """`state`, or unchanged where nothing happened."""
        happened = self.committed or self.pulled or self.sent or self.tip != self.start
        return (state if happened else "unchanged"), None

    def outcome(self, ended: tuple[str, BrainError | None]) -> Outcome:
        """The answer to the caller."""
        changed: tuple[str, ...] = ()
        self.warnings += [f"{path} is {cause}." for path, cause in blocked(self.git, self.content)]
        if self.tip is not None and self.tip != self.start:
            changed = tuple(differences(self.git, self.start, self.tip))
        return Outcome(
            state=ended[0],
            head=self.tip,
            pulled=len(self.pulled),
            pushed=len(self.pushed),
            changed=changed,
            warnings=tuple(dict.fromkeys(self.warnings)),
            conflicts=tuple(sorted(self.conflicts)),
            trouble=ended[1],
        )


def _outrun(branch: str) -> Offline:
    return Offline(
        f"Others pushed to {branch} each time we were about to.",
        hint="Nothing is lost: the next sync tries again.",
    )


def _declined(branch: str, words: str) -> Refused:
    return Refused(
        f"The remote declines pushes to {branch}: {words}",
        hint="If that branch is protected, `brain review pr` asks for a merge; the commits are kept here.",
    )
