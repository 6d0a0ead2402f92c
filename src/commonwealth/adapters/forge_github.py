"""Pull requests on GitHub and GitHub Enterprise, by their REST API."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from commonwealth.adapters.forge_http import Api, Denied, Json
from commonwealth.adapters.forge_place import Place
from commonwealth.flows.forges import CLOSED, MERGED, OPEN, Ask, Opened, Pushing

_HOW = (
    "Set GITHUB_TOKEN or GH_TOKEN to a token that may write pull requests, or run `gh auth login`. On a host of your "
    "own, name the variable as `token_env` in `forges` of your config.yaml."
)


@dataclass(frozen=True, slots=True)
class GitHub:
    """One repository there."""

    place: Place
    api: Api

    @property
    def kind(self) -> str:
        """github"""
        return "github"

    @property
    def host(self) -> str:
        """Its host."""
        return self.place.host

    @property
    def _path(self) -> str:
        return f"/repos/{quote(self.place.path)}/pulls"

    def pushing(self, ask: Ask) -> Pushing:  # noqa: ARG002 - the protocol's
        """An ordinary branch."""
        return Pushing()

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:  # noqa: ARG002 - the protocol's
        """Open the pull request; one that is open for this branch is found instead."""
        if not self.api.has_token:
            raise self.api.no_token(_HOW)
        there = self._find(ask.branch, ask.base, OPEN)
        if there is not None:
            return there
        body = {"title": ask.title, "head": ask.branch, "base": ask.base, "body": ask.body, "draft": ask.draft}
        try:
            found = self.api.ask("POST", self._path, body=body)
        except Denied as error:
            if error.code == 422 and "already exists" in error.said.casefold():
                there = self._find(ask.branch, ask.base, OPEN)
                if there is not None:
                    return there
            raise
        return opened(found)

    def _find(self, branch: str, base: str, state: str) -> Opened | None:
        owner = self.place.path.split("/")[0]
        query = {"head": f"{owner}:{branch}", "base": base, "state": state}
        for row in rows(self.api.ask("GET", self._path, query=query)):
            head = row.get("head")
            if isinstance(head, dict) and head.get("ref") == branch:  # a host that knows no such filter shows all
                return opened(row, existed=True)
        return None

    def state(self, branch: str, base: str, number: int | None) -> str | None:  # noqa: ARG002 - the protocol's
        """What became of a pull request."""
        if number is None or not self.api.has_token:
            return None
        return state_of(self.api.ask("GET", f"{self._path}/{number}"))


def rows(found: Json) -> list[dict[str, object]]:
    """The objects of a list."""
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def opened(found: Json | dict[str, object], *, existed: bool = False) -> Opened:
    """What an answer says of a pull request."""
    said = found if isinstance(found, dict) else {}
    url, number = said.get("html_url"), said.get("number")
    return Opened(
        url if isinstance(url, str) and url.startswith(("https://", "http://")) and url.isprintable() else None,
        number if isinstance(number, int) else None,
        existed,
    )


def state_of(found: Json) -> str | None:
    """Whether a pull request is open, merged or closed, as GitHub and Gitea spell it."""
    said = found if isinstance(found, dict) else {}
    if said.get("merged") is True or said.get("merged_at"):
        return MERGED
    return {"open": OPEN, "closed": CLOSED}.get(str(said.get("state")))
