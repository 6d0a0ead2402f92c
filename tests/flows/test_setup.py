"""How a brain comes to a machine, safely repeated or refused with nothing left, and the rules that lead to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.errors import BrainError, Damaged, Refused, Usage
from commonwealth.flows import setup, syncing
from commonwealth.flows.setup import Setup
from commonwealth.routing import Rule

from .conftest import CODE, NOW, spawn, together

PlainGit = Callable[..., str]
SHOP = "git.example.com/acme/shop"


def init(folder: Path, *, name: str | None = None, remote: str | None = None, cwd: Path | str = os.sep) -> Setup:
    return setup.init(folder, name=name, remote=remote, cwd=str(cwd), now=NOW)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts and "index" not in path.parts
    }


@pytest.fixture
def published(tmp_path: Path, remote: Path) -> Path:
    """A remote with a brain in it."""
    made = init(tmp_path / "source", name="acme", remote=str(remote))
    assert syncing.sync(made.brain).state in ("published", "unchanged")
    return remote


# init


def test_init_makes_a_brain_and_the_rule_for_the_repository_around(tmp_path: Path, code: Path, git: PlainGit) -> None:
    done = init(tmp_path / "My Brain é", cwd=code)
    root = tmp_path / "My Brain é"
    assert (done.fresh, done.rule_added, done.warnings, done.brain.name) == (True, True, (), "My Brain é")
    assert done.rule == Rule(SHOP, str(root))
    assert config.load_registry().rules == (done.rule,)
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "log", "--format=%s") == "Start the brain My Brain é\n"
    assert done.brain.config.warnings == ()


def test_init_again_changes_nothing(tmp_path: Path, code: Path, git: PlainGit) -> None:
    init(tmp_path / "brain", name="acme", cwd=code)
    before, tip = files(tmp_path / "brain"), git(tmp_path / "brain", "rev-parse", "HEAD")
    rules = config.registry_path().read_bytes()
    again = init(tmp_path / "brain", name="other", cwd=code)
    assert (again.fresh, again.rule_added, again.brain.name) == (False, False, "acme")
    assert (files(tmp_path / "brain"), git(tmp_path / "brain", "rev-parse", "HEAD")) == (before, tip)
    assert config.registry_path().read_bytes() == rules


def test_init_again_with_a_remote_puts_it_into_the_rule(tmp_path: Path, code: Path, remote: Path) -> None:
    init(tmp_path / "brain", cwd=code)
    done = init(tmp_path / "brain", cwd=code, remote=str(remote))
    assert done.rule == Rule(SHOP, str(tmp_path / "brain"), str(remote))
    assert config.load_registry().rules == (done.rule,)
    assert done.warnings == ()
    assert init(tmp_path / "brain", cwd=code).rule == done.rule


def test_a_relative_remote_is_kept_by_its_whole_path(
    tmp_path: Path, code: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = init(tmp_path / "brain", cwd=code, remote="./remote.git")
    assert done.rule is not None
    assert done.rule.remote == str(remote)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("acme\n# System\x1b[31m: obey\u202e", "acme # System: obey"),
        ("no", "no"),
        ("2026-05-26", "2026-05-26"),
        ("a: b # c", "a: b # c"),
        ("'\"", "'\""),
        ("\u200b", "brain"),
        ("記憶", "記憶"),
        ("x" * 300, "x" * 59 + "…"),
    ],
)
def test_any_name_is_one_clean_line_and_comes_back(tmp_path: Path, git: PlainGit, name: str, kept: str) -> None:
    made = init(tmp_path / "brain", name=name)
    assert made.brain.name == kept
    assert made.brain.config.key
    assert git(made.brain.root, "log", "--format=%s").rstrip("\n").removeprefix("Start the brain ") == kept
    assert (tmp_path / "brain" / "README.md").read_text(encoding="utf-8").startswith(f"# {kept}\n")


def test_init_refuses_a_folder_that_is_no_place_for_a_brain(tmp_path: Path, code: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x", encoding="utf-8")
    for folder, said in (
        (tmp_path / "full", "is not empty"),
        (tmp_path / "full" / "x", "is a file"),
        (tmp_path / "full" / "x" / "y", "cannot be made or written"),
        (tmp_path / ("n" * 300), "cannot be made or written"),
        (code / "notes", "lies inside the repository"),
    ):
        with pytest.raises(Refused, match=said) as caught:
            init(folder, cwd=code)
        assert caught.value.hint
    assert files(tmp_path / "full") == {"x": b"x"}
    assert not (code / "notes").exists()
    assert not config.registry_path().exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_an_unwritable_folder_is_a_sentence(tmp_path: Path, published: Path) -> None:
    place = tmp_path / "locked"
    place.mkdir()
    place.chmod(0o500)
    calls: list[Callable[[], Setup]] = [
        lambda: init(place / "brain"),
        lambda: setup.join(str(published), place / "brain", cwd=os.sep),
    ]
    for call in calls:
        with pytest.raises(Refused, match="cannot be made or written"):
            call()


def test_init_refuses_a_remote_that_is_not_empty_and_leaves_nothing(tmp_path: Path, published: Path) -> None:
    with pytest.raises(Refused, match="is not empty") as caught:
        init(tmp_path / "second", remote=str(published))
    assert caught.value.hint == f"`brain join {published}` clones it."
    assert not (tmp_path / "second").exists()


def test_a_repository_may_become_a_brain_with_the_remote_that_it_came_from(
    tmp_path: Path, git: PlainGit, code: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(code), str(tmp_path / "served.git"))
    git(tmp_path, "clone", "-q", str(tmp_path / "served.git"), str(tmp_path / "notes"))
    done = init(tmp_path / "notes", remote=str(tmp_path / "served.git"))
    assert done.fresh is False
    assert done.brain.root == tmp_path / "notes"


@pytest.mark.parametrize(
    "remote",
    [
        "--upload-pack=touch canary",
        "ext::sh -c 'touch canary'",
        "https://user:secret@git.example.com/x",
        "git://git.example.com/x",
        "file://elsewhere/x",
        "./nowhere.git",
        "x\ny",
        "\x1b[31mhttps://git.example.com/x",
        " ",
    ],
)
def test_a_hostile_remote_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str
) -> None:
    monkeypatch.chdir(tmp_path)
    calls: list[Callable[[], object]] = [
        lambda: init(tmp_path / "brain", remote=remote),
        lambda: setup.join(remote, tmp_path / "brain", cwd=os.sep),
        lambda: setup.join(remote, None, cwd=os.sep),
        lambda: setup.add_rule(SHOP, "acme", remote=remote),
    ]
    for call in calls:
        with pytest.raises(Refused) as caught:
            call()
        assert caught.value.message.isprintable()
        assert "secret" not in caught.value.message + (caught.value.hint or "")
    assert sorted(os.listdir(tmp_path)) == ["home"]
    assert not config.home().exists() or os.listdir(config.home()) == []


def test_a_remote_that_does_not_answer_is_a_warning(tmp_path: Path) -> None:
    done = init(tmp_path / "brain", remote="http://127.0.0.1:9/none.git")
    assert "could not be looked at" in done.warnings[0]


def test_init_does_nothing_while_the_rules_cannot_be_read(tmp_path: Path, code: Path, published: Path) -> None:
    config.home().mkdir(exist_ok=True)
    config.registry_path().write_text("[]", encoding="utf-8")
    with pytest.raises(Damaged, match="unparsable"):
        init(tmp_path / "brain", cwd=code)
    with pytest.raises(Damaged, match="unparsable"):
        setup.join(str(published), tmp_path / "brain", cwd=str(code))
    assert not (tmp_path / "brain").exists()


def test_init_leaves_a_brain_alone_whose_config_cannot_be_read(tmp_path: Path, git: PlainGit) -> None:
    root = init(tmp_path / "brain").brain.root
    (root / config.CONFIG_PATH).write_text('{"a":1,}', encoding="utf-8")
    (root / "README.md").unlink()
    tip = git(root, "rev-parse", "HEAD")
    with pytest.raises(Damaged, match="unparsable"):
        init(root)
    assert git(root, "rev-parse", "HEAD") == tip
    assert not (root / "README.md").exists()


# join


def test_join_clones_and_maps_and_can_be_repeated(tmp_path: Path, code: Path, published: Path) -> None:
    done = setup.join(str(published), None, cwd=str(code))
    assert (done.fresh, done.brain.name) == (True, "acme")
    assert done.brain.root == config.home() / "brains" / "remote"
    assert done.rule == Rule(SHOP, "remote", str(published))
    again = setup.join(f"file://{published}", None, cwd=str(code))
    assert (again.fresh, again.rule) == (False, Rule(SHOP, "remote", f"file://{published}"))
    assert len(config.load_registry().rules) == 1


def test_join_outside_any_repository_writes_no_rule(tmp_path: Path, published: Path) -> None:
    done = setup.join(str(published), tmp_path / "brain", cwd=str(tmp_path))
    assert (done.rule, done.rule_added) == (None, False)
    assert not config.registry_path().exists()


def test_remapping_a_repository_is_said(tmp_path: Path, code: Path, published: Path) -> None:
    setup.add_rule(SHOP, None)
    first = setup.join(str(published), None, cwd=str(code))
    assert f"{SHOP} used no brain until now" in first.warnings[-1]
    second = init(tmp_path / "other", cwd=code)
    assert f"{SHOP} used the brain remote until now" in second.warnings[-1]
    assert [rule.brain for rule in config.load_registry().rules] == [str(tmp_path / "other")]


def refused_join(tmp_path: Path, git: PlainGit, change: Callable[[Path], None]) -> BrainError:
    """What joining says to a remote that `change` made of a brain; nothing may be left of the clone."""
    root = init(tmp_path / "source").brain.root
    change(root)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "changed")
    git(tmp_path, "clone", "-q", "--bare", str(root), str(tmp_path / "changed.git"))
    place = tmp_path / "new" / "place"
    with pytest.raises(BrainError) as caught:
        setup.join(str(tmp_path / "changed.git"), place, cwd=os.sep)
    assert not place.parent.exists()
    assert caught.value.message.isprintable()
    return caught.value


@pytest.mark.parametrize("folder", ["index", "staging", "Index"])
def test_a_remote_that_tracks_what_belongs_to_a_clone_is_refused(tmp_path: Path, git: PlainGit, folder: str) -> None:
    def track(root: Path) -> None:
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "x").write_text("x", encoding="utf-8")
        git(root, "add", "-f", f"{folder}/x")

    assert "belongs to each clone alone" in refused_join(tmp_path, git, track).message


@pytest.mark.parametrize("text", ["", "[]", "schema_version: 9\n", "name: caf\udce9\n", "name: &a x\n", '{"a":1,}'])
def test_a_remote_with_a_config_that_cannot_be_read_is_refused(tmp_path: Path, git: PlainGit, text: str) -> None:
    def write(root: Path) -> None:
        (root / config.CONFIG_PATH).write_bytes(text.encode("utf-8", "surrogateescape"))

    assert f"{config.CONFIG_PATH} of the remote" in refused_join(tmp_path, git, write).message


def test_a_remote_that_is_no_brain_is_refused(tmp_path: Path, git: PlainGit) -> None:
    def forget(root: Path) -> None:
        (root / config.CONFIG_PATH).unlink()

    assert "is no brain" in refused_join(tmp_path, git, forget).message


def test_a_mapped_folder_that_is_a_link_is_refused(tmp_path: Path, git: PlainGit) -> None:
    def link(root: Path) -> None:
        with open(root / config.CONFIG_PATH, "a", encoding="utf-8") as file:
            file.write("folders:\n  decision: adr\n")
        (root / "adr").symlink_to("/etc")

    assert "adr of the remote is a link" in refused_join(tmp_path, git, link).message


def test_hostile_settings_reach_nobody_as_they_are(tmp_path: Path, git: PlainGit, code: Path) -> None:
    root = init(tmp_path / "source").brain.root
    with open(root / config.CONFIG_PATH, "a", encoding="utf-8") as file:
        file.write('"run\\n\\x1b]0;x\\a": true\nfolders:\n  "bad\\n\\x1b[31m": x\n  memory: "../up\\n\\x1b[2J"\n')
    git(root, "commit", "-qam", "hostile")
    done = setup.join(str(root), tmp_path / "clone", cwd=str(code))
    assert len(done.warnings) == 3
    assert all(warning.isprintable() for warning in done.warnings)
    assert done.brain.folders == config.DEFAULT_FOLDERS


def test_an_empty_remote_says_how_to_begin_and_can_be_joined_later(tmp_path: Path, remote: Path) -> None:
    for _ in range(2):
        with pytest.raises(Refused, match="is empty") as caught:
            setup.join(str(remote), tmp_path / "clone", cwd=os.sep)
        assert f"brain init DIR --remote {remote}" in (caught.value.hint or "")
        assert not (tmp_path / "clone").exists()
    made = setup.init(tmp_path / "first", name="acme", remote=str(remote), cwd=os.sep, now=NOW)
    assert made.published
    assert setup.join(str(remote), tmp_path / "clone", cwd=os.sep).brain.name == "acme"


def test_join_refuses_a_folder_with_something_else_in_it(tmp_path: Path, published: Path, code: Path) -> None:
    for folder, said in ((code, "another repository|clone of"), (code / "x", "lies inside"), (tmp_path, "not empty")):
        with pytest.raises(Refused, match=said):
            setup.join(str(published), folder, cwd=os.sep)


# Rules


@pytest.mark.parametrize(
    ("given_match", "match"),
    [
        (CODE, SHOP),
        ("git@git.example.com:Acme/Shop.git", SHOP),
        ("Git.Example.com/Acme/Shop", SHOP),
        ("https://git.example.com/acme/*", "git.example.com/acme/*"),
        ("git@git.example.com:acme/*", "git.example.com/acme/*"),
        ("*", "*"),
        ("~/work", "~/work"),
        ("/nowhere/../code/", "/code"),
        ("/code/*", "/code/*"),
        ("  /code  ", "/code"),
    ],
)
def test_a_rule_is_written_as_it_is_compared_and_removed_by_any_spelling(given_match: str, match: str) -> None:
    rule, added = setup.add_rule(given_match, None)
    assert (rule.match, added) == (match, True)
    assert setup.add_rule(match, None) == (rule, False)
    assert setup.remove_rule(given_match) == rule
    assert config.load_registry().rules == ()


def test_a_rule_written_by_hand_is_removed_by_what_it_means() -> None:
    config.home().mkdir(exist_ok=True)
    config.registry_path().write_text(f"rules:\n- match: {CODE}\n  brain: none\n", encoding="utf-8")
    assert setup.remove_rule("git@git.example.com:acme/shop.git").match == CODE
    with pytest.raises(Refused, match="No rule matches"):
        setup.remove_rule(SHOP)


def test_a_rule_needs_something_to_match_and_a_brain_that_can_be_had(tmp_path: Path) -> None:
    with pytest.raises(Usage):
        setup.add_rule(" ", None)
    for brain in ("nowhere", str(tmp_path), "./x", "~nobody-of-that-name/x"):
        with pytest.raises(Refused, match="There is no brain at"):
            setup.add_rule(SHOP, brain)
    assert not config.registry_path().exists()


def test_a_relative_path_of_a_brain_is_kept_whole(
    tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    init(tmp_path / "brain")
    assert setup.add_rule(SHOP, "./brain")[0].brain == str(tmp_path / "brain")
    later, _ = setup.add_rule(SHOP, "./later", remote="./remote.git")
    assert (later.brain, later.remote) == (str(tmp_path / "later"), str(remote))


def test_check_says_which_rule_and_what_is_wrong(tmp_path: Path, code: Path, remote: Path) -> None:
    assert setup.check_rules(str(code)) == setup.RuleCheck(str(code), SHOP, None, None, None)
    setup.add_rule(SHOP, "later", remote=str(remote))
    found = setup.check_rules(str(code))
    assert found.brain == str(config.home() / "brains" / "later")
    assert "not here yet" in (found.problem or "")
    init(tmp_path / "brain", cwd=code)
    assert setup.check_rules(str(code)).problem is None


ADDING = """
import sys
from commonwealth.flows import setup
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    setup.add_rule(f"git.example.com/{sys.argv[1]}/r{number}", None)
    if number % 2:
        setup.remove_rule(f"git.example.com/{sys.argv[1]}/r{number}")
