"""The plugin in the real clients: it is valid, it installs by one command, and status tells the truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonwealth.hosts import claude_plugin, codex_plugin, plugin

from .harness.runner import ClaudeBox, CodexBox

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.client


@pytest.fixture
def claude_env(claude_box: ClaudeBox, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of Claude Code's user; our own folder is that user's too."""
    monkeypatch.setenv("COMMONWEALTH_HOME", str(claude_box.home / ".commonwealth"))
    return claude_box.env()


@pytest.fixture
def codex_env(codex_box: CodexBox, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The same for Codex."""
    monkeypatch.setenv("COMMONWEALTH_HOME", str(codex_box.home / ".commonwealth"))
    return codex_box.env()


@pytest.mark.parametrize("folder", [ROOT, ROOT / "plugin"], ids=["marketplace", "plugin"])
def test_claude_finds_nothing_to_say_about_a_manifest(claude_box: ClaudeBox, folder: Path) -> None:
    assert "passed" in claude_box.shell("claude", "plugin", "validate", "--strict", str(folder))


def test_claude_gets_the_plugin_by_one_command_and_loses_it_by_another(claude_env: dict[str, str]) -> None:
    missing = claude_plugin.status(claude_env)
    assert (missing.works, missing.version) == (False, None)
    assert "brain plugin install --host claude" in missing.faults[0].fix

    installed = claude_plugin.install(claude_env)
    assert installed.works, installed.faults
    assert installed.version
    assert claude_plugin.install(claude_env) == installed

    gone = claude_plugin.uninstall(claude_env)
    assert gone.version is None
    assert claude_plugin.uninstall(claude_env) == gone


def test_an_installation_of_other_files_is_told_and_mended(claude_env: dict[str, str]) -> None:
    claude_plugin.install(claude_env)
    listed = json.loads(claude_plugin._CLIENT.run("plugin", "list", "--json", env=claude_env))
    hooks = Path(listed[0]["installPath"], "hooks", "hooks.json")
    hooks.write_text("{}", encoding="utf-8")
    assert "another version" in claude_plugin.status(claude_env).faults[0].what
    assert claude_plugin.install(claude_env).works


def test_a_marketplace_that_moved_is_followed(claude_env: dict[str, str], tmp_path: Path) -> None:
    claude_plugin.install(claude_env)
    plugin.marketplace().rename(tmp_path / "elsewhere")
    claude_plugin._CLIENT.run("plugin", "marketplace", "remove", plugin.NAME, env=claude_env)
    claude_plugin._CLIENT.run("plugin", "marketplace", "add", str(tmp_path / "elsewhere"), env=claude_env)
    assert claude_plugin.install(claude_env).works
    listed = json.loads(claude_plugin._CLIENT.run("plugin", "marketplace", "list", "--json", env=claude_env))
    assert [entry["path"] for entry in listed] == [str(plugin.marketplace())]


def test_a_plugin_that_was_switched_off_is_told_and_switched_on(claude_env: dict[str, str]) -> None:
    claude_plugin.install(claude_env)
    claude_plugin._CLIENT.run("plugin", "disable", plugin.IDENTIFIER, env=claude_env)
    assert "switched off" in claude_plugin.status(claude_env).faults[0].what
    assert claude_plugin.install(claude_env).works


def test_a_plugin_without_its_command_is_told(claude_env: dict[str, str], claude_box: ClaudeBox) -> None:
    (claude_box.bin / "brain").unlink()
    state = claude_plugin.install(claude_env)
    assert [fault.what for fault in state.faults] == ["There is no `brain` on the PATH."]
    result = claude_box.run("hello", ["done"])
    assert result.returncode == 0, result.stderr
    assert len(result.main) == 1


def test_codex_gets_the_plugin_by_one_command_and_loses_it_by_another(codex_env: dict[str, str]) -> None:
    assert codex_plugin.status(codex_env).version is None
    installed = codex_plugin.install(codex_env)
    assert installed.works, installed.faults
    assert installed.notes == (codex_plugin.TRUST,)
    assert codex_plugin.install(codex_env) == installed
    gone = codex_plugin.uninstall(codex_env)
    assert gone.version is None
    assert codex_plugin.uninstall(codex_env) == gone


def test_codex_reads_the_skills_and_starts_a_session(codex_env: dict[str, str], codex_box: CodexBox) -> None:
    codex_plugin.install(codex_env)
    result = codex_box.run("hello", ["done"])
    assert result.returncode == 0, result.stderr
    assert "commonwealth:recall" in result.context(0)
