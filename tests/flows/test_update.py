"""Correcting notes: only what is named changes, everybody's edits land, and nothing is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping

import pytest

from commonwealth.errors import BadNote, Refused, Usage
from commonwealth.flows import recall, saving, update
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import FieldValue, SectionEdit
from commonwealth.index.query import Query
from commonwealth.model import Receipt
from commonwealth.notes import codec
from commonwealth.repo.commit import commit
from tests.curate import tokens

from .conftest import NOW, note_text, recorded, spawn, together, write

PlainGit = Callable[..., str]

LATER = "2026-07-02T10:00:00Z"


def change(
    brain: Brain,
    note_id: str,
    fields: dict[str, FieldValue] | None = None,
    *,
    section: SectionEdit | None = None,
    body: str | None = None,
) -> Receipt:
    return update.update(brain, note_id, fields or {}, section=section, body=body, session=Session(), now=LATER)


def raw(brain: Brain, note_id: str) -> str:
    return (brain.root / recall.locate(brain, note_id).path).read_text(encoding="utf-8")


def test_fields_change_and_everything_else_stays(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, body="Body.", summary="Old.", tags=("a",))
    receipt = change(
        brain,
        note_id,
        {"summary": "New: better", "tags": ["B", "c d"], "provenance.files": ["src/a.py"], "branch": "f"},
    )
    assert (receipt.state, receipt.ids) == ("committed", (note_id,))
    note = recall.read(brain, note_id).note
    assert (note.summary, note.tags, note.branch) == ("New: better", ("b", "c-d"), "f")
    assert (note.provenance.files, note.provenance.human) == (("src/a.py",), "Alice")
    assert (note.created_at, note.updated_at, note.body) == (NOW, LATER, "Body.\n")
    assert recall.search(brain, Query(text="better", now=LATER)).hits[0].note.id == note_id
    assert git(brain.root, "status", "--porcelain") == ""


def test_a_field_can_be_taken_away(brain: Brain) -> None:
    note_id = recorded(brain, summary="Old.", tags=("a",), valid_until="2027-01-01")
    change(brain, note_id, {"summary": None, "tags": [], "valid_until": None})
    note = recall.read(brain, note_id).note
    assert (note.summary, note.tags, note.valid_until) == (None, (), None)
    assert "summary" not in raw(brain, note_id)


def test_what_the_note_says_already_is_unchanged(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, summary="Same.", body="Same.\n")
    head = git(brain.root, "rev-parse", "HEAD")
    for receipt in (change(brain, note_id, {"summary": "Same."}), change(brain, note_id, body="Same.\r\n\n")):
        assert (receipt.state, receipt.ids) == ("unchanged", (note_id,))
    assert git(brain.root, "rev-parse", "HEAD") == head


def test_a_section_grows_or_is_replaced(brain: Brain) -> None:
    note_id = recorded(brain, body="Intro.\n\n## Log\n\n- one\n\n## End\n\nKept.\n")
    change(brain, note_id, section=SectionEdit("Log", append="- two"))
    assert recall.read(brain, note_id).note.body == "Intro.\n\n## Log\n\n- one\n- two\n\n## End\n\nKept.\n"
    change(brain, note_id, section=SectionEdit("log", replace="Nothing."))
    assert recall.read(brain, note_id).note.body == "Intro.\n\n## Log\n\nNothing.\n\n## End\n\nKept.\n"
    change(brain, note_id, section=SectionEdit("New", append="Added."))
    assert recall.read(brain, note_id).note.body.endswith("## New\n\nAdded.\n")
    with pytest.raises(Refused, match="Absent"):
        change(brain, note_id, section=SectionEdit("Absent", replace="x"))
    for bad in (SectionEdit("Log"), SectionEdit("Log", append="x", replace="y")):
        with pytest.raises(Usage):
            change(brain, note_id, section=bad)


def test_every_invalid_field_is_named_in_one_error(brain: Brain) -> None:
    note_id = recorded(brain)
    bad: dict[str, FieldValue] = {
        "id": "x", "kind": "decision", "colour": "red", "provenance.colour": "red", "provenance": "x", "title": "",
        "type": "rumour", "status": "superseded", "confidence": None, "observed_at": "soon", "summary": ["a", "b"],
        "title.x": "y",
    }  # fmt: skip
    with pytest.raises(Usage) as caught:
        change(brain, note_id, bad)
    for name in bad:
        assert f"{name}: " in caught.value.message
    with pytest.raises(Usage, match="valid_until"):
        change(brain, note_id, {"valid_from": "2026-02-01", "valid_until": "2026-01-01"})


def test_an_interval_that_was_wrong_before_does_not_stop_another_correction(brain: Brain) -> None:
    write(brain, {"memory/n.md": note_text("N", valid_from="2026-02-01", valid_until="2026-01-01")})
    assert change(brain, "n", {"summary": "Said."}).state == "committed"


def test_a_secret_is_refused_and_the_note_stays(brain: Brain) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(3))
    note_id = recorded(brain)
    before = raw(brain, note_id)
    receipt = change(brain, note_id, {"provenance.evidence": [secret]})
    assert (receipt.state, receipt.ids) == ("refused", (note_id,))
    assert (receipt.reason or "").startswith("secret: provenance.evidence (")
    assert secret not in repr(receipt)
    assert change(brain, note_id, body=f"a\n{secret}").reason == "secret: body, line 2 (github-token)"
    assert raw(brain, note_id) == before


BY_HAND = """\
---
# our own header
title: "Kept: as written"   # a comment
x-team: 7
tags: [a,
  b]
