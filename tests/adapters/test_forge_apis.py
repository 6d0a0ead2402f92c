"""Our questions to hosts are those that the hosts describe: GitHub by its OpenAPI description, Gitea by its client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from commonwealth.adapters.forge import connect
from commonwealth.errors import Refused
from commonwealth.flows.forges import Ask

from .forges import PULLS, Asked, Talker, described, mock, published, talking
from .test_forge import ASK, PULL, knows, settings


@pytest.fixture
def talker() -> Iterator[Talker]:
    with talking() as made:
        yield made


def test_github_as_it_describes_itself_takes_our_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mock(tmp_path) as url:
        settings(f"forges:\n  - host: git.example.com\n    kind: github\n    api: '{url}'\n    token_env: ACME_TOKEN\n")
        monkeypatch.setenv("ACME_TOKEN", "t0ken")
        forge = connect("https://git.example.com/acme/brain.git")
        opened = forge.open(Ask(ASK.branch, "main", "A title", "A body", draft=True), ())
        assert opened.url
        assert opened.number is not None
        assert forge.state(ASK.branch, "main", opened.number) in ("open", "merged", "closed")
        with pytest.raises(Refused, match="422"):
            forge.open(Ask(ASK.branch, 3, "A title", "A body"), ())  # type: ignore[arg-type]
        log = (tmp_path / "prism.log").read_text(encoding="utf-8")
    assert log.count("The request passed the validation rules") >= 3
    assert "Request body property base must be string" in log


def test_every_word_that_github_gets_is_one_that_it_describes(talker: Talker, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = described()["paths"]
    assert isinstance(paths, dict)
    talker.says("GET", 200, [])
    talker.says("POST", 201, PULL)
    forge = connect(knows(talker, "github", monkeypatch))
    forge.open(ASK, ())
    forge.state(ASK.branch, "main", 7)
    find, create, look = talker.asked
    body = paths[PULLS]["post"]["requestBody"]["content"]["application/json"]["schema"]
    sent = json.loads(create.body)
    assert set(sent) <= set(body["properties"])
    assert set(body["required"]) <= set(sent)
    named = {one["name"] for one in paths[PULLS]["get"]["parameters"] if "name" in one}
    assert _query(find) <= named
    assert urlsplit(find.path).path == urlsplit(create.path).path == "/api/v3/repos/acme/brain/pulls"
    assert look.path == "/api/v3/repos/acme/brain/pulls/7"


def test_every_word_that_gitea_gets_is_one_that_its_client_knows(
    talker: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = (published() / "gitea-js/dist/index.d.ts").read_text(encoding="utf-8")
    code = (published() / "gitea-js/dist/index.js").read_text(encoding="utf-8")
    talker.says("GET", 200, [])
    talker.says("POST", 201, PULL)
    forge = connect(knows(talker, "gitea", monkeypatch))
    forge.open(ASK, ())
    forge.state(ASK.branch, "main", 7)
    find, create, look = talker.asked
    for method in ("GET", "POST"):
        assert f"@request {method}:{PULLS}\n" in code
    assert f"@request GET:{PULLS}/{{index}}\n" in code
    assert '"/api/v1"' in code
    assert urlsplit(find.path).path == create.path == "/api/v1/repos/acme/brain/pulls"
    assert look.path == "/api/v1/repos/acme/brain/pulls/7"
    option = re.search(r"interface CreatePullRequestOption \{(.*?)\n\}", types, re.DOTALL)
    listing = r"repoListPullRequests: \(owner: string, repo: string, query\?: \{(.*?)\n        \}"
    query = re.search(listing, types, re.DOTALL)
    assert option is not None
    assert query is not None
    assert set(json.loads(create.body)) <= _members(option[1])
    assert _query(find) <= _members(query[1])
    answer = re.search(r"interface PullRequest \{(.*?)\n\}", types, re.DOTALL)
    assert answer is not None
    assert {"html_url", "number", "state", "merged", "merged_at", "head", "base"} <= _members(answer[1])
    assert "Bearer ${options.token}" in code
    assert create.headers["Authorization"].startswith("Bearer ")


def _members(text: str) -> set[str]:
    return set(re.findall(r"^\s+(\w+)\??:", text, re.MULTILINE))


def _query(asked: Asked) -> set[str]:
    return set(parse_qs(urlsplit(asked.path).query))
