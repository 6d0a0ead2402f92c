"""A name is taken for a branch's exactly where git takes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commonwealth.repo.refname import branch_name

NAMES = [
    "main", "fix/a-1", "a.b", "a@b", "ä/ö", "a{b", "a'b", 'a"b', "a;b", "a$(b)", "a|b", "@a", "a@", "-a", "a b", "a\tb",
    "a..b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b",
    "a.", "a@{b", "a/-b", "HEAD", "a\x7fb", "a.lockb", "a/b.", "head", "a\x01b",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_git_agrees(tmp_path: Path, name: str) -> None:
    asked = subprocess.run(
        ["git", "check-ref-format", "--branch", name], cwd=tmp_path, capture_output=True, check=False
    )
    if asked.returncode == 0:
        assert branch_name(name) == name
    else:
        with pytest.raises(ValueError, match="no branch of that name"):
            branch_name(name)


def test_the_full_name_of_the_ref_is_taken_as_well() -> None:
    assert branch_name(" refs/heads/a ") == "a"


@pytest.mark.parametrize("name", ["", " ", "refs/heads/", "@", "a\u202eb", "a\u200bb", "a\udcffb", "x" * 251])
def test_what_no_person_would_call_a_branch_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no branch of that name"):
        branch_name(name)
