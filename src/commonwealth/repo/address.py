"""Which remotes a person may name: what git could take for a command or carries a password is refused."""

from __future__ import annotations

import os
import re

from commonwealth.errors import Refused
from commonwealth.repo.failures import PREFIXED, redact
from commonwealth.repo.project import unquote
from commonwealth.safetext import one_line

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_SECRET_PARAMETER = re.compile(r"(?i)[?&](?:[\w-]*token|password|secret|api_?key)=")
_LONG_NAME = 24
"""A user name of this length in an https URL is an access token, not a name."""

_KINDS = "Use an https or ssh URL, or the path of a repository on this machine."


def checked(url: str) -> str:
    """The remote `url` as it may be handed to git; a local path comes back absolute.

    https, ssh (also `git@host:path`), http on this machine only, file and local paths are let through. Raises
    Refused for anything else, for credentials in the URL, and for a local path without a repository.
    """
    url = url.strip()
    told = one_line(redact(url))
    if not url or not url.isprintable() or url.startswith("-"):
        raise Refused(f"{told!r} is not the address of a repository.", hint=_KINDS)
    if _HELPER.match(url):
        raise Refused(f"{told} names a helper program, which a remote may not do.", hint=_KINDS)
    match = _URL.fullmatch(url)
    if match:
        return _checked_url(url, match, told)
    return url if _is_ssh(url) else _local(url)


def _checked_url(url: str, match: re.Match[str], told: str) -> str:
    scheme, authority, rest = match[1].lower(), match[2], match[3]
    if scheme == "file":
        if authority not in ("", "localhost"):
            raise Refused(f"{told} names another machine in a file URL.", hint=_KINDS)
        _local(unquote(rest))
        return url
    if scheme not in ("https", "ssh", "http"):
        raise Refused(f"{scheme} remotes are not supported.", hint=_KINDS)
    host = authority.rpartition("@")[2]
    if authority.startswith("-") or host.startswith("-") or not host:
        raise Refused(f"{told} names no host.", hint=_KINDS)
    if has_credentials(url):
        raise Refused(
            f"{told} carries credentials; git would keep them in plain text.",
            hint="Leave them out of the URL. Git's credential helper keeps a password or token for you "
            "(`git help credentials`), and ssh needs none.",
        )
    if scheme == "http" and re.sub(r":\d*$", "", host).lower() not in _LOOPBACK:
        raise Refused(f"{told} is not encrypted: anybody on the way could change notes.", hint=_KINDS)
    return url


def shown(url: str) -> str:
    """`url` as it may be told to people and tools: without a password or token, if it has one."""
    return redact(url) if has_credentials(url) else url


def has_credentials(url: str) -> bool:
    """Whether a password, an access token or a parameter that holds one stands in `url`."""
    match = _URL.fullmatch(url)
    if match is None:
        return False
    user = match[2].rpartition("@")[0]
    if ":" in user or _SECRET_PARAMETER.search(match[3]):
        return True
    is_name = match[1].lower().endswith("ssh") or (len(user) < _LONG_NAME and not re.search(PREFIXED, user))
    return not is_name


def _is_ssh(url: str) -> bool:
    """Whether `url` is `[user@]host:path`, by git's rule: a colon before any slash, and no such folder."""
    colon, slash = url.find(":"), url.find("/")
    if colon < 0 or 0 <= slash < colon or _DRIVE.match(url) or os.path.exists(url):
        return False
    host = url[:colon].rpartition("@")[2]
    if not host or host.startswith("-") or colon == len(url) - 1:
        raise Refused(f"{one_line(redact(url))!r} is not the address of a repository.", hint=_KINDS)
    return True


def _local(path: str) -> str:
    place = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(place):
        raise Refused(f"There is no repository at {one_line(place)}.", hint=_KINDS)
    return place
