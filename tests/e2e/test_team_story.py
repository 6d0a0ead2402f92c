"""A whole team's story: three people, three tools, three clones and one remote, through real servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.mcp_peer import Peer, ask

from .harness.runner import Box, ClaudeBox

REPOSITORY = "example-commerce-platform"
PROJECT = f"https://git.example.com/acme/{REPOSITORY}.git"
SERVICE = "src/payments/PaymentService.ts"
SECONDS = 60
SEARCH = {"repository": REPOSITORY, "query": "payment retry idempotency", "confidence": "high"}
WORK = {"repository": REPOSITORY, "files": [SERVICE]}
GOTCHA = json.loads("""
{"type": "gotcha", "title": "HTTP 409 means an idempotent payment already succeeded",
 "summary": "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
 "repository": "example-commerce-platform", "components": ["payments", "retry-policy"],
 "tags": ["idempotency", "http-409"], "status": "confirmed", "confidence": "high",
 "observedAt": "2026-06-02T12:15:00Z",
 "provenance": {"human": "Alice", "agent": "Codex", "repository": "example-commerce-platform",
  "branch": "investigate/duplicate-payments", "commit": "4f8c2ab", "issue": "PAY-1842",
  "files": ["src/payments/PaymentService.ts", "src/payments/RetryPolicy.ts"],
  "evidence": ["An integration test reproduced 409 after a completed idempotency key."]}}
""")
SYNCHRONOUS = {"title": "Payment processing is synchronous", "summary": "The request waits.", "validFrom": "2026-01-10"}
QUEUED = {"title": "Payment processing goes through a queue", "summary": "The request is answered at once."}
PROCESSING = {"query": "payment processing"}
CHANGED = "2026-04-17T00:00:00Z"


def until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds, for as long as a slow machine needs."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Person:
    """One of the team on a machine of their own, who works with `client`."""

    name: str
    client: str
    machine: Path

    @property
    def clone(self) -> Path:
        return self.machine / "brain"

    @property
    def code(self) -> Path:
        return self.machine / "code"

    def env(self, now: str) -> dict[str, str]:
        return {
            "HOME": str(self.machine),
            "COMMONWEALTH_HOME": str(self.machine / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": self.name,
            "COMMONWEALTH_AUTHOR_EMAIL": f"{self.name.casefold()}@example.com",
            "COMMONWEALTH_NOW": now,
        }

    def brain(self, now: str, *words: str) -> str:
        """Run the command line, which must succeed."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "commonwealth", *words],
            cwd=self.code,
            env=os.environ | self.env(now),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def server(self, now: str) -> Peer:
        """A server of theirs, whose clock says `now`."""
        peer = Peer(self.code, env=self.env(now))
        peer.initialize(client=self.client)
        return peer


@dataclass(frozen=True, slots=True)
class Team:
    """Everybody, and the remote of their brain."""

    remote: Path
    alice: Person
    bob: Person
    chen: Person

    def arrived(self, text: str) -> bool:
        """Whether the remote holds a text in some note."""
        found = subprocess.run(
            ["git", "--git-dir", str(self.remote), "grep", "-q", "-F", text, "main"], capture_output=True, check=False
        )
        return found.returncode == 0


@pytest.fixture
def team(tmp_path: Path, git: Callable[..., str]) -> Team:
    """Three clones of one code repository; Alice has made the brain, and nobody has joined it yet."""
    remote = tmp_path / "brain.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    people = []
    for name, client in (("Alice", "codex-mcp-client"), ("Bob", "claude-code"), ("Chen", "codex-mcp-client")):
        person = Person(name, client, tmp_path / name.casefold())
        person.code.mkdir(parents=True)
        git(person.code, "init", "-q")
        git(person.code, "remote", "add", "origin", PROJECT)
        git(person.code, "commit", "-q", "--allow-empty", "-m", "Start")
        people.append(person)
    alice, bob, chen = people
    alice.brain("2026-02-20T09:00:00Z", "init", str(alice.clone), "--name", "acme", "--remote", str(remote))
    return Team(remote, alice, bob, chen)


