"""Whose host a remote is on, where a token goes and where it never goes, and what a host's errors mean."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonwealth import userconfig
from commonwealth.adapters.forge import connect, require_safe
from commonwealth.adapters.forge_place import Place, place_of, url_in
from commonwealth.errors import BrainError, Damaged, Offline, Refused
from commonwealth.flows.forges import Ask
from tests.repo.servers import closed_port

from .forges import Talker, talking

TOKEN = "tok" + "en-of-this-test-4f8c2ab9"
ASK = Ask("notes/alice-1/9f3d7k2m", "main", "Note: It's so", "A body.\n", "1 note")
PULL = {"html_url": "https://git.example.com/acme/brain/pull/7", "number": 7, "state": "open"}


def settings(text: str) -> None:
    place = userconfig.place()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def knows(talker: Talker, kind: str, monkeypatch: pytest.MonkeyPatch, token: str | None = TOKEN) -> str:
    """Make the host known as one of this kind; the remote's URL."""
    settings(f"forges:\n  - host: '{talker.host}'\n    kind: {kind}\n    token_env: ACME_TOKEN\n")
    if token is not None:
        monkeypatch.setenv("ACME_TOKEN", token)
    return f"{talker.url}/acme/brain.git"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token and no client of the person's that runs these tests."""
    for name in list(os.environ):
        if name.endswith("_TOKEN"):
            monkeypatch.delenv(name)
    empty = tmp_path / "programs"
    empty.mkdir()
    monkeypatch.setenv("PATH", f"{empty}{os.pathsep}{os.environ['PATH']}")
    gh = empty / "gh"
    gh.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    gh.chmod(0o755)


@pytest.fixture
def talker() -> Iterator[Talker]:
    with talking() as made:
        yield made


# Which host


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://github.com/Acme/Brain.git", "github.com", "Acme/Brain"),
        ("git@github.com:Acme/Brain.git", "github.com", "Acme/Brain"),
        ("ssh://git@ssh.github.com:443/Acme/Brain.git", "github.com", "Acme/Brain"),
        ("ssh://git@git.example.com:2222/a/b/c", "git.example.com", "a/b/c"),
        ("https://git.example.com:8443/a/b/", "git.example.com:8443", "a/b"),
        ("http://127.0.0.1:3000/a/b", "127.0.0.1:3000", "a/b"),
    ],
)
def test_a_remote_names_its_host_and_repository(url: str, host: str, path: str) -> None:
    found = place_of(url)
    assert found is not None
    assert (found.host, found.path) == (host, path)


@pytest.mark.parametrize(
    "url",
    [
        "/srv/brain.git",
        "../brain.git",
        "file:///srv/x",
        "C:\\brains\\x",
        "http://git.example.com/a/b",
        "https://h/",
        "",
    ],
)
def test_a_folder_and_what_is_not_encrypted_have_no_host(url: str) -> None:
    assert place_of(url) is None
    assert connect(url).kind == "plain"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("git@github.com:acme/brain.git", "github"),
        ("https://gitlab.com/acme/team/brain.git", "gitlab"),
        ("https://codeberg.org/acme/brain", "gitea"),
        ("https://github.com.evil.example/acme/brain", "plain"),
        ("https://git.example.com/acme/brain", "plain"),
    ],
)
def test_hosts_that_everybody_knows_need_no_setting(url: str, kind: str) -> None:
    assert connect(url).kind == kind


def test_another_host_is_known_by_the_persons_own_settings() -> None:
    settings("forges:\n  - host: git.example.com\n    kind: gitea\n    api: https://api.example.com/v1\n")
    assert connect("git@git.example.com:acme/brain.git").kind == "gitea"


@pytest.mark.parametrize(
    "entry",
    ["- host: h\n  kind: svn", "- kind: github", "- host: h\n  kind: gitea\n  token: abc", "nonsense",
     "- host: h\n  kind: gitea\n  token_env: a b"],
)  # fmt: skip
def test_a_setting_that_is_not_understood_is_an_error(entry: str) -> None:
    settings("forges:\n" + "".join(f"  {line}\n" for line in entry.splitlines()))
    with pytest.raises(Damaged, match=r"config\.yaml"):
        connect("https://git.example.com/a/b")


