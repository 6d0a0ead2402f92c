"""What git's failures mean: one typed error each, in words without control characters or credentials."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.errors import BrainError, Busy, Damaged, Offline, Refused
from commonwealth.safetext import one_line

NETWORK = frozenset({"clone", "fetch", "push", "ls-remote"})
"""The verbs that speak to a remote: their failures are Offline, NoAccess or GitError."""


class GitError(BrainError):
    """A git command failed in a way that no narrower kind describes. `code` is its exit code."""

    def __init__(self, message: str, *, code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class NoAccess(Refused):
    """The remote answered, and does not let this account in (or shows it no such repository)."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a finished git command left: `err` is cleaned, and free of credentials."""

    args: tuple[str, ...]
    code: int
    out: bytes
    err: str


PREFIXED = r"\b(?:gh[opusr]_|github_pat_|glpat-|gloas-|glptt-|ATBB)[\w-]{8,}"
"""Access tokens that name themselves by their prefix."""

# Patterns stay text until something fails: compiling them all would cost every hook milliseconds.
_USERINFO = r"(?i)\b([a-z][a-z0-9+.-]*)://([^\s/?#'\"]*)@"
_SECRETS = (
    (
        (
            r"(?i)\b((?:proxy-)?authorization|(?:private|job|deploy)-token|x-[\w-]*(?:token|key|secret)"
            r"|(?:set-)?cookie)\b(\s*[:=]\s*).*"
        ),
        r"\1\2***",
    ),
    (r"(?i)\b((?:access_|private_|auth_|job_)?token|password|secret|api_key)=[^\s&'\"]+", r"\1=***"),
    (r"(?i)\b(basic|bearer|token)\s+[\w+/=.~-]{16,}", r"\1 ***"),
    (PREFIXED, "***"),
)


def redact(text: str) -> str:
    """`text` without credentials: user info of URLs, authorization headers, token parameters and prefixes."""
    if not text:
        return text
    text = re.sub(_USERINFO, _hide_userinfo, text)
    for pattern, replacement in _SECRETS:
        text = re.sub(pattern, replacement, text)
    return text


def _hide_userinfo(match: re.Match[str]) -> str:
    scheme, user = match[1], match[2]
    keep = "ssh" in scheme.lower() and ":" not in user and "@" not in user
    return match[0] if keep else f"{scheme}://***@"


