from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonwealth.repo.project import Project, name_of, normalise_remote, repository_of

from .conftest import MakeRepository, PlainGit, write_files


def identity_of(folder: Path) -> str:
    project = repository_of(folder)
    assert project is not None
    return project.identity


@pytest.mark.parametrize(
    "url",
    [
        "git@host:Acme/Shop.git",
        "host:acme/shop",
        "git@host:/acme/shop.git/",
        "ssh://git@host:22/acme/shop",
        "ssh://git@HOST/Acme/Shop.git",
        "https://user@host/acme/shop.git/",
        "https://host:8443/acme//shop.git",
        "https://user:secret@host./acme/shop",
        "git+ssh://git@host/acme/shop",
        " https://host/acme/shop?ref=main#top ",
    ],
)
def test_all_spellings_of_a_remote_are_one_identity(url: str) -> None:
    assert normalise_remote(url) == "host/acme/shop"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("file:///x/y.git", "/x/y"),
        ("file://localhost/x/y.git", "/x/y"),
        ("file:///x/My%20R%C3%A9po.git", "/x/my répo"),
        ("/x/y.git", "/x/y"),
        ("/x/y/.git", "/x/y"),
        ("/X/Y/", "/x/y"),
        ("C:\\x\\y", "c:/x/y"),
        ("C:/x/y.git", "c:/x/y"),
        ("file:///C:/x/y.git", "c:/x/y"),
        ("\\\\server\\share\\y.git", "//server/share/y"),
        ("/", "/"),
        ("ssh://git@[2001:db8::1]:22/acme/shop", "2001:db8::1/acme/shop"),
        ("https://[::1]/acme/shop", "::1/acme/shop"),
        ("[git@host:2222]:acme/shop", "host/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "dev.azure.com/org/project/repo"),
        ("https://org@dev.azure.com/org/project/_git/repo", "dev.azure.com/org/project/repo"),
        ("https://gitlab.com/group/sub/shop.git", "gitlab.com/group/sub/shop"),
        ("", "/"),
        ("nonsense", "nonsense"),
        ("https://", "/"),
    ],
)
def test_other_remotes_have_a_stable_identity(url: str, identity: str) -> None:
    assert normalise_remote(url) == identity


def test_a_relative_remote_is_taken_from_the_repository() -> None:
    assert normalise_remote("../Shop.git", "/home/alice/code") == "/home/alice/shop"


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("host/acme/shop", "acme/shop"),
        ("/home/alice/shop", "shop"),
        ("c:/x/shop", "shop"),
        ("/", "/"),
        ("x", "x"),
    ],
)
def test_a_name_is_short(identity: str, name: str) -> None:
    assert name_of(identity) == name


def test_a_repository_is_told_by_its_origin(make_repository: MakeRepository, git: PlainGit) -> None:
    root = make_repository()
    git(root, "remote", "add", "fork", "git@host:bob/shop.git")
    git(root, "remote", "add", "origin", "git@host:Acme/Shop.git")
    head = git(root, "rev-parse", "HEAD").strip()
    assert repository_of(root) == Project(str(root.resolve()), "host/acme/shop", "acme/shop", "main", head)


def test_without_origin_the_only_remote_counts(make_repository: MakeRepository, git: PlainGit) -> None:
    root = make_repository()
    git(root, "remote", "add", "upstream", "https://host/acme/shop")
    assert identity_of(root) == "host/acme/shop"
    git(root, "remote", "add", "fork", "https://host/bob/shop")
    assert identity_of(root) == str(root.resolve()).lower()


def test_without_remote_the_folder_counts(make_repository: MakeRepository) -> None:
    root = make_repository("Some Shöp")
    project = repository_of(root)
    assert project is not None
    assert project.identity == str(root.resolve()).lower()
    assert project.name == "some shöp"


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\n\turl = https://host/acme/shop ; comment\n',
        '[Remote "origin"] URL="https://host/acme/shop" # comment\n',
        '[remote "origin"]\r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\r\n\turl = https://host/acme/shop\r\n',
        "[remote.origin]\nurl=https://host/acme/shop\n",
        '[remote "origin"]\nurl = https://host/\\\nacme/shop\n',
        '[remote "origin"]\n\turl = https://host/acme/shop\n\turl = https://host/second/one\n',
        '[branch "url = x"]\n[remote "origin"]\npushurl = z\nurl = https://host/acme/shop\n[core]\nurl = w\n',
    ],
)
def test_the_configuration_is_read_as_git_reads_it(make_repository: MakeRepository, git: PlainGit, config: str) -> None:
    root = make_repository()
    (root / ".git" / "config").write_text(config, encoding="utf-8", newline="")
    assert git(root, "ls-remote", "--get-url", "origin").strip() == "https://host/acme/shop"
    assert identity_of(root) == "host/acme/shop"


