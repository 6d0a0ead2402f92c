"""A person's own work records in the background: leases that a session keeps alive, and branches that were merged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.flows import brains, leases, publishing, sessions, syncing, tending
from commonwealth.flows.brains import Brain
from commonwealth.model import Note
from commonwealth.notes import codec

from .conftest import PlainGit, Teammate, write
from .test_teammates import PLACE, work_text

START = "2026-07-01T10:00:00Z"
SESSION = "86044ae1-0000"
MERGED = "2026-07-01T15:30:00Z"
ME = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")


def note_at(brain: Brain) -> Note:
    return codec.parse((brain.root / PLACE).read_text(encoding="utf-8"), PLACE, "work-state")[0]


def announce(brain: Brain, **fields: str) -> None:
    """A committed work record of Alice's session, with a lease of four hours."""
    given = {"branch": "fix", "agent": "Codex", "provenance": f"{{session: {SESSION}, human: Alice}}"} | fields
    write(brain, {PLACE: work_text(**given)})
    assert syncing.sync(brain).state in ("committed", "published")


def alive(brain: Brain, at: str, session: str = SESSION, agent: str = "Codex") -> None:
    sessions.beat(brain, session, agent, at)


@pytest.fixture
def alice(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> Brain:
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Alice")
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "alice@example.com")
    return brain


# Leases


def test_a_lease_moves_on_where_less_than_half_of_it_is_left(alice: Brain, git: PlainGit) -> None:
    announce(alice)
    alive(alice, "2026-07-01T11:59:00Z")
    assert tending.tend(alice, "2026-07-01T11:59:05Z") == ()
    assert note_at(alice).lease_until == "2026-07-01T14:00:00Z"
    alive(alice, "2026-07-01T12:30:00Z")
    (receipt,) = tending.tend(alice, "2026-07-01T12:30:05Z")
    assert receipt.state == "committed"
    assert note_at(alice).lease_until == "2026-07-01T16:30:00Z"
    assert "What I am at." in note_at(alice).body
    assert git(alice.root, "status", "--porcelain") == ""
    assert tending.tend(alice, "2026-07-01T12:31:00Z") == ()


def test_a_lease_keeps_its_length_however_often_it_moves_on(alice: Brain) -> None:
    announce(alice, lease_until="2026-07-01T10:30:00Z")
    for at, until in (("10:20", "10:50"), ("10:40", "11:10"), ("11:00", "11:30")):
        alive(alice, f"2026-07-01T{at}:00Z")
        tending.tend(alice, f"2026-07-01T{at}:00Z")
        assert note_at(alice).lease_until == f"2026-07-01T{until}:00Z"


def test_a_lease_that_is_over_is_not_revived_by_a_hook(alice: Brain) -> None:
    announce(alice)
    alive(alice, "2026-07-01T14:11:00Z")
    assert tending.tend(alice, "2026-07-01T14:11:00Z") == ()
    assert note_at(alice).lease_until == "2026-07-01T14:00:00Z"


def test_a_session_that_is_over_keeps_no_lease_alive(alice: Brain) -> None:
    announce(alice)
    alive(alice, "2026-07-01T13:00:00Z")
    sessions.end(alice, SESSION)
    assert tending.tend(alice, "2026-07-01T13:01:00Z") == ()
    assert note_at(alice).status == "in-progress"


@pytest.mark.parametrize(
    ("fields", "moves"),
    [
        ({}, True),
        ({"provenance": "{session: another, human: Alice}", "branch": "main"}, True),
        ({"provenance": "{session: another, human: Alice}", "branch": "other"}, False),
        ({"provenance": "{session: another, human: Alice}", "branch": "main", "agent": "Claude Code"}, False),
        ({"provenance": "{session: another, human: Alice}", "branch": "main", "repository": "acme/other"}, False),
        ({"owner": "Bob", "author": "Bob"}, False),
        ({"status": "completed"}, False),
        ({"status": "blocked"}, True),
    ],
)
def test_whose_records_a_session_keeps_alive(alice: Brain, fields: dict[str, str], moves: bool) -> None:
    announce(alice, **fields)
    alive(alice, "2026-07-01T13:00:00Z")
    tending.tend(alice, "2026-07-01T13:00:00Z")
    assert (note_at(alice).lease_until == "2026-07-01T17:00:00Z") is moves


