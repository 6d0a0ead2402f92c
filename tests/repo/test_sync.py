"""Clones over one remote: whatever is written, interrupted or lost on the way, they end with the same bytes."""

from __future__ import annotations

import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from commonwealth.errors import Busy, Offline, Refused
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.repo.move import move
from commonwealth.repo.outcome import read_debt
from commonwealth.repo.sync import Consent

from .brains import assert_equal, first_brain, head, plain, put, settle, start, status, team, tree
from .linenotes import CONTENT, remember, run_sync

FIRST = "memory/2026-07/first.md"


def test_a_note_written_here_is_there_after_two_syncs(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    here, there = clones
    remember(here, "a", "text: a\n")
    sent = run_sync(here)
    assert (sent.state, sent.pushed, sent.pulled, sent.trouble) == ("published", 1, 0, None)
    got = run_sync(there)
    assert (got.state, got.pulled, got.pushed) == ("published", 1, 0)
    assert "memory/2026-07/a.md" in got.changed
    files = assert_equal(clones)
    assert files["memory/2026-07/INDEX.md"] == b"- a.md\n- first.md\n"


def test_a_sync_with_nothing_to_do_changes_nothing(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    before = head(clone)
    outcome = run_sync(clone)
    assert (outcome.state, outcome.changed, outcome.warnings) == ("unchanged", (), ())
    assert head(clone) == before


def test_a_sync_with_nothing_to_do_starts_few_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    calls: list[str] = []
    popen = subprocess.Popen

    def counted(command: list[str], **more: Any) -> Any:
        calls.append(command[command.index("-C") + 2])
        return popen(command, **more)

    monkeypatch.setattr("commonwealth.repo.git.subprocess.Popen", counted)
    run_sync(clone)
    assert sorted(calls) == ["fetch", "remote", "status"]


def test_both_sides_wrote_and_the_merge_has_the_fetched_tip_first(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    here, there = clones
    remember(here, "a", "text: a\n")
    ours = remember(there, "b", "text: b\n")
    run_sync(here)
    theirs = head(here)
    outcome = run_sync(there)
    assert (outcome.state, outcome.pulled, outcome.pushed) == ("published", 1, 1)
    assert plain(there, "rev-parse", "HEAD^1", "HEAD^2").split() == [theirs, ours]
    settle(clones)
    files = assert_equal(clones)
    assert files["memory/2026-07/INDEX.md"] == b"- a.md\n- b.md\n- first.md\n"


def test_edits_of_one_note_meet_and_a_conflict_is_the_same_file_everywhere(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 3)
    put(clones[0], FIRST, "tags: a\ntitle: one\n")
    put(clones[1], FIRST, "tags: b\ntitle: first\n")
    put(clones[2], FIRST, "tags: a\ntitle: two\n")
    found = [path for clone in clones for path in run_sync(clone).conflicts]
    settle(clones)
    files = assert_equal(clones)
    assert files[FIRST] == b"tags: b\ntitle: two\n"
    assert files[found[0]] == f"conflict_of: {FIRST}\ntitle: one\n".encode()


def test_edits_by_hand_are_committed_and_published(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    put(clones[0], FIRST, "title: by hand\n")
    put(clones[0], "memory/.env", "TOKEN=1\n")
    outcome = run_sync(clones[0], "Bob")
    assert outcome.state == "published"
    assert any(".env" in warning for warning in outcome.warnings)
    run_sync(clones[1])
    assert (clones[1] / FIRST).read_text(encoding="utf-8") == "title: by hand\n"
    assert "memory/.env" not in tree(clones[1])
    assert "Bob" in plain(clones[1], "log", "--format=%an", "--", FIRST)


def test_unpublished_merges_and_refreshes_are_made_anew_and_note_commits_stay(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    here, there = clones
    note = remember(here, "a", "text: a\n")
    run_sync(here, push=False)
    remember(there, "b", "text: b\n")
    run_sync(there)
    run_sync(here, push=False)
    remember(there, "c", "text: c\n")
    run_sync(there)
    assert run_sync(here).state == "published"
    assert plain(here, "rev-list", "--merges", "--count", "HEAD").strip() == "1"
    assert plain(here, "rev-parse", "HEAD^2").strip() == note
    settle(clones)
    assert_equal(clones)


def test_every_clone_makes_the_same_derived_commit(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 2)
    put(clones[0], "memory/2026-09/raw.md", "title: raw\n")
    plain(clones[0], "add", "-A")
    plain(clones[0], "commit", "-qm", "raw")
    plain(clones[0], "push", "-q", "origin", "main")
    for clone in clones:
        run_sync(clone, push=False)
    assert head(clones[0]) == head(clones[1])
    assert plain(clones[0], "show", "-s", "--format=%an|%cn").strip() == "Commonwealth|Commonwealth"
    settle(clones)
    assert assert_equal(clones)["memory/2026-09/INDEX.md"] == b"- raw.md\n"
    assert plain(remote, "rev-parse", "main").strip() == head(clones[0])


def test_without_a_remote_work_is_committed(tmp_path: Path) -> None:
    brain = first_brain(tmp_path / "brain")
    put(brain, "memory/2026-07/a.md", "text: a\n")
    assert run_sync(brain).state == "committed"
    assert run_sync(brain).state == "unchanged"
    assert status(brain) == ""


def test_the_first_push_to_an_empty_remote_makes_the_branch(tmp_path: Path) -> None:
    brain = first_brain(tmp_path / "brain")
    plain(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    plain(brain, "remote", "add", "origin", str(tmp_path / "empty.git"))
    outcome = run_sync(brain)
    assert (outcome.state, outcome.pushed) == ("published", 1)
    assert plain(tmp_path / "empty.git", "rev-parse", "main").strip() == head(brain)


def test_an_empty_clone_gets_what_the_remote_has(tmp_path: Path) -> None:
    plain(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    plain(tmp_path, "clone", "-q", "remote.git", "late")
    brain = first_brain(tmp_path / "brain")
    plain(brain, "remote", "add", "origin", str(tmp_path / "remote.git"))
    run_sync(brain)
    run_sync(tmp_path / "late")
    assert_equal([brain, tmp_path / "late"])


def test_without_the_remote_work_is_committed_and_the_debt_is_paid_later(tmp_path: Path) -> None:
    remote, (clone, other) = team(tmp_path, 2)
    run_sync(clone)
    remote.rename(tmp_path / "away")
    put(clone, "memory/2026-07/a.md", "text: a\n")
    outcome = run_sync(clone)
    assert outcome.state == "deferred"
    assert isinstance(outcome.trouble, Offline)
    assert status(clone) == ""
    debt = read_debt(Git(clone))
    assert debt is not None
    assert debt.since == "2026-07-01T12:00:00Z"
    (tmp_path / "away").rename(remote)
    assert run_sync(clone).state == "published"
    assert read_debt(Git(clone)) is None
    settle([clone, other])
    assert_equal([clone, other])


def rewrite(remote: Path, tmp_path: Path) -> str:
    """Replace the remote's branch by another root, as a purge does."""
    root = first_brain(tmp_path / "rewritten")
    plain(root, "commit", "-q", "--amend", "-m", "another root")
    plain(root, "push", "-qf", str(remote), "main")
    return head(root)


def test_a_rewritten_remote_gets_nothing_and_ours_is_kept(tmp_path: Path) -> None:
    remote, (clone, _) = team(tmp_path, 2)
    remember(clone, "a", "text: a\n")
    run_sync(clone)
    ours = remember(clone, "b", "text: b\n")
    new = rewrite(remote, tmp_path)
    for _ in range(2):
        outcome = run_sync(clone)
        assert outcome.state == "refused"
        assert isinstance(outcome.trouble, Refused)
        assert "--adopt-remote" in (outcome.trouble.hint or "")
    assert plain(remote, "rev-parse", "main").strip() == new
    assert (clone / "memory/2026-07/b.md").exists()
    refs = plain(clone, "for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue").split()
    assert any(not plain(clone, "merge-base", "--is-ancestor", ours, ref) for ref in refs)
    assert len(refs) <= 2


def test_a_remote_branch_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    plain(remote, "update-ref", "-d", "refs/heads/main")
    remember(clone, "a", "text: a\n")
    for consent in (None, Consent(adopt_remote=True)):
        outcome = run_sync(clone, consent=consent)
        assert outcome.state == "refused"
        assert outcome.trouble is not None
        assert f"{git_at(clone)} push origin main" in (outcome.trouble.hint or "")
    assert plain(remote, "branch", "--list", "main") == ""


def test_a_secret_in_an_unpublished_commit_stops_the_push(tmp_path: Path) -> None:
    remote, (clone, other) = team(tmp_path, 2)
    before = plain(remote, "rev-parse", "main")
    remember(other, "fine", "text: fine\n")
    put(clone, "memory/2026-07/leak.md", "text: SECRET\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "raw")
    (clone / "memory/2026-07/leak.md").unlink()
    outcome = run_sync(clone)
    assert outcome.state == "refused"
    assert outcome.trouble is not None
    assert outcome.trouble.message.startswith("secret: memory/2026-07/leak.md")
    assert "SECRET" not in str(outcome)
    assert plain(remote, "rev-parse", "main") == before


def test_a_secret_in_a_derived_file_stops_the_push_too(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    before = plain(remote, "rev-parse", "main")
    put(clone, "memory/2026-07/INDEX.md", "- first.md\n- SECRET\n")
    plain(clone, "commit", "-qam", "raw")
    assert run_sync(clone).state == "refused"
    assert plain(remote, "rev-parse", "main") == before


def test_a_hook_of_the_remote_that_declines_is_told_and_the_work_is_kept(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    hook = remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'no pushes on \033[31mFridays' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    remember(clone, "a", "text: a\n")
    outcome = run_sync(clone)
    assert outcome.state == "committed"
    assert outcome.trouble is not None
    assert "no pushes on" in outcome.trouble.message
    assert "\033" not in outcome.trouble.message
    hook.unlink()
    assert run_sync(clone).state == "published"


def test_a_remote_that_hangs_costs_no_more_than_the_deadline(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    slow = tmp_path / "slow.sh"
    slow.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    slow.chmod(0o755)
    plain(clone, "config", "remote.origin.uploadpack", shlex.quote(str(slow)))
    put(clone, "memory/2026-07/a.md", "text: a\n")
    began = time.monotonic()
    outcome = run_sync(clone, timeout=0.5)
    assert time.monotonic() - began < 30
    assert outcome.state == "deferred"
    assert status(clone) == ""


def test_a_merge_by_hand_under_way_is_named_and_left_alone(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    (clone / ".git/MERGE_HEAD").write_text(head(clone) + "\n", encoding="utf-8")
    put(clone, FIRST, "title: half\n")
    with pytest.raises(Refused, match="merge"):
        run_sync(clone)
    assert plain(clone, "log", "--format=%s").strip() == "first"


def test_two_syncs_of_one_clone_do_not_run_at_once(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    lock = FileLock(str(clone / ".git" / FOLDER / "sync.lock"), "sync")
    assert lock.try_acquire()
    with pytest.raises(Busy, match="Another sync of this brain is under way"):
        run_sync(clone, timeout=0.1)
    lock.release()
    run_sync(clone)


def test_a_held_edit_does_not_revert_what_came_in_since(tmp_path: Path) -> None:
    _, (here, there) = team(tmp_path, 2)
    put(here, FIRST, "tags: mine\ntitle: first\nhalf a line")
    put(there, FIRST, "tags: a\ntitle: theirs\n")
    run_sync(there)
    outcome = run_sync(here)
    assert any(FIRST in warning for warning in outcome.warnings)
    assert (here / FIRST).read_text(encoding="utf-8").endswith("half a line")
    put(here, FIRST, "tags: mine\ntitle: first\n")
    run_sync(here)
    assert (here / FIRST).read_text(encoding="utf-8") == "tags: mine\ntitle: theirs\n"
    settle([here, there])
    assert_equal([here, there])


def test_a_derived_file_edited_by_hand_disturbs_nobody(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    settle(clones)
    put(clones[0], "memory/2026-07/INDEX.md", "my own list\n")
    remember(clones[1], "a", "text: a\n")
    settle(clones)
    assert assert_equal(clones)["memory/2026-07/INDEX.md"] == b"- a.md\n- first.md\n"


def test_a_file_replaced_by_a_folder_and_back(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    put(clones[0], "memory/topic.md", "title: topic\n")
    settle(clones)
    (clones[0] / "memory/topic.md").unlink()
    put(clones[0], "memory/topic.md/part.md", "title: part\n")
    settle(clones)
    assert "memory/topic.md/part.md" in assert_equal(clones)


def test_a_brain_below_a_path_with_spaces_and_accents(tmp_path: Path) -> None:
    folder = tmp_path / "Mémoire d'équipe"
    folder.mkdir()
    _, clones = team(folder, 2)
    remember(clones[0], "note with é", "text: é\n")
    settle(clones)
    assert "memory/2026-07/note with é.md" in assert_equal(clones)


def test_writers_do_not_wait_for_a_slow_remote(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    slow = tmp_path / "slow.sh"
    slow.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(tmp_path))}/asked\nexec sleep 600\n", encoding="utf-8")
    slow.chmod(0o755)
    plain(clone, "config", "remote.origin.uploadpack", shlex.quote(str(slow)))
    syncing = start("sync", str(clone))
    while not (tmp_path / "asked").exists():
        assert syncing.poll() is None
    remember(clone, "a", "text: a\n")
    assert syncing.poll() is None
    assert status(clone) == ""
    syncing.kill()
    syncing.communicate()


def test_a_write_that_is_overtaken_between_files_and_branch_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person commits with git while a move is between its files and its branch."""
    _, clones = team(tmp_path, 2)
    here, there = clones
    settle(clones)
    remember(there, "theirs", "text: theirs\n")
    run_sync(there)
    plain(here, "fetch", "-q")
    new = plain(here, "rev-parse", "origin/main").strip()
    old = head(here)

    def meanwhile(name: str) -> None:
        if name == "move-index":
            tree_name = plain(here, "rev-parse", "HEAD^{tree}").strip()
            made = plain(here, "commit-tree", tree_name, "-p", old, "-m", "by hand").strip()
            plain(here, "update-ref", "refs/heads/main", made, old)

    monkeypatch.setattr("commonwealth.repo.move.fault", meanwhile)
    with pytest.raises(Busy):
        move(Git(here), "main", old, new, CONTENT)
    monkeypatch.undo()
    assert status(here) == ""
    settle(clones)
    assert "memory/2026-07/theirs.md" in assert_equal(clones)


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_file_that_arrives_in_the_place_of_a_folder_is_named_and_the_rest_goes_on(tmp_path: Path, what: str) -> None:
    _, (here, there) = team(tmp_path, 2)
    put(here, "decisions/2026-07/ours.md", "title: ours\n")
    run_sync(here)
    run_sync(there)
    plain(there, "rm", "-rq", "decisions")
    if what == "file":
        put(there, "decisions", "a file\n")
    else:
        (there / "decisions").symlink_to("memory")
    plain(there, "add", "-A")
    plain(there, "commit", "-qm", "raw")
    plain(there, "push", "-q", "origin", "main")
    remember(here, "a", "text: a\n")
    for _ in range(2):
        outcome = run_sync(here)
        assert outcome.state in ("published", "unchanged"), outcome
        assert [warning for warning in outcome.warnings if warning.startswith("decisions ")], outcome
    remember(here, "b", "text: b\n")
    assert run_sync(here).state == "published"
    plain(here, "rm", "-qf", "decisions")
    plain(here, "commit", "-qm", "mended")
    outcome = run_sync(here)
    assert (outcome.state, outcome.warnings) == ("published", ())


def test_a_password_in_the_remotes_url_is_refused_with_the_next_step(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    plain(clone, "remote", "set-url", "origin", "https://me:hunter2@git.invalid/brain.git")
    outcome = run_sync(clone)
    assert outcome.state == "refused"
    assert outcome.trouble is not None
    assert outcome.trouble.hint
    assert "set-url" in outcome.trouble.hint
    assert "hunter2" not in str(outcome)
