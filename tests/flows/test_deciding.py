"""Several people and tools decide about one candidate at once: one decision counts, and each is told which."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from commonwealth.flows import deciding, queueing, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.notes import codec, store, waiting

from .conftest import NOW, note_text, spawn, together, write

PlainGit = Callable[..., str]
PERSON = Session()
ROUNDS = 15

_PERSON = """
import json, sys, time
from commonwealth.errors import BrainError
from commonwealth.flows import brains, review
from commonwealth.flows.identity import Session
brain, does = brains.open_brain(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
said = {}
branch = brain.root / ".git/refs/heads/main"
seen = sys.argv[4]
for number in range(int(sys.argv[3])):
    id_ = f"2026-07-01-fact-{number:08d}"
    # Whoever comes second acts at the very moment at which the branch has the note and the queue has it still.
    end = time.monotonic() + (0 if does == "approve" else 20)
    while time.monotonic() < end and branch.read_text().strip() == seen:
        pass
    seen = branch.read_text().strip()
    try:
        if does == "approve":
            receipt = review.approve(brain, [id_], session=Session(), now="2026-07-02T10:00:00Z")
        elif does == "reject":
            receipt = review.reject(brain, [id_], session=Session(), now="2026-07-02T10:00:00Z")
        else:
            receipt = review.edit(brain, id_, {"summary": "Edited."}, now="2026-07-02T10:00:00Z")
        said[id_] = [receipt.state, list(receipt.dropped or ())]
    except BrainError as error:
        said[id_] = ["error", error.message]
print(json.dumps(said))
"""


def staged(brain: Brain, number: int = 0) -> str:
    id_ = f"2026-07-01-fact-{number:08d}"
    write(brain, {f"staging/{id_}.md": note_text(f"Fact {number}", id=id_, kind="memory")})
    return id_


def canon(brain: Brain, git: PlainGit) -> dict[str, str]:
    """The committed facts: id and path."""
    listed = git(brain.root, "ls-tree", "-r", "--name-only", "HEAD", "memory").split("\n")
    return {path.rpartition("/")[2].removesuffix(".md"): path for path in listed if path and "INDEX" not in path}


def lie(brain: Brain, *, dropped: bool) -> set[str]:
    return {one.note.id for one in waiting.listed(brain.root, dropped=dropped)[0]}


def test_who_approves_and_who_rejects_come_to_one_outcome(brain: Brain, git: PlainGit) -> None:
    ids = [staged(brain, number) for number in range(ROUNDS)]
    head = git(brain.root, "rev-parse", "HEAD").strip()
    people = [spawn(_PERSON, str(brain.root), does, str(ROUNDS), head) for does in ("approve", "reject")]
    approved, rejected = (json.loads(said) for said in together(people))
    there, dropped = canon(brain, git), lie(brain, dropped=True)
    assert lie(brain, dropped=False) == set()
    for id_ in ids:
        # What was set aside may be approved afterwards: then it is brought back, and no copy stays among the dropped.
        assert (id_ in there) != (id_ in dropped), (id_, approved[id_], rejected[id_])
        assert (approved[id_][0] == "committed") == (id_ in there), (id_, approved[id_])
        if id_ in dropped:
            assert rejected[id_] == ["unchanged", [id_]]
        if id_ in there:
            assert rejected[id_][0] in ("refused", "error") or rejected[id_] == ["unchanged", [id_]]


def test_an_edit_is_in_canon_or_is_told_that_it_is_not(brain: Brain, git: PlainGit) -> None:
    ids = [staged(brain, number) for number in range(ROUNDS)]
    head = git(brain.root, "rev-parse", "HEAD").strip()
    people = [spawn(_PERSON, str(brain.root), does, str(ROUNDS), head) for does in ("approve", "edit")]
    approved, edited = (json.loads(said) for said in together(people))
    there = canon(brain, git)
    assert lie(brain, dropped=False) == set()
    for id_ in ids:
        assert approved[id_][0] == "committed"
        summary = codec.parse(git(brain.root, "show", f"HEAD:{there[id_]}"), there[id_], "memory")[0].summary
        assert (edited[id_][0] == "staged") == (summary == "Edited."), (id_, edited[id_])


@pytest.mark.parametrize("act", ["reject", "edit"])
def test_the_later_one_is_told_what_was_decided(brain: Brain, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    id_ = staged(brain)
    found = review.find(brain, id_)
    assert review.approve(brain, [id_], session=PERSON, now=NOW).state == "committed"
    monkeypatch.setattr(review, "find", lambda *_: found)
    if act == "reject":
        receipt = review.reject(brain, [id_], session=PERSON, now=NOW)
    else:
        receipt = review.edit(brain, id_, {"summary": "Edited."}, now=NOW)
    assert (receipt.state, receipt.reason, receipt.dropped) == ("refused", deciding.APPROVED, None)
    assert receipt.next
    assert lie(brain, dropped=False) == lie(brain, dropped=True) == set()


@pytest.mark.parametrize("act", ["reject", "edit"])
def test_what_an_approval_that_was_killed_has_left_is_decided_already(brain: Brain, act: str) -> None:
    id_ = staged(brain)
    data = (brain.root / f"staging/{id_}.md").read_bytes()
    review.approve(brain, [id_], session=PERSON, now=NOW)
    write(brain, {f"staging/{id_}.md": data})
    if act == "reject":
        receipt = review.reject(brain, [id_], session=PERSON, now=NOW)
    else:
        receipt = review.edit(brain, id_, {"summary": "Edited."}, now=NOW)
    assert receipt.state == "refused"
    assert f"brain review approve {id_}" in (receipt.reason or "")
    assert review.approve(brain, [id_], session=PERSON, now=NOW).state == "unchanged"
    assert lie(brain, dropped=False) == lie(brain, dropped=True) == set()


def test_an_edit_is_made_to_what_the_file_says_by_now(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = staged(brain)
    found = review.find(brain, id_)
    review.edit(brain, id_, {"tags": ["kept"]}, now=NOW)
    monkeypatch.setattr(review, "find", lambda *_: found)
    assert review.edit(brain, id_, {"summary": "Edited."}, now=NOW).state == "staged"
    note = waiting.listed(brain.root)[0][0].note
    assert (note.tags, note.summary) == (("kept",), "Edited.")


def test_an_editor_that_saves_what_was_approved_meanwhile_is_told_so(brain: Brain) -> None:
    id_ = staged(brain)
    review.approve(brain, [id_], session=PERSON, now=NOW)
    write(brain, {f"staging/{id_}.md": note_text("Fact 0", "Other words.\n", id=id_, kind="memory")})
    receipt = review.checked(brain, f"staging/{id_}.md")
    assert any("is in canon by now" in warning for warning in receipt.warnings)


def test_a_sweep_brings_no_draft_back_that_was_decided_on_meanwhile(brain: Brain) -> None:
    id_ = staged(brain)
    (one,) = waiting.listed(brain.root)[0]
    looked = queueing.Queue(own=(one,), untouched=(one,))
    review.approve(brain, [id_], session=PERSON, now=NOW)
    plan = queueing.Plan(withdraw=[one])
    plan.stage["00000000"] = (None, (one.path, b"a newer draft"))  # type: ignore[assignment]
    queueing.write(brain.root, plan, looked)
    assert list(store.staged_paths(brain.root)) == []
    assert list(store.staged_paths(brain.root, store.DROPPED)) == []
