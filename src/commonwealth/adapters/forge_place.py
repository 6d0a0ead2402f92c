"""Which repository on which host a remote's URL names, and which of the addresses that a remote prints are its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_URL = re.compile(r"(?i)(https?|ssh|git\+ssh|ssh\+git)://(?:[^@/?#]*@)?([^/?#]+)/([^?#]*)")
_SCP = re.compile(r"(?:[^@/:\s]+@)?([^:/\s\[\]]+):(?!//)(.+)")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""This machine."""

_SSH = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts that speak ssh for others."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on a host: `host` with its port where the web has one, `path` as the host spells it."""

    scheme: str
    host: str
    path: str

    @property
    def web(self) -> str:
        """The page of the repository."""
        return f"{self.scheme}://{self.host}/{quote(self.path)}"


def place_of(url: str) -> Place | None:
    """The repository that a remote's URL names; None for a folder of this machine."""
    found = _URL.fullmatch(url)
    if found is not None:
        scheme, host, path = found[1].lower(), found[2].lower(), found[3]
        is_web = scheme in ("http", "https")
        bare = re.sub(r":\d+$", "", host)
        if scheme == "http" and bare not in LOOPBACK:
            return None
        return _place(scheme if is_web else "https", host if is_web else bare, path)
    scp = _SCP.fullmatch(url)
    if scp is None or re.match(r"[A-Za-z]:[\\/]", url):
        return None
    return _place("https", scp[1].lower(), scp[2])


def _place(scheme: str, host: str, path: str) -> Place | None:
    path = path.strip("/").removesuffix(".git").strip("/")
    fits = path and all(part not in ("", ".", "..") for part in path.split("/")) and path.isprintable()
    return Place(scheme, _SSH.get(host, host), path) if fits else None


def url_in(said: tuple[str, ...], place: Place | None, part: str = "") -> str | None:
    """The first address that the remote printed, of a page of its own host; `part` has to occur in it."""
    for line in said:
        for url in re.findall(r"https?://[^\s<>\"']{1,500}", line):
            parts = urlsplit(url)
            if place is not None and parts.netloc.lower() == place.host and part in url and url.isprintable():
                return str(url)
    return None
