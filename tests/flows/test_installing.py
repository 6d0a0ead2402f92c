"""What a CI installs is said by its place: nothing that is written there resolves to a name that is somebody else's."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from commonwealth.errors import Refused, Usage
from commonwealth.flows import checkfiles, installing
from commonwealth.flows.brains import Brain

COMMIT = "4f8c2ab" * 5 + "4f8c2"
URL = "https://git.example.com/acme/commonwealth.git"
SOURCE = f"git+{URL}@{COMMIT}"
ROOT = Path(__file__).resolve().parents[2]


def installed(monkeypatch: pytest.MonkeyPatch, record: object) -> None:
    """This copy was installed so, as the installer writes it down."""
    text = record if isinstance(record, str) or record is None else json.dumps(record)
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))


@pytest.mark.parametrize("name", list(checkfiles.PLACES))
@pytest.mark.parametrize(
    "given",
    [
        SOURCE,
        "git+ssh://git@git.example.com/acme/commonwealth.git@v1.0",
        "git+https://git.example.com/acme/mono.git@v1.0#subdirectory=tools/commonwealth",
        "https://files.example.com/commonwealth-1.0-py3-none-any.whl#sha256=" + "ab" * 32,
        "./tools/commonwealth-1.0-py3-none-any.whl",
    ],
)
def test_a_place_that_is_said_is_what_the_ci_installs(brain: Brain, name: str, given: str) -> None:
    text = checkfiles.text(brain, name, given)
    commands = re.findall(r"pip install[^\n]*", text)
    assert commands == [f'pip install --quiet "{given}"']
    assert yaml.safe_load(text)


@pytest.mark.parametrize(
    "given",
    [
        "commonwealth", "commonwealth==0.1.0", "acme-commonwealth==1", "commonwealth @ https://x.example/y.whl", "",
        "git+https://git.example.com/acme/commonwealth.git", "git+http://git.example.com/a.git@v1", "http://x/y.whl",
        "https://files.example.com/commonwealth", "git+file:///home/alice/commonwealth@v1", "../x.whl", "./../x.whl",
        "/x.whl", "--index-url=https://x.example/", "git+https://t:secret@git.example.com/a.git@v1",
        "git+https://token@git.example.com/a.git@v1", 'git+https://x.example/a.git@v1" && true "',
        "git+https://x.example/a.git@${{secrets.A}}", "git+https://x.example/$HOME/a.git@v1", "git+https://x.example/a@`id`",
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused_and_no_file_written(brain: Brain, given: str) -> None:
    for name, path in checkfiles.PLACES.items():
        with pytest.raises(Usage, match="--install"):
            checkfiles.write(brain, name, given)
        assert not (brain.root / path).exists()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"url": URL, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, SOURCE),
        (
            {"url": "https://x.example/m.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}, "subdirectory": "a/b"},
            f"git+https://x.example/m.git@{COMMIT}#subdirectory=a/b",
        ),
        (
            {"url": "https://x.example/c.whl", "archive_info": {"hashes": {"sha256": "ab" * 32}}},
            f"https://x.example/c.whl#sha256={'ab' * 32}",
        ),
    ],
)  # fmt: skip
def test_it_is_derived_from_how_this_copy_was_installed(
    monkeypatch: pytest.MonkeyPatch, record: object, expected: str
) -> None:
    installed(monkeypatch, record)
    assert installing.source(None) == expected


@pytest.mark.parametrize(
    "record",
    [
        None, "not json", [], {}, {"url": 3},
        {"url": "file:///home/alice/commonwealth", "dir_info": {"editable": True}},
        {"url": "file:///home/alice/commonwealth", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
        {"url": "https://x.example/c.git", "vcs_info": {"vcs": "hg", "commit_id": COMMIT}},
        {"url": "https://token@x.example/c.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
    ],
)  # fmt: skip
def test_a_copy_that_does_not_say_where_it_is_from_refuses_with_what_to_pass(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, record: object
) -> None:
    installed(monkeypatch, record)
    with pytest.raises(Refused) as refused:
        checkfiles.write(brain, "github")
    assert "--install 'git+https://" in (refused.value.hint or "")
    assert not (brain.root / checkfiles.PLACES["github"]).exists()


def test_nothing_here_tells_anybody_to_install_a_bare_name() -> None:
    bare = re.compile(
        r"(?:pip3?|pipx|uv|uvx|pip-run)\b[^\n`]*?\b(?:install|add|run|uvx)\b[^\n`]*?[\s\"']commonwealth(?:[=<>~\[\s\"'`]|$)"
        r"|\buvx\s+(?:--from\s+)?commonwealth\b"
    )
    assert bare.search('python -m pip install --quiet "commonwealth==1.0"')
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "plugin").rglob("*")]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.md")]
    for file in files:
        if file.is_file():
            assert not bare.search(file.read_text(encoding="utf-8", errors="replace")), file
