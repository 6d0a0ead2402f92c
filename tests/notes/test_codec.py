"""What a note's text says, and that it is written back as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import BadNote, Refused
from commonwealth.model import Note, Provenance
from commonwealth.notes import codec, document, lineyaml, naming, strictyaml

from .examples import NOTE, TEXT, TITLES, notes

PATH = f"memory/2026-06/{NOTE.id}.md"
STEM = "memory/2026-06/2026-06-02-a-note-9f3d7k2m.md"


def note_of(front: str, body: str = "", kind: str = "memory") -> Note:
    return codec.parse(f"---\n{front}---\n{body}", STEM, kind)[0]


def bad(text: str | bytes) -> BadNote:
    with pytest.raises(BadNote) as caught:
        codec.parse(codec.decode(text, STEM) if isinstance(text, bytes) else text, STEM, "memory")
    assert caught.value.path == STEM
    return caught.value


def test_the_canonical_text_of_a_note_is_the_one_of_the_format() -> None:
    assert codec.render(NOTE) == TEXT
    assert codec.parse(TEXT, PATH, "memory") == (NOTE, ())


@given(notes)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_note_comes_back_exactly_and_its_text_is_stable(note: Note) -> None:
    text = codec.render(note)
    again, problems = codec.parse(text, STEM, note.kind)
    assert problems == ()
    assert again == note
    assert codec.render(again) == text


@given(notes)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_fast_reader_and_the_strict_reader_agree(note: Note) -> None:
    front = document.split(codec.render(note), STEM).yaml
    strict = strictyaml.compose(front).value
    assert lineyaml.read(front) in (None, strict)


_TOKENS = (
    "a", "b: ", "key: ", "key2:", "  ", "    ", "- ", "  - ", "    - ", '"', "'", "[", "]", "{", "}", ", ", ",", ":",
    "#", " #", "\n", "\\", "\\u00e9", "\\x", "é", "~", "null", "|", ">", "&", "*", "!", "%", "@", "`", "? ", "---", "-",
    "<<", "\t", "0", "x y", '\\"', "a: b", '"q"', "[a, b]", "{a: b}", "漢", "\u00a0", "\u2028", "/", "''",
    "\nkey: v\n", "\nk:\n  a: b\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(_TOKENS), max_size=14).map(lambda tokens: "".join(tokens) + "\n"))
@settings(max_examples=500, deadline=None)
def test_the_fast_reader_accepts_nothing_that_the_strict_one_reads_otherwise(front: str) -> None:
    fast = lineyaml.read(front)
    if fast is not None:
        assert strictyaml.compose(front).value == fast


def test_what_we_and_other_tools_write_takes_the_fast_path() -> None:
    other = (
        'id: "2025-05-22-x-8d69d702a36e"\nkind: memory\ntitle: HTTP-500 from X means y\n'
        'summary: "Set `a.b` to 976; \\"higher\\" no"\ncreated_at: "2025-05-22T00:27:09Z"\ntags: [a, "b c"]\n'
        'provenance:\n  human: Greta\n  files:\n    - a/b.rs\n    - "c d"\n  evidence: [x]\n'
        "author: 'A B'\nrelates:\n  - x\n"
    )
    for front in (document.split(TEXT, PATH).yaml, other):
        assert lineyaml.read(front) == strictyaml.compose(front).value


@pytest.mark.parametrize("title", TITLES)
def test_a_title_comes_back_exactly_and_makes_a_safe_id(title: str) -> None:
    note = replace(NOTE, title=title, id=naming.new_id(title, "2026-06-02", "9f3d7k2m"))
    path = naming.note_path("memory", note.id, "2026-06-02", DEFAULT_FOLDERS)
    data = codec.to_bytes(note, path)
    assert codec.parse(codec.decode(data, path), path, "memory") == (note, ())
    assert naming.valid_id(note.id)
    assert naming.kind_of(path, DEFAULT_FOLDERS) == "memory"


@pytest.mark.parametrize("title", [t for t in TITLES if "\x00" not in t])
def test_any_yaml_reader_takes_a_title_for_the_same_text(title: str) -> None:
    front = document.split(codec.render(replace(NOTE, title=title, tags=(title,))), PATH).yaml
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        read = yaml.load(front, Loader=loader)
        assert (read["title"], read["tags"]) == (title, [title])


def test_no_value_of_ours_is_anything_but_text_or_a_time_to_other_readers() -> None:
    read = yaml.safe_load(document.split(TEXT, PATH).yaml)
    assert read["provenance"]["commit"] == "4f8c2ab"
    assert read["id"] == NOTE.id


def test_a_note_with_half_a_character_or_a_nul_is_refused() -> None:
    with pytest.raises(Refused, match="half of a character"):
        codec.to_bytes(replace(NOTE, body="\ud800"), PATH)
    with pytest.raises(Refused, match="NUL"):
        codec.to_bytes(replace(NOTE, body="\x00"), PATH)


def test_a_note_that_would_be_too_large_is_refused() -> None:
    with pytest.raises(Refused, match="16 KiB"):
        codec.to_bytes(replace(NOTE, summary="x" * 20_000), PATH)
    with pytest.raises(Refused, match="256 KiB"):
        codec.to_bytes(replace(NOTE, body="x" * 300_000), PATH)


def test_a_fence_with_blanks_behind_it_closes_wherever_it_stands() -> None:
    for front in ("", "title: x\n"):
        parts = document.split(f"---\n{front}--- \n---\n", STEM)
        assert (parts.frontmatter, parts.closing, parts.body) == (front, "--- \n", "---\n")


def test_a_file_without_frontmatter_is_a_note_with_defaults() -> None:
    note, problems = codec.parse("# How to x\n\ntext\n", "memory/til/how-to-x.md", "memory")
    assert (note.id, note.title, note.type, note.status) == ("how-to-x", "How to x", "discovery", "observed")
    assert note.body == "# How to x\n\ntext\n"
    assert [p.fatal for p in problems] == [False]


def test_the_first_heading_outside_fenced_code_names_a_note() -> None:
    note, _ = codec.parse("```\n# comment\n```\n\n## Real ##\n", "memory/x.md", "memory")
    assert note.title == "Real"


def test_a_decision_without_a_status_is_a_decision() -> None:
    assert note_of("title: x\n", kind="decision").status == "decision"
    assert note_of("title: x\ntype: decision\n").status == "decision"


@pytest.mark.parametrize(
    ("said", "read"),
    [("accepted", "decision"), ("Superseded by ADR-0012", "superseded"), ("proposed", "hypothesis"),
     ("rejected", "retracted"), ("Confirmed", "confirmed")],
)  # fmt: skip
def test_the_status_words_of_other_decision_records_are_understood(said: str, read: str) -> None:
    note, problems = codec.parse(f"---\ntitle: x\nstatus: {said}\n---\n", STEM, "decision")
    assert (note.status, problems) == (read, ())
    assert note.extra["status"] == said


def test_a_value_that_does_not_fit_is_a_doubt_with_its_line_and_survives() -> None:
    text = "---\ntitle: x\nstatus: disputed\ncreated_at: yesterday\nsource: https://x.y/z\n---\nb\n"
    note, problems = codec.parse(text, STEM, "memory")
    assert (note.status, note.created_at, note.source) == ("observed", None, None)
    assert [(p.line, p.cause.partition(":")[0], p.fatal) for p in problems] == [
        (4, "created_at", False), (5, "source", False), (3, "status", False),
    ]  # fmt: skip
    assert note.extra == {"created_at": "yesterday", "source": "https://x.y/z", "status": "disputed"}
    assert codec.parse(codec.render(note), STEM, "memory")[0] == note


def test_times_become_canonical_utc() -> None:
    note = note_of("title: x\ncreated_at: 2026-06-02\nvalid_from: '2026-06-02 14:00:00 +02:00'\n")
    assert (note.created_at, note.valid_from) == ("2026-06-02T00:00:00Z", "2026-06-02T12:00:00Z")


def test_scalars_are_text_whatever_they_look_like() -> None:
    note = note_of("title: 0123\nsummary: 12:30:00\nauthor: no\nnumber: 1.10\nx: true\n")
    assert (note.title, note.summary, note.author, note.number) == ("0123", "12:30:00", "no", "1.10")
    assert note.extra == {"x": "true"}


def test_the_folder_decides_the_kind() -> None:
    note, problems = codec.parse("---\ntitle: x\nkind: person\n---\n", STEM, "memory")
    assert note.kind == "memory"
    assert len(problems) == 1


@pytest.mark.parametrize("value", ["../../evil", "/etc/x", "a\\b", ".hidden", "x" * 121, "a\tb", "a/b"])
def test_an_id_that_cannot_be_a_file_name_is_not_taken(value: str) -> None:
    note, problems = codec.parse(f'---\ntitle: x\nid: "{value}"\n---\n'.replace("\\", "\\\\"), STEM, "memory")
    assert note.id == naming.stem(STEM)
    assert [p.fatal for p in problems] == [False]


def test_nfc_and_nfd_names_are_one_id() -> None:
    one = codec.parse("x\n", "memory/Café.md", "memory")[0].id
    other = codec.parse("x\n", "memory/Cafe\u0301.md", "memory")[0].id
    assert one == other
    assert naming.id_key("CAFÉ") == naming.id_key(other)


def test_bom_and_crlf_are_read() -> None:
    data = b"\xef\xbb\xbf---\r\ntitle: x\r\ntags: [a, b]\r\n---\r\nbody\r\n"
    note, problems = codec.parse(codec.decode(data, STEM), STEM, "memory")
    assert (note.title, note.tags, note.body, problems) == ("x", ("a", "b"), "body\r\n", ())


def test_fences_in_the_body_and_dots_as_closing_are_read() -> None:
    assert note_of("title: x\n", "a\n---\nb: c\n---\n").body == "a\n---\nb: c\n---\n"
    assert codec.parse("---\ntitle: x\n...\nbody\n---\n", STEM, "memory")[0].body == "body\n---\n"


def test_a_value_that_only_lacks_its_quotes_is_read_with_a_doubt() -> None:
    text = "---\ntitle: Governance: Split (Core): x\nsummary: `x` is @y\ntags: [a]\n---\n"
    note, problems = codec.parse(text, STEM, "memory")
    assert (note.title, note.summary, note.tags) == ("Governance: Split (Core): x", "`x` is @y", ("a",))
    assert [(p.line, p.fatal) for p in problems] == [(2, False), (3, False)]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        (b"", 0, "empty"),
        (b" \n\n", 0, "empty"),
        ("---\ntitle: x\n".encode("utf-16"), 1, "UTF-16"),
        (b"a\nb\x00c\n", 2, "NUL"),
        (b"a\nb\xff\n", 2, "0xff"),
        (b"x" * 10_000_000, 0, "10,000,000 bytes"),
        (b"---\ntitle: x\n", 1, "never closed"),
        (b"---\nprose\n\nmore prose\n", 1, "never closed"),
        (b"---\nprose, and more of it\n---\nbody\n", 2, "keys and values"),
        (b"---\n- a\n- b\n---\n", 2, "keys and values"),
        (b"---\ntitle: x\ntitle: y\n---\n", 3, "twice"),
        (b"---\ntitle: x\nprovenance:\n  human: a\n  human: b\n---\n", 5, "twice"),
        (b"---\ntitle: &a x\nsummary: *a\n---\n", 2, "anchors"),
        (b"---\ntitle: !!python/object/apply:os.system [x]\n---\n", 2, "tag"),
        (b"---\ntitle: !foo x\n---\n", 2, "tag"),
        (b"---\ntitle: x\n<<: {a: b}\n---\n", 3, "merge"),
        (b"---\ntitle: [a, b\n---\n", 2, "not YAML"),
        (b"---\na:\n  b:\n    c:\n      d:\n        e: f\n---\n", 6, "levels"),
        (b"---\nx: " + b"[" * 3000 + b"]" * 3000 + b"\n---\n", 2, "nesting"),
        (b"---\nx: [[[[[]]]]]\n---\n", 2, "levels"),
        (b"---\n{title: x}\n---\n", 2, "one key a line"),
        (b"---\ncreated: {{date}}\n---\n", 2, "a key has to be text"),
        (b"---\ntitle: a\xe2\x80\xa8b\n---\n", 2, "U+2028"),
        (b"---\ntitle: \x07\n---\n", 2, "control character"),
        (b"---\nx: y\n" + b"".join(b"k%d: v\n" % n for n in range(64)) + b"---\n", 66, "64 keys"),
        (b"---\nx: " + b"y" * 17_000 + b"\n---\n", 2, "16 KiB"),
        (b"---yaml\ntitle: x\n---\n", 1, "language"),
        (b"---\ntitle: x\n--- a\nb: c\n---\n", 3, "document"),
    ],
)
def test_what_cannot_be_read_is_reported_with_line_and_cause(text: bytes, line: int, cause: str) -> None:
    error = bad(text)
    assert cause in error.cause
    assert error.line == line
    assert str(error).startswith(STEM)


def test_a_large_note_is_read_with_a_doubt() -> None:
    _, problems = codec.parse(f"---\ntitle: x\n---\n{'x' * 40_000}\n", STEM, "memory")
    assert [p.fatal for p in problems] == [False]


def test_a_mark_that_only_looks_like_a_fence_is_text() -> None:
    assert codec.parse("--- a/file\n+++ b/file\n", STEM, "memory")[0].body == "--- a/file\n+++ b/file\n"
    assert codec.parse("----\ntext\n", STEM, "memory")[0].body == "----\ntext\n"


def test_lists_with_prose_are_no_relations() -> None:
    body = "- Added [[X]] to roster\n- [24:33 - 24:41] hi\n- [x] done\n"
    note = note_of("title: x\n", body)
    assert (note.body, note.relates, note.extra) == (body, (), {})


def test_work_records_and_people_keep_their_fields() -> None:
    front = "title: x\nstatus: blocked\nowner: alice\nfiles: [a.py, b.py]\nlease_until: 2026-06-02T12:20:00Z\n"
    note = note_of(front, kind="work-state")
    assert (note.owner, note.files, note.lease_until) == ("alice", ("a.py", "b.py"), "2026-06-02T12:20:00Z")
    assert note.extra == {}
    assert codec.render(note).count("lease_until: 2026-06-02T12:20:00Z\n") == 1
    person = codec.parse("---\nname: Alice\norg: Acme\n---\n", "people/alice-4b1d90c2.md", "person")[0]
    assert (person.title, person.name, person.org) == ("Alice", "Alice", "Acme")


@pytest.mark.parametrize("kind", ["memory", "decision", "person"])
def test_the_keys_of_work_are_kept_as_they_are_in_other_notes(kind: str) -> None:
    front = "title: x\nfiles: b.py\nstarted_at: yesterday\nowner: [alice, bob]\nagent:\n  name: Codex\n"
    text = f"---\n{front}---\nBody.\n"
    note, doubts = codec.parse(text, STEM, kind)
    assert doubts == ()
    assert note.extra == {
        "files": "b.py", "started_at": "yesterday", "owner": ["alice", "bob"], "agent": {"name": "Codex"},
    }  # fmt: skip
    assert (note.owner, note.agent, note.files, note.started_at) == (None, None, (), None)
    assert codec.parse(codec.render(note), STEM, kind)[0] == note
    assert codec.edit(text, {"summary": "told"}) == text.replace("title: x\n", "title: x\nsummary: told\n")


def test_what_does_not_fit_a_key_of_work_is_a_doubt_and_stays() -> None:
    text = "---\ntitle: x\nlease_until: tomorrow\nfiles: {a: b}\nowner: [a]\n---\n"
    note, doubts = codec.parse(text, STEM, "work-state")
    assert [doubt.line for doubt in doubts] == [3, 4, 5]
    assert note.extra == {"lease_until": "tomorrow", "files": {"a": "b"}, "owner": ["a"]}
    assert codec.parse(codec.render(note), STEM, "work-state")[0] == note


def test_changes_between_two_notes_name_only_what_differs() -> None:
    new = replace(NOTE, status="superseded", tags=(), superseded_by="b", provenance=Provenance(human="Bob"))
    assert codec.changes(NOTE, new) == {
        "tags": None, "status": "superseded", "superseded_by": "b", "provenance": {"human": "Bob"},
    }  # fmt: skip
    assert codec.changes(NOTE, NOTE) == {}


def test_every_file_of_the_corpora_is_read_or_reported(shared: Path) -> None:
    seen = 0
    reported: list[BadNote] = []
    for file in sorted((shared / "corpora").rglob("*")):
        if file.suffix not in (".md", ".markdown", ".txt", ".yaml") or not file.is_file():
            continue
        seen += 1
        try:
            text = codec.decode(file.read_bytes(), file.name)
            note, problems = codec.parse(text, file.name, "memory")
        except BadNote as error:
            reported.append(error)
            continue
        assert not any(problem.fatal for problem in problems)
        assert text.encode() == file.read_bytes()
        assert codec.parse(codec.render(note), file.name, "memory")[0] == note
        untouched = codec.edit(text, {})
        assert untouched == text
        changed = codec.edit(text, {"status": "confirmed", "x-new": "1"})
        assert codec.edit(changed, {"x-new": None}).endswith(note.body)
        gone = [line for line in text.split("\n") if line not in set(changed.split("\n"))]
        assert all(line.startswith(("status:", "  - ")) for line in gone), gone
    assert seen > 1000
    assert all(error.cause and error.path for error in reported)
