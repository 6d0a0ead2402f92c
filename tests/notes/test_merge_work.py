"""Work records that two clones changed at once become one record: signs of life and ends never leave two versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.model import DONE_STATUSES, WORK_STATUSES, Note
from commonwealth.notes import codec
from commonwealth.notes.merge import merge3

PATH = "work-state/2026-07/2026-07-01-handle-duplicates-aaaaaaaa.md"
BASE = Note(
    id="2026-07-01-handle-duplicates-aaaaaaaa",
    kind="work-state",
    title="Handle duplicates",
    status="in-progress",
    created_at="2026-07-01T10:00:00Z",
    updated_at="2026-07-01T10:00:00Z",
    started_at="2026-07-01T10:00:00Z",
    lease_until="2026-07-01T14:00:00Z",
    branch="fix",
    files=("src/a.py", "src/b.py"),
    components=("payments",),
    owner="Alice",
    agent="Codex",
    author="Alice",
    author_ref="alice-4b1d90c2",
    body="What I am at.\n",
)

_TIMES = st.integers(1, 20).map(lambda hour: f"2026-07-02T{hour:02}:00:00Z")
_FILES = st.lists(
    st.sampled_from(("src/a.py", "src/b.py", "src/c.py", "docs")), unique=True, min_size=1, max_size=4
).map(tuple)
_EDITS = st.fixed_dictionaries(
    {"updated_at": _TIMES},
    optional={
        "status": st.sampled_from(WORK_STATUSES),
        "lease_until": _TIMES,
        "completed_at": _TIMES,
        "started_at": _TIMES,
        "files": _FILES,
        "components": _FILES,
        "progress": st.tuples(_TIMES, st.sampled_from(("one", "two"))),
    },
)


def edited(note: Note, edit: dict[str, Any], who: str) -> Note:
    """`note` after one person's edit; a report of progress stands under its time."""
    fields = {**edit}
    progress = fields.pop("progress", None)
    body = f"{note.body}\n## Progress {progress[0]} {who}\n\n{progress[1]}\n" if progress else note.body
    return replace(note, **fields, body=body)


def united(base: str, one: str, other: str) -> str:
    """The merged text, which is nobody's side alone to say and leaves nothing beside it."""
    result = merge3(base, one, other, PATH)
    assert result == merge3(base, other, one, PATH)
    assert result.sibling is None
    assert merge3(one, result.text, one, PATH).text == result.text
    return result.text


def one_of(base: Any, mine: Any, yours: Any) -> set[Any]:
    """What a field may be where the side that changed it counts."""
    return {yours} if mine == base else {mine} if yours == base else {mine, yours}


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_EDITS, _EDITS)
def test_two_edits_of_a_record_unite_whatever_they_are(mine: dict[str, Any], yours: dict[str, Any]) -> None:
    one, other = edited(BASE, mine, "a"), edited(BASE, yours, "b")
    text = united(codec.render(BASE), codec.render(one), codec.render(other))
    note = codec.parse(text, PATH, "work-state")[0]
    assert note.updated_at == max(one.updated_at or "", other.updated_at or "")
    for name in ("lease_until", "completed_at"):
        wanted = one_of(getattr(BASE, name), getattr(one, name), getattr(other, name))
        assert getattr(note, name) == max(wanted, key=lambda time: time or "")
    assert note.started_at == min(one_of(BASE.started_at, one.started_at, other.started_at))
    for name in ("files", "components"):
        mine_, yours_, before = ({*getattr(said, name)} for said in (one, other, BASE))
        assert {*getattr(note, name)} == (mine_ & yours_) | (mine_ ^ yours_) - before
    states = one_of(BASE.status, one.status, other.status)
    assert note.status in states
    if any(state in DONE_STATUSES for state in states):
        assert note.status in DONE_STATUSES
    for said in (one, other):
        assert said.body.removeprefix(BASE.body).strip() in note.body
    assert (note.owner, note.agent, note.title) == (BASE.owner, BASE.agent, BASE.title)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.tuples(_EDITS, _EDITS, _EDITS))
def test_the_state_of_a_record_is_the_same_in_whatever_order_three_clones_unite(
    edits: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
) -> None:
    base = codec.render(BASE)
    sides = [codec.render(edited(BASE, edit, who)) for edit, who in zip(edits, "abc", strict=True)]
    found = []
    for first, second, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        text = united(base, united(base, sides[first], sides[second]), sides[third])
        note = codec.parse(text, PATH, "work-state")[0]
        found.append((note.status, note.lease_until, note.updated_at, note.started_at, {*note.files}))
    assert found[0] == found[1] == found[2]