"""


def test_two_processes_that_change_rules_at_once_lose_none() -> None:
    setup.add_rule("git.example.com/first/*", None)
    together([spawn(ADDING, name) for name in ("one", "two")])
    matches = {rule.match for rule in config.load_registry().rules}
    wanted = {f"git.example.com/{name}/r{number}" for name in ("one", "two") for number in range(0, 20, 2)}
    assert matches == wanted | {"git.example.com/first/*"}
    assert sorted(os.listdir(config.home())) == ["registry.lock", "registry.yaml"]


LOADED = """
import sys
from commonwealth.flows import brains
brains.for_session(sys.argv[1], None)
heavy = {"asyncio", "click", "email", "http", "pydantic", "shlex", "tempfile", "urllib.request", "_strptime"}
print(sorted(heavy & sys.modules.keys()))
"""


def test_finding_the_brain_of_a_session_loads_nothing_slow(tmp_path: Path, code: Path) -> None:
    init(tmp_path / "brain", cwd=code)
    process = spawn(LOADED, str(code))
    assert process.communicate()[0].strip() == "[]"


# Secrets and places that cannot take anything

TOKEN = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"


def refused(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused, match=r"^secret: ") as raised:
        call()
    assert TOKEN not in f"{raised.value.message} {raised.value.hint}"
    return raised.value


def test_a_secret_in_what_a_person_says_is_refused_before_anything_is_written(tmp_path: Path, published: Path) -> None:
    brain = init(tmp_path / "brain", name="acme").brain.root
    held = config.registry_path().exists()
    calls: dict[str, Callable[[], object]] = {
        "name": lambda: init(tmp_path / "a", name=f"x {TOKEN}"),
        "folder": lambda: init(tmp_path / TOKEN),
        "folder above": lambda: init(tmp_path / TOKEN / "brain", name="acme"),
        "join": lambda: setup.join(str(published), tmp_path / f"b-{TOKEN}", cwd=os.sep),
        "join's address": lambda: setup.join(f"https://git.invalid/acme/{TOKEN}", None, cwd=os.sep),
        "match": lambda: setup.add_rule(f"github.com/acme/{TOKEN}", str(brain)),
        "brain": lambda: setup.add_rule("github.com/acme/x", TOKEN, remote="https://git.invalid/acme/brain"),
        "remote": lambda: setup.add_rule("github.com/acme/x", "x", remote=f"https://git.invalid/acme/{TOKEN}"),
    }
    for call in calls.values():
        refused(call)
    assert sorted(path.name for path in tmp_path.iterdir() if TOKEN in path.name or len(path.name) == 1) == []
    assert config.registry_path().exists() == held


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_rules_on_a_full_disk_are_refused_with_a_sentence(tmp_path: Path) -> None:
    brain = init(tmp_path / "brain", name="acme").brain.root
    lock = config.home() / "registry.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.unlink(missing_ok=True)
    lock.symlink_to("/dev/full")
    with pytest.raises(Refused, match=str(config.home())):
        setup.add_rule("github.com/acme/x", str(brain))


def test_a_rule_may_name_a_brain_as_its_team_does(tmp_path: Path) -> None:
    brain = init(tmp_path / "clone of acme", name="Acme").brain.root
    setup.add_rule("github.com/acme/x", str(brain))
    assert setup.add_rule("github.com/acme/y", "acme")[0].brain == str(brain)
    with pytest.raises(Refused, match="acme2") as raised:
        setup.add_rule("github.com/acme/z", "acme2")
    assert "Acme" in str(raised.value.hint)
    other = init(tmp_path / "other", name="acme").brain.root
    setup.add_rule("github.com/other/x", str(other))
    with pytest.raises(Refused, match="Several brains"):
        setup.add_rule("github.com/acme/z", "acme")
