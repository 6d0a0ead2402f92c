"""A token that is planted in every place where people keep one is let in by it, and is found nowhere else."""

from __future__ import annotations

import base64
import os
import secrets
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.repo.git import redact

from .brains import plain
from .clones import MARK, Person, Said
from .servers import ASKS_FETCH, ASKS_PUSH, FETCHES, PUSHES, Request, Site, Ssh, says


@pytest.fixture
def token() -> str:
    """A password that no pattern knows, made now."""
    return "q" + secrets.token_hex(16)


@pytest.fixture
def home() -> Path:
    """The person's home in this test."""
    return Path(os.environ["HOME"])


def spellings(token: str) -> list[bytes]:
    """The token as it is, and as a header of HTTP carries it."""
    return [token.encode(), *(base64.b64encode(f"{user}:{token}".encode()) for user in ("alice", ""))]


def found_in(folder: Path, token: str, *, but: tuple[Path, ...] = ()) -> list[str]:
    """The files below `folder` that hold the token, objects of its repositories included; `but` were planted."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path not in but]
    found = [str(path) for path in files if any(text in path.read_bytes() for text in spellings(token))]
    for git_dir in folder.rglob(".git"):
        command = ["git", "--git-dir", str(git_dir), "cat-file", "--batch", "--batch-all-objects"]
        objects = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout
        found += [str(git_dir)] if any(text in objects for text in spellings(token)) else []
    return found


def quiet(said: Said, token: str) -> Said:
    """A command that did not say the token."""
    for text in spellings(token):
        assert text.decode() not in said.out + said.err
    return said


class Watch:
    """Looks at the processes that a person's commands start, at the moment when the server is asked: git and its
    helpers are alive then, and wait."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.seen = 0
        self.shown: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, request: Request, path: str, query: str, body: bytes) -> None:
        for place in Path("/proc").glob("[0-9]*"):
            try:
                environment = (place / "environ").read_bytes()
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if MARK.encode() + b"=" not in environment:
                continue
            with self._lock:
                self.seen += 1
                if any(text in line + environment for text in spellings(self.token)):
                    self.shown.append(line.replace(b"\0", b" ").decode("utf-8", "replace"))
        request.serve_git(path, query, body)


# Where people keep a token


def _store(home: Path, site: Site, token: str) -> Path:
    place = home / ".git-credentials"
    place.write_text(f"{site.url.replace('//', f'//alice:{token}@')}\n", encoding="utf-8")
    plain(home, "config", "--global", "credential.helper", "store")
    return place


def _netrc(home: Path, site: Site, token: str) -> Path:
    place = home / ".netrc"
    place.write_text(f"machine 127.0.0.1\nlogin alice\npassword {token}\n", encoding="utf-8")
    place.chmod(0o600)
    return place


def _header(home: Path, site: Site, token: str) -> Path:
    value = base64.b64encode(f"alice:{token}".encode()).decode()
    plain(home, "config", "--global", f"http.{site.url}/.extraHeader", f"Authorization: Basic {value}")
    return home / ".gitconfig"


@pytest.mark.parametrize("keep", [_store, _netrc, _header])
def test_a_token_in_its_own_place_lets_in_and_shows_up_nowhere(
    person: Person, site: Site, home: Path, tmp_path: Path, token: str, keep: Callable[[Path, Site, str], Path]
) -> None:
    site.password = token
    planted = keep(home, site, token)
    watch = Watch(token)
    site.trouble = dict.fromkeys((ASKS_FETCH, FETCHES, ASKS_PUSH, PUSHES), watch)
    trace = tmp_path / "trace"
    person.env |= {"GIT_TRACE_CURL": str(trace), "GIT_TRACE_REDACT": "0", "GIT_CURL_VERBOSE": "1"}
    joined = Person(tmp_path / "joined", person.bare, person.env)
    assert quiet(joined.brain("join", f"{site.url}/brain.git", str(joined.clone)), token).code == 0
    path = joined.write()
    assert quiet(joined.brain("sync", "--json"), token).receipt["state"] == "published"
    assert joined.shared(path)
    site.password = token[::-1]  # from now on it is the wrong one
    joined.write()
    assert quiet(joined.brain("sync", "--json"), token).receipt["state"] == "deferred"
    for words in (["status"], ["doctor"]):
        quiet(joined.brain(*words), token)
    assert site.wanted() not in site.authorizations
    assert watch.seen > 0
    assert watch.shown == []
    assert found_in(tmp_path, token, but=(planted,)) == []


