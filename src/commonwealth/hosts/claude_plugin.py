"""The plugin in Claude Code, through the `claude` command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from commonwealth.errors import Refused
from commonwealth.hosts import plugin
from commonwealth.hosts.plugin import Client, Installed, PluginStatus

_CLIENT = Client("claude", "Claude Code")


def install(env: Mapping[str, str]) -> PluginStatus:
    """Install the plugin for this user, or bring an installed one up to date. Safe to repeat.

    Raises Refused where Claude Code is missing or refuses.
    """
    folder = plugin.publish()
    known = {entry.get("name"): entry for entry in _list("plugin", "marketplace", "list", env=env)}
    entry = known.get(plugin.NAME)
    if entry and entry.get("path") != str(folder):
        _CLIENT.run("plugin", "marketplace", "remove", plugin.NAME, env=env)
        entry = None
    if entry is None:
        _CLIENT.run("plugin", "marketplace", "add", str(folder), env=env)
    installed = _installed(env)
    if installed and installed.folder and not plugin.same_files(installed.folder):
        _CLIENT.run("plugin", "uninstall", plugin.IDENTIFIER, env=env)
        installed = None
    if installed is None:
        _CLIENT.run("plugin", "install", plugin.IDENTIFIER, env=env)
    elif not installed.enabled:
        _CLIENT.run("plugin", "enable", plugin.IDENTIFIER, env=env)
    return status(env)


def uninstall(env: Mapping[str, str]) -> PluginStatus:
    """Take plugin and marketplace out of this user's settings. Nothing of a brain is touched.

    Raises Refused where Claude Code is missing or refuses.
    """
    if _installed(env):
        _CLIENT.run("plugin", "uninstall", plugin.IDENTIFIER, env=env)
    if any(entry.get("name") == plugin.NAME for entry in _list("plugin", "marketplace", "list", env=env)):
        _CLIENT.run("plugin", "marketplace", "remove", plugin.NAME, env=env)
    return status(env)


def status(env: Mapping[str, str]) -> PluginStatus:
    """Whether the plugin works here. Raises Refused where Claude Code is missing or does not answer."""
    installed = _installed(env)
    found = plugin.faults("claude", installed, f"claude plugin enable {plugin.IDENTIFIER}", env)
    return PluginStatus("claude", installed.version if installed else None, found)


def _installed(env: Mapping[str, str]) -> Installed | None:
    for entry in _list("plugin", "list", env=env):
        if entry.get("id") == plugin.IDENTIFIER:
            folder, version = entry.get("installPath"), entry.get("version")
            return Installed(
                version if isinstance(version, str) else None,
                entry.get("enabled") is True,
                Path(folder) if isinstance(folder, str) else None,
            )
    return None


def _list(*command: str, env: Mapping[str, str]) -> list[dict[str, object]]:
    printed = _CLIENT.run(*command, "--json", env=env)
    try:
        entries = json.loads(printed)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise Refused(
            f"`claude {' '.join(command)} --json` printed no list.", hint="Is Claude Code too old? Update it."
        )
    return [entry for entry in entries if isinstance(entry, dict)]
