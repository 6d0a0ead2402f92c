"""Our commits go out: one push a round, never by force, looked through for secrets first, verified by reading refs.

Where the main branch takes no pushes, what waits goes to one branch of the remote for requests (see `request`). What
we offer holds what we offered there before, so that a request that people look at is never rewritten under their
eyes. Merged by the server, whether as a merge, a squash or a rebase, it comes back as part of the main branch, and
nothing is left to offer.
"""

from __future__ import annotations

import contextlib
import json
import os
import time

from commonwealth import atomic
from commonwealth.errors import BrainError, Offline, Refused
from commonwealth.faults import fault
from commonwealth.repo import fairness, outgoing, remote, request, rewritten
from commonwealth.repo.common import read_text
from commonwealth.repo.failures import Declined
from commonwealth.repo.head import state_file
from commonwealth.repo.integrate import without_made
from commonwealth.repo.objects import Objects
from commonwealth.repo.run import Ended, Run
from commonwealth.repo.store import commit_info, differences, entries_at, make_own_commit

REQUEST_MESSAGE = "Merge the request"
_PROTECTED = "protected"
_PATIENCE = 0.3
"""The share of the time left that one pause may take: even a short sync tries more than once."""


def push(run: Run) -> Ended | None:
    """Offer our tip once; None if another round is needed, after a pause where somebody else was faster."""
    try:
        if _by_request(run):
            return _request(run)
        return _direct(run)
    except Refused as error:
        return run.owing("committed" if isinstance(error, Declined) else "refused", error)
    except BrainError as error:
        return run.owing("deferred", error)


def _direct(run: Run) -> Ended | None:
    assert run.tip is not None
    tip = run.tip
    answer = _send(run, run.branch, tip, request.own_on_remote(run))
    if answer.state == "accepted" and _is_there(run, run.branch, tip):
        run.sent = True
        run.pushed |= run.notes_in(run.theirs, tip)
        run.theirs = tip
        fairness.forget_lost(run.git)
        _forget_protection(run)
        if run.known is None:
            remote.track(run.git, run.remote or "", run.branch)
        return run.published()
    if answer.state == "protected" and run.consent.request is not None:
        _remember_protection(run)
        run.declined = True
        return None
    if answer.state in ("declined", "protected"):
        return run.owing("committed", _declined(run.branch, answer))
    _lose(run)
    return None


def _send(run: Run, branch: str, commit: str, asked: str | None) -> remote.Pushed:
    """One push of `commit` to the remote's `branch`; `asked` is what the remote has already as a request."""
    rewritten.refuse_return(run)
    known = [*run.scanned, *filter(None, [asked, run.theirs])]
    run.warnings += outgoing.refuse_outgoing_secrets(run.git, commit, known, run.content, run.deadline)
    run.scanned = [commit]
    return remote.push(run.git, run.remote or "", branch, commit, run.left())


def _is_there(run: Run, branch: str, commit: str) -> bool:
    """Whether the remote's branch has `commit`, as the remote itself says."""
    remote_name = run.remote or ""
    found = remote.remote_tip(run.git, remote_name, branch, run.left())
    if found is not None and found != commit:  # somebody may have pushed on top already
        found = remote.fetch(run.git, remote_name, branch, run.left())
    return found is not None and run.follows(found, commit)


def _lose(run: Run) -> None:
    """Somebody else was faster: wait, less than whoever has lost less often."""
    run.refused += 1
    lost = fairness.lost_rounds(run.git) + 1
    fairness.remember_lost(run.git, lost)
    fault("push-refused")
    now = time.monotonic()
    seconds = fairness.pause(run.rng, lost, now - run.began)
    time.sleep(max(0.0, min(seconds, (run.deadline - now) * _PATIENCE)))


def outrun(branch: str) -> Offline:
    """The trouble of a sync for which others were faster until its time was over."""
    return Offline(
        f"Others pushed to {branch} each time we were about to.",
        hint="Nothing is lost: the next sync tries again.",
    )


def _declined(branch: str, answer: remote.Pushed) -> Refused:
    hint = answer.hint or "The commits are kept here, and the next sync offers them again."
    if answer.state == "protected":
        hint = "Ask for the right to push to it, or share by request. The commits are kept here."
    return Refused(f"The remote declines pushes to {branch}: {answer.words}", hint=hint)


# A main branch that takes requests only


def shares_by_request(run: Run) -> bool:
    """Whether this clone shares by a branch for requests, or did and something still waits there."""
    if run.consent.request is None:
        return False
    return run.consent.by_request or _protected_since(run) is not None or request.was_offered(run)


