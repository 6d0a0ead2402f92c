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

DRIVER = {
    "merge.commonwealth.name": "notes, united by key and section",
    "merge.commonwealth.driver": (
        "command -v brain >/dev/null && u=$(brain merge-note %O %A %B %P </dev/null) && "
        'h=$(git hash-object --no-filters %A) && [ -n "$h" ] && case "$u" in "united "*"$h "*) ;; *) false;; esac || '
        "{ git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; r=$?; [ $r -lt 128 ] || r=1; exit $r; }"
    ),
    "merge.commonwealth.recursive": "text",
}
"""The merge driver that a brain's `.gitattributes` names for notes. Where `brain` is missing or fails, git merges by
lines, as it would without: nobody's merge is held up. Any program may be called `brain` and exit with 0, so ours is
believed only when it says what it did, in words, and names the very bytes that it has left. (Git takes a `%` in this
line for its own.) Bases of several histories are merged by lines too; a base with markers in it counts as none."""

_ATTRIBUTES = "* -text -ident -filter !eol -working-tree-encoding !diff"
"""Outranks every `.gitattributes` of the brain: no conversion, no filter, no chosen diff program."""


def harden(git: Git, own: tuple[str, ...] = (), *, adopted: bool = False) -> None:
    """Write our settings into the clone `git`; what is there already stays. Safe to repeat.

    `own` names the folders of this clone that git must ignore. In an `adopted` repository, which holds more
    than notes, the person's own handling of links and line ends is left alone; the merge driver is for notes alone.
    """
    folder = git.common_dir
    os.makedirs(os.path.join(git.git_dir, FOLDER), exist_ok=True)
    ignored = [*(f"/{name}/" for name in own), atomic.TEMPORARY_PATTERN]
    _add_lines(os.path.join(folder, "info", "exclude"), ignored)
    if not adopted:
        _add_lines(os.path.join(folder, "info", "attributes"), [_ATTRIBUTES])
    _configure(git, DRIVER if adopted else CONFIG | DRIVER)


def lacking(git: Git) -> tuple[str, ...]:
    """The settings of ours that this clone no longer has; in a repository that is not a brain's alone, the driver's."""
    attributes = (read_text(os.path.join(git.common_dir, "info", "attributes")) or "").splitlines()
    wanted = CONFIG | DRIVER if _ATTRIBUTES in attributes else DRIVER
    present = _configured(git)
    return tuple(name for name, value in wanted.items() if present.get(name.lower()) != value)


def _configured(git: Git) -> dict[str, str]:
    listed = decode(git.run("config", "--local", "-z", "--list"))
    return dict(entry.partition("\n")[::2] for entry in listed.split("\0"))


def _configure(git: Git, wanted: dict[str, str]) -> None:
    present = _configured(git)
    for name, value in wanted.items():
        if present.get(name.lower()) != value:
            git.run("config", "--local", name, value)


def _add_lines(path: str, lines: list[str]) -> None:
    text = read_text(path) or ""
    missing = [line for line in lines if line not in text.splitlines()]
    if missing:
        if text and not text.endswith("\n"):
            text += "\n"
        atomic.replace(path, (text + "".join(f"{line}\n" for line in missing)).encode("utf-8", "surrogateescape"))
