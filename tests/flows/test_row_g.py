"""Old and known mistakes about time, place and origin of facts, each shown not to happen here."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Usage
from commonwealth.flows import brains, brief, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import update
from commonwealth.index import query
from commonwealth.model import Note, Provenance, same_repository
from commonwealth.notes import codec

from .conftest import NOW, Teammate, record, recorded, search_all, write

PlainGit = Callable[..., str]


def titles(brain: Brain, text: str = "", **filters: object) -> list[str]:
    wanted = query.Query(text=text, now=NOW, **filters)  # type: ignore[arg-type]
    return [hit.note.title for hit in recall.search(brain, wanted).hits]


def note(brain: Brain, note_id: str) -> Note:
    return recall.read(brain, note_id).note


def synced(teammate: Teammate) -> Brain:
    brain = teammate.act()
    receipt = syncing.sync(brain)
    assert receipt.state in ("published", "unchanged"), receipt
    return brain


# A changed number is no repetition


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tokens live 5 years", "Tokens live 6 years"),
        ("Retries are safe", "Retries are not safe"),
        ("Works since 2.10", "Works since 2.1"),
    ],
)
def test_a_number_a_version_or_a_negation_makes_another_fact(brain: Brain, one: str, other: str) -> None:
    first, second = recorded(brain, one, body=f"{one}.\n"), recorded(brain, other, body=f"{other}.\n")
    assert first != second
    assert set(titles(brain, kind=("memory",))) == {one, other}
    same_title = recorded(brain, one, body=f"{other}.\n")
    assert same_title not in (first, second)
    assert record(brain, one, body=f"{one}.\n").state == "unchanged"


def test_what_holds_on_a_branch_and_what_holds_everywhere_are_two_facts(
    brain: Brain, code: Path, git: PlainGit
) -> None:
    git(code, "checkout", "-q", "-b", "f")
    git(code, "commit", "-q", "--allow-empty", "-m", "work")
    here = brains.open_brain(brain.root, cwd=str(code))
    limited = recorded(here, branch="f")
    assert record(here, branch="f").state == "unchanged"
    assert recorded(here) != limited


# Branches


def test_a_session_on_main_is_not_told_what_is_true_on_an_unmerged_branch(
    brain: Brain, code: Path, git: PlainGit
) -> None:
    git(code, "checkout", "-q", "-b", "f")
    git(code, "commit", "-q", "--allow-empty", "-m", "work")
    recorded(brains.open_brain(brain.root, cwd=str(code)), "Queues replace calls", branch="f")
    git(code, "checkout", "-q", "main")
    here = brains.open_brain(brain.root, cwd=str(code))
    assert titles(here, "queues") == []
    assert "Queues" not in brief.session_start(here, now=NOW, budget=900).text
    git(code, "merge", "-q", "--no-ff", "-m", "Merge", "f")
    assert (
        "[discovery, observed, medium confidence, branch f was merged]"
        in brief.session_start(brains.open_brain(brain.root, cwd=str(code)), now=NOW, budget=900).text
    )


@pytest.mark.parametrize(
    "name", ["a b", "-f", "a..b", "a/", "a.lock", "x~1", "@", "HEAD", "a\nb", "x" * 251, "a\u202eb"]
)
def test_a_scope_is_a_name_that_a_branch_can_have(brain: Brain, name: str) -> None:
    with pytest.raises(Usage, match="branch: git could have no branch of that name"):
        record(brain, branch=name)
    note_id = recorded(brain)
    with pytest.raises(Usage, match="branch: git could have no branch of that name"):
        update(brain, note_id, {"branch": name}, session=Session(), now=NOW)


def test_a_scope_is_set_only_when_asked_for_and_cleaned(brain: Brain) -> None:
    assert note(brain, recorded(brain, "One", provenance=Provenance(branch="f"))).branch is None
    assert note(brain, recorded(brain, "Two", branch="  ")).branch is None
    assert note(brain, recorded(brain, "Three", branch=" refs/heads/fix/ä-1 ")).branch == "fix/ä-1"


# Tags


def test_tags_are_normalised_when_they_are_written(brain: Brain) -> None:
    note_id = recorded(brain, tags=("auth: uses JWT", "Auth", "auth ", " ", "AUTH"))
    tags = note(brain, note_id).tags
    assert tags == tuple(dict.fromkeys(tags))
    assert tags.count("auth") == 1
    assert all(re.fullmatch(r"[^\sA-Z:]+", tag) for tag in tags)
    for wanted in (*tags, "Auth", "AUTH "):
        assert titles(brain, tag=(wanted,)) == ["Retries are safe"]
    later = recorded(brain, "Later")
    update(brain, later, {"tags": ["Auth", "auth: uses JWT"]}, session=Session(), now=NOW)
    assert set(note(brain, later).tags) == set(tags)


# Numbers are no keys


def test_two_people_decide_on_one_day_and_both_decisions_stand(team: tuple[Teammate, Teammate]) -> None:
    alice, bob = team
    for person in team:
        recorded(person.act(), "Use queues", kind="decision", body=f"Says {person.name}.\n")
    for person in (alice, bob):
        synced(person)
    assert titles(synced(alice), kind=("decision",)) == ["Use queues", "Use queues"]
    assert titles(synced(bob), kind=("decision",)) == ["Use queues", "Use queues"]


def test_a_number_of_a_decision_is_no_key_and_an_id_no_number(brain: Brain) -> None:
    same = "---\nid: {id}\ntitle: {title}\nkind: decision\nnumber: 7\n---\nBody of {title}.\n"
    write(
        brain,
        {
            "decisions/2023.md": same.format(id="2023", title="By year"),
            "decisions/0007-queues.md": same.format(id="0007", title="Queues"),
            "decisions/1e3.md": same.format(id="1e3", title="Exponent"),
        },
    )
    assert sorted(titles(brain, kind=("decision",))) == ["By year", "Exponent", "Queues"]
    assert {id_: note(brain, id_).title for id_ in ("2023", "0007", "1e3")} == {
        "2023": "By year",
        "0007": "Queues",
        "1e3": "Exponent",
    }
    assert note(brain, "0007").id == "0007"
    assert note(brain, "0007").number == "7"


# One rule for the names of repositories


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("payments-api", "acme/payments-api", True),
        ("acme/payments-api", "github.com/Acme/Payments-API", True),
        ("pay", "payments-api", False),
        ("pay", "acme/payments-api", False),
        ("api", "payments-api", False),
        ("acme/payments-api", "umbrella/payments-api", False),
        ("", "payments-api", False),
    ],
)
def test_a_repository_matches_both_ways_or_not_at_all(brain: Brain, one: str, other: str, same: bool) -> None:
    for stored, asked in ((one, other), (other, one)):
        assert same_repository(stored, asked) is same
        if stored and asked:
            recorded(brain, f"Of {stored}", repository=stored)
            assert (f"Of {stored}" in titles(brain, repository=(asked,))) is same


def test_a_tag_is_no_repository_and_no_part_of_one(brain: Brain) -> None:
    recorded(brain, tags=("pay",), repository="acme/payments-api")
    assert titles(brain, tag=("payments-api",)) == titles(brain, repository=("pay",)) == []
    assert titles(brain, tag=("pay",)) == titles(brain, repository=("payments-api",)) == ["Retries are safe"]


# Where a fact comes from

SHA = "4f8c2ab91e0d3c5577a1b2c3d4e5f60718293a4b"
ORIGIN = Provenance(
    human="Zoë Okafor",
    agent="Codex",
    repository="acme/commerce-platform",
    branch="investigate/duplicate-payments",
    commit=SHA,
    pull_request="https://git.example.com/acme/pulls/77",
    issue="PAY-1842",
    files=("src/payments/RetryPolicy.ts",),
    urls=("https://wiki.example.org/runbook",),
    evidence=("An integration test reproduced it.",),
    session="0193f1c2-7a44-7b12-9f0e-2f5d6c8b9a10",
)


@pytest.mark.parametrize(
    "asked",
    [
        "zoë", "ZOE okafor", "codex", "commerce-platform", "duplicate-payments", ORIGIN.branch, SHA, SHA[:7],
        SHA[:12].upper(), "PAY-1842", ORIGIN.pull_request, "RetryPolicy", "src/payments/RetryPolicy.ts",
        ORIGIN.urls[0], "runbook", "reproduced", ORIGIN.session,
    ],
)  # fmt: skip
def test_a_note_is_found_by_every_part_of_its_origin(brain: Brain, asked: str) -> None:
    write(
        brain,
        {
            f"memory/{name}.md": codec.to_bytes(Note(name, "memory", name, provenance=origin), f"memory/{name}.md")
            for name, origin in (("wanted", ORIGIN), ("other", Provenance(human="Bob", commit="e" + SHA[1:])))
        },
    )
    assert titles(brain, asked) == ["wanted"]


def test_an_origin_of_blanks_is_filled_from_the_session(brain: Brain, code: Path, git: PlainGit) -> None:
    blank = Provenance(" ", "\t", "", " ", "", " ", " ", ("", " "), (" ",), ("", "seen ", "seen"), " ")
    made = note(brain, record(brain, provenance=blank).ids[0]).provenance
    assert made == Provenance(
        human="Alice",
        repository="git.example.com/acme/shop",
        branch="main",
        commit=git(code, "rev-parse", "HEAD").strip(),
        evidence=("seen",),
    )


def test_an_origin_cannot_be_emptied(brain: Brain) -> None:
    write(brain, {"memory/one.md": "---\ntitle: One\nprovenance:\n  human: Bob\n---\nText.\n"})
    with pytest.raises(Usage, match="provenance: at least one field has to stay"):
        update(brain, "one", {"provenance.human": " "}, session=Session(), now=NOW)


def test_the_sessions_branch_and_commit_are_not_those_of_another_repository_or_branch(
    brain: Brain, code: Path, git: PlainGit
) -> None:
    elsewhere = note(brain, recorded(brain, "One", provenance=Provenance(repository="acme/other"))).provenance
    assert (elsewhere.repository, elsewhere.branch, elsewhere.commit) == ("acme/other", None, None)
    git(code, "branch", "f")
    git(code, "commit", "-q", "--allow-empty", "-m", "main goes on")
    here = brains.open_brain(brain.root, cwd=str(code))
    scoped = note(brain, recorded(here, "Two", branch="f")).provenance
    assert (scoped.branch, scoped.commit) == ("f", git(code, "rev-parse", "f").strip())
    unknown = note(brain, recorded(here, "Three", branch="not-here")).provenance
    assert (unknown.branch, unknown.commit) == ("not-here", None)


# Who


def people(brain: Brain) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in sorted((brain.root / "people").iterdir()) if path.name != "INDEX.md"
    }


def test_one_person_in_two_offline_clones_makes_one_file_byte_for_byte(
    team: tuple[Teammate, Teammate], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for person, now in zip(team, (NOW, "2026-08-02T11:11:11Z"), strict=True):
        brain = person.act()
        monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Zoë O’Connor")
        monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "Zoe@Example.com" if now == NOW else " zoe@example.com")
        note_id = recorded(brain, f"From {person.name}", now)
        ref = note(brain, note_id).author_ref
        made.append({name: data for name, data in people(brain).items() if name == f"{ref}.md"})
        assert note(brain, str(ref)).name == "Zoë O’Connor"
    assert made[0] == made[1] != {}
    for person in (*team, team[0]):
        there = synced(person)
        assert search_all(there.root / "people", "example.com") == []
        assert made[0].items() <= people(there).items()


def test_a_new_name_of_one_address_keeps_the_reference(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    before = note(brain, recorded(brain, "One"))
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Alice Ökten-Berg")
    after = note(brain, recorded(brain, "Two"))
    assert (after.author, after.author_ref) == ("Alice Ökten-Berg", before.author_ref)
    assert list(people(brain)) == [f"{before.author_ref}.md"]
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "another@example.com")
    assert note(brain, recorded(brain, "Three")).author_ref != before.author_ref
    assert len(people(brain)) == 2


def test_a_persons_file_with_a_strange_name_is_nobodys_reference(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    end = str(note(brain, recorded(brain, "One")).author_ref).rpartition("-")[2]
    (brain.root / "people" / f"..evil {end}.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    (brain.root / "people" / f"A-{end}.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert note(brain, recorded(brain, "Two")).author_ref == f"alice-{end}"


def test_no_address_is_in_any_file_of_a_brain(brain: Brain) -> None:
    recorded(brain, "One")
    assert search_all(brain.root / "memory", "alice@example.com") == []
    assert not [path for path in brain.root.rglob("*.md") if b"@example.com" in path.read_bytes()]
