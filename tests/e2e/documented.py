"""The lines and blocks of docs/clients.md, so that what is tested is what stands there."""

from __future__ import annotations

import re
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Every fenced block of the page, with its language."""
    return _BLOCK.findall(CLIENTS.read_text(encoding="utf-8"))


def block(language: str, holding: str) -> str:
    """The one block of a language that holds a text."""
    (found,) = [text for kind, text in blocks() if kind == language and holding in text]
    return found


def line(command: str) -> str:
    """A command that stands on the page, alone on its line or before a comment; fails where it does not."""
    shown = [one for kind, text in blocks() if not kind for one in text.splitlines()]
    (found,) = {one for one in shown if re.split(r"\s+#", one)[0] == command}
    return found
