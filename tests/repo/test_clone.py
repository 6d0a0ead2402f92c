from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from commonwealth.errors import BrainError, Busy, Damaged, Offline, Refused
from commonwealth.repo.address import checked
from commonwealth.repo.clone import init, join
from commonwealth.repo.git import Git
from commonwealth.repo.head import main_branch
from commonwealth.repo.outcome import seen_ref

from .conftest import Author, MakeRepository, PlainGit, write_files

NOW = "2026-07-01T12:00:00Z"
FILES = {
    ".commonwealth/config.yaml": b"schema_version: 1\n",
    ".gitignore": b"/staging/\n/index/\n",
    ".gitattributes": b"/memory/** -text\n",
    "README.md": b"# A brain\n",
}
OWN = ("index", "staging")


def everything_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


# Making


def test_a_new_brain_is_one_commit_of_its_files_on_main(tmp_path: Path, git: PlainGit, author: Author) -> None:
    made = init(tmp_path / "new" / "brain é", FILES, author=author, now=NOW, own=OWN)
    root = Path(made.root)
    assert everything_below(root) == {name: FILES[name] for name in sorted(FILES)}
    assert git(root, "log", "--format=%H %an <%ae> %cI", "main").strip() == (
        f"{made.commit} Alice <alice@example.com> 2026-07-01T12:00:00+00:00"
    )
    assert git(root, "status", "--porcelain") == ""
    assert made.fresh
    assert made.added == tuple(sorted(FILES))
    assert (root / ".git" / "commonwealth").is_dir()


def test_making_a_brain_again_changes_nothing(tmp_path: Path, git: PlainGit, author: Author) -> None:
    first = init(tmp_path / "brain", FILES, author=author, now=NOW, own=OWN)
    config = (tmp_path / "brain" / ".git" / "config").read_bytes()
    (tmp_path / "brain" / "README.md").write_text("my own words", encoding="utf-8")
    again = init(tmp_path / "brain", FILES, author=author, now="2027-01-01T00:00:00Z", own=OWN)
    assert (again.commit, again.fresh, again.added) == (first.commit, False, ())
    assert (tmp_path / "brain" / "README.md").read_text(encoding="utf-8") == "my own words"
    assert (tmp_path / "brain" / ".git" / "config").read_bytes() == config


def test_what_an_aborted_start_left_is_completed(tmp_path: Path, git: PlainGit, author: Author) -> None:
    root = tmp_path / "brain"
    init(root, FILES, author=author, now=NOW)
    git(root, "update-ref", "-d", "HEAD")
    (root / ".git" / "index").unlink()
    (root / ".commonwealth" / "config.yaml").unlink()
    init(root, FILES, author=author, now=NOW)
    assert everything_below(root) == {name: FILES[name] for name in sorted(FILES)}
    (root / ".git" / "index").unlink()
    init(root, FILES, author=author, now=NOW)
    assert git(root, "status", "--porcelain") == ""


def test_the_users_templates_and_hooks_stay_out(
    tmp_path: Path, git: PlainGit, author: Author, trap: Path, canary: Path
) -> None:
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (template / name).symlink_to(trap)
    git(tmp_path, "config", "--global", "init.templateDir", str(template.parent))
    git(tmp_path, "config", "--global", "core.hooksPath", str(template))
    made = init(tmp_path / "brain", FILES, author=author, now=NOW)
    join(made.root, tmp_path / "clone")
    assert not (tmp_path / "brain" / ".git" / "hooks").exists()
    assert not canary.exists()


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path, author: Author) -> None:
    write_files(tmp_path / "docs", {"a.md": "a"})
    with pytest.raises(Refused, match="not empty") as caught:
        init(tmp_path / "docs", FILES, author=author, now=NOW)
    assert f"`git -C {tmp_path / 'docs'} init`" in (caught.value.hint or "")
    assert everything_below(tmp_path / "docs") == {"a.md": b"a"}
    with pytest.raises(Refused, match="is a file"):
        init(tmp_path / "docs" / "a.md", FILES, author=author, now=NOW)


