"""git's conflict markers, left in a note by a merge by hand, never stay in a brain."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.repo import markers
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.pending import Settled, commit_pending

from .brains import assert_equal, first_brain, head, plain, put, settle, status, team
from .linenotes import CONTENT, NOW, Writer, run_sync

FIRST = "memory/2026-07/first.md"
TWO = "tags: a\n<<<<<<< HEAD\ntitle: ours\n=======\ntitle: theirs\n>>>>>>> other\n"
THREE = "tags: a\n<<<<<<< HEAD\ntitle: ours\n||||||| base\ntitle: first\n=======\ntitle: first\nmore: x\n>>>>>>> b\n"


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    return first_brain(tmp_path / "brain")


def commit_by_hand(brain: Path, *, patience: float = 0) -> Settled:
    git = Git(brain)
    with WriterLock(git.git_dir) as held:
        tip = branch_tip(git, "main")
        return commit_pending(git, CONTENT, Writer("Bob"), now=NOW, held=held, tip=tip, patience=patience)


def kept(brain: Path) -> list[str]:
    """What was put aside before it was replaced."""
    names = plain(brain, "for-each-ref", "--format=%(objectname)", "refs/commonwealth/kept").split()
    return [plain(brain, "cat-file", "-p", name) for name in names]


def stash_conflict(brain: Path) -> None:
    """`git stash pop` that meets another edit of the same line, and one of another line."""
    put(brain, FIRST, "tags: stashed\ntitle: stashed\n")
    plain(brain, "stash", "-q")
    put(brain, FIRST, "tags: a\ntitle: committed\n")
    plain(brain, "commit", "-qam", "committed")
    plain(brain, "stash", "pop", check=False)
    assert status(brain) == f"UU {FIRST}\n"


def test_versions_and_base_are_read_from_between_the_markers() -> None:
    two, three = markers.split(TWO.encode()), markers.split(THREE.encode())
    assert two == markers.Sides(b"tags: a\ntitle: ours\n", b"tags: a\ntitle: theirs\n", None)
    assert three is not None
    assert three.base == b"tags: a\ntitle: first\n"
    assert three.theirs == b"tags: a\ntitle: first\nmore: x\n"


def test_lines_end_as_they_did() -> None:
    found = markers.split(TWO.replace("\n", "\r\n").encode())
    assert found == markers.Sides(b"tags: a\r\ntitle: ours\r\n", b"tags: a\r\ntitle: theirs\r\n", None)


@pytest.mark.parametrize(
    "text",
    [
        f"How it looks:\n\n```\n{TWO}```\n",
        f"~~~~ text\n{TWO}~~~\n~~~~\n",
        f"````\n```\n{TWO}```\n````\n",
        "````\n<<<<<<< HEAD\n```\na\n```\n=======\n~~~\nb\n>>>>>>> b\n````\n",
        f"```\n{THREE}```\n",
        f"Like this:\n<pre>\n{TWO}</pre>\n",
        f"<pre><code>\n{THREE}\n```\n</code></pre>\n",
        "<<<<<<< HEAD\na\n>>>>>>> b\n",
        "<<<<<<< HEAD\na\n=======\nb\n",
        "Title\n=======\n\n>>>>>>> quoted\n<<<<<<< HEAD\n",
        " <<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n",
    ],
)
def test_a_text_about_merging_is_left_alone(text: str) -> None:
    assert markers.split(text.encode()) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TWO, 2),
        (f"```\n{TWO}```\n", 0),
        (f"````\n```\n{TWO}```\n````\n", 0),
        (f"<pre>\n{THREE}</pre>\n", 0),
        (f"<pre>a</pre>\n{THREE}", 3),
        (f"```\n{TWO}```\n{TWO}", 10),
        ("<<<<<<< HEAD\n<<<<<<< HEAD\nb\n=======\n>>>>>>> b\n", 2),
        ("<<<<<<< a\n=======\n<<<<<<< b\n>>>>>>> b\n", 1),
        ("```\na\n<<<<<<< HEAD\n```\nours\n=======\nb\n```\n>>>>>>> x\nafter\n", 3),
    ],
)
def test_the_first_marker_is_found_unless_a_block_of_code_quotes_it(text: str, line: int) -> None:
    assert markers.first_line(text.encode()) == line


def test_a_decision_that_quotes_markers_is_no_conflict_left_open() -> None:
    quoting = f"title: about merges\n```\n{TWO}```\n".encode()
    assert markers.is_undecided(TWO.encode(), [b"title: ours\n", b"title: theirs\n"])
    assert markers.is_undecided(f"```\n{TWO}```\n".encode(), [b"title: ours\n", b"title: theirs\n"])
    assert not markers.is_undecided(quoting, [quoting, b"title: theirs\n"])


def test_a_conflict_that_tears_a_fence_open_is_one() -> None:
    text = b"```\na\n<<<<<<< HEAD\n```\nours\n=======\nb\n```\n>>>>>>> x\nafter\n"
    assert markers.split(text) == markers.Sides(b"```\na\n```\nours\nafter\n", b"```\na\nb\n```\nafter\n", None)


def test_notes_that_a_stash_left_unmerged_are_united_from_the_index(brain: Path) -> None:
    stash_conflict(brain)
    marked = (brain / FIRST).read_text(encoding="utf-8")
    settled = commit_by_hand(brain)
    text = (brain / FIRST).read_text(encoding="utf-8")
    assert "tags: stashed\n" in text
    assert "<<<" not in text
    siblings = [path for path in settled.committed if path != FIRST]
    assert len(siblings) == 1
    assert {"title: stashed", "title: committed"} <= {
        *text.split("\n"),
        *(brain / siblings[0]).read_text(encoding="utf-8").split("\n"),
    }
    assert kept(brain) == [marked]
    assert status(brain) == ""
    assert any("united" in warning for warning in settled.warnings)


def test_a_file_that_somebody_is_resolving_is_named_and_left(brain: Path) -> None:
    stash_conflict(brain)
    before = (brain / FIRST).read_bytes()
    settled = commit_by_hand(brain, patience=600)
    assert settled.committed == ()
    assert FIRST in settled.warnings[0]
    assert (brain / FIRST).read_bytes() == before
    assert status(brain) == f"UU {FIRST}\n"


def test_a_resolution_by_hand_is_committed_as_it_is(brain: Path) -> None:
    stash_conflict(brain)
    put(brain, FIRST, "title: settled\n")
    assert commit_by_hand(brain).committed == (FIRST,)
    assert plain(brain, "show", f"HEAD:{FIRST}") == "title: settled\n"
    assert status(brain) == ""


def test_a_derived_file_left_unmerged_is_put_back(brain: Path) -> None:
    run_sync(brain)
    plain(brain, "branch", "side")
    for branch in ("side", "main"):
        plain(brain, "switch", "-q", branch)
        put(brain, "ROUTER.md", f"{branch}\n")
        plain(brain, "commit", "-qam", branch)
    plain(brain, "merge", "-q", "side", check=False)
    (brain / ".git/MERGE_HEAD").unlink()
    assert "UU ROUTER.md" in status(brain)
    commit_by_hand(brain)
    assert status(brain) == ""
    assert (brain / "ROUTER.md").read_text(encoding="utf-8") == "main\n"


@pytest.mark.parametrize("text", [TWO, THREE])
def test_markers_that_were_staged_are_taken_apart(brain: Path, text: str) -> None:
    put(brain, FIRST, text)
    plain(brain, "add", FIRST)
    settled = commit_by_hand(brain)
    assert FIRST in settled.committed
    assert "<<<" not in plain(brain, "grep", "-h", "", "HEAD")
    assert kept(brain) == [text]
    if text == THREE:
        assert (brain / FIRST).read_text(encoding="utf-8") == "more: x\ntags: a\ntitle: ours\n"
        assert settled.committed == (FIRST,)


def test_committed_markers_become_the_same_notes_in_every_clone(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 3)
    settle(clones, 1)
    put(clones[2], FIRST, TWO)
    plain(clones[2], "commit", "-qam", "oops")
    plain(clones[2], "push", "-q", "origin", "main")
    apart = [run_sync(clone, push=False) for clone in clones[:2]]
    assert head(clones[0]) == head(clones[1])
    assert all(any("committed with conflict markers" in text for text in outcome.warnings) for outcome in apart)
    assert plain(clones[0], "log", "-1", "--format=%an", "--", FIRST).strip() == "Commonwealth"
    settle(clones)
    files = assert_equal(clones)
    versions = [data for path, data in files.items() if path.startswith("memory/2026-07/first")]
    kept, other = sorted(versions, reverse=True)
    assert kept == b"tags: a\ntitle: theirs\n"
    assert b"title: ours\n" in other
    assert not any("markers" in text for text in run_sync(clones[0]).warnings)


def test_a_brain_that_had_markers_before_we_came_is_repaired_too(brain: Path) -> None:
    put(brain, FIRST, THREE)
    plain(brain, "commit", "-qam", "oops")
    put(brain, "memory/2026-07/other.md", "title: other\n")
    plain(brain, "add", "-A")
    plain(brain, "commit", "-qm", "other")
    run_sync(brain)
    assert (brain / FIRST).read_text(encoding="utf-8") == "more: x\ntags: a\ntitle: ours\n"


def test_committed_markers_that_make_no_note_are_named_each_time(brain: Path) -> None:
    text = "tags: a\n<<<<<<< HEAD\nno colon\n=======\ntitle: theirs\n>>>>>>> other\n"
    put(brain, FIRST, text)
    plain(brain, "commit", "-qam", "oops")
    for _ in range(2):
        assert any("mend it in an editor" in warning for warning in commit_by_hand(brain).warnings)
    assert (brain / FIRST).read_text(encoding="utf-8") == text
