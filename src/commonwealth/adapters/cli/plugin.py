"""`brain plugin`: what connects coding tools."""

from __future__ import annotations

import os

import click

from commonwealth.adapters import show
from commonwealth.adapters.cli import documents, hosted
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.adapters.terminal import Screen
from commonwealth.errors import Refused
from commonwealth.hosts.plugin import PluginStatus

plugin_command = Group(
    "plugin", help="Connect a coding tool with your brains: hooks, MCP server and skills in one plugin."
)
host_option = click.option("--host", type=click.Choice(list(hosted.HOSTS)), required=True, help="The coding tool.")


@command("install", "brain plugin install --host claude")
@host_option
@with_call
def install_command(call: Call, host: str) -> int:
    """Install the plugin for you in a coding tool, or bring it up to date.

    Only the tool's own command changes its settings, and running this again is safe.
    """
    with call.screen.working(f"Installing the plugin for {host}"):
        status: PluginStatus = hosted.HOSTS[host].install(os.environ)
    return _show(call.screen, [status])


@command("uninstall", "brain plugin uninstall --host codex")
@host_option
@with_call
def uninstall_command(call: Call, host: str) -> int:
    """Take the plugin out of a coding tool. No brain and no rule is touched."""
    status: PluginStatus = hosted.HOSTS[host].uninstall(os.environ)
    if status.version is None and not call.screen.as_json:
        call.screen.line(f"{host}: the plugin is not installed any more")
    else:
        _show(call.screen, [status])
    return 0


@command("status", "brain plugin status", "brain plugin status --host claude --json")
@click.option("--host", type=click.Choice(list(hosted.HOSTS)), help="The coding tool; all of them, if left out.")
@with_call
def status_command(call: Call, host: str | None) -> int:
    """Say whether the plugin works in a coding tool, and what to do where it does not."""
    names = [host] if host else list(hosted.HOSTS)
    return _show(call.screen, [hosted.status(name) for name in names])


def _show(screen: Screen, states: list[PluginStatus]) -> int:
    if screen.as_json:
        screen.document(documents.plugin(states))
    else:
        show.plugin(screen, states)
    return 0 if any(state.works for state in states) else Refused.exit_code


for made in (install_command, status_command, uninstall_command):
    plugin_command.add_command(made)