def test_no_program_of_the_persons_that_asks_is_started_and_one_that_hangs_costs_its_time(
    person: Person, site: Site, tmp_path: Path, token: str
) -> None:
    site.password = token
    asked = tmp_path / "asked"
    program = tmp_path / "ask"
    program.write_text(f"#!/bin/sh\ntouch '{asked}'\necho {token[::-1]}\n", encoding="utf-8")
    program.chmod(0o755)
    plain(person.clone, "config", "--global", "core.askPass", str(program))
    person.env |= {"GIT_ASKPASS": str(program), "SSH_ASKPASS": str(program), "DISPLAY": ":0"}
    person.write()
    receipt = person.sync()
    assert (receipt.state, asked.exists()) == ("deferred", False)
    plain(person.clone, "config", "--global", "credential.helper", "!sleep 600 #")
    receipt = person.sync(seconds=1)
    assert receipt.state == "deferred"
    assert "got no answer" in str(receipt.reason)


# Where a token must not be


@pytest.mark.parametrize("url", ["http://alice:{}@127.0.0.1:9/x.git", "https://ghp_{}@127.0.0.1:9/x.git"])
def test_an_address_with_a_token_is_refused_by_every_command_that_takes_one(
    person: Person, tmp_path: Path, token: str, url: str
) -> None:
    url = url.format(token)
    for words in (
        ["join", url, str(tmp_path / "new")],
        ["init", str(tmp_path / "new"), "--remote", url],
        ["rules", "add", "git.example.com/acme/shop", "acme", "--remote", url],
    ):
        assert quiet(person.brain(*words, "--json"), token).code == 1
    assert not (tmp_path / "new").exists()
    assert found_in(tmp_path, token) == []


def _in_the_url(person: Person, site: Site, token: str) -> None:
    person.goes_to(f"{site.url}/brain.git".replace("//", f"//alice:{token}@"))


def _as_a_name(person: Person, site: Site, token: str) -> None:
    person.goes_to(f"{site.url}/brain.git".replace("//", f"//ghp_{token}@"))


def _as_a_parameter(person: Person, site: Site, token: str) -> None:
    person.goes_to(f"{site.url}/brain.git?private_token={token}")


def _in_the_push_url(person: Person, site: Site, token: str) -> None:
    url = f"{site.url}/brain.git".replace("//", f"//alice:{token}@")
    plain(person.clone, "remote", "set-url", "--push", "origin", url)


def _instead_of(person: Person, site: Site, token: str) -> None:
    start = site.url.replace("//", f"//ghp_{token}@")
    plain(person.clone, "config", "--global", f"url.{start}/.insteadOf", f"{site.url}/")


def _instead_of_for_pushes(person: Person, site: Site, token: str) -> None:
    start = site.url.replace("//", f"//alice:{token}@")
    plain(person.clone, "config", "--global", f"url.{start}/.pushInsteadOf", f"{site.url}/")


@pytest.mark.parametrize(
    "plant", [_in_the_url, _as_a_name, _as_a_parameter, _in_the_push_url, _instead_of, _instead_of_for_pushes]
)
def test_a_token_that_git_would_show_in_its_arguments_stops_the_sync_and_nothing_else(
    person: Person, site: Site, home: Path, tmp_path: Path, token: str, plant: Callable[[Person, Site, str], None]
) -> None:
    config = (person.clone / ".git/config").read_bytes()
    plant(person, site, token)
    watch = Watch(token)
    site.trouble = dict.fromkeys((ASKS_FETCH, FETCHES, ASKS_PUSH, PUSHES), watch)
    path = person.write()
    receipt = person.sync()
    assert receipt.state == "refused"
    assert "set-url" in str(receipt.next)
    assert token not in repr(receipt)
    assert person.holds(path)
    quiet(person.brain("doctor"), token)
    assert watch.shown == []
    assert found_in(tmp_path, token, but=(person.clone / ".git/config", home / ".gitconfig")) == []
    (person.clone / ".git/config").write_bytes(config)
    plain(person.clone, "config", "--global", "--remove-section", f"url.{site.url}/", check=False)
    (home / ".gitconfig").write_text("[user]\n\tname = Alice\n\temail = alice@example.com\n", encoding="utf-8")
    assert person.sync().state == "published"


def test_a_join_is_refused_where_the_persons_own_settings_add_a_token(
    person: Person, site: Site, tmp_path: Path, token: str
) -> None:
    _instead_of(person, site, token)
    for words in (["join", f"{site.url}/brain.git"], ["init", "--remote", f"{site.url}/brain.git"]):
        said = quiet(person.brain(words[0], *words[1:], str(tmp_path / "new")), token)
        assert said.code == 1
        assert "insteadOf" in said.err
    assert not (tmp_path / "new").exists()
    assert site.requests == []


