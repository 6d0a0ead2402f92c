"""Merge requests on GitLab: opened by options of the push; a token serves for what a push cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from commonwealth.adapters.forge_github import rows
from commonwealth.adapters.forge_http import Api, Json
from commonwealth.adapters.forge_place import Place, url_in
from commonwealth.flows.forges import CLOSED, MERGED, OPEN, Ask, Opened, Pushing

_STATES = {"opened": OPEN, "locked": OPEN, "closed": CLOSED, "merged": MERGED}


@dataclass(frozen=True, slots=True)
class GitLab:
    """One project there, at whatever depth of groups."""

    place: Place
    api: Api

    @property
    def kind(self) -> str:
        """gitlab"""
        return "gitlab"

    @property
    def host(self) -> str:
        """Its host."""
        return self.place.host

    @property
    def _path(self) -> str:
        return f"/projects/{quote(self.place.path, safe='')}/merge_requests"

    def pushing(self, ask: Ask) -> Pushing:
        """A branch whose push opens the request."""
        options = (
            "merge_request.create",
            f"merge_request.target={ask.base}",
            f"merge_request.title={_title(ask)}",
            f"merge_request.description={ask.line}",
        )
        return Pushing(None, options, opens=True)

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:
        """The request that the push has opened; where it said nothing of one, by the API, else a person opens it."""
        url = url_in(said, self.place, "/-/merge_requests/")
        if url is not None and "/merge_requests/new" not in url:
            return Opened(url, _number(url))
        if self.api.has_token:
            there = self._find(ask.branch, ask.base, "opened")
            if there is not None:
                return _opened(there, existed=True)
            body = {
                "source_branch": ask.branch,
                "target_branch": ask.base,
                "title": _title(ask),
                "description": ask.body,
            }
            return _opened(self._ask("POST", self._path, body=body))
        query = {"merge_request[source_branch]": ask.branch, "merge_request[target_branch]": ask.base}
        return Opened(f"{self.place.web}/-/merge_requests/new?{urlencode(query)}", manual=True)

    def _ask(self, method: str, path: str, **more: dict[str, str]) -> Json:
        query, body = more.get("query"), more.get("body")
        return self.api.ask(method, path, query=query, body=body, header="PRIVATE-TOKEN", scheme="")

    def _find(self, branch: str, base: str, state: str) -> dict[str, object] | None:
        query = {"source_branch": branch, "target_branch": base, "state": state}
        found = rows(self._ask("GET", self._path, query=query))
        return next((row for row in found if row.get("source_branch") == branch), None)

    def state(self, branch: str, base: str, number: int | None) -> str | None:  # noqa: ARG002 - the protocol's
        """What became of a merge request: the newest one of its branch."""
        if not self.api.has_token:
            return None
        found = self._find(branch, base, "all")
        return _STATES.get(str(found.get("state"))) if found else None


def _title(ask: Ask) -> str:
    return f"Draft: {ask.title}" if ask.draft else ask.title


def _opened(found: Json | dict[str, object], *, existed: bool = False) -> Opened:
    said = found if isinstance(found, dict) else {}
    url, number = said.get("web_url"), said.get("iid")
    safe = isinstance(url, str) and url.startswith(("https://", "http://")) and url.isprintable()
    return Opened(str(url) if safe else None, number if isinstance(number, int) else None, existed)


def _number(url: str) -> int | None:
    last = url.rstrip("/").rpartition("/")[2]
    return int(last) if last.isdecimal() and len(last) < 10 else None
