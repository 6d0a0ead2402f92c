"""Conflicts of a team: the same list in every clone, and one commit of anybody's ends one for all."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

import pytest

from commonwealth.errors import Refused, Usage
from commonwealth.flows import conflicts, differing, doctor, recall, syncing, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import update
from commonwealth.index import lookup
from commonwealth.index.query import Query
from commonwealth.model import NoteFile, Receipt

from .conftest import NOW, Teammate, note_text, recorded, write

PlainGit = Callable[..., str]
Team = tuple[Teammate, Teammate]
LATER = "2026-07-05T10:00:00Z"


def sync(*people: Teammate) -> None:
    for person in people:
        receipt = syncing.sync(person.act())
        assert receipt.state in ("published", "unchanged"), receipt


def trees(team: Team, git: PlainGit) -> set[str]:
    sync(*team, *team)
    assert [git(person.root, "status", "--porcelain") for person in team] == ["", ""]
    return {git(person.root, "rev-parse", "HEAD^{tree}") for person in team}


def tokens(brain: Brain) -> set[str]:
    """Every token in a note of the brain, open or closed."""
    texts = [path.read_text(encoding="utf-8") for path in brain.root.glob("memory/*/*.md") if path.name != "INDEX.md"]
    return {token for text in texts for token in re.findall(r"token-\w+", text)}


def resolve(brain: Brain, about: str, *keep: str, now: str = LATER, **more: object) -> Receipt:
    return conflicts.resolve(brain, about, keep=keep, session=Session(), now=now, **more)  # type: ignore[arg-type]


def listed(brain: Brain) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.id, one.cause, tuple(rival.id for rival in one.rivals)) for one in conflicts.conflicts(brain)]


def disputed(brain: Brain) -> set[str]:
    found = recall.search(brain, Query(kind=("memory",), now=NOW, include_superseded=True))
    return {hit.note.id for hit in found.hits if "disputed" in hit.why}


def two_versions(team: Team) -> tuple[str, str]:
    """One section edited by both: the note's id and that of the other version. Bob's is the later one."""
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="## Rule\n\nFirst.\n")
    sync(alice, bob)
    for person, now in ((alice, "2026-07-02T10:00:00Z"), (bob, "2026-07-03T10:00:00Z")):
        edited = f"## Rule\n\nBy token-{person.name}.\n"
        update(person.act(), note_id, {}, body=edited, session=Session(), now=now)
    sync(alice, bob, alice)
    ((about, cause, (first, second)),) = listed(alice.act())
    assert (about, cause, first) == (note_id, "version", note_id)
    return note_id, second


def two_replacements(team: Team) -> tuple[str, str, str]:
    """A note that both replaced: its id and those of the replacements, Alice's and Bob's."""
    alice, bob = team
    old = recorded(alice.act(), "Old rule", body="token-old")
    sync(alice, bob)
    made = []
    for person, at in ((alice, "2026-07-02"), (bob, "2026-07-03")):
        new = recorded(person.act(), f"New rule of {person.name}", body=f"token-{person.name}", valid_from=at)
        (path,) = person.root.glob(f"memory/*/{new}.md")
        path.write_text(
            path.read_text(encoding="utf-8").replace("status:", f"supersedes: [{old}]\nstatus:", 1), encoding="utf-8"
        )
        (path,) = person.root.glob(f"memory/*/{old}.md")
        closed = f"status: superseded\nsuperseded_by: {new}\nvalid_until: {at}T00:00:00Z"
        path.write_text(path.read_text(encoding="utf-8").replace("status: observed", closed, 1), encoding="utf-8")
        made.append(new)
    sync(alice, bob, alice)
    return old, made[0], made[1]


def test_both_clones_list_one_conflict_and_one_commit_ends_it_in_both(team: Team, git: PlainGit) -> None:
    alice = team[0]
    note_id, other = two_versions(team)
    for person in team:
        brain = person.act()
        assert listed(brain) == [(note_id, "version", (note_id, other))]
        assert disputed(brain) == {note_id, other}
        assert [other in warning for warning in recall.read(brain, note_id).warnings] == [True]
        assert upkeep.status(brain).conflicts == (note_id,)
        assert any("brain conflicts" in str(check.hint) for check in doctor.doctor(str(brain.root), str(brain.root)))
    (conflict,) = conflicts.conflicts(alice.act())
    told = [(rival.author, rival.differs) for rival in conflict.rivals]
    assert told == [("Bob", ()), ("Alice", ("section 'Rule'",))]
    (differs,) = conflict.differs
    assert (differs.what, differs.texts) == ("section 'Rule'", {note_id: "By token-Bob.", other: "By token-Alice."})
    before = git(alice.root, "rev-list", "--count", "HEAD")
    receipt = resolve(alice.act(), note_id, note_id)
    assert (receipt.state, set(receipt.ids)) == ("committed", {note_id, other})
    assert [(item.id, item.state, item.reason) for item in receipt.items] == [
        (note_id, "stands", "says what it said"),
        (other, "closed", f"keeps its text, superseded by {note_id}"),
    ]
    assert int(git(alice.root, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert len(trees(team, git)) == 1
    for person in team:
        brain = person.act()
        assert (listed(brain), disputed(brain), upkeep.status(brain).conflicts) == ([], set(), ())
        assert tokens(brain) == {"token-Alice", "token-Bob"}
        assert "token-Bob" in recall.read(brain, note_id).note.body
        closed = recall.read(brain, other).note
        assert (closed.status, closed.superseded_by, closed.conflict_of) == ("superseded", note_id, None)
        for asked in (Query(text="token", kind=("memory",), now=LATER), Query(kind=("memory",), valid_at=LATER)):
            assert [hit.note.id for hit in recall.search(brain, asked).hits] == [note_id]


def test_each_version_is_by_who_wrote_it_also_where_the_rest_was_united(team: Team) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="## Rule\n\nFirst.\n")
    sync(alice, bob)
    for person, fields, now in ((alice, {"summary": "S."}, "2026-07-02T10:00:00Z"), (bob, {"tags": ["b"]}, LATER)):
        update(person.act(), note_id, fields, body=f"## Rule\n\nBy {person.name}.\n", session=Session(), now=now)
    sync(alice, bob, alice)

    def told() -> list[dict[str, str | None]]:
        return [
            {rival.id: rival.author for one in conflicts.conflicts(who.act()) for rival in one.rivals} for who in team
        ]

    ((_, _, (_, other)),) = listed(alice.act())
    united = recall.read(alice.act(), note_id).note
    assert (united.summary, united.tags, united.body) == ("S.", ("b",), "## Rule\n\nBy Bob.\n")
    assert told() == [{note_id: "Bob", other: "Alice"}] * 2
    update(bob.act(), other, {"summary": "Longer."}, session=Session(), now=LATER)
    sync(bob, alice)
    assert told() == [{note_id: "Bob", other: "Bob"}] * 2


def test_who_wrote_a_version_is_known_where_the_note_was_moved(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Shared", body="First.\n" * 9)
    sync(alice, bob)
    update(alice.act(), note_id, {"title": "By Alice"}, session=Session(), now="2026-07-02T10:00:00Z")
    update(bob.act(), note_id, {"title": "By Bob"}, session=Session(), now="2026-07-03T10:00:00Z")
    (path,) = bob.root.glob(f"memory/*/{note_id}.md")
    git(bob.root, "mv", str(path), f"memory/{note_id}.md")
    sync(bob, alice, bob)
    for person in team:
        (conflict,) = conflicts.conflicts(person.act())
        assert [(rival.title, rival.author) for rival in conflict.rivals] == [("By Bob", "Bob"), ("By Alice", "Alice")]
        assert conflict.rivals[0].path == f"memory/{note_id}.md"


def test_what_is_not_committed_is_by_whom_it_names(brain: Brain) -> None:
    write(brain, {"memory/one.md": note_text("One", id="one", author="Eve")})
    write(brain, {"memory/two.md": note_text("Two", "", id="two", author="Mallory", conflict_of="one", tags="[a]")})
    (conflict,) = conflicts.conflicts(brain)
    assert [rival.author for rival in conflict.rivals] == ["Eve", "Mallory"]
    assert [(found.what, found.texts["one"], found.texts["two"]) for found in conflict.differs] == [
        ("title", "One", "Two"),
        ("tags", None, "[a]"),
        ("the text", "Said by hand.", None),
    ]


@pytest.mark.parametrize("body", ["## B\n\nTwo.\n\n## A\n\nOne.\n", "## A\n\nOne.\n\n### B\n\nTwo.\n"])
def test_sections_that_differ_in_order_or_level_only_are_a_difference_of_the_text(brain: Brain, body: str) -> None:
    plain = "## A\n\nOne.\n\n## B\n\nTwo.\n"
    write(brain, {"memory/one.md": note_text("One", plain, id="one")})
    write(brain, {"memory/two.md": note_text("One", body, id="two", conflict_of="one")})
    (conflict,) = conflicts.conflicts(brain)
    assert [(found.what, found.texts["two"]) for found in conflict.differs] == [("the text", body.rstrip())]


@pytest.mark.parametrize("kept", ["later", "earlier"])
def test_a_version_that_is_closed_was_valid_until_the_one_that_is_kept_was_written(
    team: Team, git: PlainGit, kept: str
) -> None:
    note_id, other = two_versions(team)
    keep, at = {"later": (note_id, "2026-07-03T10:00:00Z"), "earlier": (other, "2026-07-02T10:00:00Z")}[kept]
    for person in team:
        resolve(person.act(), note_id, keep)
    assert len(trees(team, git)) == 1
    closed = recall.read(team[0].act(), other).note
    assert (closed.status, closed.valid_until, closed.superseded_at) == ("superseded", at, at)
    assert closed.observed_at is not None
    assert closed.observed_at < at
    for instant, found in (("2026-07-02T09:00:00Z", {note_id, other}), (LATER, {note_id})):
        asked = Query(kind=("memory",), valid_at=instant)
        assert {hit.note.id for hit in recall.search(team[1].act(), asked).hits} == found


def test_the_other_version_takes_over_the_id_and_the_old_text_stays_closed(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id, other = two_versions(team)
    created = recall.read(alice.act(), note_id).note.created_at
    receipt = resolve(bob.act(), other, other)
    assert [(item.id, item.state, item.reason) for item in receipt.items] == [
        (note_id, "stands", f"says what {other} said"),
        (other, "closed", f"keeps the text that {note_id} had, superseded by it"),
    ]
    assert len(trees(team, git)) == 1
    for person in team:
        brain = person.act()
        kept, closed = recall.read(brain, note_id).note, recall.read(brain, other).note
        assert "token-Alice" in kept.body
        assert (kept.conflict_of, kept.created_at, kept.updated_at) == (None, created, "2026-07-03T10:00:00Z")
        assert "token-Bob" in closed.body
        assert (closed.status, closed.superseded_by, listed(brain)) == ("superseded", note_id, [])


def test_both_stand_as_notes_of_their_own(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id, other = two_versions(team)
    resolve(bob.act(), note_id, everything=True)
    assert len(trees(team, git)) == 1
    own = recall.read(alice.act(), other).note
    assert (own.conflict_of, own.status, own.relates, listed(alice.act())) == (None, "observed", (note_id,), [])


def test_a_new_text_ends_a_conflict(team: Team, git: PlainGit) -> None:
    note_id, _ = two_versions(team)
    resolve(team[0].act(), note_id, body="token-both")
    assert len(trees(team, git)) == 1
    note = recall.read(team[1].act(), note_id).note
    assert (note.body, note.updated_at, listed(team[1].act())) == ("token-both\n", LATER, [])
    with pytest.raises(Refused, match="is in no conflict"):
        resolve(team[0].act(), note_id, body="again")


@pytest.mark.parametrize("choice", ["first", "other", "both"])
def test_the_same_decision_in_two_clones_makes_the_same_files(team: Team, git: PlainGit, choice: str) -> None:
    alice, bob = team
    note_id, other = two_versions(team)
    keep = {"first": (note_id,), "other": (other,), "both": ()}[choice]
    for person, now in ((alice, LATER), (bob, "2026-07-09T10:00:00Z")):
        assert resolve(person.act(), note_id, *keep, now=now, everything=choice == "both").state == "committed"
    made = [git(person.root, "ls-tree", "-r", "HEAD", "memory") for person in team]
    assert made[0] == made[1]
    assert len(trees(team, git)) == 1
    assert (listed(alice.act()), tokens(alice.act())) == ([], {"token-Alice", "token-Bob"})


@pytest.mark.parametrize("bobs", ["other", "both"])
def test_different_decisions_in_two_clones_unite_and_lose_nothing(team: Team, git: PlainGit, bobs: str) -> None:
    alice, bob = team
    note_id, other = two_versions(team)
    resolve(alice.act(), note_id, note_id)
    resolve(bob.act(), note_id, *((other,) if bobs == "other" else ()), everything=bobs == "both")
    assert len(trees(team, git)) == 1
    assert listed(alice.act()) == listed(bob.act()) == []
    assert tokens(alice.act()) == {"token-Alice", "token-Bob"}


def test_two_replacements_are_one_conflict_in_every_clone(team: Team, git: PlainGit) -> None:
    old, one, two = two_replacements(team)
    for person in team:
        brain = person.act()
        assert listed(brain) == [(old, "replacement", tuple(sorted((one, two))))]
        (conflict,) = conflicts.conflicts(brain)
        assert {rival.id: rival.author for rival in conflict.rivals} == {one: "Alice", two: "Bob"}
        assert disputed(brain) == {one, two}
        closed = recall.read(brain, old).note
        assert (closed.status, closed.superseded_by) == ("superseded", one)
    assert len(trees(team, git)) == 1


@pytest.mark.parametrize("by", [0, 1])
def test_one_of_two_replacements_is_kept(team: Team, git: PlainGit, by: int) -> None:
    old, *made = two_replacements(team)
    kept, gone = made[by], made[1 - by]
    resolve(team[0].act(), old, kept)
    assert len(trees(team, git)) == 1
    for person in team:
        brain = person.act()
        assert (listed(brain), disputed(brain)) == ([], set())
        assert recall.read(brain, old).note.superseded_by == kept
        lost = recall.read(brain, gone).note
        assert (lost.status, lost.superseded_by) == ("superseded", kept)
        assert recall.search(brain, Query(text="rule", kind=("memory",), now=LATER)).total == 1
        assert tokens(brain) == {"token-old", "token-Alice", "token-Bob"}


def test_both_replacements_stand_once_somebody_says_so(team: Team, git: PlainGit) -> None:
    old, one, two = two_replacements(team)
    resolve(team[1].act(), one, everything=True)
    assert len(trees(team, git)) == 1
    for person in team:
        brain = person.act()
        assert (listed(brain), disputed(brain)) == ([], set())
        assert recall.search(brain, Query(text="rule", kind=("memory",), now=LATER)).total == 2
    third = note_text("A third rule", id="third", supersedes=f"[{old}]", valid_from="2026-07-04")
    write(team[0].act(), {"memory/2026-07/third.md": third})
    assert listed(team[0].act()) == [(old, "replacement", tuple(sorted((one, two, "third"))))]


def test_replacements_that_two_people_closed_by_each_other_are_a_conflict_again(team: Team, git: PlainGit) -> None:
    alice, bob = team
    old, one, two = two_replacements(team)
    resolve(alice.act(), old, one)
    resolve(bob.act(), old, two)
    assert len(trees(team, git)) == 1
    for person in team:
        assert listed(person.act()) == [(old, "replacement", tuple(sorted((one, two))))]
        assert disputed(person.act()) == {one, two}
    resolve(alice.act(), old, two)
    assert len(trees(team, git)) == 1
    brain = bob.act()
    kept, gone = recall.read(brain, two).note, recall.read(brain, one).note
    assert (kept.status, kept.superseded_by, kept.valid_until, listed(brain)) == ("observed", None, None, [])
    assert (gone.status, gone.superseded_by) == ("superseded", two)
    assert tokens(brain) == {"token-old", "token-Alice", "token-Bob"}


def test_a_retraction_against_an_edit_is_a_conflict_that_keeps_the_retraction(team: Team, git: PlainGit) -> None:
    alice, bob = team
    note_id = recorded(alice.act(), "Claim", body="token-claim")
    sync(alice, bob)
    (path,) = alice.root.glob(f"memory/*/{note_id}.md")
    gone = "status: retracted\nretracted_at: 2026-07-02T10:00:00Z\nretract_reason: token-wrong"
    path.write_text(path.read_text(encoding="utf-8").replace("status: observed", gone, 1), encoding="utf-8")
    update(bob.act(), note_id, {"tags": ["x"]}, body="token-claim and token-more", session=Session(), now=LATER)
    sync(alice, bob, alice)
    ((about, cause, (first, other)),) = listed(alice.act())
    assert listed(bob.act()) == [(about, cause, (first, other))]
    note, edit = recall.read(bob.act(), note_id).note, recall.read(bob.act(), other).note
    assert (note.status, note.body, note.tags, about, first) == ("retracted", "token-claim\n", ("x",), note_id, note_id)
    assert (edit.status, edit.conflict_of, edit.body) == ("observed", note_id, "token-claim and token-more\n")
    shown = recall.search(bob.act(), Query(text="claim", now=LATER))
    assert [(hit.note.id, "disputed" in hit.why) for hit in shown.hits] == [(other, True)]
    resolve(bob.act(), note_id, other)
    assert len(trees(team, git)) == 1
    back, closed = recall.read(alice.act(), note_id).note, recall.read(alice.act(), other).note
    assert (back.status, back.retract_reason, back.body) == ("observed", None, "token-claim and token-more\n")
    assert (closed.status, closed.retract_reason, listed(alice.act())) == ("retracted", "token-wrong", [])


def test_links_to_a_disputed_note_still_lead_to_it(team: Team) -> None:
    note_id, other = two_versions(team)
    brain = team[0].act()
    asker = recorded(brain, "Asks", body=f"See [[{note_id}]].", relates=(note_id,))
    assert {link.id for link in recall.read(brain, asker).links} == {note_id}
    assert {link.relation for link in recall.read(brain, note_id).backlinks} == {"conflict_of", "relates", "wikilink"}
    assert [link.id for link in recall.read(brain, other).links] == [note_id]


def test_a_choice_that_is_none_is_refused_and_changes_nothing(brain: Brain) -> None:
    one = recorded(brain, "One")
    for name in ("first", "second"):
        write(brain, {f"memory/{name}.md": note_text(name, id=name, conflict_of=one)})
    calm = recorded(brain, "Calm")
    with pytest.raises(Refused, match="is in no conflict"):
        resolve(brain, calm, calm)
    with pytest.raises(Refused, match="No note has the id"):
        resolve(brain, "unknown", "x")
    with pytest.raises(Refused, match="is no note of the conflict") as refused:
        resolve(brain, one, calm)
    assert one in str(refused.value.hint)
    for wrong in ({}, {"keep": (one,), "everything": True}, {"keep": (one, "first"), "body": "x"}):
        given = {"keep": (), **wrong}
        with pytest.raises(Usage):
            conflicts.resolve(brain, one, session=Session(), now=NOW, **given)  # type: ignore[arg-type]
    assert listed(brain) == [(one, "version", (one, "first", "second"))]
    secret = resolve(brain, one, one, body="token = ghp_" + "a1B2c3D4e5F6" * 3)
    assert (secret.state, secret.ids) == ("refused", (one,))
    assert resolve(brain, one, "first", "second").state == "committed"
    assert listed(brain) == []
    notes = {name: recall.read(brain, name).note for name in (one, "first", "second")}
    assert {name: (note.title, note.status) for name, note in notes.items()} == {
        one: ("first", "observed"), "first": ("One", "superseded"), "second": ("second", "observed"),
    }  # fmt: skip


def test_a_version_whose_note_is_gone_can_stand_alone(brain: Brain) -> None:
    write(brain, {"memory/left.md": note_text("Left", id="left", conflict_of="gone")})
    assert listed(brain) == [("gone", "version", ("left",))]
    assert resolve(brain, "left", "left").state == "committed"
    assert (listed(brain), recall.read(brain, "left").note.conflict_of) == ([], None)


def test_notes_that_all_replace_each_other_are_each_read_and_compared_once(
    team: Team, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one colleague pushes must not cost the square of its size: 300 such notes took gigabytes and minutes."""
    alice, bob = team
    ids = [f"2026-05-01-rule-{number:02}" for number in range(differing.MOST + 5)]
    notes = {
        f"memory/2026-05/{id_}.md": note_text(
            f"Rule {id_[-2:]}", id=id_, supersedes=f"[{', '.join(other for other in ids if other != id_)}]"
        )
        for id_ in ids
    }
    write(alice.act(), notes)
    receipt = syncing.sync(alice.act())
    assert receipt.state == "published"
    asked: list[str] = []
    whole = lookup.of_id

    def of_id(conn: sqlite3.Connection, id_: str) -> tuple[NoteFile, ...]:
        asked.append(id_)
        return whole(conn, id_)

    monkeypatch.setattr(lookup, "of_id", of_id)
    told = syncing.sync(bob.act())
    assert set(told.conflicts or ()) == set(ids)
    assert sorted(asked) == ids
    asked.clear()
    found = conflicts.conflicts(bob.act())
    assert sorted(asked) == ids
    assert [one.id for one in found] == ids
    assert all(len(one.rivals) == len(ids) - 1 for one in found)
    assert all(len(difference.texts) == differing.MOST for one in found for difference in one.differs)
    assert {len([rival for rival in one.rivals if rival.differs]) for one in found} == {differing.MOST - 1}
    assert len(trees(team, git)) == 1
