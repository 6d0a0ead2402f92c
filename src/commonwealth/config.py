"""What is configured where: a brain's committed config, the user's own config, and the registry of rules.

A brain's config is data from a remote: it names folders and thresholds and may only tighten safety. Rules and
everything that could run or reach something live in the user's own folder, `COMMONWEALTH_HOME`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonwealth import atomic, settings
from commonwealth.errors import Damaged, Refused
from commonwealth.routing import Registry, Rule, is_folder, same_match
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.plainyaml import Value

CONFIG_PATH = ".commonwealth/config.yaml"
REVIEW_MODES = ("auto", "queue", "pull-request")
"""From loosest to strictest."""

CAPTURES = ("rules", "model")
"""Who drafts notes from a person's sessions. Only the person says so, never a brain."""

DEFAULT_FOLDERS: Mapping[str, str] = MappingProxyType(
    {"memory": "memory", "decision": "decisions", "work-state": "work-state", "person": "people"}
)
_KIND_OF_FOLDER = {folder: kind for kind, folder in DEFAULT_FOLDERS.items()}
OWN_FOLDERS = ("index", "staging")
"""Folders of one clone, never part of a brain's history."""

DEFAULT_SYNC_SECONDS = 3.0
DEFAULT_START_TOKENS = 1200
DEFAULT_PROMPT_TOKENS = 400
DEFAULT_EDIT_TOKENS = 200

MOMENTS = ("start", "prompt", "edit")
"""When a session is told notes by itself: at its start, at a prompt, before a file is edited."""

_OFF = frozenset(("off", "false", "no", "0"))

CONFIG_LIMIT = 64 << 10
"""Bytes of a brain's config, and of the user's."""
_REGISTRY_LIMIT = 1 << 20


def home() -> Path:
    """The user's folder: working copies, registry, config, logs. `COMMONWEALTH_HOME` or `~/.commonwealth`."""
    configured = os.environ.get("COMMONWEALTH_HOME") or "~/.commonwealth"
    return Path(os.path.expanduser(configured))  # a host's settings file hands `~` on as it is


# A brain's own config


@dataclass(frozen=True, slots=True)
class BrainConfig:
    """The team's settings of one brain (`.commonwealth/config.yaml`); `silent` are the moments at which none of its
    notes are told."""

    name: str = "brain"
    schema: int = 1
    key: str = ""
    review: str = "auto"
    sweeps: str | None = None
    agents: str | None = None
    folders: Mapping[str, str] = field(default_factory=lambda: DEFAULT_FOLDERS)
    silent: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


SCHEMA = 1
_BRAIN_KEYS = {"schema_version", "name", "key", "review", "sweeps", "agents", "folders", "thresholds", "features"}
AGENTS = ("propose", "approve")
"""What coding tools may do with candidates that wait, the stricter first."""


def read_brain_config(data: bytes, where: str) -> BrainConfig:
    """`brain_config` of a file's bytes. Raises Damaged also where they are no UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Damaged(f"{where}, line {line}: unparsable (it is not UTF-8).", hint="Save the file as UTF-8.") from None
    return brain_config(text, where)


def brain_config(text: str, where: str) -> BrainConfig:
    """Read a brain's config. Settings that it may not make are ignored and named in `warnings`.

    Raises Damaged when the text is no mapping of settings, or when the brain's schema is newer than ours.
    """
    data = settings.mapping(text, where, CONFIG_LIMIT)
    warnings = unknown_keys(data, _BRAIN_KEYS, where)
    schema = _schema(data.get("schema_version"), where)
    for key in ("name", "key"):
        if isinstance(data.get(key), (list, dict)):
            warnings.append(f"{where}: {key} is no text and was ignored")
    review = data.get("review") or "auto"
    if not isinstance(review, str) or review not in REVIEW_MODES:
        warnings.append(f"{where}: review {shown(review)} is none of {', '.join(REVIEW_MODES)}; taken as `queue`")
        review = "queue"
    sweeps = _choice(data, "sweeps", REVIEW_MODES, "queue", where, warnings)
    agents = _choice(data, "agents", AGENTS, "propose", where, warnings)
    folders, doubts = _folders(data.get("folders"), where)
    return BrainConfig(
        name=one_line(_text(data.get("name")), 60) or "brain",
        schema=schema,
        key=_text(data.get("key")),
        review=review,
        sweeps=sweeps,
        agents=agents,
        folders=folders,
        silent=_silent(data.get("features"), where, warnings),
        warnings=(*warnings, *doubts),
    )


def _silent(given: Value, where: str, warnings: list[str]) -> frozenset[str]:
    """The moments that `features` switches off; other features are of other versions."""
    if given is None:
        return frozenset()
    if not isinstance(given, dict):
        warnings.append(f"{where}: `features` is no mapping of feature to on or off and was ignored")
        return frozenset()
    return frozenset(name for name in MOMENTS if _text(given.get(name)).strip().lower() in _OFF)


def _choice(
    data: Mapping[str, Value], key: str, words: tuple[str, ...], strict: str, where: str, warnings: list[str]
) -> str | None:
    """A word of the team's about its own strictness: one that is not known is taken for a strict one."""
    said = data.get(key)
    if said is None or said in words:
        return said if isinstance(said, str) else None
    warnings.append(f"{where}: {key} {shown(said)} is none of {', '.join(words)}; taken as `{strict}`")
    return strict


