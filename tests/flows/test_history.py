"""The versions of a note: who, when, why and what, wherever it lay; and how an old one comes back."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.flows import conflicts, history, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import SectionEdit, update

from .conftest import NOW, Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
LATER, LATEST = "2026-07-02T10:00:00Z", "2026-07-03T10:00:00Z"


def changed(brain: Brain, note_id: str) -> list[tuple[str, ...]]:
    return [version.changed for version in history.history(brain, note_id).versions]


def committed(brain: Brain, git: PlainGit, message: str) -> str:
    """What a person did with files and git."""
    git(brain.root, "add", "-A", "memory")
    git(brain.root, "commit", "-q", "-m", message)
    return git(brain.root, "rev-parse", "HEAD").strip()


def test_versions_say_who_when_why_and_what(brain: Brain) -> None:
    note_id = recorded(brain, "Retries", body="Intro.\n\n## Log\n\n- one\n", tags=("a",))
    update(brain, note_id, {"summary": "New.", "tags": ["b"]}, session=Session(), now=LATER)
    update(brain, note_id, {}, section=SectionEdit("Log", append="- two"), session=Session(), now=LATEST)
    found = history.history(brain, note_id)
    assert [version.changed for version in found.versions] == [("section 'Log'",), ("summary", "tags"), ("created",)]
    newest = found.versions[0]
    assert (newest.author, newest.at, newest.subject) == ("Alice", LATEST, "Update: Retries")
    assert (found.id, found.deleted, found.truncated, found.siblings) == (note_id, False, False, ())


def test_the_number_of_versions_is_bounded_and_said(brain: Brain) -> None:
    note_id = recorded(brain)
    for number in range(3):
        update(brain, note_id, {"summary": str(number)}, session=Session(), now=LATER)
    found = history.history(brain, note_id, limit=2)
    assert (len(found.versions), found.truncated) == (2, True)
    assert not history.history(brain, note_id, limit=4).truncated


def test_a_note_is_followed_to_another_folder_even_where_it_was_rewritten_on_the_way(
    brain: Brain, git: PlainGit
) -> None:
    note_id = recorded(brain, body="Old words only.")
    old = recall.locate(brain, note_id).path
    new = f"memory/team/{note_id}.md"
    write(brain, {new: note_text("Quite another text", "Nothing of it is the same.\n" * 20, id=note_id)})
    (brain.root / old).unlink()
    committed(brain, git, "moved by hand")
    moved, created = history.history(brain, note_id).versions
    assert moved.changed[0] == f"moved from {old}"
    assert (created.path, created.changed) == (old, ("created",))


def test_an_edit_under_the_old_name_on_the_other_side_of_a_merge_is_a_version(brain: Brain, git: PlainGit) -> None:
    body = "".join(f"line {number}\n" for number in range(30))
    write(brain, {"memory/n.md": note_text("N", body, id="n")})
    committed(brain, git, "first")
    git(brain.root, "switch", "-q", "-c", "side")
    write(brain, {"memory/n.md": note_text("N", body + "more\n", id="n")})
    committed(brain, git, "edited on the side")
    git(brain.root, "switch", "-q", "main")
    git(brain.root, "mv", "memory/n.md", "memory/m.md")
    committed(brain, git, "renamed on main")
    git(brain.root, "merge", "-q", "side", "-m", "both")
    subjects = [version.subject for version in history.history(brain, "n").versions]
    assert sorted(subjects[1:] if subjects[0] == "both" else subjects) == [
        "edited on the side",
        "first",
        "renamed on main",
    ]


def test_a_deleted_note_has_its_history_by_whole_short_and_begun_id_and_comes_back(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, "Retries", body="Words.")
    place = brain.root / recall.locate(brain, note_id).path
    text = place.read_text(encoding="utf-8")
    place.unlink()
    syncing.sync(brain)
    for wanted in (note_id, note_id.rpartition("-")[2], note_id[:16]):
        found = history.history(brain, wanted)
        assert (found.id, found.deleted) == (note_id, True)
        assert [version.changed for version in found.versions] == [("deleted",), ("created",)]
    gone, made = history.history(brain, note_id).versions
    with pytest.raises(Refused, match="was not there"):
        history.restore(brain, note_id, gone.commit, session=Session(), now=LATER)
    receipt = history.restore(brain, note_id, made.commit[:10], session=Session(), now=LATER)
    assert (receipt.state, receipt.ids) == ("committed", (note_id,))
    assert place.read_text(encoding="utf-8").replace(LATER, NOW) == text
    assert git(brain.root, "status", "--porcelain") == ""


def test_a_version_is_printed_and_restored_by_a_new_commit(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, "Retries", body="First.", summary="One.")
    first = git(brain.root, "rev-parse", "HEAD").strip()
    update(brain, note_id, {"summary": "Two.", "confidence": "high"}, session=Session(), now=LATER)
    _, full, path, data = history.version_at(brain, note_id, first[:8])
    assert (full, b"summary: One." in data) == (first, True)
    assert path == recall.locate(brain, note_id).path
    receipt = history.restore(brain, note_id, first, session=Session(), now=LATEST)
    assert receipt.state == "committed"
    note = recall.read(brain, note_id).note
    assert (note.summary, note.confidence, note.updated_at) == ("One.", "medium", LATEST)
    assert [version.subject.partition(":")[0] for version in history.history(brain, note_id).versions] == [
        "Restore",
        "Update",
        "Remember",
    ]
    with pytest.raises(Refused, match="There is no commit"):
        history.version_at(brain, note_id, "f" * 40)
    with pytest.raises(Refused, match="There is no commit"):
        history.version_at(brain, note_id, "--help")


def lost(team: tuple[Teammate, Teammate]) -> tuple[str, str]:
    """A note whose edit by Alice lost against Bob's: its id and that of the version kept aside."""
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", summary="Start.")
    for person in team:
        syncing.sync(person.act())
    update(alice.act(), note_id, {"summary": "By Alice."}, session=Session(), now=LATER)
    update(bob.act(), note_id, {"summary": "By Bob."}, session=Session(), now=LATEST)
    for person in (alice, bob, alice):
        syncing.sync(person.act())
    (sibling,) = history.history(alice.act(), note_id).siblings
    return note_id, sibling


