"""The person's own settings on this machine (`COMMONWEALTH_HOME/config.yaml`): what no brain can set for them.

Loosening lives here alone: drafts that land by themselves, coding tools that approve. A brain's config may ask for
that; `consents` keeps, by a hash of what it asked for, to which the person said yes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonwealth import config, settings
from commonwealth.errors import Damaged, Refused

if TYPE_CHECKING:
    from commonwealth.plainyaml import Value

TEXT, NUMBER, CHOICE = "text", "number", "choice"

QUESTIONS = ("never", "contradiction")
CONSENTS = "consents"
FORGES = "forges"
FORGE_KINDS = ("github", "gitlab", "gitea", "plain")
"""Kinds of hosts on which requests are opened; Forgejo is of the kind gitea."""
_MOST_CONSENTS = 200
_FORGE_KEYS = frozenset(("host", "kind", "api", "token_env"))


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is about, what its value may be, and what counts where none is given."""

    about: str
    kind: str = TEXT
    default: str | None = None
    choices: tuple[str, ...] = ()


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "name": Setting("your name in notes and commits"),
        "email": Setting("your address in commits; it never stands in a note"),
        "review": Setting("how notes come into canon, where you want it stricter than the team", CHOICE, None,
                          config.REVIEW_MODES),
        "sweeps": Setting("how what is captured from your sessions comes into canon", CHOICE, "queue",
                          config.REVIEW_MODES),
        "agents": Setting("what coding tools may do with candidates that wait", CHOICE, "propose", config.AGENTS),
        "capture": Setting("who drafts notes from your sessions: `model` sends a session, without its secrets, to the "
                           "coding tool that it was held with", CHOICE, "rules", config.CAPTURES),
        "sync_seconds": Setting("seconds that the start of a session waits for a sync", NUMBER, "3"),
        "start_tokens": Setting("tokens of notes that a session starts with; 0 for none", NUMBER, "1200"),
        "prompt_tokens": Setting("tokens of notes that a prompt brings; 0 for none", NUMBER, "400"),
        "edit_tokens": Setting("tokens of notes before a file is edited; 0 for none", NUMBER, "200"),
        "edit_question": Setting("whether Claude Code asks you before an edit that a decision speaks against", CHOICE,
                                 "never", QUESTIONS),
    }
)  # fmt: skip
"""Every setting by its name."""


@dataclass(frozen=True, slots=True)
class ForgeSetting:
    """What the person says of a host that remotes name: its kind, its API's address, the variable with its token."""

    host: str
    kind: str
    api: str | None = None
    token_env: str | None = None


@dataclass(frozen=True, slots=True)
class UserConfig:
    """The settings as they are read; None where the person says nothing of what a brain or a tool may say as well."""

    name: str | None = None
    email: str | None = None
    sync_seconds: float = config.DEFAULT_SYNC_SECONDS
    start_tokens: int = config.DEFAULT_START_TOKENS
    prompt_tokens: int = config.DEFAULT_PROMPT_TOKENS
    edit_tokens: int = config.DEFAULT_EDIT_TOKENS
    edit_question: str = "never"
    review: str | None = None
    sweeps: str | None = None
    agents: str | None = None
    capture: str = "rules"
    consents: tuple[str, ...] = ()
    forges: Mapping[str, ForgeSetting] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def place() -> Path:
    """Where the settings are kept."""
    return config.home() / "config.yaml"


def load() -> UserConfig:
    """The person's settings, defaults where there is no file. Raises Damaged when the file cannot be read, or
    sets something to what it cannot be."""
    path = place()
    text = config.read_text(path, config.CONFIG_LIMIT)
    if text is None:
        return UserConfig()
    values = _values(text, path)
    return UserConfig(
        name=_text(values, "name", path),
        email=_text(values, "email", path),
        sync_seconds=_number(values, "sync_seconds", config.DEFAULT_SYNC_SECONDS, path),
        start_tokens=int(_number(values, "start_tokens", config.DEFAULT_START_TOKENS, path)),
        prompt_tokens=int(_number(values, "prompt_tokens", config.DEFAULT_PROMPT_TOKENS, path)),
        edit_tokens=int(_number(values, "edit_tokens", config.DEFAULT_EDIT_TOKENS, path)),
        edit_question=_text(values, "edit_question", path) or "never",
        review=_text(values, "review", path),
        sweeps=_text(values, "sweeps", path),
        agents=_text(values, "agents", path),
        capture=_text(values, "capture", path) or "rules",
        consents=_consents(values, path),
        forges=_forges(values, path),
        warnings=tuple(config.unknown_keys(values, {*SETTINGS, CONSENTS, FORGES}, str(path))),
    )


def said() -> dict[str, str]:
    """The settings that the file names, with their values as they are written. Raises as `load` does."""
    load()
    text = config.read_text(place(), config.CONFIG_LIMIT)
    values = _values(text, place()) if text is not None else {}
    return {key: value for key in SETTINGS if isinstance(value := values.get(key), str) and value}


def _values(text: str, path: Path) -> dict[str, Value]:
    return settings.mapping(text, str(path), config.CONFIG_LIMIT)


def _text(values: Mapping[str, Value], key: str, path: Path) -> str | None:
    value = values.get(key)
    if isinstance(value, (list, dict)):
        raise Damaged(f"{path}: {key} cannot be {config.shown(value)}.", hint="It is text; mend the file.")
    if value and (cause := unfit(key, value)):
        raise Damaged(f"{path}: {key} cannot be {config.shown(value)}.", hint=f"{cause}; mend the file.")
    return value or None