def ids(peer: Peer, **asked: object) -> list[str]:
    return [hit["id"] for hit in ask(peer, "memory_search", **asked)["results"]]


def trees(team: Team, git: Callable[..., str]) -> set[str]:
    return {git(person.clone, "rev-parse", "HEAD^{tree}") for person in (team.alice, team.bob, team.chen)}


def test_what_one_finds_out_the_others_tools_know_and_who_works_on_it_too(team: Team, git: Callable[..., str]) -> None:
    alice, bob, chen = team.alice, team.bob, team.chen
    with alice.server("2026-06-02T12:20:00Z") as codex:
        assert ids(codex, **SEARCH) == []
        work = {"title": "Investigate duplicate payments", **WORK, "branch": "investigate/duplicate-payments"}
        begun = ask(codex, "work_start", **work)
        assert (begun["state"], begun["overlaps"]) == ("committed", [])
        until(lambda: team.arrived(begun["ids"][0]))
        recorded = ask(codex, "memory_record", **GOTCHA)
        assert recorded["state"] == "committed"
        (gotcha,) = recorded["ids"]
        assert GOTCHA["title"] in git(alice.clone, "show", recorded["commit"])
        done = ask(codex, "work_complete", id=begun["ids"][0], summary="409 was retried.")
        assert done["state"] == "committed"
        until(lambda: team.arrived("409 was retried."))

    bob.brain("2026-06-03T08:30:00Z", "join", str(team.remote), str(bob.clone))
    with bob.server("2026-06-03T08:35:00Z") as claude:
        assert ids(claude, **SEARCH) == [gotcha]
        read = ask(claude, "memory_read", id=gotcha)
        assert (read["author"], read["provenance"]["agent"]) == ("Alice", "Codex")
        assert read["provenance"]["evidence"] == GOTCHA["provenance"]["evidence"]
        assert read["observedAt"] == GOTCHA["observedAt"]
        assert ask(claude, "work_search", **WORK)["total"] == 0, "Alice's is done"
        mine = ask(claude, "work_start", title="Retry a payment once only", files=["src/payments"])
        assert (mine["state"], mine["overlaps"]) == ("committed", [])
        until(lambda: team.arrived(mine["ids"][0]))

        chen.brain("2026-06-03T09:00:00Z", "join", str(team.remote), str(chen.clone))
        with chen.server("2026-06-03T09:01:00Z") as other:
            told = ask(other, "work_start", title="Log every answer of the bank", files=[SERVICE])
        assert told["state"] == "committed", "nothing is locked"
        (overlap,) = told["overlaps"]
        assert (overlap["id"], overlap["owner"], overlap["agent"]) == (mine["ids"][0], "Bob", "Claude Code")
        assert overlap["overlap"] == ["folder src/payments"]
        assert "tell the user" in told["next"]
        until(lambda: team.arrived(told["ids"][0]))

        bob.brain("2026-06-03T09:05:00Z", "sync")
        found = {hit["id"]: hit for hit in ask(claude, "work_search", **WORK)["results"]}
        assert set(found) == {mine["ids"][0], told["ids"][0]}
        warned = found[told["ids"][0]]
        assert (warned["owner"], warned["agent"], warned["stale"]) == ("Chen", "Codex", False)
        assert warned["overlap"] == [f"file {SERVICE}"]

    for person in (chen, alice, bob, chen):
        person.brain("2026-06-03T09:30:00Z", "sync")
    assert len(trees(team, git)) == 1


