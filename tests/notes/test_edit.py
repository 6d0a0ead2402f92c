"""Rewriting some keys of a note leaves every other byte alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.errors import BadNote, Refused
from commonwealth.model import Extra, Note, Provenance
from commonwealth.notes import codec, schema

from .examples import NOTE, TEXT, notes, texts

HAND = """---
# our team's note
x-team: 7   # a number
type: gotcha                  # discovery | investigation
title: 'It''s here'

# who owns it
x-owners:
    - alice   # lead
    - bob
status: observed   # for now
tags:
- b
# between
- a
provenance:   # where from
  human: Alice   # herself
  # the ticket
  ticket: {deep: [1, 2]}
  files:
    - a.py
notes: |
  # not a comment
  text

last: >-
  folded
  text
# the end
---

# T

---
body
"""


def test_unknown_keys_comments_and_order_survive() -> None:
    new = codec.edit(HAND, {"status": "confirmed", "tags": ("x",), "summary": "s: t", "title": None})
    assert new == HAND.replace("status: observed ", "status: confirmed ").replace(
        "tags:\n- b\n# between\n- a\n", "tags: [x]\n"
    ).replace("title: 'It''s here'\n", "").replace("type: gotcha                  # discovery | investigation\n",
        'type: gotcha                  # discovery | investigation\nsummary: "s: t"\n')  # fmt: skip


def test_inside_provenance_only_the_changed_line_changes() -> None:
    new = codec.edit(HAND, {"provenance": {"human": "Bob", "files": ("a.py",), "commit": "4f8c2ab"}})
    assert new == HAND.replace("human: Alice   # herself", "human: Bob   # herself").replace(
        "    - a.py\n", "    - a.py\n  commit: 4f8c2ab\n"
    )


def test_a_known_key_of_provenance_can_be_removed_and_unknown_ones_stay() -> None:
    new = codec.edit(HAND, {"provenance": {"commit": "4f8c2ab"}})
    assert "human" not in new
    assert "  # the ticket\n  ticket: {deep: [1, 2]}\n" in new


def test_an_unknown_value_survives_the_change_of_another_key() -> None:
    text = "---\ntitle: x\nstatus: disputed\ncreated_at: yesterday\n---\nb"
    note = codec.parse(text, "memory/x.md", "memory")[0]
    assert codec.edit(text, {"confidence": "high"}).replace("confidence: high\n", "") == text
    assert note.extra["status"] == "disputed"


@pytest.mark.parametrize("text", ["# T\n\nbody\n", "body", "\ufeffbody\r\nmore\r\n", "--- x\n"])
def test_a_file_without_frontmatter_gets_one(text: str) -> None:
    new = codec.edit(text, {"status": "confirmed"})
    assert new.endswith(text.removeprefix("\ufeff"))
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    assert codec.parse(new, "memory/x.md", "memory")[0].status == "confirmed"


def test_crlf_bom_and_a_missing_final_newline_are_kept() -> None:
    text = "\ufeff---\r\ntitle: x # c\r\ny: 1\r\n---\r\nbody\r\nlast"
    new = codec.edit(text, {"title": "z", "status": "confirmed"})
    assert new == "\ufeff---\r\ntitle: z # c\r\nstatus: confirmed\r\ny: 1\r\n---\r\nbody\r\nlast"
    assert codec.edit(text, {}, body="a\nb\n").endswith("---\r\na\r\nb\r\n")


def test_a_body_can_be_added_behind_a_fence_that_ends_the_file() -> None:
    assert codec.edit("---\ntitle: x\n---", {}, body="b\n") == "---\ntitle: x\n---\nb\n"


def test_dots_that_close_a_frontmatter_stay() -> None:
    assert codec.edit("---\ntitle: x\n...\nb", {"title": "new"}) == "---\ntitle: new\n...\nb"


def test_an_empty_frontmatter_can_be_filled() -> None:
    assert codec.edit("---\n---\nb", {"title": "new"}) == "---\ntitle: new\n---\nb"
    assert codec.edit("---\n# only this\n---\nb", {"title": "new"}) == "---\ntitle: new\n# only this\n---\nb"


def test_an_indented_frontmatter_keeps_its_indent() -> None:
    assert codec.edit("---\n  title: x\n  y: 1\n---\n", {"title": "z", "tags": ["a"]}) == (
        "---\n  title: z\n  tags: [a]\n  y: 1\n---\n"
    )


def test_a_value_without_its_quotes_survives_the_change_of_another_key() -> None:
    text = "---\ntitle: a: b: c\nstatus: observed\n---\n"
    assert codec.edit(text, {"status": "confirmed"}) == text.replace("observed", "confirmed")


@pytest.mark.parametrize("text", ["---\ntitle: [\n---\nb\n", "---\ntitle: x\n", "---\na: 1\na: 2\n---\n", ""])
def test_what_cannot_be_read_is_not_edited(text: str) -> None:
    with pytest.raises(BadNote):
        codec.edit(text, {"status": "confirmed"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("x", "y" * 20_000),
        ("x", {"a": {"b": {"c": {"d": "e"}}}}),
        ("x", {f"k{n}": "v" for n in range(70)}),
        ("x", "\ud800"),
    ],
)
def test_a_change_that_a_note_cannot_hold_is_refused(key: str, value: Extra) -> None:
    with pytest.raises(Refused):
        codec.edit(HAND, {key: value})


def test_a_body_that_a_note_cannot_hold_is_refused() -> None:
    for body in ("x" * 300_000, "\x00", "\udfff"):
        with pytest.raises(Refused):
            codec.edit(HAND, {}, body=body)


def test_a_canonical_note_edited_is_the_canonical_text_of_the_edited_note() -> None:
    new = replace(NOTE, status="superseded", superseded_by="x", valid_until="2026-07-01T00:00:00Z", relates=("a",))
    assert codec.edit(TEXT, codec.changes(NOTE, new)) == codec.render(new)


@given(notes, notes)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_note_can_be_edited_into_any_other(old: Note, new: Note) -> None:
    work = new if new.kind == old.kind else old  # what only a work record says
    new = replace(
        new,
        kind=old.kind,
        status=old.status,
        owner=work.owner,
        agent=work.agent,
        files=work.files,
        started_at=work.started_at,
        completed_at=work.completed_at,
        lease_until=work.lease_until,
    )
    text = codec.edit(codec.render(old), codec.changes(old, new), body=new.body)
    read = codec.parse(text, "memory/2026-06-02-a-note-9f3d7k2m.md", old.kind)[0]
    kept = {} if new.provenance == Provenance() else {**old.provenance.extra}
    assert read.provenance.extra == {**kept, **new.provenance.extra}
    assert replace(read, provenance=new.provenance) == new


@given(st.lists(st.tuples(st.sampled_from([*schema.KEYS, "x-a", "x-b"]), texts), max_size=4))
@settings(max_examples=150, deadline=None)
def test_lines_of_other_keys_stay_byte_identical(pairs: list[tuple[str, str]]) -> None:
    changes: dict[str, Extra | None] = dict(pairs)
    if set(changes) & {"provenance"}:
        return
    new = codec.edit(HAND, changes)
    for line in HAND.split("---\n", 2)[1].splitlines():
        key = line.partition(":")[0]
        if key not in changes and not ("tags" in changes and line in ("- b", "- a", "# between")):
            assert line in new.splitlines()
    assert new.endswith("# the end\n---\n\n# T\n\n---\nbody\n") or {"x-a", "x-b"} & set(changes)