def test_a_folder_inside_another_repository_is_refused_unless_that_one_ignores_it(
    make_repository: MakeRepository, author: Author
) -> None:
    outer = make_repository("code", {".gitignore": "/brains/\n"})
    with pytest.raises(Refused, match="lies inside the repository"):
        init(outer / "deep" / "brain", FILES, author=author, now=NOW)
    assert not (outer / "deep").exists()
    assert init(outer / "brains" / "mine", FILES, author=author, now=NOW).fresh


def test_a_home_that_is_a_repository_may_hold_brains(tmp_path: Path, git: PlainGit, author: Author) -> None:
    git(tmp_path / "home", "init", "-q")
    assert init(tmp_path / "home" / ".commonwealth" / "brains" / "x", FILES, author=author, now=NOW).fresh


def test_a_bare_repository_is_refused(make_remote: MakeRepository, author: Author) -> None:
    with pytest.raises(Refused):
        init(make_remote(), FILES, author=author, now=NOW)


# Adopting


def test_a_repository_is_adopted_by_adding_what_is_missing(
    make_repository: MakeRepository, git: PlainGit, author: Author
) -> None:
    root = make_repository("code", {"README.md": "# Shop\n", ".gitignore": "*.pyc\r\n/index/\r\n", "src/a.py": "a"})
    write_files(root, {"src/a.py": "edited", "untracked.env": "TOKEN"})
    before = git(root, "rev-parse", "HEAD").strip()
    made = init(root, FILES, author=author, now=NOW, own=OWN)
    assert (made.fresh, made.branch) == (False, "main")
    assert made.added == (".commonwealth/config.yaml", ".gitattributes", ".gitignore")
    assert git(root, "rev-parse", "HEAD~1").strip() == before
    assert (root / "README.md").read_text(encoding="utf-8") == "# Shop\n"
    assert (root / ".gitignore").read_bytes() == b"*.pyc\r\n/index/\r\n/staging/\r\n"
    assert git(root, "status", "--porcelain").splitlines() == [" M src/a.py", "?? untracked.env"]


def test_adopting_leaves_links_and_line_ends_of_the_repository_alone(
    make_repository: MakeRepository, git: PlainGit, author: Author
) -> None:
    root = make_repository("code")
    init(root, FILES, author=author, now=NOW, own=OWN)
    assert git(root, "config", "--local", "core.symlinks", check=False) == ""
    assert not (root / ".git" / "info" / "attributes").exists()


def test_uncommitted_edits_of_a_person_are_not_committed_by_adopting(
    make_repository: MakeRepository, git: PlainGit, author: Author
) -> None:
    root = make_repository("code", {".gitignore": "*.pyc\n"})
    write_files(root, {".gitignore": "*.pyc\n*.secret\n", "README.md": "a draft of mine\n"})
    init(root, FILES, author=author, now=NOW)
    assert git(root, "show", "HEAD:.gitignore") == "*.pyc\n/staging/\n/index/\n"
    assert (root / ".gitignore").read_bytes() == b"*.pyc\n*.secret\n/staging/\n/index/\n"
    assert (root / "README.md").read_bytes() == b"a draft of mine\n"
    assert git(root, "ls-tree", "--name-only", "HEAD", "README.md") == ""


def test_staged_changes_of_the_same_files_are_refused_and_kept(
    make_repository: MakeRepository, git: PlainGit, author: Author
) -> None:
    root = make_repository("code", {".gitignore": "*.pyc\n"})
    write_files(root, {".gitignore": "*.staged\n", "other.md": "x"})
    git(root, "add", ".gitignore", "other.md")
    with pytest.raises(Refused, match="staged changes"):
        init(root, FILES, author=author, now=NOW)
    git(root, "commit", "-q", "-m", "mine", ".gitignore")
    init(root, FILES, author=author, now=NOW)
    assert git(root, "diff", "--cached", "--name-only").split() == ["other.md"]


@pytest.mark.parametrize("marker", ["MERGE_HEAD", "rebase-merge/done"])
def test_a_repository_in_the_middle_of_something_is_refused(
    make_repository: MakeRepository, author: Author, marker: str
) -> None:
    root = make_repository("code")
    write_files(root, {f".git/{marker}": "x"})
    with pytest.raises(Refused, match="is under way"):
        init(root, FILES, author=author, now=NOW)


