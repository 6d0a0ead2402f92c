"""The URLs that git will really speak to, and that none of them carries a password or a token.

Git refuses passwords in the URLs that it fetches from (`transfer.credentialsInUrl`), but neither in those for
pushing nor tokens in the place of a user's name; its helpers would show them in their arguments to everybody on the
machine.
"""

from __future__ import annotations

import re

from commonwealth.errors import Refused
from commonwealth.repo.address import has_credentials
from commonwealth.repo.failures import URL_HINT, hint_at
from commonwealth.repo.git import Git, decode
from commonwealth.safetext import one_line

_LISTED = re.compile(r"([^\t]*)\t(.*) \((fetch|push)\)(?: \[.*\])?")


def listed(git: Git) -> list[tuple[str, str, str]]:
    """Each remote's name and URL, and whether that is for `fetch` or `push`; the person's `url.*` settings are
    applied. Git is asked once for one `Git`."""
    if git.remotes is None:
        git.remotes = git.text("remote", "-v")
    found = (_LISTED.fullmatch(line) for line in git.remotes.split("\n"))
    return [(match[1], match[2], match[3]) for match in found if match]


_REWRITTEN_HINT = "Take it out of `url.*.insteadOf` there and let git's credential helper keep it."


def refuse_credentials(git: Git, remote: str, way: str) -> None:
    """Raise Refused where a URL of `remote` for `way` (fetch or push) carries a password or a token."""
    for name, url, use in listed(git):
        if (name, use) == (remote, way) and has_credentials(url):
            hint = hint_at(URL_HINT, git.root)
            raise Refused(f"The URL of the remote {one_line(name)} carries a password or a token.", hint=hint)


def refuse_rewritten(git: Git, address: str) -> None:
    """Raise Refused where the person's `url.*.insteadOf` settings put a password or a token into `address`."""
    found = git.run("config", "-z", "--get-regexp", r"^url\..*\.insteadof$", check=False)
    entries = (entry.partition("\n")[::2] for entry in decode(found).split("\0") if entry)
    fitting = [(len(start), key) for key, start in entries if address.startswith(start)]
    if fitting:
        length, key = max(fitting)  # git takes the longest
        url = key[len("url.") : -len(".insteadof")] + address[length:]
        if has_credentials(url):
            raise Refused("Your git configuration puts a password or a token into this address.", hint=_REWRITTEN_HINT)
