"""What a brain's files mean to the code that moves them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.flows import brains, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from tests.curate import tokens

from .conftest import note_text, recorded, write
from .test_contents import Files

PlainGit = Callable[..., str]

CONFLICT = "---\ntitle: x\n---\nbefore\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (note_text("Fine"), None),
        ("no frontmatter\n", None),
        (CONFLICT, "line 5: it holds git's conflict markers"),
        (CONFLICT.replace("\n", "\r\n"), "line 5: it holds git's conflict markers"),
        (CONFLICT.replace("=======", "||||||| base\nc\n======="), "line 5: it holds git's conflict markers"),
        (CONFLICT.replace("=======\n", ""), None),
        ("A title\n=======\n\n>>>>>>> quoted\n", None),
        ("---\ntitle: [\n---\n", "line 3: "),
        ("---\ntitle: x\ntitle: y\n---\n", "line 3: "),
    ],
)
def test_a_file_is_checked(brain: Brain, text: str, cause: str | None) -> None:
    found = content_of(brain).check("memory/a.md", text.encode())
    assert found == cause or (cause is not None and found is not None and found.startswith(cause))


def test_a_file_full_of_markers_is_checked_in_one_pass(brain: Brain) -> None:
    data = b"<<<<<<< x\n" * 20_000
    assert content_of(brain).check("memory/a.md", data) is None


def test_the_config_is_checked_too(brain: Brain) -> None:
    content = content_of(brain)
    assert content.check(".commonwealth/config.yaml", b"name: x\n") is None
    assert "unparsable" in (content.check(".commonwealth/config.yaml", b"[]") or "")
    assert "conflict" in (content.check(".commonwealth/config.yaml", CONFLICT.encode()) or "")
    assert content.is_config(".commonwealth/config.yaml")


def test_a_secret_is_found_in_text_and_name(brain: Brain) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(4))
    scan = content_of(brain).scan
    assert [finding.where for finding in scan("memory/a.md", f"x\n{secret}".encode())] == ["text, line 2"]
    assert [finding.where for finding in scan(f"memory/{secret}.md", b"x")] == ["file name"]
    assert [finding.where for finding in scan("", secret.encode())] == ["text"]
    assert not scan("memory/a.md", b"\xff\xfe harmless")


def test_two_versions_of_bytes_that_are_no_utf8_merge_without_loss(brain: Brain) -> None:
    base, ours, theirs = (b"---\ntitle: x\nsummary: s%d\n---\ncaf\xe9 %d\n" % (n, n) for n in (0, 1, 0))
    merged = content_of(brain).merge(base, ours, theirs, "memory/a.md")
    assert merged.data == ours
    assert not merged.siblings


def test_derived_files_are_known(brain: Brain) -> None:
    is_derived = content_of(brain).is_derived
    assert all(map(is_derived, ("COMMONWEALTH.md", "memory/INDEX.md", "memory/2026-07/INDEX.md")))
    assert not any(map(is_derived, ("INDEX.md", "docs/INDEX.md", "memory/aINDEX.md", "memory/COMMONWEALTH.md")))


def test_the_router_bears_the_name_that_the_snapshot_says(brain: Brain) -> None:
    files = {".commonwealth/config.yaml": b"name: Another name\n", "memory/a.md": b"# A\n"}
    for paths in (None, frozenset({"memory/a.md"}), frozenset({".commonwealth/config.yaml"})):
        made = content_of(brain).derive(paths, Files(files))
        assert (made["COMMONWEALTH.md"] or b"").startswith(b"# Another name\n")
    broken = content_of(brain).derive(None, Files({".commonwealth/config.yaml": b"["}))
    assert (broken["COMMONWEALTH.md"] or b"").startswith(b"# acme\n")


def test_renaming_the_brain_renames_it_in_the_router(brain: Brain, git: PlainGit) -> None:
    recorded(brain)
    syncing.sync(brain)
    path = brain.root / ".commonwealth/config.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("acme", "umbrella"), encoding="utf-8")
    syncing.sync(brains.open_brain(Path(brain.root), cwd=brain.cwd))
    assert (brain.root / "COMMONWEALTH.md").read_text(encoding="utf-8").startswith("# umbrella\n")
    write(brain, {"memory/by-hand.md": note_text("By hand")})
    syncing.sync(brain)
    assert (brain.root / "COMMONWEALTH.md").read_text(encoding="utf-8").startswith("# umbrella\n")
    assert git(brain.root, "status", "--porcelain") == ""