def test_a_hand_edit_that_waits_is_kept_by_a_renewal(alice: Brain) -> None:
    announce(alice)
    path = alice.root / PLACE
    path.write_text(path.read_text(encoding="utf-8").replace("What I am at.", "My own words."), encoding="utf-8")
    alive(alice, "2026-07-01T13:00:00Z")
    tending.tend(alice, "2026-07-01T13:00:00Z")
    assert (note_at(alice).body.strip(), note_at(alice).lease_until) == ("My own words.", "2026-07-01T17:00:00Z")


def test_a_record_that_cannot_be_read_stands_in_no_others_way(alice: Brain) -> None:
    announce(alice)
    write(alice, {"work-state/broken.md": b"---\nkind: [\n---\n"})
    alive(alice, "2026-07-01T13:00:00Z")
    tending.tend(alice, "2026-07-01T13:00:00Z")
    assert note_at(alice).lease_until == "2026-07-01T17:00:00Z"


def test_when_a_record_is_active() -> None:
    note = Note("w", "work-state", "T", status="in-progress", lease_until="2026-07-01T14:00:00Z", updated_at=START)
    assert leases.is_active(note, "2026-07-01T14:09:59Z")
    assert not leases.is_active(note, "2026-07-01T14:10:00Z")
    assert not leases.is_active(replace(note, status="completed"), START)
    assert not leases.is_active(replace(note, kind="memory"), START)
    without = replace(note, lease_until=None)
    assert leases.is_active(without, "2026-07-01T13:59:00Z")
    assert not leases.is_active(without, "2026-07-02T00:00:00Z")
    assert leases.is_active(replace(note, lease_until="9999-12-31T23:59:59Z"), START)


def test_no_lease_counts_for_ever_and_a_time_that_no_clock_wrote_keeps_nothing_active(alice: Brain) -> None:
    announce(alice, lease_until="9999-12-31T23:59:59Z")
    note = note_at(alice)
    assert leases.end_of(note) == "2026-07-08T10:00:00Z"
    assert leases.is_active(note, "2026-07-08T10:09:00Z")
    assert not leases.is_active(note, "2026-07-08T10:10:00Z")
    for skew, active in (("2026-07-01T12:00:00Z", True), ("2026-07-02T10:00:00Z", True), ("9999-01-01", False)):
        assert leases.is_active(replace(note, updated_at=skew), START) is active, skew


# Sessions


def test_the_sessions_of_a_clone_are_bounded_and_forgotten(alice: Brain) -> None:
    for number in range(sessions.MOST + 6):
        alive(alice, f"2026-07-01T10:{number // 60:02}:{number % 60:02}Z", session=f"s{number}")
    alive(alice, "2026-05-01T10:00:00Z", session="old")
    sessions.tidy(alice.root, START)
    names = {seen.session for seen in sessions.known(alice.root)}
    assert len(names) == sessions.MOST
    assert "old" not in names
    assert f"s{sessions.MOST + 5}" in names
    assert "s0" not in names


@pytest.mark.parametrize("name", ["../../evil", "a/b", "x" * 5000, "\ud800", "CON", "ghp_token"])
def test_a_session_of_any_name_is_a_file_of_ours(alice: Brain, name: str) -> None:
    before = {path.name for path in alice.root.parent.iterdir()}
    alive(alice, START, session=name)
    (seen,) = sessions.known(alice.root)
    assert seen.session == name[:1024]
    (place,) = (alice.root / ".git/commonwealth/sessions").iterdir()
    assert set(place.name) <= set("0123456789abcdefghijklmnopqrstuvwxyz-.")
    assert {path.name for path in alice.root.parent.iterdir()} == before


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"session": 1}', b"\xff" * 100])
def test_a_damaged_file_of_a_session_is_passed_over(alice: Brain, damage: bytes) -> None:
    alive(alice, START)
    (place,) = (alice.root / ".git/commonwealth/sessions").iterdir()
    place.write_bytes(damage)
    assert sessions.known(alice.root) == ()
    assert tending.tend(alice, START) == ()


# Merged branches


def work_on(code: Path, git: PlainGit, branch: str = "fix") -> None:
    """Commits on a branch of the code repository, and one beside it."""
    git(code, "checkout", "-q", "-b", branch)
    (code / "a.py").write_text("a\n", encoding="utf-8")
    git(code, "add", "-A")
    git(code, *ME, "commit", "-q", "-m", "one")