def _number(values: Mapping[str, Value], key: str, default: float, path: Path) -> float:
    value = values.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or (cause := unfit(key, value)):
        raise Damaged(
            f"{path}: {key} cannot be {config.shown(value)}.",
            hint=f"{cause if isinstance(value, str) else 'It is a number'}; mend the file.",
        )
    return float(value)


def _consents(values: Mapping[str, Value], path: Path) -> tuple[str, ...]:
    given = values.get(CONSENTS) or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise Damaged(
            f"{path}: {CONSENTS} is no list of what you agreed to.", hint="Remove it; `brain config consent` asks anew."
        )
    found = (one.get("hash") for one in given if isinstance(one, dict))
    return tuple(one for one in found if isinstance(one, str))


def _forges(values: Mapping[str, Value], path: Path) -> dict[str, ForgeSetting]:
    """By host. Raises Damaged for an entry that is not understood: a token could go astray."""
    given = values.get(FORGES) or []
    found: dict[str, ForgeSetting] = {}
    for entry in given if isinstance(given, list) else [given]:
        said = entry if isinstance(entry, dict) else {}
        host, kind, api, token = (said.get(key) for key in ("host", "kind", "api", "token_env"))
        texts = all(value is None or (isinstance(value, str) and value.isprintable()) for value in said.values())
        if not texts or not isinstance(host, str) or kind not in FORGE_KINDS or said.keys() - _FORGE_KEYS:
            raise Damaged(
                f"{path}: an entry of {FORGES} is not understood ({config.shown(entry)}).",
                hint=f"Each has a host and a kind ({', '.join(FORGE_KINDS)}), and may have api and token_env.",
            )
        if isinstance(token, str) and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", token):
            raise Damaged(
                f"{path}: token_env of {config.shown(host)} is no name of a variable.",
                hint="It is a name such as ACME_TOKEN; the token itself has no place in this file.",
            )
        found[host.lower()] = ForgeSetting(
            host.lower(), str(kind), api if isinstance(api, str) else None, token if isinstance(token, str) else None
        )
    return found


def unfit(key: str, value: str) -> str | None:
    """Why `value` cannot be that of the setting `key`, in one clause that says what can; None where it can."""
    setting = SETTINGS[key]
    if setting.choices and value not in setting.choices:
        return f"It is one of {', '.join(setting.choices)}"
    if setting.kind == NUMBER and not re.fullmatch(r"[0-9]{1,7}(?:\.[0-9]{1,7})?", value):
        return "It is a number from 0 on"
    if setting.kind == TEXT and (not value.isprintable() or len(value) > 200):
        return "It is text on one line, of at most 200 characters"
    return None


def change(key: str, value: str | None) -> bool:
    """Set one setting, or take it away (None); False where the file says so already.

    Other lines and comments stay where the form of the file allows it. The caller has checked `value` and sees to it
    that nobody else writes meanwhile. Raises Damaged rather than overwrite a file that cannot be read.
    """
    load()
    text = config.read_text(place(), config.CONFIG_LIMIT) or ""
    before = _values(text, place()) if text.strip() else {}
    after = {name: old for name, old in before.items() if name != key} | ({} if value is None else {key: value})
    if after == before:
        return False
    _rewrite([_edited(text, key, value)], after)
    return True


def add_consent(entry: Mapping[str, str]) -> bool:
    """Keep what the person agreed to; False where it is there already. Raises as `change` does."""
    if entry["hash"] in load().consents:
        return False
    text = config.read_text(place(), config.CONFIG_LIMIT) or ""
    before = _values(text, place()) if text.strip() else {}
    known = before.get(CONSENTS) or []
    assert isinstance(known, list)
    _rewrite([], {**before, CONSENTS: [*known[-_MOST_CONSENTS:], dict(entry)]})
    return True


def remove_consent(hash_: str) -> bool:
    """Take back what the person agreed to; False where there is none. Raises as `change` does."""
    if hash_ not in load().consents:
        return False
    before = _values(config.read_text(place(), config.CONFIG_LIMIT) or "", place())
    known = before.get(CONSENTS)
    assert isinstance(known, list)
    left: list[Value] = [one for one in known if not (isinstance(one, dict) and one.get("hash") == hash_)]
    after = {name: old for name, old in before.items() if name != CONSENTS} | ({CONSENTS: left} if left else {})
    _rewrite([], after)
    return True


def _edited(text: str, key: str, value: str | None) -> str:
    """`text` with the line of `key` changed, added or removed."""
    from commonwealth import plainyaml  # noqa: PLC0415 - for writing only, which no hook does

    line = "" if value is None else plainyaml.dumped({key: value})
    found = re.search(rf"^{key}:[^\n]*(?:\n|\Z)", text, re.MULTILINE)
    if found is not None:
        return text[: found.start()] + line + text[found.end() :]
    return (text if not text or text.endswith("\n") else f"{text}\n") + line


def _rewrite(edited: list[str], wanted: Mapping[str, Value]) -> None:
    """Write the first text that reads back as `wanted`: an edited one, else the whole anew below the comments at the
    top of the file."""
    from commonwealth import plainyaml  # noqa: PLC0415 - for writing only, which no hook does

    path = place()
    present = config.read_text(path, config.CONFIG_LIMIT) or ""
    header = re.match(r"(?:[^\S\n]*(?:#.*)?\n)*", present)
    top = header[0] if header else ""
    if not wanted:
        config.replace_file(path, f"{top}{{}}\n")  # a file that holds nothing at all is taken for a damaged one
        return
    for text in (*edited, top + plainyaml.dumped(dict(wanted))):
        try:
            read = _values(text, path)
        except Damaged:
            continue
        if read == dict(wanted):
            config.replace_file(path, text)
            return
    raise Refused(f"That cannot be written to {path} so that it is read back.", hint="Edit the file by hand.")
