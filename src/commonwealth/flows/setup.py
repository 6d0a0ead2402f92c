"""How a brain comes to a machine, and the rules that say which repository uses which brain."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from commonwealth import config
from commonwealth.config import CONFIG_PATH, OWN_FOLDERS, Rule
from commonwealth.errors import BrainError, Refused, Usage
from commonwealth.flows import brains, identity, indexing
from commonwealth.flows.brains import Brain
from commonwealth.notes.naming import slug
from commonwealth.repo import clone
from commonwealth.repo.git import Git
from commonwealth.repo.project import normalise_remote, repository_of
from commonwealth.safetext import one_line

_LOOK_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Setup:
    """What `init` or `join` did: the brain, whether it is new here, and the rule that leads to it."""

    brain: Brain
    fresh: bool
    rule: Rule | None
    rule_added: bool
    warnings: tuple[str, ...] = ()


def init(folder: Path, *, name: str | None, remote: str | None, cwd: str, now: str) -> Setup:
    """Make a brain in `folder`, or adopt the repository whose root it is. Safe to repeat.

    Raises Refused where the folder is part of another repository or holds other files, and where `remote` holds
    a brain already.
    """
    root = Path(os.path.realpath(folder))
    warnings = _look_at(remote) if remote and not (root / CONFIG_PATH).exists() else ()
    name = name or root.name
    made = clone.init(
        root,
        _scaffold(name),
        author=identity.committer(_existing(root)),
        now=now,
        remote=remote,
        own=OWN_FOLDERS,
        message=f"Start the brain {one_line(name, 60)}",
    )
    brain = brains.open_brain(root, cwd=cwd)
    indexing.ensure(brain)
    rule, added = _map(brain, remote, cwd)
    return Setup(brain, made.fresh, rule, added, (*warnings, *brain.config.warnings))


def _existing(folder: Path) -> Path:
    """The nearest folder that exists, for asking git who the person is."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _look_at(remote: str) -> tuple[str, ...]:
    """Refuse a remote that is not empty: two histories with no common commit never meet."""
    try:
        found = Git(os.getcwd()).run("ls-remote", "--heads", "--", remote, timeout=_LOOK_SECONDS)
    except BrainError as error:
        return (f"the remote could not be looked at ({error.message.rstrip('.')})",)
    if found.strip():
        raise Refused(
            f"The remote {one_line(remote)} is not empty.", hint=f"`brain join {one_line(remote)}` clones it."
        )
    return ()


def _scaffold(name: str) -> dict[str, bytes]:
    settings = yaml.safe_dump({"name": name}, allow_unicode=True).strip()
    return {
        CONFIG_PATH: _CONFIG.format(settings=settings, key=os.urandom(16).hex()).encode(),
        ".gitattributes": _ATTRIBUTES.encode(),
        "README.md": _README.format(name=one_line(name, 80)).encode(),
    }


_CONFIG = """\
schema: 1
{settings}
key: {key}  # makes people's ids out of their addresses; no secret
review: auto  # auto | queue | pull-request
"""
_ATTRIBUTES = """\
*.md -text merge=commonwealth
COMMONWEALTH.md merge=union
INDEX.md merge=union
"""
_README = """\
# {name}

The memory of our engineering team: one fact a file, written by `brain` and by hand. Start at
[COMMONWEALTH.md](COMMONWEALTH.md). To use it: `brain join` with this repository's address.
"""


def join(url: str, folder: Path | None, *, cwd: str) -> Setup:
    """Clone the brain at `url` and map this code repository to it. Safe to repeat.

    Raises Refused for a repository that is no brain, or one that tracks what belongs to one clone; Offline.
    """
    target = folder or config.home() / "brains" / slug(_last_segment(url))
    made = clone.join(url, target, own=OWN_FOLDERS, folders=tuple(config.DEFAULT_FOLDERS.values()), inspect=_inspect)
    if made.commit is None:
        raise Refused(
            f"The repository at {one_line(url)} is empty; its clone is at {made.root}.",
            hint=f"Make the brain there: `brain init {made.root}`, then `brain sync`.",
        )
    brain = brains.open_brain(Path(made.root), cwd=cwd)
    indexing.ensure(brain)
    rule, added = _map(brain, url, cwd)
    return Setup(brain, made.fresh, rule, added, brain.config.warnings)


def _last_segment(url: str) -> str:
    return url.rstrip("/").removesuffix(".git").replace(":", "/").rsplit("/", 1)[-1]


def _inspect(read: clone.Read) -> Iterable[str]:
    data = read(CONFIG_PATH)
    if data is None:
        raise Refused(
            f"That repository is no brain: it has no {CONFIG_PATH}.",
            hint="Clone it with git and make it one with `brain init`.",
        )
    return config.brain_config(data.decode("utf-8-sig", "replace"), CONFIG_PATH).folders.values()


def _map(brain: Brain, remote: str | None, cwd: str) -> tuple[Rule | None, bool]:
    """The rule that leads from the code repository around `cwd` to `brain`; None outside any."""
    project = repository_of(cwd)
    if project is None or Path(project.root) == brain.root:
        return None, False
    rule = Rule(project.identity, brain_reference(brain.root), remote)
    existing = config.load_registry().resolve(project.identity, None)
    if existing is not None and existing.match == rule.match and existing.brain == rule.brain:
        return existing, False
    return rule, config.save_rule(rule)


def brain_reference(root: Path) -> str:
    """How a rule names the brain at `root`: its bare name below our own folder, else the path."""
    own = Path(os.path.realpath(config.home() / "brains"))
    return root.name if root.parent == own else str(root)


# Rules


def add_rule(match: str, brain: str | None, *, remote: str | None = None) -> tuple[Rule, bool]:
    """Write a rule; (the rule, whether it is new). `brain` None: no brain is used there.

    A `match` may be any URL of the repository. Raises Usage for an empty one, Refused for a brain that is not
    there and has no remote to clone it from.
    """
    if not match.strip():
        raise Usage("A rule needs something to match: a repository, an organisation such as host/acme/*, a folder.")
    if brain is not None and remote is None and not (brains.brain_folder(brain) / CONFIG_PATH).exists():
        raise Refused(
            f"There is no brain at {brains.brain_folder(brain)}.",
            hint="Join or make it first, or give `--remote URL` to have it cloned on first use.",
        )
    if brain is not None and brains.brain_folder(brain).is_dir():
        brain = brain_reference(Path(os.path.realpath(brains.brain_folder(brain))))
    rule = Rule(_match(match.strip()), brain, remote)
    return rule, config.save_rule(rule)


def _match(text: str) -> str:
    """`text` as a rule matches it: a URL becomes a repository's identity; a relative folder its path."""
    if text.startswith("~") or text.endswith("/*") or text == "*":
        return text
    if text.startswith((".", os.sep)):
        return os.path.realpath(text)
    return normalise_remote(text)


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What the rules say for one folder, and whether the brain that they name is there."""

    folder: str
    repository: str | None
    rule: Rule | None
    brain: str | None
    problem: str | None


def check_rules(folder: str) -> RuleCheck:
    """Which rule applies in `folder`. Raises Damaged for an unreadable registry."""
    project = repository_of(folder)
    rule = brains.rule_for(folder)
    named, problem = None, None
    if rule is not None and rule.brain is not None:
        named = str(brains.brain_folder(rule.brain))
        try:
            brains.open_brain(Path(named), cwd=folder, rule=rule)
        except BrainError as error:
            problem = error.message
    return RuleCheck(folder, project.identity if project else None, rule, named, problem)
