"""A candidate in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess

from commonwealth.errors import Refused, Usage
from commonwealth.flows import review
from commonwealth.flows.brains import Brain
from commonwealth.model import Receipt


def edit(brain: Brain, path: str) -> Receipt:
    """Let the person edit the file of a candidate, which need not be readable yet, and say what it is then.

    Raises Usage where no editor is set, Refused where it fails or the file is none, BadNote where it is no note then.
    """
    command = _editor()
    place = os.path.join(brain.root, path)
    if os.path.islink(place) or not os.path.isfile(place):
        raise Refused(f"{path} is no file.", hint="Remove it; what it leads to is not opened.")
    try:
        code = subprocess.run([*command, place], check=False).returncode
    except OSError as error:
        raise Usage(
            f"The editor {command[0]!r} cannot be started ({error.strerror}).", hint="Set EDITOR to one that can."
        ) from None
    if code:
        raise Refused(f"The editor ended with {code}; the file is as it left it.", hint=f"It is {place}.")
    return review.checked(brain, path)


def _editor() -> list[str]:
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        command = shlex.split(named)
    except ValueError:
        command = []
    if not command:
        raise Usage(
            "No editor is set.",
            hint="Set EDITOR, or change fields by options: `brain review edit ID --title …` (`--help` lists them).",
        )
    return command
