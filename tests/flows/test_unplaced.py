"""What a colleague pushes that this clone cannot hold, or that stands in another's way, stops nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from commonwealth.flows import doctor, history, setup, syncing
from commonwealth.flows.brains import Brain

from .conftest import Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
Team = tuple[Teammate, Teammate]
AS_EVE = ("-c", "user.name=Eve", "-c", "user.email=eve@example.com")
OK = ("published", "unchanged")
LONG = f"memory/{'a' * 300}/x.md"
LONG_NAME = f"memory/2026-07/{'b' * 300}.md"
BELOW = "memory/sub/z.md"


def push_entries(team: Team, git: PlainGit, tmp_path: Path, files: Mapping[str, str]) -> None:
    """Entries that no checkout made, on the remote's branch."""
    alice = team[0].act().root
    git(alice, "fetch", "-q", "origin")
    folder = tmp_path / "pusher"
    git(tmp_path, "clone", "-q", "--no-checkout", str(tmp_path / "remote.git"), str(folder))
    git(folder, "read-tree", "HEAD")
    for path, text in files.items():
        source = tmp_path / "blob"
        source.write_text(text, encoding="utf-8")
        name = git(folder, "hash-object", "-w", str(source)).strip()
        git(folder, "update-index", "--add", "--cacheinfo", f"100644,{name},{path}")
    made = git(folder, *AS_EVE, "commit-tree", git(folder, "write-tree").strip(), "-p", "HEAD", "-m", "odd").strip()
    git(folder, "push", "-q", "origin", f"{made}:refs/heads/main")


def told(brain: Brain) -> str:
    return "\n".join(
        f"{check.state} {check.message} {check.hint}" for check in doctor.doctor(str(brain.root), str(brain.root))
    )


