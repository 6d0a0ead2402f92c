"""Which brain a command, a server or a hook works on, and what opening one means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commonwealth import config
from commonwealth.config import BrainConfig, Rule
from commonwealth.errors import Damaged, Refused
from commonwealth.repo.project import Project, repository_of

_MARKER = os.path.join(".git", "commonwealth")
"""A clone that `init` or `join` made holds this folder: a brain that a person chose, not one that came with a
repository."""


@dataclass(frozen=True, slots=True)
class Brain:
    """One clone of a brain, opened for a session. Holds no connection and no lock."""

    root: Path
    config: BrainConfig
    cwd: str
    rule: Rule | None = None
    project: Project | None = None

    @property
    def name(self) -> str:
        """The name that the team gave the brain."""
        return self.config.name

    @property
    def folders(self) -> Mapping[str, str]:
        """The folder of each kind of note."""
        return self.config.folders

    @property
    def index_dir(self) -> Path:
        """Where this clone's disposable index lies."""
        return self.root / "index"

    @property
    def repository(self) -> str | None:
        """The identity of the code repository that the session works in."""
        return self.project.identity if self.project else None


def open_brain(root: Path, *, cwd: str | None = None, rule: Rule | None = None) -> Brain:
    """Open the brain at `root`. Raises Refused where there is none, Damaged where its config is unreadable."""
    root = Path(os.path.realpath(root))
    path = root / config.CONFIG_PATH
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_CONFIG_LIMIT)
    except FileNotFoundError:
        raise _no_brain_at(root, rule) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} cannot be read ({error}).", hint="Mend the file or its permissions.") from None
    if not (root / ".git").exists():
        raise Refused(
            f"{root} has a brain's config but is no git repository of its own.",
            hint="`brain init` makes it one; a clone is made with `brain join URL`.",
        )
    here = cwd or os.getcwd()
    project = repository_of(here)
    if project is not None and Path(project.root) == root:
        project = None
    return Brain(root, config.brain_config(text, config.CONFIG_PATH), here, rule, project)


_CONFIG_LIMIT = 64 * 1024


def _no_brain_at(root: Path, rule: Rule | None) -> Refused:
    if rule is None:
        return Refused(f"There is no brain at {root}.", hint="`brain init DIR` makes one.")
    if rule.remote:
        return Refused(
            f"The rule for {rule.match} names the brain {rule.brain}, which is not here yet.",
            hint=f"`brain join {rule.remote}` clones it.",
        )
    return Refused(
        f"The rule for {rule.match} names the brain {rule.brain}, which does not exist at {root}.",
        hint="Join or make it, or change the rule: `brain rules list`.",
    )


def brain_folder(name: str) -> Path:
    """Where a brain named `name` lies: a path as it is, a bare name below `COMMONWEALTH_HOME/brains`."""
    if os.sep in name or "/" in name or name.startswith(("~", ".")):
        return Path(name).expanduser()
    return config.home() / "brains" / name


def resolve(selector: str | None, cwd: str, project_dir: str | None = None) -> Brain:
    """The brain for a command: `selector`, `COMMONWEALTH_BRAIN`, a joined brain around `cwd`, then the rule.

    Raises Refused with the next step where none of them gives one.
    """
    named = selector or os.environ.get("COMMONWEALTH_BRAIN")
    if named:
        folder = Path(cwd, named).expanduser() if selector else brain_folder(named)
        if not (folder / config.CONFIG_PATH).exists():
            folder = brain_folder(named)
        return open_brain(folder, cwd=project_dir or cwd)
    around = _around(cwd)
    if around is not None:
        return open_brain(around, cwd=cwd)
    rule = rule_for(cwd, project_dir)
    if rule is not None and rule.brain is not None:
        return open_brain(brain_folder(rule.brain), cwd=project_dir or cwd, rule=rule)
    raise _unrouted(rule, cwd)


def _unrouted(rule: Rule | None, cwd: str) -> Refused:
    if rule is not None:
        return Refused(
            f"The rule for {rule.match} says that no brain is used here.",
            hint="Name one with `--brain`, or change the rule with `brain rules add`.",
        )
    if (Path(cwd) / config.CONFIG_PATH).exists():
        return Refused(
            f"{cwd} holds a brain that was not joined here.",
            hint="If you trust it, adopt it with `brain init .`.",
        )
    return Refused(
        f"No brain is set up for {cwd}.",
        hint="Make one with `brain init DIR`, clone your team's with `brain join URL`, or map one with "
        "`brain rules add`.",
    )


def _around(cwd: str) -> Path | None:
    here = Path(cwd)
    for folder in (here, *here.parents):
        if (folder / config.CONFIG_PATH).is_file() and (folder / _MARKER).is_dir():
            return folder
    return None


def rule_for(cwd: str, project_dir: str | None = None) -> Rule | None:
    """The most specific rule of the user's for the repository and folder of a session.

    `project_dir` is the host's own word for the session's project; it serves where `cwd` is gone or outside
    any repository. Raises Damaged when the registry cannot be read.
    """
    registry = config.load_registry()
    if not registry.rules:
        return None
    for folder in filter(None, (cwd, project_dir)):
        project = repository_of(folder)
        rule = registry.resolve(project.identity if project else None, folder)
        if rule is not None:
            return rule
    return None


def for_session(cwd: str | None, project_dir: str | None) -> Brain | None:
    """The brain that a hook works on, or None where no rule of the user's names one.

    A brain that merely lies in the session's folder is a proposal and never taken.
    Raises Refused where a named brain is missing, Damaged for an unreadable registry or brain config.
    """
    named = os.environ.get("COMMONWEALTH_BRAIN")
    folder = cwd or project_dir or os.sep
    if named:
        return open_brain(brain_folder(named), cwd=folder)
    rule = rule_for(folder, project_dir)
    if rule is None or rule.brain is None:
        return None
    found = folder if repository_of(folder) or not project_dir else project_dir
    return open_brain(brain_folder(rule.brain), cwd=found, rule=rule)
