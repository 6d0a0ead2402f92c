"""The start of a session: what bears on its branch, its files, its folder and its own work, then what all must know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.flows import about, brains, brief, indexing, starting
from commonwealth.flows.about import About
from commonwealth.flows.asis import ask_as_it_is
from commonwealth.flows.brains import Brain

from .conftest import PlainGit, note_text, recorded, write
from .shelf import NOW, SHOP, note, shelf


@pytest.fixture(scope="module")
def shop() -> Brain:
    return shelf(SHOP)


def chosen(
    brain: Brain, what: About, skip: frozenset[str] = frozenset(), lost: frozenset[str] = frozenset()
) -> list[str]:
    found = ask_as_it_is(brain, lambda conn: starting.choose(brain, conn, what, NOW, skip, lost))
    return [hit.note.id for hit in found.hits]


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        (About("payment retry", ("src/payments/PaymentService.ts",)), ["n409"]),
        (About("", ("src/payments/PaymentService.ts",)), ["n409"]),
        (About("warehouse sku"), ["sku"]),
        (About("", ("src/db/pool.py",)), ["pool"]),
        (About("", (), ("inventory",)), ["sku"]),
        (About(folder="src/auth"), ["tokens"]),
        (About(folder="src"), ["n409", "queue", "sku", "tokens", "pool"]),
        (About("dark mode", ("web/theme.css",)), ["httpx"]),
    ],
)
def test_what_bears_on_the_session_is_told(shop: Brain, what: About, wanted: list[str]) -> None:
    told = chosen(shop, what)
    assert told[-1] == "httpx"  # attached to nothing: for everybody, so it comes last
    assert sorted(told) == sorted({*wanted, "httpx"})


def test_without_a_focus_only_what_everybody_has_to_know_is_told_and_one_of_each_topic(shop: Brain) -> None:
    told = chosen(shop, About())
    assert set(told) <= {"n409", "queue", "httpx", "dates", "sku", "locale", "tokens"}
    assert len(told) == starting.GENERAL
    assert not {"n409", "queue"} <= set(told)
    assert not {"dates", "locale"} <= set(told)


def test_what_is_unsure_is_not_for_everybody() -> None:
    notes = [note(f"n{n}", f"Zebra{n} stripe{n}", confidence="medium") for n in range(9)]
    notes += [note(f"d{n}", f"Lion{n} mane{n}", type_="discovery") for n in range(9)]
    assert chosen(shelf(notes), About()) == []


def test_nothing_is_told_twice_but_what_a_compaction_took(shop: Brain) -> None:
    what = About("", ("src/payments/PaymentService.ts",))
    assert "n409" not in chosen(shop, what, skip=frozenset(["n409"]))
    again = chosen(shop, what, lost=frozenset(["pool", "old", "data", "unknown"]))
    assert again[:2] == ["pool", "n409"]
    assert not {"old", "data"} & set(again)


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        ("fix/payment-retry", "payment retry"),
        ("feature/PAY-1842-idempotent-charge", "PAY-1842 PAY idempotent charge"),
        ("main", ""),
        ("bugfix/123", ""),
        (None, ""),
    ],
)
def test_the_words_of_a_branch(branch: str | None, words: str) -> None:
    assert about.branch_words(branch) == words


def test_a_session_is_about_its_branch_its_changes_and_its_folder(brain: Brain, code: Path, git: PlainGit) -> None:
    (code / "src/pay").mkdir(parents=True)
    (code / "src/pay/a.py").write_text("a\n", encoding="utf-8")
    git(code, "add", "-A")
    git(code, "commit", "-q", "-m", "a")
    git(code, "checkout", "-q", "-b", "fix/zebra-stripes")
    (code / "src/pay/a.py").write_text("b\n", encoding="utf-8")
    here = brains.open_brain(brain.root, cwd=str(code / "src"))
    found = about.about(here, brief.changed_files(here), [])
    assert found == About("zebra stripes", ("src/pay/a.py",), (), "src")
    assert found.focused
    git(code, "checkout", "-q", "-f", "main")
    at_root = brains.open_brain(brain.root, cwd=str(code))
    assert not about.about(at_root, brief.changed_files(at_root), []).focused


def test_a_worktree_is_its_repository(brain: Brain, code: Path, git: PlainGit, tmp_path: Path) -> None:
    git(code, "worktree", "add", "-q", "-b", "fix/zebra-stripes", str(tmp_path / "tree"))
    note_id = recorded(brain, "Zebra stripes need polishing", type="gotcha")
    there = brains.open_brain(brain.root, cwd=str(tmp_path / "tree"))
    indexing.ensure(there, sweep=True)
    found = brief.session_start(there, now=NOW, budget=1200)
    assert [id_ for id_, _ in found.notes] == [note_id]
    assert "zebra" in found.notes[0][1]


def test_after_a_compaction_what_was_lost_comes_first(brain: Brain) -> None:
    files = {f"memory/n{n}.md": note_text(f"Zebra{n} stripe{n}", repository=str(brain.repository)) for n in range(9)}
    write(brain, files)
    indexing.ensure(brain, sweep=True)
    lost = frozenset(["n7", "n3"])
    assert brief.session_start(brain, now=NOW, budget=1200).notes == ()
    again = brief.session_start(brain, now=NOW, budget=1200, source="compact", skip=lost)
    assert {id_ for id_, _ in again.notes} == lost
    assert brief.session_start(brain, now=NOW, budget=1200, source="resume", skip=lost).notes == ()


def test_every_candidate_is_taken_or_left_with_a_reason(shop: Brain) -> None:
    what = About("payment retry", ("src/payments/PaymentService.ts",))
    found = ask_as_it_is(shop, lambda conn: starting.choose(shop, conn, what, NOW, frozenset(), frozenset()))
    assert all(reason for _, reason in found.left)
    ids = [hit.note.id for hit in found.hits] + [id_ for id_, _ in found.left]
    assert len(ids) == len(set(ids))


def test_outside_a_repository_nothing_is_chosen(shop: Brain) -> None:
    assert chosen(replace(shop, project=None), About("payment retry")) == []
