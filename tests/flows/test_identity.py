"""Who is working: the same person in every clone, and nothing in a note that a colleague should not see."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth import config
from commonwealth.errors import Damaged
from commonwealth.flows import brains, identity
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import Provenance

from .conftest import record

PlainGit = Callable[..., str]


def test_the_environment_comes_before_ones_config_before_git(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (identity.whoami(brain).name, identity.whoami(brain).email) == ("Alice", "alice@example.com")
    (config.home() / "config.yaml").write_text("name: Alice B.\nemail: b@example.com\n", encoding="utf-8")
    assert (identity.whoami(brain).name, identity.whoami(brain).email) == ("Alice B.", "b@example.com")
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Bot")
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "bot@example.com")
    assert (identity.whoami(brain).name, identity.whoami(brain).email) == ("Bot", "bot@example.com")


def test_a_name_of_the_repository_alone_is_known(brain: Brain, git: PlainGit) -> None:
    git(brain.root, "config", "user.name", "Alice at work")
    assert identity.whoami(brain).name == "Alice at work"


def test_without_any_name_the_login_serves(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path.home() / ".gitconfig").write_text("", encoding="utf-8")
    monkeypatch.setenv("LOGNAME", "alice")
    found = identity.whoami(brain)
    assert (found.name, found.email) == (getpass.getuser(), "")


def test_the_write_that_makes_a_person_of_a_login_name_warns_and_no_other_does(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path.home() / ".gitconfig").write_text("", encoding="utf-8")
    (warning,) = record(brain, "Refunds take five days").warnings
    assert getpass.getuser() in warning
    assert "COMMONWEALTH_AUTHOR" in warning
    assert "git config" in warning
    assert record(brain, "Invoices go out at night").warnings == ()
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", "Carol")
    assert record(brain, "Orders expire after a week").warnings == ()


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("Alice\nEvil <e@x>", "Alice Evil e@x"),
        ("\x1b[31mAlice\u202e", "Alice"),
        ("Al\udce9ice", "Alice"),
        ("<>", "someone"),
        ("李小龍", "李小龍"),
        ("x" * 500, "x" * 99 + "…"),
    ],
)
def test_a_name_is_one_clean_line_that_git_takes(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, given_name: str, name: str
) -> None:
    monkeypatch.setenv("COMMONWEALTH_AUTHOR", given_name)
    monkeypatch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "a@b.c>\ncommitter x")
    found = identity.whoami(brain)
    assert (found.name, found.email) == (name, "a@b.c committer x")
    assert found.ref.isascii()


def test_an_unreadable_own_config_is_loud(brain: Brain) -> None:
    (config.home() / "config.yaml").write_text("[]", encoding="utf-8")
    with pytest.raises(Damaged, match="unparsable"):
        identity.whoami(brain)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=80))
def test_a_reference_is_a_safe_name_for_any_person(name: str, email: str, key: str) -> None:
    ref = identity.author_ref(name, email, key)
    head, _, digest = ref.rpartition("-")
    assert head
    assert len(digest) == 8
    assert set(ref) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(ref) <= 49


def test_a_reference_is_one_in_every_clone_and_tells_no_address() -> None:
    ref = identity.author_ref("Alice", "Alice@Example.com", "key")
    assert ref == identity.author_ref("Alice", " alice@example.com ", "key")
    assert ref != identity.author_ref("Alice", "alice@example.com", "another brain's key")
    assert ref != identity.author_ref("Alice", "alice@example.org", "key")
    assert ref.startswith("alice-")
    assert "example" not in ref


def test_two_spellings_of_one_name_in_unicode_are_one_person() -> None:
    assert identity.author_ref("Zoë", "", "k") == identity.author_ref("Zoe\u0308", "", "k")


def test_a_persons_note_is_the_same_wherever_it_is_made(brain: Brain) -> None:
    one = identity.person(identity.whoami(brain))
    other = identity.person(identity.whoami(brains.open_brain(brain.root, cwd="/")))
    assert one == other
    assert "@" not in repr(one)


def test_the_session_fills_what_the_caller_left_open(brain: Brain, code: Path, git: PlainGit) -> None:
    who = identity.whoami(brain)
    filled = identity.provenance(Provenance(branch="theirs"), brain, who, Session("Codex", "s1"))
    assert (filled.human, filled.agent, filled.session) == ("Alice", "Codex", "s1")
    assert (filled.repository, filled.branch) == ("git.example.com/acme/shop", "theirs")
    assert filled.commit == git(code, "rev-parse", "HEAD").strip()
    assert identity.provenance(filled, brain, who, Session("other", "s2")) == filled


def test_a_path_of_this_machine_stays_out_of_notes(brain: Brain, code: Path, git: PlainGit) -> None:
    git(code, "remote", "remove", "origin")
    here = brains.open_brain(brain.root, cwd=str(code))
    assert identity.provenance(Provenance(), here, identity.whoami(here), Session()).repository == "shop"


def test_trailers_are_one_line_each() -> None:
    assert identity.trailers(Session()) == ""
    assert identity.trailers(Session("Codex\nX: y\x1b[0m", None)) == "\n\nAgent: Codex X: y\n"
