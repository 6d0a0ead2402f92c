"""`brain demo`: a story to watch."""

from __future__ import annotations

from pathlib import Path

import click

from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.wire import Json
from commonwealth.flows import demo


@command("demo", "brain demo", "brain demo --keep")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--keep", is_flag=True, help="Leave the folder with its brains for you to look at.")
@with_call
def demo_command(call: Call, folder: str | None, keep: bool) -> int:
    """Watch three teammates share facts, in a temporary folder.

    No network and no account is used, and nothing of yours is touched.
    """
    story: list[str] = []
    say = story.append if call.screen.as_json else call.screen.line
    place = demo.run(Path(call.path(folder)) if folder else None, say, keep=keep)
    if call.screen.as_json:
        call.screen.document({"story": list[Json](story), "folder": str(place) if keep else None})
    return 0