def test_both_notes_of_a_conflict_name_each_other(team: tuple[Teammate, Teammate]) -> None:
    alice = team[0]
    note_id, _ = lost(team)
    found = history.history(alice.act(), note_id)
    (sibling,) = found.siblings
    other = history.history(alice.act(), sibling)
    assert other.conflict_of == note_id
    assert [(version.author, version.changed) for version in other.versions[1:]] == [("Alice", ("summary",))]
    assert other.versions[0].changed == (f"kept aside as a version of {note_id}",)
    assert [(version.author, version.subject) for version in found.versions] == [
        ("Bob", "Update: Shared"), ("Alice", "Update: Shared"), ("Alice", "Remember: Shared"),
    ]  # fmt: skip
    assert {"By Alice.", "By Bob."} == {recall.read(alice.act(), one).note.summary for one in (note_id, sibling)}
    told = [
        [(version.commit, version.changed) for version in history.history(who.act(), note_id).versions] for who in team
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("kept", ["note", "sibling", "both"])
def test_who_wrote_what_lost_stays_in_the_history_once_the_conflict_is_resolved(
    team: tuple[Teammate, Teammate], kept: str
) -> None:
    alice, bob = team
    note_id, sibling = lost(team)
    keep = {"note": (note_id,), "sibling": (sibling,), "both": ()}[kept]
    conflicts.resolve(bob.act(), note_id, keep=keep, everything=kept == "both", session=Session(), now=LATEST)
    for person in (bob, alice):
        syncing.sync(person.act())

    def told(who: Teammate, wanted: str) -> list[tuple[str, str]]:
        return [(one.author, one.subject) for one in history.history(who.act(), wanted).versions]

    resolved = [("Bob", "Resolve: Shared")]
    edits = [("Bob", "Update: Shared"), ("Alice", "Update: Shared"), ("Alice", "Remember: Shared")]
    for person in team:
        assert told(person, note_id) == (resolved if kept == "sibling" else []) + edits
        first, second, *rest = told(person, sibling)
        assert ([first], rest) == (resolved, [("Alice", "Update: Shared")])
        assert second == ("Commonwealth", "Merge notes")


def test_the_version_that_lost_is_printed_and_restored_under_the_id_of_the_note_that_is_asked_for(
    team: tuple[Teammate, Teammate],
) -> None:
    note_id, sibling = lost(team)
    brain = team[0].act()
    begun = history.history(brain, sibling).versions[-1].commit
    assert history.history(brain, sibling, limit=1).truncated
    update(brain, sibling, {"summary": "Edited."}, session=Session(), now=LATEST)
    _, _, path, data = history.version_at(brain, sibling, begun)
    assert (path, b"summary: By Alice." in data) == (recall.locate(brain, note_id).path, True)
    receipt = history.restore(brain, sibling, begun, session=Session(), now=LATEST)
    assert (receipt.state, receipt.ids) == ("committed", (sibling,))
    assert recall.read(brain, sibling).note.summary == "By Alice."
    assert recall.read(brain, note_id).note.summary == "By Bob."


def test_hand_made_versions_that_are_no_notes_and_hostile_authors_do_no_harm(
    brain: Brain, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(brain, {"memory/n.md": note_text("N")})
    committed(brain, git, "A\x1b[31m | \u202e")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "M \x1b]0;x\x07 R100")
    write(brain, {"memory/n.md": "---\ntitle: [\n---\n"})
    committed(brain, git, "broken")
    write(brain, {"memory/n.md": note_text("N", "Mended.\n")})
    committed(brain, git, "mended")
    broken = ("text that cannot be read as a note",)
    assert changed(brain, "n") == [broken, broken, ("created",)]
    write(brain, {"memory/n.md": "---\ntitle: [\n---\n"})
    assert changed(brain, "n") == [broken, broken, ("created",)]  # also while it cannot be read


def test_an_unknown_id_is_refused_and_an_uncommitted_note_has_no_versions(brain: Brain) -> None:
    with pytest.raises(Refused, match="No note has the id"):
        history.history(brain, "nothing")
    write(brain, {"memory/fresh.md": note_text("Fresh")})
    assert history.history(brain, "fresh").versions == ()


def test_a_note_behind_thousands_of_commits_costs_a_bounded_number_of_processes(
    brain: Brain, git: PlainGit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_id = recorded(brain)
    for number in range(12):
        recorded(brain, f"Other {number}")
    started = tmp_path / "started"
    real = git(brain.root, "--exec-path").strip()
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\necho x >> {shlex.quote(str(started))}\nexec {shlex.quote(real)}/git "$@"\n', encoding="utf-8"
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:/usr/bin:/bin")
    assert len(history.history(brain, note_id).versions) == 1
    assert len(started.read_text(encoding="utf-8").splitlines()) <= 6
