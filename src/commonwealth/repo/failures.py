"""What git's failures mean: one typed error each, in words without control characters or credentials."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.errors import BrainError, Busy, Damaged, Offline, Refused
from commonwealth.repo.common import git_at
from commonwealth.safetext import one_line

NETWORK = frozenset({"clone", "fetch", "push", "ls-remote"})
"""The verbs that speak to a remote: their failures are Offline, NoAccess or GitError."""


class GitError(BrainError):
    """A git command failed in a way that no narrower kind describes. `code` is its exit code."""

    def __init__(self, message: str, *, code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Declined(Refused):
    """The remote answered, and does not do what it was asked until a person acts: what waits here is kept."""


class NoAccess(Declined):
    """The remote does not let this account in (or shows it no such repository), or is not to be trusted."""


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
    (
        r"(?i)\b((?:access_|private_|auth_|job_)?token|password|passwd|secret|api_?key)(\s*[=:]\s*)[^\s&'\"]+",
        r"\1\2***",
    ),
    (r"(?i)\b(basic|bearer|token)\s+[\w+/=.~-]{16,}", r"\1 ***"),
    # A shell that lacks a program names itself by the whole command that it was given.
    (r"(?m)^.+: (?:line )?\d+: (\S+): (?:command )?not found$", r"\1: not found"),
    (r"\bsshpass(\s+-p\s*)('[^']*'|\"[^\"]*\"|\S+)", r"sshpass\1***"),
    (PREFIXED, "***"),
)
_REMOTE_LINE = r"(?m)^remote:.*"
_UNBROKEN = r"(?<![\w/])(?=[a-zA-Z_]*\d)(?=\d*[a-zA-Z])[\w+=]{20,}"
"""What no word is: letters and digits without a break. A remote's words lose it, be it a commit's name."""


def redact(text: str) -> str:
    """`text` without credentials: user info of URLs, authorization headers, token parameters and prefixes."""
    if not text:
        return text
    text = re.sub(_USERINFO, _hide_userinfo, text)
    for pattern, replacement in _SECRETS:
        text = re.sub(pattern, replacement, text)
    if "remote:" in text:
        text = re.sub(_REMOTE_LINE, lambda match: re.sub(_UNBROKEN, "***", match[0]), text)
    return text


def _hide_userinfo(match: re.Match[str]) -> str:
    scheme, user = match[1], match[2]
    keep = "ssh" in scheme.lower() and ":" not in user and "@" not in user
    return match[0] if keep else f"{scheme}://***@"


_ACCESS_HINT = "Check that this account may use the remote: `{git} ls-remote` should answer."
URL_HINT = (
    "Take it out of the URL (`{git} remote set-url origin URL`, or `url.*.insteadOf` in your own git "
    "configuration) and let git's credential helper keep it."
)
_OFFLINE_HINT = "Nothing is lost: what waits goes out with the next sync."
_ROOM_HINT = "Whoever keeps the remote has to make room there, or to allow larger pushes; nothing is lost."
_NOT_GIT = "What answers in the remote's place does not speak git's language"
_NOT_GIT_HINT = "A proxy, a login page or a greeting may stand in between. Nothing is lost: the next sync tries again."
_REMOTE: tuple[tuple[str, type[BrainError], str, str], ...] = (
    (
        r"host identification has changed",
        NoAccess,
        "The remote's ssh host key is another one than before: somebody may stand in between",
        "Ask whoever keeps the remote. Only if they changed it: `ssh-keygen -R HOST`, then connect once by hand.",
    ),
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
            r"|(?:returned error:|rpc failed; http) (?:40[134]|410)|repository not found|repository '.*' not found"
            r"|insufficient permission|not authorized|project you were looking for"
        ),
        NoAccess,
        "The remote does not let this account in, or has no such repository",
        _ACCESS_HINT,
    ),
    (
        r"certificate problem|certificate verif|ssl: no alternative certificate",
        NoAccess,
        "The remote's certificate is not trusted here",
        "Whoever keeps the remote should mend it; an authority of your own goes into `http.sslCAInfo`.",
    ),
    (
        r"(?:returned error:|rpc failed; http) (?:413|507)|^remote:.*(?:no space left on device|quota exceeded)",
        Declined,
        "The remote has no room for this",
        _ROOM_HINT,
    ),
    (
        r"url '.*' uses plaintext credentials",
        Refused,
        "The remote's URL carries a password",
        URL_HINT,
    ),
    (
        r"transport '.*' not allowed",
        Refused,
        "That kind of remote is not allowed",
        "Use an https or ssh URL, or the path of a repository on this machine.",
    ),
    (
        r"fsck error|sha1 mismatch|inflate: data stream error|unpack-objects failed|index-pack failed.*fsck",
        Damaged,
        "The remote sent objects that are not sound",
        "Ask whoever keeps the remote to run `git fsck` there.",
    ),
    (
        r"bad line length|not valid: |invalid ls-refs",
        Offline,
        _NOT_GIT,
        _NOT_GIT_HINT,
    ),
    (
        (
            r"could not resolve|couldn't connect|failed to connect|connection (?:refused|reset|timed out)"
            r"|connection closed|network is unreachable|no route to host|timed out|name resolution"
            r"|early eof|bad pack header|hung up|rpc failed|returned error: (?:5\d\d|429|408)"
            r"|does not appear to be a git repository"
            r"|could not read from remote repository|unable to access|ssl[ _]|tls |gnutls"
        ),
        Offline,
        "The remote could not be reached",
        _OFFLINE_HINT,
    ),
    (
        r"expected (?:flush|'?packfile|'?acknowledgments|.* response)|invalid server response|unexpected line",
        Offline,
        _NOT_GIT,
        _NOT_GIT_HINT,
    ),
)
_DISK: tuple[tuple[str, type[BrainError], str, str], ...] = (
    (
        r"no space left on device|disk quota exceeded|read-only file system|file too large",
        Refused,
        "The disk refused a write",
        "Make room or mend the permissions, then try again; nothing was lost.",
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
        r"empty ident name|name consists only of disallowed|invalid ident|unable to auto-detect email",
        Refused,
        "git does not take this author's name",
        "Set another: `git config --global user.name NAME`, or `COMMONWEALTH_AUTHOR`.",
    ),
    (
        r"failed to sign the data|error: (?:gpg|gpgsm|ssh) failed|couldn't load public key|user\.signingkey",
        Refused,
        "git could not sign the commit",
        "Mend the signing, or turn it off for this brain: `{git} config commit.gpgSign false`.",
    ),
    (
        r"from promisor remote|promised object",
        Refused,
        "This clone is a partial one, and what git left out is needed",
        "Make it whole: `{git} fetch --refetch --no-filter origin`. Then run the same command again.",
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
        r"bad (?:numeric )?config (?:line|value|variable)|unknown repository extension|expected git repo version",
        Damaged,
        "git cannot read this repository's own settings",
        "Mend the file `.git/config` there in an editor, or install the git that wrote it; no note is harmed.",
    ),
    (
        r"must be run in a work tree",
        Refused,
        "There is a bare repository where a work tree should be",
        "If the folder holds notes: `{git} config core.bare false`.",
    ),
    (
        r"not a git repository",
        Damaged,
        "There is no git repository",
        "Check the path. If notes are there, `brain doctor --fix` mends what git stumbles over.",
    ),
    (
        (
            r"object file .* is empty|loose object .* corrupt|bad object|bad tree|missing blob"
            r"|unable to read (?:tree|sha1|[0-9a-f]{40})|packfile .* (?:corrupt|cannot)|could not read [0-9a-f]{40}"
            r"|index file (?:corrupt|smaller)|bad signature|null sha1|inflate: data stream error|invalid sha1 pointer"
            r"|unknown object type|unable to (?:unpack|parse) |(?:bad|corrupt) packed object|failed to (?:read|unpack) "
            r"|(?:garbage|trailing).* object|delta base |offset \d+ in \S*pack-|cannot read existing object"
        ),
        Damaged,
        "The repository is damaged",
        "`brain doctor --fix` mends what can be mended, and loses nothing.",
    ),
)
_NOISE = ("hint:", "warning:", "remote:")
_SAYS_LITTLE = r"could not read from remote|hung up|early eof|make sure you have the correct|repository exists"


def failure(done: Done, root: str) -> BrainError:
    """The typed error for a command that failed: Busy, Damaged, Refused, Declined, NoAccess, Offline, GitError."""
    verb = done.args[0]
    if verb not in NETWORK:
        return _known(_DISK + _LOCAL, done, done.err, root) or _unknown(done, root)
    # A full disk that the remote tells of is the remote's; everything else is said by the git that runs here.
    here = re.sub(_REMOTE_LINE, "", done.err)
    return _known(_DISK, done, here, root) or _known(_REMOTE + _LOCAL, done, done.err, root) or _unknown(done, root)


def _known(
    table: tuple[tuple[str, type[BrainError], str, str], ...], done: Done, text: str, root: str
) -> BrainError | None:
    for pattern, kind, message, hint in table:
        match = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
        if match:
            return kind(f"{message}: {_told(text, match)} (git {done.args[0]}, {root})", hint=hint_at(hint, root))
    return None


def hint_at(hint: str, root: str) -> str:
    """A hint of these tables for the repository at `root`."""
    return hint.replace("{git}", git_at(root))


def _unknown(done: Done, root: str) -> GitError:
    hint = "`brain doctor` says whether something is wrong with this clone."
    return GitError(f"git {done.args[0]} failed in {root}: {_reason(done)}", code=done.code, hint=hint)


def _told(text: str, match: re.Match[str]) -> str:
    """The line that decided, with what else was said where that line says little, and with the remote's words."""
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = one_line(text[start : end if end >= 0 else len(text)], 300)
    if re.search(_SAYS_LITTLE, line, re.IGNORECASE):
        others = (one_line(other, 300) for other in text.splitlines() if not other.startswith(_NOISE))
        telling = (other for other in others if other and not re.search(_SAYS_LITTLE, other, re.IGNORECASE))
        line = next(telling, line)
    said = remote_words(text)
    if not said or line.startswith("remote:"):
        return said or line
    return f"{line}; the remote says: {said}"


def remote_words(text: str) -> str:
    """What the remote itself said among git's messages, on one line; empty where it said nothing."""
    lines = (line.removeprefix("remote:").strip() for line in text.splitlines() if line.startswith("remote:"))
    return one_line(" ".join(filter(None, lines)), 300)


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
    verb, seconds = args[0], round(timeout or 0, 1)
    if verb in NETWORK:
        return Offline(f"git {verb} got no answer from the remote in {seconds:g} s.", hint=_OFFLINE_HINT)
    return GitError(f"git {verb} did not end in {seconds:g} s and was stopped.", code=-1)


def not_git(url_of: str) -> Offline:
    """The error for an answer that is no git repository's, though git takes it for an empty one."""
    return Offline(f"{_NOT_GIT} ({url_of}).", hint=_NOT_GIT_HINT)
