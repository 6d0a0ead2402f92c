"""What is written into a clone so that a brain's content stays data, also when a person runs git in it."""

from __future__ import annotations

import os

from commonwealth import atomic
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git, decode
from commonwealth.repo.lock import FOLDER

CONFIG = {
    "core.symlinks": "false",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.fsync": "committed",
    "fetch.fsckObjects": "true",
    "submodule.recurse": "false",
}
"""The clone's own git configuration: a link is checked out as a text file, bytes are never converted, commits
survive a power cut, and objects are looked at on arrival."""

_ATTRIBUTES = "* -text -ident -filter !eol -working-tree-encoding !diff"
"""Outranks every `.gitattributes` of the brain: no conversion, no filter, no chosen diff program."""


def harden(git: Git, own: tuple[str, ...] = (), *, adopted: bool = False) -> None:
    """Write our settings into the clone `git`; what is there already stays. Safe to repeat.

    `own` names the folders of this clone that git must ignore. In an `adopted` repository, which holds more
    than notes, the person's own handling of links and line ends is left alone.
    """
    folder = git.common_dir
    os.makedirs(os.path.join(git.git_dir, FOLDER), exist_ok=True)
    _add_lines(os.path.join(folder, "info", "exclude"), [f"/{name}/" for name in own])
    if adopted:
        return
    _add_lines(os.path.join(folder, "info", "attributes"), [_ATTRIBUTES])
    listed = decode(git.run("config", "--local", "-z", "--list"))
    present = dict(entry.partition("\n")[::2] for entry in listed.split("\0"))
    for name, value in CONFIG.items():
        if present.get(name.lower()) != value:
            git.run("config", "--local", name, value)


def _add_lines(path: str, lines: list[str]) -> None:
    text = read_text(path) or ""
    missing = [line for line in lines if line not in text.splitlines()]
    if missing:
        if text and not text.endswith("\n"):
            text += "\n"
        atomic.replace(path, (text + "".join(f"{line}\n" for line in missing)).encode("utf-8", "surrogateescape"))
