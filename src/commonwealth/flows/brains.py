"""Which brain a command, a server or a hook works on, and what opening one means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from commonwealth import config, userconfig
from commonwealth.config import BrainConfig
from commonwealth.errors import Damaged, Refused
from commonwealth.repo.address import shown
from commonwealth.repo.common import git_at
from commonwealth.repo.project import Project, normalise_remote, repository_of
from commonwealth.routing import Registry, Rule, is_folder
from commonwealth.safetext import one_line

_MARKER = os.path.join(".git", "commonwealth")
"""A clone that `init` or `join` made holds this folder: a brain that a person chose, not one that came with a
repository."""


_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Brain:
    """One clone of a brain, opened for a session. Holds no connection and no lock.

    `index_at` is where another index than the clone's own lies, for who may write nothing to the clone.
    """

    root: Path
    config: BrainConfig
    cwd: str
    rule: Rule | None = None
    project: Project | None = None
    index_at: Path | None = None

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
        return self.index_at or self.root / "index"

    @property
    def repository(self) -> str | None:
        """The identity of the code repository that the session works in."""
        return self.project.identity if self.project else None


def open_brain(root: Path, *, cwd: str | None = None, rule: Rule | None = None) -> Brain:
    """Open the brain at `root`. Raises Refused where there is none, Damaged where its config is unreadable."""
    root = Path(os.path.realpath(root))
    settings = _config_at(root, rule)
    if not os.path.exists(root / ".git"):
        raise Refused(
            f"{root} has a brain's config but is no git repository of its own.",
            hint="`brain init` makes it one; a clone is made with `brain join URL`.",
        )
    here = cwd or _here()
    project = repository_of(here)
    if project is not None and Path(project.root) == root:
        project = None
    return Brain(root, settings, here, rule, project)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone; the brain is not
        return os.sep


def _config_at(root: Path, rule: Rule | None) -> BrainConfig:
    path = root / config.CONFIG_PATH
    if not os.path.lexists(path):
        raise _no_brain_at(root, rule)
    if os.path.realpath(path) != str(path) or not os.path.isfile(path):
        raise Damaged(f"{path} is a link or no file.", hint="Whoever keeps the brain should make it a plain file.")
    try:
        with open(path, "rb") as file:
            data = file.read(config.CONFIG_LIMIT + 1)
    except OSError as error:
        raise Damaged(f"{path} cannot be read ({error}).", hint="Mend its permissions.") from None
    return config.read_brain_config(data, str(path))


def _no_brain_at(root: Path, rule: Rule | None) -> Damaged | Refused:
    if os.path.isdir(root / _MARKER):
        return Damaged(
            f"The brain at {root} has lost its {config.CONFIG_PATH}.",
            hint=f"`{git_at(root)} restore {config.CONFIG_PATH}` brings it back.",
        )
    if rule is None:
        return Refused(f"There is no brain at {root}.", hint="`brain init DIR` makes one.")
    if rule.remote:
        place = f'"{root}"' if " " in str(root) else str(root)
        return Refused(
            f"The rule for {rule.match} names the brain {rule.brain}, which is not here yet.",
            hint=f"`brain join {shown(rule.remote)} {place}` clones it.",
        )
    return Refused(
        f"The rule for {rule.match} names the brain {rule.brain}, which does not exist at {root}.",
        hint="Join or make it, or change the rule: `brain rules list`.",
    )


def review_mode(brain: Brain) -> str:
    """How notes come into canon here: the stricter of the team's mode and the person's own."""
    own = userconfig.load().review
    modes = config.REVIEW_MODES
    return max(brain.config.review, own if own in modes else modes[0], key=modes.index)


def brain_folder(name: str) -> Path:
    """Where a brain named `name` lies: a path as it is, a bare name below `COMMONWEALTH_HOME/brains`."""
    return Path(os.path.expanduser(name)) if _is_path(name) else config.home() / "brains" / name


def _is_path(name: str) -> bool:
    return os.sep in name or "/" in name or name.startswith(("~", "."))


def _named(name: str, cwd: str, *, beside: bool) -> Path:
    """The folder of the brain that a person named: a path taken from `cwd`, or one of their own brains by its
    name; where `beside`, a folder of that name in `cwd` if they have no such brain."""
    folder = Path(cwd, brain_folder(name))
    local = Path(cwd, name)
    if os.path.lexists(folder / config.CONFIG_PATH):
        return folder
    if beside and os.path.exists(local / config.CONFIG_PATH):
        return local
    return Path(cwd, find(name))


def find(name: str) -> Path:
    """The folder of the brain that a person named: as `brain_folder`, else of one that bears the name in its config.

    The brains are those that the rules name and our own. Raises Refused where several bear it, or where none does
    and there are others.
    """
    folder = brain_folder(name)
    if os.path.lexists(folder / config.CONFIG_PATH) or _is_path(name):
        return folder
    known = dict(_known_brains())
    found = [place for place, title in known.items() if title.casefold() == name.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(map(str, sorted(found)))
        raise Refused(f"Several brains are named {one_line(name, 60)}.", hint=f"Say which by its path: {places}.")
    if known:
        others = ", ".join(sorted({one_line(title, 60) for title in known.values()})[:_SHOWN])
        raise Refused(f"There is no brain {one_line(name, 60)} at {folder}.", hint=f"There are: {others}.")
    return folder


def _known_brains() -> Iterator[tuple[Path, str]]:
    """The brains that the rules name and those in our own folder, with the names that their teams gave them."""
    named = [brain_folder(rule.brain) for rule in config.load_registry().rules if rule.brain]
    own = config.home() / "brains"
    with suppress(OSError):
        named += [own / entry for entry in sorted(os.listdir(own))]
    for folder in {Path(os.path.realpath(folder)) for folder in named}:
        with suppress(Damaged, Refused):
            yield folder, _config_at(folder, None).name


def resolve(selector: str | None, cwd: str, project_dir: str | None = None) -> Brain:
    """The brain for a command: `selector`, `COMMONWEALTH_BRAIN`, a joined brain around `cwd`, then the rule.

    Raises Refused with the next step where none of them gives one.
    """
    named = selector or os.environ.get("COMMONWEALTH_BRAIN")
    if named:
        return open_brain(_named(named, cwd, beside=bool(selector)), cwd=project_dir or cwd)
    around = _around(cwd)
    if around is not None:
        return open_brain(around, cwd=cwd)
    rule, place = _routed(cwd, project_dir)
    if rule is not None and rule.brain is not None:
        return open_brain(brain_folder(rule.brain), cwd=place, rule=rule)
    raise _unrouted(rule, cwd)


def _unrouted(rule: Rule | None, cwd: str) -> Refused:
    if rule is not None:
        return Refused(
            f"The rule for {rule.match} says that no brain is used here.",
            hint="Name one with `--brain`, or change the rule with `brain rules add`.",
        )
    if os.path.exists(Path(cwd, config.CONFIG_PATH)):
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
    here = Path(os.path.realpath(cwd))
    for folder in (here, *here.parents):
        if os.path.isfile(folder / config.CONFIG_PATH) and os.path.isdir(folder / _MARKER):
            return folder
    return None


def told_remote(rule: Rule) -> str | None:
    """The remote of a rule as it may be told: without a password or token that somebody wrote into it."""
    return shown(rule.remote) if rule.remote else None


def rules() -> Registry:
    """The user's rules, each `match` as it is compared. Raises Damaged when the registry cannot be read."""
    found = config.load_registry().rules
    return Registry(tuple(replace(rule, match=as_matched(rule.match)) for rule in found))


