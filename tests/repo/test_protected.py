"""A main branch that takes requests only: what waits goes to one branch, and comes back merged, squashed or rebased."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.repo.git import Git
from commonwealth.repo.outcome import Outcome, read_debt
from commonwealth.repo.sync import Consent

from .brains import dies, head, plain, put, settle, start, status, team
from .linenotes import remember, run_sync

REQUEST = "brain/alice"
ASK = Consent(request=REQUEST)
BY_RULE = Consent(request=REQUEST, by_request=True)
TOMORROW = "2026-07-02T12:00:00Z"

SAYS = {
    "github": "error: GH006: Protected branch update failed for refs/heads/main.",
    "github-rules": "error: GH013: Repository rule violations found. - Changes must be made through a pull request.",
    "gitlab": "GitLab: You are not allowed to push code to protected branches on this project.",
    "bitbucket": "Branch refs/heads/main can only be modified through pull requests.",
    "bitbucket-cloud": "Permission denied to update branch main.",
    "azure": "TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.",
    "gitea": "Gitea: Not allowed to push to protected branch main",
}


def protect(remote: Path, words: str = SAYS["github"], branch: str = "main") -> Path:
    """Let the remote decline pushes to a branch, and write down every push to any, with those that rewrite."""
    hook = remote / "hooks/update"
    hook.write_text(
        f"""#!/bin/sh
