"""Which brain serves a folder or a session: the person's choice, never one that merely lies there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.errors import Damaged, Refused
from commonwealth.flows import arriving, brains, setup
from commonwealth.routing import Rule

from .conftest import CODE, NOW

PlainGit = Callable[..., str]
SHOP = "git.example.com/acme/shop"


def make(folder: Path, cwd: Path | str = os.sep, name: str | None = None) -> Path:
    return setup.init(folder, name=name, remote=None, cwd=str(cwd), now=NOW).brain.root


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A brain of the person's own, below their folder, that no rule names."""
    return make(config.home() / "brains" / "acme")


@pytest.fixture
def foreign(tmp_path: Path, git: PlainGit) -> Path:
    """A code repository whose authors put a brain's files into it."""
    folder = tmp_path / "their code"
    (folder / ".commonwealth").mkdir(parents=True)
    (folder / ".commonwealth" / "config.yaml").write_text("name: theirs\n", encoding="utf-8")
    (folder / "src").mkdir()
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    git(folder, "remote", "add", "origin", "https://git.example.com/evil/code.git")
    return folder


def session(cwd: Path | str | None, project: Path | str | None = None) -> Path | None:
    brain = brains.for_session(str(cwd) if cwd else None, str(project) if project else None)
    return brain.root if brain else None


# The order


def test_a_named_brain_comes_before_everything(
    tmp_path: Path, acme: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [make(tmp_path / name, code if name == "ruled" else os.sep) for name in ("here", "env", "ruled")]
    here, env, ruled = others
    assert brains.resolve(None, str(code)).root == ruled
    assert brains.resolve(None, str(here / "memory")).root == here
    monkeypatch.setenv("COMMONWEALTH_BRAIN", str(env))
    assert brains.resolve(None, str(here)).root == env
    assert brains.resolve("acme", str(here)).root == acme
    assert brains.resolve(str(ruled), str(here)).root == ruled
    assert brains.for_session(str(code), None) == brains.open_brain(env, cwd=str(code))


@pytest.mark.parametrize("spelling", ["./mine", "mine", "../work é/mine", "~/work é/mine", "mine/", "mine/memory/.."])
def test_a_brain_can_be_named_by_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root = make(tmp_path / "work é" / "mine")
    (root / "memory").mkdir(exist_ok=True)
    assert brains.resolve(spelling, str(tmp_path / "work é")).root == root


def test_a_name_means_ones_own_brain_even_where_a_repository_holds_a_folder_of_that_name(
    acme: Path, foreign: Path
) -> None:
    shutil.copytree(foreign / ".commonwealth", foreign / "acme" / ".commonwealth")
    assert brains.resolve("acme", str(foreign)).root == acme
    with pytest.raises(Refused, match="no git repository of its own"):
        brains.resolve("./acme", str(foreign))


def test_the_environment_never_takes_a_folder_of_the_session_for_a_name(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(foreign.parent / "x" / "theirs")
    monkeypatch.setenv("COMMONWEALTH_BRAIN", "theirs")
    with pytest.raises(Refused, match="There is no brain at"):
        brains.for_session(str(foreign.parent / "x"), None)
    monkeypatch.setenv("COMMONWEALTH_BRAIN", "./theirs")
    assert session(foreign.parent / "x") == foreign.parent / "x" / "theirs"


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "/nowhere/at/all", "~nobody-of-that-name/x", "x" * 300])
def test_naming_what_is_no_brain_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises((Refused, Damaged)) as caught:
        brains.resolve(name, str(tmp_path))
    assert caught.value.hint


