"""`brain merge-note`: what git calls for each note that two sides changed; people do not."""

from __future__ import annotations

import os
import sys

import click

from commonwealth.adapters.cli.frame import command
from commonwealth.errors import Refused
from commonwealth.flows import merging
from commonwealth.safetext import clean


@command("merge-note", "brain merge-note %O %A %B %P")
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.argument("path")
def merge_note_command(base: str, ours: str, theirs: str, path: str) -> int:
    """Unite two versions of a note for `git merge`: git's merge driver of a brain's clone.

    The result replaces the file OURS, and one line says so, which the driver waits for. Where nothing was written the
    exit code is not 0, and git merges by lines.
    """
    try:
        warnings = merging.merge_note(os.getcwd(), base, ours, theirs, path)
        answer = None if warnings is None else merging.answer(os.getcwd(), ours)
    except OSError as error:
        raise Refused(f"The versions of {path} cannot be read or written ({error.strerror}).") from None
    for warning in warnings or ():
        sys.stderr.write(f"{clean(warning)}\n")
    if answer is not None:
        sys.stdout.write(f"{answer}\n")
    return Refused.exit_code if warnings is None else 0
