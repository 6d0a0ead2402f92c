"""Recording facts: what comes back, what is refused, what is made once, and where it goes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from commonwealth.errors import Refused, Usage
from commonwealth.flows import brains, recall
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.index.query import Query
from commonwealth.model import Provenance
from commonwealth.notes import codec, naming, store
from tests.curate import tokens

from .conftest import NOW, Teammate, record, recorded, search_all, spawn, together, write

PlainGit = Callable[..., str]

LATER = "2026-07-02T10:00:00Z"

FULL = Draft(
    title="HTTP 409 means an idempotent payment already succeeded",
    summary="Treat 409 as success: retrying can duplicate.",
    body="First line.\n\n---\n\n# Not a title: of ours\n\n- [x] done\n- [24:33 - 24:41] hi [[other]]\n",
    type="gotcha",
    status="confirmed",
    confidence="high",
    observed_at="2026-06-02T12:15:00Z",
    valid_from="2026-01-10T00:00:00Z",
    valid_until="2027-01-10T00:00:00Z",
    repository="acme/commerce-platform",
    components=("payments", "retry: policy"),
    tags=("idempotency", "http-409"),
    relates=("another-note",),
    deciders=("Alice", "Bob B."),
    branch="investigate/duplicate-payments",
    provenance=Provenance(
        human="Carol",
        agent="Codex",
        repository="acme/other",
        branch="main",
        commit="4f8c2ab",
        pull_request="#12",
        issue="PAY-1842",
        files=("src/a.ts", "src/dir with space/é.ts"),
        urls=("https://example.com/a?b=c#d",),
        evidence=("A test: it reproduced 409.", "yes"),
        session="0123-abc",
    ),
)


def test_every_field_comes_back_exactly(brain: Brain) -> None:
    receipt = remember(brain, FULL, session=Session("Claude Code", "s-1"), now=NOW)
    assert (receipt.state, len(receipt.ids), bool(receipt.commit)) == ("committed", 1, True)
    note = recall.read(brain, receipt.ids[0]).note
    for field in fields(Draft):
        if field.name not in ("idempotency_key", "kind"):
            assert getattr(note, field.name) == getattr(FULL, field.name), field.name
    assert (note.kind, note.created_at, note.updated_at) == ("memory", NOW, NOW)
    assert (note.author, note.author_ref) == ("Alice", naming.stem(next((brain.root / "people").glob("alice-*")).name))


def test_what_is_left_out_gets_the_documented_default_and_the_session_fills_the_origin(
    brain: Brain, git: PlainGit, code: Path
) -> None:
    receipt = remember(brain, Draft("Bare"), session=Session("Codex", "s-9"), now=NOW)
    note = recall.read(brain, receipt.ids[0]).note
    assert (note.type, note.status, note.confidence, note.observed_at) == ("discovery", "observed", "medium", NOW)
    assert (note.valid_from, note.valid_until, note.branch, note.body, note.summary) == (None, None, None, "", None)
    commit = git(code, "rev-parse", "HEAD").strip()
    origin = note.provenance
    assert (origin.human, origin.agent, origin.session, origin.branch) == ("Alice", "Codex", "s-9", "main")
    assert commit.startswith(origin.commit or "none")
    assert note.repository == origin.repository == "git.example.com/acme/shop"


@pytest.mark.parametrize(
    ("given", "kind", "type_", "status"),
    [
        ({"kind": "decision"}, "decision", "decision", "decision"),
        ({"type": "decision"}, "decision", "decision", "decision"),
        ({"kind": "decision", "type": "architecture"}, "decision", "architecture", "decision"),
        ({"kind": "decision", "status": "hypothesis"}, "decision", "decision", "hypothesis"),
    ],
)
def test_a_decision_by_kind_or_type_keeps_what_was_said(
    brain: Brain, given: dict[str, str], kind: str, type_: str, status: str
) -> None:
    found = recall.read(brain, recorded(brain, "We use queues", **given))
    assert (found.note.kind, found.note.type, found.note.status) == (kind, type_, status)
    assert found.path.startswith("decisions/2026-07/")


HOSTILE = [
    "2026-05-26", "yes", "null", "~", "0x10", "1e3", "a: b", "../../x", "CON", "nul.md", ".git", "-rf",
    "--upload-pack=x",
    "🎉🎉", "日本語のタイトル", "Привет, мир", "ไทย", "x" * 300, "two\nlines", "two\r\nlines", "tab\there",
    "it's \"quoted\"",
    "'", "#tag", "- item", "[a, b]", "{a: b}", "&anchor", "*alias", "!!python/object:os.system", "| block", "> fold",
    "\x1b[31mred\x1b[0m", "\u202eevil\u202c", "a\u200bb", "\ufeffbom", "trailing space ", " leading", "back\\slash",
    "%YAML 1.1", "---", "...", "NEAR(", 'a" OR "b', "Cafe\u0301", "\u2028sep", "\x85nel", "\x7f", "#" * 20, "`rm`",
]  # fmt: skip


def test_hostile_titles_make_safe_ids_and_come_back_exactly(brain: Brain, git: PlainGit) -> None:
    ids = {}
    for title in HOSTILE:
        ids[title] = recorded(brain, title, body=f"About {title!r}.")
    assert len(set(ids.values())) == len(HOSTILE)
    for title, note_id in ids.items():
        assert naming.valid_id(note_id)
        assert note_id.isascii()
        assert note_id == note_id.lower()
        reading = recall.read(brain, note_id)
        assert reading.note.title == title
        assert (brain.root / reading.path).is_file()
        by_id = recall.search(brain, Query(text=note_id, now=NOW), sweep=False)
        assert by_id.hits[0].note.title == title
        by_title = recall.search(brain, Query(text=title, now=NOW), sweep=False)
        assert title in [hit.note.title for hit in by_title.hits], title
    assert git(brain.root, "status", "--porcelain") == ""


def test_a_title_that_no_file_can_hold_is_refused_and_leaves_nothing(brain: Brain, git: PlainGit) -> None:
    before = git(brain.root, "rev-parse", "HEAD")
    for title in ("half \ud83d a character", "x" * 2000, "  \n "):
        with pytest.raises((Refused, Usage)):
            record(brain, title)
    assert git(brain.root, "rev-parse", "HEAD") == before
    assert git(brain.root, "status", "--porcelain") == ""


def test_a_nul_comes_back_or_is_refused(brain: Brain) -> None:
    assert recall.read(brain, recorded(brain, "a\x00b")).note.title == "a\x00b"


def test_every_invalid_field_is_named_in_one_error(brain: Brain) -> None:
    bad = Draft(
        " ", kind="person", type="rumour", status="true", confidence="sure",
        observed_at="yesterday", valid_from="2026-13-01", valid_until="soon",
    )  # fmt: skip
    with pytest.raises(Usage) as caught:
        remember(brain, bad, session=Session(), now=NOW)
    for name in ("title", "kind", "type", "status", "confidence", "observed_at", "valid_from", "valid_until"):
        assert f"{name}: " in caught.value.message
    with pytest.raises(Usage, match="valid_until"):
        record(brain, valid_from="2026-07-01", valid_until="2026-07-01T00:00:00Z")
    with pytest.raises(Usage, match="status"):
        record(brain, status="retracted")


def test_lists_are_made_canonical(brain: Brain) -> None:
    note_id = recorded(
        brain,
        tags=("auth: uses JWT", "Auth", "auth ", "", "#Auth"),
        components=("a", "a", " ", "b "),
        deciders=("", "Alice", "Alice"),
        provenance=Provenance(files=("", "a.py", "a.py"), urls=("",), evidence=(" ",)),
    )
    note = recall.read(brain, note_id).note
    assert note.tags == ("auth-uses-jwt", "auth")
    assert note.components == ("a", "b")
    assert note.deciders == ("Alice",)
    assert (note.provenance.files, note.provenance.urls, note.provenance.evidence) == (("a.py",), (), ())


# Secrets

TEXTS = ("title", "summary", "body", "repository", "branch")
LISTS = ("components", "tags", "relates", "deciders")
ORIGIN_TEXTS = ("human", "agent", "repository", "branch", "commit", "pull_request", "issue", "session")
ORIGIN_LISTS = ("files", "urls", "evidence")


def with_value(door: str, value: str) -> Draft:
    """A draft that holds `value` in one field."""
    head, _, name = door.partition(".")
    if name:
        given: dict[str, Any] = {name: (value,) if name in ORIGIN_LISTS else value}
        return Draft("x", repository="acme", provenance=Provenance(**given))
    given = {"title": "x", head: (value,) if head in LISTS else value}
    return Draft(**given)


@pytest.mark.parametrize("door", [*TEXTS, *LISTS, *(f"provenance.{name}" for name in (*ORIGIN_TEXTS, *ORIGIN_LISTS))])
def test_a_secret_is_refused_at_every_field_and_is_nowhere(
    brain: Brain, tmp_path: Path, door: str, git: PlainGit
) -> None:
    # In lower case, as tags are made so.
    secret = tokens.make("glpat-{20:b36}", random.Random(7))
    head = git(brain.root, "rev-parse", "HEAD")
    receipt = remember(brain, with_value(door, secret), session=Session(), now=NOW)
    assert receipt.state == "refused"
    assert receipt.reason is not None
    assert receipt.reason.startswith((f"secret: {door} (", f"secret: {door}, line 1 ("))
    assert secret not in repr(receipt)
    assert git(brain.root, "rev-parse", "HEAD") == head
    assert search_all(tmp_path, secret) == []


def test_an_error_about_an_invalid_field_does_not_repeat_a_secret(brain: Brain) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(8))
    with pytest.raises(Usage) as caught:
        record(brain, type=secret, observed_at=secret)
    assert secret not in caught.value.message


# Once


def test_the_same_words_again_change_nothing(brain: Brain, git: PlainGit) -> None:
    first = recorded(brain, body="Once.", summary="Short.")
    head = git(brain.root, "rev-parse", "HEAD")
    again = record(brain, body="Once.", summary="Short.", now=LATER)
    assert (again.state, again.ids) == ("unchanged", (first,))
    assert git(brain.root, "rev-parse", "HEAD") == head


def test_the_same_words_about_another_repository_or_in_another_kind_are_another_fact(brain: Brain) -> None:
    ids = {
        recorded(brain, "The limit is 3"),
        recorded(brain, "The limit is 3", repository="acme/other"),
        recorded(brain, "The limit is 3", kind="decision"),
        recorded(brain, "The limit is 4"),
        recorded(brain, "The limit is 3", body="Since May."),
    }
    assert len(ids) == 5


def test_a_key_makes_one_note_whatever_the_words(brain: Brain) -> None:
    first = recorded(brain, "One", idempotency_key="call-1")
    again = record(brain, "Other words", idempotency_key="call-1", now=LATER)
    assert (again.state, again.ids) == ("unchanged", (first,))
    assert recorded(brain, "Third", idempotency_key="call-2") != first


def test_a_repeated_call_about_the_past_or_the_future_is_one_note(brain: Brain) -> None:
    for times in ({"valid_until": "2020-01-01"}, {"valid_from": "2030-01-01"}):
        first = recorded(brain, "A flag is on", **times)
        again = record(brain, "A flag is on", now=LATER, **times)
        assert (again.state, again.ids) == ("unchanged", (first,))


def edit(brain: Brain, note_id: str, **changes: str) -> None:
    found = recall.locate(brain, note_id)
    path = brain.root / found.path
    path.write_text(codec.edit(path.read_text(encoding="utf-8"), changes), encoding="utf-8", newline="")


@pytest.mark.parametrize("closing", ["retracted", "superseded", "replaced by another note", "expired"])
def test_what_was_closed_can_be_recorded_again(brain: Brain, closing: str) -> None:
    first = recorded(brain, body="True again.")
    if closing == "replaced by another note":
        text = f"---\nid: other\ntitle: Not so\nsupersedes: [{first}]\nobserved_at: {NOW}\n---\n"
        write(brain, {"memory/other.md": text})
    elif closing == "expired":
        edit(brain, first, valid_until="2026-07-01T12:00:00Z", status="superseded")
    else:
        edit(brain, first, status=closing)
    second = recorded(brain, body="True again.", now=LATER)
    assert second != first
    assert record(brain, body="True again.", now=LATER).ids == (second,)
    edit(brain, second, status="retracted")
    third = recorded(brain, body="True again.", now=LATER)
    assert len({first, second, third}) == 3
    assert recall.locate(brain, third.rpartition("-")[2]).id == third


CALL = """
import sys
from pathlib import Path
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
print("ready", flush=True)
sys.stdin.readline()
draft = Draft(sys.argv[2], body=sys.argv[3], idempotency_key=sys.argv[4] or None)
receipt = remember(brain, draft, session=Session(), now="2026-07-01T10:00:00Z")
print(receipt.state, *receipt.ids)
"""


@pytest.mark.parametrize("key", ["", "key-1"])
def test_eight_processes_at_once_make_one_note(brain: Brain, git: PlainGit, key: str) -> None:
    said = together([spawn(CALL, str(brain.root), "Same", "Same body.", key) for _ in range(8)])
    assert sorted(line.split()[0] for line in said) == ["committed"] + ["unchanged"] * 7
    assert len({line.split()[1] for line in said}) == 1
    assert len(list((brain.root / "memory").rglob("2026-*.md"))) == 1
    assert git(brain.root, "status", "--porcelain") == ""


def test_eight_processes_with_facts_of_their_own_lose_none(brain: Brain, git: PlainGit) -> None:
    said = together([spawn(CALL, str(brain.root), f"Fact {n}", "x", "") for n in range(8)])
    ids = {line.split()[1] for line in said}
    assert len(ids) == 8
    assert all(line.startswith("committed") for line in said)
    assert recall.search(brain, Query(kind=("memory",), now=NOW)).total == 8
    assert len(list((brain.root / "people").glob("*.md"))) == 1
    assert git(brain.root, "status", "--porcelain") == ""
    assert git(brain.root, "fsck", "--strict") == ""


# Where it goes


def with_review(brain: Brain, mode: str) -> Brain:
    path = brain.root / ".commonwealth" / "config.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("review: auto", f"review: {mode}"), encoding="utf-8")
    return brains.open_brain(brain.root, cwd=brain.cwd)


@pytest.mark.parametrize("mode", ["queue", "pull-request"])
def test_a_team_that_reviews_gets_candidates(brain: Brain, git: PlainGit, mode: str) -> None:
    brain = with_review(brain, mode)
    head = git(brain.root, "rev-parse", "HEAD")
    receipt = record(brain, body="Maybe.")
    assert receipt.state == "staged"
    assert mode in (receipt.reason or "")
    assert (brain.root / "staging" / f"{receipt.ids[0]}.md").is_file()
    assert [file.note.title for file in store.staged(brain.root)[0]] == ["Retries are safe"]
    assert recall.search(brain, Query(text="Retries are safe", now=NOW)).total == 0
    again = record(brain, body="Maybe.", now=LATER)
    assert (again.state, again.ids) == ("staged", receipt.ids)
    assert len(list((brain.root / "staging").iterdir())) == 1
    assert git(brain.root, "rev-parse", "HEAD") == head


def test_a_person_may_be_stricter_than_the_team_and_never_looser(brain: Brain, tmp_path: Path) -> None:
    own = tmp_path / "home" / ".commonwealth" / "config.yaml"
    own.parent.mkdir(exist_ok=True)
    own.write_text("review: queue\n", encoding="utf-8")
    assert record(brain).state == "staged"
    own.write_text("review: auto\n", encoding="utf-8")
    assert record(with_review(brain, "pull-request"), "Other").state == "staged"


def test_a_secret_is_not_staged_either(brain: Brain, tmp_path: Path) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(9))
    assert record(with_review(brain, "queue"), body=secret).state == "refused"
    assert search_all(tmp_path, secret) == []


def test_a_persons_note_is_made_once_and_the_same_in_two_clones(
    team: tuple[Teammate, Teammate], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = team
    recorded(alice.act(), "One")
    recorded(alice.act(), "Two")
    [first] = (alice.root / "people").glob("*.md")
    monkeypatch.setattr(alice, "root", bob.root)  # Alice on Bob's clone, as on a second machine
    recorded(alice.act(), "Three")
    [second] = (bob.root / "people").glob("*.md")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert "@" not in first.read_text(encoding="utf-8")


def test_a_note_is_committed_alone_and_the_work_tree_is_clean(brain: Brain, git: PlainGit) -> None:
    write(brain, {"stray.txt": "mine", "memory/.env": "X=1"})
    recorded(brain)
    note_id = recorded(brain, "Second")
    changed = git(brain.root, "show", "--name-only", "--format=", "HEAD").split()
    assert changed == [f"memory/2026-07/{note_id}.md"]
    assert set(git(brain.root, "status", "--porcelain").splitlines()) == {"?? stray.txt", "?? memory/.env"}
    assert git(brain.root, "log", "-1", "--format=%an <%ae>").strip() == "Alice <alice@example.com>"


def test_a_character_that_no_file_may_hold_is_named_with_what_to_do(brain: Brain) -> None:
    with pytest.raises(Refused, match="NUL") as raised:
        record(brain, "Retries are safe", body="a\0b")
    assert raised.value.hint == "Take that character out."
