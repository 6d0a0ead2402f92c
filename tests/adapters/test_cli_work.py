"""`brain work` as people run it: announced, warned of, listed, changed, ended."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonwealth.adapters.show_work import age

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]
SERVICE = "src/payments/PaymentService.ts"


class Person:
    """One person at the command line, in the code repository, at a time of their own."""

    def __init__(self, run: Run, root: Path, project: Path, name: str) -> None:
        self.run, self.root, self.project, self.name = run, root, project, name

    def plain(self, *args: str, code: int = 0, at: str = "2026-07-01T10:00:00Z") -> str:
        env = {
            "COMMONWEALTH_AUTHOR": self.name,
            "COMMONWEALTH_AUTHOR_EMAIL": f"{self.name}@example.com",
            "COMMONWEALTH_NOW": at,
        }
        done = self.run("work", *args, "--brain", str(self.root), cwd=self.project, env=env)
        assert done.returncode == code, done.stdout + done.stderr
        return (done.stdout + done.stderr).decode()

    def json(self, *args: str, code: int = 0, at: str = "2026-07-01T10:00:00Z") -> Any:
        return json.loads(self.plain(*args, "--json", code=code, at=at))


@pytest.fixture
def people(brain: Run, root: Path, project: Path) -> tuple[Person, Person]:
    return Person(brain, root, project, "Alice"), Person(brain, root, project, "Bob")


def test_a_day_of_work(people: tuple[Person, Person]) -> None:
    alice, bob = people
    told = alice.json("start", "Handle duplicates", "--file", SERVICE, "--component", "payments", "--lease", "60")
    assert (told["state"], told["overlaps"]) == ("committed", [])
    (work_id,) = told["ids"]
    again = alice.json("start", "Handle duplicates", "--file", SERVICE)
    assert (again["state"], again["ids"]) == ("unchanged", [work_id])

    text = bob.plain("start", "Rework payments", "--file", "src/payments", at="2026-07-01T10:30:00Z")
    assert "One other record touches the same:" in text
    assert "Alice" in text
    assert "folder src/payments" in text
    assert "holds you up in nothing" in text

    found = bob.json("search", "--file", SERVICE, at="2026-07-01T10:30:00Z")
    assert found["total"] == 2
    hit = next(hit for hit in found["results"] if hit["id"] == work_id)
    assert (hit["overlap"], hit["stale"]) == ([f"file {SERVICE}"], False)
    assert (hit["owner"], hit["status"], hit["files"]) == ("Alice", "in-progress", [SERVICE])
    assert (hit["startedAt"], hit["leaseUntil"]) == ("2026-07-01T10:00:00Z", "2026-07-01T11:00:00Z")
    assert "body" not in hit
    assert bob.json("search", "duplicates")["total"] == 1
    assert bob.json("search", "--person", "alice", "--status", "completed")["results"] == []

    changed = alice.json("update", work_id, "--progress", "Half of it.", "--add-file", "docs/a.md")
    assert changed["state"] == "committed"
    assert len(changed["overlaps"]) == 1
    assert "active work of Alice" in bob.plain("complete", work_id, "--summary", "Mine", code=1)
    table = bob.plain("list", at="2026-07-01T12:00:00Z")
    assert "stale" in table
    assert "brain work complete ID` or `brain work abandon ID" in table.replace("\n", " ")
    mine = bob.json("list", "--mine", at="2026-07-01T12:00:00Z")
    assert [hit["title"] for hit in mine["results"]] == ["Rework payments"]
    receipt = bob.json("abandon", work_id, "--reason", "Gone.", at="2026-07-01T12:00:00Z")
    assert receipt["state"] == "committed"
    assert receipt["reason"].startswith("Ended for Alice by Bob")
    assert bob.json("complete", mine["results"][0]["id"], "--summary", "Done.")["state"] == "committed"
    assert bob.json("list") == {"results": [], "total": 0}
    assert bob.json("list", "--all")["total"] == 2
    assert "announces yours" in bob.plain("list")


def test_what_cannot_be_said_is_named(people: tuple[Person, Person]) -> None:
    alice, _ = people
    assert "title: it is empty" in alice.plain("start", " ", code=2)
    assert "--lease: -1" in alice.plain("start", "x", "--lease", "-1", code=2)
    assert "leads out of the repository" in alice.plain("start", "x", "--file", "../../etc", code=2)
    assert "nothing to change" in alice.plain("update", "x", code=2)
    assert "No note has the id" in alice.plain("complete", "x", code=1)
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    refused = alice.json("start", "x", "--summary", secret, code=1)
    assert (refused["state"], refused["overlaps"]) == ("refused", [])
    assert refused["reason"].startswith("secret: summary")


def test_hostile_records_do_no_more_than_show(people: tuple[Person, Person], root: Path) -> None:
    alice, _ = people
    folder = root / "work-state"
    folder.mkdir(exist_ok=True)
    (folder / "evil.md").write_text(
        '---\ntitle: "x\\e[31m\\u202e</note>"\nowner: "\\e[2J"\nfiles: ["src/\\e]0;x\\a"]\nlease_until: 9999-12-31\n'
        "started_at: 9999-12-31\n---\n",
        encoding="utf-8",
    )
    text = alice.plain("list")
    assert "x" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "its clock is ahead" in text


def test_a_record_is_read_with_what_it_says_and_nothing_that_it_does_not(
    brain: Run, root: Path, people: tuple[Person, Person]
) -> None:
    alice, _ = people
    (work_id,) = alice.json("start", "Handle duplicates", "--file", SERVICE, "--agent", "Codex")["ids"]

    def lines(note: str) -> dict[str, str]:
        done = brain("read", note, "--brain", str(root))
        assert done.returncode == 0, done.stderr
        return {line[:18].strip(): line[18:] for line in done.stdout.decode().splitlines()}

    shown = lines(work_id)
    assert (shown["status"], shown["files"], shown["owner"], shown["agent"]) == (
        "in-progress", SERVICE, "Alice", "Codex",
    )  # fmt: skip
    assert (shown["started at"], shown["lease until"]) == ("2026-07-01T10:00:00Z", "2026-07-01T14:00:00Z")
    person = lines(json.loads(brain("read", work_id, "--json", "--brain", str(root)).stdout)["authorRef"])
    assert not {"type", "confidence"} & shown.keys()
    assert not {"type", "status", "confidence"} & person.keys()


def test_an_age_is_never_negative() -> None:
    now = "2026-07-01T10:00:00Z"
    told = {
        "2026-07-01T10:00:00Z": "now",
        "2026-07-01T09:10:00Z": "50 min",
        "2026-07-01T07:59:00Z": "2 h",
        "2026-06-28T10:00:00Z": "3 d",
        "2026-07-01T10:05:00Z": "now",
        "2026-07-01T12:00:00Z": "in the future",
    }
    assert {since: age(since, now) for since in told} == told
    assert (age(None, now), age("yesterday", now)) == ("?", "?")
