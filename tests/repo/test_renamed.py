"""Remotes as they are: a default branch with a new name, none, several, and what a clone makes of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.repo.head import main_branch
from commonwealth.repo.sync import Consent

from .brains import assert_equal, dies, first_brain, head, plain, put, settle, start, status, team
from .linenotes import remember, run_sync

TOMORROW = "2026-07-02T12:00:00Z"


def branch(clone: Path) -> str:
    return plain(clone, "symbolic-ref", "--short", "HEAD").strip()


def rename_on_server(remote: Path, old: str = "main", new: str = "trunk") -> None:
    plain(remote, "branch", "-m", old, new)
    plain(remote, "symbolic-ref", "HEAD", f"refs/heads/{new}")


def test_a_branch_renamed_on_the_remote_is_followed(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    here, there = clones
    settle(clones)
    remember(here, "here", "text: here\n")
    remember(there, "there", "text: there\n")
    put(there, "memory/2026-07/by-hand.md", "text: by hand\n")
    rename_on_server(remote)
    outcome = run_sync(here)
    assert outcome.state == "published"
    assert any("trunk" in warning for warning in outcome.warnings)
    run_sync(there)
    settle(clones)
    files = assert_equal(clones)
    assert {f"memory/2026-07/{name}.md" for name in ("here", "there", "by-hand")} <= files.keys()
    for clone in clones:
        assert branch(clone) == main_branch(Git(clone)) == "trunk"
        assert plain(clone, "rev-parse", "--abbrev-ref", "trunk@{upstream}").strip() == "origin/trunk"
        assert plain(clone, "branch", "--list", "main") == ""
    assert plain(remote, "branch", "--format=%(refname:short)").split() == ["trunk"]


def test_a_default_branch_switched_while_the_old_one_stays_is_followed_the_next_day(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    settle(clones)
    plain(remote, "branch", "trunk", "main")
    plain(remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    assert run_sync(clones[0]).state == "unchanged"
    run_sync(clones[0], now=TOMORROW)
    run_sync(clones[1], now=TOMORROW)
    remember(clones[1], "new", "text: new\n")
    settle(clones)
    assert "memory/2026-07/new.md" in assert_equal(clones)
    assert branch(clones[0]) == "trunk"


def test_a_new_default_branch_that_lacks_notes_is_named_and_the_old_one_goes_on(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    plain(remote, "branch", "trunk", "main")
    settle(clones)
    remember(clones[0], "new", "text: new\n")
    settle(clones)
    plain(remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    outcome = run_sync(clones[0], now=TOMORROW)
    assert any("trunk" in warning and "lacks" in warning for warning in outcome.warnings), outcome
    assert branch(clones[0]) == "main"
    settle(clones)
    assert "memory/2026-07/new.md" in assert_equal(clones)


def test_a_branch_that_was_replaced_by_one_without_its_notes_is_not_followed(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    plain(remote, "branch", "trunk", "main")
    remember(clone, "new", "text: new\n")
    run_sync(clone)
    before = head(clone)
    plain(remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    plain(remote, "update-ref", "-d", "refs/heads/main")
    outcome = run_sync(clone)
    assert outcome.state == "refused"
    assert "trunk" in str(outcome.trouble)
    assert outcome.trouble is not None
    assert outcome.trouble.hint
    assert (head(clone), branch(clone)) == (before, "main")
    assert plain(remote, "branch", "--format=%(refname:short)").split() == ["trunk"]


def test_another_local_branch_of_the_new_name_is_not_overwritten(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    plain(clone, "checkout", "-q", "-b", "trunk")
    put(clone, "memory/2026-07/mine.md", "text: mine\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "mine")
    mine = head(clone)
    plain(clone, "checkout", "-q", "main")
    rename_on_server(remote)
    assert run_sync(clone).state == "refused"
    assert plain(clone, "rev-parse", "trunk").strip() == mine
    plain(clone, "branch", "-m", "trunk", "mine")
    assert run_sync(clone).state in ("published", "unchanged")
    assert branch(clone) == "trunk"


@pytest.mark.parametrize("point", ["rename-journal", "rename-made", "rename-head", "rename-recorded"])
def test_a_renaming_killed_anywhere_is_finished_by_the_next_write(tmp_path: Path, point: str) -> None:
    remote, clones = team(tmp_path, 2)
    settle(clones)
    rename_on_server(remote)
    dies(start("sync", str(clones[0]), fault=f"{point}=kill"))
    remember(clones[0], "after", "text: after\n")
    settle(clones)
    assert "memory/2026-07/after.md" in assert_equal(clones)
    assert branch(clones[0]) == main_branch(Git(clones[0])) == "trunk"
    assert status(clones[0]) == ""


@pytest.mark.parametrize("point", ["rename-journal", "rename-made", "rename-head", "rename-recorded"])
def test_a_sync_that_finishes_a_renaming_keeps_the_branch_and_what_is_not_published(tmp_path: Path, point: str) -> None:
    remote, (clone,) = team(tmp_path, 1)
    settle([clone])
    remember(clone, "before", "text: before\n")
    mine = head(clone)
    rename_on_server(remote)
    dies(start("sync", str(clone), fault=f"{point}=kill"))
    hook = remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    run_sync(clone)
    assert branch(clone) == main_branch(Git(clone)) == "trunk"
    assert plain(clone, "for-each-ref", "--format=%(refname)", "refs/heads").split() == ["refs/heads/trunk"]
    plain(clone, "merge-base", "--is-ancestor", mine, "trunk")
    assert plain(clone, "rev-parse", "--abbrev-ref", "trunk@{upstream}").strip() == "origin/trunk"


def test_a_name_that_a_branch_of_a_person_is_in_the_way_of_is_told_and_work_goes_on(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    settle([clone])
    plain(clone, "branch", "trunk/mine")
    rename_on_server(remote)
    put(clone, "memory/2026-07/by-hand.md", "text: by hand\n")
    outcome = run_sync(clone)
    assert outcome.state == "refused"
    assert "trunk" in str(outcome.trouble)
    assert branch(clone) == main_branch(Git(clone)) == "main"
    remember(clone, "meanwhile", "text: meanwhile\n")
    assert (branch(clone), status(clone)) == ("main", "")
    plain(clone, "branch", "-m", "trunk/mine", "mine")
    assert run_sync(clone).state == "published"
    assert branch(clone) == main_branch(Git(clone)) == "trunk"
    assert plain(remote, "rev-parse", "trunk").strip() == head(clone)
    assert "memory/2026-07/by-hand.md" in plain(remote, "ls-tree", "-r", "--name-only", "trunk").split()


def test_a_head_that_a_half_made_renaming_left_on_no_branch_finds_its_commits_again(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    settle([clone])
    rename_on_server(remote)
    dies(start("sync", str(clone), fault="rename-journal=kill"))
    plain(clone, "symbolic-ref", "HEAD", "refs/heads/trunk")
    before = plain(clone, "rev-parse", "main").strip()
    remember(clone, "after", "text: after\n")
    assert branch(clone) == main_branch(Git(clone)) == "trunk"
    plain(clone, "merge-base", "--is-ancestor", before, "trunk")
    assert run_sync(clone).state == "published"


def test_a_branch_renamed_by_hand_is_taken_for_the_brain_s(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    settle(clones)
    rename_on_server(remote)
    here = clones[0]
    plain(here, "branch", "-m", "main", "trunk")
    plain(here, "fetch", "-q", "origin")
    remember(here, "new", "text: new\n")
    assert run_sync(here).state == "published"
    settle(clones)
    assert "memory/2026-07/new.md" in assert_equal(clones)


def test_a_head_that_names_no_branch_stops_nothing(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    plain(remote, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    remember(clones[0], "new", "text: new\n")
    settle(clones)
    run_sync(clones[0], now=TOMORROW)
    assert "memory/2026-07/new.md" in assert_equal(clones)


def test_a_remote_with_another_branch_of_its_own_gets_no_second_one(tmp_path: Path) -> None:
    brain = first_brain(tmp_path / "brain")
    other = first_brain(tmp_path / "other")
    plain(other, "commit", "-q", "--amend", "-m", "another root")
    plain(tmp_path, "init", "-q", "--bare", "-b", "master", "remote.git")
    plain(other, "push", "-q", str(tmp_path / "remote.git"), "main:master")
    plain(brain, "remote", "add", "origin", str(tmp_path / "remote.git"))
    remember(brain, "ours", "text: ours\n")
    outcome = run_sync(brain)
    assert outcome.state == "refused"
    assert "master" in str(outcome.trouble)
    assert plain(tmp_path / "remote.git", "branch", "--format=%(refname:short)").split() == ["master"]
    plain(brain, "branch", "-m", "master")
    assert run_sync(brain).state == "refused"
    assert run_sync(brain, consent=Consent(adopt_remote=True)).state == "published"
    plain(tmp_path, "clone", "-q", "remote.git", "joined")
    assert (tmp_path / "joined/memory/2026-07/ours.md").exists()


def test_an_empty_clone_of_a_remote_whose_branch_has_another_name_gets_what_it_has(tmp_path: Path) -> None:
    plain(tmp_path, "init", "-q", "--bare", "-b", "trunk", "remote.git")
    plain(tmp_path, "init", "-q", "-b", "main", "late")
    plain(tmp_path / "late", "remote", "add", "origin", str(tmp_path / "remote.git"))
    brain = first_brain(tmp_path / "brain")
    plain(brain, "push", "-q", str(tmp_path / "remote.git"), "main:trunk")
    assert run_sync(tmp_path / "late").state == "published"
    assert branch(tmp_path / "late") == "trunk"
    assert (tmp_path / "late/memory/2026-07/first.md").exists()


def test_requests_alone_do_not_make_a_remote_taken(tmp_path: Path) -> None:
    brain = first_brain(tmp_path / "brain")
    plain(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    plain(brain, "push", "-q", str(tmp_path / "remote.git"), "main:brain/bob")
    plain(brain, "remote", "add", "origin", str(tmp_path / "remote.git"))
    assert run_sync(brain).state == "published"
    assert plain(tmp_path / "remote.git", "rev-parse", "main").strip() == head(brain)


def test_of_two_remotes_origin_is_used_and_without_one_a_person_is_asked(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    plain(tmp_path, "init", "-q", "--bare", "-b", "main", "backup.git")
    plain(clone, "remote", "add", "backup", str(tmp_path / "backup.git"))
    remember(clone, "a", "text: a\n")
    assert run_sync(clone).state == "published"
    assert plain(tmp_path / "backup.git", "branch", "--list") == ""
    plain(clone, "remote", "rename", "origin", "team")
    remember(clone, "b", "text: b\n")
    outcome = run_sync(clone)
    assert outcome.state in ("committed", "unchanged")
    assert any(f"{git_at(clone)} remote rename" in warning for warning in outcome.warnings)
    assert plain(remote, "rev-parse", "main").strip() != head(clone)


def test_a_clone_without_upstream_settings_syncs_all_the_same(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    plain(clone, "branch", "--unset-upstream")
    plain(clone, "symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    remember(clone, "a", "text: a\n")
    assert run_sync(clone).state == "published"
    assert plain(remote, "rev-parse", "main").strip() == head(clone)
