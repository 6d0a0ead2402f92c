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
    assert "differs in title, the text" in told.stdout.decode()
    assert b"brain conflicts resolve" in brain("status", "--brain", str(disputed)).stdout
    done = brain("conflicts", "resolve", "rule", "--keep", "rule-of", "--brain", str(disputed), "--json")
    assert done.returncode == 0, done.stderr
    receipt = json.loads(done.stdout)
    assert (receipt["state"], receipt["ids"]) == ("committed", ["rule", "rule-of-bob"])
    assert json.loads(brain("conflicts", "list", "--brain", str(disputed), "--json").stdout) == {"conflicts": []}
    assert "Body of rule-of-bob" in (disputed / "memory" / "rule.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["rule"], 2, "Say what stands"),
        (["rule", "--keep", "rule", "--both"], 2, "Say what stands"),
        (["rule", "--keep", "nobody"], 1, "'nobody' is none of them"),
        (["nobody", "--both"], 1, "No note has the id"),
        (["--both"], 2, "Missing argument"),
    ],
)
def test_a_wrong_call_says_what_to_do(disputed: Path, brain: Run, arguments: list[str], code: int, told: str) -> None:
    done = brain("conflicts", "resolve", *arguments, "--brain", str(disputed))
    assert (done.returncode, told in done.stderr.decode()) == (code, True), done.stderr
    assert b"Traceback" not in done.stderr
