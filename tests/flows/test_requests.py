"""Candidates as requests: a branch that holds only them, and what becomes of it, merged, closed, edited or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from commonwealth.errors import Offline, Refused
from commonwealth.flows import publishing, requestlog, requestwatch, review, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.forges import Ask, Forge, Opened, Pushing
from commonwealth.flows.identity import Session
from commonwealth.flows.requestanswer import Answered, Wanted
from commonwealth.flows.requests import send
from commonwealth.model import Note, Provenance, Receipt
from commonwealth.notes import candidate, codec, naming, store
from commonwealth.notes.candidate import Origin
from commonwealth.repo import notebranch
from tests.repo.receiving import hook, listen, options, refs

from .conftest import NOW, Teammate, record, recorded, search_all

PlainGit = Callable[..., str]
LATER = "2026-07-02T10:00:00Z"


@dataclass
class Host:
    """A host that keeps in memory what it is asked, and says what the test tells it to."""

    kind: str = "github"
    host: str = "git.example.com"
    trouble: Refused | Offline | None = None
    asks: list[Ask] = field(default_factory=list)
    states: dict[int, str] = field(default_factory=dict)
    push: Pushing = field(default_factory=Pushing)
    manual: bool = False

    def pushing(self, ask: Ask) -> Pushing:
        return self.push

    def open(self, ask: Ask, said: tuple[str, ...]) -> Opened:
        if self.trouble is not None:
            raise self.trouble
        if self.manual:
            return Opened("https://git.example.com/compare", manual=True)
        known = [one.branch for one in self.asks]
        self.asks.append(ask)
        number = known.index(ask.branch) + 1 if ask.branch in known else len(self.asks)
        return Opened(f"https://git.example.com/acme/brain/pull/{number}", number, ask.branch in known)

    def state(self, branch: str, base: str, number: int | None) -> str | None:
        return self.states.get(number or 0)

    def __call__(self, url: str) -> Forge:
        return self


def staged(brain: Brain, title: str = "Retries are safe", **more: object) -> str:
    """The id of a candidate that waits."""
    note_id = naming.new_id(title, NOW, naming.short_id(title.encode()))
    note = Note(
        id=note_id,
        kind="memory",
        title=title,
        summary=f"{title}, says the test.",
        body="Said in a session.\n",
        created_at=NOW,
        updated_at=NOW,
        observed_at=NOW,
        provenance=Provenance(session="s-1", files=("src/a.py",)),
    )
    origin = Origin(host="codex", session="s-1", reasons=("it may be wrong",), quotes=("a private aside",), at=NOW)
    store.stage(brain.root, candidate.with_origin(replace(note, **more), origin))  # type: ignore[arg-type]
    return note_id


def ask(
    brain: Brain,
    host: Host,
    *ids: str,
    now: str = NOW,
    title: str | None = None,
    add_to: str | None = None,
    dry_run: bool = False,
) -> Answered:
    wanted = Wanted(title, add_to=add_to, dry_run=dry_run)
    return send(brain, ids, wanted, connect=host, session=Session(), now=now)


def branches(git: PlainGit, remote: Path) -> list[str]:
    return git(remote, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/notes").split()


def is_bob(git: PlainGit, folder: Path) -> None:
    git(folder, "config", "user.name", "Bob")
    git(folder, "config", "user.email", "bob@example.com")


def merge(git: PlainGit, remote: Path, branch: str, how: str, *, change: str = "", delete: bool = True) -> None:
    """What the server does when Bob takes a request over; `change` is appended to each of its notes first."""
    work = remote.parent / f"server-{len(list(remote.parent.glob('server-*')))}"
    git(remote.parent, "clone", "-q", str(remote), str(work))
    is_bob(git, work)
    if change:
        git(work, "checkout", "-q", branch)
        for path in git(work, "diff", "--name-only", "origin/main...HEAD").split():
            with (work / path).open("a", encoding="utf-8") as file:
                file.write(change)
        git(work, "commit", "-qam", "A reviewer's words")
        git(work, "push", "-q", "origin", branch)
        git(work, "checkout", "-q", "main")
    if how == "squash":
        git(work, "merge", "-q", "--squash", f"origin/{branch}")
        git(work, "commit", "-qm", "Squashed")
    elif how == "rebase":
        git(work, "checkout", "-q", branch)
        git(work, "rebase", "-q", "origin/main")
        git(work, "checkout", "-q", "main")
        git(work, "merge", "-q", "--ff-only", branch)
    else:
        git(work, "merge", "-q", "--no-ff", "-m", "Merge", f"origin/{branch}")
    git(work, "push", "-q", "origin", "main", *([f":{branch}"] if delete else []))


def round_(brain: Brain, host: Host | None = None) -> Receipt:
    return publishing.sync_now(brain, LATER, timeout=30, connect=host)


def items(receipt: Receipt) -> dict[str, str]:
    return {item.id: item.state for item in receipt.items}


@pytest.fixture
def alice(team: tuple[Teammate, Teammate]) -> Brain:
    brain = team[0].act()
    recorded(brain, "The queue is drained at night")
    assert syncing.sync(brain).state == "published"
    return brain


# What is sent


def test_the_branch_begins_at_main_and_holds_only_the_note(alice: Brain, remote: Path, git: PlainGit) -> None:
    unpublished = recorded(alice, "Nobody has seen this yet")
    one = staged(alice)
    before = git(alice.root, "status", "--porcelain"), git(alice.root, "rev-parse", "HEAD")
    host = Host()
    answered = ask(alice, host, one)
    assert answered.receipt.state == "staged"
    assert items(answered.receipt) == {one: "staged"}
    (branch,) = branches(git, remote)
    assert branch.startswith("notes/alice-")
    assert branch.endswith(f"/{one.rpartition('-')[2]}")
    assert git(remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    (path,) = git(remote, "diff", "--name-only", "main", branch).split()
    assert path == f"memory/2026-07/{one}.md"
    assert unpublished not in git(remote, "ls-tree", "-r", "--name-only", branch)
    text = git(remote, "show", f"{branch}:{path}")
    note = codec.parse(text, path, "memory")[0]
    assert candidate.KEY not in note.extra
    assert "a private aside" not in text
    assert note.reviewed is None
    assert note.author == "Alice"
    assert (git(alice.root, "status", "--porcelain"), git(alice.root, "rev-parse", "HEAD")) == before
    assert review.listed(alice).waiting == 1
    (asked,) = host.asks
    assert (asked.branch, asked.base, asked.title) == (branch, "main", "Note: Retries are safe")
    assert "it may be wrong" in asked.body
    assert "    Retries are safe" in asked.body
    assert answered.requests[0].done == "opened"


def test_several_notes_share_a_request_and_asking_again_changes_nothing(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    ids = [staged(alice, "One"), staged(alice, "Two"), staged(alice, "Three")]
    host = Host()
    assert items(ask(alice, host, *ids).receipt) == dict.fromkeys(ids, "staged")
    tip = git(remote, "rev-parse", *branches(git, remote))
    again = ask(alice, host, *ids, now=LATER)
    assert again.receipt.state == "unchanged"
    assert git(remote, "rev-parse", *branches(git, remote)) == tip
    assert len(host.asks) == 1
    assert len(git(remote, "diff", "--name-only", "main", branches(git, remote)[0]).split()) == 3


def test_a_note_is_added_to_an_open_request_and_an_edited_one_grows_it(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    host = Host()
    one, two = staged(alice, "One"), staged(alice, "Two")
    ask(alice, host, one)
    (branch,) = branches(git, remote)
    first = git(remote, "rev-parse", branch).strip()
    assert ask(alice, host, two, add_to=one.rpartition("-")[2]).requests[0].done == "grown"
    assert branches(git, remote) == [branch]
    review.edit(alice, one, {"summary": "Another summary"}, now=LATER)
    assert items(ask(alice, host, one, now=LATER).receipt) == {one: "staged"}
    assert git(remote, "merge-base", first, branch).strip() == first
    assert "Another summary" in git(remote, "show", f"{branch}:memory/2026-07/{one}.md")
    assert len(host.asks) == 1
    with pytest.raises(Refused, match="no open request"):
        ask(alice, host, staged(alice, "Three"), add_to="notes/elsewhere")


def test_nothing_is_sent_by_a_dry_run(alice: Brain, remote: Path, git: PlainGit) -> None:
    host = Host()
    answered = ask(alice, host, staged(alice), dry_run=True)
    assert answered.requests[0].done == "planned"
    assert answered.requests[0].paths
    assert branches(git, remote) == []
    assert host.asks == []
    assert requestlog.load(alice.root).requests == {}


def test_a_secret_in_the_note_or_the_title_is_never_sent(alice: Brain, remote: Path, git: PlainGit) -> None:
    token = "ghp_" + "9fK2mQ7xLwZ3vB8nT5rY1cD6hJ4gS0aE2pUi"
    one = staged(alice)
    path = alice.root / "staging" / f"{one}.md"
    path.write_text(path.read_text(encoding="utf-8") + f"\ntoken: {token}\n", encoding="utf-8")
    answered = ask(alice, Host(), one)
    assert answered.receipt.state == "refused"
    assert "secret:" in str(answered.receipt.items[0].reason)
    two = staged(alice, "Fine")
    answered = ask(alice, Host(), two, title=f"Take {token}")
    assert answered.receipt.state == "refused"
    assert token not in str(answered)
    assert branches(git, remote) == []
    assert search_all(alice.root, token) == [str(path)]


# What the remote does with it


def test_push_options_reach_the_server_and_one_without_them_gets_the_branch(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    log = listen(remote)
    host = Host(kind="gitlab", push=Pushing(None, ("merge_request.create", "merge_request.target=main"), opens=True))
    ask(alice, host, staged(alice, "One"))
    assert options(log) == ["merge_request.create", "merge_request.target=main"]
    assert refs(log) == [f"refs/heads/{branches(git, remote)[0]}"]
    git(remote, "config", "receive.advertisePushOptions", "false")
    assert items(ask(alice, host, staged(alice, "Two")).receipt)
    assert len(branches(git, remote)) == 2


def test_a_branch_that_the_remote_refuses_leaves_the_candidate_waiting(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    hook(remote, "pre-receive", "#!/bin/sh\necho 'no notes on Fridays' >&2\nexit 1\n")
    one = staged(alice)
    answered = ask(alice, Host(), one)
    assert answered.receipt.state == "refused"
    assert "no notes on Fridays" in str(answered.receipt.reason)
    assert requestlog.by_candidate(alice.root) == {}
    assert review.listed(alice).waiting == 1
    (remote / "hooks/pre-receive").unlink()
    assert ask(alice, Host(), one).receipt.state == "staged"
    assert len(branches(git, remote)) == 1


@pytest.mark.parametrize(("trouble", "state"), [(Refused("expired"), "refused"), (Offline("away"), "deferred")])
def test_a_branch_that_arrived_without_its_request_is_said_and_finished_later(
    alice: Brain, remote: Path, git: PlainGit, trouble: Refused | Offline, state: str
) -> None:
    one = staged(alice)
    host = Host(trouble=trouble)
    answered = ask(alice, host, one)
    assert answered.receipt.state == state
    assert "is on the remote" in str(answered.receipt.reason)
    assert len(branches(git, remote)) == 1
    host.trouble = None
    answered = ask(alice, host, one, now=LATER)
    assert answered.receipt.state == "staged"
    assert answered.requests[0].done == "opened"
    assert len(branches(git, remote)) == 1


def test_a_clone_that_forgot_its_requests_finds_them_on_the_remote(alice: Brain, remote: Path, git: PlainGit) -> None:
    one = staged(alice)
    host = Host()
    ask(alice, host, one)
    (alice.root / ".git/commonwealth/requests.json").unlink()
    answered = ask(alice, host, one, now=LATER)
    assert answered.requests[0].done == "found"
    assert len(branches(git, remote)) == 1


# Merged


@pytest.mark.parametrize("deleted", [True, False], ids=["branch deleted", "branch kept"])
@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_a_merged_request_takes_its_candidates_out_of_the_queue(
    alice: Brain, remote: Path, git: PlainGit, how: str, deleted: bool
) -> None:
    ids = [staged(alice, "One"), staged(alice, "Two")]
    ask(alice, Host(), *ids)
    merge(git, remote, branches(git, remote)[0], how, delete=deleted)
    receipt = round_(alice)
    merged = {item.id: item for item in receipt.items if item.state == "merged"}
    assert set(merged) == set(ids)
    if how != "rebase":  # a fast-forward leaves no trace of who did it
        assert all("by Bob" in str(item.reason) for item in merged.values())
    assert review.listed(alice).waiting == 0
    assert requestlog.load(alice.root).requests == {}
    for one in ids:
        assert (alice.root / f"memory/2026-07/{one}.md").is_file()
    assert git(alice.root, "status", "--porcelain") == ""


def test_what_a_reviewer_changed_counts_and_an_unchanged_candidate_goes(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    (branch,) = branches(git, remote)
    merge(git, remote, branch, "squash", change="The reviewer knows better.\n")
    round_(alice)
    assert review.listed(alice).waiting == 0
    assert "knows better" in (alice.root / f"memory/2026-07/{one}.md").read_text(encoding="utf-8")


def test_a_candidate_that_was_changed_since_stays_when_an_older_text_is_merged(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    review.edit(alice, one, {"summary": "What I found out later"}, now=LATER)
    merge(git, remote, branches(git, remote)[0], "squash")
    receipt = round_(alice)
    assert any("was changed here since" in warning for warning in receipt.warnings)
    assert review.listed(alice).waiting == 1
    assert requestlog.load(alice.root).requests == {}
    assert not any("changed here since" in warning for warning in round_(alice).warnings)


def test_a_merged_replacement_closes_the_old_note_at_the_next_sync(alice: Brain, remote: Path, git: PlainGit) -> None:
    old = recorded(alice, "The port is 5432")
    assert syncing.sync(alice).state == "published"
    new = staged(alice, "The port is 5433", supersedes=(old,), valid_from=LATER)
    ask(alice, Host(), new)
    (branch,) = branches(git, remote)
    assert git(remote, "diff", "--name-only", "main", branch).split() == [f"memory/2026-07/{new}.md"]
    merge(git, remote, branch, "squash")
    round_(alice)
    text = (alice.root / f"memory/2026-07/{old}.md").read_text(encoding="utf-8")
    assert f"superseded_by: {new}" in text
    assert "status: superseded" in text


def test_two_open_requests_do_not_conflict_with_each_other_or_with_main(
    team: tuple[Teammate, Teammate], alice: Brain, remote: Path, git: PlainGit
) -> None:
    mine = [staged(alice, f"Mine {number}") for number in range(2)]
    for one in mine:
        ask(alice, Host(), one)
    bob = team[1].act()
    theirs = staged(bob, "Theirs")
    ask(bob, Host(), theirs)
    recorded(bob, "Straight to main")
    assert syncing.sync(bob).state == "published"
    names = branches(git, remote)
    assert len(names) == 3
    for name in names:
        merge(git, remote, name, "merge")
    alice = team[0].act()
    assert {item.id for item in round_(alice).items if item.state == "merged"} == set(mine)
    bob = team[1].act()
    assert {item.id for item in round_(bob).items if item.state == "merged"} == {theirs}
    round_(team[0].act())
    assert git(team[0].root, "rev-parse", "HEAD") == git(team[1].root, "rev-parse", "HEAD")


# Closed, or taken over by others


def test_a_branch_that_was_deleted_puts_its_candidates_back_and_says_so(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    (branch,) = branches(git, remote)
    git(remote, "update-ref", "-d", f"refs/heads/{branch}")
    receipt = round_(alice)
    assert any("was closed: 1 candidate waits" in warning for warning in receipt.warnings)
    assert review.listed(alice).waiting == 1
    assert not requestlog.by_candidate(alice.root)[one].is_open
    assert not any("was closed" in warning for warning in round_(alice).warnings)
    assert ask(alice, Host(), one, now=LATER).receipt.state == "staged"
    assert requestlog.by_candidate(alice.root)[one].is_open


def test_a_request_that_was_closed_on_the_host_is_known_where_it_is_asked(alice: Brain) -> None:
    one = staged(alice)
    host = Host()
    ask(alice, host, one)
    host.states[1] = "closed"
    assert round_(alice).warnings == ()
    assert any("was closed" in warning for warning in round_(alice, host).warnings)
    assert review.listed(alice).waiting == 1


def test_a_request_of_which_only_a_part_was_merged_gives_the_rest_back(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    one, two = staged(alice, "One"), staged(alice, "Two")
    ask(alice, Host(), one, two)
    (branch,) = branches(git, remote)
    work = remote.parent / "reviewer"
    git(remote.parent, "clone", "-q", "-b", branch, str(remote), str(work))
    is_bob(git, work)
    git(work, "rm", "-q", f"memory/2026-07/{two}.md")
    git(work, "commit", "-qm", "Not this one")
    git(work, "push", "-q", "origin", branch)
    assert any("Somebody else has pushed" in warning for warning in round_(alice).warnings)
    merge(git, remote, branch, "squash")
    receipt = round_(alice)
    assert items(receipt)[one] == "merged"
    assert [one.note.id for one in review.listed(alice).candidates] == [two]
    assert any("was closed" in warning for warning in receipt.warnings)


def test_nothing_is_added_to_a_branch_that_somebody_else_rewrote(alice: Brain, remote: Path, git: PlainGit) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    (branch,) = branches(git, remote)
    git(remote, "update-ref", f"refs/heads/{branch}", "main")
    is_bob(git, remote)
    theirs = git(remote, "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}").strip()
    git(remote, "update-ref", f"refs/heads/{branch}", theirs)
    review.edit(alice, one, {"summary": "Changed"}, now=LATER)
    answered = ask(alice, Host(), one, now=LATER)
    assert answered.receipt.state == "refused"
    assert "Somebody else has pushed" in str(answered.receipt.reason)
    assert git(remote, "rev-parse", branch).strip() == theirs
    round_(alice)
    assert requestlog.by_candidate(alice.root)[one].changed
    assert review.listed(alice).waiting == 1


def test_a_note_that_is_canon_already_is_not_asked_for(alice: Brain, remote: Path, git: PlainGit) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    merge(git, remote, branches(git, remote)[0], "squash")
    assert items(ask(alice, Host(), one, now=LATER).receipt) == {one: "unchanged"}
    assert branches(git, remote) == []


# Trouble here


@pytest.mark.parametrize("text", ["", "{", "[]", '{"requests": [1, {"branch": 2}]}', '{"requests": {"a": null}}'])
def test_a_broken_memory_of_requests_is_an_empty_one(alice: Brain, text: str) -> None:
    (alice.root / ".git/commonwealth/requests.json").write_text(text, encoding="utf-8")
    assert requestlog.load(alice.root).requests == {}
    assert requestwatch.notice(alice, timeout=5).lines == []


def test_a_brain_without_a_remote_cannot_ask(brain: Brain) -> None:
    with pytest.raises(Refused, match="no remote"):
        ask(brain, Host(), staged(brain))


def test_a_brain_that_takes_requests_only_stages_what_is_remembered_and_sends_it(
    team: tuple[Teammate, Teammate], alice: Brain, remote: Path, git: PlainGit
) -> None:
    home = team[0].home / ".commonwealth"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("review: pull-request\n", encoding="utf-8")
    receipt = record(alice, "Remembered in such a brain", summary="It waits.")
    assert receipt.state == "staged"
    with pytest.raises(Refused, match="pull request only"):
        review.approve(alice, receipt.ids, session=Session(), now=NOW)
    assert ask(alice, Host(), *receipt.ids).receipt.state == "staged"
    (branch,) = branches(git, remote)
    merge(git, remote, branch, "squash")
    assert items(round_(alice))[receipt.ids[0]] == "merged"


def test_what_was_approved_here_is_no_merged_request(alice: Brain) -> None:
    one, two = staged(alice), staged(alice, "Two")
    ask(alice, Host(), one, two)
    approved = review.approve(alice, [one], session=Session(), now=LATER)
    assert approved.state == "committed"
    assert any("/pull/1" in warning and "close that" in warning for warning in approved.warnings)
    receipt = round_(alice, Host())
    assert items(receipt).get(one) != "merged"
    (line,) = [warning for warning in receipt.warnings if one in warning]
    assert "by an approval here" in line
    assert "/pull/1" in line
    assert [warning for warning in round_(alice, Host()).warnings if one in warning] == []
    assert requestlog.by_candidate(alice.root).keys() == {two}


def test_a_merged_request_whose_candidate_is_there_is_merged_also_where_others_review(
    alice: Brain, remote: Path, git: PlainGit
) -> None:
    one = staged(alice)
    ask(alice, Host(), one)
    merge(git, remote, branches(git, remote)[0], "squash", change="Reviewed by Bob.\n")
    assert items(round_(alice))[one] == "merged"


@pytest.mark.parametrize("count", [1, 2, 7])
def test_without_the_remote_nothing_is_sent_and_the_step_is_to_ask_again(
    alice: Brain, remote: Path, count: int
) -> None:
    ids = [staged(alice, f"Fact {number} holds") for number in range(count)]
    remote.rename(remote.parent / "away.git")
    with pytest.raises(Offline) as offline:
        ask(alice, Host(), *ids)
    hint = offline.value.hint or ""
    named = "--all" if count > 5 else " ".join(ids)
    assert f"`brain review pr {named}` asks again" in hint
    assert "goes out with the next sync" not in hint
    assert review.listed(alice).waiting == count
    remote.parent.joinpath("away.git").rename(remote)
    assert ask(alice, Host(), *ids).receipt.state == "staged"


def test_a_push_that_finds_no_remote_any_more_names_the_same_step(
    alice: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise Offline("The remote could not be reached.", hint="what waits goes out with the next sync")

    one = staged(alice)
    monkeypatch.setattr(notebranch, "offer", away)
    receipt = ask(alice, Host(), one).receipt
    assert receipt.state == "deferred"
    assert f"brain review pr {one}" in (receipt.reason or "")
    assert "next sync" not in (receipt.reason or "")


def test_no_request_asks_nothing_of_the_remote(alice: Brain) -> None:
    staged(alice)
    calls = alice.root / ".git/config"
    calls.write_text(calls.read_text(encoding="utf-8").replace("remote.git", "nowhere.git"), encoding="utf-8")
    told = requestwatch.notice(alice, timeout=5)
    assert (told.items, told.lines) == ([], [])