_ACCESS_HINT = "Check that this account may use the remote: `git ls-remote` in that folder should answer."
_URL_HINT = (
    "Take it out of the URL (`git remote set-url origin URL`, or `url.*.insteadOf` in your own git "
    "configuration) and let git's credential helper keep it."
)
_OFFLINE_HINT = "Nothing is lost: what waits goes out with the next sync."
_REMOTE: tuple[tuple[str, type[BrainError], str, str], ...] = (
    (
        r"host key verification failed",
        NoAccess,
        "The remote's ssh host key is not known here",
        "Connect once by hand (`ssh -T HOST`), compare the key, and accept it.",
    ),
    (
        (
            r"authentication failed|could not read (?:username|password)|terminal prompts disabled"
            r"|invalid (?:username|credentials)|access denied|permission denied|permission to \S+ denied"
            r"|returned error: 40[13]|repository not found|repository '.*' not found"
            r"|insufficient permission|not authorized|project you were looking for"
        ),
        NoAccess,
        "The remote does not let this account in, or has no such repository",
        _ACCESS_HINT,
    ),
    (
        r"url '.*' uses plaintext credentials",
        Refused,
        "The remote's URL carries a password",
        _URL_HINT,
    ),
    (
        r"transport '.*' not allowed",
        Refused,
        "That kind of remote is not allowed",
        "Use an https or ssh URL, or the path of a repository on this machine.",
    ),
    (
        r"fsck error|unpack-objects failed|index-pack failed.*fsck",
        Damaged,
        "The remote sent objects that are not sound",
        "Ask whoever keeps the remote to run `git fsck` there.",
    ),
    (
        (
            r"could not resolve|couldn't connect|failed to connect|connection (?:refused|reset|timed out)"
            r"|connection closed|network is unreachable|no route to host|timed out|name resolution|early eof"
            r"|hung up|rpc failed|returned error: (?:5\d\d|429|408)|does not appear to be a git repository"
            r"|could not read from remote repository|unable to access|ssl[ _]|tls |gnutls"
        ),
        Offline,
        "The remote could not be reached",
        _OFFLINE_HINT,
    ),
)
_LOCAL: tuple[tuple[str, type[BrainError], str, str], ...] = (
    (
        r"\.lock': file exists",
        Busy,
        "Another git process holds a lock",
        "Wait until it is done. If none runs, `brain doctor` names what was left behind.",
    ),
    (
        r"no space left on device|disk quota exceeded|read-only file system|file too large",
        Refused,
        "The disk refused a write",
        "Make room or mend the permissions, then try again; nothing was lost.",
    ),
    (
        r"empty ident name|name consists only of disallowed|invalid ident|unable to auto-detect email",
        Refused,
        "git does not take this author's name",
        "Set another: `git config --global user.name NAME`, or `COMMONWEALTH_AUTHOR`.",
    ),
    (
        r"failed to sign the data|error: (?:gpg|gpgsm|ssh) failed|couldn't load public key|user\.signingkey",
        Refused,
        "git could not sign the commit",
        "Mend the signing, or turn it off for this brain: `git config commit.gpgSign false` in that folder.",
    ),
    (
        r"dubious ownership",
        Refused,
        "git refuses a repository that belongs to another user",
        "If you trust it, add it to `safe.directory` in your own git configuration.",
    ),
    (
        r"cannot use bare repository",
        Refused,
        "There is a bare repository where a work tree should be",
        "Give the folder that holds the notes and the .git folder.",
    ),
    (
        r"not a git repository",
        Damaged,
        "There is no git repository",
        "Check the path; `brain join URL` makes a fresh copy.",
    ),
    (
        (
            r"object file .* is empty|loose object .* corrupt|bad object|bad tree|missing blob"
            r"|unable to read (?:tree|sha1|[0-9a-f]{40})|packfile .* (?:corrupt|cannot)"
            r"|index file (?:corrupt|smaller)|bad signature"
        ),
        Damaged,
        "The repository is damaged",
        "Run `brain doctor`; a fresh `brain join URL` in another folder brings back what was published.",
    ),
)
_NOISE = ("hint:", "warning:", "remote:")


def failure(done: Done, root: str) -> BrainError:
    """The typed error for a command that failed: Busy, Damaged, Refused, NoAccess, Offline or GitError."""
    verb = done.args[0]
    table = _REMOTE + _LOCAL if verb in NETWORK else _LOCAL
    for pattern, kind, message, hint in table:
        match = re.search(pattern, done.err, re.IGNORECASE)
        if match:
            return kind(f"{message}: {_line_around(done.err, match)} (git {verb}, {root})", hint=hint)
    return GitError(f"git {verb} failed in {root}: {_reason(done)}", code=done.code)


def _line_around(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return one_line(text[start : end if end >= 0 else len(text)], 300)


def _reason(done: Done) -> str:
    """The one line of what git said that tells most: its first `fatal:` or `error:`, else its last line."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
    if telling:
        return one_line(telling[0], 300)
    useful = [line for line in lines if not line.startswith(_NOISE)] or lines
    return one_line(useful[-1], 300) if useful else f"exit code {done.code}"


def too_late(args: tuple[str, ...], timeout: float | None) -> BrainError:
    """The error for a command that was stopped after `timeout` seconds."""
    verb = args[0]
    if verb in NETWORK:
        return Offline(f"git {verb} got no answer from the remote in {timeout:g} s.", hint=_OFFLINE_HINT)
    return GitError(f"git {verb} did not end in {timeout:g} s and was stopped.", code=-1)
