"""What waits for a person: seen, approved in one commit, turned down and brought back, whatever lies in the folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth import config, faults
from commonwealth.errors import BadNote, Damaged, Refused, Usage
from commonwealth.flows import approval, brains, modes, recall, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.flows.retract import retract
from commonwealth.flows.review import Filters
from commonwealth.flows.supersede import supersede
from commonwealth.flows.syncing import sync
from commonwealth.index.query import Query
from commonwealth.model import Candidate, Provenance, Receipt, Span, Verdict
from commonwealth.notes import candidate, codec, queued, store, waiting

from .conftest import NOW, Teammate, note_text, recorded, search_all, spawn, together, write

PlainGit = Callable[..., str]
LATER = "2026-07-02T10:00:00Z"
PERSON = Session()


def staged(brain: Brain, title: str = "Retries are safe", number: int = 1, **more: object) -> str:
    """A swept candidate that waits; its id."""
    draft = Candidate(
        title, f"{title}, as a test has shown.", Span(3, 9), quotes=("no, retry it",), signal="correction"
    )
    verdict = Verdict("review", ("it contradicts what is known",))
    found = candidate.Found(
        at=NOW,
        host="codex",
        session="s-1",
        author="Alice",
        author_ref="alice-1",
        repository="acme/shop",
        provenance=Provenance(human="Alice", agent="Codex", session="s-1"),
    )
    note = candidate.to_note(draft, verdict, id=f"2026-07-01-candidate-{number:08d}", found=found)
    store.stage(brain.root, replace(note, **more))  # type: ignore[arg-type]
    return note.id


def approve(brain: Brain, *ids: str, now: str = LATER) -> Receipt:
    return review.approve(brain, ids, session=PERSON, now=now)


def queue(brain: Brain, **filters: object) -> list[str]:
    return [one.note.id for one in review.listed(brain, Filters(**filters)).candidates]  # type: ignore[arg-type]


def canon(brain: Brain, git: PlainGit) -> list[str]:
    """The notes of facts that are committed, by path."""
    listed = git(brain.root, "ls-tree", "-r", "--name-only", "HEAD", "memory", "decisions").split("\n")
    return [path for path in listed if path and not path.endswith("INDEX.md")]


def commits(brain: Brain, git: PlainGit) -> int:
    return int(git(brain.root, "rev-list", "--count", "HEAD"))


def in_mode(brain: Brain, mode: str) -> Brain:
    return replace(brain, config=replace(brain.config, review=mode))


# Approving


def test_what_is_approved_becomes_canon_and_says_by_whom(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    before = commits(brain, git)
    receipt = approve(brain, id_)
    assert (receipt.state, receipt.ids) == ("committed", (id_,))
    assert commits(brain, git) == before + 1
    (path,) = canon(brain, git)
    assert path == f"memory/2026-07/{id_}.md"
    note, doubts = codec.parse(git(brain.root, "show", f"HEAD:{path}"), path, "memory")
    assert doubts == ()
    assert note.reviewed is not None
    assert (note.reviewed.by, note.reviewed.at) == ("Alice", LATER)
    assert (note.created_at, note.updated_at, note.id) == (NOW, NOW, id_)
    assert note.extra == {}
    assert note.provenance.evidence == ("no, retry it",)
    assert queue(brain) == []
    assert git(brain.root, "status", "--porcelain", "--ignored", "staging") == ""
    assert git(brain.root, "log", "-1", "--format=%s").strip() == "Approve: Retries are safe"


def test_a_remembered_note_that_waits_is_approved_as_well(brain: Brain, git: PlainGit) -> None:
    (id_,) = remember(in_mode(brain, "queue"), Draft("Retries are safe", summary="x"), session=PERSON, now=NOW).ids
    assert queue(brain) == [id_]
    assert review.listed(brain).candidates[0].origin is None
    assert approve(in_mode(brain, "queue"), id_).state == "committed"
    assert canon(brain, git) == [f"memory/2026-07/{id_}.md"]


def test_a_hand_edited_file_keeps_its_comments_and_unknown_keys(brain: Brain, git: PlainGit) -> None:
    write(brain, {"staging/mine.md": "---\n# mine\ntitle: By hand\nteam: payments   # who\n---\nBody.\r\nMore.\n"})
    receipt = approve(brain, "mine")
    assert receipt.state == "committed"
    (path,) = canon(brain, git)
    text = (brain.root / path).read_bytes().decode()
    assert "# mine\ntitle: By hand\n" in text
    assert "\nteam: payments   # who\n" in text
    assert text.endswith("---\nBody.\r\nMore.\n")
    note = codec.parse(text, path, "memory")[0]
    assert (note.author, note.created_at, note.provenance.human) == ("Alice", LATER, "Alice")


def test_several_are_one_commit(brain: Brain, git: PlainGit) -> None:
    ids = [staged(brain, f"Fact number {number} holds", number) for number in range(1, 6)]
    before = commits(brain, git)
    receipt = review.approve(brain, Filters(), session=PERSON, now=LATER)
    assert sorted(receipt.ids) == ids
    assert {item.state for item in receipt.items} == {"committed"}
    assert commits(brain, git) == before + 1
    assert queue(brain) == []


def test_filters_choose_what_is_approved(brain: Brain) -> None:
    one = staged(brain, "One thing", 1, type="gotcha")
    other = staged(brain, "Another thing", 2, components=("payments",))
    for filters, expected in (
        ({"type": ("gotcha",)}, [one]),
        ({"component": ("Payments",)}, [other]),
        ({"host": ("claude",)}, []),
        ({"host": ("codex",), "session": ("s-1",)}, [one, other]),
        ({"verdict": ("promote",)}, []),
        ({"status": ("observed",)}, [one, other]),
        ({"since": NOW}, [one, other]),
        ({"since": LATER}, []),
        ({"mine": True}, [one, other]),
    ):
        assert queue(brain, **filters) == expected, filters
    receipt = review.approve(brain, Filters(type=("gotcha",)), session=PERSON, now=LATER)
    assert receipt.ids == (one,)
    assert queue(brain) == [other]


def test_approving_again_changes_nothing(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    approve(brain, id_)
    before = commits(brain, git)
    again = approve(brain, id_)
    assert (again.state, again.ids, again.items[0].state) == ("unchanged", (id_,), "unchanged")
    assert "before" in (again.reason or "")
    assert commits(brain, git) == before


def test_an_approval_that_was_killed_after_its_commit_only_clears_the_queue(
    brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = staged(brain)
    monkeypatch.setattr(faults, "_seen", {})
    monkeypatch.setenv(faults.VARIABLE, "approve-committed=EIO")
    with pytest.raises(OSError, match="approve-committed"):
        approve(brain, id_)
    monkeypatch.delenv(faults.VARIABLE)
    assert queue(brain) == [id_]
    before = commits(brain, git)
    again = approve(brain, id_)
    assert (again.state, again.items[0].reason) == ("unchanged", "it was approved before")
    assert queue(brain) == []
    assert commits(brain, git) == before
    assert len(canon(brain, git)) == 1


def test_the_same_holds_when_the_note_was_changed_since(
    brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = staged(brain)
    monkeypatch.setattr(faults, "_seen", {})
    monkeypatch.setenv(faults.VARIABLE, "approve-committed=EIO")
    with pytest.raises(OSError, match="approve-committed"):
        approve(brain, id_)
    monkeypatch.delenv(faults.VARIABLE)
    draft = Draft("Retries are not safe", summary="They double the payment.")
    assert supersede(brain, [id_], draft, effective_at=None, session=PERSON, now=LATER).state == "committed"
    assert approve(brain, id_).state == "unchanged"
    assert queue(brain) == []
    assert len(canon(brain, git)) == 2


def test_an_id_that_another_note_has_gets_a_new_end(brain: Brain, git: PlainGit) -> None:
    taken = recorded(brain, "Something else")
    write(brain, {"staging/x.md": note_text("Retries are safe", id=taken)})
    receipt = approve(brain, "staging/x.md")
    assert receipt.state == "committed"
    (new,) = receipt.ids
    assert new != taken
    assert "taken" in (receipt.items[0].reason or "")
    assert len(canon(brain, git)) == 2
    write(brain, {"staging/x.md": note_text("Retries are safe", id=taken)})
    assert approve(brain, "staging/x.md").state == "unchanged"
    assert len(canon(brain, git)) == 2
    assert queue(brain) == []


def test_what_canon_says_by_now_is_no_second_note(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain, repository="acme/shop")
    there = recorded(
        brain, "Retries are safe", summary="Retries are safe, as a test has shown.", repository="acme/shop"
    )
    receipt = approve(brain, id_)
    assert (receipt.state, receipt.items[0].reason) == ("unchanged", f"{there} says the same already")
    assert len(canon(brain, git)) == 1
    assert queue(brain) == []
    assert queue(brain, dropped=True) == [id_]


def test_two_files_with_one_id_are_told_apart(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    write(brain, {"staging/copy.md": note_text("Something else again", id=id_)})
    with pytest.raises(Refused, match="means 2 candidates") as caught:
        approve(brain, id_)
    assert "path" in (caught.value.hint or "")
    receipt = review.approve(brain, Filters(), session=PERSON, now=LATER)
    assert len(receipt.ids) == 2
    assert len(canon(brain, git)) == 2
    assert queue(brain) == []


def test_a_secret_that_an_edit_brought_in_stays_out_and_the_others_go(brain: Brain, git: PlainGit) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    fine = staged(brain, "One thing", 1)
    bad = staged(brain, "Another thing", 2)
    path = brain.root / f"staging/{bad}.md"
    path.write_text(path.read_text().replace("---\n", f"---\n# {token}\n", 1), encoding="utf-8")
    receipt = approve(brain, fine, bad)
    assert (receipt.state, receipt.ids) == ("committed", (fine,))
    refused = next(item for item in receipt.items if item.state == "refused")
    assert refused.id == bad
    assert (refused.reason or "").startswith("secret:")
    assert token not in repr(receipt)
    assert queue(brain) == [bad]
    assert search_all(brain.root / ".git", token) == []
    assert approve(brain, bad).state == "refused"


def test_a_brain_that_takes_requests_only_says_the_next_step(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    before = commits(brain, git)
    with pytest.raises(Refused, match="pull request") as caught:
        approve(in_mode(brain, "pull-request"), id_)
    assert f"brain review pr {id_}" in (caught.value.hint or "")
    assert commits(brain, git) == before
    assert queue(brain) == [id_]


# Replacing


def test_a_draft_that_supersedes_closes_the_old_note_in_the_same_commit(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "The port is 5432")
    id_ = staged(brain, "The port is 5433", supersedes=(old,), valid_from=NOW)
    before = commits(brain, git)
    receipt = approve(brain, id_)
    assert (receipt.state, receipt.ids) == ("committed", (id_, old))
    assert commits(brain, git) == before + 1
    closed = store.read(brain.root, f"memory/2026-07/{old}.md", "memory")[0].note
    assert (closed.status, closed.superseded_by, closed.valid_until) == ("superseded", id_, NOW)


def test_two_that_replace_one_note_are_not_both_approved(brain: Brain) -> None:
    old = recorded(brain, "The port is 5432")
    one = staged(brain, "The port is 5433", 1, supersedes=(old,), valid_from=NOW)
    other = staged(brain, "The port is 5434", 2, supersedes=(old,), valid_from=NOW)
    receipt = approve(brain, one, other)
    assert [(item.id, item.state) for item in receipt.items] == [
        (one, "committed"),
        (old, "closed"),
        (other, "refused"),
    ]
    again = approve(brain, other)
    assert again.state == "refused"
    assert "was superseded" in (again.reason or "")
    assert queue(brain) == [other]


def test_a_chain_in_the_queue_is_closed_in_whatever_order_it_waits(brain: Brain, git: PlainGit) -> None:
    newer = staged(brain, "The port is 5433", 1, supersedes=("2026-07-01-candidate-00000002",), valid_from=LATER)
    older = staged(brain, "The port is 5432", 2)
    receipt = review.approve(brain, Filters(), session=PERSON, now=LATER)
    assert sorted(receipt.ids) == sorted({newer, older}) or set(receipt.ids) == {newer, older}
    closed = store.read(brain.root, f"memory/2026-07/{older}.md", "memory")[0].note
    assert (closed.status, closed.superseded_by) == ("superseded", newer)
    assert git(brain.root, "status", "--porcelain") == ""


def test_what_was_retracted_since_is_not_replaced(brain: Brain, git: PlainGit) -> None:
    old = recorded(brain, "The port is 5432")
    id_ = staged(brain, "The port is 5433", supersedes=(old,), valid_from=NOW)
    retract(brain, old, "it never was", session=PERSON, now=NOW)
    receipt = approve(brain, id_)
    assert receipt.state == "refused"
    assert "was retracted" in (receipt.reason or "")
    assert queue(brain) == [id_]


# Turning down


def test_what_is_rejected_waits_no_more_and_can_be_brought_back(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    before = commits(brain, git)
    receipt = review.reject(brain, [id_], reason="not true", session=PERSON, now=LATER)
    assert (receipt.state, receipt.dropped) == ("unchanged", (id_,))
    assert commits(brain, git) == before
    assert queue(brain) == []
    assert [file.note.id for file in store.staged(brain.root)[0]] == []
    (one,) = review.listed(brain, Filters(dropped=True)).candidates
    assert one.origin is not None
    assert (one.origin.dropped_at, one.origin.dropped_by, one.origin.dropped_because) == (LATER, "Alice", "not true")
    assert (one.origin.host, one.origin.evidence) == ("codex", Span(3, 9))
    assert approve(brain, id_).state == "committed"
    assert queue(brain, dropped=True) == []
    assert len(canon(brain, git)) == 1


def test_after_thirty_days_it_is_gone(brain: Brain) -> None:
    id_ = staged(brain)
    review.reject(brain, [id_], reason=None, session=PERSON, now=NOW)
    assert waiting.tidy(brain.root, "2026-07-31T09:59:59Z") == 0
    assert queue(brain, dropped=True) == [id_]
    assert waiting.tidy(brain.root, "2026-07-31T10:00:00Z") == 1
    assert queue(brain, dropped=True) == []


def test_a_file_that_is_no_candidate_can_be_rejected_and_keeps_its_bytes(brain: Brain) -> None:
    data = b"---\ntitle: [x\n---\n"
    write(brain, {"staging/broken.md": data})
    with pytest.raises(BadNote, match=r"broken\.md"):
        approve(brain, "broken")
    assert review.reject(brain, ["broken"], session=PERSON, now=NOW).dropped == ("broken",)
    assert (brain.root / "staging/dropped/broken.md").read_bytes() == data
    assert review.listed(brain).broken == ()


def test_rejecting_overwrites_nothing_that_was_dropped_before(brain: Brain) -> None:
    write(brain, {"staging/dropped/x.md": note_text("Old"), "staging/x.md": note_text("New")})
    review.reject(brain, ["staging/x.md"], session=PERSON, now=NOW)
    titles = {one.note.title for one in review.listed(brain, Filters(dropped=True)).candidates}
    assert titles == {"Old", "New"}


# What lies in the folder


def test_nonsense_in_the_queue_is_named_with_line_and_cause_and_stays(brain: Brain) -> None:
    fine = staged(brain)
    files: dict[str, str | bytes] = {
        "staging/a.md": "---\ntitle: x\ntitle: y\n---\n",
        "staging/b.md": b"\xff\xfe\x00",
        "staging/c.md": b"x\0",
        "staging/d.md": "---\ncandidate: nonsense\ntitle: Odd\nstatus: maybe\n---\n",
    }
    write(brain, files)
    found = review.listed(brain)
    assert fine in [one.note.id for one in found.candidates]
    assert [problem.path for problem in found.broken] == ["staging/a.md", "staging/b.md", "staging/c.md"]
    assert found.broken[0].line == 3
    odd = next(one for one in found.candidates if one.path == "staging/d.md")
    assert odd.origin is None
    assert [problem.cause for problem in odd.doubts]
    review.approve(brain, Filters(), session=PERSON, now=LATER)
    for path in ("staging/a.md", "staging/b.md", "staging/c.md"):
        content = files[path]
        assert (brain.root / path).read_bytes() == (content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("id_", ["../../evil", "..\\x", "/etc/passwd", "staging/../../x", "", ".", "C:x"])
def test_an_id_that_leads_elsewhere_finds_nothing(brain: Brain, id_: str) -> None:
    staged(brain)
    for act in (
        lambda: approve(brain, id_),
        lambda: review.reject(brain, [id_], session=PERSON, now=NOW),
        lambda: review.shown(brain, id_, now=NOW),
        lambda: review.edit(brain, id_, {"title": "x"}, now=NOW),
    ):
        with pytest.raises(Refused):
            act()


@pytest.mark.parametrize("id_", ["../../evil", "..\\\\x", "/etc/passwd", ".git/config"])
def test_an_id_in_a_file_that_leads_elsewhere_does_not_count(brain: Brain, git: PlainGit, id_: str) -> None:
    write(brain, {"staging/x.md": note_text("Retries are safe", id=f'"{id_}"')})
    (one,) = review.listed(brain).candidates
    assert one.note.id == "x"
    assert approve(brain, "x").ids == ("x",)
    assert canon(brain, git) == ["memory/2026-07/x.md"]
    assert "evil" not in (brain.root / "memory/2026-07/x.md").read_text()
    assert codec.parse((brain.root / "memory/2026-07/x.md").read_text(), "x.md", "memory")[1] == ()


def test_a_link_in_the_place_of_the_queue_is_not_followed(brain: Brain, tmp_path: Path, git: PlainGit) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text(note_text("Outside"), encoding="utf-8")
    for target in (outside, brain.root / "memory"):
        place = brain.root / "staging"
        if place.is_symlink():
            place.unlink()
        elif place.exists():
            place.rmdir()
        target.mkdir(exist_ok=True)
        place.symlink_to(target)
        found = review.listed(brain)
        assert found.candidates == ()
        assert "symbolic link" in found.broken[0].cause
        assert queued.count(brain.root) == 0
        with pytest.raises((Refused, Damaged)):
            staged(brain)
        with pytest.raises((Refused, BadNote)):
            approve(brain, "x")
    assert os.listdir(outside) == ["x.md"]


def test_a_link_in_the_queue_is_named_and_its_target_is_safe(brain: Brain, tmp_path: Path) -> None:
    target = tmp_path / "x.md"
    target.write_text(note_text("Outside"), encoding="utf-8")
    (brain.root / "staging").mkdir(exist_ok=True)
    (brain.root / "staging/x.md").symlink_to(target)
    assert "symbolic link" in review.listed(brain).broken[0].cause
    with pytest.raises(BadNote):
        approve(brain, "x")
    assert target.read_text() == note_text("Outside")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions that hold")
def test_a_queue_that_cannot_be_written_keeps_the_commit_and_says_so(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    folder = brain.root / "staging"
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        receipt = approve(brain, id_)
        assert receipt.state == "committed"
        assert "cannot be removed" in receipt.warnings[-1]
        with pytest.raises(Damaged):
            review.reject(brain, [id_], session=PERSON, now=NOW)
    finally:
        folder.chmod(0o755)
    assert approve(brain, id_).state == "unchanged"
    assert queue(brain) == []


def test_a_work_record_and_a_closed_note_are_no_candidates(brain: Brain) -> None:
    write(
        brain,
        {
            "staging/w.md": note_text("Work", kind="work-state", status="in-progress"),
            "staging/r.md": note_text("Gone", status="retracted"),
        },
    )
    receipt = review.approve(brain, Filters(), session=PERSON, now=LATER)
    assert receipt.state == "refused"
    assert {item.state for item in receipt.items} == {"refused"}
    assert len(queue(brain)) == 2


def test_five_hundred_are_one_commit(brain: Brain, git: PlainGit) -> None:
    for number in range(500):
        staged(brain, f"Fact {number} of many holds in the shop", number)
    before = commits(brain, git)
    receipt = review.approve(brain, Filters(), session=PERSON, now=LATER)
    assert len(receipt.ids) == 500
    assert commits(brain, git) == before + 1
    assert queue(brain) == []
    assert git(brain.root, "status", "--porcelain") == ""


# Seeing and editing


def test_one_is_shown_with_what_is_near_and_what_it_would_replace(brain: Brain) -> None:
    old = recorded(brain, "Retries are unsafe", summary="A retry doubles the payment.")
    id_ = staged(brain, supersedes=(old, "2020-01-01-gone-00000000"))
    found = review.shown(brain, id_[-8:], now=LATER)
    assert [hit.note.id for hit in found.neighbours] == [old]
    assert [(link.id, link.title) for link in found.supersedes] == [
        (old, "Retries are unsafe"),
        ("2020-01-01-gone-00000000", None),
    ]
    assert found.candidate.origin is not None
    assert found.candidate.origin.quotes == ("no, retry it",)


def test_an_edit_changes_the_file_and_leaves_where_it_comes_from(brain: Brain, git: PlainGit) -> None:
    id_ = staged(brain)
    receipt = review.edit(brain, id_, {"title": "Retries are safe once", "tags": ["Retry "]}, body="More.", now=LATER)
    assert receipt.state == "staged"
    assert review.edit(brain, id_, {"title": "Retries are safe once"}, now=LATER).state == "unchanged"
    (one,) = review.listed(brain).candidates
    assert (one.note.title, one.note.tags, one.note.body) == ("Retries are safe once", ("retry",), "More.\n")
    assert one.origin is not None
    assert one.origin.signal == "correction"
    with pytest.raises(Usage, match="status"):
        review.edit(brain, id_, {"status": "superseded"}, now=LATER)
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    assert review.edit(brain, id_, {"summary": secret}, now=LATER).state == "refused"
    approve(brain, id_)
    note = store.read(brain.root, canon(brain, git)[0], "memory")[0].note
    assert (note.title, note.created_at, note.updated_at) == ("Retries are safe once", NOW, LATER)


def test_what_waits_and_was_dropped_is_found_by_no_search(brain: Brain) -> None:
    id_ = staged(brain)
    staged(brain, "Another thing", 2)
    review.reject(brain, ["2026-07-01-candidate-00000002"], session=PERSON, now=NOW)
    assert recall.search(brain, Query(text="retries safe thing", now=LATER)).hits == ()
    assert queued.count(brain.root) == 1
    assert [file.note.id for file in store.staged(brain.root)[0]] == [id_]


# Several at it


_APPROVE = """
import sys
from commonwealth.flows import brains, review
from commonwealth.flows.identity import Session
brain = brains.open_brain(__import__("pathlib").Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
receipt = review.approve(brain, review.Filters(), session=Session(), now="2026-07-02T10:00:00Z")
print(receipt.state, len(receipt.ids), flush=True)
"""


def test_two_that_approve_the_same_make_one_commit(brain: Brain, git: PlainGit) -> None:
    ids = [staged(brain, f"Fact number {number} holds", number) for number in range(1, 5)]
    before = commits(brain, git)
    said = together([spawn(_APPROVE, str(brain.root)) for _ in range(3)])
    assert sorted(line.split()[0] for line in said) == ["committed", "unchanged", "unchanged"]
    assert commits(brain, git) == before + 1
    assert canon(brain, git) == [f"memory/2026-07/{id_}.md" for id_ in ids]
    assert queue(brain) == []


def test_an_approved_note_reaches_a_colleague_without_its_origin(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    id_ = staged(alice.act())
    assert approve(alice.act(), id_).state == "committed"
    assert sync(alice.act()).state == "published"
    brain = bob.act()
    sync(brain)
    text = (brain.root / f"memory/2026-07/{id_}.md").read_text(encoding="utf-8")
    assert "candidate" not in text.replace(id_, "")
    assert "reviewed: {by: Alice" in text


def test_the_modes_of_config_and_person_hold_together(brain: Brain) -> None:
    config.home().mkdir(parents=True, exist_ok=True)
    (config.home() / "config.yaml").write_text("review: pull-request\n", encoding="utf-8")
    id_ = staged(brain)
    with pytest.raises(Refused, match="pull request"):
        approve(brains.open_brain(brain.root), id_)


def test_the_mode_of_sweeps_holds_for_what_was_captured_alone(brain: Brain) -> None:
    strict = replace(brain, config=replace(brain.config, sweeps="pull-request"))
    swept = staged(strict)
    write(strict, {"staging/mine.md": note_text("By hand")})
    receipt = approve(strict, swept, "mine")
    assert (receipt.state, receipt.ids) == ("committed", ("mine",))
    assert [(item.id, item.state) for item in receipt.items] == [(swept, "refused"), ("mine", "committed")]
    again = approve(strict, swept)
    assert again.state == "refused"
    assert f"brain review pr {swept}" in (again.next or "")
    assert queue(strict) == [swept]


def test_what_a_request_would_hold_is_the_note_without_its_origin(brain: Brain) -> None:
    id_ = staged(brain)
    one = review.find(brain, id_)
    path, data, note = approval.as_canon(brain, one, session=PERSON, now=LATER)
    assert path == f"memory/2026-07/{id_}.md"
    assert b"candidate:" not in data
    assert b"reviewed:" not in data
    assert codec.parse(data.decode(), path, "memory")[0] == note


@pytest.mark.parametrize(
    ("team", "own", "expected"),
    [
        ({}, "", "queue"),
        ({}, "sweeps: auto\n", "auto"),
        ({"review": "queue"}, "sweeps: auto\n", "queue"),
        ({"sweeps": "pull-request"}, "sweeps: auto\n", "pull-request"),
        ({"sweeps": "auto"}, "", "queue"),
        ({}, "sweeps: auto\nreview: queue\n", "queue"),
    ],
)
def test_the_strictest_of_team_and_person_counts(brain: Brain, team: dict[str, str], own: str, expected: str) -> None:
    if own:
        config.home().mkdir(parents=True, exist_ok=True)
        (config.home() / "config.yaml").write_text(own, encoding="utf-8")
    here = replace(brain, config=replace(brain.config, **team))  # type: ignore[arg-type]
    assert modes.sweep_mode(here) == expected
    if team.get("sweeps") == "auto":
        assert modes.consent(here, now=NOW)
        assert modes.sweep_mode(here) == "auto"
        other = replace(here, config=replace(here.config, agents="approve"))
        assert modes.sweep_mode(other) == "queue"
