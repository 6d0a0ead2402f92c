"""Reality changed: one commit replaces notes, whoever else does so at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.errors import BrainError
from commonwealth.faults import VARIABLE
from commonwealth.flows import brains, conflicts, history, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft
from commonwealth.flows.retract import retract
from commonwealth.flows.supersede import supersede
from commonwealth.flows.update import update
from commonwealth.index.filters import Query
from commonwealth.model import Note, Receipt
from tests.flows.conftest import PlainGit, Teammate, note_text, record, recorded, settle, spawn, together, write

LATER = "2026-08-01T10:00:00Z"
Team = tuple[Teammate, Teammate]


def superseded(
    brain: Brain, *ids: str, title: str = "New rule", at: str | None = None, now: str = LATER, **fields: object
) -> Receipt:
    """What replaces notes by `supersede`."""
    draft = Draft(title, **fields)  # type: ignore[arg-type]
    return supersede(brain, ids, draft, effective_at=at, session=Session(), now=now)


def replacement(brain: Brain, *ids: str, title: str = "New rule", at: str | None = None, now: str = LATER) -> str:
    receipt = superseded(brain, *ids, title=title, at=at, now=now)
    assert receipt.state == "committed", receipt
    return receipt.ids[0]


def note(brain: Brain, note_id: str) -> Note:
    return recall.read(brain, note_id).note


def true_at(brain: Brain, at: str) -> set[str]:
    return {hit.note.id for hit in recall.search(brain, Query(kind=("memory",), valid_at=at, now=at)).hits}


def true_now(brain: Brain, now: str) -> set[str]:
    return {hit.note.id for hit in recall.search(brain, Query(kind=("memory",), now=now)).hits}


def test_one_commit_adds_the_replacement_and_closes_the_old_note(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "Old rule", status="confirmed", confidence="high")
    before = git(brain.root, "rev-parse", "HEAD")
    receipt = superseded(brain, old, at="2026-07-15", components=("api",))
    new, closed = receipt.ids
    assert (receipt.state, closed) == ("committed", old)
    assert git(brain.root, "rev-list", f"{before.strip()}..HEAD").split() == [receipt.commit]
    was, now = note(brain, old), note(brain, new)
    at = "2026-07-15T00:00:00Z"
    assert (was.status, was.valid_until, was.superseded_at, was.superseded_by) == ("superseded", at, at, new)
    assert (now.supersedes, now.valid_from, now.status, now.components) == ((old,), at, "observed", ("api",))
    assert was.confidence == "high"
    assert git(brain.root, "status", "--porcelain") == ""
    assert (true_at(brain, "2026-07-14T23:59:59Z"), true_at(brain, at)) == ({old}, {new})
    assert true_now(brain, LATER) == {new}


def test_the_old_note_keeps_every_other_byte(brain: Brain) -> None:
    text = note_text("Hand made", "Body.\n", status="confirmed   # sure", owner="x  # mine")
    write(brain, {"memory/hand.md": text})
    replacement(brain, "hand", at="2026-07-15")
    after = (brain.root / "memory/hand.md").read_text()
    assert set(after.splitlines()) - set(text.splitlines()) >= {"valid_until: 2026-07-15T00:00:00Z"}
    assert "owner: x  # mine" in after
    assert after.endswith("---\nBody.\n")


def test_a_repeated_call_changes_nothing(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "Old rule")
    first = superseded(brain, old)
    again = superseded(brain, old, now="2026-08-02T10:00:00Z")
    assert (again.state, again.ids) == ("unchanged", first.ids)
    other = recorded(brain, "Another rule")
    keyed = superseded(brain, other, idempotency_key="k")
    repeated = superseded(brain, other, title="Said otherwise", idempotency_key="k")
    assert (repeated.state, repeated.ids) == ("unchanged", keyed.ids)
    assert git(brain.root, "status", "--porcelain") == ""


def test_one_replaces_several_and_chains_go_on(brain: Brain) -> None:
    one, two = recorded(brain, "One"), recorded(brain, "Two")
    both = replacement(brain, one, two, title="Both", at="2026-07-10")
    last = replacement(brain, both, title="Last", at="2026-07-20")
    for at, expected in (("05", {one, two}), ("10", {both}), ("15", {both}), ("20", {last}), ("30", {last})):
        assert true_at(brain, f"2026-07-{at}T00:00:00Z") == expected


def test_a_replacement_of_the_future_leaves_the_old_note_true_until_then(brain: Brain) -> None:
    old = recorded(brain, "Old rule")
    receipt = superseded(brain, old, at="2026-09-01")
    new = receipt.ids[0]
    assert receipt.reason is not None
    assert "2026-09-01T00:00:00Z" in receipt.reason
    assert (true_now(brain, LATER), true_now(brain, "2026-09-01T00:00:00Z")) == ({old}, {new})
    assert record(brain, "Old rule", LATER).state == "unchanged"


def test_a_fact_may_be_true_twice(brain: Brain) -> None:
    first = recorded(brain, "Flag on")
    off = replacement(brain, first, title="Flag off", at="2026-07-10")
    again = replacement(brain, off, title="Flag on", at="2026-07-20")
    third = replacement(brain, again, title="Flag off", at="2026-07-25")
    assert len({first, off, again, third}) == 4
    assert true_at(brain, "2026-07-21T00:00:00Z") == {again}


@pytest.mark.parametrize(
    ("fields", "at", "field"),
    [
        ({}, "soon", "effective_at"),
        ({}, "2026-01-01", "effective_at"),
        ({"valid_until": "2026-03-01"}, "2026-04-01", "valid_until"),
        ({"valid_from": "2026-05-01"}, "2026-04-01", "valid_from"),
        ({"title": " "}, None, "title"),
        ({"status": "superseded"}, None, "status"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    brain: Brain, git: PlainGit, fields: dict[str, str], at: str | None, field: str
) -> None:
    old = recorded(brain, "Old rule", valid_from="2026-02-01")
    before = git(brain.root, "rev-parse", "HEAD")
    with pytest.raises(BrainError) as caught:
        superseded(brain, old, at=at, **{"title": "New", **fields})
    assert field in caught.value.message
    assert git(brain.root, "rev-parse", "HEAD") == before
    assert git(brain.root, "status", "--porcelain") == ""


def test_notes_that_cannot_be_superseded_are_refused(brain: Brain, git: PlainGit) -> None:
    work = note_text("Busy", kind="work-state", status="in-progress")
    write(brain, {"work-state/busy.md": work, "people/ann.md": note_text("Ann", kind="person")})
    write(brain, {"memory/shut.md": note_text("Shut", status="superseded")})
    old = recorded(brain, "Old rule")
    new = replacement(brain, old)
    wrong = recorded(brain, "Wrong")
    retract(brain, wrong, "A typo", session=Session(), now=LATER)
    key = recorded(brain, "Keyed", idempotency_key="k")
    before = git(brain.root, "rev-parse", "HEAD")
    for ids, words in (
        (("nothing-like-it",), "No note has the id"),
        (("2026",), "means"),
        (("busy",), "a work record"),
        (("ann",), "a person's note"),
        (("shut",), "was superseded already"),
        ((old,), f"was superseded by {new}"),
        ((wrong,), "was retracted, so it was never true: A typo"),
        ((new, wrong), "was retracted"),
        ((), "say which note"),
    ):
        with pytest.raises(BrainError, match=words):
            superseded(brain, *ids, title="Other")
    with pytest.raises(BrainError, match="cannot supersede itself"):
        superseded(brain, key, title="Other", idempotency_key="k")
    with pytest.raises(BrainError, match="idempotency_key"):
        superseded(brain, new, title="Other", idempotency_key="k")
    assert git(brain.root, "rev-parse", "HEAD") == before


def test_a_secret_is_refused(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "Old rule")
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    for receipt in (superseded(brain, old, body=token), retract(brain, old, token, session=Session(), now=LATER)):
        assert receipt.state == "refused"
        assert (receipt.reason or "").startswith("secret: ")
    assert (note(brain, old).status, git(brain.root, "status", "--porcelain")) == ("observed", "")


def test_retracting_a_replacement_opens_what_it_had_closed(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "Old rule", status="hypothesis", valid_until="2027-01-01")
    new = replacement(brain, old, at="2026-07-10")
    receipt = retract(brain, new, "It was a rumour", session=Session(), now=LATER)
    assert receipt.state == "committed"
    assert set(receipt.ids) == {old, new}
    assert [(item.id, item.state) for item in receipt.items] == [(new, "retracted"), (old, "reopened")]
    was = note(brain, old)
    assert (was.status, was.superseded_by, was.superseded_at) == ("hypothesis", None, None)
    assert (note(brain, new).status, note(brain, new).retract_reason) == ("retracted", "It was a rumour")
    assert true_now(brain, LATER) == {old}
    again = retract(brain, new, "It was a rumour", session=Session(), now=LATER)
    assert (again.state, git(brain.root, "status", "--porcelain")) == ("unchanged", "")
    with pytest.raises(BrainError, match="reason"):
        retract(brain, old, "  ", session=Session(), now=LATER)


def test_retracting_the_middle_of_a_chain_joins_its_ends(brain: Brain) -> None:
    old = recorded(brain, "Old rule")
    middle = replacement(brain, old, title="Middle", at="2026-07-10")
    last = replacement(brain, middle, title="Last", at="2026-07-20")
    retract(brain, middle, "Never", session=Session(), now=LATER)
    assert note(brain, old).superseded_by == last
    assert true_at(brain, "2026-07-15T00:00:00Z") == {old}
    assert true_at(brain, "2026-07-20T00:00:00Z") == {last}
    retract(brain, last, "Never either", session=Session(), now=LATER)
    assert true_now(brain, LATER) == {old}


def sync(*team: Teammate) -> None:
    for person in team:
        assert syncing.sync(person.act()).state in ("published", "unchanged")


def one_tree(team: Team, git: PlainGit) -> None:
    """All have the same files once each has synced."""
    alice, bob = team
    sync(alice, bob, alice)
    assert git(alice.root, "rev-parse", "HEAD") == git(bob.root, "rev-parse", "HEAD")
    for person in team:
        assert git(person.root, "status", "--porcelain") == ""
        before = git(person.root, "rev-parse", "HEAD")
        assert syncing.sync(person.act()).state == "unchanged"
        assert git(person.root, "rev-parse", "HEAD") == before


def test_a_replacement_that_came_alone_closes_the_old_note_at_the_next_sync(team: Team, git: PlainGit) -> None:
    alice, bob = team
    old = recorded(alice.act(), "Old rule", status="confirmed")
    sync(alice, bob)
    text = note_text("By request", id="by-request", supersedes=f"[{old}]", valid_from="2026-07-15", kind="memory")
    git(bob.root, "pull", "-q")
    write(bob.act(), {"memory/by-request.md": text})
    git(bob.root, "add", "memory")
    git(bob.root, "-c", "user.name=Bob", "-c", "user.email=bob@example.com", "commit", "-qm", "merged by hand")
    git(bob.root, "push", "-q")
    assert note(bob.act(), old).status == "confirmed"
    one_tree(team, git)
    at = "2026-07-15T00:00:00Z"
    for person in team:
        was = note(person.act(), old)
        assert (was.status, was.valid_until, was.superseded_at, was.superseded_by) == (
            "superseded",
            at,
            at,
            "by-request",
        )
    path = bob.root / "memory/by-request.md"
    path.write_text(text.replace("kind:", "status: retracted\nretract_reason: no\nkind:"))
    sync(bob)
    one_tree(team, git)
    was = note(alice.act(), old)
    assert (was.status, was.valid_until, was.superseded_by) == ("confirmed", None, None)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("early", [0, 1])
def test_two_clones_that_supersede_one_note_offline_have_one_conflict(
    team: Team, git: PlainGit, first: int, early: int
) -> None:
    old = recorded(team[0].act(), "Old rule")
    sync(*team)
    ids = [
        replacement(person.act(), old, title=f"Rule of {person.name}", at=f"2026-07-{10 + (number + early) % 2}")
        for number, person in enumerate(team)
    ]
    sync(team[first], team[1 - first], team[first])
    one_tree(team, git)
    for person in team:
        brain = person.act()
        (conflict,) = conflicts.conflicts(brain)
        assert (conflict.id, {rival.id for rival in conflict.rivals}) == (old, set(ids))
        assert note(brain, old).superseded_by == ids[early]
    conflicts.resolve(team[first].act(), old, keep=[ids[0]], session=Session(), now=LATER)
    one_tree(team, git)
    for person in team:
        assert conflicts.conflicts(person.act()) == ()
        assert true_now(person.act(), LATER) == {ids[0]}
        assert note(person.act(), old).superseded_by == ids[0]


def test_nothing_is_superseded_before_review(brain: Brain) -> None:
    old = recorded(brain, "Old rule")
    path = brain.root / ".commonwealth/config.yaml"
    path.write_text(path.read_text().replace("review: auto", "review: queue"))
    assert "queue" in path.read_text()
    brain = brains.open_brain(brain.root, cwd=str(brain.root))
    receipt = superseded(brain, old)
    assert (receipt.state, len(receipt.ids)) == ("staged", 1)
    assert old in (receipt.reason or "")
    assert note(brain, old).status == "observed"
    assert superseded(brain, old).ids == receipt.ids
    settle(brain)


BOTH = """
import sys
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft
from commonwealth.flows.saving import save
from commonwealth.flows import supersede