def test_a_detached_head_is_refused(make_repository: MakeRepository, git: PlainGit, author: Author) -> None:
    root = make_repository("code")
    git(root, "switch", "-q", "--detach")
    with pytest.raises(Refused, match="No branch"):
        init(root, FILES, author=author, now=NOW)


def test_a_link_on_the_way_is_not_followed(make_repository: MakeRepository, tmp_path: Path, author: Author) -> None:
    root = make_repository("code")
    (tmp_path / "outside").mkdir()
    (root / ".commonwealth").symlink_to(tmp_path / "outside")
    with pytest.raises((Refused, Damaged)):
        init(root, FILES, author=author, now=NOW)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_remote_is_added_once_and_never_replaced(
    tmp_path: Path, git: PlainGit, author: Author, make_remote: MakeRepository
) -> None:
    remote, other = make_remote("one"), make_remote("two")
    made = init(tmp_path / "brain", FILES, author=author, now=NOW, remote=str(remote))
    assert git(Path(made.root), "remote", "get-url", "origin").strip() == str(remote)
    init(tmp_path / "brain", FILES, author=author, now=NOW, remote=f"file://{remote}")
    with pytest.raises(Refused, match="already has the remote"):
        init(tmp_path / "brain", FILES, author=author, now=NOW, remote=str(other))


def test_a_bad_remote_is_refused_before_anything_is_made(tmp_path: Path, author: Author) -> None:
    with pytest.raises(Refused):
        init(tmp_path / "brain", FILES, author=author, now=NOW, remote="ext::sh")
    assert not (tmp_path / "brain").exists()


