"""What is true on a branch only is kept from sessions elsewhere until it is merged, and labelled for all others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.flows import brains, brief, recall, supersede, update
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft
from commonwealth.index import query
from commonwealth.model import Hit, Note, Provenance
from commonwealth.notes import codec
from commonwealth.repo import git as git_module

from .conftest import NOW, record, recorded

PlainGit = Callable[..., str]
TITLE = "Refunds go through the ledger"


@pytest.fixture
def shop(code: Path, git: PlainGit) -> Path:
    """The code repository on a branch `refunds` with one commit that `main` lacks."""
    put(code, git, "pay.py", "".join(f"line {number}\n" for number in range(30)), "pay")
    git(code, "checkout", "-q", "-b", "refunds")
    put(code, git, "refund.py", "ledger\n", "refunds")
    return code


def put(folder: Path, git: PlainGit, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def here(brain: Brain, folder: Path) -> Brain:
    """The brain for a session that works in `folder` as it is now."""
    return brains.open_brain(brain.root, cwd=str(folder))


def learned(brain: Brain, folder: Path, provenance: Provenance | None = None) -> str:
    return recorded(here(brain, folder), TITLE, branch="refunds", provenance=provenance or Provenance())


def found(brain: Brain, folder: Path, **filters: object) -> tuple[Hit, ...]:
    wanted = query.Query(text="refunds ledger", now=NOW, **filters)  # type: ignore[arg-type]
    return recall.search(here(brain, folder), wanted).hits


def told(brain: Brain, folder: Path) -> str:
    return brief.session_start(here(brain, folder), now=NOW, budget=1200).text


def label(brain: Brain, folder: Path, **filters: object) -> str | None:
    """The label of the note in a search there; None where it does not come back. Session start agrees with it."""
    hits = found(brain, folder, **filters)
    if not filters:
        assert (TITLE in told(brain, folder)) is bool(hits)
    if not hits:
        return None
    if not filters:
        assert hits[0].why[0] in told(brain, folder)
    return hits[0].why[0]


def test_a_fact_of_a_branch_is_left_out_on_another_until_it_is_merged(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    assert label(brain, shop) == "on this branch, refunds"
    git(shop, "checkout", "-q", "main")
    assert label(brain, shop) is None
    git(shop, "merge", "-q", "--no-ff", "-m", "Merge", "refunds")
    assert label(brain, shop) == "branch refunds was merged"


def test_what_is_left_out_comes_back_when_it_is_asked_for(brain: Brain, shop: Path, git: PlainGit) -> None:
    note_id = learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    assert label(brain, shop) is None
    open_label = "on branch refunds, not merged"
    assert label(brain, shop, include_superseded=True) == open_label
    assert label(brain, shop, branch=("refunds",)) == open_label
    assert recall.read(here(brain, shop), note_id).warnings == (f"its scope: {open_label}",)
    assert recall.recall(here(brain, shop), "refunds ledger", budget=900, now=NOW).text == ""


def test_the_branch_that_a_note_was_found_on_hides_nothing(brain: Brain, shop: Path, git: PlainGit) -> None:
    recorded(here(brain, shop), TITLE, provenance=Provenance(branch="refunds"))
    git(shop, "checkout", "-q", "main")
    assert [hit.note.title for hit in found(brain, shop)] == [TITLE]
    assert TITLE in told(brain, shop)


@pytest.mark.parametrize("how", ["squash", "rebase", "cherry-pick"])
def test_a_branch_that_landed_under_other_commits_counts_as_merged(
    brain: Brain, shop: Path, git: PlainGit, how: str
) -> None:
    put(shop, git, "refund.py", "ledger\nand more\n", "more")
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    put(shop, git, "beside.py", "beside\n", "beside")
    assert label(brain, shop) is None
    if how == "squash":
        git(shop, "merge", "-q", "--squash", "refunds")
        git(shop, "commit", "-q", "-m", "Refunds (#1)")
    elif how == "cherry-pick":
        git(shop, "cherry-pick", "refunds~1", "refunds")
    else:
        git(shop, "branch", "-q", "-m", "refunds", "theirs")
        git(shop, "checkout", "-q", "-b", "refunds", "theirs")
        git(shop, "branch", "-q", "-D", "theirs")
        git(shop, "rebase", "-q", "main")
        git(shop, "checkout", "-q", "main")
        git(shop, "merge", "-q", "--ff-only", "refunds")
    put(shop, git, "refund.py", "ledger\nand more\nand later work\n", "later")
    assert label(brain, shop) == "branch refunds was merged"


def test_half_of_a_branch_is_no_merge(brain: Brain, shop: Path, git: PlainGit) -> None:
    put(shop, git, "more.py", "more\n", "more")
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    git(shop, "cherry-pick", "refunds~1")
    assert label(brain, shop) is None


def test_a_deleted_branch_hides_nothing_any_more(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    git(shop, "branch", "-q", "-D", "refunds")
    assert label(brain, shop) == "branch refunds is gone"


def test_a_branch_that_is_left_at_the_remote_alone_still_exists(
    brain: Brain, shop: Path, git: PlainGit, tmp_path: Path
) -> None:
    learned(brain, shop)
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(tmp_path / "hub.git"))
    git(shop, "config", f"url.{tmp_path}/hub.git.insteadOf", "https://git.example.com/acme/shop.git")
    git(shop, "checkout", "-q", "main")
    git(shop, "branch", "-q", "-D", "refunds")
    git(shop, "fetch", "-q")
    assert label(brain, shop) is None
    git(tmp_path / "hub.git", "update-ref", "-d", "refs/heads/refunds")
    git(shop, "fetch", "-q", "--prune")
    assert label(brain, shop) == "branch refunds is gone"


def test_a_renamed_branch_is_still_a_branch(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "branch", "-q", "-m", "refunds", "ledger")
    assert label(brain, shop) == "on this branch, refunds"
    git(shop, "checkout", "-q", "main")
    assert label(brain, shop) is None
    assert label(brain, shop, include_superseded=True) == "on branch refunds, now ledger, not merged"


def test_a_branch_that_holds_the_commit_sees_the_fact(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "-b", "stacked")
    put(shop, git, "more.py", "more\n", "more")
    assert label(brain, shop) == "on branch refunds, not merged"
    git(shop, "checkout", "-q", "-b", "aside", "main")
    assert label(brain, shop) is None


def test_a_worktree_and_a_detached_head_count_by_what_they_hold(
    brain: Brain, shop: Path, git: PlainGit, tmp_path: Path
) -> None:
    learned(brain, shop)
    git(shop, "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert label(brain, tmp_path / "tree") is None
    assert label(brain, shop) == "on this branch, refunds"
    git(tmp_path / "tree", "checkout", "-q", "--detach", "refunds")
    assert label(brain, tmp_path / "tree") == "on branch refunds, not merged"
    git(tmp_path / "tree", "checkout", "-q", "--detach", "main")
    assert label(brain, tmp_path / "tree") is None


def test_a_shallow_clone_hides_nothing_that_it_cannot_judge(
    brain: Brain, shop: Path, git: PlainGit, tmp_path: Path
) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    git(
        tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", f"file://{shop}", str(tmp_path / "shallow" / "shop")
    )
    git(tmp_path / "shallow" / "shop", "remote", "set-url", "origin", "https://git.example.com/acme/shop.git")
    assert label(brain, tmp_path / "shallow" / "shop") == "branch refunds is unknown here"


def test_without_the_code_repository_nothing_is_hidden(brain: Brain, shop: Path, tmp_path: Path, git: PlainGit) -> None:
    learned(brain, shop)
    (tmp_path / "elsewhere").mkdir()
    assert [hit.why[0] for hit in found(brain, tmp_path / "elsewhere")] == ["branch refunds is unknown here"]
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "start")
    assert [hit.why[0] for hit in found(brain, other)] == ["branch refunds is unknown here"]


def test_a_commit_that_this_clone_does_not_have_is_judged_by_its_branch(
    brain: Brain, shop: Path, git: PlainGit
) -> None:
    learned(brain, shop, provenance=Provenance(commit="1234567"))
    git(shop, "checkout", "-q", "main")
    assert label(brain, shop) is None
    git(shop, "branch", "-q", "-D", "refunds")
    assert label(brain, shop) == "branch refunds is unknown here"


def test_a_short_commit_and_a_commit_that_is_none_are_taken_as_they_are(
    brain: Brain, shop: Path, git: PlainGit
) -> None:
    short = git(shop, "rev-parse", "--short=7", "HEAD").strip()
    learned(brain, shop, provenance=Provenance(commit=short.upper()))
    recorded(here(brain, shop), "Ledger refunds twice", branch="refunds", provenance=Provenance(commit="--all"))
    git(shop, "checkout", "-q", "main")
    assert found(brain, shop) == ()
    git(shop, "branch", "-q", "-D", "refunds")
    assert {hit.why[0] for hit in found(brain, shop)} == {"branch refunds is gone", "branch refunds is unknown here"}


def test_a_commit_that_was_merged_is_shown_though_its_branch_goes_on(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    git(shop, "merge", "-q", "--no-ff", "-m", "Merge", "refunds")
    git(shop, "checkout", "-q", "refunds")
    put(shop, git, "more.py", "more\n", "more")
    git(shop, "checkout", "-q", "main")
    assert label(brain, shop) == "on branch refunds, its commit is merged"


def test_a_branch_on_which_nothing_was_committed_yet_is_not_called_merged(
    brain: Brain, code: Path, git: PlainGit
) -> None:
    git(code, "checkout", "-q", "-b", "refunds")
    learned(brain, code)
    git(code, "checkout", "-q", "main")
    assert label(brain, code) == "on branch refunds, its commit is merged"


def test_the_default_branch_is_found_by_the_remotes_head_and_by_its_usual_names(
    brain: Brain, shop: Path, git: PlainGit
) -> None:
    learned(brain, shop)
    git(shop, "branch", "-q", "-m", "main", "develop")
    git(shop, "checkout", "-q", "-b", "aside", "develop")
    assert label(brain, shop) == "branch refunds is unknown here"
    git(shop, "config", "init.defaultBranch", "develop")
    assert label(brain, shop) is None
    git(shop, "config", "--unset", "init.defaultBranch")
    git(shop, "update-ref", "refs/remotes/upstream/develop", "develop")
    git(shop, "symbolic-ref", "refs/remotes/upstream/HEAD", "refs/remotes/upstream/develop")
    assert label(brain, shop) is None


def test_a_work_records_branch_is_no_scope(brain: Brain, shop: Path, git: PlainGit) -> None:
    text = (
        "---\ntitle: Refunds ledger\nkind: work-state\nbranch: refunds\nrepository: acme/shop\n---\nRefunds ledger.\n"
    )
    (brain.root / "work-state").mkdir(exist_ok=True)
    (brain.root / "work-state" / "refunds.md").write_text(text, encoding="utf-8")
    git(shop, "checkout", "-q", "main")
    assert [hit.note.kind for hit in found(brain, shop)] == ["work-state"]


def test_what_was_said_then_is_scoped_as_now(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    wanted = query.Query(text="refunds ledger", now=NOW)
    assert recall.search(here(brain, shop), wanted, as_of="HEAD").hits == ()
    git(shop, "merge", "-q", "refunds")
    assert [hit.why[0] for hit in recall.search(here(brain, shop), wanted, as_of="HEAD").hits] == [
        "branch refunds was merged"
    ]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What git is asked, from now on."""
    questions: list[tuple[str, ...]] = []
    start = git_module._start

    def noted(*args: object, **kwargs: object) -> object:
        questions.append(args[1])  # type: ignore[arg-type]
        return start(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(git_module, "_start", noted)
    return questions


def test_git_is_asked_only_where_a_note_has_a_scope_and_then_seldom(
    brain: Brain, shop: Path, git: PlainGit, asked: list[tuple[str, ...]]
) -> None:
    recorded(here(brain, shop), "Refunds are rare")
    session = here(brain, shop)
    asked.clear()
    told(brain, shop)
    plain = len(asked)
    learned(brain, shop)
    recorded(here(brain, shop), "Refunds are slow", branch="other", provenance=Provenance(commit="1234567"))
    git(shop, "checkout", "-q", "main")
    recall.search(session, query.Query(text="refunds", now=NOW))
    put(shop, git, "beside.py", "beside\n", "beside")
    asked.clear()
    told(brain, shop)
    assert [words[0] for words in asked[plain:]] == ["for-each-ref", "cat-file", "rev-list", "diff", "log"]
    asked.clear()
    told(brain, shop)
    assert [words[0] for words in asked[plain:]] == ["for-each-ref"]


def test_what_was_kept_of_gits_answers_is_bounded_and_may_be_damaged(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    kept = brain.root / ".git" / "commonwealth" / "branches.json"
    assert label(brain, shop) is None
    for broken in (b"", b"[]", b'{"a": [1]}', b"\xff", b"[" * 100_000):
        kept.write_bytes(broken)
        assert label(brain, shop) is None
    kept.unlink()
    kept.mkdir()
    assert label(brain, shop) is None


def test_a_damaged_code_repository_hides_nothing(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")
    shutil.rmtree(shop / ".git" / "objects")
    (shop / ".git" / "objects").mkdir()
    assert label(brain, shop) == "branch refunds is unknown here"


def test_a_branch_without_a_change_is_not_taken_for_squashed(brain: Brain, code: Path, git: PlainGit) -> None:
    git(code, "checkout", "-q", "-b", "refunds")
    git(code, "commit", "-q", "--allow-empty", "-m", "nothing yet")
    learned(brain, code)
    git(code, "checkout", "-q", "main")
    assert label(brain, code) is None


def test_a_hostile_scope_is_no_option_of_git_and_reads_no_file(brain: Brain, shop: Path, git: PlainGit) -> None:
    names = ("--all", "../../HEAD", "refunds^{/x}", "a\tb", "x" * 5000, "{}", "%s", "refs/heads/refunds")
    for number, name in enumerate(names):
        note = Note(
            f"n{number}", "memory", "Refunds ledger", branch=name, repository="acme/shop",
            provenance=Provenance(commit=name),
        )  # fmt: skip
        (brain.root / "memory").mkdir(exist_ok=True)
        (brain.root / "memory" / f"n{number}.md").write_bytes(codec.to_bytes(note, f"memory/n{number}.md"))
    git(shop, "checkout", "-q", "main")
    hits = found(brain, shop)
    assert len(hits) == len(names)
    assert all(hit.why[0].endswith("is unknown here") and len(hit.why[0]) < 120 for hit in hits)


def test_people_see_the_label_beside_the_status(brain: Brain, shop: Path, git: PlainGit) -> None:
    learned(brain, shop)
    git(shop, "checkout", "-q", "main")

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "commonwealth", "search", "refunds", "--brain", str(brain.root), *words]
        return subprocess.run(command, cwd=shop, check=True, capture_output=True, encoding="utf-8").stdout

    assert "on branch refunds, not merged" in said("--branch", "refunds")
    assert TITLE not in said()


def test_a_branch_that_the_code_repository_does_not_know_is_named_in_the_receipt_of_every_write(
    brain: Brain, shop: Path, git: PlainGit
) -> None:
    there = here(brain, shop)
    git(shop, "update-ref", "refs/remotes/upstream/theirs", "HEAD")
    for known in ("refunds", "main", "theirs"):
        assert record(there, f"Orders expire after a week on {known}", branch=known).warnings == ()
    assert record(there, "Payments settle at night there", branch="nobranch", repository="acme/other").warnings == ()
    receipt = record(there, "A fact of no branch", branch="nobranch")
    note = receipt.ids[0]
    changed = update.update(there, note, {"branch": "neither"}, session=Session(), now=NOW)
    unsaid = update.update(there, note, {"summary": "Said."}, session=Session(), now=NOW)
    draft = Draft("A fact of no branch either", summary="So.", branch="nobranch")
    replaced = supersede.supersede(there, [note], draft, effective_at=None, session=Session(), now=NOW)
    warned = [[one for one in told.warnings if "has no branch" in one] for told in (receipt, changed, unsaid, replaced)]
    assert [len(one) for one in warned] == [1, 1, 0, 1]
    assert "neither" in warned[1][0]