case "$2" in 0*) ;; *) git merge-base --is-ancestor "$2" "$3" || echo "forced $1" >> "{remote}/pushes" ;; esac
echo "$1" >> "{remote}/pushes"
if [ "$1" = "refs/heads/{branch}" ]; then echo "{words}" >&2; exit 1; fi
""",
        encoding="utf-8",
    )
    hook.chmod(0o755)
    return remote / "pushes"


def ask(clone: Path, consent: Consent = ASK, now: str = "2026-07-01T12:00:00Z") -> Outcome:
    return run_sync(clone, consent=consent, now=now)


def tip(remote: Path, branch: str) -> str:
    return plain(remote, "rev-parse", "--verify", "-q", f"refs/heads/{branch}", check=False).strip()


def merge_request(remote: Path, tmp_path: Path, how: str) -> None:
    """What the server does when somebody accepts the request."""
    work = tmp_path / f"server-{how}-{len(list(tmp_path.glob('server-*')))}"
    plain(tmp_path, "clone", "-q", str(remote), str(work))
    if how == "merge":
        plain(work, "merge", "-q", "--no-ff", "-m", "Merge request", f"origin/{REQUEST}")
    elif how == "squash":
        plain(work, "merge", "-q", "--squash", f"origin/{REQUEST}")
        plain(work, "commit", "-qm", "Squashed request")
    else:
        plain(work, "checkout", "-q", REQUEST)
        plain(work, "rebase", "-q", "main")
        plain(work, "checkout", "-q", "main")
        plain(work, "merge", "-q", "--ff-only", REQUEST)
    plain(remote, "fetch", "-q", str(work), "main:main")


@pytest.mark.parametrize("server", SAYS)
def test_what_a_protected_branch_declines_goes_to_a_branch_for_requests(tmp_path: Path, server: str) -> None:
    remote, (clone,) = team(tmp_path, 1)
    before = tip(remote, "main")
    protect(remote, SAYS[server])
    remember(clone, "a", "text: a\n")
    outcome = ask(clone)
    assert outcome.state == "committed"
    assert outcome.trouble is not None
    assert REQUEST in outcome.trouble.message
    assert "request" in str(outcome.trouble.hint)
    assert tip(remote, "main") == before
    assert tip(remote, REQUEST) == head(clone)
    debt = read_debt(Git(clone))
    assert debt is not None
    assert REQUEST in debt.reason


def test_what_is_declined_for_another_reason_goes_nowhere_else(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    protect(remote, "no pushes on \\033[31mFridays")
    remember(clone, "a", "text: a\n")
    outcome = ask(clone)
    assert outcome.state == "committed"
    assert "no pushes on" in str(outcome.trouble)
    assert "\033" not in str(outcome.trouble)
    assert tip(remote, REQUEST) == ""
    assert read_debt(Git(clone)) is not None


@pytest.mark.parametrize("deleted", [True, False], ids=["branch deleted", "branch kept"])
@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_a_request_that_was_accepted_comes_back_and_the_debt_is_paid(tmp_path: Path, how: str, deleted: bool) -> None:
    remote, (here, there) = team(tmp_path, 2)
    settle([here, there])
    pushes = protect(remote)
    remember(here, "a", "text: a\n")
    ask(here)
    remember(here, "b", "text: b\n")
    assert ask(here).state == "committed"
    (remote / "hooks/update").rename(remote / "hooks/aside")
    remember(there, "theirs", "text: theirs\n")
    run_sync(there)
    (remote / "hooks/aside").rename(remote / "hooks/update")
    assert ask(here).state == "committed"
    merge_request(remote, tmp_path, how)
    if deleted:
        plain(remote, "update-ref", "-d", f"refs/heads/{REQUEST}")
    outcome = ask(here)
    assert outcome.state in ("published", "unchanged"), outcome
    assert read_debt(Git(here)) is None
    assert status(here) == ""
    run_sync(there, push=False)
    files = {f"memory/2026-07/{name}.md" for name in ("a", "b", "theirs", "first")}
    for clone in (here, there):
        names = plain(clone, "ls-files", "memory").split()
        assert {name for name in names if not name.endswith("INDEX.md")} == files
    assert plain(here, "rev-parse", "HEAD^{tree}") == plain(there, "rev-parse", "HEAD^{tree}")
    # The next request starts from there, and nothing was ever pushed over anything.
    remember(here, "c", "text: c\n")
    assert ask(here).state == "committed"
    changed = plain(remote, "diff", "--name-only", "main", REQUEST, "--", "memory").split()
    assert [name for name in changed if not name.endswith("INDEX.md")] == ["memory/2026-07/c.md"]
    assert "forced" not in pushes.read_text(encoding="utf-8")
    merge_request(remote, tmp_path, "squash" if how == "rebase" else how)
    assert ask(here).state in ("published", "unchanged")
    assert read_debt(Git(here)) is None
    run_sync(there, push=False)
    assert plain(here, "rev-parse", "HEAD^{tree}") == plain(there, "rev-parse", "HEAD^{tree}")


def test_a_request_that_waits_is_pushed_once(tmp_path: Path) -> None:
    remote, (here, there) = team(tmp_path, 2)
    settle([here, there])
    pushes = protect(remote)
    remember(here, "a", "text: a\n")
    for _ in range(3):
        ask(here)
    assert pushes.read_text(encoding="utf-8").split() == ["refs/heads/main", f"refs/heads/{REQUEST}"]
    # Another day, the main branch is tried again.
    assert ask(here, now=TOMORROW).state == "committed"
    assert pushes.read_text(encoding="utf-8").split()[2:] == ["refs/heads/main"]
    (remote / "hooks/update").unlink()
    assert ask(here, now="2026-07-03T12:00:00Z").state == "published"
    assert tip(remote, "main") == head(here)


def test_a_person_who_asks_for_a_sync_learns_at_once_that_the_protection_is_gone(tmp_path: Path) -> None:
    remote, (here, there) = team(tmp_path, 2)
    settle([here, there])
    pushes = protect(remote)
    remember(here, "a", "text: a\n")
    asked = Consent(request=REQUEST, asked=True)
    assert ask(here, asked).state == "committed"
    assert ask(here, asked).state == "committed"
    assert pushes.read_text(encoding="utf-8").split() == ["refs/heads/main", f"refs/heads/{REQUEST}", "refs/heads/main"]
    (remote / "hooks/update").unlink()
    assert ask(here, asked).state == "published"
    assert tip(remote, "main") == head(here)


def test_a_team_that_takes_changes_by_request_gets_no_push_to_its_main_branch(tmp_path: Path) -> None:
    remote, (here, _) = team(tmp_path, 2)
    pushes = protect(remote, branch="none")
    remember(here, "a", "text: a\n")
    assert ask(here, BY_RULE).state == "committed"
    assert pushes.read_text(encoding="utf-8").split() == [f"refs/heads/{REQUEST}"]


def test_a_main_branch_that_is_not_there_yet_is_made_even_by_that_rule(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    plain(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    plain(clone, "update-ref", "-d", "refs/remotes/origin/main")
    plain(clone, "remote", "set-url", "origin", str(tmp_path / "empty.git"))
    assert ask(clone, BY_RULE).state == "published"
    assert tip(tmp_path / "empty.git", "main") == head(clone)


def test_a_request_that_no_longer_merges_by_itself_is_brought_up_to_date(tmp_path: Path) -> None:
    remote, (here, there) = team(tmp_path, 2)
    settle([here, there])
    protect(remote)
    remember(here, "a", "text: a\n")
    ask(here)
    (remote / "hooks/update").rename(remote / "hooks/aside")
    remember(there, "b", "text: b\n")
    run_sync(there)
    (remote / "hooks/aside").rename(remote / "hooks/update")
    assert "CONFLICT" in plain(remote, "merge-tree", "--write-tree", "main", REQUEST, check=False)
    assert ask(here).state == "committed"
    assert "CONFLICT" not in plain(remote, "merge-tree", "--write-tree", "main", REQUEST)
    held = tip(remote, REQUEST)
    ask(here)
    assert tip(remote, REQUEST) == held


def files(remote: Path, branch: str) -> set[str]:
    return set(plain(remote, "ls-tree", "-r", "--name-only", branch, "memory").split())


def test_two_clones_of_one_person_have_a_branch_each_and_a_reviewer_s_commit_is_left_alone(tmp_path: Path) -> None:
    remote, clones = team(tmp_path, 3)
    settle(clones)
    pushes = protect(remote)
    one, two, reviewer = clones
    remember(one, "one", "text: one\n")
    remember(two, "two", "text: two\n")
    ask(one)
    ask(two)
    assert "memory/2026-07/one.md" not in files(remote, f"{REQUEST}-2")
    plain(reviewer, "fetch", "-q")
    plain(reviewer, "checkout", "-q", REQUEST)
    put(reviewer, "memory/2026-07/one.md", "tags: seen\ntext: one\n")
    plain(reviewer, "commit", "-qam", "reviewed")
    plain(reviewer, "push", "-q", "origin", REQUEST)
    seen = tip(remote, REQUEST)
    remember(one, "more", "text: more\n")
    outcome = ask(one)
    assert outcome.state == "committed"
    assert f"{REQUEST}-3" in str(outcome.trouble)
    assert tip(remote, REQUEST) == seen
    assert {"memory/2026-07/one.md", "memory/2026-07/more.md"} <= files(remote, f"{REQUEST}-3")
    assert "forced" not in pushes.read_text(encoding="utf-8")
    merge_request(remote, tmp_path, "squash")
    ask(one)
    assert (one / "memory/2026-07/one.md").read_text(encoding="utf-8") == "tags: seen\ntext: one\n"


@pytest.mark.parametrize("before", [True, False], ids=["before ours", "after ours"])
def test_what_somebody_else_pushed_to_our_branch_never_comes_in(tmp_path: Path, before: bool) -> None:
    remote, (bob, mallory) = team(tmp_path, 2)
    settle([bob, mallory])
    protect(remote)
    if not before:
        remember(bob, "mine", "text: mine\n")
        ask(bob)
        plain(mallory, "pull", "-q", "origin", REQUEST)
    remember(mallory, "evil", "text: evil\n")
    plain(mallory, "push", "-q", "origin", f"HEAD:{REQUEST}")
    remember(bob, "more", "text: more\n")
    for _ in range(2):
        assert ask(bob).state == "committed"
    assert not (bob / "memory/2026-07/evil.md").exists()
    assert "memory/2026-07/evil.md" not in files(remote, f"{REQUEST}-2")
    assert "memory/2026-07/more.md" in files(remote, f"{REQUEST}-2")
    (remote / "hooks/update").unlink()
    assert ask(bob, now=TOMORROW).state == "published"
    assert "memory/2026-07/evil.md" not in files(remote, "main")


@pytest.mark.parametrize("who", ["fresh clone", "old clone", "taken by hand"])
def test_a_branch_for_requests_that_outlived_a_purge_brings_nothing_back(tmp_path: Path, who: str) -> None:
    remote, (old, _) = team(tmp_path, 2)
    remember(old, "leak", "text: leak\n")
    run_sync(old)
    remember(old, "ours", "text: ours\n")
    assert ask(old, BY_RULE).state == "committed"
    work = tmp_path / "purge"
    plain(tmp_path, "clone", "-q", str(remote), str(work))
    leak = tip(remote, "main")
    (work / "memory/2026-07/leak.md").unlink()
    plain(work, "checkout", "-q", "--orphan", "clean")
    plain(work, "add", "-A")
    plain(work, "commit", "-qm", "a new beginning")
    plain(work, "push", "-qf", "origin", "HEAD:main")
    clone = old
    if who == "fresh clone":
        clone = tmp_path / "fresh"
        plain(tmp_path, "clone", "-q", str(remote), str(clone))
    elif who == "old clone":
        assert ask(old, BY_RULE).state == "refused"
        told = ask(old, Consent(request=REQUEST, by_request=True, adopt_remote=True))
        assert any("delete it there" in warning for warning in told.warnings)
    else:
        plain(old, "fetch", "-q")
        plain(old, "reset", "-q", "--hard", "origin/main")
    remember(clone, "new", "text: new\n")
    assert ask(clone, BY_RULE).state == "committed"
    assert not (clone / "memory/2026-07/leak.md").exists()
    assert "memory/2026-07/new.md" in files(remote, f"{REQUEST}-2")
    assert leak not in plain(remote, "rev-list", f"{REQUEST}-2").split()
    if who == "old clone":
        assert "memory/2026-07/ours.md" in files(remote, f"{REQUEST}-2")


def test_a_secret_does_not_leave_by_the_branch_for_requests_either(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    protect(remote)
    put(clone, "memory/2026-07/leak.md", "text: SECRET\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "raw")
    outcome = ask(clone, BY_RULE)
    assert outcome.state == "refused"
    assert tip(remote, REQUEST) == ""


@pytest.mark.parametrize("point", ["push-before", "push-accepted", "request-offered", "debt-recorded"])
def test_a_request_killed_anywhere_is_offered_by_the_next_sync(tmp_path: Path, point: str) -> None:
    remote, (clone,) = team(tmp_path, 1)
    protect(remote)
    remember(clone, "a", "text: a\n")
    dies(start("request", str(clone), fault=f"{point}=kill"))
    assert ask(clone).state == "committed"
    assert "memory/2026-07/a.md" in plain(remote, "ls-tree", "-r", "--name-only", REQUEST)
    merge_request(remote, tmp_path, "squash")
    assert ask(clone).state == "published"
