"""What opens a request on a host, as the flow of requests sees it; adapters speak to the hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

OPEN, MERGED, CLOSED = "open", "merged", "closed"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that is wanted: to merge `branch` into `base`. `body` is markdown, `line` the same in one line that has
    no markdown of a note's in it."""

    branch: str
    base: str
    title: str
    body: str
    line: str = ""
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Pushing:
    """How the branch is pushed: to which ref (None: a branch of that name), and with which options for the server.
    `opens` says that this push opens the request by itself."""

    ref: str | None = None
    options: tuple[str, ...] = ()
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """What is known of a request: its page, its number. `existed` says that it was open already; `manual` that a
    person opens it, at `url` where that is known."""

    url: str | None = None
    number: int | None = None
    existed: bool = False
    manual: bool = False


class Forge(Protocol):
    """One repository on one host. Its methods raise Offline where the host cannot be reached or asks to wait, Refused
    with the next step where it declines."""

    @property
    def kind(self) -> str:
        """github, gitlab, gitea or plain."""

    @property
    def host(self) -> str:
        """The host as people know it; empty where there is none."""

    def pushing(self, ask: Ask) -> Pushing:
        """How the branch gets there. Nothing is asked of the host."""

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:
        """Open the request for a branch that is there, or find the one that is open; `said` are the lines that the
        remote printed when it was pushed."""

    def state(self, branch: str, base: str, number: int | None) -> str | None:
        """Whether the request is open, merged or closed; None where the host is not asked or knows none."""


Connect = Callable[[str], Forge]
"""The forge of a remote's URL, by what the person's own settings say of its host."""