def test_another_writer_is_waited_for(tmp_path: Path, author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    from commonwealth.repo import clone, lock  # noqa: PLC0415 - the patched names stand in these modules

    made = init(tmp_path / "brain", FILES, author=author, now=NOW)

    def impatient(git_dir: str, *, operation: str) -> lock.WriterLock:
        return lock.WriterLock(git_dir, operation=operation, timeout=0)

    monkeypatch.setattr(clone, "WriterLock", impatient)
    with lock.WriterLock(Git(made.root).git_dir, operation="sync"), pytest.raises(Busy, match="sync"):
        init(tmp_path / "brain", FILES, author=author, now=NOW)


# Joining


@pytest.fixture
def shared_brain(make_remote: MakeRepository) -> Path:
    return make_remote("shared", {"memory/2026-07/é a.md": "a\n", ".commonwealth/config.yaml": "schema_version: 1\n"})


@pytest.mark.parametrize("spelling", ["{}", "file://{}"])
def test_a_brain_is_cloned_by_path_and_by_file_url(
    tmp_path: Path, git: PlainGit, shared_brain: Path, spelling: str
) -> None:
    made = join(spelling.format(shared_brain), tmp_path / "new" / "clone é", own=OWN, folders=("memory",))
    root = Path(made.root)
    assert (made.branch, made.fresh) == ("main", True)
    assert made.commit == git(shared_brain, "rev-parse", "main").strip()
    assert (root / "memory/2026-07/é a.md").read_text(encoding="utf-8") == "a\n"
    assert git(root, "status", "--porcelain=v2", "--branch").splitlines()[1:] == [
        "# branch.head main",
        "# branch.upstream origin/main",
        "# branch.ab +0 -0",
    ]
    assert main_branch(Git(root)) == "main"
    assert Git(root).resolve(seen_ref("main")) == made.commit
    assert (root / ".git" / "commonwealth").is_dir()


def test_a_clone_shares_no_object_file_with_its_source(tmp_path: Path, shared_brain: Path) -> None:
    join(str(shared_brain), tmp_path / "clone")
    objects = [path for path in (tmp_path / "clone" / ".git" / "objects").rglob("*") if path.is_file()]
    assert objects
    assert {os.stat(path).st_nlink for path in objects} == {1}
    assert not (tmp_path / "clone" / ".git" / "objects" / "info" / "alternates").exists()


def test_joining_again_is_safe(tmp_path: Path, shared_brain: Path) -> None:
    first = join(str(shared_brain), tmp_path / "clone", own=OWN)
    (tmp_path / "clone" / "mine.md").write_text("x", encoding="utf-8")
    again = join(f"file://{shared_brain}/", tmp_path / "clone", own=OWN)
    assert (again.commit, again.fresh) == (first.commit, False)
    assert (tmp_path / "clone" / "mine.md").exists()


def test_a_folder_that_is_something_else_is_refused(
    tmp_path: Path, shared_brain: Path, make_repository: MakeRepository
) -> None:
    with pytest.raises(Refused, match="another repository"):
        join(str(shared_brain), make_repository("code"))
    write_files(tmp_path / "docs", {"a.md": "a"})
    with pytest.raises(Refused, match="not empty"):
        join(str(shared_brain), tmp_path / "docs")


def test_an_empty_remote_becomes_an_empty_brain_on_main(tmp_path: Path, git: PlainGit) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "trunk", "empty.git")
    made = join(str(tmp_path / "empty.git"), tmp_path / "clone", own=OWN, folders=("memory",))
    assert (made.branch, made.commit) == ("main", None)
    assert git(tmp_path / "clone", "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert main_branch(Git(made.root)) == "main"


@pytest.mark.parametrize(("branches", "chosen"), [(["main", "x"], "main"), (["master", "x"], "master"), (["x"], "x")])
def test_a_missing_default_branch_is_made_up_for(
    tmp_path: Path, git: PlainGit, shared_brain: Path, branches: list[str], chosen: str
) -> None:
    for name in branches:
        git(shared_brain, "branch", "-f", name, "main") if name != "main" else None
    git(shared_brain, "branch", "brain/alice-1", "main")
    git(shared_brain, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    if "main" not in branches:
        git(shared_brain, "branch", "-D", "main")
    made = join(str(shared_brain), tmp_path / "clone")
    assert made.branch == chosen
    assert (tmp_path / "clone" / "memory/2026-07/é a.md").exists()


def test_an_undecidable_default_branch_is_refused(tmp_path: Path, git: PlainGit, shared_brain: Path) -> None:
    for name in ("x", "y"):
        git(shared_brain, "branch", name, "main")
    git(shared_brain, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    git(shared_brain, "branch", "-D", "main")
    with pytest.raises(Refused, match="no default branch, and has x, y"):
        join(str(shared_brain), tmp_path / "clone")
    assert not (tmp_path / "clone").exists()


def test_the_remotes_own_default_branch_is_used(tmp_path: Path, git: PlainGit, shared_brain: Path) -> None:
    git(shared_brain, "branch", "trunk", "main")
    git(shared_brain, "symbolic-ref", "HEAD", "refs/heads/trunk")
    assert join(str(shared_brain), tmp_path / "clone").branch == "trunk"


# What is refused


@pytest.mark.parametrize(
    "url",
    [
        "--upload-pack=touch {canary}",
        "-u{trap}",
        "ext::{trap}",
        "ext::sh -c 'touch {canary}'",
        "fd::17",
        "ssh://-oProxyCommand={trap}/x",
        "ssh://-oProxyCommand={trap}@host/x",
        "-oProxyCommand={trap}:x",
        "x@-oProxyCommand={trap}:x",
        "git://host/acme/shop",
        "ftp://host/acme/shop",
        "http://host/acme/shop",
        "file://server/acme/shop",
        "https://alice:s3cret@host/x",
        "https://ghp_0123456789abcdefghij@host/x",
        "https://x-token-0123456789abcdef0123@host/x",
        "ssh://git:s3cret@host/x",
        "https://host/x?private_token=s3cret",
        "https:///x",
        "host:",
        "",
        "  ",
        "a\nb",
        "a\0b",
        "{nowhere}",
        "file://{nowhere}",
    ],
)
def test_a_remote_that_git_could_misread_or_that_carries_a_secret_is_refused(
    tmp_path: Path, trap: Path, canary: Path, url: str
) -> None:
    spelled = url.format(trap=trap, canary=canary, nowhere=tmp_path / "nowhere.git")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BrainError) as caught:
        join(spelled, tmp_path / "new" / "clone")
    assert caught.value.exit_code == 1
    for secret in ("s3cret", "ghp_0123456789", "x-token-0123"):
        assert secret not in f"{caught.value} {caught.value.hint}"
    assert sorted(tmp_path.iterdir()) == before
    assert not canary.exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://host/acme/shop.git",
        "https://org@dev.azure.com/org/project/_git/repo",
        "ssh://git@host:22/acme/shop",
        "git@host:acme/shop.git",
        "http://127.0.0.1:8080/acme/shop",
        "http://localhost/acme/shop",
        "http://[::1]:3000/acme/shop",
    ],
)
def test_an_ordinary_remote_is_let_through_as_it_is(url: str) -> None:
    assert checked(f" {url} ") == url


