"""The coding tools that the plugin can be installed in, and whether it works there."""

from __future__ import annotations

import os
import shutil
from types import ModuleType

from commonwealth.errors import Damaged, Refused
from commonwealth.hosts import claude_plugin, codex_plugin
from commonwealth.hosts.plugin import Fault, PluginStatus

HOSTS: dict[str, ModuleType] = {"claude": claude_plugin, "codex": codex_plugin}
"""By the name of the tool's own command."""


def present() -> list[str]:
    """The tools that are installed here."""
    return [name for name in HOSTS if shutil.which(name)]


def status(name: str) -> PluginStatus:
    """The plugin's state in one tool; a tool that is missing or does not answer is a fault of the plugin there."""
    try:
        found: PluginStatus = HOSTS[name].status(os.environ)
    except (Refused, Damaged) as error:
        return PluginStatus(name, None, (Fault(error.message, error.hint or ""),))
    return found
