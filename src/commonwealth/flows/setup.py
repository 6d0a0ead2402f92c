"""How a brain comes to a machine, and the rules that say which repository uses which brain."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from commonwealth import config, plainyaml
from commonwealth.config import CONFIG_PATH, OWN_FOLDERS
from commonwealth.curate import secrets
from commonwealth.errors import BrainError, Refused, Usage
from commonwealth.faults import fault
from commonwealth.flows import brains, identity, indexing, syncing
from commonwealth.flows.brains import Brain
from commonwealth.model import Receipt
from commonwealth.notes.naming import slug
from commonwealth.repo import address, clone
from commonwealth.repo.git import Git
from commonwealth.repo.listed import refuse_rewritten
from commonwealth.repo.lock import FileLock
from commonwealth.repo.project import normalise_remote, repository_of
from commonwealth.routing import Rule, is_folder
from commonwealth.safetext import one_line

_LOOK_SECONDS = 20
_RULES_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Setup:
    """What `init` or `join` did: the brain, whether it is new here, and the rule that leads to it."""

    brain: Brain
    fresh: bool
    rule: Rule | None
    rule_added: bool
    warnings: tuple[str, ...] = ()
    published: bool = False


def init(folder: Path, *, name: str | None, remote: str | None, cwd: str, now: str) -> Setup:
    """Make a brain in `folder`, or adopt the repository whose root it is. Safe to repeat.

    Raises Refused where the folder is part of another repository or holds other files, and where `remote` holds
    a brain already.
    """
    root = Path(os.path.realpath(folder))
    remote = address.checked(remote) if remote else None
    _refuse_secrets(name=name, folder=str(root), remote=remote)
    _require_readable(root)
    warnings = _look_at(remote, root) if remote else ()
    name = one_line(name or root.name, 60) or "brain"
    with _told(root):
        made = clone.init(
            root,
            _scaffold(name),
            author=identity.committer(_existing(root)),
            now=now,
            remote=remote,
            own=OWN_FOLDERS,
            message=f"Start the brain {name}",
        )
    done = _set_up(made, remote, cwd, warnings)
    return _published(done) if remote else done


def _refuse_secrets(**said: str | None) -> None:
    """Raise Refused, naming the field and never the value, before anything of what a person said is written."""
    for field, text in said.items():
        for finding in secrets.scan(text or "", field):
            raise Refused(
                f"secret: {finding.where} ({finding.rule})",
                hint="Nothing was written. Leave the secret out; if it is a real one, revoke it where it was issued.",
            )


def _published(done: Setup) -> Setup:
    """Bring a new brain to its remote at once: until then nobody can join it."""
    try:
        receipt = syncing.sync(done.brain, timeout=_LOOK_SECONDS)
    except BrainError as error:
        receipt = Receipt("deferred", reason=error.message)
    if receipt.state in ("published", "unchanged"):
        return replace(done, published=True)
    reason = (receipt.reason or "the remote did not take it").rstrip(".")
    waits = f"nobody can join yet, as the brain is not on its remote ({reason}); `brain sync` tries again"
    return replace(done, warnings=(*done.warnings, waits))


def _require_readable(root: Path) -> None:
    """Raise Damaged before anything is done, where the rules or a brain that is there already cannot be read."""
    config.load_registry()
    if os.path.lexists(root / CONFIG_PATH) and os.path.lexists(root / ".git"):
        brains.open_brain(root, cwd=os.sep)


@contextmanager
def _told(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(
            f"{root} cannot be made or written ({error.strerror or error}).",
            hint="Name a folder that you may write to, on a disk with room.",
        ) from None


def _set_up(made: clone.Clone, remote: str | None, cwd: str, warnings: tuple[str, ...]) -> Setup:
    with _told(Path(made.root)):
        fault("setup-placed")
        brain = brains.open_brain(Path(made.root), cwd=cwd)
        indexing.ensure(brain)
        fault("setup-indexed")
        rule, added, doubts = _map(brain, remote, cwd)
        fault("setup-mapped")
    return Setup(brain, made.fresh, rule, added, (*warnings, *brain.config.warnings, *doubts))


def _existing(folder: Path) -> Path:
    """The nearest folder that exists, for asking git who the person is."""
    return next(place for place in (folder, *folder.parents) if os.path.isdir(place))


def _look_at(remote: str, root: Path) -> tuple[str, ...]:
    """Refuse a remote that is not empty, unless `root` comes from it or is a brain already: two histories with
    no common commit never meet."""
    present = repository_of(root)
    if present is not None and Path(present.root) == root:
        known = present.identity == normalise_remote(remote)
        if known or os.path.exists(root / CONFIG_PATH):
            return ()
    git = Git(_existing(root))
    refuse_rewritten(git, remote)
    try:
        found = git.run("ls-remote", "--heads", "--", remote, timeout=_LOOK_SECONDS)
    except BrainError as error:
        return (f"the remote could not be looked at ({error.message.rstrip('.')})",)
    if found.strip():
        raise Refused(
            f"The remote {one_line(remote)} is not empty.", hint=f"`brain join {one_line(remote)}` clones it."
        )
    return ()


def _scaffold(name: str) -> dict[str, bytes]:
    settings = plainyaml.dumped({"name": name}).strip()
    return {
        CONFIG_PATH: _CONFIG.format(settings=settings, key=os.urandom(16).hex()).encode(),
        ".gitattributes": _ATTRIBUTES.encode(),
        "README.md": _README.format(name=name).encode(),
    }


_CONFIG = """\
schema_version: 1
{settings}
key: {key}  # makes people's ids out of their addresses; no secret
review: auto  # auto | queue | pull-request
"""
_ATTRIBUTES = """\
*.md -text merge=commonwealth
.gitattributes -text
.commonwealth/* -text
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
    url = address.checked(url)
    _refuse_secrets(url=url, folder=str(folder or ""))
    target = folder or config.home() / "brains" / slug(_last_segment(url))
    config.load_registry()
    with _told(target):
        made = _cloned(url, target)
        if made.commit is None and not made.fresh:  # made while nothing was published yet
            made = _cloned(url, target)
    if made.commit is None:
        raise Refused(
            f"The repository at {one_line(url)} is empty: nobody has published a brain there.",
            hint=f"Whoever made the brain runs `brain sync`; to make it: `brain init DIR --remote {one_line(url)}`.",
        )
    return _set_up(made, url, cwd, ())


def _cloned(url: str, target: Path) -> clone.Clone:
    """A clone of `url`; one in which nothing was ever committed is not left behind."""
    folders = tuple(config.DEFAULT_FOLDERS.values())
    made = clone.join(url, target, own=OWN_FOLDERS, folders=folders, inspect=_inspect)
    if made.commit is None and os.listdir(made.root) == [".git"] and not Git(made.root).text("for-each-ref"):
        shutil.rmtree(made.root)
    return made


def _last_segment(url: str) -> str:
    return url.rstrip("/").removesuffix(".git").replace(":", "/").rsplit("/", 1)[-1]


def _inspect(read: clone.Read) -> Iterable[str]:
    data = read(CONFIG_PATH)
    if data is None:
        raise Refused(
            f"That repository is no brain: it has no {CONFIG_PATH}.",
            hint="Clone it with git and make it one with `brain init`.",
        )
    return config.read_brain_config(data, f"{CONFIG_PATH} of the remote").folders.values()


def _map(brain: Brain, remote: str | None, cwd: str) -> tuple[Rule | None, bool, tuple[str, ...]]:
    """The rule that leads from the code repository around `cwd` to `brain` (None outside any), whether it is
    new, and what it changed for that repository."""
    project = repository_of(cwd)
    if project is None or Path(project.root) == brain.root:
        return None, False, ()
    reference = brain_reference(brain.root)
    with _rules_locked():
        before = brains.rules().resolve(project.identity, None)
        if before is None or before.match != project.identity:
            before = None
        elif before.brain == reference and (remote is None or before.remote == remote):
            return before, False, ()
        rule = Rule(project.identity, reference, remote)
        added = config.save_rule(rule)
    if before is None or before.brain == reference:
        return rule, added, ()
    other = f"the brain {before.brain}" if before.brain else "no brain"
    undo = f"brain rules add {project.identity} {before.brain or 'none'}"
    return rule, added, (f"{project.identity} used {other} until now; `{undo}` changes it back.",)


@contextmanager
def _rules_locked() -> Iterator[None]:
    """Nobody else changes a rule meanwhile. Raises Busy."""
    lock = FileLock(str(config.home() / "registry.lock"), "change rules")
    try:
        lock.acquire(_RULES_SECONDS)
    except OSError as error:
        raise Refused(
            f"Rules cannot be changed: {config.home()} cannot be written ({error.strerror or error}).",
            hint="Free some space on that disk, or give yourself the right to write there.",
        ) from None
    try:
        yield
    finally:
        lock.release()


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
    remote = address.checked(remote) if remote else None
    _refuse_secrets(match=match, brain=brain, remote=remote)
    if brain is not None:
        folder = brains.brain_folder(brain) if remote else brains.find(brain)
        if remote is None and not os.path.exists(folder / CONFIG_PATH):
            raise Refused(
                f"There is no brain at {folder}.",
                hint="Join or make it first, or give `--remote URL` to have it cloned on first use.",
            )
        brain = brain_reference(Path(os.path.realpath(folder)))
    rule = Rule(_match(match), brain, remote)
    with _rules_locked():
        return rule, config.save_rule(rule)


def remove_rule(match: str) -> Rule:
    """Take away the rule for `match`, in any spelling of it. Raises Refused when there is none."""
    with _rules_locked():
        kept = config.load_registry().rules
        wanted = (match, _match(match))
        found = next((rule for rule in kept if brains.as_matched(rule.match) in wanted), None)
        return config.remove_rule(found.match if found else match)


def _match(text: str) -> str:
    """`text` as a rule is written: a URL becomes a repository's identity, a folder its real path."""
    text = text.strip()
    if text.startswith("."):
        text = os.path.abspath(text)
    if not is_folder(text) or text.startswith("~") or text.endswith("*"):
        return brains.as_matched(text)
    return os.path.realpath(text)


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