def test_a_code_repository_with_a_token_in_its_remote_gives_none_of_it_to_the_brain(
    person: Person, tmp_path: Path, token: str
) -> None:
    code = tmp_path / "shop"
    code.mkdir()
    plain(code, "init", "-q")
    plain(code, "commit", "-q", "--allow-empty", "-m", "start")
    plain(code, "remote", "add", "origin", f"https://ghp_{token}:x-oauth@git.example.com/acme/shop.git")
    named = ["-C", str(code), "--brain", str(person.clone)]
    for words in (
        ["join", str(person.bare), str(person.clone), "-C", str(code), "--json"],
        ["remember", "A fact", "-m", "Said.", *named, "--json"],
        ["whoami", *named, "--json"],
        ["brief", *named, "--json"],
        ["rules", "check", "-C", str(code), "--json"],
        ["sync", *named, "--json"],
    ):
        assert quiet(person.brain(*words), token).code == 0, words
    assert found_in(tmp_path, token, but=(code / ".git/config",)) == []
    assert b"git.example.com/acme/shop" in b"".join(path.read_bytes() for path in person.clone.rglob("*a-fact*.md"))


def test_a_token_that_stands_in_a_rule_or_in_the_remote_of_an_adopted_repository_is_not_repeated(
    person: Person, tmp_path: Path, token: str
) -> None:
    url = f"https://alice:{token}@git.example.com/acme/brain.git"
    code = tmp_path / "shop"
    code.mkdir()
    plain(code, "init", "-q")
    plain(code, "remote", "add", "origin", url)
    registry = Path(os.environ["COMMONWEALTH_HOME"], "registry.yaml")
    registry.parent.mkdir(exist_ok=True)
    rules = f"rules:\n- match: git.example.com/acme/*\n  brain: elsewhere\n  remote: {url}\n"
    registry.write_text(rules, encoding="utf-8")
    said = quiet(person.brain("status", "-C", str(code)), token)
    assert "brain join" in said.err
    said = quiet(person.brain("rules", "list", "--json"), token)
    assert "git.example.com/acme/brain.git" in said.out
    quiet(person.brain("rules", "list"), token)
    said = quiet(person.brain("init", str(code), "--remote", str(person.bare)), token)
    assert said.code == 1
    assert found_in(tmp_path, token, but=(registry, code / ".git/config")) == []


# What others say


@pytest.mark.parametrize("prefix", ["ghp_", "", "password: "])
def test_a_token_in_what_the_remote_says_is_taken_out_and_the_rest_is_told(
    person: Person, site: Site, tmp_path: Path, token: str, prefix: str
) -> None:
    site.trouble[ASKS_FETCH] = says(403, f"The key {prefix}{token} has expired.\nAsk Bob.")
    person.write()
    receipt = person.sync()
    assert receipt.state == "deferred"
    assert token not in repr(receipt)
    assert "Ask Bob." in str(receipt.reason)
    site.trouble.clear()
    hook = person.bare / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho 'No: {prefix}{token} is no key here' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    receipt = person.sync()
    assert token not in repr(receipt)
    assert "is no key here" in str(receipt.reason)
    quiet(person.brain("status"), token)
    hook.unlink()
    assert found_in(tmp_path, token) == []


@pytest.mark.parametrize("where", ["GIT_SSH_COMMAND", "core.sshCommand"])
def test_a_password_in_the_command_for_ssh_is_not_repeated(
    person: Person, ssh: Ssh, home: Path, tmp_path: Path, token: str, where: str
) -> None:
    person.env.pop("GIT_SSH_COMMAND")
    command = f"no-such-sshpass -p {token} ssh"
    if where == "GIT_SSH_COMMAND":
        person.env[where] = command
    else:
        plain(person.clone, "config", "--global", where, command)
    person.write()
    quiet(person.brain("doctor"), token)
    said = quiet(person.brain("sync"), token)
    assert "no-such-sshpass: not found" in said.err + said.out
    assert found_in(tmp_path, token, but=(home / ".gitconfig",)) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("remote: key {} is gone", "remote: key *** is gone"),
        ("remote: see https://host/acme/brain/pull/17", "remote: see https://host/acme/brain/pull/17"),
        ("remote: memory/2026-06-http-409-9f3d7k2m.md is bad", "remote: memory/2026-06-http-409-9f3d7k2m.md is bad"),
        ("fatal: {} stays where it is our own git that speaks", "fatal: {} stays where it is our own git that speaks"),
        ("sshpass -p {} ssh: line 1: sshpass: command not found", "sshpass: not found"),
        ("+ sshpass -p {} ssh host", "+ sshpass -p *** ssh host"),
        ("password = {}", "password = ***"),
    ],
)  # fmt: skip
def test_what_looks_like_a_token_leaves_the_words_of_a_remote(text: str, shown: str, token: str) -> None:
    assert redact(text.format(token)) == shown.format(token)
