"""The plugin's files: what they say to each host, and how they reach the folder that hosts are pointed at."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import commonwealth
from commonwealth import config
from commonwealth.errors import Refused
from commonwealth.hosts import claude_plugin, codex_plugin, plugin

ROOT = Path(__file__).resolve().parent.parent.parent
PLUGIN = ROOT / "plugin"
EVENTS = {
    "claude": ("hooks/hooks.json", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "SessionEnd"]),
    "codex": (
        "hooks/codex.json",
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "PreCompact", "SessionEnd"],
    ),
}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def commands(host: str) -> dict[str, str]:
    """The shell command of each event."""
    events = read(PLUGIN / EVENTS[host][0])["hooks"]
    return {event: groups[0]["hooks"][0]["command"] for event, groups in events.items()}


@pytest.mark.parametrize("folder", [".claude-plugin", ".codex-plugin"])
def test_a_manifest_names_this_version(folder: str) -> None:
    manifest = read(PLUGIN / folder / "plugin.json")
    assert manifest["name"] == "commonwealth"
    assert manifest["version"] == commonwealth.__version__


def test_both_marketplaces_offer_the_plugin_folder() -> None:
    ours, theirs = (
        read(ROOT / ".claude-plugin/marketplace.json"),
        read(ROOT / ".agents/plugins/marketplace.json"),
    )
    assert (ours["name"], theirs["name"]) == (plugin.NAME, plugin.NAME)
    assert ours["plugins"][0]["source"] == theirs["plugins"][0]["source"]["path"] == "./plugin"
    assert f"{ours['plugins'][0]['name']}@{ours['name']}" == plugin.IDENTIFIER


@pytest.mark.parametrize("name", [".mcp.json", "mcp.codex.json"])
def test_the_server_is_named_brain_and_found_on_the_path(name: str) -> None:
    servers = read(PLUGIN / name)["mcpServers"]
    assert list(servers) == ["brain"]
    assert (servers["brain"]["command"], servers["brain"]["args"]) == ("brain", ["mcp"])


@pytest.mark.parametrize("host", EVENTS)
def test_a_host_calls_brain_for_the_events_that_we_answer(host: str) -> None:
    file, events = EVENTS[host]
    hooks = read(PLUGIN / file)["hooks"]
    assert list(hooks) == events
    for event, command in commands(host).items():
        assert f"brain hook {event} --host {host}" in command
        assert "async" not in hooks[event][0]["hooks"][0]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] <= {"claude": 5, "codex": 3}[host]


@pytest.mark.parametrize("host", EVENTS)
@pytest.mark.parametrize("brain", [None, "exit 3", "echo trouble >&2; exit 2", "kill -9 $$"])
def test_a_missing_or_broken_brain_holds_no_session_up(host: str, brain: str | None, tmp_path: Path) -> None:
    if brain:
        (tmp_path / "brain").write_text(f"#!/bin/sh\n{brain}\n", encoding="utf-8")
        (tmp_path / "brain").chmod(0o755)
    for command in commands(host).values():
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=b"{}",
            capture_output=True,
            env={"PATH": str(tmp_path)},
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"")


def test_a_skill_says_when_to_use_it_and_warns_of_secrets() -> None:
    for name in ("recall", "remember", "decide"):
        head, _, body = (PLUGIN / "skills" / name / "SKILL.md").read_text(encoding="utf-8")[4:].partition("\n---\n")
        assert f"name: {name}\n" in head
        assert "description: " in head
        assert "memory_search" in body
        assert name == "recall" or "secret" in body.casefold()


def test_publishing_copies_the_files_and_leaves_them_alone_the_next_time() -> None:
    folder = plugin.publish()
    assert folder == config.home() / "marketplace"
    copy = folder / "plugin" / "hooks" / "hooks.json"
    assert copy.read_bytes() == (PLUGIN / "hooks/hooks.json").read_bytes()
    before = os.stat(copy).st_mtime_ns
    plugin.publish()
    assert os.stat(copy).st_mtime_ns == before


def test_publishing_brings_an_older_copy_up_to_date() -> None:
    folder = plugin.publish()
    (folder / "plugin/hooks/old.json").write_text("{}", encoding="utf-8")
    (folder / "plugin/.mcp.json").write_text("{}", encoding="utf-8")
    assert not plugin.same_files(folder / "plugin")
    plugin.publish()
    assert plugin.same_files(folder / "plugin")
    assert not (folder / "plugin/hooks/old.json").exists()


@pytest.mark.parametrize("module", [claude_plugin, codex_plugin])
def test_a_host_that_is_not_installed_is_named(module: Any, tmp_path: Path) -> None:
    for action in (module.install, module.status, module.uninstall):
        with pytest.raises(Refused, match="is not installed"):
            action({"PATH": str(tmp_path)})


@pytest.mark.parametrize("module", [claude_plugin, codex_plugin])
@pytest.mark.parametrize("script", ["echo no; exit 1", "echo '{}'", "echo", "echo 7", "kill -9 $$"])
def test_a_host_that_answers_nonsense_is_a_sentence(module: Any, script: str, tmp_path: Path) -> None:
    for name in ("claude", "codex"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(Refused):
        module.status({"PATH": str(tmp_path)})
