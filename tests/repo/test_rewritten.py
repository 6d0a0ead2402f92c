"""A remote whose history was rewritten: what was taken out never comes back, and what nobody had seen is not lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.repo.outcome import Outcome
from commonwealth.repo.sync import Consent

from .brains import assert_equal, dies, head, plain, put, settle, start, status, team, tree
from .linenotes import remember, run_sync

TOKEN = "zQ7xV2planted9Kt4mW"
LEAK = "memory/2026-07/leak.md"
FIRST = "memory/2026-07/first.md"
ADOPT = Consent(adopt_remote=True)


def everything(repository: Path) -> str:
    """All objects of a repository, whether or not a ref holds them."""
    return plain(repository, "cat-file", "--batch", "--batch-all-objects")


def adopt(clone: Path) -> Outcome:
    outcome = run_sync(clone, consent=ADOPT)
    assert outcome.state == "published", outcome
    return outcome


def leaky_team(tmp_path: Path, count: int = 2) -> tuple[Path, list[Path]]:
    """A team that has published a note with a secret that no scan knows, and two ordinary ones."""
    remote, clones = team(tmp_path, count)
    remember(clones[0], "leak", f"text: the key is {TOKEN}\ntitle: leak\n")
    remember(clones[0], "kept", "text: kept\ntitle: kept\n")
    settle(clones)
    return remote, clones


def purge(remote: Path, tmp_path: Path, change: Callable[[Path], None] | None = None) -> str:
    """Replace the remote by a history of one commit that has never held the leak; the new tip."""
    work = tmp_path / "purge"
    plain(tmp_path, "clone", "-q", str(remote), str(work))
    if change is None:
        (work / LEAK).unlink()
    else:
        change(work)
    plain(work, "checkout", "-q", "--orphan", "clean")
    plain(work, "add", "-A")
    plain(work, "commit", "-qm", "a new beginning")
    plain(work, "push", "-qf", "origin", "HEAD:main")
    plain(remote, "reflog", "expire", "--expire=now", "--all")
    plain(remote, "gc", "-q", "--prune=now")
    assert TOKEN not in everything(remote)
    return head(work)


def rescued(clone: Path) -> list[str]:
    return plain(clone, "for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue").split()


def test_notes_that_were_never_published_go_on_top_and_what_was_purged_stays_away(tmp_path: Path) -> None:
    remote, clones = leaky_team(tmp_path)
    here, there = clones
    ours = remember(here, "ours", "text: ours\n")
    put(here, "memory/2026-07/kept.md", "tags: mine\ntext: kept\ntitle: kept\n")
    remember(there, "theirs", "text: theirs\n")
    new = purge(remote, tmp_path)
    for _ in range(2):
        stopped = run_sync(here)
        assert stopped.state == "refused"
        assert isinstance(stopped.trouble, Refused)
        assert "--adopt-remote" in str(stopped.trouble.hint)
    assert (here / LEAK).exists()
    told = adopt(here)
    assert len(rescued(here)) == 1
    assert any(rescued(here)[0] in warning for warning in told.warnings)
    assert plain(here, "rev-list", "--count", f"{new}..HEAD").strip() in ("1", "2")  # and one of derived files
    assert plain(here, "merge-base", "--is-ancestor", ours, rescued(here)[-1]) == ""
    adopt(there)
    settle(clones)
    files = assert_equal(clones)
    assert files["memory/2026-07/ours.md"] == b"text: ours\n"
    assert files["memory/2026-07/theirs.md"] == b"text: theirs\n"
    assert files["memory/2026-07/kept.md"] == b"tags: mine\ntext: kept\ntitle: kept\n"
    assert LEAK not in files
    assert b"leak" not in files["memory/2026-07/INDEX.md"]
    assert TOKEN not in everything(remote)
    assert run_sync(here, consent=ADOPT).state == "unchanged"


@pytest.mark.parametrize("way", ["edit", "move", "copy", "quote", "rename", "by hand"])
def test_no_way_of_having_touched_a_purged_note_brings_it_back(tmp_path: Path, way: str) -> None:
    remote, clones = leaky_team(tmp_path)
    here, _ = clones
    text = (here / LEAK).read_text(encoding="utf-8")
    if way == "edit":
        put(here, LEAK, f"{text}xmore: words\n")
    elif way == "move":
        put(here, "memory/2026-08/leak.md", text)
        (here / LEAK).unlink()
    elif way == "copy":
        remember(here, "copied", text)
    elif way == "quote":
        remember(here, "quoted", f"text: never use {TOKEN} again\n")
    elif way == "rename":
        remember(here, "other-name", f"{text}xmore: words\n")
        (here / LEAK).unlink()
    else:
        put(here, LEAK, f"{text}half a line {TOKEN}\n")
    remember(here, "fine", "text: fine\n")
    purge(remote, tmp_path)
    outcome = run_sync(here, consent=ADOPT)
    if way == "by hand":
        assert outcome.state == "refused"
        assert LEAK in str(outcome.trouble)
        assert TOKEN in (here / LEAK).read_text(encoding="utf-8")
        (here / LEAK).rename(tmp_path / "mine.md")
        outcome = run_sync(here, consent=ADOPT)
    else:
        assert any("stays behind" in warning for warning in outcome.warnings), outcome
    assert outcome.state == "published"
    settle(clones[:1])
    adopt(clones[1])
    settle(clones)
    files = assert_equal(clones)
    assert files["memory/2026-07/fine.md"] == b"text: fine\n"
    assert not [path for path, data in files.items() if TOKEN.encode() in data]
    assert TOKEN not in everything(remote)
    assert TOKEN in everything(here)


def test_an_edit_of_a_note_that_was_blacked_out_unites_without_what_was_taken_out(tmp_path: Path) -> None:
    remote, clones = leaky_team(tmp_path)
    here, there = clones
    put(here, LEAK, f"tags: mine\ntext: the key is {TOKEN}\ntitle: leak\n")
    put(there, LEAK, f"text: the new key is {TOKEN} too\ntitle: leak\n")
    purge(remote, tmp_path, lambda work: put(work, LEAK, "text: the key is gone\ntitle: leak\n"))
    adopt(here)
    told = adopt(there)
    assert any(LEAK in warning and "stays behind" in warning for warning in told.warnings)
    settle(clones)
    files = assert_equal(clones)
    assert files[LEAK] == b"tags: mine\ntext: the key is gone\ntitle: leak\n"
    assert TOKEN not in everything(remote)
    assert f"the new key is {TOKEN}" in plain(there, "show", f"{rescued(there)[-1]}:{LEAK}")


def test_a_purged_note_that_is_saved_again_later_is_not_pushed(tmp_path: Path) -> None:
    remote, (here, _) = leaky_team(tmp_path)
    text = (here / LEAK).read_text(encoding="utf-8")
    purge(remote, tmp_path)
    adopt(here)
    put(here, LEAK, text)
    remember(here, "fine", "text: fine\n")
    outcome = run_sync(here)
    assert outcome.state == "refused"
    assert "leak.md" in str(outcome.trouble)
    assert TOKEN not in everything(remote)


def test_a_note_deleted_or_moved_here_and_unchanged_there_stays_so(tmp_path: Path) -> None:
    remote, clones = leaky_team(tmp_path)
    here, there = clones
    (here / FIRST).unlink()
    put(here, "memory/2026-09/kept.md", (here / "memory/2026-07/kept.md").read_text(encoding="utf-8"))
    (here / "memory/2026-07/kept.md").unlink()
    purge(remote, tmp_path)
    run_sync(here, consent=Consent(adopt_remote=True, accept_deletions=True))
    adopt(there)
    settle(clones)
    files = assert_equal(clones)
    assert FIRST not in files
    assert "memory/2026-07/kept.md" not in files
    assert files["memory/2026-09/kept.md"] == b"text: kept\ntitle: kept\n"


def test_a_history_that_was_cut_short_loses_what_was_published_and_keeps_what_was_not(tmp_path: Path) -> None:
    remote, clones = leaky_team(tmp_path)
    here, there = clones
    remember(here, "ours", "text: ours\n")
    first = plain(remote, "rev-list", "--max-parents=0", "main").strip()
    plain(remote, "update-ref", "refs/heads/main", first)
    assert run_sync(there).state == "refused"
    adopt(here)
    adopt(there)
    settle(clones)
    files = assert_equal(clones)
    assert "memory/2026-07/ours.md" in files
    assert LEAK not in files


def test_a_brain_of_its_own_goes_on_top_of_the_team_s(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 2)
    here, there = clones
    plain(here, "checkout", "-q", "--orphan", "other")
    plain(here, "commit", "-qm", "another root")
    plain(here, "branch", "-qM", "main")
    plain(here, "update-ref", "-d", "refs/remotes/origin/main")
    remember(here, "ours", "text: ours\n")
    assert run_sync(here).state == "refused"
    adopt(here)
    settle(clones)
    assert "memory/2026-07/ours.md" in assert_equal([here, there])


def test_a_person_who_has_taken_the_new_history_by_hand_is_not_stopped(tmp_path: Path) -> None:
    remote, (here, there) = leaky_team(tmp_path)
    purge(remote, tmp_path)
    assert run_sync(here).state == "refused"
    plain(here, "reset", "-q", "--hard", "origin/main")
    remember(here, "new", "text: new\n")
    assert run_sync(here).state == "published"
    adopt(there)
    settle([here, there])
    assert "memory/2026-07/new.md" in assert_equal([here, there])


@pytest.mark.parametrize("fetched", [False, True], ids=["", "and fetched by hand since"])
def test_what_was_pushed_by_hand_and_taken_out_there_does_not_come_back(tmp_path: Path, *, fetched: bool) -> None:
    """The clone has never synced since, so its own ref knows nothing of the push; and the remote still holds that."""
    remote, (here, _) = team(tmp_path, 2)
    before = head(here)
    remember(here, "leak", f"text: the key is {TOKEN}\ntitle: leak\n")
    plain(here, "push", "-q", "origin", "HEAD:main")
    remember(here, "ours", "text: ours\n")
    work = tmp_path / "purge"
    plain(tmp_path, "clone", "-q", str(remote), str(work))
    plain(work, "reset", "-q", "--hard", before)
    plain(work, "commit", "-q", "--allow-empty", "-m", "without it")
    plain(work, "push", "-qf", "origin", "HEAD:main")
    plain(remote, "reflog", "expire", "--expire=now", "--all")
    plain(remote, "gc", "-q", "--prune=now")
    assert TOKEN not in everything(remote)
    if fetched:
        plain(here, "fetch", "-q")
    for _ in range(2):
        stopped = run_sync(here)
        assert stopped.state == "refused"
        assert "--adopt-remote" in str(stopped.trouble.hint if stopped.trouble else "")
    adopt(here)
    assert TOKEN not in everything(remote)
    assert (here / "memory/2026-07/ours.md").exists()
    assert not (here / LEAK).exists()
    assert run_sync(here).state == "unchanged"


def test_a_push_by_hand_that_the_remote_still_has_stops_nothing(tmp_path: Path) -> None:
    _, (here, there) = team(tmp_path, 2)
    remember(here, "ours", "text: ours\n")
    plain(here, "push", "-q", "origin", "HEAD:main")
    remember(there, "theirs", "text: theirs\n")
    assert run_sync(there).state == "published"
    plain(here, "fetch", "-q")
    remember(here, "more", "text: more\n")
    assert run_sync(here).state == "published"
    settle([here, there])
    assert_equal([here, there])


def test_a_rebase_by_hand_that_carries_a_purged_note_along_is_stopped(tmp_path: Path) -> None:
    remote, (here, _) = leaky_team(tmp_path)
    purge(remote, tmp_path)
    run_sync(here)
    plain(here, "rebase", "-q", "origin/main", "--strategy-option=theirs")
    assert (here / LEAK).exists()
    remember(here, "new", "text: new\n")
    assert run_sync(here).state == "refused"
    assert TOKEN not in everything(remote)


@pytest.mark.parametrize("where", ["beside the note", "in the note"])
def test_what_a_rebase_by_hand_has_kept_of_a_blacked_out_note_stays_behind(tmp_path: Path, where: str) -> None:
    remote, (here, _) = leaky_team(tmp_path)
    purge(remote, tmp_path, lambda work: put(work, LEAK, "text: the key is gone\ntitle: leak\n"))
    plain(here, "fetch", "-q")
    plain(here, "reset", "-q", "--hard", "origin/main")
    version = "memory/2026-07/leak-0123abcd.md" if where == "beside the note" else LEAK
    put(here, version, f"conflict_of: {LEAK}\ntext: say swordfish\n" if version != LEAK else f"text: {TOKEN}\n")
    remember(here, "fine", "text: fine\n")
    assert run_sync(here).state == "refused"
    told = adopt(here)
    assert any(version in warning and "stays behind" in warning for warning in told.warnings)
    assert "memory/2026-07/fine.md" in tree(here)
    assert version not in tree(here) or TOKEN not in (here / version).read_text(encoding="utf-8")
    assert TOKEN not in everything(remote)
    assert "swordfish" not in everything(remote)
    assert plain(here, "show", f"{rescued(here)[-1]}:{version}")


ADOPTING = (
    "fetched",
    "settled",
    "adopt-commit",
    "move-journal",
    "move-half",
    "move-files",
    "move-index",
    "move-done",
    "adopt-moved",
    "push-before",
    "push-accepted",
    "debt",
)


@pytest.mark.parametrize("point", ADOPTING)
def test_an_adoption_killed_anywhere_can_be_repeated_and_brings_nothing_back(tmp_path: Path, point: str) -> None:
    remote, clones = leaky_team(tmp_path)
    here, there = clones
    remember(here, "ours", "text: ours\n")
    put(here, LEAK, f"{(here / LEAK).read_text(encoding='utf-8')}xmore: words\n")
    put(here, "memory/2026-07/by-hand.md", "text: by hand\n")
    purge(remote, tmp_path)
    dies(start("adopt", str(here), fault=f"{point}=kill"))
    if run_sync(here).state == "refused":
        adopt(here)
    adopt(there)
    settle(clones)
    files = assert_equal(clones)
    assert {"memory/2026-07/ours.md", "memory/2026-07/by-hand.md"} <= files.keys()
    assert LEAK not in files
    assert TOKEN not in everything(remote)
    assert len(rescued(here)) >= 1
    assert status(here) == ""
    assert not (here / ".git/commonwealth/journal").exists()


def test_a_stray_and_a_half_written_note_are_no_hindrance(tmp_path: Path) -> None:
    remote, (here, _) = leaky_team(tmp_path)
    put(here, "memory/2026-07/half.md", "text: half\nno colon")
    put(here, "memory/.env", "TOKEN=1\n")
    purge(remote, tmp_path)
    adopt(here)
    assert (here / "memory/2026-07/half.md").exists()
    assert "memory/2026-07/half.md" not in tree(here)
    assert "memory/.env" not in tree(here)