x-more:
  deep: [1, 2]
summary: 'old'
---
Body   with trailing space  \r
and no final newline"""


def test_unknown_keys_comments_and_odd_line_ends_survive(brain: Brain) -> None:
    write(brain, {"memory/team/by-hand.md": BY_HAND})
    assert change(brain, "by-hand", {"summary": "new"}).state == "committed"
    after = (brain.root / "memory/team/by-hand.md").read_bytes().decode()
    assert after.replace("summary: new", "summary: 'old'").replace(f"updated_at: {LATER}\n", "") == BY_HAND


def test_a_file_without_frontmatter_gets_one(brain: Brain) -> None:
    write(brain, {"memory/plain.md": "# Plain\n\nText.\n"})
    assert change(brain, "plain", {"confidence": "high"}).state == "committed"
    note = recall.read(brain, "plain").note
    assert (note.title, note.confidence, note.body) == ("Plain", "high", "# Plain\n\nText.\n")


BROKEN: dict[str, tuple[str | bytes, int]] = {
    "unclosed.md": ("---\ntitle: x\nno end\n", 0),
    "yaml.md": ("---\ntitle: x\nbad: [1, 2\n---\nBody\n", 1),
    "double.md": ("---\ntitle: x\ntitle: y\n---\n", 3),
    "anchor.md": ("---\ntitle: &a x\nsummary: *a\n---\n", 2),
    "utf16.md": ("---\ntitle: x\n---\n".encode("utf-16"), 1),
    "latin.md": (b"---\ntitle: caf\xe9\n---\n", 2),
    "nul.md": (b"---\ntitle: a\0b\n---\n", 2),
    "2026-07-01-dated-abcd2345.md": ("---\n- a\n- list\n---\n", 0),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_file_that_cannot_be_read_is_refused_by_line_and_left_as_it_is(brain: Brain, name: str) -> None:
    content, line = BROKEN[name]
    write(brain, {f"memory/{name}": content})
    before = (brain.root / "memory" / name).read_bytes()
    for wanted in {name.removesuffix(".md"), name.removesuffix(".md").rpartition("-")[2]}:
        with pytest.raises(BadNote) as caught:
            change(brain, wanted, {"summary": "x"})
        assert caught.value.path == f"memory/{name}"
        assert f"memory/{name}" in caught.value.message
        if line:
            assert caught.value.line >= line
    assert (brain.root / "memory" / name).read_bytes() == before


def test_an_id_that_two_files_have_is_no_place_to_write_to(brain: Brain) -> None:
    for name in ("b", "a"):
        write(brain, {f"memory/{name}.md": note_text(f"Note {name}", id="same")})
    with pytest.raises(Refused, match=r"memory/b\.md has the same id as memory/a\.md") as caught:
        change(brain, "same", {"summary": "x"})
    assert "Nothing was written" in (caught.value.hint or "")
    assert "summary: x" not in (brain.root / "memory/a.md").read_text(encoding="utf-8")


def test_a_note_that_is_unknown_is_refused(brain: Brain) -> None:
    with pytest.raises(Refused, match="No note has the id"):
        change(brain, "nothing", {"summary": "x"})


CALL = """
import json, sys
from pathlib import Path
from commonwealth.flows import brains
from commonwealth.flows.identity import Session
from commonwealth.flows.update import SectionEdit, update
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    fields = {key: value.format(n=number) for key, value in json.loads(sys.argv[3]).items()}
    section = SectionEdit("Log", append=fields.pop("log")) if "log" in fields else None
    receipt = update(brain, sys.argv[2], fields, section=section, session=Session(), now="2026-07-02T10:00:00Z")
    assert receipt.state == "committed", receipt
