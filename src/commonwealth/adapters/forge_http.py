"""One JSON question to a host's API: bounded in time and size, no redirect leaves the host, no token is ever told."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from commonwealth.errors import Offline, Refused
from commonwealth.safetext import one_line

Json = dict[str, object] | list[object] | None

_SECONDS = 20.0
_LIMIT = 1 << 21
"""Bytes of an answer."""

_REDIRECTS = 3
_AGAIN = "Nothing is lost; the same command tries again."


_MEANS = {
    "401": (
        "{host} does not accept the token in {source}: it has expired, or was revoked.",
        "Make a new one there and set it; then run the same command again.",
    ),
    "sso": (
        "{host} wants the token in {source} to be authorized for the organisation's single sign-on.",
        "In the settings of your tokens there: Configure SSO, Authorize. Then run the same command again.",
    ),
    "403": (
        "{host} does not let the token in {source} do that{words}.",
        "It needs the right to write pull requests in this repository.",
    ),
    "404": (
        "{host} shows no such repository to the token in {source}.",
        "Check the remote's address, and that the token may read and write this repository.",
    ),
}
"""What an error of a host's means, and the next step."""


class _Stay(HTTPRedirectHandler):
    """Redirects are looked at before they are followed."""

    def redirect_request(self, *_: object) -> None:
        """None is followed by itself."""


class Denied(Refused):
    """The host answered with an error; `code` is its status, `said` its own words, cleaned."""

    def __init__(self, message: str, code: int, said: str = "", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.said = said


class Api:
    """A host's API at `base`. `token` is the token, if there is one, and where it was found."""

    def __init__(self, base: str, host: str, token: tuple[str | None, str]) -> None:
        self.base = base
        self.host = host
        self._token, self.source = token
        # What is not encrypted stays on this machine: no proxy sees it.
        self._opener = build_opener(_Stay, *([ProxyHandler({})] if base.startswith("http:") else []))

    def __repr__(self) -> str:
        return f"Api({self.base!r})"

    @property
    def has_token(self) -> bool:
        """Whether it can be asked in the person's name."""
        return bool(self._token)

    def no_token(self, how: str) -> Refused:
        """The error of a host that cannot be asked."""
        where = f" in {self.source}" if self.source else ""
        return Refused(f"There is no token for {self.host}{where}.", hint=how)

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        header: str = "Authorization",
        scheme: str = "Bearer ",
    ) -> Json:
        """The answer to one question. Raises Offline where the host is not reached, is broken or asks to wait, Denied
        for what it declines."""
        url = f"{self.base}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {
            "Accept": "application/json",
            "User-Agent": "commonwealth-brain",
        }
        data = json.dumps(body).encode() if body is not None else None
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self._token:
            if not re.fullmatch(r"[\x21-\x7e]+", self._token):
                raise Refused(f"The token in {self.source} is not one: it has blanks or odd characters.")
            headers[header] = f"{scheme}{self._token}"
        deadline = time.monotonic() + _SECONDS
        for _ in range(_REDIRECTS + 1):
            found = self._once(Request(url, data, headers, method=method), deadline)  # noqa: S310 - checked by `require_safe`
            if not isinstance(found, str):
                return found[0]
            url = self._followed(url, found)
        raise Offline(f"{self.host} sends from one address to the next.", hint=_AGAIN)

    def _once(self, request: Request, deadline: float) -> tuple[Json] | str:
        """The answer, or where the host redirects to."""
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                return (self._parsed(self._read(answer, deadline)),)
        except HTTPError as error:
            with error:
                location = error.headers.get("Location")
                if error.code in (301, 302, 303, 307, 308) and location:
                    if error.code not in (307, 308) and request.get_method() != "GET":
                        raise Denied(
                            f"{self.host} says that the repository has moved.",
                            error.code,
                            hint="Give the remote its new address: `git remote set-url`.",
                        ) from None
                    return str(location)
                raise self._denied(error, self._read(error, deadline)) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            cause = error.reason if isinstance(error, URLError) else error
            raise Offline(f"{self.host} was not reached: {self._clean(str(cause))}.", hint=_AGAIN) from None

    def _followed(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            raise Refused(
                f"{self.host} redirects to another host ({self._clean(there.netloc)}): the token is not sent there.",
                hint="If that is right, give the remote, or `forges` in your own config.yaml, the new address.",
            )
        return target

    def _read(self, answer: HTTPError | HTTPResponse, deadline: float) -> bytes:
        data = b""
        while chunk := answer.read(1 << 16):
            data += chunk
            if len(data) > _LIMIT or time.monotonic() > deadline:
                raise Offline(f"{self.host} does not come to the end of its answer.", hint=_AGAIN)
        return data

    def _parsed(self, data: bytes) -> Json:
        try:
            found = json.loads(data) if data.strip() else None
        except (ValueError, RecursionError):
            found = ""
        if found is None or isinstance(found, (dict, list)):
            return found
        raise Offline(
            f"{self.host} answers something that is no API's.", hint="Check the address of its API in `forges`."
        )

    def _denied(self, error: HTTPError, data: bytes) -> Refused | Offline:
        """What an error of the host's means."""
        said, code, host = self._said(data), error.code, self.host
        words = f": {said}" if said else ""
        wait = error.headers.get("Retry-After") or ""
        limited = error.headers.get("X-RateLimit-Remaining") == "0" or "rate limit" in said.casefold()
        if code == 429 or (code == 403 and (limited or wait)):
            when = f" for {int(wait)} s" if wait.isdecimal() and len(wait) < 7 else ""
            return Offline(f"{host} takes no more questions{when}: its rate limit is reached.", hint=_AGAIN)
        if code >= 500:
            return Offline(f"{host} is in trouble itself (error {code}){words}.", hint=_AGAIN)
        kind = "sso" if code == 403 and error.headers.get("X-GitHub-SSO") else str(code)
        message, hint = _MEANS.get(kind, ("{host} declines it (error {code}){words}.", None))
        told = message.format(host=host, code=code, words=words, source=self.source or "none")
        return Denied(told, code, said, hint=hint)

    def _said(self, data: bytes) -> str:
        """The host's own words, cleaned and short."""
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        if not isinstance(found, dict):
            return ""
        errors = found.get("errors")
        more = errors if isinstance(errors, list) else []
        words = [found.get("message"), found.get("error")]
        words += [one.get("message") if isinstance(one, dict) else one for one in more]
        flat = [item for word in words for item in (word if isinstance(word, list) else [word])]
        return self._clean("; ".join(dict.fromkeys(word for word in flat if isinstance(word, str) and word)))

    def _clean(self, text: str) -> str:
        """Words of a host on one line, without the token, should it repeat it."""
        if self._token:
            text = text.replace(self._token, "***")
        return one_line(text, 300)


def token_of_gh(host: str) -> str | None:
    """The token that GitHub's own client keeps for a host; None without that client, or where it has none."""
    try:
        done = subprocess.run(
            ["gh", "auth", "token", "--hostname", host],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    token = done.stdout.decode("utf-8", "replace").strip()
    return token if done.returncode == 0 and token else None
