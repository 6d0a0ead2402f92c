"""`brain mcp` and `hook`: what coding tools start by themselves."""

from __future__ import annotations

import click

from commonwealth.adapters import hooks
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.mcp import server


@command("mcp", "brain mcp", "claude mcp add brain -- brain mcp --brain acme")
@with_call
def mcp_command(call: Call) -> int:
    """Serve a brain to a coding tool over MCP, on standard input and output.

    The tool starts this by itself once the plugin is installed.
    """
    return server.serve(call.selector, call.folder)


@command("hook", "brain hook SessionStart --host claude < event.json")
@click.argument("event")
@click.option("--host", type=click.Choice(list(hooks.HOSTS)), required=True, help="The coding tool that calls.")
@with_call
def hook_command(_call: Call, event: str, host: str) -> int:
    """Answer a lifecycle event of a coding tool: its JSON comes in on standard input, ours goes out.

    The exit code is 0 whatever happens: no session is held up. EVENT is spelled as the tool spells it.
    """
    return hooks.main([event, "--host", host])
