from __future__ import annotations

import random
from pathlib import Path

import pytest

from commonwealth.errors import Damaged, Refused
from commonwealth.repo.git import Git, fields
from commonwealth.repo.tree import Entry, TreeClash, edit_tree

from .conftest import MakeRepository, PlainGit

FILES = {"README.md": "r", "memory/2026-07/a.md": "a", "memory/2026-07/b.md": "b", "memory/2026-08/c.md": "c"}


@pytest.fixture
def brain(make_repository: MakeRepository) -> Git:
    return Git(make_repository("brain", FILES))


def blob(git: Git, text: str) -> Entry:
    return "100644", git.run("hash-object", "-w", "--stdin", input=text.encode()).decode().strip()


def paths(git: Git, tree: str) -> list[str]:
    return fields(git.run("ls-tree", "-r", "-z", "--name-only", tree))


def test_a_note_is_added_deep_down(brain: Git) -> None:
    tree = edit_tree(brain, "HEAD", {"memory/2026-09/é new.md": blob(brain, "new")})
    assert sorted(paths(brain, tree)) == sorted([*FILES, "memory/2026-09/é new.md"])
    assert brain.run("cat-file", "blob", f"{tree}:memory/2026-09/é new.md") == b"new"


def test_nothing_changed_is_the_same_tree(brain: Git) -> None:
    assert edit_tree(brain, "HEAD", {}) == brain.text("rev-parse", "HEAD^{tree}")
    assert edit_tree(brain, "HEAD", {"memory/nowhere/x.md": None}) == brain.text("rev-parse", "HEAD^{tree}")


def test_an_emptied_folder_disappears_with_its_parents(brain: Git) -> None:
    tree = edit_tree(brain, "HEAD", {path: None for path in FILES if path.startswith("memory/")})
    assert paths(brain, tree) == ["README.md"]


def test_everything_removed_is_the_empty_tree(brain: Git) -> None:
    tree = edit_tree(brain, "HEAD", dict.fromkeys(FILES))
    assert tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert edit_tree(brain, None, {}) == tree


def test_a_tree_can_begin_from_nothing(brain: Git) -> None:
    assert paths(brain, edit_tree(brain, None, {"a/b/c.md": blob(brain, "c")})) == ["a/b/c.md"]


def test_the_mode_is_kept(brain: Git) -> None:
    sha = blob(brain, "x")[1]
    tree = edit_tree(brain, "HEAD", {"tool": ("100755", sha)})
    assert brain.text("ls-tree", tree, "tool").startswith("100755 blob")


def test_names_that_sort_around_a_folder_keep_gits_order(brain: Git, git: PlainGit) -> None:
    entry = blob(brain, "x")
    tree = edit_tree(brain, "HEAD", dict.fromkeys(("memory.md", "memory-a.md", "memory0", "memory/z.md"), entry))
    commit = git(Path(brain.root), "commit-tree", tree, "-m", "x").strip()
    git(Path(brain.root), "update-ref", "refs/heads/checked", commit)
    git(Path(brain.root), "fsck", "--strict", "--full")


def test_a_file_may_become_a_folder_and_back(brain: Git) -> None:
    entry = blob(brain, "x")
    tree = edit_tree(brain, "HEAD", {"README.md": None, "README.md/x.md": entry})
    assert "README.md/x.md" in paths(brain, tree)
    back = edit_tree(brain, tree, {"README.md/x.md": None, "README.md": entry})
    assert "README.md" in paths(brain, back)


@pytest.mark.parametrize(
    "changes",
    [
        {"README.md/x.md": "x"},
        {"memory/2026-07/a.md/deeper/x.md": "x"},
        {"memory": "x"},
        {"memory/2026-07": "x"},
        {"new": "x", "new/below.md": "x"},
        {"new/below.md": "x", "new": "x"},
        {"memory/2026-07": None},
    ],
)
def test_a_path_cannot_be_file_and_folder_at_once(brain: Git, changes: dict[str, str | None]) -> None:
    with pytest.raises(TreeClash):
        edit_tree(brain, "HEAD", {path: text and blob(brain, text) for path, text in changes.items()})  # type: ignore[misc]


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "../a", "a/./b", ".git/config", "a/.GIT/x", "a\0b"])
def test_a_path_that_git_cannot_hold_is_refused(brain: Git, path: str) -> None:
    with pytest.raises(Refused):
        edit_tree(brain, "HEAD", {path: blob(brain, "x")})


def test_a_blob_that_is_not_there_never_enters_a_tree(brain: Git) -> None:
    with pytest.raises(Damaged, match="is not in the repository"):
        edit_tree(brain, "HEAD", {"memory/x.md": ("100644", "1" * 40)})


def test_a_tree_that_is_not_there_is_damaged(brain: Git) -> None:
    with pytest.raises(Damaged, match="no tree"):
        edit_tree(brain, "1" * 40, {})


def test_two_processes_whatever_is_changed(brain: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    original = Git.open

    def counting(self: Git, *args: str) -> object:
        started.append(args)
        return original(self, *args)

    entry = blob(brain, "x")
    monkeypatch.setattr(Git, "open", counting)
    edit_tree(brain, "HEAD", {f"memory/2026-{month:02}/{n}.md": entry for month in range(1, 13) for n in range(9)})
    assert len(started) == 2


def test_random_edits_agree_with_gits_own_index(brain: Git, git: PlainGit) -> None:
    chance = random.Random(7)
    entries = [blob(brain, str(number)) for number in range(4)]
    names = [f"{a}/{b}{c}.md" for a in ("memory", "m-x", "mé") for b in ("", "s/", "s/t/") for c in "xyz"]
    tree = brain.text("rev-parse", "HEAD^{tree}")
    root = Path(brain.root)
    for _ in range(25):
        changes = {name: chance.choice([None, *entries]) for name in chance.sample(names, 6)}
        tree = edit_tree(brain, tree, changes)
        for name, entry in changes.items():
            if entry is None:
                git(root, "update-index", "--force-remove", name)
            else:
                git(root, "update-index", "--add", "--cacheinfo", f"{entry[0]},{entry[1]},{name}")
        assert tree == git(root, "write-tree").strip()


def test_it_works_in_a_sha_256_repository(tmp_path: Path, git: PlainGit) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "new")
    brain = Git(tmp_path / "new")
    tree = edit_tree(brain, edit_tree(brain, None, {"a/b.md": blob(brain, "b")}), {"a/c.md": blob(brain, "c")})
    assert paths(brain, tree) == ["a/b.md", "a/c.md"]
    assert len(tree) == 64
