"""A change of the folders hides no note, and what a person wrote in the place of a table stays theirs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonwealth import config
from commonwealth.flows import doctor, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.notes import naming

from .conftest import Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
Team = tuple[Teammate, Teammate]
AS_EVE = ("-c", "user.name=Eve", "-c", "user.email=eve@example.com")
OK = ("published", "unchanged")
MINE = "# Decisions, as we read them\n\nBegin with the first.\n"


def told(brain: Brain) -> str:
    return "\n".join(f"{check.state} {check.message} {check.hint}" for check in doctor.doctor(str(brain.root), "/"))


def synced(person: Teammate) -> tuple[str, ...]:
    receipt = syncing.sync(person.act())
    assert receipt.state in OK, receipt
    return receipt.warnings


def remap(person: Teammate, git: PlainGit, line: str) -> None:
    root = person.act().root
    place = root / config.CONFIG_PATH
    place.write_text(place.read_text(encoding="utf-8") + f"folders:\n  {line}\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, *AS_EVE, "commit", "-qm", "folders")
    synced(person)


def test_the_default_folders_stay_folders_whatever_is_mapped() -> None:
    folders = {**config.DEFAULT_FOLDERS, "memory": "notes", "decision": "work-state/adr", "person": "decisions"}
    assert naming.kind_of("notes/a.md", folders) == "memory"
    assert naming.kind_of("memory/a.md", folders) == "memory"
    assert naming.kind_of("work-state/adr/a.md", folders) == "decision"
    assert naming.kind_of("work-state/a.md", folders) == "work-state"
    assert naming.kind_of("decisions/a.md", folders) == "person"  # the mapping wins
    assert naming.kind_of("people/a.md", folders) == "person"
    assert naming.kind_of("elsewhere/a.md", folders) is None


def test_notes_in_a_default_folder_stay_found_edited_and_listed_when_a_config_maps_it_away(
    team: Team, git: PlainGit
) -> None:
    alice, bob = team
    before = recorded(alice.act(), "Retries are safe")
    synced(alice)
    synced(bob)
    remap(alice, git, "memory: notes/")
    bob.act()
    later = recorded(bob.act(), "Written before the change arrived")  # in memory/, as Bob's config says
    synced(bob)
    synced(alice)
    new = recorded(alice.act(), "Written after it")
    synced(alice)
    synced(bob)
    for person in team:
        brain = person.act()
        for note_id, folder in ((before, "memory"), (later, "memory"), (new, "notes")):
            found = recall.locate(brain, note_id)
            assert found.path.startswith(f"{folder}/"), found
        assert new in (brain.root / "notes/2026-07/INDEX.md").read_text(encoding="utf-8")
        assert before in (brain.root / "memory/2026-07/INDEX.md").read_text(encoding="utf-8")
        assert before in (brain.root / "COMMONWEALTH.md").read_text(encoding="utf-8")
    brain = bob.act()
    path = f"memory/2026-07/{before}.md"
    write(brain, {path: (brain.root / path).read_text(encoding="utf-8") + "\nBy hand.\n"})
    synced(bob)
    assert "By hand." in git(brain.root, "show", f"origin/main:{path}")
    synced(alice)
    assert "By hand." in (alice.act().root / path).read_text(encoding="utf-8")
    one, two = (git(person.act().root, "rev-parse", "HEAD^{tree}") for person in team)
    assert one == two


@pytest.mark.parametrize("mover", [0, 1])
def test_an_edit_and_a_new_note_meet_a_folder_that_moved(team: Team, git: PlainGit, mover: int) -> None:
    one, other = team[mover], team[1 - mover]
    write(one.act(), {"decisions/2026-07/a.md": note_text("A", "First.\n\nSecond.\n")})
    synced(one)
    synced(other)
    root = one.act().root
    git(root, "mv", "decisions", "adr")
    git(root, *AS_EVE, "commit", "-qm", "moved")
    if mover:
        remap(one, git, "decision: adr")
    brain = other.act()
    path = brain.root / "decisions/2026-07/a.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Second", "Edited"), encoding="utf-8")
    write(brain, {"decisions/2026-07/b.md": note_text("B")})
    if not mover:
        synced(other)
        remap(one, git, "decision: adr")
    synced(other)
    synced(one)
    synced(other)
    for person in team:
        brain = person.act()
        assert "Edited" in (brain.root / "adr/2026-07/a.md").read_text(encoding="utf-8")
        assert not (brain.root / "decisions/2026-07/a.md").exists()
        assert (brain.root / "decisions/2026-07/b.md").exists()
        assert {recall.locate(brain, name).kind for name in ("a", "b")} == {"decision"}


def test_a_committed_table_of_a_person_stays_and_is_named(team: Team, git: PlainGit) -> None:
    alice, bob = team
    brain = alice.act()
    write(brain, {"decisions/INDEX.md": MINE, "decisions/2026-07/a.md": note_text("A"), "COMMONWEALTH.md": MINE})
    git(brain.root, "add", "-A")
    git(brain.root, *AS_EVE, "commit", "-qm", "by hand")
    recorded(bob.act(), "Meanwhile")
    synced(bob)
    warnings = synced(alice)
    assert any("decisions/INDEX.md is not made by `brain`" in text for text in warnings)
    synced(bob)
    recorded(bob.act(), "Later", kind="decision")
    synced(bob)
    synced(alice)
    for person in team:
        brain = person.act()
        assert (brain.root / "decisions/INDEX.md").read_text(encoding="utf-8") == MINE
        assert (brain.root / "COMMONWEALTH.md").read_text(encoding="utf-8") == MINE
        assert (brain.root / "decisions/2026-07/INDEX.md").exists()
        assert "warn decisions/INDEX.md is not made by `brain`" in told(brain)
        assert git(brain.root, "status", "--porcelain") == ""
    brain = alice.act()
    git(brain.root, "mv", "decisions/INDEX.md", "reading.md")
    git(brain.root, *AS_EVE, "commit", "-qm", "moved away")
    synced(alice)
    assert "Made from the notes" in (brain.root / "decisions/INDEX.md").read_text(encoding="utf-8")
    assert (brain.root / "reading.md").read_text(encoding="utf-8") == MINE


def test_an_uncommitted_table_of_a_person_stays_and_is_named(team: Team, git: PlainGit) -> None:
    alice, bob = team
    write(alice.act(), {"decisions/INDEX.md": MINE})
    recorded(bob.act(), "A decision", kind="decision")
    synced(bob)
    for _ in range(2):
        warnings = synced(alice)
        assert any("decisions/INDEX.md" in text and "not made by `brain`" in text for text in warnings)
        assert (alice.act().root / "decisions/INDEX.md").read_text(encoding="utf-8") == MINE
    assert "decisions/INDEX.md" in told(alice.act())
    synced(bob)
    assert "Made from the notes" in (bob.act().root / "decisions/INDEX.md").read_text(encoding="utf-8")
    (alice.act().root / "decisions/INDEX.md").unlink()
    synced(alice)
    assert "Made from the notes" in (alice.act().root / "decisions/INDEX.md").read_text(encoding="utf-8")


def test_an_edit_of_a_made_table_is_taken_out_and_the_bytes_are_named(team: Team, git: PlainGit) -> None:
    alice, bob = team
    recorded(bob.act(), "A decision", kind="decision")
    synced(bob)
    made = (bob.act().root / "decisions/INDEX.md").read_text(encoding="utf-8")
    write(alice.act(), {"decisions/INDEX.md": f"{made}mine\n"})
    warnings = synced(alice)
    brain = alice.act()
    assert (brain.root / "decisions/INDEX.md").read_text(encoding="utf-8") == made
    (text,) = (text for text in warnings if text.startswith("decisions/INDEX.md is made from the notes"))
    assert git(brain.root, "cat-file", "-p", text.split("cat-file -p ")[1].split("`")[0]) == f"{made}mine\n"
