"""What is configured is read strictly: what cannot be read is named, and never taken for "nothing is set"."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth import config, plainyaml, userconfig
from commonwealth.errors import Damaged, Refused
from commonwealth.routing import Registry, Rule

WHERE = ".commonwealth/config.yaml"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}, *{before}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)

UNPARSABLE = {
    "empty": "",
    "blank": "\n \n",
    "comment": "# nothing\n",
    "byte order mark alone": "\ufeff",
    "list": "[]",
    "list of lines": "- name\n- review\n",
    "text": '"x"',
    "word": "x",
    "number": "7",
    "null": "null",
    "trailing comma": '{"a":1,}',
    "no key that is known": "nome: acme\n",
    "unclosed": '{"name": "acme"',
    "two documents": "name: a\n---\nname: b\n",
    "key twice": "name: a\nname: b\n",
    "anchor": "name: &a acme\n",
    "alias": "name: *a\n",
    "alias bomb": f"{BOMB}name: *i\n",
    "merge key": "<<: *a\nname: x\n",
    "tag": "name: !!python/object/apply:os.system [true]\n",
    "harmless tag": "name: !!str acme\n",
    "key that is a list": "? [name]\n: acme\n",
    "key that is null": "~: acme\n",
    "tab": "name:\n\treview: auto\n",
    "NUL": "name: a\0b\n",
    "control character": "name: a\x07b\n",
    "conflict markers": "<<<<<<< ours\nname: a\n=======\nname: b\n>>>>>>> theirs\n",
    "deep": "features: " + "[" * 500 + "]" * 500,
    "very deep": "features: " + "[" * 60_000,
    "deep in lines": "features:\n" + "".join(" " * depth + "-\n" for depth in range(1, 300)),
    "huge": "name: acme\n" + "# filler\n" * 10_000 + "review: pull-request\n",
}


@pytest.mark.parametrize("text", UNPARSABLE.values(), ids=UNPARSABLE.keys())
def test_a_brain_config_that_says_nothing_readable_is_damaged(text: str) -> None:
    with pytest.raises(Damaged, match="unparsable") as caught:
        config.brain_config(text, WHERE)
    assert caught.value.message.startswith(WHERE)
    assert len(caught.value.message) < 300
    assert caught.value.hint


def test_the_line_and_the_cause_are_named() -> None:
    with pytest.raises(Damaged, match=rf"^{WHERE}, line 3: unparsable \(the key 'name' stands twice\)\.$"):
        config.brain_config("name: a\nreview: auto\nname: b\n", WHERE)


@pytest.mark.parametrize(
    "data",
    ["name: caf\xe9\n".encode("latin-1"), "name: acme\n".encode("utf-16"), b"name: \xff\n", b"name: \xed\xa0\x80\n"],
)
def test_bytes_that_are_no_utf8_are_damaged(data: bytes) -> None:
    with pytest.raises(Damaged, match=rf"^{WHERE}, line 1: unparsable \(it is not UTF-8\)"):
        config.read_brain_config(data, WHERE)


@pytest.mark.parametrize("text", ["\ufeffname: acme\n", "name: acme\r\n", '{"name": "acme"}', "---\nname: acme\n"])
def test_usual_spellings_are_read(text: str) -> None:
    assert config.read_brain_config(text.encode(), WHERE) == config.BrainConfig(name="acme")


@pytest.mark.parametrize("name", ["no", "on", "0x10", "0123", "1.10", "2026-05-26", "2026-13-45", "1_000", "12:30:00"])
def test_a_name_is_text_whatever_it_looks_like(name: str) -> None:
    assert config.brain_config(f"name: {name}\nkey: {name}\n", WHERE) == config.BrainConfig(name=name, key=name)


@pytest.mark.parametrize("text", ["{}", "name:\n", "name: ~\nreview: null\nfolders:\n", "schema_version: 1\n"])
def test_what_is_not_set_has_its_default(text: str) -> None:
    assert config.brain_config(text, WHERE) == config.BrainConfig()


def test_a_hostile_name_is_one_clean_short_line() -> None:
    given = '"acme\\n# System\\x1b[31m\\u202e\\u200b' + "x" * 300 + '"'
    name = config.brain_config(f"name: {given}\n", WHERE).name
    assert name.startswith("acme # Systemxxx")
    assert len(name) <= 60


@pytest.mark.parametrize("value", ["[a, b]", "{a: b}"])
def test_a_name_or_key_that_is_no_text_is_named_and_ignored(value: str) -> None:
    read = config.brain_config(f"name: {value}\nkey: {value}\n", WHERE)
    assert (read.name, read.key) == ("brain", "")
    assert len(read.warnings) == 2


def test_unknown_keys_are_named_in_one_bounded_warning() -> None:
    read = config.brain_config('"run\\n\\x1b[31m": x\nname: acme\n' + "".join(f"k{n}: x\n" for n in range(900)), WHERE)
    assert read.name == "acme"
    (warning,) = read.warnings
    assert "`run`, `k0`" in warning
    assert warning.isprintable()
    assert len(warning) < 200


@pytest.mark.parametrize("schema", ["0", "-1", "x", "1.5", "true", "[1]", "1e9", "01", "9" * 400])
def test_a_schema_that_is_no_version_is_damaged(schema: str) -> None:
    with pytest.raises(Damaged, match="schema"):
        config.brain_config(f"schema_version: {schema}\n", WHERE)


def test_a_newer_schema_says_what_to_do() -> None:
    with pytest.raises(Damaged, match="this brain has schema 2, and this version of `brain` knows 1") as caught:
        config.brain_config("schema_version: 2\n", WHERE)
    assert caught.value.hint == "Install a newer version of Commonwealth."


@pytest.mark.parametrize("review", config.REVIEW_MODES)
def test_review_is_one_of_three_modes(review: str) -> None:
    assert config.brain_config(f"review: {review}\n", WHERE).review == review


@pytest.mark.parametrize("review", ["none", "false", "no", "AUTO", "[auto]", "{auto: true}", "0"])
def test_a_review_mode_that_is_not_known_never_loosens(review: str) -> None:
    read = config.brain_config(f"review: {review}\n", WHERE)
    assert read.review == "queue"
    assert "taken as `queue`" in read.warnings[0]


# Folders


@pytest.mark.parametrize("key", ["decision", "decisions"])
@pytest.mark.parametrize("folder", ["adr/", "adr", "docs/adr", "docs/décisions d’équipe"])
def test_a_kind_is_mapped_to_a_folder_of_the_team(key: str, folder: str) -> None:
    read = config.brain_config(f"folders:\n  {key}: {folder}\n", WHERE)
    assert read.folders == {**config.DEFAULT_FOLDERS, "decision": folder.rstrip("/")}
    assert read.warnings == ()


ESCAPING = [
    '"/etc"', '"../other"', '"a/../../b"', '"."', '".."', '"./a"', '""', '"/"', '"a//b"', '"~"', '"~/notes"',
    '"C:\\\\notes"', '"C:/notes"', '"a\\\\..\\\\b"', '"\\\\\\\\server\\\\share"', '".git"', '".GIT/hooks"', '"a/.git"',
    '"git~1"', '"GIT~1/x"', '".commonwealth"', '".hidden"', '"a/.hidden"', '"index"', '"Index"', '"staging/a"',
    '"STAGING"', '"notes."', '"notes "', '" notes"', '"a./b"', '"a\\nb"', '"a\\x1b[31m"', '"a\\u202eb"', '"a\\u200bb"',
    '"a\\0b"', '"a*"', '"a?b"', '"a|b"', '"a<b"', '"COMMONWEALTH.md"', '"readme.MD"', '"a:stream"', "~",
    "[a]", "{a: b}", '"' + "a" * 300 + '"',
]  # fmt: skip


@pytest.mark.parametrize("folder", ESCAPING)
def test_a_folder_that_is_none_inside_the_brain_is_named_and_ignored(folder: str) -> None:
    read = config.brain_config(f"name: acme\nfolders:\n  memory: {folder}\n  decisions: adr\n", WHERE)
    assert read.folders == {**config.DEFAULT_FOLDERS, "decision": "adr"}
    (warning,) = read.warnings
    assert "folders.memory" in warning
    assert warning.isprintable()


@pytest.mark.parametrize(
    ("one", "other"),
    [("notes", "notes"), ("Notes", "nOTES"), ("café", "cafe\u0301"), ("notes/", "notes"), ("people", "x")],
)
def test_two_kinds_never_share_a_folder(one: str, other: str) -> None:
    read = config.brain_config(f"folders:\n  memory: {one}\n  decision: {other}\n", WHERE)
    assert read.folders == config.DEFAULT_FOLDERS
    assert "share one folder" in read.warnings[0]


def test_a_folder_may_lie_in_that_of_another_kind() -> None:
    read = config.brain_config("folders:\n  memory: docs\n  decision: docs/adr\n", WHERE)
    assert (read.folders["memory"], read.folders["decision"], read.warnings) == ("docs", "docs/adr", ())


@pytest.mark.parametrize("folders", ["[]", "x", "[memory]"])
def test_folders_that_are_no_mapping_are_named_and_ignored(folders: str) -> None:
    read = config.brain_config(f"folders: {folders}\n", WHERE)
    assert read.folders == config.DEFAULT_FOLDERS
    assert len(read.warnings) == 1


def test_a_kind_that_does_not_exist_is_named_and_ignored() -> None:
    read = config.brain_config('folders:\n  "gossip\\n": x\n', WHERE)
    assert read.warnings == (f"{WHERE}: folders.gossip is no kind of note and was ignored",)


@given(st.text(max_size=60))
def test_any_text_is_a_config_or_damaged(text: str) -> None:
    try:
        read = config.brain_config(text, WHERE)
    except Damaged:
        return
    assert read.name
    assert all(warning.isprintable() for warning in read.warnings)


# The registry


def registry(text: str) -> Path:
    path = config.registry_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


BAD_REGISTRIES = {
    **{name: text for name, text in UNPARSABLE.items() if name != "huge"},
    "no rules": "name: acme\n",
    "rule instead of rules": "rule:\n- match: a\n  brain: b\n",
    "rules are a mapping": "rules: {match: a, brain: b}\n",
    "rules are text": "rules: none\n",
    "a rule that is text": "rules: [x]\n",
    "a rule that is null": "rules:\n-\n",
    "no match": "rules:\n- brain: b\n",
    "no brain": "rules:\n- match: a\n",
    "misspelt": "rules:\n- match: a\n  brian: b\n",
    "empty match": "rules:\n- match: ''\n  brain: b\n",
    "empty brain": "rules:\n- match: a\n  brain: ''\n",
    "brain is a list": "rules:\n- match: a\n  brain: [b]\n",
    "brain is a relative path": "rules:\n- match: a\n  brain: ../b\n",
    "brain is a path from here": "rules:\n- match: a\n  brain: b/c\n",
    "brain with NUL": 'rules:\n- match: a\n  brain: "/b\\0"\n',
    "remote is a list": "rules:\n- match: a\n  brain: b\n  remote: [x]\n",
    "remote over two lines": 'rules:\n- match: a\n  brain: b\n  remote: "x\\ny"\n',
}


@pytest.mark.parametrize("text", BAD_REGISTRIES.values(), ids=BAD_REGISTRIES.keys())
def test_a_registry_that_cannot_be_read_is_loud_and_left_as_it_is(text: str) -> None:
    path = registry(text)
    before = path.read_bytes()
    with pytest.raises(Damaged) as caught:
        config.load_registry()
    assert str(path) in caught.value.message
    with pytest.raises(Damaged):
        config.save_rule(Rule("github.com/acme/shop", "acme"))
    with pytest.raises(Damaged):
        config.remove_rule("a")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_registry_of_other_bytes_is_loud() -> None:
    registry("").write_bytes("rules: [é]\n".encode("utf-16"))
    with pytest.raises(Damaged, match="cannot be read"):
        config.load_registry()


def test_a_registry_that_is_a_folder_or_a_link_to_nothing_is_loud(tmp_path: Path) -> None:
    path = config.registry_path()
    path.mkdir(parents=True)
    with pytest.raises(Damaged, match="cannot be read"):
        config.load_registry()
    path.rmdir()
    path.symlink_to(tmp_path / "unmounted" / "registry.yaml")
    with pytest.raises(Damaged, match="link to nothing"):
        config.load_registry()


def test_no_registry_and_an_empty_list_mean_no_rules() -> None:
    assert config.load_registry() == Registry()
    for text in ("rules: []\n", "rules:\n", "# mine\nrules:\nelse: x\n"):
        registry(text)
        assert config.load_registry() == Registry()


def test_brain_none_means_no_brain_at_all() -> None:
    registry("rules:\n- match: a\n  brain: none\n- {match: b, brain: null}\n- match: c\n  brain:\n")
    assert [rule.brain for rule in config.load_registry().rules] == [None, None, None]


NAMES = st.text(st.characters(categories=["L", "N", "P", "S", "M"], exclude_characters="/\\"), min_size=1, max_size=20)


@settings(deadline=None)
@given(
    st.lists(st.builds(Rule, NAMES, st.none() | NAMES.map(lambda name: f"/b/{name}"), st.none() | NAMES), max_size=5)
)
def test_what_is_saved_is_read_back(wanted: list[Rule]) -> None:
    config.registry_path().unlink(missing_ok=True)
    for rule in wanted:
        if (rule.match + (rule.brain or "") + (rule.remote or "")).isprintable() and rule.match.strip():
            config.save_rule(rule)
            assert rule in config.load_registry().rules
            assert config.save_rule(rule) is False


def test_a_rule_that_could_not_be_read_back_is_not_written() -> None:
    config.save_rule(Rule("a", "b"))
    before = config.registry_path().read_bytes()
    for rule in (Rule("x\ny", "b"), Rule("x", "b\udce9"), Rule("", "b"), Rule("x", "../b")):
        with pytest.raises(Refused, match="cannot be written"):
            config.save_rule(rule)
    assert config.registry_path().read_bytes() == before


MINE = """\
# Work and play.

