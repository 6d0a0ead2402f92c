"""People's own git, editors, settings and environment: they neither break nor bend what we do."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.repo.git import Git
from commonwealth.repo.harden import harden
from commonwealth.repo.recovery import recover

from .brains import assert_equal, dies, first_brain, head, plain, put, settle, start, status, team, tree
from .linenotes import CONTENT, remember, run_sync

FIRST = "memory/2026-07/first.md"


def hardened(tmp_path: Path, count: int = 2) -> tuple[Path, list[Path]]:
    """Clones as `join` makes them."""
    remote, clones = team(tmp_path, count)
    put(clones[0], ".gitattributes", "*.md -text merge=commonwealth\n")
    plain(clones[0], "add", "-A")
    plain(clones[0], "commit", "-qm", "attributes")
    plain(clones[0], "push", "-q", "origin", "main")
    for clone in clones:
        plain(clone, "pull", "-q")
        harden(Git(clone), ("index", "staging"))
    return remote, clones


def work(clones: list[Path]) -> dict[str, bytes]:
    """What a day brings: notes, edits of one note by two, CRLF, a deletion, a name that git would quote."""
    here, there = clones
    remember(here, "ours", "text: ours\n")
    put(here, "memory/2026-07/crlf.md", "text: one\r\nmore: two\r\n")
    put(here, "memory/2026-07/größe ☃.md", "text: umlaut\n")
    put(here, FIRST, "tags: a\ntitle: ours\n")
    remember(there, "theirs", "text: theirs\n", month="2026-08")
    put(there, FIRST, "tags: theirs\ntitle: first\n")
    settle(clones)
    (here / "memory/2026-08/theirs.md").unlink()
    settle(clones, 1)
    return assert_equal(clones)


def expected(files: dict[str, bytes]) -> None:
    assert files[FIRST] == b"tags: theirs\ntitle: ours\n"
    assert files["memory/2026-07/crlf.md"] == b"text: one\r\nmore: two\r\n"
    assert files["memory/2026-07/INDEX.md"] == "- crlf.md\n- first.md\n- größe ☃.md\n- ours.md\n".encode()
    assert not any(path.startswith("memory/2026-08/") for path in files)


SETTINGS = {
    "programs": "core.hooksPath={trap} core.fsmonitor={trap} init.templateDir={trap} diff.external={trap}/t "
    "core.pager={trap}/t core.editor={trap}/t sequence.editor={trap}/t merge.tool=x mergetool.x.cmd={trap}/t",
    "pulling": "pull.rebase=true pull.ff=only merge.ff=only push.default=nothing branch.autoSetupRebase=always "
    "branch.autoSetupMerge=false remote.pushDefault=elsewhere fetch.prune=true fetch.pruneTags=true "
    "rebase.autoStash=true merge.conflictStyle=diff3 rerere.enabled=true push.autoSetupRemote=true "
    "merge.verifySignatures=true fetch.all=true remote.origin.tagOpt=--tags",
    "files": "core.autocrlf=true core.eol=crlf core.safecrlf=true core.quotePath=true core.excludesFile={ignore} "
    "status.showUntrackedFiles=no status.branch=true status.relativePaths=false status.renames=copies "
    "diff.renames=copies diff.noprefix=true diff.orderFile={ignore} core.attributesFile={attributes} core.abbrev=4 "
    "core.whitespace=trailing-space,cr-at-eol apply.whitespace=fix color.ui=always column.ui=always log.date=relative",
    "index": "feature.manyFiles=true index.version=4 index.sparse=true core.untrackedCache=true core.splitIndex=true "
    "index.threads=4 core.commitGraph=true fetch.writeCommitGraph=true gc.auto=1 maintenance.auto=true "
    "core.preloadIndex=false core.trustctime=false core.checkStat=minimal core.fileMode=false",
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_odd_settings_of_the_person_neither_break_nor_bend_a_sync(tmp_path: Path, kind: str) -> None:
    _, clones = hardened(tmp_path)
    trap, canary = tmp_path / "trap", tmp_path / "canary"
    for name in (
        "hooks/post-commit",
        "hooks/pre-push",
        "hooks/reference-transaction",
        "pre-commit",
        "post-checkout",
        "t",
    ):
        put(trap, name, f"#!/bin/sh\ntouch {canary}\nexit 1\n")
        (trap / name).chmod(0o755)
    put(tmp_path, "ignore", "*.md\n")
    put(tmp_path, "attributes", "* text eol=crlf merge=binary diff=x filter=y\n")
    places = {"trap": trap, "ignore": tmp_path / "ignore", "attributes": tmp_path / "attributes"}
    for setting in SETTINGS[kind].format(**places).split():
        name, _, value = setting.partition("=")
        plain(tmp_path, "config", "--global", name, value)
    remotes = [plain(clone, "config", "--local", "--get-regexp", "^(remote|branch)") for clone in clones]
    expected(work(clones))
    assert not canary.exists()
    assert [plain(clone, "config", "--local", "--get-regexp", "^(remote|branch)") for clone in clones] == remotes


def test_an_address_that_the_person_abbreviates_works(tmp_path: Path) -> None:
    _, clones = hardened(tmp_path)
    plain(tmp_path, "config", "--global", f"url.{tmp_path}/.insteadOf", "brains:")
    for clone in clones:
        plain(clone, "remote", "set-url", "origin", "brains:remote.git")
    expected(work(clones))
    assert plain(clones[0], "config", "remote.origin.url") == "brains:remote.git\n"


def test_an_environment_of_another_git_command_leads_nobody_astray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, clones = hardened(tmp_path)
    other = first_brain(tmp_path / "other")
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    git_dir = other / ".git"
    places = {"GIT_DIR": git_dir, "GIT_WORK_TREE": other, "GIT_INDEX_FILE": git_dir / "index",
              "GIT_OBJECT_DIRECTORY": git_dir / "objects", "GIT_COMMON_DIR": git_dir,
              "GIT_ALTERNATE_OBJECT_DIRECTORIES": git_dir / "objects", "GIT_GRAFT_FILE": git_dir / "HEAD",
              "GIT_SHALLOW_FILE": git_dir / "HEAD", "GIT_QUARANTINE_PATH": git_dir}  # fmt: skip
    words = {"GIT_NAMESPACE": "elsewhere", "GIT_PREFIX": "memory/", "GIT_EXTERNAL_DIFF": "false",
             "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
             "GIT_CONFIG_PARAMETERS": "'core.bare'='true'", "GIT_DEFAULT_HASH": "sha256",
             "GIT_REPLACE_REF_BASE": "refs/heads/", "GIT_ATTR_SOURCE": "HEAD~5", "GIT_AUTHOR_DATE": "never",
             "GIT_LITERAL_PATHSPECS": "0", "GIT_ICASE_PATHSPECS": "1", "GIT_INDEX_VERSION": "9", "GIT_TRACE": "2",
             "GIT_DIFF_OPTS": "--stat", "GIT_MERGE_VERBOSITY": "9", "GIT_FLUSH": "x"}  # fmt: skip
    with monkeypatch.context() as patched:
        for name, value in (places | words).items():
            patched.setenv(name, str(value))
        for clone in clones:
            remember(clone, f"in-{clone.name}", "text: here\n")
        put(clones[0], FIRST, "title: edited\n")
        (clones[1] / ".git/index").unlink()
        for clone in (*clones, *clones):
            assert run_sync(clone).trouble is None
    files = assert_equal(clones)
    assert {"memory/2026-07/in-clone0.md", "memory/2026-07/in-clone1.md"} <= files.keys()
    assert files[FIRST] == b"title: edited\n"
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before


PERSON: dict[str, tuple[str, ...]] = {
    "pull": ("pull -q --no-rebase --no-edit",),
    "rebase": ("pull -q --rebase",),
    "autostash": ("pull -q --rebase --autostash",),
    "commit": ("commit -qam by-hand",),
    "add": ("add -A", "commit -qm by-hand"),
    "reset": ("reset -q",),
    "stash": ("stash -q", "stash pop -q"),
    "amend": ("commit -q --amend -m amended --no-edit",),
    "look": ("switch -q --detach HEAD", "switch -q main"),
    "branch": ("switch -q -c side-{n}", "switch -q main"),
    "refetch": ("fetch -q", "reset -q --hard origin/main"),
    "gc": ("gc -q --prune=now",),
    "push": ("push -q origin main",),
}


@pytest.mark.parametrize("seed", [1])
def test_a_person_who_uses_git_between_our_steps_loses_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    _, clones = hardened(tmp_path)
    settle(clones, 1)
    tokens: set[str] = set()
    for number in range(12):
        clone = rng.choice(clones)
        if rng.random() < 0.5:
            remember(clone, f"t{number}x", f"text: t{number}x\n")
        else:
            put(clone, f"memory/2026-07/t{number}x.md", f"text: t{number}x\n")
        tokens.add(f"t{number}x")
        name = rng.choice([name for name in PERSON if name not in ("refetch", "amend")])
        for words in PERSON[name]:
            plain(clone, *words.format(n=number).split(), check=False)
        if rng.random() < 0.5:
            run_sync(clone, push=rng.random() < 0.7)
    settle(clones)
    everything = b"\n".join(assert_equal(clones).values()).decode()
    assert {token for token in tokens if token not in everything} == set()
    assert not any(line[0] in "hSsm" for clone in clones for line in plain(clone, "ls-files", "-v").splitlines())


@pytest.mark.parametrize("back", ["HEAD~2"])
def test_a_branch_set_back_by_hand_gets_back_what_is_published(tmp_path: Path, back: str) -> None:
    _, clones = hardened(tmp_path)
    for name in ("a", "b"):
        remember(clones[0], name, f"text: {name}\n")
        settle(clones, 1)
    tip = head(clones[0])
    plain(clones[0], "reset", "-q", "--hard", back)
    put(clones[0], "memory/2026-07/edit.md", "text: edit\n")
    settle(clones)
    files = assert_equal(clones)
    assert {f"memory/2026-07/{name}.md" for name in ("a", "b", "edit")} <= files.keys()
    assert plain(clones[0], "merge-base", "--is-ancestor", tip, "HEAD") == ""


def test_an_old_checkout_that_is_committed_as_a_whole_takes_back_no_note_and_no_table(tmp_path: Path) -> None:
    _, (here, old) = hardened(tmp_path)
    settle([here, old])
    remember(here, "new", "text: new\n")
    put(here, FIRST, "tags: a\ntitle: newer\n")
    settle([here], 1)
    for path in ("ROUTER.md", "memory/2026-07/INDEX.md"):  # what another tool made of the old notes
        put(old, path, f"whole export of {path}\n")
    put(old, FIRST, "tags: a\ntitle: first\nexported: yes\n")
    plain(old, "add", "-A")
    plain(old, "commit", "-qm", "export")
    settle([old, here])
    files = assert_equal([here, old])
    assert files[FIRST] == b"exported: yes\ntags: a\ntitle: newer\n"
    assert files["memory/2026-07/INDEX.md"] == b"- first.md\n- new.md\n"
    assert files["memory/2026-07/new.md"] == b"text: new\n"


@pytest.mark.parametrize("point", ["commit-half-renamed", "commit-renamed", "commit-indexed", "commit-object"])
def test_a_note_that_was_written_and_never_committed_is_committed_not_deleted(tmp_path: Path, point: str) -> None:
    _, clones = hardened(tmp_path)
    dies(start("remember", str(clones[0]), "written", "text: written\n", fault=f"{point}=kill"))
    settle(clones)
    there = "memory/2026-07/written.md" in assert_equal(clones)
    assert there == (point != "commit-object")  # before that, nothing had a name yet


def test_line_ends_of_another_system_make_no_conflict(tmp_path: Path) -> None:
    _, clones = hardened(tmp_path)
    put(clones[0], FIRST, "tags: a\r\ntitle: first\r\n")
    settle(clones)
    plain(tmp_path, "config", "--global", "core.autocrlf", "true")
    plain(clones[1], "rm", "-q", "--cached", "-r", ".")
    plain(clones[1], "reset", "-q", "--hard")
    assert [status(clone) for clone in clones] == ["", ""]
    put(clones[0], FIRST, "tags: b\r\ntitle: first\r\n")
    settle(clones)
    files = assert_equal(clones)
    assert files[FIRST] == b"tags: b\r\ntitle: first\r\n"
    assert [path for path in files if path.startswith("memory/2026-07/first")] == [FIRST]


@pytest.mark.parametrize("how", ["deleted", "edited", "renamed", "committed"])
def test_a_derived_file_in_foreign_hands_is_made_again(tmp_path: Path, how: str) -> None:
    _, clones = hardened(tmp_path)
    settle(clones)
    before = tree(clones[0])
    place = clones[0] / "memory/2026-07/INDEX.md"
    if how == "deleted":
        place.unlink()
    elif how == "renamed":
        place.rename(clones[0] / "memory/2026-07/OLD.txt")
    else:
        place.write_text("mine\n", encoding="utf-8")
    if how == "committed":
        plain(clones[0], "commit", "-qam", "mine")
    settle(clones)
    (clones[0] / "memory/2026-07/OLD.txt").unlink(missing_ok=True)
    assert assert_equal(clones) == before


def stray_env(folder: Path) -> None:
    put(folder, ".env", "TOKEN=1\n")
    put(folder, "memory/.env", "TOKEN=1\n")


def stray_key(folder: Path) -> None:
    put(folder, "memory/2026-07/id_ed25519", "key\n")


def stray_repository(folder: Path) -> None:
    put(folder, "memory/nested/note.md", "text: nested\n")
    plain(folder / "memory/nested", "init", "-q")
    plain(folder / "memory/nested", "add", "-A")
    plain(folder / "memory/nested", "commit", "-qm", "nested")


@pytest.mark.parametrize("stray", [stray_env, stray_key, stray_repository])
@pytest.mark.parametrize("staged", [False, True])
def test_what_is_no_note_is_named_and_never_committed(
    tmp_path: Path, stray: Callable[[Path], None], *, staged: bool
) -> None:
    brain = first_brain(tmp_path / "brain")
    known = set(plain(brain, "ls-files").split())
    stray(brain)
    if staged:
        plain(brain, "add", "-A", check=False)
    remember(brain, "note", "text: note\n")
    outcome = run_sync(brain)
    assert any("left alone" in warning for warning in outcome.warnings)
    added = set(plain(brain, "ls-tree", "-r", "--name-only", "HEAD").split()) - known
    assert added == {"ROUTER.md", "memory/2026-07/INDEX.md", "memory/2026-07/note.md"}


def test_recovery_without_anything_to_do_starts_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = first_brain(tmp_path / "brain")
    run_sync(brain)
    monkeypatch.setenv("PATH", os.devnull)
    assert recover(Git(brain), CONTENT) == ()
