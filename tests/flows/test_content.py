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

from .conftest import Teammate, note_text, recorded, write
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
        (note_text("Merging", "```\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n```\n"), None),
        (note_text("Merging", "<pre>\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n</pre>\n"), None),
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


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_secret_is_found_in_wide_text(brain: Brain, coding: str) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(5))
    scan = content_of(brain).scan
    text = f"// \N{SNOWMAN} the token\r\nvar token = {secret};\r\n"
    assert scan("src/a.cs", text.encode(coding))
    assert scan("src/a.cs", b"\x01" + text.encode(coding))
    assert not scan("src/a.cs", "a plain text\r\n".encode(coding))


@pytest.mark.parametrize("coding", ["utf-8", "utf-16"])
def test_a_secret_in_a_raw_commit_of_any_file_is_not_published(
    team: tuple[Teammate, Teammate], remote: Path, git: PlainGit, coding: str
) -> None:
    alice, _ = team
    secret = tokens.make("ghp_{36:b62}", random.Random(6))
    write(alice.act(), {"src/a.cs": f"token = {secret}\r\n".encode(coding)})
    git(alice.root, "add", "-A")
    git(alice.root, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "raw")
    before = git(remote, "rev-parse", "main")
    receipt = syncing.sync(alice.act())
    assert receipt.state == "refused"
    assert "src/a.cs" in (receipt.reason or "")
    assert secret not in str(receipt)
    assert git(remote, "rev-parse", "main") == before


def test_a_note_with_a_secret_in_its_name_is_left_out_of_the_tables_and_the_receipt_says_so(
    brain: Brain, git: PlainGit
) -> None:
    secret = tokens.make("ghp_{36:b62}", random.Random(7))
    write(brain, {f"memory/{secret}.md": note_text("Named"), "memory/fine.md": note_text("Fine")})
    write(brain, {"memory/title.md": note_text(secret), f"memory/{secret}/in.md": note_text("Below")})
    git(brain.root, "add", "-A")
    git(brain.root, "commit", "-qm", "raw")
    receipt = syncing.sync(brain)
    assert secret not in str(receipt)
    assert sum("secret" in warning for warning in receipt.warnings) >= 2
    shown = git(brain.root, "show", "HEAD:memory/INDEX.md", "HEAD:COMMONWEALTH.md")
    assert secret not in shown
    assert "fine.md" in shown
    assert git(brain.root, "show", "-s", "--format=%s") == "Refresh derived files\n"
    assert secret not in git(brain.root, "show", "--format=", "HEAD", "--", "*INDEX.md", "COMMONWEALTH.md")
