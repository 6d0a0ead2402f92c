"""What lies where it should not, or says what cannot be: told with the file and the next step, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.errors import BrainError, Damaged, Refused
from commonwealth.flows import allowed, doctor, modes, recall, requests, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.requestanswer import Wanted
from commonwealth.flows.update import update
from commonwealth.notes import store

from .conftest import NOW, note_text, write

PlainGit = Callable[..., str]
PERSON = Session()
DECISIONS: dict[str, Callable[[Brain, str], object]] = {
    "show": lambda brain, id_: review.shown(brain, id_, now=NOW),
    "approve": lambda brain, id_: review.approve(brain, [id_], session=PERSON, now=NOW),
    "reject": lambda brain, id_: review.reject(brain, [id_], session=PERSON, now=NOW),
    "edit": lambda brain, id_: review.edit(brain, id_, {"summary": "S"}, now=NOW),
    "read": recall.read,
    "update": lambda brain, id_: update(brain, id_, {"summary": "S"}, session=PERSON, now=NOW),
    "request": lambda brain, id_: requests.send(
        brain, [id_], Wanted(), connect=lambda _: pytest.fail("asked"), session=PERSON, now=NOW
    ),
}


def say(brain: Brain, name: str) -> list[str]:
    return [f"{one.message} {one.hint}" for one in doctor.doctor(str(brain.root), str(brain.root)) if one.name == name]


@pytest.mark.parametrize("what", ["home", "lock"])
def test_a_home_that_takes_no_setting_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    home = tmp_path / "other-home"
    if what == "home":
        home.write_text("a file", encoding="utf-8")
    else:
        (home / "config.lock").mkdir(parents=True)
    monkeypatch.setenv("COMMONWEALTH_HOME", str(home))
    with pytest.raises(Refused, match="No setting was changed") as refused:
        modes.change("sweeps", "queue")
    assert str(home) in refused.value.message
    assert "COMMONWEALTH_HOME" in (refused.value.hint or "")
    assert ".git" not in f"{refused.value.message} {refused.value.hint}"


def test_a_folder_in_the_place_of_the_list_of_what_is_allowed_is_named(brain: Brain) -> None:
    place = config.home() / "allow.yaml"
    place.mkdir(parents=True)
    for act in (allowed.load, lambda: allowed.allow("a" * 20, "why"), lambda: allowed.revoke("a")):
        with pytest.raises(Damaged, match="is a folder, where a file belongs") as damaged:
            act()
        assert str(place) in damaged.value.message
        assert "Errno" not in damaged.value.message
        assert "Move it away" in (damaged.value.hint or "")
    assert any(str(place) in text for text in say(brain, "allowed"))


@pytest.mark.parametrize("act", ["show", "approve", "reject", "edit"])
def test_a_folder_in_the_place_of_a_candidate_is_listed_and_left(brain: Brain, act: str) -> None:
    write(brain, {"staging/x.md/inner.md": note_text("Inside"), "staging/fine.md": note_text("Fine")})
    listing = review.listed(brain)
    assert [problem.path for problem in listing.broken] == ["staging/x.md"]
    with pytest.raises(Damaged, match=r"staging/x\.md.* folder"):
        DECISIONS[act](brain, "x")
    assert any("staging/x.md" in text for text in say(brain, "queue"))
    assert (brain.root / "staging/x.md/inner.md").exists()
    with pytest.raises(Damaged, match="a folder is in its place") as damaged:
        store.put(brain.root, "staging/x.md", b"x")
    assert "Move that folder away" in (damaged.value.hint or "")


@pytest.mark.parametrize("act", DECISIONS)
@pytest.mark.parametrize("note_id", ["../../etc/x", "../outside", "/outside", "staging/../../outside", "..", "."])
def test_an_id_that_leads_elsewhere_is_no_id(brain: Brain, tmp_path: Path, act: str, note_id: str) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(note_text("Outside"), encoding="utf-8")
    with pytest.raises(BrainError, match="has the id") as error:
        DECISIONS[act](brain, note_id)
    assert error.value.hint
    assert outside.read_text(encoding="utf-8") == note_text("Outside")


@pytest.mark.parametrize("note_id", ["../../etc/x", "/etc/x", "a/b", "..", ".git/x"])
def test_an_id_in_a_file_that_leads_elsewhere_is_not_followed(brain: Brain, git: PlainGit, note_id: str) -> None:
    write(brain, {"staging/odd.md": note_text("Odd", id=note_id, kind="memory")})
    assert review.approve(brain, ["odd"], session=PERSON, now=NOW).state == "committed"
    listed = git(brain.root, "show", "--name-only", "--format=", "HEAD").split()
    assert all(path.startswith(("memory/", "people/")) for path in listed)


@pytest.mark.parametrize("kind", ["banana", "Memory", "work-state", "person", "[memory]"])
def test_a_candidate_of_a_kind_that_is_none_waits_on(brain: Brain, git: PlainGit, kind: str) -> None:
    write(brain, {"staging/odd.md": note_text("Odd", kind=kind)})
    data = (brain.root / "staging/odd.md").read_bytes()
    head = git(brain.root, "rev-parse", "HEAD")
    receipt = review.approve(brain, ["odd"], session=PERSON, now=NOW)
    assert receipt.state == "refused"
    assert "staging/odd.md" in (receipt.reason or "")
    assert "kind" in (receipt.reason or "")
    assert "Correct it in staging/odd.md" in (receipt.reason or "")
    assert (brain.root / "staging/odd.md").read_bytes() == data
    assert git(brain.root, "rev-parse", "HEAD") == head