def as_matched(text: str) -> str:
    """`text` as a rule matches it: any URL of a repository or an organisation becomes its identity."""
    text = text.strip()
    if is_folder(text) or text == "*":
        return text
    if text.endswith(("/*", "/**")):
        return normalise_remote(text.rstrip("*").rstrip("/")) + "/*"
    return normalise_remote(text)


def rule_for(cwd: str, project_dir: str | None = None) -> Rule | None:
    """The most specific rule of the user's for the repository and folder of a session.

    `project_dir` is the host's own word for the session's project; it serves where `cwd` is gone or outside
    any repository. Raises Damaged when the registry cannot be read.
    """
    return _routed(cwd, project_dir)[0]


def _routed(cwd: str, project_dir: str | None) -> tuple[Rule | None, str]:
    """The rule for a session, and the folder that it was found for."""
    registry = rules()
    if registry.rules:
        for folder in filter(None, (cwd, project_dir)):
            project = repository_of(folder)
            rule = registry.resolve(project.identity if project else None, folder)
            if rule is not None:
                return rule, folder if project or not project_dir else project_dir
            if project is not None:  # a repository that no rule names is none of our business
                break
    return None, cwd


def for_session(cwd: str | None, project_dir: str | None) -> Brain | None:
    """The brain that a hook works on, or None where no rule of the user's names one.

    A brain that merely lies in the session's folder is a proposal and never taken.
    Raises Refused where a named brain is missing, Damaged for an unreadable registry or brain config.
    """
    named = os.environ.get("COMMONWEALTH_BRAIN")
    folder = cwd or project_dir or os.sep
    if named:
        place = folder if repository_of(folder) or not project_dir else project_dir
        return open_brain(_named(named, folder, beside=False), cwd=place)
    rule, place = _routed(folder, project_dir)
    if rule is None or rule.brain is None:
        return None
    return open_brain(brain_folder(rule.brain), cwd=place, rule=rule)