def unknown_keys(data: Mapping[str, Value], known: Collection[str], where: str) -> list[str]:
    """A warning for the keys that are not known. Raises Damaged where no other key is there: such a file was
    meant to say something, and says nothing."""
    unknown = [shown(key) for key in data if key not in known]
    if not unknown:
        return []
    named = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
    if len(unknown) == len(data):
        raise Damaged(
            f"{where}: unparsable (none of its keys is a setting: {named}).",
            hint=f"The settings are {', '.join(sorted(known))}.",
        )
    return [f"{where}: {named} is no setting and was ignored"]


def _schema(given: Value, where: str) -> int:
    if given is None:
        return SCHEMA
    if not isinstance(given, str) or not re.fullmatch(r"[1-9][0-9]{0,8}", given):
        raise Damaged(
            f"{where}: schema_version {shown(given)} is no version number.", hint=f"It is {SCHEMA}; mend the file."
        )
    if int(given) > SCHEMA:
        raise Damaged(
            f"{where}: this brain has schema {given}, and this version of `brain` knows {SCHEMA}.",
            hint="Install a newer version of Commonwealth.",
        )
    return int(given)


def _text(given: Value) -> str:
    return given if isinstance(given, str) else ""


def shown(given: Value) -> str:
    """A value of a file in a message: on one line, short, nothing in it but text."""
    return f"`{one_line(str(given), 60)}`"


def _folders(given: Value, where: str) -> tuple[Mapping[str, str], list[str]]:
    if given is None:
        return DEFAULT_FOLDERS, []
    if not isinstance(given, dict):
        return DEFAULT_FOLDERS, [f"{where}: `folders` is no mapping of kind to folder and was ignored"]
    folders, warnings = dict(DEFAULT_FOLDERS), []
    for key, folder in given.items():
        kind = _KIND_OF_FOLDER.get(key, key)
        if kind not in DEFAULT_FOLDERS:
            warnings.append(f"{where}: folders.{one_line(key, 60)} is no kind of note and was ignored")
        elif not isinstance(folder, str) or _unsafe(folder):
            warnings.append(f"{where}: folders.{key} {shown(folder)} is no folder inside the brain and was ignored")
        else:
            folders[kind] = folder.rstrip("/")
    if len({unicodedata.normalize("NFC", folder).casefold() for folder in folders.values()}) < len(folders):
        return DEFAULT_FOLDERS, [*warnings, f"{where}: two kinds share one folder; `folders` was ignored"]
    return MappingProxyType(folders), warnings


def _unsafe(folder: str) -> bool:
    """Whether `folder` leads outside, to something of git's or ours, or is spelled so that a file system
    may take it for another."""
    parts = folder.rstrip("/").casefold().split("/")
    odd = any(
        not part or part.startswith((".", "~", "git~")) or part.endswith((".", " ", ".md")) or part != part.strip()
        for part in parts
    )
    strange = not folder.isprintable() or any(character in folder for character in '\\:*?"<>|')
    return odd or strange or len(folder) > 200 or parts[0] in OWN_FOLDERS


# The user's registry of rules


def registry_path() -> Path:
    """Where the rules are kept."""
    return home() / "registry.yaml"


def load_registry() -> Registry:
    """The user's rules; no file means no rules.

    Raises Damaged when the file exists and cannot be read as rules: that is never taken for "no brain".
    """
    path = registry_path()
    text = read_text(path, _REGISTRY_LIMIT)
    return Registry() if text is None else Registry(_rules(text, path))


def _rules(text: str, path: Path) -> tuple[Rule, ...]:
    data = settings.mapping(text, str(path), _REGISTRY_LIMIT)
    entries = data.get("rules") or []
    if "rules" not in data or not isinstance(entries, list):
        raise Damaged(f"{path}: unparsable (it holds no list of `rules`).", hint="Mend the file.")
    return tuple(_rule(entry, number, path) for number, entry in enumerate(entries, 1))