def is_settled(run: Run) -> bool:
    """Whether a request has nothing to ask for: only derived files differ from the remote's main branch."""
    if run.theirs is None or run.tip is None or not shares_by_request(run):
        return False
    return _by_request(run) and run.only_derived(run.theirs, run.tip)


def _by_request(run: Run) -> bool:
    """Whether the main branch is not even tried: by the team's rule, or as it declined today. A branch that does not
    exist yet is made by pushing to it."""
    if run.consent.request is None or run.theirs is None:
        return False
    if run.consent.asked and not run.declined:
        return run.consent.by_request
    return run.consent.by_request or _protected_since(run) == run.now[:10]


def _request(run: Run) -> Ended | None:
    """Offer our tip on a branch for requests, unless it has all that is ours already."""
    assert run.tip is not None
    commit = run.tip
    branch, asked = request.place(run)
    if asked is not None:
        if _holds_ours(run, asked) and _merges(run, asked):
            request.confirm(run, branch, asked)
            return _waiting(run, branch)
        if not run.follows(commit, asked):
            with Objects(run.git) as objects:
                tree = commit_info(objects, commit).tree
            parents = [commit, asked]
            commit = make_own_commit(run.git, tree, parents, REQUEST_MESSAGE, _latest(run, *parents))
    request.attempt(run, branch, commit)
    answer = _send(run, branch, commit, asked)
    if answer.state == "accepted" and remote.remote_tip(run.git, run.remote or "", branch, run.left()) == commit:
        request.confirm(run, branch, commit)
        fault("request-offered")
        run.sent = True
        run.pushed |= run.notes_in(run.theirs, run.tip)
        fairness.forget_lost(run.git)
        return _waiting(run, branch)
    if answer.state in ("declined", "protected"):
        return run.owing("committed", _declined(branch, answer))
    _lose(run)
    return None


def _holds_ours(run: Run, commit: str) -> bool:
    """Whether `commit` has every change of ours to the main branch."""
    assert run.tip is not None
    with Objects(run.git) as objects:
        deltas = without_made(differences(run.git, run.theirs, run.tip), run.content, objects)
    ours = {path: delta.new for path, delta in deltas.items()}
    return entries_at(run.git, commit, ours) == {path: entry for path, entry in ours.items() if entry is not None}


def _merges(run: Run, commit: str) -> bool:
    """Whether a server that knows no notes can surely merge `commit`: no file was changed on both sides. A derived
    file that others changed too may keep it from that, until a newer offer has both sides' changes."""
    theirs = run.theirs or ""
    bases = run.bases(theirs, commit)
    sides = [differences(run.git, bases[0], side) for side in (theirs, commit)] if bases else []
    return bool(sides) and all(sides[1][path].new == delta.new for path, delta in sides[0].items() if path in sides[1])


def _latest(run: Run, *commits: str) -> int:
    with Objects(run.git) as objects:
        return max(commit_info(objects, commit).seconds for commit in commits)


def _waiting(run: Run, branch: str) -> Ended:
    """What waits is on the branch for requests: that is as far as we can take it."""
    count = len(run.notes_in(run.theirs, run.tip or ""))
    what = (
        f"{count} note{'s' if count != 1 else ''} of yours wait{'s' if count == 1 else ''}" if count else "Yours waits"
    )
    why = "changes come in by request" if run.consent.by_request else "that branch is protected"
    return run.owing(
        "committed",
        Refused(
            f"{what} on the branch {branch} of the remote to get into {run.branch}: {why}.",
            hint=f"Open a request there to merge {branch} into {run.branch} (one that is open has grown by itself). "
            "When it is merged, the next sync takes it in.",
        ),
    )


def _protected_since(run: Run) -> str | None:
    """The day on which our branch last declined a push as protected; None if it never did, or has taken one since."""
    text = read_text(state_file(run.git, _PROTECTED), 4096)
    try:
        found = json.loads(text) if text else None
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("branch") != run.branch:
        return None
    return str(found.get("day", ""))


def _remember_protection(run: Run) -> None:
    """Until tomorrow, when the main branch is tried again, a push to it would be in vain."""
    record = {"branch": run.branch, "day": run.now[:10]}
    atomic.replace(state_file(run.git, _PROTECTED), json.dumps(record).encode("utf-8"))


def _forget_protection(run: Run) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(run.git, _PROTECTED))
