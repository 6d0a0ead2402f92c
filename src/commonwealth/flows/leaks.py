"""Secrets that are in the history already: in any version of a file, name, commit or tag that a ref still reaches.

What was looked through is remembered (`.git/commonwealth/history-secrets.json`, no value in it), so that a later look
reads only what is new, and one that ran out of time goes on where it stopped.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from commonwealth import atomic
from commonwealth.curate import secrets
from commonwealth.errors import Damaged
from commonwealth.flows import allowed
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.model import Finding
from commonwealth.notes import naming
from commonwealth.repo.common import read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, decode, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.objects import Objects
from commonwealth.repo.outgoing import is_binary, words_of_commit

SECONDS = 20.0
"""How long one look may take."""

_STATE = "history-secrets.json"
_EDITION = 2
"""Goes up when the rules see more than before: everything is looked through again."""

_MOST = 4 << 20
"""Bytes of one file that are looked through; none of ours is larger."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One secret in the history: what `rule` saw in `place`, first in `commit`."""

    place: str
    rule: str
    fingerprint: str
    commit: str
    published: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at the history found. `left` objects were not reached in time."""

    leaks: tuple[Leak, ...]
    objects: int
    left: int = 0


@dataclass(slots=True)
class _Memory:
    """What earlier looks have done: refs looked through whole, then single objects, and what was found in which."""

    tips: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    found: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(object, place, rule, fingerprint); a file's name is found in the commit that brought it."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at what `refs` reach and the `known` commits do not."""

    git: Git
    objects: Objects
    content: Content
    memory: _Memory
    known: list[str]
    refs: str = "--all"


def look(brain: Brain, say: Callable[[str], None] = lambda _: None, *, seconds: float = SECONDS) -> Looked:
    """Look through everything that a ref of this clone reaches, for at most `seconds`; `say` is told how far it is."""
    git = Git(brain.root)
    place = state_file(git, _STATE)
    memory = _recall(place)
    tips = sorted(set(git.text("for-each-ref", "--format=%(objectname)").split()))
    with Objects(git) as objects:
        known = [name for name in memory.tips if objects.info(name) is not None]
        listed = _listed(git, "--all", known)
        left = _search(_Look(git, objects, content_of(brain), memory, known), listed, say, time.monotonic() + seconds)
    if left == 0:
        memory.tips, memory.done = tips, set()
    if memory.found:
        there = {name for name, _ in _listed(git, "--all")}
        memory.found = [item for item in memory.found if item[0] in there]
    with suppress(OSError):
        os.stat(os.path.dirname(place))  # who looks makes no folder: where there is none, the next look begins anew
        atomic.replace(place, json.dumps(_spelled(memory)).encode())
    return Looked(_told(git, memory), len(listed), left)


def between(git: Git, content: Content, base: str, tip: str) -> list[tuple[str, str, str]]:
    """The secrets in what `tip` has and `base` has not, each with place, rule and fingerprint."""
    memory = _Memory()
    with Objects(git) as objects:
        listed = _listed(git, tip, [base])
        _search(_Look(git, objects, content, memory, [base], tip), listed, lambda _: None, math.inf)
    return [item[1:] for item in memory.found]


def _recall(place: str) -> _Memory:
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        said = json.loads(read_text(place, 1 << 28) or "{}")
        if said["edition"] == _EDITION:
            found = [(str(a), str(b), str(c), str(d)) for a, b, c, d in said["found"]]
            return _Memory([str(name) for name in said["tips"]], {str(name) for name in said["done"]}, found)
    return _Memory()


def _spelled(memory: _Memory) -> dict[str, object]:
    return {"edition": _EDITION, "tips": memory.tips, "done": sorted(memory.done), "found": memory.found}


