"""What is configured where: a brain's committed config, the user's own config, and the registry of rules.

A brain's config is data from a remote: it names folders and thresholds and may only tighten safety. Rules and
everything that could run or reach something live in the user's own folder, `COMMONWEALTH_HOME`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import yaml

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML built without libyaml: the same answers, slower
    from yaml import SafeLoader  # type: ignore[assignment]

from commonwealth.errors import Damaged, Refused

CONFIG_PATH = ".commonwealth/config.yaml"
REVIEW_MODES = ("auto", "queue", "pull-request")
"""From loosest to strictest."""

DEFAULT_FOLDERS: Mapping[str, str] = MappingProxyType(
    {"memory": "memory", "decision": "decisions", "work-state": "work-state", "person": "people"}
)
_KIND_OF_FOLDER = {folder: kind for kind, folder in DEFAULT_FOLDERS.items()}
OWN_FOLDERS = ("index", "staging")
"""Folders of one clone, never part of a brain's history."""

DEFAULT_SYNC_SECONDS = 3.0
DEFAULT_START_TOKENS = 1200


def home() -> Path:
    """The user's folder: working copies, registry, config, logs. `COMMONWEALTH_HOME` or `~/.commonwealth`."""
    configured = os.environ.get("COMMONWEALTH_HOME")
    return Path(configured) if configured else Path.home() / ".commonwealth"


# A brain's own config


@dataclass(frozen=True, slots=True)
class BrainConfig:
    """The team's settings of one brain (`.commonwealth/config.yaml`)."""

    name: str = "brain"
    schema: int = 1
    key: str = ""
    review: str = "auto"
    folders: Mapping[str, str] = field(default_factory=lambda: DEFAULT_FOLDERS)
    warnings: tuple[str, ...] = ()


SCHEMA = 1
_BRAIN_KEYS = {"schema", "name", "key", "review", "folders", "thresholds", "features"}


def brain_config(text: str, where: str) -> BrainConfig:
    """Read a brain's config. Settings that it may not make are ignored and named in `warnings`.

    Raises Damaged when the text is no YAML mapping, or when the brain's schema is newer than ours.
    """
    data = _mapping(text, where)
    warnings = [f"{where}: the key {key!r} is not known and was ignored" for key in data if key not in _BRAIN_KEYS]
    schema = data.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise Damaged(
            f"{where}: this brain has schema {schema}, and this version of `brain` knows {SCHEMA}.",
            hint="Install a newer version of Commonwealth.",
        )
    review = data.get("review", "auto")
    if review not in REVIEW_MODES:
        warnings.append(f"{where}: review {review!r} is none of {', '.join(REVIEW_MODES)}; taken as `queue`")
        review = "queue"
    folders, doubts = _folders(data.get("folders", {}), where)
    return BrainConfig(
        name=str(data.get("name") or "brain"),
        schema=schema,
        key=str(data.get("key") or ""),
        review=review,
        folders=folders,
        warnings=(*warnings, *doubts),
    )


def _folders(given: object, where: str) -> tuple[Mapping[str, str], list[str]]:
    if not isinstance(given, dict):
        return DEFAULT_FOLDERS, [f"{where}: `folders` is no mapping of kind to folder and was ignored"]
    folders, warnings = dict(DEFAULT_FOLDERS), []
    for key, folder in given.items():
        kind = _KIND_OF_FOLDER.get(str(key), str(key))
        parts = str(folder).strip("/").split("/")
        if kind not in DEFAULT_FOLDERS:
            warnings.append(f"{where}: folders.{key} is no kind of note and was ignored")
        elif _unsafe(str(folder), parts):
            warnings.append(f"{where}: folders.{key} {folder!r} does not lie inside the brain and was ignored")
        else:
            folders[kind] = "/".join(parts)
    if len(set(folders.values())) < len(folders):
        return DEFAULT_FOLDERS, [*warnings, f"{where}: two kinds share one folder; `folders` was ignored"]
    return MappingProxyType(folders), warnings


def _unsafe(folder: str, parts: list[str]) -> bool:
    hidden = any(part in ("", ".", "..") or part.startswith(".") for part in parts)
    return hidden or folder.startswith("/") or "\\" in folder or ":" in folder or parts[0] in OWN_FOLDERS