def land(code: Path, git: PlainGit, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    git(code, "checkout", "-q", "main")
    monkeypatch.setenv("GIT_COMMITTER_DATE", MERGED)
    if how == "merge":
        git(code, *ME, "merge", "-q", "--no-ff", "-m", "Merge", "fix")
    else:
        git(code, *ME, "merge", "-q", "--squash", "fix")
        git(code, *ME, "commit", "-q", "-m", "Squashed")
    if how == "squash and delete":
        git(code, "branch", "-q", "-D", "fix")
    monkeypatch.delenv("GIT_COMMITTER_DATE")


@pytest.mark.parametrize("how", ["merge", "squash", "squash and delete"])
def test_a_merged_branch_completes_the_record_by_itself(
    alice: Brain, code: Path, git: PlainGit, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_on(code, git)
    here = brains.open_brain(alice.root, cwd=str(code))
    announce(here)
    alive(here, "2026-07-01T10:05:00Z")
    away = brains.open_brain(alice.root, cwd="/")
    assert tending.tend(away, "2026-07-01T10:06:00Z") == ()
    land(code, git, how, monkeypatch)
    (receipt,) = tending.tend(away, "2026-07-01T18:00:00Z")
    assert receipt.state == "committed"
    done = note_at(alice)
    assert (done.status, done.completed_at, done.updated_at) == ("completed", MERGED, MERGED)
    assert git(code, "rev-parse", "main").strip()[:12] in done.body
    assert done.body.startswith("What I am at.")
    assert tending.tend(away, "2026-07-01T18:01:00Z") == ()


def test_a_branch_without_work_and_one_that_landed_before_complete_nothing(
    alice: Brain, code: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(code, "checkout", "-q", "-b", "fix")
    here = brains.open_brain(alice.root, cwd=str(code))
    announce(here)
    alive(here, "2026-07-01T10:05:00Z")
    assert tending.tend(here, "2026-07-01T10:06:00Z") == ()
    git(code, "checkout", "-q", "main")
    git(code, "branch", "-q", "-D", "fix")
    work_on(code, git)
    land(code, git, "merge", monkeypatch)
    announce(here, started_at="2026-07-01T16:00:00Z", lease_until="2026-07-01T20:00:00Z")
    assert tending.tend(here, "2026-07-01T16:30:00Z") == ()


def test_without_the_code_repository_nothing_is_completed(
    alice: Brain, code: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_on(code, git)
    here = brains.open_brain(alice.root, cwd=str(code))
    announce(here)
    alive(here, "2026-07-01T10:05:00Z")
    land(code, git, "merge", monkeypatch)
    code.rename(code.with_name("moved"))
    assert tending.tend(brains.open_brain(alice.root, cwd="/"), "2026-07-01T16:00:00Z") == ()
    assert note_at(alice).status == "in-progress"


def test_a_sync_that_a_person_asks_for_tends_as_one_in_the_background_does(
    team: tuple[Teammate, Teammate], code: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = team
    work_on(code, git)
    alice.act()
    here = brains.open_brain(alice.root, cwd=str(code))
    announce(here)
    land(code, git, "merge", monkeypatch)
    receipt = publishing.sync_now(here, "2026-07-01T18:00:00Z", timeout=60)
    assert (receipt.state, note_at(here).status) == ("published", "completed")
    theirs = bob.act()
    syncing.sync(theirs)
    assert note_at(theirs).status == "completed"
    assert publishing.sync_now(here, "2026-07-01T18:01:00Z", timeout=60).state in ("unchanged", "published")


def test_a_round_of_the_background_renews_and_publishes(team: tuple[Teammate, Teammate], git: PlainGit) -> None:
    alice, bob = team
    brain = alice.act()
    announce(brain, branch="main")
    alive(brain, "2026-07-01T13:00:00Z")
    alice.monkeypatch.setenv("COMMONWEALTH_NOW", "2026-07-01T13:00:05Z")
    outcome = publishing.serve_at(alice.root, publishing.Pace(0, 0, 60))
    assert outcome is not None
    assert outcome["state"] == "published", json.dumps(outcome)
    theirs = bob.act()
    syncing.sync(theirs)
    assert note_at(theirs).lease_until == "2026-07-01T17:00:00Z"


def test_a_colleague_changes_nothing_of_anothers_record(
    team: tuple[Teammate, Teammate], code: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = team
    work_on(code, git)
    announce(alice.act())
    land(code, git, "merge", monkeypatch)
    brain = bob.act()
    syncing.sync(brain)
    alive(brain, "2026-07-01T13:00:00Z")
    assert tending.tend(brain, "2026-07-01T13:00:00Z") == ()
