"""What a dead git or an absent person leaves behind is brought to its end, and no commit and no edit is lost."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Damaged, Refused
from commonwealth.repo.git import Git
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.recovery import finish_stranded
from commonwealth.repo.sync import Consent

from .brains import assert_equal, dies, head, plain, put, settle, start, status, team, tree
from .linenotes import CONTENT, remember, run_sync

FIRST = "memory/2026-07/first.md"
OURS, THEIRS = "memory/2026-07/ours.md", "memory/2026-07/theirs.md"


def age(folder: Path, seconds: int = 3600) -> None:
    """Everything that git and people touched in this clone was touched long ago."""
    then = time.time() - seconds
    for place in [*folder.rglob("*"), *(folder / ".git").glob("*")]:
        if place.is_file() and not place.is_symlink() and "objects" not in place.parts:
            os.utime(place, (then, then))
    for place in (folder / ".git").rglob("*"):
        if place.is_dir() and "objects" not in place.parts:
            os.utime(place, (then, then))


def by_hand(folder: Path, message: str, files: dict[str, str | None]) -> str:
    """A commit that a person makes with git."""
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
        else:
            put(folder, path, text)
    plain(folder, "add", "-A")
    plain(folder, "commit", "-qm", message)
    return head(folder)


def everything(folder: Path) -> set[str]:
    """All commits that refs and HEAD reach."""
    return set(plain(folder, "rev-list", "--all", "HEAD").split())


def parted(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """Two clones: the other one's commit is published, ours has two commits; one note was changed by both."""
    _, (here, there) = team(tmp_path, 2)
    settle([here, there], 1)
    theirs = by_hand(there, "theirs", {FIRST: "tags: theirs\ntitle: first\n", THEIRS: "title: theirs\n"})
    plain(there, "push", "-q", "origin", "main")
    ours = by_hand(here, "ours", {OURS: "title: ours\n"})
    edit = by_hand(here, "edit", {FIRST: "tags: a\ntitle: ours\n"})
    return here, there, [ours, edit, theirs]


