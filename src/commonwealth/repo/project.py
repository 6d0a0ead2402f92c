"""The code repository of a session, told from git's own files: hooks call this, so no process is started."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from commonwealth.repo import common

_REFS_LIMIT = 64 << 20
_SYMREF_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Project:
    """A code repository as it is now.

    `root` is the work tree's real path. `identity` is stable over clones, protocols and worktrees, in lower
    case: `host/acme/shop`, or a path where there is no remote. `name` is the identity without the host, or
    the folder's name. `branch` and `commit` are None where HEAD is detached and where nothing is committed.
    """

    root: str
    identity: str
    name: str
    branch: str | None
    commit: str | None


def repository_of(cwd: str | os.PathLike[str]) -> Project | None:
    """The repository around the folder `cwd`; None without one, or if the folder is gone. Never raises."""
    if not os.path.isdir(cwd):
        return None
    try:
        folder = os.path.realpath(cwd)
    except OSError:
        return None
    while True:
        found = common.find_git_dir(folder)
        if found is not None:
            return _project(folder, found)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _project(root: str, git_dir: str) -> Project:
    shared = common.common_dir(git_dir)
    branch, commit = _head(git_dir, shared)
    url = _remote(common.read_text(os.path.join(shared, "config")) or "")
    # A worktree without a remote is still its main repository.
    home = os.path.dirname(shared) if os.path.basename(shared) == ".git" else root
    identity = normalise_remote(url, root) if url else _path_identity(home)
    return Project(root, identity, name_of(identity), branch, commit)


def ref_at(project: Project, name: str) -> str | None:
    """The object that a full ref of the code repository names, or the ref that it stands for (`ref: refs/…`); None
    where it does not exist. Told from git's own files."""
    git_dir = common.find_git_dir(project.root)
    return _ref(git_dir, common.common_dir(git_dir), name).strip() or None if git_dir is not None else None


def name_of(identity: str) -> str:
    """`acme/shop` of `host/acme/shop`; the last segment of a path."""
    if identity.startswith("/") or identity[1:2] == ":":
        return identity.rsplit("/", 1)[-1] or identity
    return identity.partition("/")[2] or identity


def _head(git_dir: str, shared: str) -> tuple[str | None, str | None]:
    text = common.read_text(os.path.join(git_dir, "HEAD"), 4096) or ""
    branch = None
    for _ in range(_SYMREF_DEPTH):
        if not text.startswith("ref: "):
            break
        ref = text[5:].strip()
        if branch is None and ref.startswith("refs/heads/") and not ref.endswith("/.invalid"):
            branch = ref[len("refs/heads/") :]
        text = _ref(git_dir, shared, ref)
    commit = text.strip()
    return branch, commit if re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", commit) else None


def _ref(git_dir: str, shared: str, ref: str) -> str:
    """What `ref` holds, from its own file or the packed ones; empty where it does not exist yet."""
    if ".." in ref or ref.startswith("/"):
        return ""
    for folder in dict.fromkeys((git_dir, shared)):
        text = common.read_text(os.path.join(folder, ref), 4096)
        if text:
            return text
    packed = common.read_text(os.path.join(shared, "packed-refs"), _REFS_LIMIT) or ""
    at = packed.find(f" {ref}\n")
    return packed[packed.rfind("\n", 0, at) + 1 : at] if at > 0 else ""


_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*=[^\S\n]*(.*)")


def _remote(config: str) -> str | None:
    """The URL of `origin`, else of the only remote. Only as much of git's config syntax as that needs."""
    urls: dict[str, str] = {}
    remote: str | None = None
    for line in config.replace("\\\r\n", "").replace("\\\n", "").splitlines():
        section = _SECTION.match(line)
        if section:
            remote = _remote_name(section[1], section[2])
            line = line[section.end() :]  # noqa: PLW2901 - a setting may follow on the same line
        setting = _SETTING.match(line)
        if remote is not None and setting and setting[1].lower() == "url":
            urls.setdefault(remote, _value(setting[2]))
    urls = {name: url for name, url in urls.items() if url}
    return urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else None)


def _remote_name(section: str, name: str | None) -> str | None:
    if name is not None:
        return re.sub(r"\\(.)", r"\1", name) if section.lower() == "remote" else None
    kind, _, old_style = section.partition(".")
    return old_style if kind.lower() == "remote" and old_style else None


def _value(text: str) -> str:
    """A config value without its quotes and its comment."""
    value, quoted, escaped, blanks = "", False, False, ""
    for char in text:
        if escaped:
            value, blanks, escaped = value + blanks + {"n": "\n", "t": "\t"}.get(char, char), "", False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        elif char.isspace() and not quoted:
            blanks += char
        else:
            value, blanks = value + blanks + char, ""
    return value


_URL = re.compile(r"(?i)([a-z][a-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = re.compile(r"(?:[^@/:\s\[]+@)?(\[[^\]]*\]|[^:/\s]+):(.*)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}


def normalise_remote(url: str, base: str | os.PathLike[str] | None = None) -> str:
    """One lower-case identity for all spellings of a remote: `host/acme/shop`, or `/a/path` on this machine.

    Protocol, user, port, `.git`, case and trailing slashes make no difference. A relative path is taken from
    `base`, as git does, where that is given.
    """
    url = url.strip()
    match = _URL.match(url)
    if match:
        host = _host(match[2])
        path = unquote(match[3])
        if match[1].lower() == "file" and host in ("", "localhost"):
            return _path_identity(path[1:] if _DRIVE.match(path[1:]) else path)
        return _hosted(host, path)
    scp = None if _DRIVE.match(url) or url.startswith(("/", "\\", ".")) else _SCP.fullmatch(url)
    if scp:
        return _hosted(_host(scp[1]), scp[2])
    if base is not None and not _DRIVE.match(url) and not url.startswith(("/", "\\", "~")):
        url = os.path.normpath(os.path.join(base, url))
    return _path_identity(url)


def _host(authority: str) -> str:
    """The host of `user@host:port`, `[2001:db8::1]:port` or `[user@host:port]`."""
    inside = authority[1:-1] if authority.startswith("[") and "@" in authority else authority
    host = inside.rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    if host.count(":") == 1:
        host = host.partition(":")[0]
    host = host.lower().rstrip(".")
    return _HOSTS.get(host, host)


def _hosted(host: str, path: str) -> str:
    segments = [segment for segment in _trim(path).split("/") if segment]
    if host == "dev.azure.com":  # one repository is v3/org/project/repo by ssh, org/project/_git/repo by https
        segments = [segment for segment in segments if segment not in ("v3", "_git")]
    return "/".join([host, *segments]) if host else _path_identity(path)


def _path_identity(path: str) -> str:
    return _trim(path.replace("\\", "/")) or "/"


def _trim(path: str) -> str:
    """`path` in lower case, without trailing slashes and the `.git` of a repository's folder."""
    path = path.rstrip("/").lower()
    if path.endswith("/.git"):
        path = path[: -len("/.git")]
    elif path.endswith(".git"):
        path = path[: -len(".git")]
    return path.rstrip("/")


def unquote(path: str) -> str:
    """The path that a URL spells with `%20` and the like."""
    if "%" not in path:
        return path
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})",
        lambda match: bytes([int(match[1], 16)]),
        path.encode("utf-8", "surrogateescape"),
    )
    return raw.decode("utf-8", "surrogateescape")