def _mapping(text: str, where: str) -> dict[str, object]:
    """The YAML mapping in `text`. Raises Damaged for anything else, an empty file included."""
    try:
        data = yaml.load(text.removeprefix("\ufeff"), Loader=SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise Damaged(
            f"{where}{line}: unparsable ({getattr(error, 'problem', None) or 'no YAML'}).",
            hint="Mend the file; nothing is routed by guess until then.",
        ) from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        found = "empty" if data is None else f"a {type(data).__name__}"
        raise Damaged(f"{where}: unparsable (a mapping is expected, found {found}).", hint="Mend the file.")
    return data


# The user's registry of rules


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the registry: what matches `match` uses `brain` (a name or path; None: no brain at all).

    `match` is a repository (`github.com/acme/shop`), an organisation or host (`github.com/acme/*`), or a
    folder (an absolute path or `~/…`, everything below it). `remote` is where a missing brain is cloned from.
    """

    match: str
    brain: str | None
    remote: str | None = None
    source: str = "registry.yaml"


@dataclass(frozen=True, slots=True)
class Registry:
    """The user's rules, in the order of the file."""

    rules: tuple[Rule, ...] = ()

    def resolve(self, identity: str | None, folder: str | None) -> Rule | None:
        """The most specific rule for a repository identity and a folder; on a tie a rule for no brain wins.

        Exact repository beats folder (the deeper the better) beats pattern (the longer the better).
        """
        ranked = [(rank, rule) for rule in self.rules if (rank := _rank(rule.match, identity, folder))]
        best = max(ranked, key=lambda item: (*item[0], item[1].brain is None), default=None)
        return best[1] if best else None


def _rank(match: str, identity: str | None, folder: str | None) -> tuple[int, int] | None:
    """How specifically `match` applies: (class, length), or None where it does not."""
    if _is_folder(match):
        base = os.path.realpath(os.path.expanduser(match.removesuffix("/**").removesuffix("/*")))
        here = os.path.realpath(folder) if folder else None
        inside = here is not None and (here == base or here.startswith(base.rstrip(os.sep) + os.sep))
        return (2, len(base)) if inside else None
    if identity is None:
        return None
    pattern, name = match.casefold().strip("/"), identity.casefold()
    if pattern == name:
        return (3, len(pattern))
    if pattern == "*" or (pattern.endswith("/*") and name.startswith(pattern[:-1])):
        return (1, len(pattern))
    return None


def _is_folder(match: str) -> bool:
    return match.startswith(("/", "~", "\\\\")) or match[1:3] in (":\\", ":/")


def registry_path() -> Path:
    """Where the rules are kept."""
    return home() / "registry.yaml"


def load_registry() -> Registry:
    """The user's rules; no file means no rules.

    Raises Damaged when the file exists and cannot be read as rules: that is never taken for "no brain".
    """
    path = registry_path()
    text = _read(path)
    if text is None:
        return Registry()
    entries = _mapping(text, str(path)).get("rules", [])
    if not isinstance(entries, list):
        raise Damaged(f"{path}: unparsable (`rules` is no list).", hint="Mend the file.")
    return Registry(tuple(_rule(entry, number, path) for number, entry in enumerate(entries, 1)))


def _rule(entry: object, number: int, path: Path) -> Rule:
    if not isinstance(entry, dict) or not isinstance(entry.get("match"), str) or "brain" not in entry:
        raise Damaged(f"{path}: rule {number} has no `match` and `brain`.", hint="Mend the file.")
    brain, remote = entry["brain"], entry.get("remote")
    if brain is not None and not isinstance(brain, str):
        raise Damaged(f"{path}: rule {number}: `brain` is neither a name nor null.", hint="Mend the file.")
    return Rule(entry["match"], None if brain in (None, "none") else brain, str(remote) if remote else None)


def save_rule(rule: Rule) -> bool:
    """Put `rule` into the registry in place of one with the same `match`. False when it stood there already.

    Raises Damaged rather than overwrite a registry that cannot be read.
    """
    rules = load_registry().rules
    if rule in rules:
        return False
    kept = [other for other in rules if other.match.casefold() != rule.match.casefold()]
    _write_registry([*kept, rule])
    return True


def remove_rule(match: str) -> Rule:
    """Take the rule for `match` out of the registry and return it. Raises Refused when there is none."""
    rules = load_registry().rules
    found = [rule for rule in rules if rule.match.casefold() == match.casefold()]
    if not found:
        raise Refused(f"No rule matches {match!r} in {registry_path()}.", hint="`brain rules list` shows them.")
    _write_registry([rule for rule in rules if rule not in found])
    return found[0]


def _write_registry(rules: list[Rule]) -> None:
    entries = [
        {"match": rule.match, "brain": rule.brain} | ({"remote": rule.remote} if rule.remote else {}) for rule in rules
    ]
    replace_file(registry_path(), yaml.safe_dump({"rules": entries}, sort_keys=False, allow_unicode=True))


# The user's own config


@dataclass(frozen=True, slots=True)
class UserConfig:
    """Settings of this person on this machine (`COMMONWEALTH_HOME/config.yaml`)."""

    name: str | None = None
    email: str | None = None
    sync_seconds: float = DEFAULT_SYNC_SECONDS
    start_tokens: int = DEFAULT_START_TOKENS
    review: str | None = None


def load_user_config() -> UserConfig:
    """The user's settings, defaults where there is no file. Raises Damaged when the file cannot be read."""
    path = home() / "config.yaml"
    text = _read(path)
    if text is None:
        return UserConfig()
    settings = _Settings(_mapping(text, str(path)), path)
    return UserConfig(
        name=settings.text("name"),
        email=settings.text("email"),
        sync_seconds=settings.number("sync_seconds", DEFAULT_SYNC_SECONDS),
        start_tokens=int(settings.number("start_tokens", DEFAULT_START_TOKENS)),
        review=settings.text("review"),
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    data: Mapping[str, object]
    path: Path

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            raise Damaged(f"{self.path}: {key} cannot be {value!r}.", hint="It is text; mend the file.")
        return value

    def number(self, key: str, default: float) -> float:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Damaged(f"{self.path}: {key} cannot be {value!r}.", hint="It is a number; mend the file.")
        return value


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} cannot be read ({error}).", hint="Mend the file or its permissions.") from None


def replace_file(path: Path, text: str) -> None:
    """Write a small file of ours so that a reader sees the old or the new one, never a mixture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Refused(f"{path} cannot be written ({error.strerror}).", hint="Make the folder writable.") from None
