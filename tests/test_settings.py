"""The quick reader of settings says what the strict one says, or leaves the text to it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonwealth import plainyaml, settings
from commonwealth.errors import Damaged

REGISTRY = """\
# mine
rules:
- match: github.com/acme/*
  brain: acme  # the team's
  remote: git@github.com:acme/brain.git
- match: ~/private
  brain: null
"""
CONFIG = "schema_version: 1\nname: acme\nkey: 0123ab\n\nfolders:\n  decisions: adr\n"

pieces = st.sampled_from(
    (
        *("key: ", "key:", "other: ", "null: ", "- ", "  ", " ", "\n", "\n", "a", "~", "null", "1", "x/y:z", "# c"),
        *("'", '"', "[a]", "{", "&a ", "*", "!t ", "|", ">", "---", "\t", "\r", "é", ": ", "#", "%", "@", "`", " # c"),
        *("- a: b", "  b: c"),
    )
)


@given(st.lists(pieces, max_size=24).map("".join))
@example(REGISTRY)
@example(CONFIG)
@example("a: b\na: c\n")
@example("a:\n  b: c\n d: e\n")
@example("a:\n- b: c\n  b: d\n")
@example("a: b: c\n")
@example("a: b\n  c: d\n")
def test_both_readers_agree(text: str) -> None:
    quick = settings.usual(text)
    if quick:
        assert plainyaml.mapping(text, "settings", 1 << 16) == quick


@pytest.mark.parametrize("text", [REGISTRY, CONFIG])
def test_what_we_write_is_read_without_a_yaml_parser(text: str) -> None:
    program = f"import sys\nfrom commonwealth import settings\nsettings.mapping({text!r}, 'x', 9999)"
    program += "\nassert 'yaml' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=30).returncode == 0


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a: b\n", "a: b\n", "x" * 100])
def test_anything_else_is_left_to_the_strict_reader(text: str) -> None:
    if text == "a: b\n":
        assert settings.mapping(text, "settings", 50) == {"a": "b"}
    else:
        with pytest.raises(Damaged, match="settings"):
            settings.mapping(text, "settings", 50)