def test_a_relative_path_becomes_absolute(
    tmp_path: Path, shared_brain: Path, git: PlainGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = join("shared.git", "clone")
    assert git(Path(made.root), "remote", "get-url", "origin").strip() == str(shared_brain)


def test_a_remote_that_cannot_be_reached_leaves_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Offline):
        join("http://127.0.0.1:9/acme/shop", tmp_path / "new" / "deep" / "clone", timeout=20)
    assert sorted(tmp_path.iterdir()) == before


def test_an_interrupted_join_leaves_nothing(tmp_path: Path, shared_brain: Path) -> None:
    def interrupt(read: Callable[[str], bytes | None]) -> Iterable[str]:
        assert read(".commonwealth/config.yaml") == b"schema_version: 1\n"
        assert read("nowhere") is None
        raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        join(str(shared_brain), tmp_path / "new" / "clone", inspect=interrupt)
    assert sorted(tmp_path.iterdir()) == before


def test_what_a_killed_join_left_goes_with_the_next_one(tmp_path: Path, shared_brain: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-I", "-c", ""])
    gone.wait()
    for number in (gone.pid, os.getppid()):
        write_files(tmp_path / f".clone.joining-{number}", {".git/objects/x": "x"})
    join(str(shared_brain), tmp_path / "clone")
    assert not (tmp_path / f".clone.joining-{gone.pid}").exists()
    assert (tmp_path / f".clone.joining-{os.getppid()}").exists()


def test_an_empty_folder_survives_a_failed_join(tmp_path: Path, make_remote: MakeRepository) -> None:
    remote = make_remote("hostile", {"index/x": "x"})
    (tmp_path / "clone").mkdir()
    with pytest.raises(Refused):
        join(str(remote), tmp_path / "clone", own=OWN)
    assert list((tmp_path / "clone").iterdir()) == []


# Hostile content


@pytest.mark.parametrize("name", ["index/brain-1.db", "staging/x.md", "Index/x", "STAGING", "index"])
def test_a_remote_that_tracks_a_folder_of_each_clones_own_is_refused(
    tmp_path: Path, make_remote: MakeRepository, name: str
) -> None:
    remote = make_remote("hostile", {name: "x", "memory/a.md": "a"})
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Refused, match="belongs to each clone alone"):
        join(str(remote), tmp_path / "clone", own=OWN)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("folder", ["memory", "docs/adr", "docs", ".commonwealth"])
def test_a_remote_with_a_link_in_the_place_of_a_folder_is_refused(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit, folder: str
) -> None:
    source = make_repository("hostile", {"README.md": "x"})
    (tmp_path / "outside").mkdir()
    (source / folder).parent.mkdir(exist_ok=True)
    (source / folder).symlink_to(tmp_path / "outside")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "link")
    with pytest.raises(Refused, match="is a link"):
        join(str(source), tmp_path / "clone", folders=("memory", "docs/adr", ".commonwealth"))
    assert not (tmp_path / "clone").exists()


def test_a_folder_that_the_brain_itself_names_is_looked_at_too(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit
) -> None:
    source = make_repository("hostile", {".commonwealth/config.yaml": "adr\n"})
    (source / "adr").symlink_to("/etc")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "link")

    def named(read: Callable[[str], bytes | None]) -> Iterable[str]:
        return [(read(".commonwealth/config.yaml") or b"").decode().strip()]

    with pytest.raises(Refused, match="adr of the remote is a link"):
        join(str(source), tmp_path / "clone", inspect=named)


def test_a_submodule_is_neither_entered_nor_taken_for_a_folder(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit, trap: Path, canary: Path
) -> None:
    source = make_repository("hostile", {".gitmodules": f'[submodule "m"]\n\tpath = m\n\turl = ext::{trap}\n'})
    head = git(source, "rev-parse", "HEAD").strip()
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{head},m")
    git(source, "commit", "-q", "-m", "submodule")
    with pytest.raises(Refused, match="is a submodule"):
        join(str(source), tmp_path / "refused", folders=("m",))
    join(str(source), tmp_path / "clone")
    assert not any((tmp_path / "clone" / "m").iterdir())
    assert not canary.exists()