def converge(here: Path, there: Path, commits: list[str]) -> dict[str, bytes]:
    """Both clones sync, end alike and hold all commits; the files."""
    settle([here, there], 1)
    files = assert_equal([here, there])
    assert set(commits) <= everything(here)
    assert plain(here, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert plain(here, "ls-files", "-u") == ""
    left = {"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer", "BISECT_LOG"}
    assert left.isdisjoint(os.listdir(here / ".git"))
    assert not (here / ".git/commonwealth/journal").exists()
    return files


UNITED = b"tags: theirs\ntitle: ours\n"


def stuck_merge(here: Path) -> None:
    plain(here, "pull", "-q", "--no-rebase", check=False)
    assert (here / ".git/MERGE_HEAD").exists()
    assert "<<<<<<<" in (here / FIRST).read_text(encoding="utf-8")


def stuck_rebase(here: Path) -> None:
    plain(here, "pull", "-q", "--rebase", check=False)
    assert (here / ".git/rebase-merge").exists()


def stuck_apply(here: Path) -> None:
    plain(here, "fetch", "-q")
    plain(here, "rebase", "-q", "--apply", "origin/main", check=False)
    assert (here / ".git/rebase-apply").exists()


def stuck_pick(here: Path) -> None:
    plain(here, "fetch", "-q")
    plain(here, "cherry-pick", "origin/main", check=False)
    assert (here / ".git/CHERRY_PICK_HEAD").exists()


def stuck_revert(here: Path) -> None:
    by_hand(here, "again", {FIRST: "tags: a\ntitle: ours!\n"})
    plain(here, "revert", "--no-edit", "HEAD~1", check=False)
    assert (here / ".git/REVERT_HEAD").exists()


def stuck_mailbox(here: Path) -> None:
    plain(here, "fetch", "-q")
    patch = plain(here, "format-patch", "--stdout", "-1", "origin/main")
    (here / ".git/patch").write_text(patch, encoding="utf-8")
    plain(here, "am", "-q", "-3", ".git/patch", check=False)
    assert (here / ".git/rebase-apply/applying").exists()


def stuck_bisect(here: Path) -> None:
    plain(here, "bisect", "start", "HEAD", "HEAD~2")
    assert (here / ".git/BISECT_LOG").exists()
    assert plain(here, "symbolic-ref", "-q", "HEAD", check=False) == ""


STUCK = (stuck_merge, stuck_rebase, stuck_apply, stuck_pick, stuck_mailbox, stuck_bisect)


@pytest.mark.parametrize("stuck", STUCK)
def test_an_operation_that_was_left_is_ended_and_both_sides_are_there(
    tmp_path: Path, stuck: Callable[[Path], None]
) -> None:
    here, there, commits = parted(tmp_path)
    stuck(here)
    put(here, "memory/2026-07/mine.md", "title: an edit of mine\n")
    age(here)
    outcome = run_sync(here)
    assert any("no git process was at work" in warning for warning in outcome.warnings), outcome
    files = converge(here, there, commits)
    assert files[FIRST] == UNITED
    assert {OURS, THEIRS, "memory/2026-07/mine.md"} <= files.keys()
    assert len([path for path in files if path.startswith("memory/2026-07/first")]) == 1


@pytest.mark.parametrize("stuck", [stuck_merge, stuck_rebase, stuck_bisect])
def test_what_a_person_is_in_the_middle_of_stays_as_it_is(tmp_path: Path, stuck: Callable[[Path], None]) -> None:
    here, _, _ = parted(tmp_path)
    stuck(here)
    before = (head(here), (here / ".git/index").read_bytes(), (here / FIRST).read_bytes())
    with pytest.raises(Refused, match=r"under way|HEAD") as caught:
        run_sync(here)
    assert caught.value.hint
    assert (head(here), (here / ".git/index").read_bytes(), (here / FIRST).read_bytes()) == before


@pytest.mark.parametrize("stuck", STUCK)
def test_a_sync_that_a_person_asks_for_ends_it_at_once(tmp_path: Path, stuck: Callable[[Path], None]) -> None:
    here, there, commits = parted(tmp_path)
    stuck(here)
    assert run_sync(here, consent=Consent(asked=True)).state == "published"
    assert converge(here, there, commits)[FIRST] == UNITED


def test_a_sync_leaves_alone_what_somebody_has_begun_to_resolve(tmp_path: Path) -> None:
    here, _, _ = parted(tmp_path)
    stuck_merge(here)
    text = (here / FIRST).read_text(encoding="utf-8") + "half: done\n"
    put(here, FIRST, text)
    later = time.time() + 60
    os.utime(here / FIRST, (later, later))
    with pytest.raises(Refused, match="merge by hand is under way"):
        run_sync(here, consent=Consent(asked=True))
    assert (here / FIRST).read_text(encoding="utf-8") == text


def test_a_revert_that_was_left_is_undone_and_its_work_kept(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_revert(here)
    age(here)
    files = converge(here, there, commits)
    assert files[FIRST] == b"tags: theirs\ntitle: ours!\n"


def test_an_operation_is_ended_by_the_next_write_too(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_rebase(here)
    age(here)
    remember(here, "later", "title: later\n")
    assert plain(here, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert "memory/2026-07/later.md" in converge(here, there, commits)


def test_a_person_can_ask_for_the_end_at_once(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_rebase(here)
    (here / ".git/index.lock").touch()
    git = Git(here)
    with WriterLock(git.git_dir):
        said = finish_stranded(git, CONTENT, patience=0)
    assert any("rebase was left unfinished" in text for text in said)
    converge(here, there, commits)


def test_a_decision_that_the_person_made_in_the_file_stays(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_merge(here)
    put(here, FIRST, "tags: decided\ntitle: by hand\n")
    age(here)
    files = converge(here, there, commits)
    assert files[FIRST] == b"tags: decided\ntitle: by hand\n"


def test_a_decision_that_was_staged_stays_too(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_merge(here)
    put(here, FIRST, "tags: decided\ntitle: by hand\n")
    plain(here, "add", FIRST)
    age(here)
    assert converge(here, there, commits)[FIRST] == b"tags: decided\ntitle: by hand\n"


def test_half_a_decision_with_markers_left_is_kept_aside(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_merge(here)
    half = (here / FIRST).read_text(encoding="utf-8") + "note: half a thought\n"
    put(here, FIRST, half)
    age(here)
    assert converge(here, there, commits)[FIRST] == UNITED
    kept = plain(here, "for-each-ref", "--format=%(objectname)", "refs/commonwealth/kept").split()
    assert half in [plain(here, "cat-file", "-p", name) for name in kept]


def test_a_true_conflict_of_a_merge_left_behind_keeps_both(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    commits.append(by_hand(here, "tags", {FIRST: "tags: ours\ntitle: ours\n"}))
    stuck_merge(here)
    age(here)
    files = converge(here, there, commits)
    texts = b"".join(data for path, data in files.items() if path.startswith("memory/2026-07/first"))
    assert b"tags: theirs" in texts
    assert b"tags: ours" in texts
    assert b"<<<<" not in texts


@pytest.mark.parametrize("what", ["merge", "rebase"])
def test_edits_that_git_put_aside_before_it_began_come_back(tmp_path: Path, what: str) -> None:
    here, there, commits = parted(tmp_path)
    put(here, "memory/2026-07/old.md", "a: 1\nb: 2\n")
    commits.append(by_hand(here, "old", {}))
    put(here, "memory/2026-07/old.md", "a: 1\nb: edited\n")
    how = ["--rebase"] if what == "rebase" else ["--no-rebase"]
    plain(here, "pull", "-q", "--autostash", *how, check=False)
    assert "edited" not in plain(here, "grep", "-h", "", "--", "memory", check=False)
    age(here)
    assert converge(here, there, commits)["memory/2026-07/old.md"] == b"a: 1\nb: edited\n"


def test_a_commit_made_while_head_was_detached_comes_in(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "checkout", "-q", "HEAD~1")
    commits.append(by_hand(here, "lost?", {"memory/2026-07/lost.md": "title: not lost\n"}))
    put(here, FIRST, "more: edit\ntags: a\ntitle: first\n")
    age(here)
    files = converge(here, there, commits)
    assert files["memory/2026-07/lost.md"] == b"title: not lost\n"
    assert files[FIRST] == b"more: edit\ntags: theirs\ntitle: ours\n"


def test_a_head_left_at_an_old_commit_comes_back_with_its_files(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "checkout", "-q", "HEAD~2")
    with pytest.raises(Refused, match="detached"):
        remember(here, "young", "title: young\n")
    age(here)
    remember(here, "later", "title: later\n")
    assert status(here) == ""
    assert (here / OURS).exists()
    assert head(here) != commits[1]
    converge(here, there, commits)


def test_another_branch_that_holds_nothing_of_its_own_is_left(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "switch", "-qc", "look", "HEAD~1")
    with pytest.raises(Refused, match="on the branch look"):
        run_sync(here)
    age(here)
    assert any("another branch" in warning for warning in run_sync(here).warnings)
    assert plain(here, "rev-parse", "look").strip() == commits[0]
    converge(here, there, commits)


@pytest.mark.parametrize("own", ["commit", "edit"])
def test_another_branch_with_work_on_it_is_never_left(tmp_path: Path, own: str) -> None:
    here, _, _ = parted(tmp_path)
    plain(here, "switch", "-qc", "work")
    put(here, FIRST, "title: on work\n")
    if own == "commit":
        plain(here, "commit", "-qam", "own")
    age(here)
    before = head(here), (here / FIRST).read_bytes()
    with pytest.raises(Refused, match="on the branch work") as caught:
        run_sync(here)
    assert f"git -C {here} switch main" in (caught.value.hint or "")
    assert (head(here), (here / FIRST).read_bytes()) == before


def test_a_rebase_of_another_branch_is_nobodys_business(tmp_path: Path) -> None:
    here, _, _ = parted(tmp_path)
    plain(here, "fetch", "-q")
    plain(here, "switch", "-qc", "work")
    plain(here, "rebase", "-q", "origin/main", check=False)
    age(here)
    with pytest.raises(Refused, match="rebase is under way"):
        run_sync(here)
    assert (here / ".git/rebase-merge").exists()


def test_a_git_that_is_at_work_is_never_disturbed(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    stuck_merge(here)
    put(here, FIRST, UNITED.decode())
    plain(here, "add", "-A")
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch {tmp_path}/open\nread line < {tmp_path}/close\n", encoding="utf-8")
    editor.chmod(0o755)
    os.mkfifo(tmp_path / "close")
    env = {**os.environ, "GIT_EDITOR": str(editor)}
    person = subprocess.Popen(["git", "-C", str(here), "commit", "-q"], env=env)
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "open").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        age(here)
        with pytest.raises(Refused, match="merge by hand is under way"):
            run_sync(here)
        (tmp_path / "close").write_text("\n", encoding="utf-8")
        assert person.wait(30) == 0
    finally:
        person.kill()
        person.wait()
    converge(here, there, [*commits, head(here)])


@pytest.mark.parametrize(
    ("stuck", "point"),
    [
        *((stuck_merge, point) for point in ("stranded-half", "stranded-kept", "stranded-moved", "stranded-done")),
        *((stuck_rebase, f"move-{point}") for point in ("journal", "half", "index", "done")),
    ],
)
def test_recovery_that_is_killed_goes_on_at_the_next_start(
    tmp_path: Path, stuck: Callable[[Path], None], point: str
) -> None:
    here, there, commits = parted(tmp_path)
    stuck(here)
    put(here, "memory/2026-07/mine.md", "title: an edit of mine\n")
    age(here)
    dies(start("sync", str(here), fault=f"{point}=kill"))
    age(here)
    files = converge(here, there, commits)
    assert files[FIRST] == UNITED
    assert {OURS, THEIRS, "memory/2026-07/mine.md"} <= files.keys()


def kill_when(here: Path, words: list[str], moment: str | float) -> None:
    """Run git by hand and kill it, with its helpers, once a file below `.git` is there or some seconds are over."""
    process = subprocess.Popen(
        ["git", "-C", str(here), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + (20 if isinstance(moment, str) else moment)
    while process.poll() is None and time.monotonic() < deadline:
        if isinstance(moment, str) and (here / ".git" / moment).exists():
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


MOMENTS = {
    "pull -q --rebase --autostash": ("rebase-merge/autostash", "rebase-merge/done", "REBASE_HEAD", 0.02),
    "merge -q origin/main": ("index.lock", "AUTO_MERGE", 0.003),
    "checkout -q HEAD~9": ("index.lock", "HEAD.lock", 0.003),
}
"""Commands, and when to kill them: once a file of git's appears, or after so many seconds."""


@pytest.mark.parametrize("words", MOMENTS)
def test_git_killed_in_the_middle_costs_nothing(tmp_path: Path, words: str) -> None:
    here, there, commits = parted(tmp_path)
    for number in range(12):
        by_hand(here, f"more {number}", {f"memory/2026-07/more{number}.md": f"title: more {number}\n"})
    commits += plain(here, "rev-list", "main").split()
    plain(here, "fetch", "-q")
    plain(here, "config", "rebase.backend", "merge")
    tip = head(here)
    for place in MOMENTS[words]:
        put(here, "memory/2026-07/more0.md", "title: more 0\nedit: mine\n")
        (here / ".git/FETCH_HEAD").unlink(missing_ok=True)
        (here / ".git/ORIG_HEAD").unlink(missing_ok=True)
        kill_when(here, words.split(), place)
        age(here)
        outcome = run_sync(here, push=False)
        assert outcome.trouble is None, (place, outcome)
        assert status(here) == "", place
        assert {tip, *commits} <= everything(here), place
        names = set(tree(here))
        missing = {f"memory/2026-07/more{number}.md" for number in range(12)} - names
        assert not missing, (place, missing)
        assert b"edit: mine" in tree(here)["memory/2026-07/more0.md"], place
        plain(here, "reset", "-q", "--hard", tip)  # the next round begins where this one did
    files = converge(here, there, commits)
    assert files[FIRST] == UNITED


def half_checkout(here: Path) -> None:
    """What a killed `git checkout` of an old commit leaves: some files as they were, one not yet there again."""
    put(here, FIRST, plain(here, "show", f"HEAD~2:{FIRST}"))
    (here / OURS).unlink()
    (here / ".git/index.lock").touch()


def test_half_a_checkout_of_an_old_commit_takes_back_no_fact(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    half_checkout(here)
    put(here, "memory/2026-07/mine.md", "title: mine\n")
    age(here)
    outcome = run_sync(here)
    assert any("laid out halfway" in warning for warning in outcome.warnings)
    files = converge(here, there, commits)
    assert files[FIRST] == UNITED
    assert {OURS, "memory/2026-07/mine.md"} <= files.keys()


def test_an_edit_beside_the_lock_of_a_dead_git_stays_an_edit(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    half_checkout(here)
    put(here, FIRST, "tags: a\ntitle: never seen before\n")
    age(here)
    assert converge(here, there, commits)[FIRST] == b"tags: theirs\ntitle: never seen before\n"


@pytest.mark.parametrize("damage", ["gone", "empty", "garbled"])
def test_an_index_that_is_damaged_is_made_anew_and_no_file_touched(tmp_path: Path, damage: str) -> None:
    here, there, commits = parted(tmp_path)
    put(here, FIRST, "tags: a\ntitle: edited\n")
    index = here / ".git/index"
    data = index.read_bytes()
    broken = {"empty": b"", "garbled": data[:40] + bytes([data[40] ^ 255]) + data[41:]}
    if damage == "gone":
        index.unlink()
    else:
        index.write_bytes(broken[damage])
    remember(here, "later", "title: later\n")
    assert status(here) == f" M {FIRST}\n"
    files = converge(here, there, commits)
    assert files[FIRST] == b"tags: theirs\ntitle: edited\n"


def test_locks_that_a_killed_fetch_left_are_cleared(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    for name in ("packed-refs.lock", "refs/remotes/origin/main.lock", "objects/maintenance.lock"):
        (here / ".git" / name).touch()
    git = Git(here)
    with WriterLock(git.git_dir):
        assert finish_stranded(git, CONTENT, patience=600) == ()
    assert (here / ".git/packed-refs.lock").exists()
    with WriterLock(git.git_dir):
        finish_stranded(git, CONTENT, patience=0)
    left = [place for place in (here / ".git").rglob("*.lock") if "commonwealth" not in place.parts]
    assert left == []
    converge(here, there, commits)


def ask(folder: Path) -> tuple[str, ...]:
    """`brain doctor --fix` of a person who waits."""
    git = Git(folder)
    with WriterLock(git.git_dir):
        return finish_stranded(git, CONTENT, patience=0)


def kept(folder: Path) -> list[str]:
    names = plain(folder, "for-each-ref", "--format=%(objectname)", "refs/commonwealth/kept").split()
    return [plain(folder, "cat-file", "-p", name) for name in names]


def refused_everywhere(folder: Path, match: str) -> list[str]:
    """Neither a write, nor a sync, nor the doctor gets through; the hints."""
    tries: list[Callable[[], object]] = [
        lambda: remember(folder, "new", "title: new\n"),
        lambda: run_sync(folder),
        lambda: run_sync(folder, consent=Consent(asked=True)),
        lambda: ask(folder),
    ]
    hints = []
    for attempt in tries:
        with pytest.raises(Refused, match=match) as caught:
            attempt()
        hints.append(caught.value.hint or "")
    return hints


@pytest.mark.parametrize("way", ["--detach SIDE", "--detach SIDE HEAD~2", "-b look SIDE", "-f SIDE main", "rebase"])
def test_a_branch_that_another_worktree_is_on_is_not_moved_away_from_under_it(tmp_path: Path, way: str) -> None:
    here, there, commits = parted(tmp_path)
    side = tmp_path / "side"
    if way == "rebase":
        stuck_rebase(here)
        plain(here, "worktree", "add", "-q", "--detach", str(side), "main")
    else:
        plain(here, "worktree", "add", "-q", *(str(side) if word == "SIDE" else word for word in way.split()))
    before = head(here), status(here), (side / ".git").read_text(encoding="utf-8"), head(side)
    hints = refused_everywhere(side, f"checked out in {here}")
    assert all(f"--brain {here}" in hint for hint in hints)
    assert (head(here), status(here), (side / ".git").read_text(encoding="utf-8"), head(side)) == before
    if way.startswith(("--detach", "-b")):
        remember(here, "later", "title: later\n")
        assert status(here) == ""
        assert "memory/2026-07/later.md" in converge(here, there, commits)


@pytest.mark.parametrize("away", ["detached", "deleted", "bare"])
def test_a_worktree_that_alone_is_on_the_branch_is_a_brain_like_any_other(tmp_path: Path, away: str) -> None:
    remote, (here,) = team(tmp_path, 1)
    side = tmp_path / "side"
    if away == "bare":
        plain(remote, "worktree", "add", "-q", str(side), "main")
    elif away == "detached":
        plain(here, "switch", "-q", "--detach")
        plain(here, "worktree", "add", "-q", str(side), "main")
    else:
        plain(here, "switch", "-q", "-c", "look")
        plain(here, "worktree", "add", "-q", str(tmp_path / "old"), "main")
        shutil.rmtree(tmp_path / "old")
        plain(here, "worktree", "add", "-q", "-f", str(side), "main")
    remember(side, "new", "title: new\n")
    assert status(side) == ""
    assert plain(side, "log", "-1", "--format=%s", "main").strip() == "Remember new"
    if away == "detached":
        with pytest.raises(Refused, match=f"checked out in {side}"):
            remember(here, "other", "title: other\n")


@pytest.mark.parametrize("how", ["asked", "idle", "doctor"])
def test_words_that_were_staged_on_an_old_commit_stay_as_an_edit(tmp_path: Path, how: str) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "checkout", "-q", "HEAD~2")
    put(here, FIRST, "more: staged words\ntags: a\ntitle: first\n")
    put(here, "memory/2026-07/mine.md", "title: mine\n")
    plain(here, "add", "-A")
    if how == "idle":
        age(here)
        run_sync(here)
    elif how == "asked":
        run_sync(here, consent=Consent(asked=True))
    else:
        ask(here)
        assert (here / FIRST).read_text(encoding="utf-8") == "more: staged words\ntags: a\ntitle: ours\n"
    files = converge(here, there, commits)
    assert files[FIRST] == b"more: staged words\ntags: theirs\ntitle: ours\n"
    assert files["memory/2026-07/mine.md"] == b"title: mine\n"


def test_words_that_were_staged_within_a_merge_stay(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "fetch", "-q")
    plain(here, "merge", "-q", "--no-commit", "-s", "ort", "-X", "ours", "origin/main")
    put(here, THEIRS, "title: theirs\nmore: staged words\n")
    plain(here, "add", "-A")
    ask(here)
    assert b"staged words" in converge(here, there, commits)[THEIRS]


@pytest.mark.parametrize("after", ["gone", "other"])
def test_staged_words_that_are_in_no_file_any_more_are_kept_and_named(tmp_path: Path, after: str) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "checkout", "-q", "HEAD~2")
    put(here, FIRST, "title: staged words\n")
    plain(here, "add", "-A")
    if after == "gone":
        (here / FIRST).unlink()
    else:
        put(here, FIRST, "tags: a\ntitle: first\n")
    said = ask(here)
    assert any(text.startswith(f"{FIRST}: what was there and in no commit is kept") for text in said), said
    assert "title: staged words\n" in kept(here)
    assert any(text == f"{FIRST} was missing and is back." for text in said) == (after == "gone")
    converge(here, there, commits)


def by_steps(here: Path, editor: str, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(here), "rebase", "-q", "-i", *words],
        env={**os.environ, "GIT_SEQUENCE_EDITOR": editor},
        capture_output=True,
        check=False,
    )
    assert (here / ".git/rebase-merge").exists()


@pytest.mark.parametrize("steps", ["1d", "s/^pick/edit/", "1s/^pick/drop/", "1a break"])
def test_a_rebase_whose_steps_a_person_chose_is_never_ended_for_them(tmp_path: Path, steps: str) -> None:
    here, there, _ = parted(tmp_path)
    plain(here, "fetch", "-q")
    by_steps(here, f"sed -i '{steps}'", "origin/main")
    if plain(here, "ls-files", "-u") == "":
        put(here, "memory/2026-07/amended.md", "title: amended\n")
        plain(here, "add", "-A")
    age(here)
    before = head(here), plain(here, "ls-files", "-s"), plain(here, "rev-parse", "main")
    hints = refused_everywhere(here, "rebase is under way")
    assert all("--continue" in hint and "--abort" in hint and "brain sync" not in hint for hint in hints)
    assert (head(here), plain(here, "ls-files", "-s"), plain(here, "rev-parse", "main")) == before
    plain(here, "rebase", "--abort")
    assert run_sync(here).state == "published"
    settle([there, here])


def test_a_rebase_by_steps_that_were_left_as_git_wrote_them_is_one_like_any_other(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    plain(here, "fetch", "-q")
    by_steps(here, ":", "origin/main")
    age(here)
    assert converge(here, there, commits)[FIRST] == UNITED


def test_every_file_that_is_put_back_beside_the_lock_of_a_dead_git_is_named(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    half_checkout(here)
    old = (here / FIRST).read_text(encoding="utf-8")
    put(here, "memory/2026-07/mine.md", "title: staged\n")
    (here / ".git/index.lock").unlink()
    plain(here, "add", "memory/2026-07/mine.md")
    (here / "memory/2026-07/mine.md").unlink()
    (here / ".git/index.lock").touch()
    age(here)
    said = run_sync(here).warnings
    assert f"{OURS} was missing and is back." in said
    (told,) = [text for text in said if text.startswith(f"{FIRST} held another committed version")]
    name = re.findall(r"cat-file -p (\w+)`", told)[0]
    assert plain(here, "cat-file", "-p", name) == old
    assert "title: staged\n" in kept(here)
    converge(here, there, commits)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as on POSIX")
def test_a_pipe_in_the_place_of_a_file_of_ours_stops_nobody(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    remember(here, "one", "title: one\n")
    folder = here / ".git/commonwealth"
    for name in ("branch", "journal", "put-back", "bases", "marked", "unmarked"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    remember(here, "two", "title: two\n")
    converge(here, there, commits)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as on POSIX")
def test_a_pipe_in_the_place_of_git_files_is_no_endless_wait(tmp_path: Path) -> None:
    here, there, commits = parted(tmp_path)
    (here / ".git/index").unlink()
    os.mkfifo(here / ".git/index")
    remember(here, "one", "title: one\n")
    converge(here, there, commits)
    (here / ".git/HEAD").unlink()
    os.mkfifo(here / ".git/HEAD")
    with pytest.raises(Damaged):
        remember(here, "two", "title: two\n")
