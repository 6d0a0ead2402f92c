"""Two commits as one tree: by path, by name where notes moved, and never with a version lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonwealth.errors import Refused
from commonwealth.repo.git import Git
from commonwealth.repo.integrate import Integration, integrate, merge_bases

from .brains import first_brain, head, plain, put
from .linenotes import CONTENT

A = "memory/2026-07/a.md"
MOVED = "memory/2026-08/a.md"
Files = dict[str, str | None]


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    folder = first_brain(tmp_path / "brain")
    put(folder, A, "tags: x\ntitle: a\n")
    put(folder, "memory/2026-07/b.md", "title: b\n")
    put(folder, "memory/2026-07/INDEX.md", "- old\n")
    plain(folder, "add", "-A")
    plain(folder, "commit", "-qm", "base")
    return folder


def side(brain: Path, start: str, name: str, files: Files) -> str:
    plain(brain, "switch", "-qC", name, start)
    for path, text in files.items():
        if text is None:
            (brain / path).unlink()
        else:
            put(brain, path, text)
    plain(brain, "add", "-A")
    plain(brain, "commit", "-q", "--allow-empty", "-m", name)
    return head(brain)


def unite(brain: Path, ours: Files, theirs: Files) -> tuple[Integration, dict[str, str]]:
    base = head(brain)
    left, right = side(brain, base, "ours", ours), side(brain, base, "theirs", theirs)
    git = Git(brain)
    united = integrate(git, merge_bases(git, left, right), left, right, CONTENT)
    mirrored = integrate(git, merge_bases(git, left, right), right, left, CONTENT)
    files = contents(brain, united.tree)
    if not united.conflicts or all(path.startswith("memory") for path in united.conflicts):
        notes = {path: text for path, text in files.items() if not path.endswith("INDEX.md")}
        other = contents(brain, mirrored.tree)
        assert notes == {path: text for path, text in other.items() if not path.endswith("INDEX.md")}
    return united, files


def contents(brain: Path, tree: str) -> dict[str, str]:
    names = plain(brain, "ls-tree", "-r", "-z", "--name-only", tree).split("\0")
    return {name: plain(brain, "cat-file", "-p", f"{tree}:{name}") for name in names if name}


def test_changes_of_different_files_are_united(brain: Path) -> None:
    united, files = unite(
        brain,
        {"memory/2026-07/new.md": "title: new\n", "memory/2026-07/b.md": None},
        {A: "title: changed\n", "decisions/2026-07/d.md": "title: d\n"},
    )
    assert files[A] == "title: changed\n"
    assert {"memory/2026-07/new.md", "decisions/2026-07/d.md"} <= files.keys()
    assert "memory/2026-07/b.md" not in files
    assert united.warnings == ()
    assert united.pulled == {A, "decisions/2026-07/d.md"}


def test_different_fields_of_one_note_are_united(brain: Path) -> None:
    united, files = unite(brain, {A: "tags: x\ntitle: ours\n"}, {A: "tags: theirs\ntitle: a\n"})
    assert files[A] == "tags: theirs\ntitle: ours\n"
    assert united.conflicts == ()


def test_one_field_changed_by_both_keeps_both_versions(brain: Path) -> None:
    united, files = unite(brain, {A: "tags: x\ntitle: ours\n"}, {A: "tags: x\ntitle: theirs\n"})
    (sibling,) = united.conflicts
    assert files[A] == "tags: x\ntitle: theirs\n"
    assert files[sibling] == f"conflict_of: {A}\ntitle: ours\n"


def test_a_sibling_that_was_edited_since_is_not_written_over(brain: Path) -> None:
    ours: Files = {A: "tags: x\ntitle: ours\n"}
    theirs: Files = {A: "tags: x\ntitle: theirs\n"}
    base = head(brain)
    united, files = unite(brain, ours, theirs)
    (sibling,) = united.conflicts
    plain(brain, "switch", "-q", "--detach", base)
    left = side(brain, base, "ours", ours)
    side(brain, base, "theirs", {**theirs, sibling: files[sibling]})
    edited = f"conflict_of: {A}\ntags: edited\ntitle: ours\n"
    right = side(brain, "theirs", "theirs", {sibling: edited})
    git = Git(brain)
    for one, other in ((left, right), (right, left)):
        again = integrate(git, [base], one, other, CONTENT)
        assert again.conflicts == (sibling,)
        assert contents(brain, again.tree)[sibling] == edited


def test_another_file_at_the_place_of_a_sibling_is_left_alone_and_the_sibling_stands_beside_it(brain: Path) -> None:
    ours: Files = {A: "tags: x\ntitle: ours\n"}
    theirs: Files = {A: "tags: x\ntitle: theirs\n"}
    base = head(brain)
    united, files = unite(brain, ours, theirs)
    (sibling,) = united.conflicts
    kept = files[sibling]
    plain(brain, "switch", "-q", "--detach", base)
    united, files = unite(brain, ours, {**theirs, sibling: "title: in the way\n"})
    (beside,) = united.conflicts
    assert (files[sibling], files[beside]) == ("title: in the way\n", kept)
    assert beside != sibling
    assert beside in united.warnings[-1]


def test_the_same_file_added_by_both_is_united(brain: Path) -> None:
    new = "memory/2026-07/new.md"
    united, files = unite(brain, {new: "text: t\ntitle: n\n"}, {new: "tags: t\ntitle: n\n"})
    assert files[new] == "tags: t\ntext: t\ntitle: n\n"
    assert united.conflicts == ()


def test_an_edit_outlives_a_deletion(brain: Path) -> None:
    united, files = unite(brain, {A: None}, {A: "title: edited\n"})
    assert files[A] == "title: edited\n"
    assert A in united.warnings[0]


def test_a_move_and_an_edit_meet_at_the_new_place(brain: Path) -> None:
    _, files = unite(brain, {A: None, MOVED: "tags: x\ntitle: a\n"}, {A: "tags: x\ntitle: edited\n"})
    assert files[MOVED] == "tags: x\ntitle: edited\n"
    assert A not in files


def test_two_moves_to_different_places_leave_one_file(brain: Path) -> None:
    other = "memory/2026-09/a.md"
    _, files = unite(brain, {A: None, MOVED: "tags: ours\ntitle: a\n"}, {A: None, other: "tags: x\ntitle: theirs\n"})
    assert files[MOVED] == "tags: ours\ntitle: theirs\n"
    assert not {A, other} & files.keys()


def test_the_same_move_with_different_edits_merges_against_the_old_place(brain: Path) -> None:
    _, files = unite(brain, {A: None, MOVED: "tags: ours\ntitle: a\n"}, {A: None, MOVED: "tags: x\ntitle: theirs\n"})
    assert files[MOVED] == "tags: ours\ntitle: theirs\n"


def test_a_moved_note_outlives_its_deletion(brain: Path) -> None:
    _, files = unite(brain, {A: None}, {A: None, MOVED: "tags: x\ntitle: a\n"})
    assert MOVED in files


def test_a_file_that_is_no_note_merges_line_by_line_or_keeps_both(brain: Path) -> None:
    base: Files = {"README.md": "1\n2\n3\n4\n5\n6\n7\n"}
    side(brain, head(brain), "main", base)
    _, files = unite(brain, {"README.md": "1!\n2\n3\n4\n5\n6\n7\n"}, {"README.md": "1\n2\n3\n4\n5\n6\n7!\n"})
    assert files["README.md"] == "1!\n2\n3\n4\n5\n6\n7!\n"


def test_a_conflict_in_a_file_that_is_no_note_keeps_both(brain: Path) -> None:
    united, files = unite(brain, {"README.md": "ours\n"}, {"README.md": "theirs\n"})
    (rescue,) = united.conflicts
    assert files["README.md"] == "theirs\n"
    assert files[rescue] == "ours\n"
    assert rescue.startswith("README.")
    assert rescue in united.warnings[0]


def test_an_unreadable_version_is_kept_beside_the_other(brain: Path) -> None:
    united, files = unite(brain, {A: "title: ours\n"}, {A: "<<<<<<< raw\n"})
    (rescue,) = united.conflicts
    assert {files[A], files[rescue]} == {"title: ours\n", "<<<<<<< raw\n"}


def test_derived_files_take_no_part(brain: Path) -> None:
    index = "memory/2026-07/INDEX.md"
    united, files = unite(brain, {index: "- ours\n"}, {index: "- theirs\n"})
    assert files[index] == "- theirs\n"
    assert united.warnings == ()


def test_a_file_that_meets_a_folder_steps_aside(brain: Path) -> None:
    united, files = unite(brain, {"memory/x.md": "title: x\n"}, {"memory/x.md/y.md": "title: y\n"})
    assert files["memory/x.md/y.md"] == "title: y\n"
    assert "title: x\n" in files.values()
    assert united.warnings


def test_several_bases_count_a_side_as_unchanged_only_if_it_equals_all(brain: Path) -> None:
    base = head(brain)
    left = side(brain, base, "left", {A: "tags: x\ntitle: left\n"})
    right = side(brain, base, "right", {A: "tags: right\ntitle: a\n"})
    both: Files = {A: "tags: right\ntitle: left\n"}
    one = cross(brain, "one", left, right, both)
    two = cross(brain, "two", right, left, both)
    ours = side(brain, one, "ours", {A: "tags: ours\ntitle: left\n"})
    theirs = side(brain, two, "theirs", {A: "tags: right\ntitle: theirs\n"})
    git = Git(brain)
    bases = merge_bases(git, ours, theirs)
    assert len(bases) == 2
    united = integrate(git, bases, ours, theirs, CONTENT)
    files = contents(brain, united.tree)
    values = "".join(text for path, text in files.items() if path.startswith("memory/2026-07/a"))
    assert "ours" in values
    assert "theirs" in values
    assert contents(brain, integrate(git, bases, theirs, ours, CONTENT).tree)[A] == files[A]


def cross(brain: Path, name: str, first: str, second: str, files: Files) -> str:
    """A merge of two commits by hand, with these files."""
    sha = side(brain, first, name, files)
    tree = plain(brain, "rev-parse", f"{sha}^{{tree}}").strip()
    merged = plain(brain, "commit-tree", tree, "-p", first, "-p", second, "-m", name).strip()
    plain(brain, "update-ref", f"refs/heads/{name}", merged)
    return merged


def test_histories_without_a_common_commit_are_refused(brain: Path) -> None:
    ours = head(brain)
    tree = plain(brain, "rev-parse", "HEAD^{tree}").strip()
    other = plain(brain, "commit-tree", tree, "-m", "other").strip()
    git = Git(brain)
    with pytest.raises(Refused):
        integrate(git, merge_bases(git, ours, other), ours, other, CONTENT)