root, code, note_id, name, at = sys.argv[1:]
brain = brains.open_brain(root, cwd=code)

def waiting(*args, **more):
    print("ready", flush=True)
    sys.stdin.readline()
    return save(*args, **more)

supersede.saving.save = waiting
receipt = supersede.supersede(
    brain, [note_id], Draft(f"Rule of {name}"), effective_at=at, session=Session(), now="2026-08-01T10:00:00Z"
)
print(receipt.state, *receipt.ids, "conflicts", *(receipt.conflicts or ()))
"""


def test_two_processes_that_supersede_one_note_at_once_both_do_so(team: Team, git: PlainGit) -> None:
    alice, _ = team
    brain = alice.act()
    old = recorded(brain, "Old rule")
    args = [("one", "2026-07-12"), ("two", "2026-07-11")]
    said = together([spawn(BOTH, str(alice.root), str(alice.code), old, *more) for more in args])
    lines = [line.split() for line in said]
    ids = [line[1] for line in lines]
    assert [line[0] for line in lines] == ["committed", "committed"]
    told = sorted(line[line.index("conflicts") + 1 :] for line in lines)
    assert told in ([[], [ids[0]]], [[], [ids[1]]])
    assert note(brain, old).superseded_by == ids[1]
    assert git(brain.root, "status", "--porcelain") == ""
    one_tree(team, git)
    for person in team:
        (conflict,) = conflicts.conflicts(person.act())
        assert (conflict.id, {rival.id for rival in conflict.rivals}) == (old, set(ids))


KILLED = """
import sys
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft
from commonwealth.flows.retract import retract
from commonwealth.flows.supersede import supersede
from commonwealth.flows.update import update

