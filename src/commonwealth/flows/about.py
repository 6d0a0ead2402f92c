"""What a session is about, as its start can tell: branch, changed files, the folder it stands in, own open work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from commonwealth.flows.brains import Brain
from commonwealth.model import Note
from commonwealth.repo import changed_here

FILES = 40
"""So many changed files are looked at."""

_USUAL = frozenset(
    [
        "fix",
        "fixes",
        "bugfix",
        "hotfix",
        "feat",
        "feature",
        "features",
        "chore",
        "refactor",
        "docs",
        "doc",
        "test",
        "tests",
        "ci",
        "build",
        "perf",
        "style",
        "wip",
        "release",
        "dev",
        "develop",
        "task",
        "story",
        "issue",
        "users",
        "user",
        "topic",
        "patch",
        "try",
        "spike",
        "draft",
        "experiment",
        "branch",
        "main",
        "master",
    ]
)
_SIGNS = re.compile(r"[/_.\s-]+")


class About(NamedTuple):
    """`words` says it in words: of the branch, and of the titles of own work; `files` are changed or named by own work,
    by path from the root; `folder` is the sub-folder that the session stands in, empty at the root."""

    words: str = ""
    files: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    folder: str = ""

    @property
    def focused(self) -> bool:
        """Whether anything says what the session is about, beyond its repository."""
        return bool(self.words or self.files or self.components or self.folder)


def about(brain: Brain, changed: Iterable[str], own: Iterable[Note]) -> About:
    """What the session of `brain` is about, with the files that it has changed and the person's open work here."""
    project = brain.project
    if project is None:
        return About()
    mine = list(own)
    said = [branch_words(project.branch) if not changed_here.is_default(project, project.branch) else ""]
    said += [f"{note.title} {note.summary or ''}" for note in mine]
    files = [*changed, *(path for note in mine for path in note.files)]
    components = [name for note in mine for name in note.components]
    return About(
        " ".join(filter(None, said)), tuple(dict.fromkeys(files))[:FILES], tuple(dict.fromkeys(components)),
        _folder(brain.cwd, project.root),
    )  # fmt: skip


def branch_words(branch: str | None) -> str:
    """What the name of a branch says, without the usual first words; keys such as PAY-1842 stay whole."""
    if not branch:
        return ""
    keys = re.findall(r"(?i)\b[a-z]{2,10}-\d{1,7}\b", branch)
    words = [word for word in _SIGNS.split(branch) if word.lower() not in _USUAL and not word.isdecimal()]
    return " ".join([*(key.upper() for key in keys), *words])


def _folder(cwd: str, root: str) -> str:
    inside = os.path.relpath(os.path.realpath(cwd), root).replace(os.sep, "/")
    return "" if inside == "." or inside.startswith("..") else inside
