"""A candidate in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from commonwealth.errors import Refused, Usage
from commonwealth.flows import review
from commonwealth.flows.brains import Brain
from commonwealth.model import Receipt

if TYPE_CHECKING:
    from commonwealth.flows.review import Waiting


def edit(brain: Brain, one: Waiting) -> Receipt:
    """Let the person edit the file of a candidate, and say what it is then.

    Raises Usage where no editor is set, Refused where it fails, BadNote where the file is no note any more.
    """
    command = _editor()
    place = os.path.join(brain.root, one.path)
    try:
        code = subprocess.run([*command, place], check=False).returncode
    except OSError as error:
        raise Usage(
            f"The editor {command[0]!r} cannot be started ({error.strerror}).", hint="Set EDITOR to one that can."
        ) from None
    if code:
        raise Refused(f"The editor ended with {code}; the file is as it left it.", hint=f"It is {place}.")
    return review.checked(brain, one.path)


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
