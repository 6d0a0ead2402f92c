"""What stands in the way of the next sync is said before one is tried, once, with the step that ends it."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.adapters import show
from commonwealth.adapters.terminal import Screen
from commonwealth.flows import doctor, mending, syncing, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.upkeep import Status

from .conftest import NOW, Teammate, note_text, recorded, write

PlainGit = Callable[..., str]


def filled(brain: Brain, count: int = 30) -> list[Path]:
    """Notes that are committed; their files."""
    names = [f"memory/2026-07/n{number:02}.md" for number in range(count)]
    write(brain, {name: note_text(f"Note {name}") for name in names})
    assert syncing.sync(brain).state in ("committed", "published")
    return [brain.root / name for name in names]


def shown(status: Status) -> str:
    out = io.StringIO()
    show.status(Screen(out=out, err=out), status, NOW)
    return out.getvalue()


def said(brain: Brain, name: str) -> list[tuple[str, str, str]]:
    """State, message and hint of what the doctor says under one name."""
    checks = doctor.doctor(str(brain.root), "/")
    return [(check.state, check.message, check.hint or "") for check in checks if check.name == name]


def steps(told: str) -> list[str]:
    """The commands in a sentence."""
    return told.split("`")[1::2]


# Deletions in bulk


@pytest.mark.parametrize("count", [4, 7, 25])
@pytest.mark.parametrize("staged", [False, True])
def test_deletions_in_bulk_are_held_and_the_step_brings_them_back_alone(
    brain: Brain, git: PlainGit, count: int, staged: bool
) -> None:
    files = filled(brain)
    before = {path: path.read_bytes() for path in files}
    for path in files[:count]:
        git(brain.root, "rm", "-q", str(path)) if staged else path.unlink()
    write(brain, {"memory/2026-07/n29.md": note_text("Edited meanwhile"), "memory/2026-07/new.md": note_text("New")})
    status = upkeep.status(brain)
    assert status.edited == ("memory/2026-07/n29.md", "memory/2026-07/new.md")
    [held] = status.held
    assert held.startswith(f"{count} notes were deleted by hand (memory/2026-07/n00.md")
    accept, back = steps(held)
    assert accept == "brain sync --accept-deletions"
    [(state, message, hint)] = [check for check in said(brain, "edits") if "deleted" in check[1]]
    assert (state, steps(hint)) == ("warn", [accept, back])
    assert held.startswith(message)
    assert held in syncing.sync(brain).warnings
    subprocess.run(back, shell=True, check=True, cwd="/")
    assert {path: path.read_bytes() for path in files[:count]} == {path: before[path] for path in files[:count]}
    assert "Edited meanwhile" in files[29].read_text(encoding="utf-8")
    assert git(brain.root, "status", "--porcelain") == ""
    assert upkeep.status(brain).held == ()


def test_deletions_that_are_accepted_or_few_are_ordinary_edits(brain: Brain) -> None:
    files = filled(brain)
    files[0].unlink()
    assert (upkeep.status(brain).edited, upkeep.status(brain).held) == (("memory/2026-07/n00.md",), ())
    for path in files[:9]:
        path.unlink(missing_ok=True)
    assert upkeep.status(brain).edited == ()
    assert syncing.sync(brain, accept_deletions=True).state == "committed"
    assert (upkeep.status(brain).edited, upkeep.status(brain).held) == ((), ())


# What is not published


def gone_branch(remote: Path, git: PlainGit) -> None:
    git(remote, "update-ref", "-d", "refs/heads/main")


def rewritten(remote: Path, git: PlainGit) -> None:
    tree = git(remote, "rev-parse", "main^{tree}").strip()
    who = ("-c", "user.name=Carol", "-c", "user.email=carol@example.com")
    new = git(remote, *who, "commit-tree", "-m", "anew", tree).strip()
    git(remote, "update-ref", "refs/heads/main", new)


def protected(remote: Path, git: PlainGit) -> None:
    hook = remote / "hooks/update"
    hook.write_text(
        '#!/bin/sh\ncase "$1" in refs/heads/main) echo "GH006: Protected branch" >&2; exit 1;; esac\n',
        encoding="utf-8",
    )
    hook.chmod(0o755)


@pytest.mark.parametrize(
    ("trouble", "step"),
    [(gone_branch, "Bring it back there"), (rewritten, "--adopt-remote"), (protected, "Open a request")],
)
def test_what_is_owed_is_told_once_with_its_own_next_step(
    team: tuple[Teammate, Teammate],
    remote: Path,
    git: PlainGit,
    trouble: Callable[[Path, PlainGit], None],
    step: str,
) -> None:
    brain = team[0].act()
    recorded(brain)
    trouble(remote, git)
    receipt = syncing.sync(brain)
    status = upkeep.status(brain)
    assert status.debt is not None
    assert status.debt.next == receipt.next
    assert step in (status.debt.next or "")
    screen = shown(status)
    assert (screen.count(status.debt.reason), screen.count(status.debt.next or "-")) == (1, 1)
    [(state, message, hint)] = [check for check in said(brain, "sync") if "Not published" in check[1]]
    assert (state, hint) == ("warn", status.debt.next)
    assert status.debt.reason in message


def test_a_debt_of_an_older_version_has_no_step(brain: Brain) -> None:
    place = brain.root / ".git/commonwealth/debt"
    place.write_text(json.dumps({"since": NOW, "reason": "It rained."}), encoding="utf-8")
    debt = upkeep.status(brain).debt
    assert debt is not None
    assert (debt.since, debt.reason, debt.next) == (NOW, "It rained.", None)
    assert ("warn", f"Not published since {NOW}: It rained.", "`brain sync` tries again.") in said(brain, "sync")


# git's index


def no_index(place: Path) -> None:
    place.unlink()


def garbage(place: Path) -> None:
    place.write_bytes(b"DIRC" + os.urandom(300))


def emptied(place: Path) -> None:
    place.write_bytes(b"")


@pytest.mark.parametrize("damage", [no_index, garbage, emptied])
def test_without_gits_index_no_tracked_file_is_a_stray(
    brain: Brain, git: PlainGit, damage: Callable[[Path], None]
) -> None:
    (brain.root / "LICENSE").write_text("Free.\n", encoding="utf-8")
    git(brain.root, "add", "LICENSE")
    git(brain.root, "commit", "-qm", "a file that is no note")
    note = recorded(brain)
    write(brain, {"memory/edited.md": note_text("By hand"), "odd.txt": "odd"})
    damage(brain.root / ".git/index")
    status = upkeep.status(brain)
    assert (status.edited, status.held, status.others) == (("memory/edited.md",), (), ())
    assert status.strays == ("odd.txt",)
    [obstacle] = status.obstacles
    assert "git's index is missing or damaged" in obstacle.message
    assert "makes it anew" in obstacle.next
    assert obstacle.message in shown(status)
    assert [message for _, message, _ in said(brain, "strays")] == ["odd.txt is no note and is never committed."]
    assert any("git's index" in message and "anew" in hint for _, message, hint in said(brain, "git"))
    assert syncing.sync(brain).state == "committed"
    assert upkeep.status(brain).obstacles == ()
    assert git(brain.root, "ls-files", "--", f"*{note}.md")


def test_a_file_in_git_that_is_no_note_is_no_stray_when_it_is_edited(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/table.csv": "a,b\n"})
    git(brain.root, "add", "memory/table.csv")
    git(brain.root, "commit", "-qm", "a file that is no note")
    assert upkeep.status(brain).strays == ()
    write(brain, {"memory/table.csv": "a,b,c\n"})
    status = upkeep.status(brain)
    assert (status.strays, status.others) == ((), ("memory/table.csv",))
    assert "memory/table.csv" in shown(status)
    assert said(brain, "strays") == []
    assert any("memory/table.csv" in message and "Commit" in hint for _, message, hint in said(brain, "others"))
    assert any("memory/table.csv" in warning for warning in syncing.sync(brain).warnings)


# A remote that is gone


def config_deleted(brain: Brain, git: PlainGit) -> None:
    (brain.root / ".git/config").unlink()


def remote_removed(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "remote", "remove", "origin")


@pytest.mark.parametrize("loss", [config_deleted, remote_removed])
def test_a_remote_that_was_there_and_is_gone_is_warned_of_with_how_to_set_it_again(
    team: tuple[Teammate, Teammate], remote: Path, git: PlainGit, loss: Callable[[Brain, PlainGit], None]
) -> None:
    brain = team[1].act()
    loss(brain, git)
    [obstacle] = [one for one in upkeep.status(brain).obstacles if one.kind == "remote"]
    [command] = steps(obstacle.next)
    [check] = [check for check in said(brain, "sync") if "remote" in check[1]]
    assert check == ("warn", obstacle.message, obstacle.next)
    if loss is config_deleted:
        [found] = [message for _, message, _ in said(brain, "git") if ".git/config" in message]
        assert found.endswith("is missing.")
    recorded(brain)
    receipt = syncing.sync(brain)
    assert receipt.state != "published"
    assert [w for w in receipt.warnings if obstacle.message in w and command in w]
    subprocess.run(command.replace("URL", shlex.quote(str(remote))), shell=True, check=True, cwd="/")
    assert syncing.sync(brain).state == "published"
    assert upkeep.status(brain).obstacles == ()


def test_a_brain_that_never_had_a_remote_is_not_warned(brain: Brain) -> None:
    recorded(brain)
    assert syncing.sync(brain).warnings == ()
    assert upkeep.status(brain).obstacles == ()
    assert ("note", "This brain has no remote.") in [check[:2] for check in said(brain, "sync")]


# HEAD, and operations of git's


def merging(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "switch", "-q", "-c", "other", "HEAD~1")
    git(brain.root, "commit", "-q", "--allow-empty", "-m", "other")
    git(brain.root, "switch", "-q", "main")
    git(brain.root, "merge", "-q", "--no-commit", "--no-ff", "other")


def rebasing(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "HEAD~1")


def detached(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "switch", "-q", "--detach", "HEAD~1")


def elsewhere(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "switch", "-q", "-c", "work")


@pytest.mark.parametrize(
    ("begin", "kind", "what", "step"),
    [
        (merging, "operation", "A merge is under way", "merge --abort"),
        (rebasing, "operation", "A rebase is under way", "rebase --abort"),
        (detached, "head", "detached", "brain sync"),
        (elsewhere, "head", "on the branch work", "switch main"),
    ],
)
def test_status_and_doctor_say_at_once_what_is_under_way_or_out_of_place(
    brain: Brain, git: PlainGit, begin: Callable[[Brain, PlainGit], None], kind: str, what: str, step: str
) -> None:
    recorded(brain)
    begin(brain, git)
    status = upkeep.status(brain)
    [obstacle] = status.obstacles
    assert obstacle.kind == kind
    assert what in obstacle.message
    assert [command for command in steps(obstacle.next) if command.endswith(step)]
    assert ("warn", obstacle.message, obstacle.next) in said(brain, "head")
    screen = shown(status)
    assert screen.count(obstacle.message) == 1


def test_what_a_refused_sync_said_is_not_repeated_beside_what_is_in_the_way(brain: Brain, git: PlainGit) -> None:
    recorded(brain)
    elsewhere(brain, git)
    git(brain.root, "commit", "-q", "--allow-empty", "-m", "work")
    with pytest.raises(Exception, match="on the branch work"):
        syncing.sync(brain)
    status = upkeep.status(brain)
    assert status.stopped
    assert shown(status).count("on the branch work") == 1


# Locks


LOCKS = (
    "index.lock",
    "HEAD.lock",
    "config.lock",
    "packed-refs.lock",
    "ORIG_HEAD.lock",
    "refs/heads/main.lock",
    "objects/maintenance.lock",
    "objects/info/commit-graph.lock",
)


def test_every_dead_lock_is_hinted_at_and_told_when_it_is_removed(brain: Brain) -> None:
    recorded(brain)
    places = [brain.root / ".git" / name for name in LOCKS]
    for place in places:
        place.touch()
    hints = {message: hint for _, message, hint in said(brain, "locks")}
    assert len(hints) == len(LOCKS)
    assert set(hints.values()) == {"`brain doctor --fix` removes it."}
    repairs = list(mending.fix(str(brain.root), "/"))
    assert all(repair.done for repair in repairs), repairs
    for place in places:
        assert not place.exists()
        assert len([repair for repair in repairs if f"{place}," in repair.what]) == 1, place
    assert list(mending.fix(str(brain.root), "/")) == []


def test_fix_says_no_more_than_it_knows_of_who_was_at_work(brain: Brain, git: PlainGit) -> None:
    recorded(brain)
    merging(brain, git)
    told = [repair.what for repair in mending.fix(str(brain.root), "/")]
    assert any("no git process was at work" in what for what in told)
    assert not any("nobody was at work" in what for what in told)
    assert upkeep.status(brain).obstacles == ()
