"""Hooks and active work, with real processes: who else is at it is told, and a session keeps its lease alive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .sessions import TITLE, Machine, git, until

START = "2026-07-01T10:00:00Z"
PLACE = "work-state/2026-07/2026-07-01-retries-9f3d7k2m.md"
SESSION = "86044ae1"


def record(owner: str, **fields: str) -> str:
    given = {
        "id": "2026-07-01-retries-9f3d7k2m", "kind": "work-state", "title": "Retries of payments",
        "summary": "Do not touch the policy.", "status": "in-progress", "created_at": START, "updated_at": START,
        "started_at": START, "lease_until": "2026-07-01T14:00:00Z", "repository": "acme/shop", "branch": "fix",
        "owner": owner, "author": owner, "agent": "Claude Code", "files": "[src/pay.py]",
    } | fields  # fmt: skip
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in given.items()) + "---\nBody.\n"


def at(time: str) -> dict[str, str]:
    return {"COMMONWEALTH_NOW": f"2026-07-01T{time}:00Z"}


def of(branch: Path, machine: Machine, name: str = "main") -> str:
    """The record as a branch of the remote has it."""
    return git(machine.remote, "show", f"{name}:{branch}")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Alice's machine, with her project on a branch."""
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Alice")
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "alice@example.com")
    made = Machine(tmp_path / "alice").build()
    git(made.project, "commit", "-q", "--allow-empty", "-m", "start")
    git(made.project, "checkout", "-q", "-b", "fix")
    yield made
    made.clear()


def publish_as_bob(machine: Machine, text: str) -> None:
    """A colleague's clone pushes a work record."""
    other = machine.root / "bob"
    git(machine.root, "clone", "-q", str(machine.remote), str(other))
    (other / PLACE).parent.mkdir(parents=True)
    (other / PLACE).write_text(text, encoding="utf-8")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "Bob")
    git(other, "push", "-q", "origin", "main")


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_session_hears_of_a_colleagues_work_on_its_branch(machine: Machine, host: str) -> None:
    publish_as_bob(machine, record("Bob"))
    done = machine.hook("SessionStart", host=host, env=at("11:00"))
    assert (done.code, done.err) == (0, b"")
    told = done.context
    assert told.index("Work under way: Retries of payments") < told.index(TITLE)
    assert "overlaps: branch fix" in told
    assert "by Bob with Claude Code" in told
    (line,) = machine.log()
    assert (line["outcome"], line["notes"]) == ("injected", 2)
    assert not any(word in json.dumps(line) for word in ("Retries", "Bob", "pay.py"))


def test_work_whose_lease_is_over_is_not_told(machine: Machine) -> None:
    publish_as_bob(machine, record("Bob"))
    assert "Retries" not in machine.hook("SessionStart", env=at("15:00")).context


def test_turns_of_a_session_keep_its_record_alive_and_the_end_lets_go(machine: Machine) -> None:
    place = machine.brain / PLACE
    place.parent.mkdir(parents=True)
    place.write_text(record("Alice", provenance=f"{{session: {SESSION}}}"), encoding="utf-8")
    assert "Retries" not in machine.hook("SessionStart", env=at("10:30")).context
    until(lambda: machine.published(PLACE), "publishing")
    assert "lease_until: 2026-07-01T14:00:00Z" in of(Path(PLACE), machine)
    machine.write("later")  # so that the turn does something
    git(machine.brain, "commit", "-q", "--allow-empty", "-m", "by hand")
    assert machine.hook("Stop", env=at("12:30")).out == b""
    until(lambda: "lease_until: 2026-07-01T16:30:00Z" in of(Path(PLACE), machine), "the renewal")
    until(lambda: not machine.processes(), "the worker's end")
    machine.hook("SessionEnd", env=at("16:00"))
    until(lambda: machine.log()[-1]["event"] == "SessionEnd", "the last line")
    until(lambda: not machine.processes(), "the worker's end")
    assert "lease_until: 2026-07-01T16:30:00Z" in of(Path(PLACE), machine)
    assert "status: in-progress" in of(Path(PLACE), machine)


def test_a_lease_that_ran_out_is_not_revived_by_the_next_session(machine: Machine) -> None:
    place = machine.brain / PLACE
    place.parent.mkdir(parents=True)
    place.write_text(record("Alice", provenance=f"{{session: {SESSION}}}"), encoding="utf-8")
    machine.hook("SessionStart", env=at("15:00"))
    until(lambda: machine.published(PLACE), "publishing")
    until(lambda: not machine.processes(), "the worker's end")
    assert "lease_until: 2026-07-01T14:00:00Z" in of(Path(PLACE), machine)


def test_a_merged_branch_completes_the_record_in_the_background(machine: Machine) -> None:
    place = machine.brain / PLACE
    place.parent.mkdir(parents=True)
    place.write_text(record("Alice", provenance=f"{{session: {SESSION}}}"), encoding="utf-8")
    git(machine.project, "commit", "-q", "--allow-empty", "-m", "work")
    machine.hook("SessionStart", env=at("10:30"))
    until(lambda: machine.published(PLACE), "publishing")
    until(lambda: not machine.processes(), "the worker's end")
    git(machine.project, "checkout", "-q", "main")
    git(machine.project, "-c", "user.name=A", "merge", "-q", "--no-ff", "-m", "Merge", "fix")
    machine.hook("SessionEnd", env=at("11:00"))
    until(lambda: "status: completed" in of(Path(PLACE), machine), "the completion")
    assert "completed_at: " in of(Path(PLACE), machine)
