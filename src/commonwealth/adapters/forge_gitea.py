"""Pull requests on Gitea and Forgejo: by their REST API with a token, else by a push to `refs/for/…` (agit)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from commonwealth.adapters.forge_github import opened, rows, state_of
from commonwealth.adapters.forge_http import Api, Denied
from commonwealth.adapters.forge_place import Place, url_in
from commonwealth.flows.forges import OPEN, Ask, Opened, Pushing

_PAGES, _PAGE = 4, 50


@dataclass(frozen=True, slots=True)
class Gitea:
    """One repository there."""

    place: Place
    api: Api

    @property
    def kind(self) -> str:
        """gitea"""
        return "gitea"

    @property
    def host(self) -> str:
        """Its host."""
        return self.place.host

    @property
    def _path(self) -> str:
        return f"/repos/{quote('/'.join(self.place.path.split('/')[-2:]))}/pulls"

    def pushing(self, ask: Ask) -> Pushing:
        """An ordinary branch with a token; without one, a push that opens the request by itself."""
        if self.api.has_token:
            return Pushing()
        topic = ask.branch.replace("/", "-")
        options = (f"topic={topic}", f"title={_title(ask)}", f"description={ask.line}")
        return Pushing(f"refs/for/{ask.base}", options, opens=True)

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:
        """Open the pull request, or find the one that is open; what a push has opened is told by what it printed."""
        if not self.api.has_token:
            return Opened(url_in(said, self.place, "/pulls/"), _number(url_in(said, self.place, "/pulls/")))
        there = self._find(ask)
        if there is not None:
            return there
        body = {"title": _title(ask), "head": ask.branch, "base": ask.base, "body": ask.body}
        try:
            return opened(self.api.ask("POST", self._path, body=body))
        except Denied as error:
            there = self._find(ask) if error.code == 409 else None
            if there is None:
                raise
            return there

    def _find(self, ask: Ask) -> Opened | None:
        for page in range(1, _PAGES + 1):
            query = {"state": OPEN, "page": str(page), "limit": str(_PAGE)}
            found = rows(self.api.ask("GET", self._path, query=query))
            for row in found:
                if (_ref(row, "head"), _ref(row, "base")) == (ask.branch, ask.base):
                    return opened(row, existed=True)
            if len(found) < _PAGE:
                break
        return None

    def state(self, branch: str, base: str, number: int | None) -> str | None:  # noqa: ARG002 - the protocol's
        """What became of a pull request."""
        if number is None or not self.api.has_token:
            return None
        return state_of(self.api.ask("GET", f"{self._path}/{number}"))


def _ref(row: dict[str, object], side: str) -> object:
    found = row.get(side)
    return found.get("ref") if isinstance(found, dict) else None


def _title(ask: Ask) -> str:
    return f"WIP: {ask.title}" if ask.draft else ask.title


def _number(url: str | None) -> int | None:
    last = (url or "").rstrip("/").rpartition("/")[2]
    return int(last) if last.isdecimal() and len(last) < 10 else None
