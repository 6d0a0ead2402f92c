"""`brain conflicts` as people and tools run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
NOTE = "---\nid: {id}\ntitle: {title}\nauthor: {author}\n{more}---\n{body}\n"


@pytest.fixture
def disputed(root: Path) -> Path:
    """A brain in which one note has another version, which says where it comes from."""
    (root / "memory").mkdir(exist_ok=True)
    for name, more in (("rule", ""), ("rule-of-bob", "conflict_of: rule\n")):
        text = NOTE.format(id=name, title=f"Title of {name}\u202e", author="Bob", more=more, body=f"Body of {name}")
        (root / "memory" / f"{name}.md").write_text(text, encoding="utf-8")
    return root


def test_a_conflict_is_listed_for_people_and_tools_and_resolved(disputed: Path, brain: Run) -> None:
    found = json.loads(brain("conflicts", "list", "--brain", str(disputed), "--json").stdout)["conflicts"]
    assert [(one["id"], one["cause"], [rival["id"] for rival in one["rivals"]]) for one in found] == [
        ("rule", "version", ["rule", "rule-of-bob"])
    ]
    assert found[0]["rivals"][1]["differs"] == ["title", "the text"]
    told = brain("conflicts", "list", "--brain", str(disputed))
    assert told.returncode == 0
    assert "\u202e" not in told.stdout.decode()
    shown = told.stdout.decode()
    assert [
        f"{what}: {text} of {name}\n" in shown
        for name in ("rule", "rule-of-bob")
        for what, text in (("title", "Title"), ("the text", "Body"))
    ] == [True] * 4
    assert b"brain conflicts resolve" in brain("status", "--brain", str(disputed)).stdout
    done = brain("conflicts", "resolve", "rule", "--keep", "rule-of", "--brain", str(disputed), "--json")
    assert done.returncode == 0, done.stderr
    receipt = json.loads(done.stdout)
    assert (receipt["state"], receipt["ids"]) == ("committed", ["rule", "rule-of-bob"])
    assert json.loads(brain("conflicts", "list", "--brain", str(disputed), "--json").stdout) == {"conflicts": []}
    assert "Body of rule-of-bob" in (disputed / "memory" / "rule.md").read_text(encoding="utf-8")


def test_the_sync_that_brings_a_conflict_to_light_exits_with_4_and_the_next_one_with_0(
    disputed: Path, brain: Run
) -> None:
    done = brain("sync", "--brain", str(disputed), "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["conflicts"]) == (4, ["rule-of-bob"])
    assert "`brain conflicts list`" in told["next"]
    (disputed / "memory" / "other.md").write_text("---\ntitle: Other\n---\n", encoding="utf-8")
    done = brain("sync", "--brain", str(disputed), "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["state"], told["conflicts"], told["next"]) == (0, "committed", [], None)
    done = brain("sync", "--brain", str(disputed))
    assert (done.returncode, done.stdout.split()[0]) == (0, b"unchanged")
    assert done.stderr.startswith(b"note: 1 conflict is open. `brain conflicts list` ")
    assert done.stderr.count(b"\n") == 1


def test_long_texts_are_shown_from_where_they_differ_and_are_whole_in_json(root: Path, brain: Run) -> None:
    (root / "memory").mkdir(exist_ok=True)
    same = "The same line.\n" * 50 + "word " * 60
    for name, end in (("one", "ours\x1b[2J\n\nmore\nand\nunshown\n"), ("two", "theirs\n")):
        text = f"---\nid: {name}\ntitle: T\n{'' if name == 'one' else 'conflict_of: one'}\n---\n{same}{end}"
        (root / "memory" / f"{name}.md").write_text(text, encoding="utf-8")
    shown = brain("conflicts", "list", "--brain", str(root)).stdout.decode()
    lines = [line.strip() for line in shown.splitlines()]
    assert "the text: …word word word word ours" in lines
    assert "the text: …word word word word theirs" in lines
    assert [line in lines for line in ("more", "and", "unshown", "The same line.")] == [True, True, False, False]
    assert "\x1b" not in shown
    (found,) = json.loads(brain("conflicts", "list", "--brain", str(root), "--json").stdout)["conflicts"]
    assert found["differs"] == [
        {"what": "the text", "texts": {"one": f"{same}ours\x1b[2J\n\nmore\nand\nunshown", "two": f"{same}theirs"}}
    ]


@pytest.mark.parametrize(
    ("one", "two", "shown"),
    [
        ("## A\n\nx\n\n## B\n\nb\n", "## A\n\nx\n", ["section 'B': b", "section 'B': (none)"]),
        ("## A\n", "## A\n\nx\n", ["section 'A': (empty)", "section 'A': x"]),
        ("one\ntwo\n", "one\n", ["the text: two", "the text: (ends here)"]),
        ("a\u200bb\n", "ab\n", ["the text: (the same but for blanks, empty lines or hidden characters)"] * 2),
    ],
)
def test_what_only_one_version_has_is_told_for_both(
    root: Path, brain: Run, one: str, two: str, shown: list[str]
) -> None:
    (root / "memory").mkdir(exist_ok=True)
    for name, body in (("one", one), ("two", two)):
        text = f"---\nid: {name}\ntitle: T\n{'' if name == 'one' else 'conflict_of: one'}\n---\n{body}"
        (root / "memory" / f"{name}.md").write_text(text, encoding="utf-8")
    lines = brain("conflicts", "list", "--brain", str(root)).stdout.decode().splitlines()
    assert [line.strip() for line in lines if line.startswith("    ") and ": " in line] == shown


@pytest.mark.parametrize("as_json", [True, False])
def test_the_answer_says_which_id_says_what(disputed: Path, brain: Run, as_json: bool) -> None:
    flags = ["--json"] if as_json else []
    done = brain("conflicts", "resolve", "rule", "--keep", "rule-of", "--brain", str(disputed), *flags)
    if as_json:
        assert [list(item.values()) for item in json.loads(done.stdout)["items"]] == [
            ["rule", "stands", "says what rule-of-bob said"],
            ["rule-of-bob", "closed", "keeps the text that rule had, superseded by it"],
        ]
    else:
        told = done.stdout.decode()
        assert "stands rule: says what rule-of-bob said\n" in told
        assert "closed rule-of-bob: keeps the text that rule had, superseded by it\n" in told


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["rule"], 2, "Say what stands"),
        (["rule", "--keep", "rule", "--both"], 2, "`--keep` and `--both` exclude each other"),
        (["rule", "--keep", "nobody"], 1, "'nobody' is no note of the conflict about rule"),
        (["nobody", "--both"], 1, "No note has the id"),
        (["--both"], 2, "Missing argument"),
    ],
)
def test_a_wrong_call_says_what_to_do(disputed: Path, brain: Run, arguments: list[str], code: int, told: str) -> None:
    done = brain("conflicts", "resolve", *arguments, "--brain", str(disputed))
    assert (done.returncode, told in done.stderr.decode()) == (code, True), done.stderr
    assert b"Traceback" not in done.stderr
    if "rule" in arguments:
        assert b"brain conflicts resolve --help" in done.stderr