@pytest.mark.parametrize(
    "api", ["http://git.example.com/api", "ftp://h/x", "https://me:pw@h/x", "https://h/x?token=1", "https:///x"]
)
def test_no_token_is_sent_to_an_odd_address(api: str) -> None:
    with pytest.raises(Refused):
        require_safe(api)


# Where a token goes


def test_the_token_of_a_known_host_goes_to_no_other(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CODEBERG_TOKEN"):
        monkeypatch.setenv(name, TOKEN)
    for kind in ("github", "gitlab", "gitea"):
        settings(f"forges:\n  - host: '{talker.host}'\n    kind: {kind}\n")
        forge = connect(f"{talker.url}/acme/brain.git")
        with contextlib.suppress(Refused):
            forge.open(ASK, ())
        forge.state(ASK.branch, "main", 7)
    assert talker.asked == []


def test_a_redirect_to_another_host_is_not_followed(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    with talking() as other:
        talker.says("GET", 307, Location=f"{other.url}/repos/acme/brain/pulls")
        with pytest.raises(Refused, match="redirects to another host"):
            connect(knows(talker, "github", monkeypatch)).open(ASK, ())
        assert other.asked == []


def test_a_repository_that_moved_on_its_host_is_found(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    talker.says("GET", 301, Location="/repositories/1/pulls")
    talker.says("GET", 200, [])
    talker.says("POST", 307, Location="/repositories/1/pulls")
    talker.says("POST", 201, PULL)
    assert connect(knows(talker, "github", monkeypatch)).open(ASK, ()).number == 7
    assert [one.method for one in talker.asked] == ["GET", "GET", "POST", "POST"]
    assert talker.asked[-1].body == talker.asked[-2].body


@pytest.mark.parametrize("kind", ["github", "gitea"])
def test_the_token_is_in_one_header_and_in_no_message(
    talker: Talker, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    talker.says("GET", 401, {"message": f"Bad credentials: {TOKEN}"})
    forge = connect(knows(talker, kind, monkeypatch))
    with pytest.raises(Refused) as caught:
        forge.open(ASK, ())
    assert TOKEN not in f"{caught.value.message}{caught.value.hint}{caught.value!r}{caught.value.__dict__}{forge!r}"
    assert "ACME_TOKEN" in caught.value.message
    (asked,) = talker.asked
    assert [name for name, value in asked.headers.items() if TOKEN in value] == ["Authorization"]
    assert TOKEN not in asked.path


def test_the_client_of_github_is_asked_for_the_host_of_the_remote(tmp_path: Path, talker: Talker) -> None:
    gh = tmp_path / "programs" / "gh"
    gh.write_text(f"#!/bin/sh\necho \"$@\" > '{tmp_path}/called'\necho {TOKEN}\n", encoding="utf-8")
    settings(f"forges:\n  - host: '{talker.host}'\n    kind: github\n")
    talker.says("GET", 200, [])
    talker.says("POST", 201, PULL)
    assert connect(f"{talker.url}/acme/brain").open(ASK, ()).number == 7
    assert (tmp_path / "called").read_text(encoding="utf-8").split() == ["auth", "token", "--hostname", talker.host]
    assert talker.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"


# What errors mean


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "words"),
    [
        (401, {}, {"message": "Bad credentials"}, Refused, "has expired, or was revoked"),
        (403, {"X_RateLimit_Remaining": "0"}, {"message": "API rate limit exceeded"}, Offline, "rate limit"),
        (403, {"Retry_After": "60"}, {"message": "slow down"}, Offline, "for 60 s"),
        (403, {"X_GitHub_SSO": "required; url=https://x"}, {"message": "SAML"}, Refused, "single sign-on"),
        (403, {}, {"message": "Resource not accessible\x1b[31m by token"}, Refused, "Resource not accessible"),
        (404, {}, {"message": "Not Found"}, Refused, "shows no such repository"),
        (422, {}, {"message": "Validation Failed", "errors": [{"message": "base is bad"}]}, Refused, "base is bad"),
        (429, {}, {}, Offline, "rate limit"),
        (500, {}, b"<html>", Offline, "in trouble itself"),
        (200, {}, b"<html>log in", Offline, "no API"),
        (200, {}, b"[" * 100000, Offline, "no API"),
    ],
)
def test_an_error_is_told_in_a_sentence(
    talker: Talker,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    headers: dict[str, str],
    body: object,
    kind: type[BrainError],
    words: str,
) -> None:
    talker.says("GET", 200, [])
    talker.says("POST", status, body, **headers)
    with pytest.raises(kind, match=words) as caught:
        connect(knows(talker, "github", monkeypatch)).open(ASK, ())
    assert "\x1b" not in caught.value.message


def test_a_host_that_is_not_there_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Talker(f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(Offline, match="was not reached"):
        connect(knows(host, "github", monkeypatch)).open(ASK, ())


def test_an_answer_without_an_end_is_cut(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    talker.says("GET", 200, b" " * (3 << 20))
    with pytest.raises(Offline, match="end of its answer"):
        connect(knows(talker, "github", monkeypatch)).open(ASK, ())


# One request a branch


def test_a_request_that_is_open_is_found_and_not_opened_twice(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    talker.says("GET", 200, [{**PULL, "number": 1, "head": {"ref": "other"}}, {**PULL, "head": {"ref": ASK.branch}}])
    found = connect(knows(talker, "github", monkeypatch)).open(ASK, ())
    assert (found.number, found.existed) == (7, True)
    assert [one.method for one in talker.asked] == ["GET"]


def test_one_that_somebody_opens_at_the_same_moment_is_found(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    talker.says("GET", 200, [])
    talker.says("POST", 422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]})
    talker.says("GET", 200, [{**PULL, "head": {"ref": ASK.branch}}])
    assert connect(knows(talker, "github", monkeypatch)).open(ASK, ()).existed


@pytest.mark.parametrize(
    ("row", "state"),
    [
        ({"state": "open", "merged": False}, "open"),
        ({"state": "closed", "merged": True}, "merged"),
        ({"state": "closed", "merged_at": "2026-07-01T00:00:00Z"}, "merged"),
        ({"state": "closed", "merged": False, "merged_at": None}, "closed"),
        ({}, None),
    ],
)
def test_what_became_of_a_request_is_told_by_the_host(
    talker: Talker, monkeypatch: pytest.MonkeyPatch, row: dict[str, object], state: str | None
) -> None:
    for kind in ("github", "gitea"):
        talker.says("GET", 200, row)
        assert connect(knows(talker, kind, monkeypatch)).state(ASK.branch, "main", 7) == state


# GitLab, and pages that a remote names


def test_gitlab_opens_by_the_push_and_names_the_page(talker: Talker) -> None:
    settings(f"forges:\n  - host: '{talker.host}'\n    kind: gitlab\n")
    forge = connect(f"{talker.url}/acme/team/brain.git")
    given = forge.pushing(Ask(ASK.branch, "main", "A title", "b", "one line", draft=True))
    assert given.opens
    assert given.options == (
        "merge_request.create", "merge_request.target=main", "merge_request.title=Draft: A title",
        "merge_request.description=one line",
    )  # fmt: skip
    said = ("View merge request for notes/x:", f"{talker.url}/acme/team/brain/-/merge_requests/12")
    assert forge.open(ASK, said).number == 12
    evil = ("https://evil.example/acme/team/brain/-/merge_requests/12",)
    found = forge.open(ASK, evil)
    assert found.manual
    assert str(found.url).startswith(f"{talker.url}/acme/team/brain/-/merge_requests/new?")
    assert talker.asked == []


def test_gitlab_is_asked_in_its_own_words(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    forge = connect(knows(talker, "gitlab", monkeypatch).replace("/brain", "/team/brain"))
    talker.says("GET", 200, [{"source_branch": ASK.branch, "state": "closed", "iid": 3}])
    assert forge.state(ASK.branch, "main", 3) == "closed"
    assert talker.asked[0].path.startswith("/api/v4/projects/acme%2Fteam%2Fbrain/merge_requests?")
    assert talker.asked[0].headers["Private-Token"] == TOKEN


def test_only_a_page_of_the_remotes_own_host_is_shown() -> None:
    place = Place("https", "git.example.com", "a/b")
    said = ("see https://evil.example/x", "or https://git.example.com.evil.example/y", "https://git.example.com/a/b/z")
    assert url_in(said, place) == "https://git.example.com/a/b/z"
    assert url_in(said[:2], place) is None
