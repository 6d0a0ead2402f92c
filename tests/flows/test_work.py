"""Active work: announced, found by what it touches, changed, renewed and ended; advice, and never in anybody's way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonwealth import config
from commonwealth.errors import Refused, Usage
from commonwealth.flows import brains, indexing, leases, recall, syncing, update, work
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.work import Started, WorkDraft, WorkHit, WorkQuery
from commonwealth.model import Note, Provenance

from .conftest import NOW, PlainGit, Teammate, note_text, recorded, search_all, spawn, together, write

SERVICE = "src/payments/PaymentService.ts"
SHOP = "git.example.com/acme/shop"
MINE = Session("Codex", "session-1")
ANOTHER = Session("Claude Code", "session-2")


def after(minutes: int) -> str:
    """An instant so many minutes after the beginning."""
    hours, rest = divmod(600 + minutes, 60)
    days, hours = divmod(hours, 24)
    return f"2026-07-{1 + days:02}T{hours:02}:{rest:02}:00Z"


def start(
    brain: Brain, title: str = "Handle duplicates", minute: int = 0, session: Session = MINE, **fields: Any
) -> Started:
    return work.start(brain, WorkDraft(title, **{"files": (SERVICE,), **fields}), session=session, now=after(minute))


def started(brain: Brain, title: str = "Handle duplicates", minute: int = 0, **fields: Any) -> str:
    told = start(brain, title, minute, **fields)
    assert told.receipt.state == "committed", told
    return told.receipt.ids[0]


def find(brain: Brain, minute: int = 0, **filters: Any) -> list[WorkHit]:
    return list(work.search(brain, WorkQuery(now=after(minute), **filters)).results)


def note_of(brain: Brain, work_id: str) -> Note:
    return recall.read(brain, work_id).note


def states(hits: list[WorkHit]) -> list[tuple[str, bool]]:
    return [(hit.note.title, hit.stale) for hit in hits]


# Announcing


def test_announced_work_says_whose_it_is_where_and_until_when(brain: Brain, git: PlainGit) -> None:
    work_id = started(
        brain, summary="409 is a success.", components=("payments",), provenance=Provenance(issue="PAY-1")
    )
    note = note_of(brain, work_id)
    assert (note.kind, note.status, note.files, note.components) == (
        "work-state",
        "in-progress",
        (SERVICE,),
        ("payments",),
    )
    assert (note.owner, note.agent, note.author_ref) == (note.author, "Codex", note.author_ref)
    assert note.author_ref
    assert (note.repository, note.branch) == (SHOP, "main")
    assert (note.started_at, note.updated_at, note.lease_until) == (NOW, NOW, after(240))
    assert (note.provenance.session, note.provenance.issue) == ("session-1", "PAY-1")
    assert note.provenance.commit
    text = (brain.root / f"work-state/2026-07/{work_id}.md").read_text(encoding="utf-8")
    keys = [line.partition(":")[0] for line in text.split("\n") if line[:1].isalpha()]
    expected = ["id", "kind", "title", "summary", "status", "created_at", "updated_at", "started_at", "lease_until"]
    assert keys[:14] == [*expected, "branch", "repository", "files", "components", "owner"]
    assert git(brain.root, "status", "--porcelain") == ""
    assert git(brain.root, "log", "-1", "--format=%s").strip() == "Start work: Handle duplicates"


def test_announcing_is_committed_also_where_the_team_reviews_facts_first(brain: Brain) -> None:
    place = brain.root / config.CONFIG_PATH
    place.write_text(place.read_text(encoding="utf-8").replace("review: auto", "review: queue"), encoding="utf-8")
    reviewing = brains.open_brain(brain.root, cwd=brain.cwd)
    assert brains.review_mode(reviewing) == "queue"
    assert start(reviewing).receipt.state == "committed"


def test_the_same_announcement_of_one_session_is_made_once(brain: Brain) -> None:
    first = started(brain)
    again = start(brain, minute=5)
    assert (again.receipt.state, again.receipt.ids) == ("unchanged", (first,))
    assert start(brain, "HANDLE duplicates", 5).receipt.state == "unchanged"
    other = start(brain, session=ANOTHER, minute=6)
    assert other.receipt.state == "committed"
    assert [hit.note.id for hit in other.overlaps] == [first]
    assert other.overlaps[0].labels == ("your own, from another session",)


def test_an_idempotency_key_makes_one_record_whatever_else_is_said(brain: Brain) -> None:
    first = started(brain, idempotency_key="k1")
    again = start(brain, "Otherwise said", 5, session=ANOTHER, idempotency_key="k1")
    assert (again.receipt.state, again.receipt.ids) == ("unchanged", (first,))
    work.complete(brain, first, session=MINE, now=after(10))
    late = start(brain, minute=20, idempotency_key="k1").receipt
    assert (late.state, late.ids) == ("unchanged", (first,))
    assert "completed" in str(late.reason)
    assert find(brain, 20) == []


def test_a_lease_that_is_over_is_never_revived_by_the_same_session_alone(brain: Brain) -> None:
    first = started(brain, lease_minutes=60)
    told = start(brain, minute=120)
    assert told.receipt.state == "committed"
    (second,) = told.receipt.ids
    assert second != first
    assert states(find(brain, 120)) == [("Handle duplicates", False), ("Handle duplicates", True)]
    assert [hit.note.id for hit in find(brain, 120)] == [second, first]
    assert start(brain, minute=121).receipt.ids == (second,)

    keyed = started(brain, "Keyed", idempotency_key="k", lease_minutes=60)
    receipt = start(brain, "Keyed", 120, idempotency_key="k").receipt
    assert (receipt.state, receipt.ids) == ("unchanged", (keyed,))
    assert "over at 2026-07-01T11:00:00Z" in str(receipt.reason)
    assert "renew" in str(receipt.next)
    assert not leases.is_active(note_of(brain, keyed), after(120))


def test_a_lease_ends_by_time_or_release_only(brain: Brain) -> None:
    first = started(brain, lease_minutes=180)
    assert states(find(brain, 50, files=(SERVICE,))) == [("Handle duplicates", False)]
    indexing.rebuild(brain)
    assert states(find(brain, 50)) == [("Handle duplicates", False)]
    assert states(find(brain, 189)) == [("Handle duplicates", False)]
    assert states(find(brain, 190)) == [("Handle duplicates", True)]
    indexing.rebuild(brain)
    assert states(find(brain, 190)) == [("Handle duplicates", True)]
    assert work.complete(brain, first, "Done.", session=MINE, now=after(200)).state == "committed"
    assert find(brain, 201) == []


def test_whoever_starts_on_the_same_is_told_and_not_held_up(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    first = started(alice.act(), components=("payments",))
    assert syncing.sync(alice.act()).state == "published"
    assert syncing.sync(bob.act()).state in ("unchanged", "committed", "published")
    brain = bob.act()
    told = start(brain, "Rework payments", 30, session=Session("Codex", "of Bob"), files=("src/payments",))
    assert told.receipt.state == "committed"
    (hit,) = told.overlaps
    assert (hit.note.id, hit.note.owner, hit.overlap, hit.stale, hit.labels) == (
        first, "Alice", ("folder src/payments",), False, ()
    )  # fmt: skip
    assert start(brain, "Elsewhere", 31, session=ANOTHER, files=("docs/**",)).overlaps == ()
    by_component = start(brain, "By name", 32, session=ANOTHER, files=(), components=("Payments",))
    assert [hit.overlap for hit in by_component.overlaps] == [("component payments",)]
    assert start(brain, "Another shop", 33, session=ANOTHER, repository="acme/other").overlaps == ()
    assert start(brain, "The same shop", 34, session=ANOTHER, repository="Shop").overlaps != ()
    assert start(brain, "Long after", 400, session=ANOTHER).overlaps == ()


_RACE = """
import sys
from commonwealth.flows import brains, work
from commonwealth.flows.identity import Session
brain = brains.open_brain(sys.argv[1], cwd=sys.argv[2])
session = Session("Codex", f"session {sys.argv[3]}")
print("ready", flush=True)
sys.stdin.readline()
told = work.start(brain, work.WorkDraft(f"Work {sys.argv[3]}", files=("src/**",)), session=session, now=sys.argv[4])
print(told.receipt.state, *told.receipt.ids, *(hit.note.id for hit in told.overlaps))
"""


def test_ten_who_start_together_all_succeed_and_see_each_other(brain: Brain) -> None:
    processes = [spawn(_RACE, str(brain.root), brain.cwd, str(number), after(number % 3)) for number in range(10)]
    said = [line.split() for line in together(processes)]
    assert [words[0] for words in said] == ["committed"] * 10
    ids = {words[1] for words in said}
    assert len(ids) == 10
    # Each sees whoever came before it, so of any two at least one sees the other.
    assert max(len(words) - 2 for words in said) == 9
    seen = {words[1]: set(words[2:]) for words in said}
    assert all(one in seen[other] or other in seen[one] for one in ids for other in ids if one != other)
    orders = []
    for number in range(2):
        told = start(brain, f"Late {number}", 5, session=Session("x", f"late {number}"), files=("src/a.py",))
        orders.append([hit.note.id for hit in told.overlaps if hit.note.id in ids])
    assert orders[0] == orders[1]
    begun = [(note_of(brain, one).started_at, one) for one in orders[0]]
    assert begun == sorted(begun)
    assert len(begun) == 10


def test_two_clones_that_start_at_once_see_each_other_after_a_sync(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    ids = {started(alice.act()), started(bob.act(), "Rework", 1, files=("src/**",))}
    for person in (alice, bob, alice):
        assert syncing.sync(person.act()).conflicts in (None, ())
    found = [[hit.note.id for hit in find(person.act(), 5, files=("src/payments",))] for person in team]
    assert set(found[0]) == ids
    assert found[0] == found[1]


# Finding


def test_work_is_found_by_words_people_tools_and_what_it_touches(brain: Brain) -> None:
    one = started(brain, "Handle duplicate payments", summary="Idempotency keys", components=("payments",))
    two = started(brain, "Tidy the docs", 1, session=ANOTHER, files=("docs/**", "README.md"))
    done = started(brain, "Old payments work", 2)
    work.complete(brain, done, "Shipped.", session=MINE, now=after(3))

    def ids(**filters: Any) -> list[str]:
        return [hit.note.id for hit in find(brain, 5, **filters)]

    assert ids() == [one, two]
    assert ids(query="duplicate payment") == [one]
    assert ids(query="idempotency") == [one]
    assert ids(files=("docs/start.md",)) == [two]
    assert ids(files=("docs/start.md", SERVICE)) == [one, two]
    assert ids(files=(str(Path(brain.cwd) / SERVICE),)) == [one]
    assert ids(components=("PAYMENTS",)) == [one]
    assert ids(agent=("claude code",)) == [two]
    assert ids(person=("nobody",)) == []
    assert ids(person=(note_of(brain, one).author_ref or "",)) == [one, two]
    assert ids(repository=("shop",)) == [one, two]
    assert ids(repository=("acme/other",)) == []
    assert ids(status=("completed",)) == [done]
    assert ids(status=("completed", "in-progress"), files=(SERVICE,)) == [one, done]
    found = work.search(brain, WorkQuery(now=after(5), limit=1))
    assert (len(found.results), found.total) == (1, 2)


def test_work_that_a_person_wrote_by_hand_is_found(brain: Brain) -> None:
    text = note_text("By hand", kind="work-state", files="src/a.py", owner="Dana", updated_at=NOW)
    write(brain, {"work-state/by-hand.md": text, "work-state/bare.md": "# Only a heading\n"})
    assert states(find(brain, 60, files=("src",))) == [("By hand", False)]
    assert states(find(brain, 300, files=("src",))) == [("By hand", True)]
    assert {hit.note.title for hit in find(brain, 60)} == {"By hand", "Only a heading"}
    told = start(brain, minute=60, files=("src/**",))
    assert [(hit.note.owner, hit.overlap) for hit in told.overlaps] == [("Dana", ("glob src/**",))]


def test_a_file_that_was_renamed_since_overlaps_under_both_names(brain: Brain, code: Path, git: PlainGit) -> None:
    (code / "src/payments").mkdir(parents=True)
    (code / SERVICE).write_text("export class PaymentService {}\n" * 20, encoding="utf-8")
    git(code, "add", "-A")
    git(code, "commit", "-q", "-m", "a service")
    here = brains.open_brain(brain.root, cwd=str(code))
    first = started(here)
    (code / "src/billing").mkdir()
    git(code, "mv", SERVICE, "src/billing/Service.ts")
    git(code, "commit", "-q", "-m", "moved")
    here = brains.open_brain(brain.root, cwd=str(code))
    told = start(here, "Bill", 5, session=ANOTHER, files=("src/billing/Service.ts",))
    assert [(hit.note.id, hit.overlap) for hit in told.overlaps] == [
        (first, (f"file src/billing/Service.ts (was {SERVICE})",))
    ]
    changed = work.update(here, first, {"summary": "Still at it"}, session=MINE, now=after(6))
    assert [hit.note.id for hit in changed.overlaps] == list(told.receipt.ids)
    away = brains.open_brain(brain.root, cwd=str(brain.root.parent))
    assert find(away, 6, files=("src/billing/Service.ts",), repository=("acme/shop",))[0].note.id in told.receipt.ids


# Changing and ending


def test_an_update_is_a_sign_of_life_and_tells_what_overlaps_now(brain: Brain) -> None:
    first = started(brain, lease_minutes=60)
    other = started(brain, "Docs", 1, session=ANOTHER, files=("docs",))
    told = work.update(
        brain,
        first,
        {"status": "blocked", "add_files": ("docs/a.md",), "remove_files": (SERVICE,), "progress": "Waits.\n\n# Why"},
        session=MINE,
        now=after(30),
    )
    assert told.receipt.state == "committed"
    assert [hit.note.id for hit in told.overlaps] == [other]
    note = note_of(brain, first)
    assert (note.status, note.files, note.lease_until, note.updated_at) == (
        "blocked",
        ("docs/a.md",),
        after(90),
        after(30),
    )
    assert "## Progress 2026-07-01T10:30:00Z\n\nWaits." in note.body
    work.update(brain, first, {"lease_minutes": 600, "provenance.issue": "PAY-2"}, session=MINE, now=after(40))
    note = note_of(brain, first)
    assert (note.lease_until, note.provenance.issue, note.started_at) == (after(640), "PAY-2", NOW)
    same = work.update(brain, first, {"status": "blocked"}, session=MINE, now=after(50)).receipt
    assert same.state == "unchanged"


def test_a_stale_record_is_renewed_only_in_words_and_the_receipt_says_so(brain: Brain) -> None:
    first = started(brain, lease_minutes=60)
    told = work.update(brain, first, {"summary": "Back at it"}, session=MINE, now=after(300))
    assert told.receipt.warnings == (
        "its lease was over at 2026-07-01T11:00:00Z; it is active again, until 2026-07-01T19:00:00Z",
    )
    assert states(find(brain, 301)) == [("Handle duplicates", False)]
    work.complete(brain, first, session=MINE, now=after(310))
    assert find(brain, 311) == []
    told = work.update(brain, first, {"status": "in-progress"}, session=MINE, now=after(320))
    assert "it was completed" in told.receipt.warnings[0]
    note = note_of(brain, first)
    assert (note.status, note.completed_at) == ("in-progress", None)


def test_completed_work_keeps_what_came_of_it(brain: Brain, git: PlainGit) -> None:
    first = started(brain)
    receipt = work.complete(brain, first, "409 counts as success.", session=MINE, now=after(30))
    assert receipt.state == "committed"
    note = note_of(brain, first)
    assert (note.status, note.completed_at, note.summary) == ("completed", after(30), "409 counts as success.")
    assert note.body == "## Completed 2026-07-01T10:30:00Z\n\n409 counts as success.\n"
    again = work.complete(brain, first, "More.", session=MINE, now=after(31))
    assert (again.state, again.reason) == ("unchanged", "it was completed before")
    assert work.abandon(brain, first, session=MINE, now=after(31)).state == "unchanged"
    second = started(brain, "Another", summary="Said before")
    assert work.abandon(brain, second, "Not needed.", session=MINE, now=after(32)).state == "committed"
    note = note_of(brain, second)
    assert (note.status, note.completed_at, note.summary) == ("abandoned", None, "Said before")
    assert "Not needed." in note.body
    subjects = git(brain.root, "log", "-3", "--format=%s").splitlines()
    assert subjects == ["Abandon work: Another", "Start work: Another", "Complete work: Handle duplicates"]


def _hint_of(act: Callable[[], object]) -> str | None:
    with pytest.raises(Refused) as told:
        act()
    return told.value.hint


def test_somebody_elses_work_is_ended_by_others_once_it_is_stale_and_says_whose(
    team: tuple[Teammate, Teammate], git: PlainGit
) -> None:
    alice, bob = team
    first = started(alice.act())
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    brain = bob.act()
    act: Callable[..., object]
    for act in (work.complete, work.abandon):
        with pytest.raises(Refused, match="active work of Alice") as told:
            act(brain, first, session=Session(), now=after(60))
        assert "--force" in str(told.value.hint)
    with pytest.raises(Refused, match="work of Alice"):
        work.update(brain, first, {"summary": "mine"}, session=Session(), now=after(600))
    assert "--force" in str(_hint_of(lambda: work.update(brain, first, {"title": "x"}, session=MINE, now=after(600))))
    with pytest.raises(Refused, match="active work of Alice"):
        work.update(brain, first, {"status": "completed"}, session=Session(), now=after(60))
    receipt = work.abandon(brain, first, "No answer.", session=Session(), now=after(251))
    said = "Ended for Alice by Bob; its lease was over at 2026-07-01T14:00:00Z"
    assert (receipt.state, receipt.reason) == ("committed", said)
    assert f"{said}.\n\nNo answer." in note_of(brain, first).body
    assert said in git(brain.root, "log", "-1", "--format=%b")
    assert note_of(brain, first).owner == "Alice"


def test_what_is_somebody_elses_and_active_is_ended_by_force_alone(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    first = started(alice.act())
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    receipt = work.complete(bob.act(), first, session=Session(), now=after(60), force=True)
    assert (receipt.state, receipt.reason) == ("committed", "Ended for Alice by Bob")


def test_a_clock_that_is_ahead_is_flagged_and_no_age_is_negative(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    first = started(alice.act(), minute=120, lease_minutes=60)
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    brain = bob.act()
    (hit,) = find(brain, 0)
    assert (hit.note.id, hit.stale, hit.labels) == (first, False, ("its clock is ahead of this one",))
    assert find(brain, 115)[0].labels == ()
    told = start(brain, "Mine", 1, session=ANOTHER)
    assert [hit.labels for hit in told.overlaps] == [("its clock is ahead of this one",)]
    assert find(brain, 200)[1].stale is True


# Merging


def test_edits_of_one_record_in_two_clones_never_leave_two_versions(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    first = started(alice.act(), lease_minutes=60)
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    work.update(alice.act(), first, {"add_files": ("a.py",), "progress": "One."}, session=MINE, now=after(30))
    brain = bob.act()
    with pytest.raises(Refused):
        work.update(brain, first, {"add_files": ("b.py",)}, session=MINE, now=after(31))
    work.update(brain, first, {"add_files": ("b.py",), "progress": "Two."}, session=MINE, now=after(31), force=True)
    for person in (alice, bob, alice):
        assert syncing.sync(person.act()).conflicts in (None, ())
    for person in team:
        note = note_of(person.act(), first)
        assert set(note.files) == {SERVICE, "a.py", "b.py"}
        assert (note.lease_until, note.updated_at) == (after(91), after(31))
        assert "One." in note.body
        assert "Two." in note.body
    work.update(alice.act(), first, {"progress": "Three."}, session=MINE, now=after(50))
    work.complete(bob.act(), first, "Done.", session=MINE, now=after(45), force=True)
    for person in (alice, bob, alice):
        assert syncing.sync(person.act()).conflicts in (None, ())
    for person in team:
        note = note_of(person.act(), first)
        assert (note.status, note.completed_at) == ("completed", after(45))


# What cannot be taken


BAD: list[tuple[dict[str, Any], str]] = [
    ({"title": "  "}, "title: it is empty"),
    ({"title": "x" * 1001}, "title: it has 1001"),
    ({"lease_minutes": -5}, "lease_minutes: -5 is not between 5 and 10080"),
    ({"lease_minutes": 0}, "lease_minutes: 0"),
    ({"lease_minutes": 10_081}, "lease_minutes: 10081"),
    ({"status": "completed"}, "status: 'completed' is none of planned"),
    ({"files": tuple(f"src/{number}.py" for number in range(10_000))}, "files: it has 10000 entries.*folders or globs"),
    ({"files": ("a\nb.py",)}, "files: .*line break"),
    ({"files": ("a\x1b[31m.py",)}, "files: .*control character"),
    ({"files": ("../../etc/passwd",)}, "files: '../../etc/passwd' leads out of the repository"),
    ({"files": ("/etc/passwd",)}, "files: '/etc/passwd' lies outside"),
    ({"files": ("C:\\Windows",)}, "files: 'C:/Windows' lies outside"),
    ({"files": ("a" * 1001,)}, "files: a path has 1001 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "said"), BAD)
def test_what_cannot_be_work_is_named_and_nothing_is_written(
    brain: Brain, git: PlainGit, fields: dict[str, Any], said: str
) -> None:
    tip = git(brain.root, "rev-parse", "HEAD")
    with pytest.raises(Usage, match=said):
        start(brain, **{"title": "x", **fields})
    assert git(brain.root, "rev-parse", "HEAD") == tip


def test_every_bad_field_is_named_at_once(brain: Brain) -> None:
    with pytest.raises(Usage, match=r"title: .*; files: .*; status: .*; lease_minutes: "):
        start(brain, "", files=("../x",), status="done", lease_minutes=1)
    first = started(brain)
    with pytest.raises(Usage, match=r"title: it is empty; owner: no field"):
        work.update(brain, first, {"title": None, "owner": "Bob"}, session=MINE, now=after(1))


def test_paths_are_taken_from_where_they_are_given(brain: Brain, code: Path) -> None:
    app = code / "packages/app"
    (app / "src").mkdir(parents=True)
    (app / "src/a.py").touch()
    (code / "shared").mkdir()
    here = brains.open_brain(brain.root, cwd=str(app))
    given = (
        "src/a.py",
        "./b.py",
        "../lib/*.py",
        "shared/c.py",
        "src\\new",
        str(app / "d.py"),
        "*.md",
        "src/**/x",
        "x//y/.",
    )
    note = note_of(brain, started(here, files=given))
    assert note.files == (
        "packages/app/src/a.py", "packages/app/b.py", "packages/lib/*.py", "shared/c.py", "src/new",
        "packages/app/d.py", "*.md", "packages/app/src/**/x", "x/y",
    )  # fmt: skip


@pytest.mark.parametrize("given", [".", "./", "{root}", "{root}/", "src/.."])
def test_the_root_of_the_repository_is_everything_in_it(brain: Brain, code: Path, given: str) -> None:
    here = brains.open_brain(brain.root, cwd=str(code))
    path = given.format(root=code)
    other = started(here, "Other", files=("src/a.py",))
    told = start(here, files=(path,), session=ANOTHER)
    assert [hit.note.id for hit in told.overlaps] == [other]
    (whole,) = told.receipt.ids
    assert note_of(here, whole).files == ("**",)
    assert told.receipt.warnings == ()
    assert {hit.note.id for hit in find(here, files=(path,))} == {whole, other}
    assert {hit.note.id for hit in find(here, files=("docs/a.md",))} == {whole}


def test_from_a_folder_below_a_dot_is_that_folder(brain: Brain, code: Path) -> None:
    (code / "app").mkdir()
    here = brains.open_brain(brain.root, cwd=str(code / "app"))
    mine, other = started(here, files=(".",)), started(here, "Other", files=("src/a.py",))
    assert note_of(here, mine).files == ("app",)
    assert {hit.note.id for hit in find(here, files=("..",))} == {mine, other}
    assert {hit.note.id for hit in find(here, files=("./",))} == {mine}


def test_work_that_nothing_can_overlap_with_says_so(brain: Brain) -> None:
    told = start(brain, files=())
    assert "no file and no component" in told.receipt.warnings[0]
    (first,) = told.receipt.ids
    assert work.update(brain, first, {"add_files": ("a.py",)}, session=MINE, now=after(1)).receipt.warnings == ()
    bare = work.update(brain, first, {"remove_files": ("a.py",)}, session=MINE, now=after(2)).receipt
    assert "no file and no component" in bare.warnings[0]
    for act in (lambda: start(brain, "x", files=("",)), lambda: find(brain, files=(" ",))):
        with pytest.raises(Usage, match="a path is empty"):
            act()


@pytest.mark.parametrize("by_update", [True, False])
def test_progress_on_work_that_somebody_else_ended_says_who_and_when(
    team: tuple[Teammate, Teammate], by_update: bool
) -> None:
    alice, bob = team
    first = started(alice.act())
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    if by_update:
        work.update(bob.act(), first, {"status": "completed"}, session=Session(), now=after(60), force=True)
    else:
        work.complete(bob.act(), first, "Done.", session=Session(), now=after(60), force=True)
    syncing.sync(bob.act())
    syncing.sync(alice.act())
    brain = alice.act()
    told = work.update(brain, first, {"progress": "Half."}, session=MINE, now=after(70)).receipt
    assert told.state == "committed"
    assert f"completed by Bob at {after(60)}, and stays so" in told.warnings[0]
    assert "in-progress reopens it" in told.warnings[0]
    assert note_of(brain, first).status == "completed"
    again = work.update(brain, first, {"status": "in-progress"}, session=MINE, now=after(71)).receipt
    assert "active again" in again.warnings[0]


@pytest.mark.parametrize("changes", [{"valid_until": "2026-08-01"}, {"confidence": "high"}, {"type": "gotcha"}])
def test_what_only_a_fact_has_is_no_part_of_a_work_record_or_a_person(brain: Brain, changes: dict[str, str]) -> None:
    first = started(brain)
    person = note_of(brain, first).author_ref or ""
    before = (brain.root / f"work-state/2026-07/{first}.md").read_bytes()
    for note, step in ((first, "brain work update"), (person, "othing was written")):
        with pytest.raises(Usage, match=next(iter(changes))) as told:
            update.update(brain, note, changes, session=MINE, now=after(1))
        assert step in str(told.value.hint)
    assert (brain.root / f"work-state/2026-07/{first}.md").read_bytes() == before
    assert update.update(brain, first, {"tags": ["x"]}, session=MINE, now=after(1)).state == "committed"


def test_a_secret_is_refused_wherever_it_stands(brain: Brain) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    for fields in ({"title": f"Use {secret}"}, {"summary": secret}, {"files": (f"src/{secret}",)}, {"branch": secret}):
        told = start(brain, **fields)
        assert told.receipt.state == "refused"
        assert str(told.receipt.reason).startswith("secret: ")
        assert secret not in json.dumps(str(told))
    first = started(brain)
    assert work.update(brain, first, {"progress": secret}, session=MINE, now=after(1)).receipt.state == "refused"
    assert work.complete(brain, first, secret, session=MINE, now=after(1)).state == "refused"
    assert search_all(brain.root, secret) == []


def test_only_work_records_are_worked_on(brain: Brain) -> None:
    fact = recorded(brain)
    act: Callable[..., object]
    for act in (work.complete, work.abandon):
        with pytest.raises(Refused, match="no work record but a note of kind memory"):
            act(brain, fact, session=MINE, now=NOW)
    with pytest.raises(Refused, match="No note has the id"):
        work.complete(brain, "nothing", session=MINE, now=NOW)


def test_hand_edits_of_a_record_survive_every_change(brain: Brain) -> None:
    first = started(brain)
    path = brain.root / f"work-state/2026-07/{first}.md"
    text = path.read_text(encoding="utf-8").replace("status:", "x-team: [a,  b]  # ours\nstatus:") + "By hand.\n"
    path.write_text(text, encoding="utf-8")
    work.update(brain, first, {"status": "blocked"}, session=MINE, now=after(1))
    work.complete(brain, first, "Done.", session=MINE, now=after(2))
    text = path.read_text(encoding="utf-8")
    assert "x-team: [a,  b]  # ours\n" in text
    assert "By hand.\n" in text