act, root, code, note_id = sys.argv[1:]
brain = brains.open_brain(root, cwd=code)
more = {"session": Session(), "now": "2026-08-01T10:00:00Z"}
if act == "supersede":
    supersede(brain, [note_id], Draft("New rule"), effective_at="2026-07-10", **more)
else:
    retract(brain, note_id, "Never", **more)
"""


@pytest.mark.parametrize("act", ["supersede", "retract"])
@pytest.mark.parametrize(
    "point", ["commit-temp-written", "commit-half-renamed", "commit-renamed", "commit-object", "commit-indexed"]
)
def test_a_kill_at_any_point_leaves_all_or_nothing_once_the_call_is_repeated(
    brain: Brain, code: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch, act: str, point: str
) -> None:
    old = recorded(brain, "Old rule")
    target = replacement(brain, old, title="First", at="2026-07-05") if act == "retract" else old
    monkeypatch.setenv(VARIABLE, f"{point}=kill")
    process = spawn(KILLED, act, str(brain.root), str(code), target)
    process.communicate(timeout=120)
    assert process.returncode != 0
    monkeypatch.delenv(VARIABLE)
    if act == "supersede":
        receipt = superseded(brain, target, at="2026-07-10")
        assert true_now(brain, LATER) == {receipt.ids[0]}
        assert note(brain, old).superseded_by == receipt.ids[0]
    else:
        receipt = retract(brain, target, "Never", session=Session(), now=LATER)
        assert true_now(brain, LATER) == {old}
        assert (note(brain, old).status, note(brain, target).status) == ("observed", "retracted")
    assert receipt.state in ("committed", "unchanged")
    assert len(list(brain.root.glob("memory/*/*rule*.md"))) == (2 if act == "supersede" else 1)
    syncing.sync(brain)
    assert git(brain.root, "status", "--porcelain") == ""
    assert (note(brain, old).status == "superseded") == (act == "supersede")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sessions last 5 years", "Sessions last 6 years"),
        ("Needs Node 20.1", "Needs Node 20.2"),
        ("Retries are safe", "Retries are not safe"),
    ],
)
def test_a_fact_that_differs_in_one_word_is_no_double(brain: Brain, one: str, other: str) -> None:
    old = recorded(brain, one)
    new = superseded(brain, old, title=other, at="2026-07-15")
    assert (new.state, new.ids[1]) == ("committed", old)
    assert true_now(brain, LATER) == {new.ids[0]}
    third = record(brain, f"{other} today", LATER)
    assert (third.state, third.ids[0] in new.ids) == ("committed", False)


def test_a_hundred_facts_that_ended_do_not_come_back(brain: Brain) -> None:
    old = {f"memory/old{number}.md": note_text(f"Retry rule {number}", id=f"old{number}") for number in range(100)}
    write(brain, old)
    live = {recorded(brain, f"Live retry rule {number}") for number in range(10)}
    new = replacement(brain, *(f"old{number}" for number in range(100)), title="One retry rule", at="2026-07-15")
    found = recall.search(brain, Query(text="retry rule", kind=("memory",), now=LATER, limit=100))
    assert {hit.note.id for hit in found.hits} == {*live, new}
    assert len(true_at(brain, "2026-07-14T00:00:00Z")) == 20


def test_a_plan_is_moved_or_cancelled_before_its_note_is_superseded_again(brain: Brain) -> None:
    old = recorded(brain, "Old rule", valid_from="2026-02-01")
    plan = replacement(brain, old, title="Planned", at="2027-01-01")
    with pytest.raises(BrainError, match="is to be superseded by") as refused:
        superseded(brain, old, title="Sooner")
    assert f"brain update {plan} --valid-from" in (refused.value.hint or "")
    assert f"brain retract {plan}" in (refused.value.hint or "")
    assert retract(brain, plan, "Cancelled", session=Session(), now=LATER).state == "committed"
    new = replacement(brain, old, title="Sooner")
    assert (note(brain, old).superseded_by, true_at(brain, "2027-02-01T00:00:00Z")) == (new, {new})


def test_the_beginning_of_a_replacement_moves_the_end_of_the_old_note_in_the_same_commit(
    brain: Brain, git: PlainGit
) -> None:
    old = recorded(brain, "Old rule", valid_from="2026-02-01")
    new = replacement(brain, old, at="2027-01-01")
    head = git(brain.root, "rev-parse", "HEAD")
    receipt = update(brain, new, {"valid_from": "2026-09-01"}, session=Session(), now=LATER)
    assert git(brain.root, "rev-list", f"{head.strip()}..HEAD").split() == [receipt.commit]
    assert [(item.id, item.state) for item in receipt.items] == [(new, "changed"), (old, "closed")]
    assert (note(brain, old).valid_until, note(brain, old).superseded_at) == ("2026-09-01T00:00:00Z",) * 2
    with pytest.raises(BrainError, match=f"of {old}"):
        update(brain, new, {"valid_from": "2026-01-01"}, session=Session(), now=LATER)
    notes = note(brain, old), note(brain, new)
    syncing.sync(brain)
    assert (note(brain, old), note(brain, new)) == notes


@pytest.mark.parametrize("values", [{"status": "confirmed"}, {"valid_until": "2028-01-01"}, {"valid_until": None}])
def test_what_a_replacement_decides_is_not_corrected_in_the_old_note(
    brain: Brain, values: dict[str, str | None]
) -> None:
    old = recorded(brain, "Old rule", valid_from="2026-02-01")
    new = replacement(brain, old, at="2026-07-15")
    with pytest.raises(BrainError, match=f"{next(iter(values))}: {new} supersedes") as refused:
        update(brain, old, values, session=Session(), now=LATER)
    assert f"brain retract {new}" in (refused.value.hint or "")
    with pytest.raises(BrainError, match=r"valid_from: .* is not before valid_until") as late:
        update(brain, old, {"valid_from": "2026-08-01"}, session=Session(), now=LATER)
    assert f"brain update {new} --valid-from" in (late.value.hint or "")
    update(brain, old, {"valid_until": "2026-07-01"}, session=Session(), now=LATER)
    assert note(brain, old).valid_until == "2026-07-01T00:00:00Z"


def test_a_restored_version_stays_closed_by_the_replacement(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "Old rule", summary="First words.")
    first = git(brain.root, "rev-parse", "HEAD").strip()
    update(brain, old, {"summary": "Other words."}, session=Session(), now=LATER)
    new = replacement(brain, old)
    receipt = history.restore(brain, old, first, session=Session(), now=LATER)
    assert any(f"stays superseded by {new}" in warning for warning in receipt.warnings)
    was = note(brain, old)
    assert (was.summary, was.status, was.superseded_by, was.valid_until) == ("First words.", "superseded", new, LATER)


def test_the_replacement_is_of_the_old_kind_unless_it_says_otherwise(brain: Brain) -> None:
    own: dict[str, object] = {
        "components": ("api",), "tags": ("slow",), "repository": "github.com/acme/pay",
        "type": "gotcha", "status": "confirmed", "confidence": "high",
    }  # fmt: skip
    old = recorded(brain, "Old rule", LATER, **own)
    new = note(brain, superseded(brain, old, kind="").ids[0])
    assert (new.kind, new.type, new.components, new.tags) == ("memory", "gotcha", ("api",), ("slow",))
    assert (new.repository, new.status, new.confidence) == ("github.com/acme/pay", "observed", "medium")
    choice = recorded(brain, "Choice", kind="decision")
    later = note(brain, superseded(brain, choice, title="Other choice", kind="", tags=("x",)).ids[0])
    assert (later.kind, later.type, later.tags) == ("decision", "decision", ("x",))


def test_a_receipt_says_what_became_of_each_note_and_of_a_gap(brain: Brain) -> None:
    old = recorded(brain, "Old rule", valid_from="2026-02-01", valid_until="2026-03-01")
    receipt = superseded(brain, old, at="2026-05-01")
    assert [(item.id, item.state) for item in receipt.items] == [(receipt.ids[0], "added"), (old, "closed")]
    assert receipt.items[1].reason == "is true until 2026-03-01T00:00:00Z"
    assert any("neither is true" in warning for warning in receipt.warnings)
    future = record(brain, "To come", valid_from="2027-01-01")
    assert "before 2027-01-01T00:00:00Z" in (future.reason or "")


def test_a_planned_end_is_told_as_one(brain: Brain) -> None:
    old = recorded(brain, "Old rule")
    new = replacement(brain, old, at="2027-01-01")
    told = recall.recall(brain, "Old rule", budget=2000, now=LATER).text
    assert f"until 2027-01-01T00:00:00Z, then {new}" in told
    assert "superseded" not in told
