"""The plugin in Codex, through the `codex` command."""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonwealth.errors import Refused
from commonwealth.hosts import plugin
from commonwealth.hosts.plugin import Client, Installed, PluginStatus

_CLIENT = Client("codex", "Codex")
TRUST = "Codex runs the plugin's hooks only once you have trusted them: start `codex` and choose to trust them."


def install(env: Mapping[str, str]) -> PluginStatus:
    """Install the plugin for this user, or bring an installed one up to date. Safe to repeat.

    Raises Refused where Codex is missing or refuses.
    """
    folder = plugin.publish()
    entry = _entry("marketplaces", "plugin", "marketplace", "list", env=env)
    if entry and entry.get("root") != str(folder):
        _CLIENT.run("plugin", "marketplace", "remove", plugin.NAME, env=env)
        entry = None
    if entry is None:
        _CLIENT.run("plugin", "marketplace", "add", str(folder), env=env)
    _CLIENT.run("plugin", "add", plugin.IDENTIFIER, env=env)
    return status(env)


def uninstall(env: Mapping[str, str]) -> PluginStatus:
    """Take plugin and marketplace out of this user's settings. Nothing of a brain is touched.

    Raises Refused where Codex is missing or refuses.
    """
    if _installed(env):
        _CLIENT.run("plugin", "remove", plugin.IDENTIFIER, env=env)
    if _entry("marketplaces", "plugin", "marketplace", "list", env=env):
        _CLIENT.run("plugin", "marketplace", "remove", plugin.NAME, env=env)
    return status(env)


def status(env: Mapping[str, str]) -> PluginStatus:
    """Whether the plugin works here. Raises Refused where Codex is missing or does not answer."""
    installed = _installed(env)
    found = plugin.faults("codex", installed, "brain plugin install --host codex", env)
    return PluginStatus("codex", installed.version if installed else None, found, (TRUST,))


def _installed(env: Mapping[str, str]) -> Installed | None:
    entry = _entry("installed", "plugin", "list", env=env)
    if entry is None:
        return None
    version = entry.get("version")
    return Installed(version if isinstance(version, str) else None, entry.get("enabled") is True, None)


def _entry(key: str, *command: str, env: Mapping[str, str]) -> dict[str, object] | None:
    """Our own entry in the list that a sub-command prints below `key`."""
    printed = _CLIENT.run(*command, "--json", env=env)
    try:
        entries = json.loads(printed)[key]
    except (ValueError, KeyError, TypeError):
        raise Refused(
            f"`codex {' '.join(command)} --json` printed no list.", hint="Is Codex too old? Update it."
        ) from None
    found = (entry for entry in entries if isinstance(entry, dict) and entry.get("name") == plugin.NAME)
    return next(found, None)