def tracked(brain: Brain, git: PlainGit) -> set[str]:
    return set(git(brain.root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0"))


def test_a_name_that_the_file_system_cannot_hold_stops_neither_sync_nor_writes(
    team: Team, git: PlainGit, tmp_path: Path
) -> None:
    push_entries(team, git, tmp_path, {LONG: note_text("A"), LONG_NAME: note_text("B"), "memory/ok.md": note_text("C")})
    for person in team:
        brain = person.act()
        receipt = syncing.sync(brain)
        assert receipt.state in OK, receipt
        assert any(LONG in text and "not here" in text for text in receipt.warnings)
        assert (brain.root / "memory/ok.md").exists()
        assert not (brain.root / ".git/commonwealth/journal").exists()
        recorded(brain, f"Written by {person.name}")
        again = syncing.sync(brain)
        assert again.state in OK
        assert any(LONG in text for text in again.warnings)
        assert {LONG, LONG_NAME} <= tracked(brain, git)
        assert f"warn {LONG} is not here" in told(brain)


def test_a_file_in_the_way_holds_one_note_back_until_it_is_moved(team: Team, git: PlainGit, tmp_path: Path) -> None:
    brain = team[1].act()
    write(brain, {"memory/sub": "a shopping list\n"})
    push_entries(team, git, tmp_path, {BELOW: note_text("Z"), "memory/ok.md": note_text("C")})
    brain = team[1].act()
    for _ in range(2):
        receipt = syncing.sync(brain)
        assert receipt.state in OK
        assert any(
            text.startswith(f"{BELOW} is not here: the file memory/sub is in its way") for text in receipt.warnings
        )
        assert BELOW in tracked(brain, git)
    assert (brain.root / "memory/sub").read_text(encoding="utf-8") == "a shopping list\n"
    assert f"warn {BELOW} is not here: the file memory/sub" in told(brain)
    recorded(brain, "Still writable")
    (brain.root / "memory/sub").rename(tmp_path / "list")
    syncing.sync(brain)
    assert (brain.root / BELOW).read_text(encoding="utf-8") == note_text("Z")
    assert BELOW in tracked(brain, git)
    assert "not here" not in told(brain)


def test_a_folder_in_the_place_of_a_note_stays(team: Team, git: PlainGit, tmp_path: Path) -> None:
    brain = team[1].act()
    write(brain, {"memory/z.md/mine.txt": "mine\n"})
    push_entries(team, git, tmp_path, {"memory/z.md": note_text("Z")})
    brain = team[1].act()
    for _ in range(2):
        receipt = syncing.sync(brain)
        assert any(text.startswith("memory/z.md is not here: the folder") for text in receipt.warnings)
        assert "memory/z.md" in tracked(brain, git)
    assert (brain.root / "memory/z.md/mine.txt").read_text(encoding="utf-8") == "mine\n"


def test_a_note_of_ones_own_in_the_place_of_a_folder_that_came_in_is_held(
    team: Team, git: PlainGit, tmp_path: Path
) -> None:
    brain = team[1].act()
    recorded(brain, "Mine first")
    syncing.sync(brain)
    push_entries(team, git, tmp_path, {"memory/t.md/part.md": note_text("Part"), "memory/u.md": note_text("U")})
    brain = team[1].act()
    write(brain, {"memory/u.md/mine.md": "---\ntitle: [\n---\n", "memory/t.md": "---\ntitle: [\n---\n"})
    for number in range(3):
        assert syncing.sync(brain).state in OK
        recorded(brain, f"Still writable {number}")
        # Unreadable at first, so that they lay there uncommitted when the others came in.
        write(brain, {"memory/u.md/mine.md": note_text("Mine below"), "memory/t.md": note_text("Mine")})
    assert "memory/t.md is not committed: a folder of this name" in told(brain)
    for path in ("memory/t.md", "memory/u.md/mine.md"):
        assert (brain.root / path).read_text(encoding="utf-8").startswith("---\ntitle: Mine")


def test_a_tracked_note_below_a_file_of_a_person_is_no_deletion(team: Team, git: PlainGit) -> None:
    brain = team[0].act()
    path = f"memory/2026-07/{recorded(brain)}.md"
    assert syncing.sync(brain).state in OK
    (brain.root / "memory/2026-07").rename(brain.root / "aside")
    write(brain, {"memory/2026-07": "a file\n"})
    receipt = syncing.sync(brain)
    assert any(text.startswith(f"{path} is not here") for text in receipt.warnings)
    assert path in tracked(brain, git)


def test_a_brain_with_such_a_name_is_joined_without_that_file(
    team: Team, git: PlainGit, tmp_path: Path, code: Path
) -> None:
    push_entries(team, git, tmp_path, {LONG: note_text("A"), "memory/ok.md": note_text("C")})
    team[1].act()
    joined = setup.join(str(tmp_path / "remote.git"), tmp_path / "third", cwd=str(code)).brain
    assert (joined.root / "memory/ok.md").read_text(encoding="utf-8") == note_text("C")
    receipt = syncing.sync(joined)
    assert receipt.state in OK
    assert any(LONG in text and "not here" in text for text in receipt.warnings)
    assert LONG in tracked(joined, git)
    assert f"warn {LONG} is not here" in told(joined)
    assert git(joined.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("seconds", ["253402300800", "9223372036854775000"])
def test_a_commit_of_a_time_that_cannot_be_shown_disturbs_nothing(
    team: Team, git: PlainGit, tmp_path: Path, seconds: str
) -> None:
    alice, bob = team
    brain = alice.act()
    write(brain, {"memory/far.md": note_text("Far", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")})
    git(brain.root, "add", "-A")
    tree = git(brain.root, "write-tree").strip()
    raw = f"tree {tree}\nparent {git(brain.root, 'rev-parse', 'HEAD').strip()}\n"
    raw += "".join(f"{role} Eve <eve@example.com> {seconds} +0000\n" for role in ("author", "committer"))
    (tmp_path / "raw").write_text(f"{raw}\nfar\n", encoding="utf-8")
    made = git(brain.root, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "raw")).strip()
    git(brain.root, "push", "-q", "origin", f"{made}:refs/heads/main")
    brain = bob.act()
    assert syncing.sync(brain).state in OK
    found = history.history(brain, "far")
    assert found.versions[-1].at == "9999-12-31T23:59:59Z"
    recorded(brain, "Still writable")
    assert syncing.sync(brain).state in OK
