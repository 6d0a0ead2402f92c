"""The brain's remote: fetch and push one branch, verified by reading refs, and what may not leave this clone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commonwealth.errors import Refused
from commonwealth.repo.commit import shown
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, decode
from commonwealth.repo.head import ref_value
from commonwealth.repo.objects import Objects
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


def refuse_outgoing_secrets(git: Git, commit: str, known: Sequence[str], content: Content) -> None:
    """Scan every file and message that a push of `commit` would make public for the first time.

    `known` are commits whose history is public already. Raises Refused for the first secret.
    """
    exclude = [f"^{name}" for name in known]
    listed = decode(git.run("rev-list", "--objects", commit, *exclude)).split("\n")
    with Objects(git) as objects:
        for line in filter(None, listed):
            name, _, path = line.partition(" ")
            info = objects.info(name)
            if info is None or info[1] not in ("blob", "commit"):
                continue
            data = objects.read(name) or b""
            where = path if info[1] == "blob" else ""
            if not where:
                data = _words_of_commit(data)
            elif content.is_derived(where):
                data = _new_lines(objects, data, [f"{name}:{where}" for name in known])
            for finding in content.scan(where, data):
                place = shown(path, content) if where else f"the commit {name[:12]}"
                raise Refused(
                    f"secret: {place}: {finding.where} ({finding.rule}) in a commit that is not published yet",
                    hint="Nothing was pushed. Revoke the secret; take it out of the file; then rewrite the commits "
                    f"that hold it: `git rebase -i {known[0][:12] if known else '--root'}`.",
                )


def _new_lines(objects: Objects, data: bytes, published: Sequence[str]) -> bytes:
    """The lines of a derived file that no published version has: such a file may be long, its news are not."""
    known = {line for name in published for line in (objects.read(name) or b"").split(b"\n")}
    return b"\n".join(line for line in data.split(b"\n") if line not in known)


def _words_of_commit(data: bytes) -> bytes:
    """What people wrote into a commit: names and message, without object names and signatures."""
    head, _, message = data.partition(b"\n\n")
    names = [line for line in head.split(b"\n") if line.startswith((b"author ", b"committer "))]
    return b"\n".join([*names, message])
