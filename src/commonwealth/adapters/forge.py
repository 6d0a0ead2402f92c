"""Which host a remote is on, and who speaks to it: by the remote's URL and the person's own settings alone.

A brain's config has no say in it. A token goes to the API of the host that the remote names, or to the one that the
person's settings give for that host; to no other, and never into an argument, a message or a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from commonwealth import userconfig
from commonwealth.adapters.forge_place import LOOPBACK, Place, place_of, url_in
from commonwealth.errors import Refused
from commonwealth.flows.forges import Ask, Forge, Opened, Pushing
from commonwealth.safetext import one_line
from commonwealth.userconfig import ForgeSetting

_KNOWN = {
    "github.com": ForgeSetting("github.com", "github", "https://api.github.com"),
    "gitlab.com": ForgeSetting("gitlab.com", "gitlab"),
    "codeberg.org": ForgeSetting("codeberg.org", "gitea"),
    "gitea.com": ForgeSetting("gitea.com", "gitea"),
}
"""Hosts that everybody knows, and the usual variables for their tokens below."""

_TOKENS = {
    "api.github.com": ("GH_TOKEN", "GITHUB_TOKEN"),
    "gitlab.com": ("GITLAB_TOKEN",),
    "codeberg.org": ("CODEBERG_TOKEN",),
}
"""By host of the API: a token in one of these variables is for that host and no other."""

_PATHS = {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}


def connect(url: str) -> Forge:
    """Who opens requests for the remote with this URL. Raises Damaged where the person's settings cannot be read,
    Refused for a setting that is not safe to follow."""
    place = place_of(url)
    if place is None:
        return Plain(None)
    setting = _setting(place, userconfig.load().forges)
    if setting is None or setting.kind == "plain":
        return Plain(place, is_known=setting is not None)
    api = (setting.api or f"{place.scheme}://{place.host}{_PATHS[setting.kind]}").rstrip("/")
    require_safe(api)
    from commonwealth.adapters.forge_gitea import Gitea  # noqa: PLC0415 - with its HTTP client, where it is needed
    from commonwealth.adapters.forge_github import GitHub  # noqa: PLC0415
    from commonwealth.adapters.forge_gitlab import GitLab  # noqa: PLC0415
    from commonwealth.adapters.forge_http import Api  # noqa: PLC0415

    client = Api(api, place.host, _token(setting, api, place))
    if setting.kind == "gitlab":
        return GitLab(place, client)
    if place.path.count("/") < 1:
        return Plain(place)
    return GitHub(place, client) if setting.kind == "github" else Gitea(place, client)


def _setting(place: Place, own: Mapping[str, ForgeSetting]) -> ForgeSetting | None:
    bare = re.sub(r":\d+$", "", place.host)
    return own.get(place.host) or own.get(bare) or _KNOWN.get(place.host)


def require_safe(api: str) -> None:
    """Raise Refused for the address of an API that a token must not be sent to: it is not encrypted, or odd."""
    parts = urlsplit(api)
    loopback = f"[{parts.hostname}]" in LOOPBACK or parts.hostname in LOOPBACK
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise Refused(
            f"The API at {one_line(parts.netloc.rpartition('@')[2], 100)} is not encrypted: no token is sent there.",
            hint="Give its https address in `forges` of your own config.yaml.",
        )
    if "@" in parts.netloc or parts.query or parts.fragment or not parts.hostname:
        raise Refused(
            "The address of an API in `forges` carries more than a host and a path.",
            hint="It is `https://HOST/PATH`; a token comes from a variable that `token_env` names.",
        )


def _token(setting: ForgeSetting, api: str, place: Place) -> tuple[str | None, str]:
    """The token for an API and where it was found: the variable that the settings name, the usual ones of a host that
    everybody knows, what the GitHub client knows."""
    host = urlsplit(api).netloc.lower()
    names = (setting.token_env,) if setting.token_env else _TOKENS.get(host, ())
    for name in names:
        value = os.environ.get(name, "").strip()
        if value:
            return value, name
    if setting.kind == "github" and not setting.token_env:
        from commonwealth.adapters.forge_http import token_of_gh  # noqa: PLC0415 - as above

        web = "github.com" if host == "api.github.com" else place.host
        if host in ("api.github.com", place.host):
            return token_of_gh(web), f"`gh auth token` for {web}"
    return None, " or ".join(names)


@dataclass(frozen=True, slots=True)
class Plain:
    """A host that we do not know, or a folder: the branch is pushed, and a person opens the request."""

    place: Place | None
    is_known: bool = True

    @property
    def kind(self) -> str:
        """plain"""
        return "plain"

    @property
    def host(self) -> str:
        """The host of the remote, if it has one."""
        return self.place.host if self.place else ""

    def pushing(self, ask: Ask) -> Pushing:  # noqa: ARG002 - the protocol's
        """An ordinary branch."""
        return Pushing()

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:  # noqa: ARG002 - the protocol's
        """Nothing but the page that the remote named."""
        return Opened(url_in(said, self.place), manual=True)

    def state(self, branch: str, base: str, number: int | None) -> str | None:  # noqa: ARG002 - the protocol's
        """Nobody is asked."""
        return None
