"""Two versions of a note become one, the same for whoever merges, and nothing that was said is lost."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.notes import codec
from commonwealth.notes.merge import MergeResult, merge3

PATH = "memory/2026-01/2026-01-01-x-aaaaaaaa.md"
BASE = """---
id: 2026-01-01-x-aaaaaaaa
kind: memory
type: gotcha
title: X
status: observed
confidence: low
updated_at: 2026-01-01T00:00:00Z
# people care
tags: [a, b]
provenance:
  human: Alice
  files: [x]
x-team: 7   # odd
---
intro

## A
one

## B
two
"""


def merged(base: str | None, ours: str, theirs: str) -> MergeResult:
    result = merge3(base, ours, theirs, PATH)
    assert result == merge3(base, theirs, ours, PATH)
    return result


def swap(text: str, *pairs: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


def test_what_one_side_changed_is_taken_as_written() -> None:
    theirs = swap(BASE, "7   # odd", "8 # even", "two", "TWO")
    assert merged(BASE, BASE, theirs) == MergeResult(theirs)
    assert merged(BASE, theirs, theirs) == MergeResult(theirs)


def test_different_fields_and_sections_merge_without_a_conflict() -> None:
    ours = swap(BASE, "status: observed", "status: confirmed", "one", "ONE", "[a, b]", "[a, b, z, c]",
                "files: [x]", "files: [x, ours.py]")  # fmt: skip
    theirs = swap(BASE, "confidence: low", "confidence: high  # sure", "two", "TWO\n\n## C\nthree", "[a, b]", "[b, d]",
                  "# people care", "# people cared", "human: Alice", "human: Alice\n  issue: Q-1")  # fmt: skip
    result = merged(BASE, ours, theirs)
    assert result.sibling is None
    assert result.warnings == ()
    note = codec.parse(result.text, PATH, "memory")[0]
    assert (note.status, note.confidence, note.tags) == ("confirmed", "high", ("b", "c", "d", "z"))
    assert (note.provenance.files, note.provenance.issue) == (("x", "ours.py"), "Q-1")
    assert "confidence: high  # sure\n" in result.text
    assert note.body == "intro\n\n## A\nONE\n\n## B\nTWO\n\n## C\nthree\n"


def test_times_of_updating_take_the_later_and_of_creation_the_earlier() -> None:
    ours = swap(
        BASE, "updated_at: 2026-01-01T00:00:00Z", "updated_at: 2026-01-03T00:00:00Z\ncreated_at: 2026-01-01", "one", "1"
    )
    theirs = swap(
        BASE, "updated_at: 2026-01-01T00:00:00Z", "updated_at: 2026-01-02T00:00:00Z\ncreated_at: 2025-12-31", "two", "2"
    )
    note = codec.parse(merged(BASE, ours, theirs).text, PATH, "memory")[0]
    assert (note.updated_at, note.created_at) == ("2026-01-03T00:00:00Z", "2025-12-31T00:00:00Z")


def test_a_true_conflict_keeps_the_later_version_and_the_other_as_a_sibling() -> None:
    ours = swap(BASE, "title: X", "title: Ours", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "one", "1")
    theirs = swap(BASE, "title: X", "title: Theirs", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "two", "2")
    result = merged(BASE, ours, theirs)
    assert "title: Theirs\n" in result.text
    assert "\n1\n" in result.text
    assert "\n2\n" in result.text
    assert result.sibling is not None
    path, text = result.sibling
    sibling = codec.parse(text, path, "memory")[0]
    assert path == f"memory/2026-01/{sibling.id}.md"
    assert sibling.id.startswith("2026-01-01-x-")
    assert (sibling.title, sibling.conflict_of) == ("Ours", "2026-01-01-x-aaaaaaaa")
    assert sibling.body == ours.split("---\n")[2]
    assert "title" in result.warnings[0]


def test_a_section_that_both_changed_is_a_conflict() -> None:
    result = merged(BASE, swap(BASE, "one", "EINS"), swap(BASE, "one", "UNO"))
    assert result.sibling is not None
    assert {"EINS" in result.text, "UNO" in result.text} == {True, False}
    assert {"EINS" in result.sibling[1], "UNO" in result.sibling[1]} == {True, False}


def test_there_is_no_sibling_of_a_sibling() -> None:
    base = swap(BASE, "type: gotcha", "conflict_of: root-id\ntype: gotcha")
    result = merged(base, swap(base, "one", "1"), swap(base, "one", "2"))
    assert result.sibling is not None
    assert codec.parse(result.sibling[1], result.sibling[0], "memory")[0].conflict_of == "root-id"


def test_two_supersessions_close_a_note_once_and_say_so() -> None:
    at = "2026-02-0{0}T00:00:00Z"
    closed = f"status: superseded\nvalid_until: {at}\nsuperseded_at: {at}\nsuperseded_by: new-{{0}}"
    ours, theirs = (swap(BASE, "status: observed", closed.format(n)) for n in (1, 2))
    result = merged(BASE, theirs, ours)
    assert result.text == ours
    assert result.sibling is None
    assert "new-1 and by new-2" in result.warnings[0]


RETRACTED = "status: retracted\nretracted_at: 2026-02-01T00:00:00Z\nretract_reason: {}"
SUPERSEDED = "status: superseded\nvalid_until: 2026-02-01T00:00:00Z\nsuperseded_by: y"


@pytest.mark.parametrize("edit", [("one", "ONE"), ("title: X", "title: Y"), ("status: observed", "status: confirmed")])
def test_a_retraction_keeps_the_id_against_an_edit_which_stands_beside_it(edit: tuple[str, str]) -> None:
    ours = swap(BASE, "status: observed", RETRACTED.format("no"))
    theirs = swap(BASE, *edit, "[a, b]", "[a, b, c]", "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
    result = merged(BASE, ours, theirs)
    note = codec.parse(result.text, PATH, "memory")[0]
    assert (note.status, note.retract_reason, note.title, note.tags) == ("retracted", "no", "X", ("a", "b", "c"))
    assert "\none\n" in result.text
    assert result.sibling is not None
    assert (
        result.sibling[1]
        .replace(result.sibling[0].rpartition("/")[2][:-3], note.id)
        .replace(f"conflict_of: {note.id}\n", "")
        == theirs
    )


def test_a_retraction_beside_tags_links_and_checks_is_no_conflict() -> None:
    ours = swap(BASE, "status: observed", RETRACTED.format("no"))
    theirs = swap(BASE, "[a, b]", "[a, c]", "x-team: 7", "x-team: 8")
    result = merged(BASE, ours, theirs)
    assert result.sibling is None
    assert "tags: [a, c]\n" in result.text
    assert "x-team: 8   # odd\n" in result.text


def test_two_retractions_are_one_with_both_reasons_since_the_earlier_one() -> None:
    ours = swap(BASE, "status: observed", RETRACTED.format("misread"))
    theirs = swap(BASE, "status: observed", RETRACTED.format("no such host").replace("02-01", "01-20"))
    result = merged(BASE, ours, theirs)
    note = codec.parse(result.text, PATH, "memory")[0]
    assert result.sibling is None
    assert (note.retract_reason, note.retracted_at) == ("no such host; misread", "2026-01-20T00:00:00Z")


def test_a_correction_joins_what_was_superseded_meanwhile() -> None:
    ours = swap(BASE, "status: observed", SUPERSEDED)
    theirs = swap(BASE, "one", "ONE", "status: observed", "status: confirmed")
    result = merged(BASE, ours, theirs)
    assert result.text == swap(ours, "one", "ONE")
    assert result.sibling is None
    assert "outranks" in result.warnings[0]


def test_what_was_retracted_and_superseded_is_retracted_and_says_both() -> None:
    ours, theirs = (swap(BASE, "status: observed", text) for text in (RETRACTED.format("no"), SUPERSEDED))
    note = codec.parse(merged(BASE, ours, theirs).text, PATH, "memory")[0]
    assert (note.status, note.retract_reason, note.superseded_by) == ("retracted", "no", "y")


def test_sections_with_one_heading_are_told_apart_by_what_they_say() -> None:
    base = BASE + "\n## Log\nfirst\nline\n"
    ours = swap(base, "## Log\nfirst\n", "## Log\nnewer\n\n## Log\nfirst\n")
    theirs = swap(base, "first\nline", "first\nline, mended")
    result = merged(base, ours, theirs)
    assert result.sibling is None
    assert result.text.endswith("## Log\nnewer\n\n## Log\nfirst\nline, mended\n")


def test_many_sections_with_one_heading_take_no_quadratic_time() -> None:
    base = BASE + "# h\n" * 20_000
    assert merged(base, swap(base, "one", "ONE"), swap(base, "two", "TWO")).sibling is None


def test_comments_of_both_sides_stay_where_a_value_is_made_of_both() -> None:
    base = swap(BASE, "tags: [a, b]", "tags:\n- a  # first\n- b")
    ours, theirs = swap(base, "- b", "- b\n- c  # mine"), swap(base, "- b", "- b\n- d  # yours")
    text = merged(base, ours, theirs).text
    assert codec.parse(text, PATH, "memory")[0].tags == ("a", "b", "c", "d")
    assert all(f"# {word}\n" in text for word in ("first", "mine", "yours"))


def test_what_one_removed_and_the_other_changed_stays() -> None:
    ours = swap(BASE, "x-team: 7   # odd\n", "", "## B\ntwo\n", "")
    theirs = swap(BASE, "x-team: 7   # odd", "x-team: 8", "two", "TWO")
    result = merged(BASE, ours, theirs)
    assert "x-team: 8\n" in result.text
    assert result.text.endswith("## A\none\n\n## B\nTWO\n")
    assert len(result.warnings) == 2


def test_a_comment_that_one_side_added_is_kept() -> None:
    ours = swap(BASE, "kind: memory", "# mine\nkind: memory")
    theirs = swap(BASE, "confidence: low", "confidence: high")
    assert merged(BASE, ours, theirs).text == swap(ours, "confidence: low", "confidence: high")


def test_both_sides_added_the_same_note() -> None:
    ours = swap(BASE, "x-team: 7   # odd\n", "", "title: X", "title: X\ncreated_at: 2026-01-02T00:00:00Z")
    theirs = swap(BASE, "tags: [a, b]", "tags: [c]", "title: X", "title: X\ncreated_at: 2026-01-01T00:00:00Z")
    result = merged(None, ours, theirs)
    note = codec.parse(result.text, PATH, "memory")[0]
    assert (note.tags, note.created_at, note.extra) == (("a", "b", "c"), "2026-01-01T00:00:00Z", {"x-team": "7"})
    assert result.sibling is None


def test_one_call_made_in_two_clones_at_two_moments_is_one_note() -> None:
    ours = swap(BASE, "updated_at: 2026", "observed_at: 2026-01-02T00:00:00Z\nupdated_at: 2026")
    theirs = swap(BASE, "updated_at: 2026-01-01", "observed_at: 2026-01-03T00:00:00Z\nupdated_at: 2026-01-03")
    result = merged(None, ours, theirs)
    assert result.sibling is None
    assert "observed_at: 2026-01-02" in result.text
    assert "updated_at: 2026-01-03" in result.text


def test_line_ends_alone_are_no_change() -> None:
    crlf = BASE.replace("\n", "\r\n")
    edited = swap(BASE, "one", "ONE")
    assert merged(BASE, crlf, edited) == MergeResult(edited)
    assert merged(BASE, crlf, BASE) == MergeResult(crlf)
    both = merged(BASE, swap(crlf, "two", "TWO"), edited)
    assert both.text == swap(BASE, "one", "ONE", "two", "TWO").replace("\n", "\r\n")
    assert both.sibling is None
    assert merged(crlf, swap(crlf, "two", "TWO"), swap(crlf, "one", "ONE")).text == both.text


@pytest.mark.parametrize(
    "broken", ["---\ntitle: [\n---\nb\n", "---\ntitle: x\n", "", "<<<<<<< ours\n---\na: 1\na: 2\n---\n"]
)
def test_a_version_that_cannot_be_read_is_kept_beside_the_one_that_can(broken: str) -> None:
    ours = swap(BASE, "one", "ONE")
    result = merged(BASE, ours, broken)
    if result.sibling is None or not broken.startswith("---"):
        return
    assert result.text == ours
    path, text = result.sibling
    sibling = codec.parse(text, path, "memory")[0]
    assert (sibling.conflict_of, sibling.body) == ("2026-01-01-x-aaaaaaaa", broken)


def test_two_versions_that_cannot_be_read_are_both_kept() -> None:
    one, other = "---\na: [\n---\none\n", "---\nb: [\n---\nother\n"
    result = merged(BASE, one, other)
    assert result.sibling is not None
    assert {result.text, codec.parse(result.sibling[1], result.sibling[0], "memory")[0].body} == {one, other}


def test_versions_that_are_too_much_together_are_both_kept() -> None:
    ours, theirs = (swap(BASE, "x-team: 7   # odd", f"x-{c}: {c * 9000}") for c in "ab")
    result = merged(BASE, ours, theirs)
    assert result.sibling is not None
    assert {"aaaaaaaaaaa" in result.text, "aaaaaaaaaaa" in result.sibling[1]} == {True, False}


_EDITS = st.sampled_from(
    [
        ("status: observed", "status: confirmed"), ("status: observed\n", ""), ("[a, b]", "[a]"),
        ("[a, b]", "[b, q, c]"),
        ("title: X", "title: Y"), ("one", "ONE"), ("one\n", "one\n\n## New\nadded\n"), ("two\n", "two"),
        ("## A\none\n\n", ""),
        ("  human: Alice\n", ""), ("human: Alice", "human: Bob"), ("files: [x]", "files: []"), ("# people care\n", ""),
        ("x-team: 7", "x-team: 8"), ("kind: memory", "kind: memory\nbranch: f"), ("01-01T00", "01-02T00"),
        ("intro\n\n", ""),
        ("two", "two\n\n## Z\nend"), ("## B\ntwo", "## B\ntwo\n\n## A\nagain"), ("---\nid", "\ufeff---\nid"),
        ("\n", "\r\n"),
    ]
)  # fmt: skip


def _edited(edits: list[tuple[str, str]]) -> str:
    text = BASE
    for old, new in edits:
        text = text.replace(old, new, -1 if old == "\n" else 1)
    return text


_VERSIONS = st.lists(_EDITS, max_size=5, unique=True).map(_edited)


@given(st.none() | _VERSIONS, _VERSIONS, _VERSIONS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_merging_commutes_repeats_and_stays_readable(base: str | None, ours: str, theirs: str) -> None:
    result = merged(base, ours, theirs)
    assert merge3(base, ours, ours, PATH) == MergeResult(ours)
    assert merge3(ours, ours, theirs, PATH) == MergeResult(theirs)
    note, problems = codec.parse(result.text, PATH, "memory")
    assert not any(problem.fatal for problem in problems)
    assert "<<<<" not in result.text
    if result.sibling:
        assert codec.parse(result.sibling[1], result.sibling[0], "memory")[0].conflict_of == note.id
    everything = (result.text + (result.sibling[1] if result.sibling else "")).replace("\r", "")
    for side in (ours, theirs):
        body = side.replace("\r", "").split("---\n")[-1].split("\n")
        new = [line for line in body if base is None or line not in base.replace("\r", "").split("\n")]
        assert all(line in everything for line in new)
    again = merge3(ours, result.text, ours, PATH)
    assert again == MergeResult(result.text)