def test_what_was_true_then_and_what_was_known_then(team: Team, git: Callable[..., str]) -> None:
    alice, bob, chen = team.alice, team.bob, team.chen
    with alice.server("2026-03-01T10:00:00Z") as codex:
        (old,) = ask(codex, "memory_record", **SYNCHRONOUS)["ids"]
    alice.brain("2026-03-01T10:01:00Z", "sync")
    for person in (bob, chen):
        person.brain("2026-06-03T09:00:00Z", "join", str(team.remote), str(person.clone))
    known = git(bob.clone, "rev-parse", "HEAD").strip()
    with chen.server("2026-06-03T10:00:00Z") as other:
        receipt = ask(other, "memory_supersede", id=old, effectiveAt="2026-04-17", replacement=QUEUED)
    assert receipt["state"] == "committed"
    new = receipt["ids"][0]
    assert receipt["ids"] == [new, old]
    chen.brain("2026-06-03T10:01:00Z", "sync")
    for person in (bob, alice):
        person.brain("2026-06-03T10:02:00Z", "sync")
    assert len(trees(team, git)) == 1

    for person in (alice, bob):
        with person.server("2026-08-03T09:00:00Z") as tool:
            assert ids(tool, **PROCESSING) == [new]
            assert ids(tool, **PROCESSING, validAt="2026-02-01") == [old]
            assert ids(tool, **PROCESSING, validAt="2026-08-01") == [new]
            assert ids(tool, **PROCESSING, validAt="2026-04-16T23:59:59Z") == [old]
            assert ids(tool, **PROCESSING, validAt=CHANGED) == [new]
            closed: dict[str, Any] = ask(tool, "memory_read", id=old)
            assert (closed["status"], closed["validUntil"], closed["supersededBy"]) == ("superseded", CHANGED, new)
            for moment in ("2026-05-01T00:00:00Z", known):
                assert ids(tool, **PROCESSING, asOf=moment) == [old], moment
                then = ask(tool, "memory_read", id=old, asOf=moment)
                assert (then["status"], then.get("validUntil")) == ("observed", None)
            assert ids(tool, **PROCESSING, asOf="2026-06-04T00:00:00Z") == [new]


def settle_in(box: Box, name: str) -> None:
    """Give a person a name and a clone of the project with a branch of their own."""
    (box.home / ".gitconfig").write_text(
        f"[user]\n\tname = {name}\n\temail = {name.casefold()}@example.com\n[init]\n\tdefaultBranch = main\n",
        encoding="utf-8",
    )
    box.shell("git", "init", "-q")
    service = box.cwd / SERVICE
    service.parent.mkdir(parents=True)
    service.write_text("export {};\n", encoding="utf-8")
    box.shell("git", "add", "-A")
    box.shell("git", "commit", "-q", "-m", "Start")
    box.shell("git", "remote", "add", "origin", PROJECT)
    box.shell("git", "checkout", "-q", "-b", "fix/retry-once")


@pytest.mark.client
def test_claude_code_is_warned_of_overlapping_work_before_the_first_word(claude_box: ClaudeBox, team: Team) -> None:
    settle_in(claude_box, "Bob")
    claude_box.shell("brain", "join", str(team.remote))
    claude_box.shell("brain", "plugin", "install", "--host", "claude")
    (claude_box.cwd / SERVICE).write_text("export const once = true;\n", encoding="utf-8")

    before = claude_box.run("Go on with payments", ["I do."])
    assert before.returncode == 0, before.stderr
    assert "Work under way" not in before.context(0)

    chen = team.chen
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    chen.brain(now, "join", str(team.remote), str(chen.clone))
    with chen.server(now) as other:
        (record,) = ask(other, "work_start", title="Log every answer of the bank", files=[SERVICE])["ids"]
        until(lambda: team.arrived(record))

    told = claude_box.run("Go on with payments", ["I ask Chen first."])
    assert told.returncode == 0, told.stderr
    first = told.context(0)
    assert "Work under way: Log every answer of the bank" in first
    assert f"overlaps: file {SERVICE}" in first
    assert "by Chen with Codex" in first
    assert record in first
