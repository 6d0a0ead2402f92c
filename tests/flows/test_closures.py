"""What notes say of their replacements: the same whoever writes it, whenever, and true at every instant."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from contextlib import closing as closed_after
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonwealth import config
from commonwealth.flows import closures
from commonwealth.flows.brains import Brain
from commonwealth.index import disputes
from commonwealth.model import Note
from commonwealth.notes import closing, codec
from tests.flows.conftest import recorded
from tests.flows.test_contents import Files
from tests.flows.test_supersede import LATER, superseded
from tests.index.examples import ids, indexed

Notes = dict[str, Note]


def at(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00Z"


def path(id_: str) -> str:
    return f"memory/{id_}.md"


def texts(notes: Notes) -> dict[str, bytes]:
    return {path(id_): codec.to_bytes(note, path(id_)) for id_, note in notes.items()}


def read(files: Mapping[str, bytes]) -> Notes:
    found = [codec.parse(data.decode(), name, "memory")[0] for name, data in files.items()]
    return {note.id: note for note in found}


def brain_at(root: Path) -> Brain:
    return Brain(root, config.brain_config("name: acme\n", config.CONFIG_PATH), str(root))


def synced(root: Path, files: Mapping[str, bytes], changed: set[str] | None = None) -> dict[str, bytes]:
    """The files after the closing of a sync that sees these changes (None: everything)."""
    paths = None if changed is None else frozenset(map(path, changed))
    return {**files, **closures.close(brain_at(root), paths, Files(files), lambda _: ())}


Fact = tuple[int, tuple[int, ...], bool]
"""The day from which it is true, what it replaces, and whether it was retracted."""


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    """Facts as several clones record them that do not know of each other: some replace others, by their numbers."""
    facts: list[Fact] = []
    for number in range(draw(st.integers(2, 7))):
        old = draw(st.lists(st.sampled_from(range(number)), max_size=2, unique=True)) if number else []
        begins = max([facts[one][0] for one in old], default=1)
        facts.append((draw(st.integers(begins, min(begins + 4, 28))), tuple(old), draw(st.integers(0, 5)) == 0))
    return facts


def notes_of(facts: list[Fact]) -> Notes:
    return {
        f"n{number}": Note(
            f"n{number}",
            "memory",
            f"Rule {number}",
            created_at=at(1),
            observed_at=at(1),
            valid_from=at(day),
            supersedes=tuple(f"n{one}" for one in old),
            status="retracted" if gone else "observed",
        )
        for number, (day, old, gone) in enumerate(facts)
    }


def led_to(notes: Notes, id_: str) -> set[str]:
    """What a note replaced, what that had replaced, and so on."""
    found: set[str] = set()
    todo = list(notes[id_].supersedes)
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += notes[one].supersedes
    return found


@settings(max_examples=60, deadline=None)
@given(histories())
@example([*[(1, (), True)] * 3, *[(1, (0,), False)] * 2, (2, (3, 4), False), (1, (3,), False)])
def test_at_no_instant_are_two_of_a_chain_true_without_a_conflict(facts: list[Fact]) -> None:
    """Rivals that one note has replaced together are decided about: until it begins, both were said. A conflict is that
    of two notes where it is about what both have replaced, or about what led from there to one of them."""
    with tempfile.TemporaryDirectory() as folder:
        after = read(synced(Path(folder), texts(notes_of(facts))))
        before = {id_: led_to(after, id_) for id_ in after}
        with closed_after(indexed(Path(folder), *after.values())) as conn:
            about = {found.about for found in disputes.disputes(conn)}
            for day in range(1, 29):
                true = ids(conn, now=at(day), limit=100)
                assert set(true) == set(ids(conn, valid_at=at(day), limit=100))
                for one, other in combinations(true, 2):
                    assert one not in before[other]
                    assert other not in before[one]
                    shared = before[one] & before[other]
                    decided = any({one, other} <= found for found in before.values())
                    asked = {old for old in about & (before[one] | before[other]) if ({old} | before[old]) & shared}
                    assert not shared or asked or decided, (day, one, other)


@settings(max_examples=60, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_notes_say_the_same_in_whatever_order_they_come(facts: list[Fact], rng: random.Random) -> None:
    notes = notes_of(facts)
    with tempfile.TemporaryDirectory() as folder:
        whole = synced(Path(folder), texts(notes))
        assert synced(Path(folder), whole) == whole
        order = sorted(notes)
        rng.shuffle(order)
        files: dict[str, bytes] = {}
        for turn, id_ in enumerate(order):
            known = Path(folder) / str(turn)
            known.mkdir()
            indexed(known, *read(files).values()).close()
            files[path(id_)] = texts(notes)[path(id_)]
            files = synced(known, files, {id_})
        assert files == whole


def test_a_supersession_and_a_sync_write_the_same_bytes(brain: Brain) -> None:
    old = recorded(brain, "Old rule", valid_until="2027-01-01")
    there = next(brain.root.glob(f"memory/*/{old}.md"))
    name, before = str(there.relative_to(brain.root)), there.read_bytes()
    new = superseded(brain, old, at="2026-07-15", now=LATER).ids[0]
    made = next(brain.root.glob(f"memory/*/{new}.md"))
    alone = Files({name: before, str(made.relative_to(brain.root)): made.read_bytes()})
    assert closures.close(brain, None, alone, lambda _: ()) == {name: there.read_bytes()}


def test_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    broken = b"---\ntitle: [\n---\n"
    files = {path("old"): broken, **texts({"new": Note("new", "memory", "New", supersedes=("old",))})}
    assert synced(tmp_path, files) == files


def test_a_note_without_a_time_closes_without_one() -> None:
    old, new = Note("old", "memory", "Old"), Note("new", "memory", "New", supersedes=("old",))
    assert closing.settled(old, [new]) == {"status": "superseded", "superseded_by": "new"}


def test_what_a_person_wrote_stays() -> None:
    new = Note("new", "memory", "New", supersedes=("old",), valid_from=at(5))
    for status, by in (("retracted", None), ("superseded", "somebody"), ("superseded", "new")):
        old = Note("old", "memory", "Old", status=status, superseded_by=by, valid_until=at(3), superseded_at=at(4))
        assert closing.settled(old, [new]) == {}
    ended = Note("old", "memory", "Old", valid_until=at(3))
    assert "valid_until" not in closing.settled(ended, [new])
    both = replace(new, id="other", supersedes=("old",))
    assert closing.settled(replace(ended, supersedes=("new", "other")), [new, both]) == {}


def test_a_replacement_whose_start_is_corrected_moves_the_end_with_it() -> None:
    new = Note("new", "memory", "New", supersedes=("old",), valid_from=at(5))
    old = Note("old", "memory", "Old", status="superseded", superseded_by="new", valid_until=at(3), superseded_at=at(3))
    changes = closing.settled(old, [new])
    assert (changes["valid_until"], changes["superseded_at"]) == (at(5), at(5))
