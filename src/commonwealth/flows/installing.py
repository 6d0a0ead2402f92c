"""Where a machine that is not this one gets this package from, said so that it can be nobody else's.

The name of a package is whoever's has taken it on an index, so a name alone is never written anywhere: a source is a
repository at a commit or tag, an archive at an address, or a file of the brain's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from commonwealth.errors import Refused, Usage
from commonwealth.safetext import one_line

_NAME = "commonwealth"
_EXAMPLE = "git+https://git.example.com/acme/commonwealth.git@<commit or tag>"
_SAFE = re.compile(r"[A-Za-z0-9@:/._~+=%#-]{1,500}")
"""What may stand between quotes in a shell and in YAML, and means nothing to either."""
_SCHEMES = frozenset(("git+https", "git+ssh", "https"))
_ARCHIVES = (".whl", ".tar.gz", ".zip")


def source(given: str | None) -> str:
    """The source to install from: `given`, else where this copy was installed from, if everybody can get it there.

    Raises Usage for a `given` that is none, Refused where nothing is given and this copy does not say.
    """
    if given is not None:
        return _checked(given.strip())
    found = _own()
    try:
        return _checked(found or "")
    except Usage:
        where = f" but from {one_line(found, 120)}" if found else ""
        raise Refused(
            f"This copy was not installed from a commit that others can get{where}, so it does not say what a CI is to "
            "install.",
            hint=f"Say it: `--install '{_EXAMPLE}'`, or the https address of a wheel. No file was written.",
        ) from None


def _checked(text: str) -> str:
    hint = f"It is a repository at a commit or tag, as `{_EXAMPLE}`, an https address or a file (./…) of a wheel."
    if not _SAFE.fullmatch(text):
        raise Usage(f"--install {one_line(text, 60)!r} has characters that no source has, or none.", hint=hint)
    if text.startswith("./") and ".." not in PurePosixPath(text).parts and text.endswith(_ARCHIVES):
        return text
    parts = urlsplit(text)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise Usage(
            f"--install {one_line(text, 60)!r} is no place: a name on a package index may be anybody's.", hint=hint
        )
    if parts.password is not None or (parts.username and parts.scheme != "git+ssh"):
        raise Usage(
            "--install: the address holds a name or a token, which everybody who reads the file would have.",
            hint="Leave it out, and give the CI its right to read in its own settings.",
        )
    if parts.scheme == "https" and not parts.path.endswith(_ARCHIVES):
        raise Usage(f"--install {one_line(text, 60)!r} is no archive of a package.", hint=hint)
    if parts.scheme != "https" and not re.search(r"[^/]@[^@/]", parts.path):
        raise Usage(f"--install {one_line(text, 60)!r} names no commit or tag, so it could change.", hint=hint)
    return text


def _own() -> str | None:
    """Where this copy came from, as the installer has written it down beside it (PEP 610); None where it has not."""
    from importlib import metadata  # noqa: PLC0415 - no hook needs it

    try:
        said = json.loads(metadata.distribution(_NAME).read_text("direct_url.json") or "null")
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return None
    return _of_record(said) if isinstance(said, dict) else None


def _of_record(said: Mapping[str, object]) -> str | None:
    url, vcs, archive = said.get("url"), said.get("vcs_info"), said.get("archive_info")
    if not isinstance(url, str):
        return None
    inside = f"#subdirectory={said['subdirectory']}" if isinstance(said.get("subdirectory"), str) else ""
    if isinstance(vcs, dict) and vcs.get("vcs") == "git" and isinstance(vcs.get("commit_id"), str):
        return f"git+{url}@{vcs['commit_id']}{inside}"
    if isinstance(archive, dict):
        hashes = archive.get("hashes")
        digest = hashes.get("sha256") if isinstance(hashes, dict) else None
        return f"{url}#sha256={digest}" if isinstance(digest, str) else url
    return url
