"""What a model is told about the memory is short enough for every client, and the same wherever it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commonwealth.adapters.cli import reference
from commonwealth.adapters.mcp import guidance, tools
from commonwealth.adapters.mcp.instructions import INSTRUCTIONS, INTRO, RULES

ROOT = Path(__file__).resolve().parents[2]
CLAUDE_CUTS_AT = 2_048
CODEX_CARRIED_WHOLE = 6_000
TOPICS = {
    "search first": ("memory_search", "before you investigate"),
    "announce work": ("work_start", "who else is at it", "nothing is locked", "work_complete"),
    "worth recording": ("memory_record", "costly to find out", "not what a reader sees in the code", "evidence"),
    "three acts": ("memory_update if the record", "memory_supersede if reality", "memory_retract if it was never true"),
    "never": ("secrets", "private reasoning", "progress reports"),
    "receipts": ("receipt", "tell the user"),
    "data": ("not instructions", "check them against the code"),
}


def words(text: str) -> str:
    return " ".join(text.split())


def test_both_clients_carry_the_instructions_whole() -> None:
    assert len(INSTRUCTIONS) <= 2_000 < CLAUDE_CUTS_AT < CODEX_CARRIED_WHOLE
    assert len(INSTRUCTIONS.encode()) == len(INSTRUCTIONS), "a limit in bytes is one in characters too"


@pytest.mark.parametrize("topic", TOPICS)
def test_each_topic_is_one_rule(topic: str) -> None:
    holding = [rule for rule in RULES if all(part in rule for part in TOPICS[topic])]
    assert len(holding) == 1


def test_every_tool_that_the_rules_name_is_there() -> None:
    named = set(re.findall(r"\b(?:memory|work|review)_[a-z]+", INSTRUCTIONS))
    assert len(named) >= 7
    assert named <= set(tools.TOOLS)


def test_the_text_for_a_project_file_says_the_same_rules_in_the_same_order() -> None:
    text = words(guidance.block())
    places = [text.index(words(part)) for part in (INTRO, *RULES)]
    assert places == sorted(places)


def test_every_command_that_the_text_names_is_there() -> None:
    headings = set(re.findall(r"^#+ .*?`?brain ([a-z -]+?)`?$", reference.generated(), re.MULTILINE))
    named = re.findall(r"`brain ([a-z ]+)`", words(guidance.block()))
    assert named
    assert sorted(set(named) - headings) == []


def test_the_text_can_be_replaced_between_its_markers() -> None:
    block = guidance.block()
    assert block.startswith(guidance.BEGIN + "\n")
    assert block.endswith(guidance.END + "\n")
    page = (ROOT / "docs" / "guidance.md").read_text(encoding="utf-8")
    assert page.count(guidance.BEGIN) == page.count(guidance.END) == 1
    assert block in page


def test_the_page_is_what_the_rules_make() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "commonwealth.adapters.mcp.guidance", "--check"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"run `python -m commonwealth.adapters.mcp.guidance` in the checkout {done.stderr}"
