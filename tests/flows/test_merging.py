"""git's merge driver: a person who merges, rebases or picks by hand gets notes united, and is never held up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonwealth.flows import merging, setup, syncing
from commonwealth.flows.brains import Brain
from commonwealth.repo.git import Git
from commonwealth.repo.harden import DRIVER, harden, lacking

from .conftest import NOW, PlainGit, Teammate, note_text, write

Team = tuple[Teammate, Teammate]
NOTE = "memory/2026-07/2026-07-01-retries-are-safe-0123456789.md"
BODY = "Said by hand.\n\n## Cause\n\nOne.\n"


@pytest.fixture(autouse=True)
def brain_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "By Hand")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "hand@example.com")


def merged_by_hand(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **more}
    return subprocess.run(
        ["git", "-C", str(folder), *words], env=env, capture_output=True, text=True, check=False, encoding="utf-8"
    )


def parted(team: Team, git: PlainGit, mine: dict[str, str], theirs: dict[str, str]) -> Path:
    """Bob's clone, in which the note has changed otherwise than in Alice's, who has published."""
    alice, bob = team
    fields = {"id": Path(NOTE).stem, "updated_at": "2026-07-01T10:00:00Z"}
    brain = alice.act()
    write(brain, {NOTE: note_text("Retries are safe", BODY, summary="Old.", **fields), "README.md": "one\ntwo\n"})
    git(alice.root, "add", "-A")
    git(alice.root, "commit", "-qm", "start")
    syncing.sync(brain)
    syncing.sync(bob.act())
    for person, said in ((alice, theirs), (bob, mine)):
        values = {"summary": "Old.", **fields, **said}
        body = values.pop("body", BODY)
        write(person.act(), {NOTE: note_text("Retries are safe", body, **values)})
        git(person.root, "commit", "-qam", person.name)
    git(alice.root, "push", "-q", "origin", "main")
    git(bob.root, "fetch", "-q")
    return bob.root


SUMMARY = {"summary": "New.", "updated_at": "2026-07-02T10:00:00Z"}
SECTION = {"body": BODY.replace("One.", "Two."), "updated_at": "2026-07-03T10:00:00Z"}


@pytest.mark.parametrize(
    "words", [("merge", "--no-edit", "origin/main"), ("rebase", "origin/main"), ("cherry-pick", "origin/main")]
)
def test_edits_of_different_parts_of_a_note_merge_by_hand(team: Team, git: PlainGit, words: tuple[str, ...]) -> None:
    folder = parted(team, git, SUMMARY, SECTION)
    done = merged_by_hand(folder, *words, COMMONWEALTH_BRAIN="/nowhere", COMMONWEALTH_HOME="/nowhere")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (folder / NOTE).read_text(encoding="utf-8")
    assert "summary: New." in text
    assert "Two." in text
    assert "updated_at: 2026-07-03T10:00:00Z" in text
    assert git(folder, "status", "--porcelain") == ""


def test_a_true_conflict_does_not_stop_the_merge_and_is_listed_everywhere(team: Team, git: PlainGit) -> None:
    alice, bob = team
    folder = parted(team, git, SUMMARY, {**SUMMARY, "summary": "Newer.", "updated_at": "2026-07-03T10:00:00Z"})
    done = merged_by_hand(folder, "merge", "--no-edit", "origin/main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "summary: Newer." in (folder / NOTE).read_text(encoding="utf-8")
    (beside,) = git(folder, "ls-files", "-o", "--exclude-standard").split()
    assert f"conflict_of: {Path(NOTE).stem}" in (folder / beside).read_text(encoding="utf-8")
    assert "summary: New." in (folder / beside).read_text(encoding="utf-8")
    assert beside in done.stderr
    for person in (bob, alice):
        syncing.sync(person.act())
    assert (alice.root / beside).read_bytes() == (folder / beside).read_bytes()
    assert git(alice.root, "rev-parse", "HEAD") == git(folder, "rev-parse", "HEAD")


OTHERS = {
    "fails": "exit 3",
    "dies": "kill -9 $$",
    "does nothing": "exit 0",
    "talks": "echo done; exit 0",
    "copies the word": "echo united; exit 0",
    "names other bytes": "echo united 0123456789012345678901234567890123456789 .; exit 0",
    "waits for words": "cat; exit 0",
}


@pytest.mark.parametrize("brain", ["missing", *OTHERS])
def test_without_a_working_brain_git_merges_by_lines(
    team: Team, git: PlainGit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, brain: str
) -> None:
    folder = parted(team, git, SUMMARY, SECTION | {"updated_at": "2026-07-01T10:00:00Z"})
    place = tmp_path / "bin"
    place.mkdir()
    path = ":".join(part for part in os.environ["PATH"].split(":") if not (Path(part) / "brain").exists())
    if brain != "missing":
        (place / "brain").write_text(f"#!/bin/sh\n{OTHERS[brain]}\n", encoding="utf-8")
        (place / "brain").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{path}")
    done = merged_by_hand(folder, "merge", "--no-edit", "origin/main")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (folder / NOTE).read_text(encoding="utf-8")
    assert "summary: New." in text
    assert "Two." in text


def test_a_line_merge_that_fails_leaves_markers_as_git_does_and_a_binary_note_stops_nothing(
    team: Team, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = parted(team, git, {"summary": "a\0b"}, {"summary": "c\0d"})
    path = ":".join(part for part in os.environ["PATH"].split(":") if not (Path(part) / "brain").exists())
    monkeypatch.setenv("PATH", path)
    done = merged_by_hand(folder, "merge", "--no-edit", "origin/main")
    assert done.returncode == 1
    assert git(folder, "diff", "--name-only", "--diff-filter=U").split() == [NOTE]


def test_a_file_that_is_no_note_is_merged_by_lines(team: Team, git: PlainGit) -> None:
    folder = parted(team, git, SUMMARY, SECTION)
    write_bytes = (folder / "README.md").write_bytes
    write_bytes(b"ONE\ntwo\n")
    git(folder, "commit", "-qam", "readme")
    alice = team[0].root
    (alice / "README.md").write_bytes(b"other\ntwo\n")
    git(alice, "commit", "-qam", "readme")
    git(alice, "push", "-q", "origin", "main")
    git(folder, "fetch", "-q")
    done = merged_by_hand(folder, "merge", "--no-edit", "origin/main")
    assert done.returncode == 1
    assert "error" not in done.stderr
    assert "<<<<<<< ours" in (folder / "README.md").read_text(encoding="utf-8")
    assert "summary: New." in (folder / NOTE).read_text(encoding="utf-8")


def test_tables_of_contents_are_merged_by_union(team: Team, git: PlainGit) -> None:
    folder = team[1].root
    said = git(folder, "check-attr", "merge", "--", "memory/INDEX.md", "COMMONWEALTH.md", NOTE).splitlines()
    assert [line.rpartition(": ")[2] for line in said] == ["union", "union", "commonwealth"]


def test_the_driver_is_in_every_clones_own_configuration(team: Team, git: PlainGit, tmp_path: Path) -> None:
    adopted = tmp_path / "adopted"
    adopted.mkdir()
    git(adopted, "init", "-q")
    git(adopted, "commit", "-q", "--allow-empty", "-m", "first")
    setup.init(adopted, name="adopted", remote=None, cwd=str(adopted), now=NOW)
    assert not any(lacking(Git(folder)) for folder in (team[0].root, team[1].root, adopted))
    git(adopted, "config", "--unset", "merge.commonwealth.driver")
    assert lacking(Git(adopted)) == ("merge.commonwealth.driver",)
    harden(Git(adopted), adopted=True)
    git(adopted, "config", "merge.commonwealth.driver", "command -v brain >/dev/null && brain merge-note %O %A %B %P")
    assert lacking(Git(adopted)) == ("merge.commonwealth.driver",)
    harden(Git(adopted), adopted=True)
    assert git(adopted, "config", "merge.commonwealth.driver").strip() == DRIVER["merge.commonwealth.driver"]


def test_only_notes_of_the_brains_own_folders_are_touched(brain: Brain) -> None:
    root = str(brain.root)
    write(brain, {".commonwealth/config.yaml": "name: x\nfolders:\n  decision: adr\n"})
    for name, text in (("o", "---\ntitle: a\n---\n"), ("a", "---\ntitle: b\n---\n"), ("b", "---\ntitle: a\n---\nx\n")):
        (brain.root / name).write_text(text, encoding="utf-8")
    for path in ("README.md", "memory/INDEX.md", "src/memory/a.md", "../memory/a.md"):
        assert merging.merge_note(root, "o", "a", "b", path) is None
    assert merging.merge_note(root, "o", "a", "b", "adr/a.md") == ()
    assert (brain.root / "a").read_text(encoding="utf-8") == "---\ntitle: b\n---\nx\n"
