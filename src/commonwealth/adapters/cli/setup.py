"""`brain init` and `join`: how a brain comes to a machine."""

from __future__ import annotations

from pathlib import Path

import click

from commonwealth import timeline
from commonwealth.adapters import show
from commonwealth.adapters.cli import documents
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.errors import Usage
from commonwealth.flows import setup


@command(
    "init",
    "brain init ~/acme-brain --name acme",
    "brain init ~/acme-brain --remote git@github.com:acme/brain.git",
)
@click.argument("folder", metavar="DIR")
@click.option("--name", metavar="NAME", help="The brain's name; the folder's, if left out.")
@click.option("--remote", metavar="URL", help="The empty repository that the team will share it through.")
@with_call
def init_command(call: Call, folder: str, name: str | None, remote: str | None) -> int:
    """Make a brain in a folder, and use it for the code repository you are in.

    A repository that is there already becomes a brain with its files as they are. Running this again is safe.
    """
    _refuse_selector(call, "init", "the folder")
    place = Path(call.path(folder))
    done = setup.init(place, name=name, remote=remote, cwd=call.folder, now=timeline.now())
    return _answer(call, done, "Made" if done.fresh else "Found")


@command(
    "join",
    "brain join git@github.com:acme/brain.git",
    "brain join https://github.com/acme/brain ~/acme-brain",
)
@click.argument("url")
@click.argument("folder", metavar="[DIR]", required=False)
@with_call
def join_command(call: Call, url: str, folder: str | None) -> int:
    """Clone a team's brain, and use it for the code repository you are in.

    Without DIR it is kept in your own folder. Nothing in a brain is ever run, and running this again is safe.
    """
    _refuse_selector(call, "join", "the address and the folder")
    place = Path(call.path(folder)) if folder else None
    with call.screen.working(f"Cloning {url}"):
        done = setup.join(url, place, cwd=call.folder)
    return _answer(call, done, "Joined" if done.fresh else "Found")


def _refuse_selector(call: Call, name: str, instead: str) -> None:
    if call.selector is not None:
        raise Usage(f"`brain {name}` takes no `--brain`: it is named by {instead}.", hint=f"brain {name} --help")


def _answer(call: Call, done: setup.Setup, what: str) -> int:
    if call.screen.as_json:
        call.screen.document(documents.setup(done))
    else:
        show.setup(call.screen, done, what)
    return 0