def test_a_sub_folder_and_a_link_to_it_are_the_repository(make_repository: MakeRepository, tmp_path: Path) -> None:
    root = make_repository("r", {"src/é/a.py": "x"})
    (tmp_path / "link").symlink_to(root / "src")
    assert repository_of(root / "src" / "é") == repository_of(tmp_path / "link") == repository_of(root)


def test_a_worktree_has_its_own_branch_and_its_repositorys_identity(
    make_repository: MakeRepository, git: PlainGit, tmp_path: Path
) -> None:
    root = make_repository()
    git(root, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "tree"))
    project = repository_of(tmp_path / "tree")
    assert project is not None
    assert (project.root, project.branch) == (str((tmp_path / "tree").resolve()), "feature/x")
    assert project.commit == git(root, "rev-parse", "HEAD").strip()
    assert project.identity == identity_of(root)


def test_a_submodule_is_a_repository_of_its_own(make_repository: MakeRepository, git: PlainGit) -> None:
    inner, outer = make_repository("inner"), make_repository("outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    project = repository_of(outer / "sub")
    assert project is not None
    assert project.identity == str(inner.resolve()).lower()
    assert project.commit == git(inner, "rev-parse", "HEAD").strip()


def test_branch_and_commit_of_packed_refs_a_detached_and_an_unborn_head(
    make_repository: MakeRepository, git: PlainGit
) -> None:
    root = make_repository()
    head = git(root, "rev-parse", "HEAD").strip()
    git(root, "branch", "main-old")
    git(root, "pack-refs", "--all")
    project = repository_of(root)
    assert project is not None
    assert (project.branch, project.commit) == ("main", head)
    git(root, "switch", "-q", "--detach")
    project = repository_of(root)
    assert project is not None
    assert (project.branch, project.commit) == (None, head)
    git(root, "switch", "-q", "--orphan", "new/é")
    project = repository_of(root)
    assert project is not None
    assert (project.branch, project.commit) == ("new/é", None)


def test_where_there_is_no_repository_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "half" / ".git").mkdir(parents=True)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_bytes(b"\xff\x00")
    for folder in (tmp_path, tmp_path / "gone", tmp_path / "file", tmp_path / "half", tmp_path / "broken"):
        assert repository_of(folder) is None
    assert repository_of(tmp_path / "odd") is None
    assert repository_of("bad\0name") is None
    assert repository_of("") is None


def test_damaged_files_of_git_raise_nothing(make_repository: MakeRepository) -> None:
    root = make_repository()
    write_files(root, {".git/HEAD": b"\xff\xfe\x00", ".git/config": b'[remote "origin\nurl = \xff\n[[\n= =\n'})
    project = repository_of(root)
    assert project is not None
    assert (project.branch, project.commit) == (None, None)
    write_files(root, {".git/HEAD": "ref: ../../../../etc/passwd\n"})
    project = repository_of(root)
    assert project is not None
    assert project.commit is None


def test_a_deleted_working_folder_is_no_repository_and_no_error(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from commonwealth.repo.project import repository_of\n"
        "here = os.getcwd()\n"
        "os.rmdir(here)\n"
        "print(repository_of(here), repository_of('.'))\n"
    )
    folder = tmp_path / "gone"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout == "None None\n"


def test_no_git_process_and_no_heavy_module_is_needed(make_repository: MakeRepository, tmp_path: Path) -> None:
    root = make_repository()
    code = (
        "import sys\n"
        "from commonwealth.repo.project import repository_of\n"
        "assert repository_of(sys.argv[1]) is not None\n"
        "print({'subprocess', 'configparser', 'urllib.parse', 'tempfile', 'email'} & set(sys.modules))\n"
    )
    env = {**os.environ, "PATH": str(tmp_path)}
    command = [sys.executable, "-c", code, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env, encoding="utf-8")
    assert done.stdout == "set()\n"
