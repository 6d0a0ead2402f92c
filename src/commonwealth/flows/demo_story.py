"""The story of the demo: duplicate payments, told by what three people's tools answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonwealth.errors import Refused
from commonwealth.flows.demo_people import Say, Teammate
from commonwealth.repo.git import Git

REPOSITORY = "example-commerce-platform"
CODE = f"https://git.example.com/acme/{REPOSITORY}.git"
SERVICE = "src/payments/PaymentService.ts"
POLICY = "src/payments/RetryPolicy.ts"
BRANCH = "investigate/duplicate-payments"

GOTCHA: Mapping[str, Any] = {
    "type": "gotcha",
    "title": "HTTP 409 means an idempotent payment already succeeded",
    "summary": "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
    "repository": REPOSITORY,
    "components": ["payments", "retry-policy"],
    "tags": ["idempotency", "http-409"],
    "status": "confirmed",
    "confidence": "high",
    "observedAt": "2026-06-02T12:15:00Z",
    "provenance": {
        "human": "Alice",
        "agent": "Codex",
        "repository": REPOSITORY,
        "branch": BRANCH,
        "commit": "4f8c2ab",
        "issue": "PAY-1842",
        "files": [SERVICE, POLICY],
        "evidence": ["An integration test reproduced 409 after a completed idempotency key."],
    },
}
_SYNCHRONOUS: Mapping[str, Any] = {
    "type": "architecture",
    "title": "Payment processing is synchronous",
    "summary": "The request waits until the bank has answered.",
    "repository": REPOSITORY,
    "validFrom": "2026-01-10",
}
_QUEUED: Mapping[str, Any] = {
    "type": "architecture",
    "title": "Payment processing goes through a queue",
    "summary": "The request is put on the queue and answered at once.",
    "repository": REPOSITORY,
}
_SUPERSEDED = "2026-04-17"
_ASKED = ("2026-02-01", "2026-08-01")


@dataclass(frozen=True, slots=True)
class Days:
    """When the story happens, as dates: each scene has its own hours."""

    found: str = "2026-06-02"
    shared: str = "2026-06-03"
    later: str = "2026-08-03"


def tell(remote: Path, team: tuple[Teammate, Teammate, Teammate], say: Say, days: Days) -> None:
    """Play the story on `remote`, an empty bare repository. Raises Refused where a command of it fails."""
    alice, bob, chen = team
    _found(remote, alice, say, days.found)
    _shared(remote, bob, chen, say, days.shared)
    _true_then(team, say, days)
    _compare(team, say)


def _found(remote: Path, alice: Teammate, say: Say, day: str) -> None:
    say("Alice makes the team's brain. Its remote is an ordinary git repository.\n")
    alice.brain(f"{day}T09:00:00Z", "init", str(alice.clone), "--name", "acme", "--remote", str(remote))
    say("\nPayments are booked twice. Her tool asks what the team knows, then says what it is at.\n")
    wanted = {"repository": REPOSITORY, "query": "payment retry idempotency", "confidence": "high"}
    work = {"title": "Investigate duplicate payments", "repository": REPOSITORY, "files": [SERVICE], "branch": BRANCH}
    _, begun = alice.tools(f"{day}T09:05:00Z", ("memory_search", wanted), ("work_start", work))
    say("\nThree hours later she knows, and soon everybody does.\n")
    done = {"id": begun["ids"][0], "summary": "409 was taken for a failure and retried."}
    alice.tools(f"{day}T12:20:00Z", ("memory_record", GOTCHA), ("work_complete", done))
    alice.brain(f"{day}T12:30:00Z", "sync", show=False)
    say("\nWhat the team's remote holds now, each of these in one markdown file:\n")
    log = ("log", "--reverse", "--format=%h %an: %s", "--invert-grep", "--grep=^Refresh derived files$", "origin/main")
    alice.show(Git(alice.clone).text(*log))


def _shared(remote: Path, bob: Teammate, chen: Teammate, say: Say, day: str) -> None:
    say("\nBob joins. His tool is another one, and finds what Alice's found. It says what he will change.\n")
    bob.brain(f"{day}T08:30:00Z", "join", str(remote), str(bob.clone))
    wanted = {"query": "why do payments fail with 409"}
    work = {"title": "Retry a payment once only", "files": ["src/payments"], "components": ["payments"]}
    bob.tools(f"{day}T08:35:00Z", ("memory_search", wanted), ("work_start", work))
    bob.brain(f"{day}T08:37:00Z", "sync", show=False)
    say("\nChen starts on a file in there. Nothing is locked, but Chen is told at once.\n")
    chen.brain(f"{day}T09:00:00Z", "join", str(remote), str(chen.clone), show=False)
    chen.tools(f"{day}T09:01:00Z", ("work_start", {"title": "Log every answer of the bank", "files": [SERVICE]}))
    chen.brain(f"{day}T09:02:00Z", "sync", show=False)
    say("\nBob comes back to his session. This is all that it is told before its first word:\n")
    bob.show(bob.session(f"{day}T09:10:00Z"))
    say("\nAnd whenever it wants to know:\n")
    bob.tools(f"{day}T09:11:00Z", ("work_search", {"repository": REPOSITORY, "files": [SERVICE]}))


def _true_then(team: tuple[Teammate, ...], say: Say, days: Days) -> None:
    alice, bob, chen = team
    say(f"\nAlice writes down how payments work. Chen knows that it has been otherwise since {_SUPERSEDED}.\n")
    (old,) = alice.tools(f"{days.shared}T10:00:00Z", ("memory_record", _SYNCHRONOUS))
    alice.brain(f"{days.shared}T10:01:00Z", "sync", show=False)
    chen.brain(f"{days.shared}T10:05:00Z", "sync", show=False)
    change = {"id": old["ids"][0], "effectiveAt": _SUPERSEDED, "replacement": _QUEUED}
    chen.tools(f"{days.shared}T10:06:00Z", ("memory_supersede", change))
    for person in (chen, bob, alice):
        person.brain(f"{days.shared}T10:10:00Z", "sync", show=False)
    say("\nNothing is overwritten. What was true then, and what was true later, is one question with two dates:\n")
    asked = [{"query": "payment processing", "type": "architecture", "validAt": date} for date in _ASKED]
    bob.tools(f"{days.later}T09:00:00Z", *(("memory_search", one) for one in asked))


def _compare(team: tuple[Teammate, ...], say: Say) -> None:
    trees = {Git(person.clone).text("rev-parse", "HEAD^{tree}") for person in team}
    if len(trees) != 1:
        raise Refused("The three clones differ, which must not happen.")
    say(f"\nAlice's, Bob's and Chen's clones hold the same bytes: tree {trees.pop()[:12]}.")
