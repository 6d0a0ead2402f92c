"""The brain's remote: fetch and push one branch, verified by reading refs."""

from __future__ import annotations

from dataclasses import dataclass

from commonwealth.repo.git import Git, decode
from commonwealth.repo.head import ref_value
from commonwealth.safetext import one_line

_RACES = (
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "failed to update ref",
    "stale info",
    "incorrect old",
)
_LOCAL_RACES = ("cannot lock ref", "unable to update local ref", "unable to create", "couldn't set")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push: accepted, raced (somebody was faster) or declined with the remote's words."""

    state: str
    words: str = ""


def remote_name(git: Git) -> str | None:
    """The remote to share with: `origin`, else the only one, else None."""
    names = git.text("remote").split("\n")
    if "origin" in names:
        return "origin"
    return names[0] if len(names) == 1 and names[0] else None


def tracking_ref(remote: str, branch: str) -> str:
    """The ref that holds what was last seen of the remote's branch."""
    return f"refs/remotes/{remote}/{branch}"


def fetch(git: Git, remote: str, branch: str, timeout: float) -> str | None:
    """The commit at the remote's branch, fetched; None where the remote has no such branch.

    Raises Offline after `timeout` seconds, or what the failure means.
    """
    ref = tracking_ref(remote, branch)
    args = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, f"+refs/heads/{branch}:{ref}")
    for attempt in range(3):
        done = git.call(*args, timeout=timeout)
        if done.code == 0:
            return ref_value(git, ref)
        if "couldn't find remote ref" in done.err:
            return None
        # A fetch by hand at the same moment may hold the tracking ref for an instant.
        if attempt == 2 or not any(sign in done.err for sign in _LOCAL_RACES):
            raise git.failure(done)
    return None


def push(git: Git, remote: str, branch: str, commit: str, timeout: float) -> Pushed:
    """Offer `commit` as the remote's branch, never by force. Raises Offline, NoAccess, GitError."""
    refspec = f"{commit}:refs/heads/{branch}"
    done = git.call("push", "--porcelain", "--quiet", remote, refspec, timeout=timeout)
    lines = [line for line in decode(done.out).splitlines() if line.startswith("!")]
    if done.code and not lines:
        raise git.failure(done)
    if not lines:
        return Pushed("accepted")
    if any(sign in lines[0] for sign in _RACES):
        return Pushed("raced")
    said = [line.removeprefix("remote:").strip() for line in done.err.splitlines() if line.startswith("remote:")]
    reason = lines[0].rpartition("[")[2].replace("]", ":")
    return Pushed("declined", one_line(" ".join([reason, *filter(None, said)]), 300))


def remote_tip(git: Git, remote: str, branch: str, timeout: float) -> str | None:
    """What the remote itself says its branch is at this moment."""
    out = git.run("ls-remote", "--quiet", remote, f"refs/heads/{branch}", timeout=timeout).decode("ascii", "replace")
    return out.split("\t", 1)[0] or None
