"""Sections by heading: every byte has its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.errors import Refused
from commonwealth.notes.sections import append_to_section, replace_section, sections

BODY = "intro\n\n# Context\n\nwhy\n\n```sh\n# no heading\n```\n\n## Detail\n\nmore\n\n# Rejected\n- a\n"
MARKDOWN = st.lists(
    st.sampled_from(["# A", "## B", "text", "", "```", "~~~", "# A #", "    # code", "#no", "- x", "####### x", "\r"])
).map("\n".join)


@given(MARKDOWN | st.text(max_size=80))
def test_the_sections_together_are_the_body(body: str) -> None:
    assert "".join(part.text for part in sections(body)) == body


def test_headings_in_fenced_code_are_text() -> None:
    assert [(part.level, part.title) for part in sections(BODY)] == [
        (0, ""), (1, "Context"), (2, "Detail"), (1, "Rejected"),
    ]  # fmt: skip
    assert sections(BODY)[3].content == "- a\n"


def test_text_is_appended_to_a_section() -> None:
    assert append_to_section(BODY, "context", "new") == BODY.replace("```\n\n##", "```\n\nnew\n\n##")
    assert append_to_section(BODY, "Rejected", "- b\n") == BODY + "- b\n"
    assert append_to_section("# A\nx", "A", "y") == "# A\nx\n\ny"


def test_a_missing_section_is_added_at_the_end() -> None:
    assert append_to_section("# T\n\n## A\n\nx\n", "## News", "y") == "# T\n\n## A\n\nx\n\n## News\n\ny\n"
    assert append_to_section("", "News", "y") == "## News\n\ny\n"


def test_a_section_is_replaced_with_its_deeper_ones() -> None:
    assert replace_section(BODY, "# Context", "because\n") == "intro\n\n# Context\n\nbecause\n\n# Rejected\n- a\n"
    assert replace_section("# A\r\n\r\nx\r\n", "A", "y\nz") == "# A\r\n\r\ny\r\nz\r\n"
    with pytest.raises(Refused, match="no section") as caught:
        replace_section(BODY, "Decision", "x")
    assert "Context" in str(caught.value.hint)


@given(MARKDOWN, st.sampled_from(["A", "B", "C"]))
def test_other_sections_keep_their_bytes(body: str, heading: str) -> None:
    before = sections(body)
    if any("```" in part.text or "~~~" in part.text for part in before):
        return
    after = [part.text for part in sections(append_to_section(body, heading, "added"))]
    kept = [part.text for part in before if part.title.casefold() != heading.casefold()]
    assert all(text.rstrip() in [other.rstrip() for other in after] for text in kept)
