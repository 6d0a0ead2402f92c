"""Two teammates and a remote: what each learns of the other, and what the receipt says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from commonwealth.flows import doctor, identity, recall, syncing, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import update
from commonwealth.index.query import Query
from commonwealth.model import Item
from commonwealth.repo.git import Git
from commonwealth.repo.kept import write_bases

from .conftest import NOW, Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
Team = tuple[Teammate, Teammate]


def tree(person: Teammate, git: PlainGit) -> str:
    assert git(person.root, "status", "--porcelain") == ""
    return git(person.root, "rev-parse", "HEAD^{tree}")


def test_a_fact_travels_from_one_to_the_other(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "From Alice")
    assert syncing.unpublished(alice.act()) == 1
    sent = syncing.sync(alice.act())
    assert (sent.state, sent.pulled, sent.conflicts, sent.reason) == ("published", 0, (), None)
    assert sent.pushed == 2  # the note and its author's
    assert syncing.unpublished(alice.act()) == 0
    got = syncing.sync(bob.act())
    assert (got.state, got.pulled, got.pushed) == ("published", 2, 0)
    assert {item.id for item in got.items} >= {note_id}
    found = recall.search(bob.act(), Query(text="alice", kind=("memory",), now=NOW), sweep=False)
    assert [hit.note.author for hit in found.hits] == ["Alice"]
    assert tree(alice, git) == tree(bob, git)
    again = syncing.sync(bob.act())
    assert (again.state, again.pulled, again.pushed) == ("unchanged", 0, 0)


def test_both_write_and_end_with_the_same_bytes(team: Team, git: PlainGit) -> None:
    alice, bob = team
    for number in range(3):
        recorded(alice.act(), f"Alice {number}")
        recorded(bob.act(), f"Bob {number}")
    for person in (alice, bob, alice, bob):
        assert syncing.sync(person.act()).state in ("published", "unchanged")
    assert tree(alice, git) == tree(bob, git)
    for person in team:
        assert recall.search(person.act(), Query(kind=("memory",), now=NOW), sweep=False).total == 6
    assert "Bob 2" in (alice.root / "memory/2026-07/INDEX.md").read_text(encoding="utf-8")


def test_edits_of_different_fields_of_one_note_both_land(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="## Log\n\n- start\n")
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    update(alice.act(), note_id, {"summary": "By Alice."}, session=Session(), now="2026-07-02T10:00:00Z")
    update(bob.act(), note_id, {"confidence": "high"}, session=Session(), now="2026-07-03T10:00:00Z")
    for person in (alice, bob, alice):
        syncing.sync(person.act())
    for person in team:
        note = recall.read(person.act(), note_id).note
        assert (note.summary, note.confidence, note.updated_at) == ("By Alice.", "high", "2026-07-03T10:00:00Z")
    assert tree(alice, git) == tree(bob, git)


def test_updating_a_file_that_was_saved_amid_a_sync_does_not_take_back_what_a_colleague_wrote(
    team: Team, git: PlainGit
) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="First.")
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    where = recall.locate(alice.act(), note_id).path
    before = (alice.root / where).read_text(encoding="utf-8")
    blob = git(alice.root, "rev-parse", f"HEAD:{where}").strip()
    update(bob.act(), note_id, {"summary": "By Bob."}, session=Session(), now="2026-07-02T10:00:00Z")
    syncing.sync(bob.act())
    syncing.sync(alice.act())
    # Her editor saved while the files were brought over: the sync has left the file alone and noted its base.
    (alice.root / where).write_text(before.replace("First.", "By hand."), encoding="utf-8")
    write_bases(Git(alice.root), {where: blob})
    receipt = update(alice.act(), note_id, {"confidence": "high"}, session=Session(), now="2026-07-03T10:00:00Z")
    assert receipt.state == "committed"
    for person in (alice, bob):
        syncing.sync(person.act())
    for person in team:
        note = recall.read(person.act(), note_id).note
        assert (note.summary, note.confidence, note.body) == ("By Bob.", "high", "By hand.\n")
    assert tree(alice, git) == tree(bob, git)


def test_the_same_words_by_two_people_are_two_notes(team: Team, git: PlainGit) -> None:
    alice, bob = team
    assert recorded(alice.act(), "Same", body="Same.") != recorded(bob.act(), "Same", body="Same.")
    for person in (alice, bob, alice):
        syncing.sync(person.act())
    assert tree(alice, git) == tree(bob, git)


def test_without_the_remote_work_is_kept_and_published_later(team: Team, remote: Path) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Offline")
    remote.rename(remote.with_suffix(".away"))
    receipt = syncing.sync(alice.act(), timeout=10)
    assert receipt.state == "deferred"
    assert receipt.reason
    assert receipt.next
    assert upkeep.status(alice.act()).debt is not None
    assert syncing.unpublished(alice.act()) >= 1
    assert recall.read(alice.act(), note_id).note.title == "Offline"
    remote.with_suffix(".away").rename(remote)
    assert syncing.sync(alice.act()).state == "published"
    assert upkeep.status(alice.act()).debt is None
    syncing.sync(bob.act())
    assert recall.read(bob.act(), note_id).note.title == "Offline"


def test_a_brain_without_a_remote_commits_what_people_edited(brain: Brain, git: PlainGit) -> None:
    assert not syncing.has_remote(brain)
    assert syncing.unpublished(brain) == 0
    write(brain, {"memory/by-hand.md": note_text("By hand"), "memory/stray.txt": "not ours"})
    receipt = syncing.sync(brain)
    assert (receipt.state, receipt.pushed) == ("committed", 0)
    assert any("memory/stray.txt" in warning for warning in receipt.warnings)
    assert git(brain.root, "status", "--porcelain") == "?? memory/stray.txt\n"
    assert "By hand" in (brain.root / "memory/INDEX.md").read_text(encoding="utf-8")
    assert recall.search(brain, Query(text="hand", now=NOW), sweep=False).total == 1
    assert syncing.sync(brain).state == "unchanged"


def test_an_edit_that_cannot_be_committed_is_named_and_the_rest_goes(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/bad.md": "---\ntitle: [\n---\n", "memory/good.md": note_text("Good")})
    receipt = syncing.sync(brain)
    assert receipt.state == "committed"
    assert any("memory/bad.md" in warning for warning in receipt.warnings)
    assert git(brain.root, "status", "--porcelain") == "?? memory/bad.md\n"


def test_a_link_in_the_place_of_a_folder_of_notes_stops_nothing(team: Team) -> None:
    alice, _ = team
    recorded(alice.act(), "First")
    syncing.sync(alice.act())
    (alice.root / "work-state").symlink_to(alice.home)
    assert syncing.sync(alice.act()).state in ("published", "committed", "unchanged")
    assert [hit.note.title for hit in recall.search(alice.act(), Query(text="first", now=NOW)).hits] == ["First"]
    assert any("work-state" in text for text in upkeep.status(alice.act()).problems)


def test_a_write_that_loses_the_branch_to_git_by_hand_is_repeated(
    brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def meanwhile(name: str) -> None:
        if name == "commit-indexed" and len(lost) < 3:
            (brain.root / "README.txt").write_text(str(len(lost)), encoding="utf-8")
            git(brain.root, "add", "README.txt")
            lost.append(git(brain.root, "commit", "-qm", "by hand", "--only", "README.txt"))

    monkeypatch.setattr("commonwealth.repo.commit.fault", meanwhile)
    note_id = recorded(brain, "Retried")
    update(brain, note_id, {"summary": "Again."}, session=Session(), now="2026-07-02T10:00:00Z")
    assert len(lost) == 3
    assert recall.read(brain, note_id).note.summary == "Again."
    assert git(brain.root, "status", "--porcelain") == ""
    assert git(brain.root, "log", "--format=%s").count("by hand") == 3


def test_a_note_that_the_brain_ignores_is_named_by_status_doctor_and_sync(brain: Brain) -> None:
    write(brain, {".gitignore": "draft-*\n", "memory/draft-a.md": note_text("Draft"), "id_rsa": "x"})
    assert any("memory/draft-a.md" in text for text in upkeep.status(brain).held)
    assert "id_rsa" in upkeep.status(brain).strays
    checks = doctor.doctor(str(brain.root), str(brain.root))
    assert any("memory/draft-a.md" in check.message for check in checks)
    assert any("id_rsa" in check.message for check in checks)
    warnings = syncing.sync(brain).warnings
    assert any("memory/draft-a.md" in text for text in warnings)
    assert any("id_rsa" in text for text in warnings)


def test_the_doctor_names_a_lock_that_git_left_behind(brain: Brain) -> None:
    lock = brain.root / ".git/refs/heads/main.lock"
    lock.write_bytes(b"")
    checks = doctor.doctor(str(brain.root), str(brain.root))
    assert any("main.lock" in check.message for check in checks)


def test_what_a_protected_main_branch_declines_waits_on_a_branch_of_the_person(
    team: Team, remote: Path, git: PlainGit
) -> None:
    alice, bob = team
    hook = remote / "hooks/update"
    words = "GH006: Protected branch update failed"
    hook.write_text(f"#!/bin/sh\n[ $1 != refs/heads/main ] || {{ echo {words}; exit 1; }}\n", encoding="utf-8")
    hook.chmod(0o755)
    note_id = recorded(alice.act(), "From Alice")
    receipt = syncing.sync(alice.act())
    request = f"brain/{identity.whoami(alice.act()).ref}"
    assert receipt.state == "committed"
    assert receipt.reason
    assert request in receipt.reason
    assert receipt.next
    debt = upkeep.status(alice.act()).debt
    assert debt is not None
    assert request in debt.reason
    git(remote, "update-ref", "refs/heads/main", f"refs/heads/{request}")
    syncing.sync(bob.act())
    assert recall.read(bob.act(), note_id).note.title == "From Alice"
    assert syncing.sync(alice.act()).state in ("published", "unchanged")
    assert upkeep.status(alice.act()).debt is None
    assert syncing.unpublished(alice.act()) == 0


def test_a_rewritten_remote_is_told_until_it_is_adopted_and_then_all_go_on(
    team: Team, remote: Path, git: PlainGit, tmp_path: Path
) -> None:
    alice, bob = team
    leak = recorded(alice.act(), "The key", body="It is zQ7xV2planted9Kt4mW.")
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    kept = recorded(bob.act(), "Never published")
    update(bob.act(), leak, {"summary": "Seen by Bob."}, session=Session(), now="2026-07-02T10:00:00Z")
    git(tmp_path, "clone", "-q", str(remote), "purge")
    where = recall.locate(alice.act(), leak).path
    git(tmp_path / "purge", "rm", "-q", where)
    git(tmp_path / "purge", "checkout", "-q", "--orphan", "clean")
    who = ("-c", "user.name=Admin", "-c", "user.email=admin@example.com")
    git(tmp_path / "purge", *who, "commit", "-qm", "A new beginning")
    git(tmp_path / "purge", "push", "-qf", "origin", "HEAD:main")
    for _ in range(2):
        receipt = syncing.sync(bob.act())
        assert receipt.state == "refused"
        assert receipt.next
        assert "--adopt-remote" in receipt.next
    debt = upkeep.status(bob.act()).debt
    assert debt is not None
    assert "rewritten" in debt.reason
    adopted = syncing.sync(bob.act(), adopt_remote=True)
    assert adopted.state == "published"
    assert any(where in text for text in adopted.warnings)
    assert syncing.sync(alice.act(), adopt_remote=True).state == "published"
    assert tree(alice, git) == tree(bob, git)
    assert recall.read(alice.act(), kept).note.title == "Never published"
    assert not (alice.root / where).exists()
    assert "planted" not in git(remote, "log", "-p", "--all", "--format=%H", "main")


def test_an_unfinished_file_of_a_crash_is_not_taken_along_by_git_add_and_goes_with_the_next_sync(
    team: tuple[Teammate, Teammate], git: Callable[..., str]
) -> None:
    brain = team[1].act()
    recorded(brain)
    debris = next(brain.root.glob("memory/*")) / ".commonwealth-0123456789abcdef.tmp"
    debris.write_text("half a no", encoding="utf-8")
    beside, config = brain.root / debris.name, brain.root / ".commonwealth" / debris.name
    beside.write_text("half a router", encoding="utf-8")
    config.write_text("half a config", encoding="utf-8")
    git(brain.root, "add", "-A")
    assert git(brain.root, "status", "--porcelain") == ""
    assert syncing.sync(brain).state == "published"
    assert not any(place.exists() for place in (debris, beside, config))
    assert debris.name not in git(brain.root, "ls-files")


def test_unfinished_files_among_the_files_of_git_go_with_a_sync_once_nobody_can_be_at_work_on_them(
    brain: Brain,
) -> None:
    name = ".commonwealth-0123456789abcdef.tmp"
    places = [brain.root / ".git" / folder / name for folder in ("", "info", "commonwealth")]
    for place in places:
        place.write_text("half a setting", encoding="utf-8")
    recorded(brain)
    syncing.sync(brain)
    assert all(place.exists() for place in places)
    for place in places:
        os.utime(place, (0, 0))
    syncing.sync(brain)
    assert not any(place.exists() for place in places)


def of(states: Iterable[Item]) -> dict[str, str]:
    return {item.id: item.state for item in states}


def test_a_sync_says_which_notes_are_new_changed_and_gone(team: Team, git: PlainGit) -> None:
    alice, bob = team
    kept, moved, gone = (recorded(alice.act(), title) for title in ("Kept", "Moved", "Gone"))
    syncing.sync(alice.act())
    assert of(syncing.sync(bob.act()).items).items() >= {kept: "added", moved: "added", gone: "added"}.items()
    update(alice.act(), kept, {"summary": "New."}, session=Session(), now="2026-07-02T10:00:00Z")
    paths = {name: alice.root / recall.locate(alice.act(), name).path for name in (moved, gone)}
    (alice.root / "memory/team").mkdir()
    paths[moved].rename(alice.root / f"memory/team/{moved}.md")
    paths[gone].unlink()
    assert of(syncing.sync(alice.act()).items) == {moved: "changed", gone: "removed"}
    assert of(syncing.sync(bob.act()).items) == {kept: "changed", moved: "changed", gone: "removed"}


def test_a_conflict_is_news_in_each_clone_once(team: Team) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", summary="Old.")
    for person in (alice, bob):
        syncing.sync(person.act())
    for person, now in ((alice, "2026-07-02T10:00:00Z"), (bob, "2026-07-03T10:00:00Z")):
        update(person.act(), note_id, {"summary": f"By {person.name}."}, session=Session(), now=now)
    assert syncing.sync(alice.act()).conflicts == ()
    merged = syncing.sync(bob.act())
    assert merged.conflicts
    (sibling,) = merged.conflicts
    arrived = syncing.sync(alice.act())
    assert (arrived.conflicts, arrived.state) == ((sibling,), "published")
    assert arrived.next
    assert "brain conflicts list" in arrived.next
    # An open conflict is no news, whoever goes on to work at its notes.
    for name in (note_id, sibling):
        update(alice.act(), name, {"confidence": "high"}, session=Session(), now="2026-07-04T10:00:00Z")
    for person in (alice, bob):
        receipt = syncing.sync(person.act())
        assert (receipt.conflicts, receipt.next) == ((), None)
        assert upkeep.status(person.act()).conflicts == (note_id,)


def test_a_conflict_that_a_pull_by_hand_made_is_told_by_the_sync_that_commits_its_other_version(
    team: Team, git: PlainGit
) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", summary="Old.")
    for person in (alice, bob):
        syncing.sync(person.act())
    for person, now in ((alice, "2026-07-02T10:00:00Z"), (bob, "2026-07-03T10:00:00Z")):
        update(person.act(), note_id, {"summary": f"By {person.name}."}, session=Session(), now=now)
    syncing.sync(alice.act())
    bob.act()
    who = ("-c", "user.name=Bob", "-c", "user.email=bob@example.com")
    git(bob.root, *who, "pull", "-q", "--no-rebase", "--no-edit", check=False)
    receipt = syncing.sync(bob.act(), asked=True)
    assert receipt.conflicts
    (sibling,) = receipt.conflicts
    assert recall.read(bob.act(), sibling).note.conflict_of == note_id
    assert syncing.sync(alice.act()).conflicts == (sibling,)
    assert [syncing.sync(person.act()).conflicts for person in team] == [(), ()]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "saved"])
def test_a_conflict_that_was_left_as_markers_is_told_with_the_file_that_keeps_the_other_version(
    team: Team, git: PlainGit, committed: bool
) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="Old.")
    syncing.sync(alice.act())
    syncing.sync(bob.act())
    path = alice.root / recall.locate(alice.act(), note_id).path
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Old.\n", "<<<<<<< ours\nOne.\n=======\nOther.\n>>>>>>> theirs\n"), encoding="utf-8")
    if committed:
        git(alice.root, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qam", "Merged")
    else:
        os.utime(path, (0, 0))
    receipt = syncing.sync(alice.act(), asked=True)
    assert receipt.conflicts, receipt
    (sibling,) = receipt.conflicts
    assert any(sibling in warning for warning in receipt.warnings)
    assert syncing.sync(bob.act()).conflicts == (sibling,)


def test_two_replacements_of_one_note_are_told_to_whoever_sees_them_first(team: Team) -> None:
    alice, bob = team
    old = recorded(alice.act(), "Old")
    for person in (alice, bob):
        syncing.sync(person.act())
    new = {}
    for person in team:
        brain = person.act()
        new[person.name] = recorded(brain, f"New by {person.name}")
        where = brain.root / recall.locate(brain, new[person.name]).path
        text = where.read_text(encoding="utf-8")
        where.write_text(text.replace("\n---\n", f"\nsupersedes: [{old}]\n---\n", 1), encoding="utf-8")
    assert syncing.sync(alice.act()).conflicts == ()
    told = syncing.sync(bob.act()).conflicts
    assert told
    assert set(told) <= set(new.values())
    assert syncing.sync(alice.act()).conflicts == (new["Bob"],)
    assert [syncing.sync(person.act()).conflicts for person in team] == [(), ()]


def test_where_no_index_can_be_made_the_conflicts_of_the_merge_are_told(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", summary="Old.")
    for person in (alice, bob):
        syncing.sync(person.act())
    for person, now in ((alice, "2026-07-02T10:00:00Z"), (bob, "2026-07-03T10:00:00Z")):
        update(person.act(), note_id, {"summary": f"By {person.name}."}, session=Session(), now=now)
    syncing.sync(alice.act())
    brain = bob.act()
    shutil.rmtree(brain.index_dir)
    brain.index_dir.write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("TMPDIR", str(bob.home / "none"))
    monkeypatch.setattr(tempfile, "tempdir", str(bob.home / "none"))
    assert len(syncing.sync(brain).conflicts or ()) == 1
