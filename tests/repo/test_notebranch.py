"""A branch with single notes: made from the remote's main, nothing else on it, looked through before it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.errors import Offline, Refused
from commonwealth.repo import notebranch
from commonwealth.repo.failures import Declined
from commonwealth.repo.git import Git
from commonwealth.repo.notebranch import Target

from .brains import head, plain, put, status, team
from .conftest import Author
from .linenotes import CONTENT, remember, run_sync
from .receiving import hook, listen, options, refs

NOW = "2026-07-01T12:00:00Z"
FILES = {"memory/2026-07/new.md": b"title: new\ntext: new\n"}


def made(git: Git, parent: str, files: dict[str, bytes] = FILES) -> str:
    return notebranch.make(git, CONTENT, parent, files, "Propose: new", Author(), now=NOW)


def test_it_goes_on_from_the_remotes_main_and_touches_nothing_here(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    remember(clone, "mine", "text: mine\n")
    put(clone, "memory/2026-07/first.md", "title: edited by hand\n")
    before = head(clone), status(clone), plain(clone, "ls-files", "-s")
    git = Git(clone)
    main = notebranch.main_tip(git, "origin", "main", 30)
    commit = made(git, main)
    notebranch.offer(git, CONTENT, Target("origin", "notes/a/b"), commit, [main], 30)
    assert (head(clone), status(clone), plain(clone, "ls-files", "-s")) == before
    assert plain(remote, "diff", "--name-only", "main", "notes/a/b").split() == list(FILES)
    assert plain(remote, "rev-list", "--count", "main..notes/a/b").strip() == "1"


def test_files_that_are_there_make_no_commit(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    git = Git(clone)
    commit = made(git, head(clone))
    assert made(git, commit) == commit


def test_the_options_of_a_push_arrive_and_a_server_without_them_gets_the_branch(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    log = listen(remote, then="echo 'hello there' >&2")
    git = Git(clone)
    commit = made(git, head(clone))
    target = Target("origin", "notes/a/b", options=("topic=x y", "description=$(id)"))
    answer = notebranch.offer(git, CONTENT, target, commit, [head(clone)], 30)
    assert options(log) == ["topic=x y", "description=$(id)"]
    assert answer.took_options
    assert "hello there" in answer.said
    plain(remote, "config", "receive.advertisePushOptions", "false")
    answer = notebranch.offer(git, CONTENT, Target("origin", "notes/c", options=("a=b",)), commit, [head(clone)], 30)
    assert not answer.took_options
    assert refs(log) == ["refs/heads/notes/a/b", "refs/heads/notes/c"]


def test_a_request_by_push_alone_needs_the_options(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    git = Git(clone)
    target = Target("origin", "notes/a", "refs/for/main", ("topic=x",))
    with pytest.raises(Declined, match="takes no push options"):
        notebranch.offer(git, CONTENT, target, made(git, head(clone)), [head(clone)], 30)


def test_what_the_remote_says_no_to_is_told_in_its_words(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    hook(remote, "pre-receive", "#!/bin/sh\nprintf 'not \\033[31mtoday' >&2\nexit 1\n")
    git = Git(clone)
    with pytest.raises(Declined, match="not today") as caught:
        notebranch.offer(git, CONTENT, Target("origin", "notes/a"), made(git, head(clone)), [head(clone)], 30)
    assert "\033" not in caught.value.message


def test_nobody_is_overwritten(tmp_path: Path) -> None:
    remote, (clone, other) = team(tmp_path, 2)
    git, theirs = Git(clone), Git(other)
    first = made(theirs, head(other), {"memory/2026-07/x.md": b"title: x\n"})
    notebranch.offer(theirs, CONTENT, Target("origin", "notes/a"), first, [head(other)], 30)
    with pytest.raises(Declined, match="somebody pushed"):
        notebranch.offer(git, CONTENT, Target("origin", "notes/a"), made(git, head(clone)), [head(clone)], 30)
    assert plain(remote, "rev-parse", "notes/a").strip() == first
    assert notebranch.fetch(git, "origin", "notes/a", 30) == first
    assert notebranch.read(git, first, ["memory/2026-07/x.md", "none"]) == {"memory/2026-07/x.md": b"title: x\n"}
    assert notebranch.fetch(git, "origin", "notes/none", 30) is None


@pytest.mark.parametrize("path", ["memory/2026-07/new.txt", "README.md", "../x.md", ".git/hooks/x.md"])
def test_only_notes_get_onto_it(tmp_path: Path, path: str) -> None:
    _, (clone,) = team(tmp_path, 1)
    with pytest.raises(Refused):
        made(Git(clone), head(clone), {path: b"title: x\n"})


def test_a_remote_without_main_and_one_that_is_gone_are_told_apart(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    plain(remote, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(Refused, match="no branch main"):
        notebranch.main_tip(Git(clone), "origin", "main", 30)
    remote.rename(tmp_path / "moved")
    with pytest.raises(Offline):
        notebranch.main_tip(Git(clone), "origin", "main", 30)


def test_a_branch_of_notes_is_never_taken_for_main(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    git = Git(clone)
    notebranch.offer(git, CONTENT, Target("origin", "notes/a"), made(git, head(clone)), [head(clone)], 30)
    plain(remote, "update-ref", "-d", "refs/heads/main")
    run_sync(clone)
    assert plain(clone, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert plain(clone, "rev-parse", "--verify", "-q", "refs/heads/notes/a", check=False) == ""
