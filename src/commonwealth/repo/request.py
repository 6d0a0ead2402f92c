"""Which branch of the remote takes our requests, and what we pushed to it last.

Anybody who may push a branch can write to one that is named after us, and one that has outlived a rewritten history
still holds what was taken out of it. So nothing that lies on such a branch is ever taken in, and what we offer goes
on from it only where this clone has pushed its tip itself, or holds it anyway. Any other is left alone, and the next
free name is used: `brain/<you>`, `brain/<you>-2`, `-3`. Two clones of one person so have a branch each.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from commonwealth import atomic
from commonwealth.repo import remote
from commonwealth.repo.common import read_text
from commonwealth.repo.head import is_object_name, ref_value, state_file
from commonwealth.repo.objects import is_commit
from commonwealth.repo.run import REQUEST_REF, Run
from commonwealth.repo.store import move_ref
from commonwealth.safetext import one_line

_OFFERED = "offered"
"""The file of this clone that says what we pushed where; a private ref keeps the commit."""


@dataclass(frozen=True, slots=True)
class Offered:
    """What this clone pushed to a branch for requests: the last commit that arrived, one that may have arrived before
    a sync was killed, and whether the main branch still lacks it."""

    branch: str
    commit: str | None = None
    trying: str | None = None
    waits: bool = True


def offered(run: Run) -> Offered | None:
    """What this clone pushed last, if it is by the same person and not forgotten."""
    text = read_text(state_file(run.git, _OFFERED), 4096)
    try:
        found = json.loads(text) if text else None
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("branch") not in _likely_names(run, str(found.get("branch"))):
        return None
    commits = [found.get(key) for key in ("commit", "trying")]
    commit, trying = (name if isinstance(name, str) and is_object_name(name) else None for name in commits)
    return Offered(str(found["branch"]), commit, trying, found.get("waits") is not False)


def _likely_names(run: Run, branch: str) -> tuple[str, ...]:
    base = run.consent.request
    if base is None:
        return ()
    number = branch.removeprefix(f"{base}-")
    return (base, f"{base}-{number}") if number.isdecimal() else (base,)


def was_offered(run: Run) -> bool:
    """Whether something that was pushed from here to a branch for requests still waits to get into the main branch."""
    found = offered(run)
    return found is not None and found.waits


def look(run: Run) -> None:
    """Ask the remote for the tips of all branches that may be ours; no object of theirs is fetched."""
    base = run.consent.request
    run.requests = remote.tips(run.git, run.remote or "", f"{base}*", run.left()) if base and run.remote else {}


def place(run: Run) -> tuple[str, str | None]:
    """The branch to push to, and its tip where what we push has to go on from there."""
    found = offered(run)
    for name in _names(run, found):
        at = run.requests.get(name)
        if any(other.startswith(f"{name}/") for other in run.requests):
            continue  # git has no room there
        if at is None or _is_ours(run, found, name, at):
            return name, at
    raise AssertionError  # the names never end


def _names(run: Run, found: Offered | None) -> Iterator[str]:
    if found is not None and found.branch in run.requests:
        yield found.branch
    yield run.consent.request or ""
    yield from (f"{run.consent.request}-{number}" for number in count(2))


def _is_ours(run: Run, found: Offered | None, name: str, at: str) -> bool:
    """Whether we may go on from `at`: we pushed it, or hold it already."""
    if not is_commit(run.git, at):
        return False
    if found is not None and found.branch == name and at in (found.commit, found.trying):
        return True
    return run.tip is not None and run.follows(run.tip, at)


def own_on_remote(run: Run) -> str | None:
    """The commit that we pushed last, while the remote's branch for requests still is exactly that."""
    found = offered(run)
    return found.commit if found is not None and found.commit == run.requests.get(found.branch) else None


def withdrawn(run: Run) -> str | None:
    """The commit that we pushed last, where the remote's branch for requests does not hold it any more."""
    found = offered(run)
    if found is None or found.commit is None or not is_commit(run.git, found.commit):
        return None
    at = run.requests.get(found.branch)
    holds = at is not None and (at == found.commit or (is_commit(run.git, at) and run.follows(at, found.commit)))
    return None if holds else found.commit


def attempt(run: Run, branch: str, commit: str) -> None:
    """Remember, before it is pushed, that `commit` is ours, so that a sync that is killed knows it again."""
    found = offered(run)
    kept = found.commit if found is not None and found.branch == branch else None
    _write(run, Offered(branch, kept, commit))


def confirm(run: Run, branch: str, commit: str) -> None:
    """Remember that `commit` is what lies on the remote's `branch`."""
    move_ref(run.git, REQUEST_REF, commit, ref_value(run.git, REQUEST_REF), "offered")
    _write(run, Offered(branch, commit))


def end_if_taken(run: Run) -> None:
    """Nothing waits any more once the main branch holds what was offered, or ours says nothing more than it does."""
    found = offered(run)
    if found is None or not found.waits or run.theirs is None or run.tip is None:
        return
    commit = found.commit
    if run.tip == run.theirs or (commit and is_commit(run.git, commit) and run.follows(run.theirs, commit)):
        _write(run, replace(found, waits=False))


def forget(run: Run) -> None:
    """A rewritten history was taken: what was offered before goes on from the old one, so it is built upon no more."""
    found = offered(run)
    if found is not None and found.branch in run.requests:
        run.warnings.append(
            f"The branch {one_line(found.branch)} of the remote still goes on from the history before: "
            "close its request and delete it there. What waits is offered on another branch."
        )
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(run.git, _OFFERED))
    run.git.call("update-ref", "-d", REQUEST_REF)


def _write(run: Run, found: Offered) -> None:
    record = {"branch": found.branch, "commit": found.commit, "trying": found.trying, "waits": found.waits}
    atomic.replace(state_file(run.git, _OFFERED), json.dumps(record).encode("utf-8", "surrogateescape"))