rules:
  # the shop
  - match: github.com/acme/shop   # since May
    brain: acme
    note: mine
  # everything else of theirs
  - brain: 'acme'
    match: "github.com/acme/*"

  - {match: ~/private, brain: null}
  # the end
later: kept
"""


def test_a_new_rule_leaves_every_other_line_as_it_is() -> None:
    path = registry(MINE)
    assert config.save_rule(Rule("github.com/x/y", "y", "git@github.com:x/brain.git")) is True
    new = "  - match: github.com/x/y\n    brain: y\n    remote: git@github.com:x/brain.git\n"
    assert path.read_text(encoding="utf-8") == MINE.replace("  # the end\n", f"{new}  # the end\n")


def test_a_rule_is_replaced_and_removed_where_it_stands() -> None:
    path = registry(MINE)
    config.save_rule(Rule("GitHub.com/acme/*", None))
    theirs = "  - brain: 'acme'\n    match: \"github.com/acme/*\"\n"
    assert path.read_text(encoding="utf-8") == MINE.replace(theirs, "  - match: GitHub.com/acme/*\n    brain: null\n")
    registry(MINE)
    assert config.remove_rule("~/private") == Rule("~/private", None)
    assert path.read_text(encoding="utf-8") == MINE.replace("  - {match: ~/private, brain: null}\n", "")
    assert [rule.match for rule in config.load_registry().rules] == ["github.com/acme/shop", "github.com/acme/*"]


def test_the_last_rule_can_be_removed_and_a_first_one_added_again() -> None:
    path = registry("# mine\nrules:\n- match: a\n  brain: b\n")
    config.remove_rule("a")
    assert path.read_text(encoding="utf-8") == "# mine\nrules:\n"
    config.save_rule(Rule("c", "d"))
    assert path.read_text(encoding="utf-8") == "# mine\nrules:\n- match: c\n  brain: d\n"


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nrules: [{match: a, brain: b}]\n",
        '# mine\n{"rules": [{"match": "a", "brain": "b"}]}\n',
        "# mine\nrules:\n-\n  match: a\n  brain: b\n",
        "# mine\nrules:\n- match: a\n  brain: >-\n    b\n",
        "# mine\nrules:\n- {match: a,\n   brain: b}\n",
        "# mine\nrules:\n- match: a\n  brain: b",
    ],
)
def test_whatever_the_form_of_the_file_no_rule_and_no_comment_at_the_top_is_lost(text: str) -> None:
    path = registry(text)
    config.save_rule(Rule("c", None))
    assert config.load_registry().rules == (Rule("a", "b"), Rule("c", None))
    config.save_rule(Rule("A", "z"))
    assert config.load_registry().rules == (Rule("A", "z"), Rule("c", None))
    assert path.read_text(encoding="utf-8").startswith("# mine\n")


def test_line_ends_permissions_and_a_link_stay(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.yaml"
    kept.write_bytes(b"rules:\r\n- match: a\r\n  brain: b\r\n")
    kept.chmod(0o600)
    path = config.registry_path()
    path.parent.mkdir(parents=True)
    path.symlink_to(kept)
    config.save_rule(Rule("c", "d"))
    assert path.is_symlink()
    assert kept.read_bytes() == b"rules:\r\n- match: a\r\n  brain: b\r\n- match: c\r\n  brain: d\r\n"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_removing_what_is_not_there_says_where_the_rules_are() -> None:
    with pytest.raises(Refused, match="No rule matches `x`") as caught:
        config.remove_rule("x\x1b[31m")
    assert "brain rules list" in (caught.value.hint or "")


def test_folders_that_differ_in_case_have_rules_of_their_own() -> None:
    config.save_rule(Rule("/code/Shop", "a"))
    config.save_rule(Rule("/code/shop", "b"))
    assert len(config.load_registry().rules) == 2


# Which rule applies

SHOP = "github.com/acme/shop"


@pytest.mark.parametrize(
    ("matches", "identity", "folder", "winner"),
    [
        # most specific wins
        (["*", "github.com/*", "github.com/acme/*", "/code", SHOP], SHOP, "/code/shop", SHOP),
        (["github.com/acme/*", "/code", "github.com/*"], SHOP, "/code/shop", "/code"),
        (["/code", "/code/acme", "/"], SHOP, "/code/acme/shop", "/code/acme"),
        (["github.com/*", "*", "github.com/acme/*"], SHOP, None, "github.com/acme/*"),
        (["*"], SHOP, None, "*"),
        # spelling
        (["GitHub.com/Acme/Shop"], SHOP, None, "GitHub.com/Acme/Shop"),
        (["github.com/acme/shop/"], SHOP, None, "github.com/acme/shop/"),
        (["github.com/acme/shop.git"], SHOP, None, "github.com/acme/shop.git"),
        (["GITHUB.COM/*"], SHOP, None, "GITHUB.COM/*"),
        (["github.com/acme/**"], SHOP, None, "github.com/acme/**"),
        (["/code/**"], None, "/code/x", "/code/**"),
        (["/code/*"], None, "/code/x/y", "/code/*"),
        (["/code/"], None, "/code", "/code/"),
        (["/*"], None, "/anything", "/*"),
        (["/"], None, "/anything", "/"),
        # what only looks alike
        (["github.com/acme/*"], "github.com/acme-evil/shop", None, None),
        (["github.com/acme/*"], "github.com/acme", None, None),
        (["github.com/acme/shop"], "github.com/acme/shop-fork", None, None),
        (["github.com/acme/shop"], "github.com/alice/shop", None, None),
        (["github.com/acme/shop"], "evil.com/github.com/acme/shop", None, None),
        (["acme/shop"], SHOP, None, None),
        (["/code"], None, "/workshop", None),
        (["/code/shop"], None, "/code", None),
        (["*", "github.com/*"], None, "/code", None),
        (["/code"], SHOP, None, None),
        ([""], SHOP, "/code", None),
        # repositories without a server are known by a path
        (["/srv/git/shop"], "/srv/git/shop", "/home/alice/shop", "/srv/git/shop"),
        (["/srv/git/Shop.git"], "/srv/git/shop", "/home/alice/shop", "/srv/git/Shop.git"),
        (["/srv/git/*", "/srv/git/shop"], "/srv/git/shop", "/home/alice/shop", "/srv/git/shop"),
        (["/srv/git/*"], "/srv/git/shop", "/home/alice/shop", "/srv/git/*"),
        (["/home/alice/code"], "/home/alice/code", "/home/Alice/Code/src", "/home/alice/code"),
        (["/w/code", "/w/code/secret"], "/w/code", "/w/code/secret/x", "/w/code/secret"),
        (["C:\\Code"], "c:/code", None, "C:\\Code"),
    ],
)
def test_the_most_specific_rule_wins(
    matches: list[str], identity: str | None, folder: str | None, winner: str | None
) -> None:
    for order in (matches, matches[::-1]):
        found = Registry(tuple(Rule(match, "b") for match in order)).resolve(identity, folder)
        assert (found.match if found else None) == winner


@pytest.mark.parametrize("match", [SHOP, "github.com/acme/*", "/code"])
def test_on_a_tie_the_rule_for_no_brain_wins(match: str) -> None:
    pair = (Rule(match, "b"), Rule(match.upper() if match[0] != "/" else "/code/", None))
    for rules in (pair, pair[::-1]):
        found = Registry(rules).resolve(SHOP, "/code/shop")
        assert found is not None
        assert found.brain is None


def test_a_more_specific_rule_for_a_brain_beats_one_for_none() -> None:
    found = Registry((Rule("github.com/acme/*", None), Rule(SHOP, "b"))).resolve(SHOP, None)
    assert found == Rule(SHOP, "b")


def test_of_two_equal_rules_the_first_counts() -> None:
    assert Registry((Rule(SHOP, "one"), Rule(SHOP, "two"))).resolve(SHOP, None) == Rule(SHOP, "one")


def test_folders_are_compared_by_their_real_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real é"
    (real / "shop").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    monkeypatch.setenv("HOME", str(tmp_path))
    for match in (str(real), str(tmp_path / "link"), "~/link", "~/real é/*"):
        for folder in (real / "shop", tmp_path / "link" / "shop", tmp_path / "link" / "gone"):
            assert Registry((Rule(match, "b"),)).resolve(None, str(folder)), (match, folder)
    assert Registry((Rule("~nobody-of-that-name/x", "b"),)).resolve(None, str(real)) is None


# The user's own config and folder


def own(text: str) -> Path:
    path = config.home() / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_without_a_file_everything_has_its_default() -> None:
    assert userconfig.load() == userconfig.UserConfig()


def test_a_persons_settings_are_read() -> None:
    own("name: no\nemail: a@b.c\nsync_seconds: 1.5\nstart_tokens: 800\nprompt_tokens: 0\nreview: queue\n")
    assert userconfig.load() == userconfig.UserConfig("no", "a@b.c", 1.5, 800, 0, review="queue")


@pytest.mark.parametrize(
    ("features", "silent"),
    [
        ("{prompt: off, edit: 'no'}", {"prompt", "edit"}),
        ("{prompt: on, start: false, later: off}", {"start"}),
        ("{prompt: [off]}", set()),
        ("off", set()),
    ],
)
def test_a_team_switches_moments_off(features: str, silent: set[str]) -> None:
    read = config.brain_config(f"name: acme\nfeatures: {features}\n", "config.yaml")
    assert read.silent == silent
    assert bool(read.warnings) == (features == "off")


@pytest.mark.parametrize("text", UNPARSABLE.values(), ids=UNPARSABLE.keys())
def test_a_persons_config_that_cannot_be_read_is_loud(text: str) -> None:
    path = own(text)
    with pytest.raises(Damaged) as caught:
        userconfig.load()
    assert str(path) in caught.value.message


@pytest.mark.parametrize(
    "line",
    [
        "sync_seconds: fast", "sync_seconds: -1", "sync_seconds: .nan", "sync_seconds: .inf", "sync_seconds: 1e400",
        "sync_seconds: true", "sync_seconds: [1]", "start_tokens: 99999999999", "start_tokens: 1,000",
        "review: strict", "review: none", "review: [queue]", "name: [a]", "email: {a: b}",
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_loud(line: str) -> None:
    own(f"{line}\n")
    with pytest.raises(Damaged, match=line.split(":", maxsplit=1)[0]):
        userconfig.load()


def test_a_misspelt_setting_is_named() -> None:
    own("revew: queue\nname: Alice\n")
    assert "`revew` is no setting" in userconfig.load().warnings[0]


def test_the_users_folder_may_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given_home, expected in (("~/notes é", tmp_path / "notes é"), ("", tmp_path / ".commonwealth")):
        monkeypatch.setenv("COMMONWEALTH_HOME", given_home)
        assert config.home() == expected


def test_a_file_that_cannot_be_written_is_refused_with_nothing_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for path, text in (
        (tmp_path / "file" / "x", "x"),
        (tmp_path / "folder", "x"),
        (tmp_path / "new", "\ud800"),
        (tmp_path / ("n" * 300), "x"),
    ):
        with pytest.raises(Refused, match="cannot be written"):
            config.replace_file(path, text)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "home"]


def test_plain_settings_never_grow() -> None:
    with pytest.raises(Damaged, match="anchors and aliases"):
        plainyaml.mapping(BOMB, "x", 1 << 16)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", ["registry.yaml", "config.yaml"])
def test_a_pipe_a_device_or_a_folder_in_the_place_of_a_file_holds_nothing_up(name: str) -> None:
    path = config.home() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    load = config.load_registry if name == "registry.yaml" else userconfig.load
    os.mkfifo(path)
    with pytest.raises(Damaged, match=name):
        load()
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(Damaged, match=name):
        load()
    path.unlink()
    path.mkdir()
    with pytest.raises(Damaged, match=name):
        load()
