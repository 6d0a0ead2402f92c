"""The brain's remote: fetch and push a branch, verified by reading refs, and learn what branches there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from commonwealth.faults import fault
from commonwealth.repo.common import git_at
from commonwealth.repo.declined import next_step, words_of
from commonwealth.repo.failures import not_git
from commonwealth.repo.git import Git, decode, redact
from commonwealth.repo.head import ref_value
from commonwealth.repo.listed import listed, refuse_credentials

_RACES = (
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "failed to update ref",
    "stale info",
    "incorrect old",
)
_LOCAL_RACES = ("cannot lock ref", "unable to update local ref", "unable to create", "couldn't set")
_PROTECTED = (
    r"protected branch|changes must be made through a (?:pull|merge) request"  # GitHub, GitLab, Gitea, Forgejo
    r"|can only be modified through pull requests|permission denied to update branch"  # Bitbucket
    r"|TF402455|must use a pull request to update this branch"  # Azure
)
"""What servers say when a branch takes no pushes, only requests."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push: accepted, raced (somebody was faster), protected (the branch takes requests only) or
    declined, with the remote's words and the next step, where one is known.

    `plain` is the answer of a remote that takes no push options. `said` are the lines that the remote printed.
    """

    state: str
    words: str = ""
    hint: str | None = None
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heads:
    """The remote's branches with their tips, and the name of its default branch, which may not exist."""

    default: str | None = None
    tips: Mapping[str, str] = field(default_factory=dict)


def remote_name(git: Git) -> str | None:
    """The remote to share with: `origin`, else the only one, else None."""
    return chosen(remote_names(git))


def remote_names(git: Git) -> tuple[str, ...]:
    """The remotes that this clone knows."""
    return tuple(dict.fromkeys(name for name, _, _ in listed(git)))


def chosen(names: tuple[str, ...]) -> str | None:
    """Which of several remotes the brain shares with: `origin`, else the only one, else none."""
    if "origin" in names:
        return "origin"
    return names[0] if len(names) == 1 else None


@dataclass(frozen=True, slots=True)
class Lost:
    """A remote that was there and is not configured any more: what is so, and how it comes back."""

    message: str
    step: str


def lost(git: Git) -> Lost | None:
    """Whether this clone has shared with a remote before and knows none now, as after the loss of its settings."""
    if remote_names(git):
        return None
    refs = git.text("for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes", "refs/commonwealth/seen")
    if not refs:
        return None
    name = refs.split("/")[2] if refs.startswith("refs/remotes/") else "origin"
    command = f"{git_at(git.root)} remote add {shlex.quote(name)} URL"
    return Lost(
        "This clone has shared with a remote before, and none is configured now: nothing is published.",
        f"`{command}` sets it again.",
    )


def tracking_ref(remote: str, branch: str) -> str:
    """The ref that holds what was last seen of the remote's branch."""
    return f"refs/remotes/{remote}/{branch}"


def fetch(git: Git, remote: str, branch: str, timeout: float) -> str | None:
    """The commit at the remote's branch, fetched; None where the remote has no such branch.

    Raises Offline after `timeout` seconds, or what the failure means.
    """
    refuse_credentials(git, remote, "fetch")
    ref = tracking_ref(remote, branch)
    words = ("fetch", "--quiet", "--no-tags", "--no-filter", "--no-write-fetch-head")
    refspec = f"+refs/heads/{branch}:{ref}"
    for attempt in range(3):
        done = git.call(*words, remote, refspec, timeout=timeout)
        if done.code == 0:
            return ref_value(git, ref)
        if "couldn't find remote ref" in done.err:
            require_git(git, remote, timeout)
            return None
        # A fetch by hand at the same moment may hold the tracking ref for an instant.
        if attempt == 2 or not any(sign in done.err for sign in _LOCAL_RACES):
            raise git.failure(done)
    return None


def require_git(git: Git, remote: str, timeout: float) -> None:
    """Raise Offline unless it is git that says there is no such branch.

    Git takes any page, such as that of a login, for the list of a plain file server, often an empty one.
    """
    done = git.call("ls-remote", "--quiet", remote, timeout=timeout, env={"GIT_TRACE_PACKET": "1"})
    if done.code:
        raise git.failure(done)
    if not done.out and "packet:" not in done.err:
        raise not_git(f"git fetch, {git.root}")


def push(
    git: Git,
    remote: str,
    branch: str,
    commit: str,
    timeout: float,
    *,
    ref: str | None = None,
    options: Sequence[str] = (),
) -> Pushed:
    """Offer `commit` as the remote's branch, or another `ref`, never by force. Raises Offline, Declined, Refused,
    GitError. `options` are for the server, which may take none."""
    refuse_credentials(git, remote, "push")
    refspec = f"{commit}:{ref or f'refs/heads/{branch}'}"
    given = [f"--push-option={option}" for option in options]
    fault("push-before")
    done = git.call("push", "--porcelain", "--quiet", *given, remote, refspec, timeout=timeout)
    lines = [line for line in redact(decode(done.out)).splitlines() if line.startswith("!")]
    said = tuple(line[7:].strip() for line in done.err.splitlines() if line.startswith("remote:"))
    if given and done.code and "does not support push options" in done.err:
        return Pushed("plain")
    if done.code and not lines:
        raise git.failure(done)
    if not lines:
        fault("push-accepted")
        return Pushed("accepted", said=said)
    if any(sign in lines[0] for sign in _RACES):
        return Pushed("raced")
    words = words_of(lines[0], done.err)
    state = "protected" if re.search(_PROTECTED, words, re.IGNORECASE) else "declined"
    return Pushed(state, words, next_step(words))


def remote_tip(git: Git, remote: str, branch: str, timeout: float) -> str | None:
    """What the remote itself says its branch is at this moment."""
    return tips(git, remote, branch, timeout).get(branch)


def tips(git: Git, remote: str, pattern: str, timeout: float) -> dict[str, str]:
    """The tips of the remote's branches at this moment, by name: of those that match, and maybe of others."""
    out = git.run("ls-remote", "--quiet", remote, f"refs/heads/{pattern}", timeout=timeout)
    found = (line.partition("\t") for line in decode(out).splitlines())
    return {name[len("refs/heads/") :]: value for value, _, name in found if name.startswith("refs/heads/")}


def heads(git: Git, remote: str, timeout: float) -> Heads:
    """The remote's branches at this moment. Raises Offline, NoAccess, GitError."""
    out = git.run("ls-remote", "--quiet", "--symref", remote, "HEAD", "refs/heads/*", timeout=timeout)
    default, tips = None, {}
    for line in decode(out).splitlines():
        value, _, name = line.partition("\t")
        if name == "HEAD" and value.startswith("ref: refs/heads/"):
            default = value[len("ref: refs/heads/") :]
        elif name.startswith("refs/heads/"):
            tips[name[len("refs/heads/") :]] = value
    return Heads(default, tips)


def track(git: Git, remote: str, branch: str) -> None:
    """Let plain `git pull` in this clone know where the branch comes from, unless a person has said so."""
    if git.call("config", "--get", f"branch.{branch}.merge").code:
        git.run("config", "--local", f"branch.{branch}.remote", remote)
        git.run("config", "--local", f"branch.{branch}.merge", f"refs/heads/{branch}")
