"""`brain review pr` as people run it: against a real git server by http, with hosts of each kind."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth import userconfig
from commonwealth.flows import setup, syncing
from commonwealth.flows.brains import open_brain
from commonwealth.model import Note, Provenance
from commonwealth.notes import naming, store
from tests.repo.receiving import listen, options, refs, takes_agit
from tests.repo.servers import Site, http_site

from .conftest import Done
from .forges import Talker, talking

NOW = "2026-07-01T10:00:00Z"
TOKEN = "tok" + "en-of-this-test-7c1e0x4tz"
PULL = {"html_url": "https://git.example.com/acme/brain/pull/7", "number": 7, "state": "open"}
PlainGit = Callable[..., str]


@dataclass
class Person:
    """Alice with a brain that is published by http, and a way to call `brain` in it."""

    root: Path
    bare: Path
    site: Site
    run: Callable[..., Done]

    def staged(self, title: str = "Retries are safe") -> str:
        note_id = naming.new_id(title, NOW, naming.short_id(title.encode()))
        note = Note(id=note_id, kind="memory", title=title, created_at=NOW, provenance=Provenance(session="s-1"))
        store.stage(self.root, note)
        return note_id

    def says(self, *args: str, code: int = 0) -> dict[str, object]:
        done = self.run(*args, "--json", "--brain", str(self.root))
        assert done.returncode == code, done.stdout.decode() + done.stderr.decode()
        found = json.loads(done.stdout)
        assert isinstance(found, dict)
        return found

    def host(self, kind: str, *more: str) -> None:
        entry = [f"host: '{self.site.url.removeprefix('http://')}'", f"kind: {kind}", *more]
        place = userconfig.place()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("forges:\n  - " + "\n    ".join(entry) + "\n", encoding="utf-8")


@pytest.fixture
def alice(
    tmp_path: Path, git: PlainGit, brain: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Person]:
    for name in list(os.environ):
        if name.endswith("_TOKEN"):
            monkeypatch.delenv(name)
    bare = tmp_path / "served" / "acme" / "brain.git"
    bare.mkdir(parents=True)
    git(bare, "init", "-q", "--bare", "-b", "main")
    with http_site(tmp_path / "served") as site:
        root = tmp_path / "brain"
        setup.init(root, name="acme", remote=f"{site.url}/acme/brain.git", cwd=str(tmp_path), now=NOW)
        assert syncing.sync(open_brain(root)).state in ("published", "unchanged")
        yield Person(root, bare, site, brain)


@pytest.fixture
def talker() -> Iterator[Talker]:
    with talking() as made:
        yield made


def first_request(said: dict[str, object]) -> dict[str, object]:
    requests = said["requests"]
    assert isinstance(requests, list)
    assert isinstance(requests[0], dict)
    return requests[0]


def test_a_token_opens_the_request_and_is_nowhere_afterwards(
    alice: Person, talker: Talker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alice.host("github", f"api: '{talker.url}'", "token_env: ACME_TOKEN")
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    talker.says("GET", 200, [])
    talker.says("POST", 401, {"message": f"{TOKEN} is bad"})
    one = alice.staged()
    said = alice.says("review", "pr", one, code=1)
    assert "has expired, or was revoked" in str(said["reason"])
    assert "is on the remote" in str(said["reason"])
    talker.says("GET", 200, [])
    talker.says("POST", 201, PULL)
    said = alice.says("review", "pr", one)
    assert first_request(said)["url"] == PULL["html_url"]
    assert alice.says("review", "pr", one)["state"] == "unchanged"
    assert json.loads(talker.asked[-1].body)["title"] == "Note: Retries are safe"
    found = [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert found == []
    for folder in (alice.root / ".git", alice.bare):
        command = ["git", "--git-dir", str(folder), "cat-file", "--batch", "--batch-all-objects"]
        assert TOKEN.encode() not in subprocess.run(command, capture_output=True, check=True).stdout
    assert not any(TOKEN in line for line in alice.site.authorizations)


def test_gitea_takes_a_push_to_refs_for_and_names_the_page(alice: Person, git: PlainGit) -> None:
    log = takes_agit(alice.bare, f"{alice.site.url}/acme/brain")
    alice.host("gitea")
    one, two = alice.staged(), alice.staged("Two")
    said = alice.says("review", "pr", one)
    request = first_request(said)
    assert request["url"] == f"{alice.site.url}/acme/brain/pulls/7"
    assert request["number"] == 7
    assert refs(log) == ["refs/for/main"]
    topic, title, description = options(log)
    assert topic.startswith("topic=notes-alice-")
    assert title == "title=Note: Retries are safe"
    assert description == f"description=1 note to become canon: `memory/2026-07/{one}.md`"
    assert git(alice.bare, "for-each-ref", "refs/heads/notes") == ""
    assert alice.says("review", "pr", two, "--add-to", "7")["state"] == "staged"
    head = f"refs/pull/{topic.removeprefix('topic=')}/head"
    assert len(git(alice.bare, "diff", "--name-only", "main", head).split()) == 2
    git(alice.bare, "update-ref", "refs/heads/main", head)
    said = alice.says("sync")
    items = said["items"]
    assert isinstance(items, list)
    assert {item["id"] for item in items if item["state"] == "merged"} == {one, two}
    assert alice.says("review", "list")["total"] == 0


def test_gitlab_takes_push_options_and_names_the_page(alice: Person) -> None:
    url = f"{alice.site.url}/acme/brain/-/merge_requests/3"
    log = listen(alice.bare, then=f"echo 'View merge request for it:' >&2; echo '  {url}' >&2")
    alice.host("gitlab")
    said = alice.says("review", "pr", alice.staged(), "--draft")
    assert first_request(said)["url"] == url
    assert options(log)[:2] == ["merge_request.create", "merge_request.target=main"]
    assert options(log)[2] == "merge_request.title=Draft: Note: Retries are safe"


def test_an_unknown_host_gets_the_branch_and_the_person_the_text(alice: Person) -> None:
    page = f"{alice.site.url}/acme/brain/compare/notes"
    listen(alice.bare, then=f"echo 'Open it here: {page}' >&2")
    one = alice.staged()
    done = alice.run("review", "pr", one, "--brain", str(alice.root))
    assert done.returncode == 0, done.stderr
    out = done.stdout.decode()
    assert "into main" in out
    assert "    Retries are safe" in out
    assert page in out + done.stderr.decode()
    found = alice.says("review", "list")["candidates"]
    assert isinstance(found, list)
    assert found[0]["request"]["url"] == page
    requests = alice.says("status")["requests"]
    assert isinstance(requests, list)
    assert requests[0]["ids"] == [one]
    assert page in alice.run("review", "list", "--brain", str(alice.root)).stdout.decode()


def test_a_brains_own_config_names_no_host(alice: Person, talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    config = alice.root / ".commonwealth/config.yaml"
    host = alice.site.url.removeprefix("http://")
    entry = f"forges:\n  - host: '{host}'\n    kind: github\n    api: '{talker.url}'\n    token_env: ACME_TOKEN\n"
    config.write_text(config.read_text(encoding="utf-8") + entry, encoding="utf-8")
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    assert first_request(alice.says("review", "pr", alice.staged()))["done"] == "manual"
    assert talker.asked == []


@pytest.mark.parametrize("point", ["push-before", "push-accepted"])
def test_a_call_that_is_killed_is_finished_by_the_next(
    alice: Person, talker: Talker, monkeypatch: pytest.MonkeyPatch, git: PlainGit, point: str
) -> None:
    alice.host("github", f"api: '{talker.url}'", "token_env: ACME_TOKEN")
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    one = alice.staged()
    killed = alice.run("review", "pr", one, "--brain", str(alice.root), env={"COMMONWEALTH_FAULT": f"{point}=kill"})
    assert killed.returncode == -9
    assert alice.says("review", "list")["total"] == 1
    talker.says("POST", 201, PULL)
    assert first_request(alice.says("review", "pr", one))["url"] == PULL["html_url"]
    names = git(alice.bare, "for-each-ref", "--format=%(refname)", "refs/heads/notes").split()
    assert len(names) == 1
    assert git(alice.bare, "rev-list", "--count", f"main..{names[0]}").strip() == "1"


@pytest.mark.parametrize("args", [(), ("--all", "x")])
def test_a_call_that_names_nothing_or_both_is_wrong(alice: Person, args: tuple[str, ...]) -> None:
    assert alice.run("review", "pr", *args, "--brain", str(alice.root)).returncode == 2