def _rule(entry: Value, number: int, path: Path) -> Rule:
    def bad(cause: str) -> Damaged:
        return Damaged(f"{path}: rule {number} {cause}.", hint="Mend the file, or `brain rules add` in a new one.")

    if not isinstance(entry, dict) or "brain" not in entry:
        raise bad("has no `match` and `brain`")
    match, brain, remote = (entry.get(key) for key in ("match", "brain", "remote"))
    if not isinstance(match, str) or not match.strip() or not match.isprintable():
        raise bad("has no `match` that names a repository or a folder")
    if brain is None or brain == "none":
        brain = None
    elif not isinstance(brain, str) or not brain or not brain.isprintable():
        raise bad("has a `brain` that is neither a name nor null")
    elif not is_folder(brain) and ("/" in brain or os.sep in brain or brain.startswith(".")):
        raise bad(f"names the brain {shown(brain)} by a path that depends on where it is read")
    if remote is not None and (not isinstance(remote, str) or not remote.isprintable()):
        raise bad("has a `remote` that is no address")
    return Rule(match, brain, remote or None)


def save_rule(rule: Rule) -> bool:
    """Put `rule` into the registry in place of one with the same `match`. False when it stood there already.

    The caller sees to it that nobody else writes meanwhile. Raises Damaged rather than overwrite a registry
    that cannot be read.
    """
    rules = load_registry().rules
    if rule in rules:
        return False
    same = [at for at, other in enumerate(rules) if same_match(other.match, rule.match)]
    _rewrite(rules, same, rule)
    return True


def remove_rule(match: str) -> Rule:
    """Take the rule for `match` out of the registry and return it. Raises Refused when there is none.

    The caller sees to it that nobody else writes meanwhile.
    """
    rules = load_registry().rules
    found = [at for at, rule in enumerate(rules) if same_match(rule.match, match)]
    if not found:
        raise Refused(f"No rule matches {shown(match)} in {registry_path()}.", hint="`brain rules list` shows them.")
    _rewrite(rules, found, None)
    return rules[found[0]]


def _rewrite(rules: tuple[Rule, ...], dropped: list[int], added: Rule | None) -> None:
    """Write the registry without the rules at `dropped`, and with `added` in the place of the first of them or
    at the end. A person's comments stay where the file's form allows it, else those at the top of the file."""
    path = registry_path()
    wanted = [rule for at, rule in enumerate(rules) if at not in dropped]
    if added:
        wanted.insert(min(dropped, default=len(wanted)), added)
    present = read_text(path, _REGISTRY_LIMIT) or ""
    from commonwealth import plainyaml  # noqa: PLC0415 - for writing only, which no hook does

    edited = plainyaml.with_entry(present, "rules", dropped, _entry(added) if added else None)
    header = re.match(r"(?:[^\S\n]*(?:#.*)?\n)*", present)
    whole = plainyaml.dumped({"rules": [_entry(rule) for rule in wanted]})
    for text in (edited, (header[0] if header else "") + whole):
        if text and _readable(text, path) == tuple(wanted):
            replace_file(path, text)
            return
    raise Refused(f"The rule cannot be written to {path} so that it is read back.", hint="Use another name.")


def _entry(rule: Rule) -> dict[str, str | None]:
    return {"match": rule.match, "brain": rule.brain} | ({"remote": rule.remote} if rule.remote else {})


def _readable(text: str, path: Path) -> tuple[Rule, ...] | None:
    try:
        return _rules(text, path)
    except Damaged:
        return None


# Files of the user's


def read_text(path: Path, limit: int) -> str | None:
    """The text of a file of the user's with its line ends, of one that is too long only enough to tell."""
    try:
        with open(path, encoding="utf-8-sig", newline="", opener=_open_regular) as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        if not path.is_symlink():
            return None
        raise Damaged(f"{path} is a link to nothing.", hint="Mend the link, or remove it.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} cannot be read ({error}).", hint="Mend the file or its permissions.") from None


def _open_regular(path: str, flags: int) -> int:
    """Open a file as `open` does, but no pipe or device: those may never have an end. Raises OSError for them."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file")


def replace_file(path: Path, text: str) -> None:
    """Write a small file of ours so that a reader sees the old or the new one, never a mixture.

    A link is followed, and the permissions of the old file stay. Raises Refused where it cannot be written.
    """
    try:
        atomic.replace(os.path.realpath(path), text.encode("utf-8"))
    except (OSError, UnicodeEncodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "its text is not valid Unicode"
        raise Refused(f"{path} cannot be written ({cause}).", hint="Make the folder writable.") from None
