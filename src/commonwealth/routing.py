"""The user's rules: which repository or folder uses which brain, or none."""

from __future__ import annotations

import os
from dataclasses import dataclass


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
    if is_folder(match) and folder:
        base = _folder_of(match)
        here = os.path.realpath(folder)
        if here == base or here.startswith(base.rstrip(os.sep) + os.sep):
            return (2, len(base))
    pattern, name = _same(match), _same(identity or "")
    if not name:
        return None
    if pattern == name:  # the identity of a repository without a server is a path too
        return (3, len(pattern))
    everything = pattern == "*" or (pattern.endswith("/*") and name.startswith(pattern[:-1]))
    return (1, len(pattern)) if everything else None


def _folder_of(match: str) -> str:
    base = match.removesuffix("/**").removesuffix("/*") or os.sep
    return os.path.realpath(os.path.expanduser(base))


def _same(match: str) -> str:
    """A spelling of `match` that all spellings of one repository or pattern share."""
    pattern = match.casefold().replace("\\", "/").rstrip("/")
    return pattern[:-1] if pattern.endswith("/**") else pattern.removesuffix(".git").rstrip("/")


def is_folder(text: str) -> bool:
    """Whether `text` names a folder by its whole path or from `~`."""
    return text.startswith(("/", "~", "\\\\")) or text[1:3] in (":\\", ":/")


def same_match(one: str, other: str) -> bool:
    """Whether two rules are for the same thing. The case of a folder's name counts, as it may to the system."""
    if is_folder(one) and is_folder(other):
        return one.rstrip("/") == other.rstrip("/")
    return _same(one) == _same(other)