def test_a_file_where_a_brain_is_named_is_no_brain(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(Refused, match="There is no brain"):
        brains.resolve("./file", str(tmp_path))


# Proposals


def test_a_brain_that_came_with_a_repository_is_never_taken(foreign: Path, acme: Path) -> None:
    for place in (foreign, foreign / "src"):
        assert session(place) is None
        assert session(None, place) is None
        with pytest.raises(Refused):
            brains.resolve(None, str(place))
    with pytest.raises(Refused, match="not joined here") as caught:
        brains.resolve(None, str(foreign))
    assert "brain init ." in (caught.value.hint or "")
    setup.add_rule("git.example.com/evil/*", "acme")
    assert session(foreign / "src") == acme
    assert brains.resolve(None, str(foreign)).root == acme


def test_an_adopted_brain_serves_commands_inside_it_and_no_hook(foreign: Path) -> None:
    make(foreign, foreign)
    assert brains.resolve(None, str(foreign / "src")).root == foreign
    assert session(foreign) is None
    setup.add_rule("git.example.com/evil/code", str(foreign))
    assert session(foreign) == foreign


def test_a_nested_repository_is_not_served_by_the_rule_of_the_outer_session(
    tmp_path: Path, code: Path, foreign: Path
) -> None:
    make(tmp_path / "brain", code)
    assert session(code, code) is not None
    assert session(foreign, code) is None


# Sessions


def test_no_rule_means_nothing_at_all(code: Path, acme: Path) -> None:
    assert session(code) is None
    assert session(None) is None
    assert session("/nowhere", "/nowhere/else") is None


def test_a_rule_for_no_brain_is_said_to_people_and_silent_in_hooks(code: Path) -> None:
    setup.add_rule(SHOP, None)
    assert session(code) is None
    with pytest.raises(Refused, match=f"The rule for {SHOP} says that no brain is used here"):
        brains.resolve(None, str(code))


def test_clones_worktrees_and_folders_of_a_repository_share_its_rule(tmp_path: Path, git: PlainGit, code: Path) -> None:
    root = make(tmp_path / "brain", code)
    git(code, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    git(tmp_path, "clone", "-q", str(code), str(tmp_path / "clone"))
    (code / "src" / "deep").mkdir(parents=True)
    urls = ["git@git.example.com:Acme/Shop.git", "ssh://git@git.example.com:22/acme/shop", CODE.upper()]
    for url in urls:
        git(tmp_path / "clone", "remote", "set-url", "origin", url)
        assert session(tmp_path / "clone") == root, url
    assert session(tmp_path / "tree") == root
    assert session(code / "src" / "deep") == root
    git(tmp_path / "clone", "remote", "set-url", "origin", "https://git.example.com/alice/shop.git")
    assert session(tmp_path / "clone") is None, "a fork is another repository"


@pytest.mark.parametrize(
    "match",
    [
        CODE,
        "git@git.example.com:acme/shop.git",
        "ssh://git@git.example.com/acme/shop/",
        "Git.Example.Com/Acme/Shop",
        "https://git.example.com/acme/*",
        "git@git.example.com:acme/*",
    ],
)
def test_a_rule_written_by_hand_may_spell_the_repository_as_git_does(acme: Path, code: Path, match: str) -> None:
    config.registry_path().write_text(f"rules:\n- match: '{match}'\n  brain: acme\n", encoding="utf-8")
    assert session(code) == acme


@pytest.mark.parametrize("local", [True, False])
def test_a_repository_with_a_local_remote_or_none_finds_its_brain(
    tmp_path: Path, git: PlainGit, code: Path, local: bool
) -> None:
    git(code, "remote", "remove", "origin")
    if local:
        git(tmp_path, "clone", "-q", "--bare", str(code), str(tmp_path / "Shop Served.git"))
        git(code, "remote", "add", "origin", str(tmp_path / "Shop Served.git"))
    (code / "Src").mkdir()
    root = make(tmp_path / "brain", code / "Src")
    assert session(code) == session(code / "Src") == root
    assert setup.check_rules(str(code)).problem is None


def test_a_hosts_project_folder_serves_where_the_session_has_none(tmp_path: Path, code: Path) -> None:
    root = make(tmp_path / "brain", code)
    synthetic = tmp_path / "rate-limit-pty-cwd"
    synthetic.mkdir()
    for cwd in (synthetic, tmp_path / "gone", None):
        brain = brains.for_session(str(cwd) if cwd else None, str(code))
        assert brain is not None
        assert (brain.root, brain.repository) == (root, SHOP)
        assert session(cwd) is None
    assert session(synthetic, tmp_path / "gone") is None


def test_a_deleted_working_folder_is_no_obstacle(tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "brain", code)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert brains.open_brain(root).project is None
    assert session(gone, code) == root
    assert brains.resolve(str(root), str(gone)).root == root
    assert brains.resolve(None, str(gone), str(code)).root == root
    assert make(root) == root, "init works from there too"


def test_an_unreadable_registry_is_loud_for_commands_and_hooks(code: Path, acme: Path) -> None:
    config.registry_path().write_text('{"a":1,}', encoding="utf-8")
    calls: list[Callable[[], object]] = [
        lambda: brains.for_session(str(code), None),
        lambda: brains.resolve(None, str(code)),
        lambda: brains.rule_for(str(code)),
        lambda: arriving.awaited(str(code), None),
        lambda: setup.check_rules(str(code)),
        lambda: setup.add_rule(SHOP, "acme"),
        lambda: setup.remove_rule(SHOP),
    ]
    for call in calls:
        with pytest.raises(Damaged, match=r"registry\.yaml: unparsable"):
            call()
    assert config.registry_path().read_text(encoding="utf-8") == '{"a":1,}'


# A brain that is not here


def test_a_missing_brain_without_a_remote_says_where_it_should_be(tmp_path: Path, code: Path) -> None:
    root = make(tmp_path / "brain", code)
    shutil.rmtree(root)
    with pytest.raises(Refused, match=f"does not exist at {root}"):
        session(code)
    assert arriving.awaited(str(code), None) is None


def test_a_missing_brain_with_a_remote_is_awaited_and_arrives_where_the_rule_says(
    tmp_path: Path, git: PlainGit, code: Path
) -> None:
    source = make(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "notes.git"))
    setup.add_rule(SHOP, "team brain", remote=str(tmp_path / "notes.git"))
    expected = config.home() / "brains" / "team brain"
    with pytest.raises(Refused, match="which is not here yet") as caught:
        session(code)
    assert caught.value.hint == f'`brain join {tmp_path / "notes.git"} "{expected}"` clones it.'
    rule = arriving.awaited(str(code), None)
    assert rule == Rule(SHOP, "team brain", str(tmp_path / "notes.git"))
    assert arriving.bring(rule) is True
    assert arriving.awaited(str(code), None) is None
    assert session(code) == expected


def test_a_brain_that_the_environment_names_is_not_cloned_by_a_rule(
    tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.git").mkdir()
    setup.add_rule(SHOP, "team", remote=str(tmp_path / "notes.git"))
    monkeypatch.setenv("COMMONWEALTH_BRAIN", "gone")
    assert arriving.awaited(str(code), None) is None


# What is opened


def test_a_brain_reached_through_a_link_is_one_brain(tmp_path: Path, code: Path) -> None:
    root = make(tmp_path / "My Tools é" / "brain")
    link = tmp_path / "link"
    link.symlink_to(root)
    (root / "memory").mkdir(exist_ok=True)
    opened = [
        brains.open_brain(link, cwd=os.sep),
        brains.resolve(str(link), os.sep),
        brains.resolve(None, str(link / "memory")),
        brains.resolve(None, str(root)),
    ]
    assert {brain.root for brain in opened} == {root}
    setup.init(link, name=None, remote=None, cwd=str(code), now=NOW)
    setup.add_rule(SHOP, str(link))
    assert [rule.brain for rule in config.load_registry().rules] == [str(root)]
    assert session(code) == root


@pytest.mark.parametrize("text", ["", "[]", '"x"', '{"a":1,}', "schema_version: 2\n", "name: caf\xe9\n"])
def test_a_config_that_cannot_be_read_names_the_file(acme: Path, text: str) -> None:
    path = acme / config.CONFIG_PATH
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Damaged) as caught:
        brains.open_brain(acme)
    assert str(path) in caught.value.message
    assert path.read_bytes() == text.encode("latin-1")


def test_a_config_that_is_cut_off_is_never_read_in_part(acme: Path) -> None:
    filler = "# filler\n" * (config.CONFIG_LIMIT // 9 + 1)
    (acme / config.CONFIG_PATH).write_text(f"name: acme\n{filler}review: pull-request\n", encoding="utf-8")
    with pytest.raises(Damaged, match="larger than 64 KiB"):
        brains.open_brain(acme)


@pytest.mark.parametrize("kind", ["link", "linked folder", "pipe", "folder"])
def test_a_config_that_is_no_plain_file_is_not_followed(tmp_path: Path, acme: Path, kind: str) -> None:
    path = acme / config.CONFIG_PATH
    outside = tmp_path / "outside"
    shutil.move(acme / ".commonwealth", outside)
    if kind == "linked folder":
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
        if kind == "link":
            path.symlink_to(outside / "config.yaml")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
    with pytest.raises(Damaged, match="is a link or no file"):
        brains.open_brain(acme)


def test_a_config_without_a_repository_of_its_own_is_no_brain(tmp_path: Path, acme: Path) -> None:
    shutil.copytree(acme / ".commonwealth", tmp_path / "copy" / ".commonwealth")
    with pytest.raises(Refused, match="no git repository of its own"):
        brains.open_brain(tmp_path / "copy")


def test_a_session_in_the_brain_itself_is_in_no_code_repository(acme: Path, code: Path) -> None:
    assert brains.open_brain(acme, cwd=str(acme)).repository is None
    assert brains.open_brain(acme, cwd=str(acme / ".commonwealth")).repository is None
    assert brains.open_brain(acme, cwd=str(code)).repository == SHOP


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_a_sentence(acme: Path, code: Path) -> None:
    setup.add_rule(SHOP, "acme")
    for path in (acme, config.home()):
        path.chmod(0)
        try:
            with pytest.raises((Damaged, Refused)):
                session(code)
        finally:
            path.chmod(0o700)


def test_a_brain_can_be_named_as_its_team_does_where_a_rule_leads_to_it(tmp_path: Path, code: Path) -> None:
    root = make(tmp_path / "a clone", cwd=code, name="acme")
    assert brains.resolve("acme", os.sep).root == root
    with pytest.raises(Refused, match="acne") as raised:
        brains.resolve("acne", os.sep)
    assert "acme" in str(raised.value.hint)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_a_config_holds_nothing_up(acme: Path) -> None:
    path = acme / config.CONFIG_PATH
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Damaged, match=re.escape(str(path))):
        brains.open_brain(acme)