def test_a_submodule_with_an_option_for_a_url_is_refused(
    tmp_path: Path, make_repository: MakeRepository, canary: Path
) -> None:
    text = f'[submodule "m"]\n\tpath = m\n\turl = "--upload-pack=touch {canary}"\n'
    source = make_repository("hostile", {".gitmodules": text})
    with pytest.raises(Damaged, match="not sound"):
        join(str(source), tmp_path / "clone")
    assert not canary.exists()


def test_a_link_to_a_file_is_checked_out_as_text(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit
) -> None:
    source = make_repository("hostile", {"memory/a.md": "a"})
    (tmp_path / "secret").write_text("s3cret", encoding="utf-8")
    (source / "memory" / "x.md").symlink_to(tmp_path / "secret")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "link")
    made = join(str(source), tmp_path / "clone")
    note = Path(made.root, "memory", "x.md")
    assert stat.S_ISREG(note.lstat().st_mode)
    assert note.read_text(encoding="utf-8") == str(tmp_path / "secret")
    assert git(Path(made.root), "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "attribute", ["ident", "eol=crlf", "text eol=crlf", "working-tree-encoding=UTF-16", "filter=x"]
)
def test_attributes_of_a_brain_change_no_byte(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit, trap: Path, canary: Path, attribute: str
) -> None:
    git(tmp_path, "config", "--global", "filter.x.smudge", str(trap))
    git(tmp_path, "config", "--global", "core.autocrlf", "true")
    text = b"$Id$ one\ntwo\r\n\xc3\xa9\n"
    source = make_repository("hostile", {"plain": "x"})
    blob = source / "memory" / "a.md"
    blob.parent.mkdir()
    blob.write_bytes(text)
    (source / ".gitattributes").write_text(f"*.md {attribute}\n", encoding="utf-8")
    name = git(source, "hash-object", "-w", "--no-filters", str(blob)).strip()
    git(source, "add", ".gitattributes")
    git(source, "update-index", "--add", "--cacheinfo", f"100644,{name},memory/a.md")
    git(source, "commit", "-q", "-m", "hostile")
    made = join(str(source), tmp_path / "clone")
    assert Path(made.root, "memory/a.md").read_bytes() == text
    assert git(Path(made.root), "status", "--porcelain") == ""
    assert not canary.exists()


def test_a_diff_program_that_a_brain_names_does_not_run(
    tmp_path: Path, make_repository: MakeRepository, git: PlainGit, trap: Path, canary: Path
) -> None:
    git(tmp_path, "config", "--global", "diff.x.textconv", str(trap))
    source = make_repository("hostile", {".gitattributes": "*.md diff=x\n", "a.md": "one\n"})
    made = join(str(source), tmp_path / "clone")
    Path(made.root, "a.md").write_text("two\n", encoding="utf-8")
    assert "+two" in git(Path(made.root), "diff")
    assert not canary.exists()


def test_odd_names_of_a_brain_are_cloned_without_effect(tmp_path: Path, make_remote: MakeRepository) -> None:
    names = ["-rf.md", "a\nb.md", "\u202eevil.md", "memory/ü ö.md", "$(touch x).md"]
    made = join(str(make_remote("odd", dict.fromkeys(names, "x"))), tmp_path / "clone")
    assert sorted(everything_below(Path(made.root))) == sorted(names)


def test_the_hardening_is_the_clones_own(tmp_path: Path, git: PlainGit, shared_brain: Path) -> None:
    made = join(str(shared_brain), tmp_path / "clone", own=OWN)
    root = Path(made.root)
    for name, value in {
        "core.symlinks": "false",
        "core.fsync": "committed",
        "core.autocrlf": "false",
        "fetch.fsckObjects": "true",
    }.items():
        assert git(root, "config", "--local", "--get-all", name).split() == [value]
    write_files(root, {"index/x": "x", "staging/y": "y"})
    assert git(root, "status", "--porcelain") == ""
