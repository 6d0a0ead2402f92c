"""What git takes for the name of a branch, told without git."""

from __future__ import annotations

import re

_LENGTH = 250
# By the rules of `git check-ref-format --branch`.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-./]|[./]$|^(?:@|HEAD)$")


def branch_name(text: str) -> str:
    """The name of the branch that `text` means: `refs/heads/` and blanks around it are taken off.

    Raises ValueError with one clause where git could have no branch of that name.
    """
    name = text.strip().removeprefix("refs/heads/")
    if not name or len(name.encode("utf-8", "replace")) > _LENGTH or _FORBIDDEN.search(name) or not _is_text(name):
        raise ValueError("git could have no branch of that name")
    return name


def _is_text(name: str) -> bool:
    return name.isprintable() and not any("\ud800" <= char <= "\udfff" for char in name)