"""


def test_four_processes_change_different_fields_and_all_land(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, body="B.")
    wanted = ['{"summary": "s{n}"}', '{"branch": "b{n}"}', '{"provenance.issue": "i{n}"}', '{"confidence": "high"}']
    together([spawn(CALL, str(brain.root), note_id, fields, "1" if "high" in fields else "4") for fields in wanted])
    note = recall.read(brain, note_id).note
    assert (note.summary, note.branch, note.provenance.issue, note.confidence) == ("s3", "b3", "i3", "high")
    assert git(brain.root, "status", "--porcelain") == ""


def test_four_processes_append_to_one_section_and_each_line_is_there_once(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, body="## Log\n\n- start\n")
    together([spawn(CALL, str(brain.root), note_id, f'{{"log": "- w{w}-{{n}}"}}', "5") for w in range(4)])
    body = recall.read(brain, note_id).note.body
    assert sorted(body.splitlines()[3:]) == sorted(f"- w{w}-{n}" for w in range(4) for n in range(5))
    assert git(brain.root, "status", "--porcelain") == ""


def test_an_edit_by_hand_between_reading_and_writing_is_kept(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    note_id = recorded(brain, body="Before.")
    path = brain.root / recall.locate(brain, note_id).path
    edited: list[str] = []

    def slow(*args: object, **named: object) -> str:
        if not edited:  # a person saves the file in an editor at this very moment
            edited.append("x")
            path.write_text(codec.edit(path.read_text(encoding="utf-8"), {}, body="By hand.\n"), encoding="utf-8")
        return commit(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(saving, "commit", slow)
    assert change(brain, note_id, {"summary": "By tool."}).state == "committed"
    note = recall.read(brain, note_id).note
    assert (note.summary, note.body) == ("By tool.", "By hand.\n")


def test_a_note_that_goes_away_meanwhile_is_refused_with_a_sentence(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_id = recorded(brain)
    found = recall.locate(brain, note_id)
    (brain.root / found.path).unlink()
    monkeypatch.setattr(recall, "locate", lambda *_: found)
    with pytest.raises(Refused, match="is gone"):
        change(brain, note_id, {"summary": "x"})
    with pytest.raises(Refused, match="is gone"):
        recall.read(brain, note_id)


@pytest.mark.parametrize(("status", "command"), [("superseded", "supersede"), ("retracted", "retract")])
def test_no_update_closes_a_note(brain: Brain, status: str, command: str) -> None:
    note_id = recorded(brain)
    with pytest.raises(Usage, match=f"no update closes a fact: `brain {command}`"):
        update.update(brain, note_id, {"status": status}, session=Session(), now=NOW)
    with pytest.raises(Usage) as raised:
        update.update(brain, note_id, {"status": "x"}, session=Session(), now=NOW)
    assert status not in raised.value.message


RACE = """
import json, sys
from pathlib import Path
from commonwealth.flows import brains, saving
from commonwealth.flows.identity import Session
from commonwealth.flows.update import SectionEdit, update
brain = brains.open_brain(Path(sys.argv[1]), cwd="/")
how = json.loads(sys.argv[3])
save = saving.save

def held_back(*given, **named):  # the note was read, and is not written yet
    print("read", flush=True)
    sys.stdin.readline()
    return save(*given, **named)

saving.save = held_back
section = SectionEdit(**how.pop("section")) if "section" in how else None
receipt = update(brain, sys.argv[2], how.get("fields", {}), section=section, body=how.get("body"),
                 session=Session(), now=sys.argv[4])
