"""What a foreign markdown file says about itself."""

from __future__ import annotations

import pytest

from commonwealth.errors import BadNote
from commonwealth.model import Note
from commonwealth.notes import codec, foreign

DAY = "2026-07-01T10:00:00Z"


def made(text: str, path: str = "git/a.md", seen: str | None = None) -> Note:
    short = foreign.short_id("markdown", path, None)
    return foreign.note(foreign.read(text, path), foreign.Origin(short, None, seen or DAY, seen is not None))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Find a commit\n\ntext\n", "Find a commit"),
        ("Find a commit\n=============\n\ntext\n", "Find a commit"),
        ("\n\n## Only a second level\ntext\n", "Only a second level"),
        ("text first\n\n## Not its name\n", "a"),
        ("```\n# a comment\n```\n\n# The name #\n", "The name"),
        ("---\ntitle: From the frontmatter\n---\n# Another\n", "From the frontmatter"),
        ("---\nname: its-name\n---\ntext\n", "its-name"),
        ("no heading at all", "a"),
    ],
)
def test_the_title_is_the_heading_that_names_the_document(text: str, title: str) -> None:
    assert made(text).title == title


def test_a_name_without_heading_reads_as_words() -> None:
    assert made("text\n", "x/undo_the-last commit.md").title == "undo the last commit"


@pytest.mark.parametrize(
    ("text", "path", "date"),
    [
        ("---\ndate: 2024-03-02\n---\nx\n", "a.md", "2024-03-02T00:00:00Z"),
        ("---\ncreated: 2024-03-02T10:00:00+02:00\n---\nx\n", "a.md", "2024-03-02T08:00:00Z"),
        ("# T\n\nDate: 2017-06-30\n", "a.md", "2017-06-30T00:00:00Z"),
        ("# T\n\n* **Date**: 2017/06/30\n", "a.md", "2017-06-30T00:00:00Z"),
        ("x\n", "2023-09-12 Meeting with Steph.md", "2023-09-12T00:00:00Z"),
        ("x\n", "20230912-meeting.md", "2023-09-12T00:00:00Z"),
        ("x\n", "2023-99-12.md", None),
        ("---\ndate: soon\n---\nx\n", "a.md", None),
    ],
)
def test_the_date_is_what_the_source_says(text: str, path: str, date: str | None) -> None:
    note = made(text, path)
    assert note.created_at == note.observed_at == (date or DAY)
    assert note.id.startswith((date or DAY)[:10])


def test_a_source_without_a_date_takes_the_day_it_came_into_history() -> None:
    note = made("x\n", seen="2022-02-03T04:05:06Z")
    assert note.created_at == "2022-02-03T04:05:06Z"
    assert note.id.startswith("2022-02-03-")


def test_keys_that_no_field_takes_over_are_kept() -> None:
    note = made(
        "---\nid: 12\nkind: essay\ntype: gotcha\nstatus: evergreen\ntags: [Git Tips, '#shell']\n"
        "created: 2024-01-01\ndate: 2024-01-02\nmood: happy\nnested:\n  a: b\nempty:\n---\nx\n"
    )
    assert note.type == "gotcha"
    assert note.status == "observed"
    assert note.tags == ("git", "git-tips", "shell")
    assert note.created_at == "2024-01-02T00:00:00Z"
    assert dict(note.extra) == {
        "source_id": "12",
        "source_kind": "essay",
        "source_status": "evergreen",
        "created": "2024-01-01",
        "mood": "happy",
        "nested": {"a": "b"},
    }
    again, _ = codec.parse(codec.to_bytes(note, "memory/x.md").decode(), "memory/x.md", "memory")
    assert again == note


@pytest.mark.parametrize(
    "body",
    ["# T\r\n\r\ntwo\r\n", "# T\nno final newline", "\n\n---\n\ntext\n---\nmore\n", "# Größe 😀\n\t\n", "x\u2028y\r"],
)
def test_the_body_is_kept_byte_for_byte(body: str) -> None:
    for text in (body, f"---\ntitle: t\n---\n{body}", f"\ufeff{body}"):
        note = made(text)
        assert note.body == body
        assert codec.to_bytes(note, "memory/x.md").endswith(body.encode())


@pytest.mark.parametrize("text", ["", " \n", "---\n{{title}}: x\n---\n", "---\na: 1\na: 2\n---\n", "---\nopen\n"])
def test_what_cannot_be_read_says_why(text: str) -> None:
    with pytest.raises(BadNote) as caught:
        made(text)
    assert caught.value.cause


def test_the_short_id_depends_on_kind_path_and_repository_only() -> None:
    one = foreign.short_id("markdown", "git/a.md", None)
    assert one == foreign.short_id("markdown", "git/a.md", None)
    others = {
        foreign.short_id("adr", "git/a.md", None),
        foreign.short_id("markdown", "git/b.md", None),
        foreign.short_id("markdown", "git/a.md", "github.com/acme/shop"),
        foreign.short_id("markdown", "git/a.md", None, "folder:0123456789abcdef"),
    }
    assert len({one, *others}) == 5
    assert made("# One\n").id[-8:] == made("# Two\n\nDate: 2020-01-01\n").id[-8:] == one


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\nUse `git reset` to [undo](https://x.test/a_(b)).\n\nMore.\n", "Use git reset to undo."),
        ("T\n=\n\nOne line\nand **another** one.\n", "One line and another one."),
        ("# T\n\n```\ncode\n```\n\nAfter the code.\n", "After the code."),
        ("# T\n\nIt says:\n\n- one\n- two\n", "It says: one; two"),
        ("# T\n\nIt is easy. Type this:\n\n```\nx\n```\n\nDone.\n", "It is easy."),
        ("# T\n\n    indented code\n\nProse.\n", "Prose."),
        ("# T\n\n| a | b |\n|---|---|\n", None),
        ("# T\n\nDate: 2024-01-02\nTags: x\n\nProse.\n", "Prose."),
        ("# T\n\n- [x] done\n- other\n", None),
        ("# T\n\n![a picture](x.png)\n<!-- a\n\ncomment -->\n<p>\n\n> Quoted _prose_.\n", "Quoted prose."),
        ("# T\n", None),
        ("---\nsummary: Said there.\n---\n# T\n\nProse.\n", "Said there."),
        (
            "# T\n\nSee [[notes/x|the note]], [[y]], snake_case_name, 2 * 3 * 4, a<b and &lt;p&gt;\\*.\n",
            "See the note, y, snake_case_name, 2 * 3 * 4, a<b and <p>*.",
        ),
        ("# T\n\nUse `**kwargs` and `[a](b)`.\n", "Use **kwargs and [a](b)."),
    ],
)
def test_the_summary_is_the_first_paragraph_as_plain_text(text: str, summary: str | None) -> None:
    assert made(text).summary == summary


def test_a_long_paragraph_is_cut_behind_a_sentence_or_a_word() -> None:
    sentences = made("# T\n\n" + "This is a sentence of some length. " * 20).summary or ""
    assert 150 < len(sentences) <= 300
    assert sentences.endswith("length.")
    words = made("# T\n\n" + "word " * 200).summary or ""
    assert 150 < len(words) <= 300
    assert words.endswith("word …")