def _listed(git: Git, refs: str, known: Iterable[str] = ()) -> list[tuple[str, str]]:
    """What `refs` reach and the `known` commits do not: objects with a path of each."""
    exclude = "".join(f"^{name}\n" for name in known).encode()
    lines = decode(git.run("rev-list", "--objects", refs, "--stdin", input=exclude))
    pairs = (line.partition(" ") for line in lines.split("\n") if line)
    return [(name, path) for name, _, path in pairs]


def _search(look: _Look, listed: list[tuple[str, str]], say: Callable[[str], None], deadline: float) -> int:
    """Look through `listed`; how many objects are left when the time is over."""
    if listed:
        _search_names(look)
    lines: set[bytes] = set()
    for number, (name, path) in enumerate(listed):
        if number % 256 == 0:
            say(f"Looking for secrets in the history: {number} of {len(listed)} objects")
            if number and time.monotonic() >= deadline:
                return len(listed) - number
        if name in look.memory.done:
            continue
        for where, text in _texts(look, name, path, lines):
            for finding in secrets.scan(text, where, sign=allowed.sign):
                look.memory.found.append((name, finding.where, finding.rule, finding.fingerprint))
        look.memory.done.add(name)
    return 0


def _search_names(look: _Look) -> None:
    """Names are in the trees of commits: each is looked at once, and belongs to the newest commit that has it."""
    only = ("--format=%x01%H", "--name-only", "-z", "-m", "--root", "--no-renames", "--diff-filter=d")
    exclude = "".join(f"^{name}\n" for name in look.known).encode()
    seen: set[str] = set()
    commit = ""
    for item in fields(look.git.run("log", look.refs, *only, "--stdin", input=exclude)):
        text = item.strip("\n")
        if text.startswith("\x01"):
            commit, _, text = text[1:].partition("\n")
        if text and text not in seen:
            seen.add(text)
            for finding in secrets.scan(text, "name of a file", sign=allowed.sign):
                look.memory.found.append((commit, secrets.mask(text), finding.rule, finding.fingerprint))


def _texts(look: _Look, name: str, path: str, lines: set[bytes]) -> Iterator[tuple[str, str]]:
    """The texts of one object, each with its place. Of derived files, which repeat themselves, only new lines."""
    info = look.objects.info(name)
    if info is None or info[1] == "tree":
        return
    data = look.objects.beginning(name, _MOST) or b""
    if info[1] != "blob":
        yield f"{info[1]} {name[:12]}", words_of_commit(data).decode("utf-8", "replace")
        return
    if look.content.is_derived(path):
        new = [line for line in data.split(b"\n") if line not in lines]
        lines.update(new)
        data = b"\n".join(new)
    if data and not is_binary(data[: 1 << 18]):
        yield path or f"object {name[:12]}", data.decode("utf-8", "replace")


def _told(git: Git, memory: _Memory) -> tuple[Leak, ...]:
    """What was found and is not allowed, each value once, the oldest first."""
    entries: tuple[allowed.Allowed, ...] = ()
    with suppress(Damaged):
        entries = allowed.load()
    public = {name for name, _ in _listed(git, "--remotes")} if memory.found else set()
    leaks: dict[tuple[str, str], Leak] = {}
    for name, where, rule, fingerprint in memory.found:
        finding = Finding(rule, where, fingerprint)
        if any(entry.covers(finding, naming.stem(where.partition(",")[0])) for entry in entries):
            continue
        key = (fingerprint, where.partition(",")[0])
        if key not in leaks or (name in public and not leaks[key].published):
            leaks[key] = Leak(where, rule, fingerprint, _first(git, name), name in public)
    return tuple(leaks.values())


def _first(git: Git, name: str) -> str:
    """The commit that brought an object in, by its short name; empty where none can be told."""
    with Objects(git) as objects:
        info = objects.info(name)
    if info is None or info[1] != "blob":
        return name[:12]
    found = git.call("log", "--all", "--reverse", "--format=%h", f"--find-object={name}").out.split()
    return decode(found[0]) if found else ""