print(json.dumps([receipt.state, receipt.conflicts, receipt.warnings, receipt.reason]))
"""


def raced(
    brain: Brain, note_id: str, how: Mapping[str, object], meanwhile: Callable[[], object], now: str
) -> list[object]:
    """What an update is told that read the note before `meanwhile` and writes it behind that."""
    process = spawn(RACE, str(brain.root), note_id, json.dumps(how), now)
    assert process.stdout is not None
    assert process.stdout.readline() == "read\n", process.communicate()[1]
    meanwhile()
    said, errors = process.communicate("\n", timeout=120)
    assert process.returncode == 0, errors
    told: list[object] = json.loads(said)
    return told


def test_a_lost_race_over_different_fields_and_sections_unites_both(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, summary="Old.", body="Intro.\n\n## A\n\na\n\n## B\n\nb\n")
    how = {"fields": {"summary": "Raced."}, "section": {"heading": "A", "replace": "raced"}}
    state, conflicts, *_ = raced(
        brain,
        note_id,
        how,
        lambda: change(brain, note_id, {"confidence": "high"}, section=SectionEdit("B", replace="meanwhile")),
        LATER,
    )
    assert (state, conflicts) == ("committed", None)
    note = recall.read(brain, note_id).note
    assert (note.summary, note.confidence) == ("Raced.", "high")
    assert note.body == "Intro.\n\n## A\n\nraced\n\n## B\n\nmeanwhile\n"
    assert git(brain.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("now", ["2026-07-01T12:00:00Z", "2026-07-03T10:00:00Z"], ids=["earlier", "later"])
def test_a_lost_race_over_one_field_keeps_both_versions_and_tells_who_came_second(
    brain: Brain, git: PlainGit, now: str
) -> None:
    note_id = recorded(brain, summary="Old.")
    state, conflicts, warnings, reason = raced(
        brain,
        note_id,
        {"fields": {"summary": "Raced."}},
        lambda: change(brain, note_id, {"summary": "Meanwhile."}),
        now,
    )
    assert (state, reason) == ("committed", "the same part was changed meanwhile; both versions are kept")
    assert isinstance(conflicts, list)
    assert isinstance(warnings, list)
    (sibling,) = conflicts
    assert any("summary" in text for text in warnings)
    winner, loser = recall.read(brain, note_id).note, recall.read(brain, sibling).note
    assert loser.conflict_of == note_id
    assert {winner.summary, loser.summary} == {"Raced.", "Meanwhile."}
    assert winner.summary == ("Raced." if now > LATER else "Meanwhile.")
    assert git(brain.root, "status", "--porcelain") == ""


def test_what_only_adds_is_done_to_the_version_that_is_there_by_then(brain: Brain) -> None:
    note_id = recorded(brain, body="## Log\n\n- one\n")
    for how in ({"heading": "Log", "append": "- last"}, {"heading": "Log", "insert": "- first"}):
        raced(
            brain,
            note_id,
            {"section": how},
            lambda: change(brain, note_id, section=SectionEdit("Log", append="- meanwhile")),
            LATER,
        )
    lines = recall.read(brain, note_id).note.body.splitlines()[2:]
    assert lines == ["- first", "- one", "- meanwhile", "- last", "- meanwhile"]


def test_a_note_that_is_moved_to_another_folder_meanwhile_is_changed_there(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain)
    old = recall.locate(brain, note_id).path

    def move() -> None:
        (brain.root / "memory/team").mkdir()
        git(brain.root, "mv", old, f"memory/team/{note_id}.md")

    assert raced(brain, note_id, {"fields": {"summary": "New."}}, move, LATER)[0] == "committed"
    assert recall.locate(brain, note_id).path == f"memory/team/{note_id}.md"
    assert recall.read(brain, note_id).note.summary == "New."


def test_text_is_inserted_below_a_heading_and_a_missing_section_is_made_only_when_asked(brain: Brain) -> None:
    note_id = recorded(brain, body="Intro.\n\n## Log\n\nOld.\n\n### Deep\n\nx\n\n## End\n")
    change(brain, note_id, section=SectionEdit("Log", insert="New."))
    wanted = "Intro.\n\n## Log\n\nNew.\n\nOld.\n\n### Deep\n\nx\n\n## End\n"
    assert recall.read(brain, note_id).note.body == wanted
    change(brain, note_id, section=SectionEdit("end", insert="- a"))
    assert recall.read(brain, note_id).note.body == wanted + "\n- a\n"
    for missing in (SectionEdit("Absent", insert="x"), SectionEdit("Absent", replace="x")):
        with pytest.raises(Refused, match="no section 'Absent'") as caught:
            change(brain, note_id, section=missing)
        assert "Log, Deep, End" in (caught.value.hint or "")
    change(brain, note_id, section=SectionEdit("Made", insert="x", create=True))
    change(brain, note_id, section=SectionEdit("Made too", replace="y", create=True))
    assert recall.read(brain, note_id).note.body == wanted + "\n- a\n\n## Made\n\nx\n\n## Made too\n\ny\n"


def test_the_secret_of_a_lost_race_is_refused_and_what_was_written_meanwhile_stays(brain: Brain) -> None:
    note_id = recorded(brain, summary="Old.")
    secret = tokens.make("ghp_{36:b62}", random.Random(4))
    receipt = change(brain, note_id, section=SectionEdit("Log", append=secret))
    assert (receipt.state, secret in repr(receipt)) == ("refused", False)
    assert secret not in raw(brain, note_id)


def test_a_whole_body_and_a_section_are_not_changed_at_once(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, body="Intro.\n\n## One\n\n1\n")
    head, before = git(brain.root, "rev-parse", "HEAD"), raw(brain, note_id)
    with pytest.raises(Usage, match="cannot be given together"):
        change(brain, note_id, section=SectionEdit("One", append="q"), body="whole")
    for nothing in (SectionEdit("One", append=" \n"), SectionEdit("One", insert="")):
        with pytest.raises(Usage, match="'One': the text to add is empty"):
            change(brain, note_id, section=nothing)
    assert (git(brain.root, "rev-parse", "HEAD"), raw(brain, note_id)) == (head, before)


@pytest.mark.parametrize("how", [{"append": "q"}, {"insert": "q"}, {"replace": "q"}], ids=str)
def test_of_two_sections_with_one_name_none_is_edited_silently(
    brain: Brain, git: PlainGit, how: dict[str, str]
) -> None:
    note_id = recorded(brain, body="## Two\n\nfirst\n\n```\n## Two\n```\n\n## two\n\nsecond\n")
    before = raw(brain, note_id)
    lines = [number for number, line in enumerate(before.splitlines(), 1) if line in ("## Two", "## two")]
    with pytest.raises(Usage) as raised:
        change(brain, note_id, section=SectionEdit("Two", **how))  # type: ignore[arg-type]
    assert raised.value.message.endswith(f"has 2 sections 'Two', at the lines {lines[0]}, {lines[2]}.")
    assert recall.locate(brain, note_id).path in raised.value.message
    assert raw(brain, note_id) == before
    assert git(brain.root, "status", "--porcelain") == ""


def test_of_two_sections_with_one_name_the_level_says_which(brain: Brain) -> None:
    note_id = recorded(brain, body="## One\n\n### Two\n\ndeep\n\n## Two\n\nhigh\n")
    with pytest.raises(Usage, match="2 sections"):
        change(brain, note_id, section=SectionEdit("Two", replace="x"))
    change(brain, note_id, section=SectionEdit("### Two", replace="deeper"))
    change(brain, note_id, section=SectionEdit("## Two", replace="higher"))
    assert recall.read(brain, note_id).note.body == "## One\n\n### Two\n\ndeeper\n\n## Two\n\nhigher\n"


def test_what_an_empty_text_takes_away_is_said(brain: Brain) -> None:
    note_id = recorded(brain, body="Intro.\n\n## One\n\n1\n\n### Deep\n\n2\n")
    receipt = change(brain, note_id, section=SectionEdit("One", replace=""))
    assert any("'One' was removed with its deeper sections" in text for text in receipt.warnings)
    assert recall.read(brain, note_id).note.body == "Intro.\n\n## One\n"
    assert any("no body now" in text for text in change(brain, note_id, body="").warnings)
    assert change(brain, note_id, body="").warnings == ()
