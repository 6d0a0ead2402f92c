"""What must hold after everything: no acknowledged fact is lost, and every clone is the same and clean."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from commonwealth.flows import indexing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.index import disputes, health, schema
from commonwealth.repo.content import Content

from .causes import Causes
from .clones import Person, World
from .texts import token, tokens

MARKERS = (b"<<<<<<< ", b"=======", b">>>>>>> ")


@dataclass
class Facts:
    """The model: which facts were acknowledged, by what, and which somebody who saw them took out again."""

    number: int = 0
    said: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def new(self) -> str:
        """The token of a new fact, which nobody has acknowledged yet."""
        self.number += 1
        return token(self.number)

    def edited(self, before: bytes | None, after: bytes | None, by: str) -> None:
        """A person saved a file, or removed it, having seen what was in it."""
        old, new = tokens(before), tokens(after)
        self.gone |= old - new
        for found in sorted(new - old):
            self.said.setdefault(found, by)
            self.gone.discard(found)

    def copy(self) -> Facts:
        """The same knowledge, to go on from."""
        return Facts(self.number, dict(self.said), set(self.gone))

    def lost(self, present: set[str]) -> dict[str, str]:
        """The facts that are nowhere though nobody took them out, with what said them."""
        return {found: by for found, by in sorted(self.said.items()) if found not in present | self.gone}


def plain(folder: Path, *args: str, check: bool = True) -> bytes:
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)} in {folder}: {done.stderr!r} {done.stdout!r}")
    return done.stdout


def tree(folder: Path) -> dict[str, bytes]:
    """All tracked files of a work tree, as they lie there."""
    names = [name for name in plain(folder, "ls-files", "-z").decode().split("\0") if name]
    return {name: (folder / name).read_bytes() for name in names}


def problems(world: World, facts: Facts, causes: Causes | None = None) -> list[str]:
    """Everything that does not hold, in words; nothing where all is well."""
    found = [*_same_everywhere(world)]
    for person in world.people:
        found += [f"{person.name}: {cause}" for cause in _clean(person)]
    for person in world.users:
        with world.acting(person):
            found += [f"{person.name}: {cause}" for cause in _index(world.brain(person))]
    files = tree(world.people[0].root)
    content = _content(world)
    notes = {path: data for path, data in files.items() if not content.is_derived(path)}
    found += [f"{path} holds conflict markers" for path, data in notes.items() if _marked(data)]
    present = set().union(*(tokens(data) for data in notes.values()), *(_staged(person) for person in world.people))
    if world.rewrites:  # what is not brought back after a rewrite is kept under a private ref, and named
        present |= set().union(*(_rescued(person) for person in world.people))
    found += [f"LOST {fact}: {by}" for fact, by in facts.lost(present).items()]
    if causes is not None:
        standing = [tokens(data) for data in notes.values() if b"\nconflict_of:" not in data]
        found += causes.returned(set().union(*standing), facts.gone)
    return found


def _content(world: World) -> Content:
    with world.acting(world.people[0]):
        return content_of(world.brain(world.people[0]))


def _staged(person: Person) -> set[str]:
    return {found for path in person.root.glob("staging/*.md") for found in tokens(path.read_bytes())}


def _rescued(person: Person) -> set[str]:
    refs = plain(person.root, "for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue").decode().split()
    return {found for ref in refs for found in tokens(plain(person.root, "grep", "-h", "-a", "fact", ref))}


def _marked(data: bytes) -> bool:
    lines = data.split(b"\n")
    return all(any(line.startswith(marker) for line in lines) for marker in MARKERS)


def _same_everywhere(world: World) -> list[str]:
    found = []
    first = world.people[0]
    files, heads = tree(first.root), plain(first.root, "rev-list", "HEAD")
    for person in world.people[1:]:
        other = tree(person.root)
        paths = sorted(files.keys() | other.keys())
        if not person.tool:  # their own settings may write other line ends into what is no note
            paths = [path for path in paths if path.endswith(".md")]
        differ = [path for path in paths if files.get(path) != other.get(path)]
        if differ:
            found.append(f"{first.name} and {person.name} differ in {differ[:5]}")
        if plain(person.root, "rev-list", "HEAD") != heads:
            found.append(f"{first.name} and {person.name} have other histories")
    if plain(world.remote, "rev-list", "main") != heads:
        found.append("the remote has another history")
    plain(world.remote, "fsck", "--full", "--strict", "--no-dangling")
    said = {person.name: _disputes(world, person) for person in world.users}
    if len(set(said.values())) > 1:
        found.append(f"the conflicts listed differ: {said}")
    return found


def _disputes(world: World, person: Person) -> tuple[disputes.Dispute, ...]:
    with world.acting(person):
        return indexing.ask(world.brain(person), disputes.disputes, sweep=True)


def _clean(person: Person) -> list[str]:
    found = []
    status = plain(person.root, "status", "--porcelain", "--untracked-files=all").decode()
    if status:
        found.append(f"git status says {status.splitlines()[:5]}")
    plain(person.root, "fsck", "--full", "--strict", "--no-dangling")
    ours = person.root / ".git/commonwealth"
    left = [path.name for path in ours.glob("*") if path.name.startswith(("journal", "debt", "bases", "tmp", "."))]
    left += [str(path.relative_to(person.root)) for path in person.root.rglob(".commonwealth-*")]
    left += [path.name for path in (person.root / ".git").glob("*.lock")]
    if left:
        found.append(f"left over: {left}")
    return found


def _index(brain: Brain) -> list[str]:
    """Whether the index, brought up to date, says the same as one made anew."""
    indexing.ensure(brain, sweep=True)
    with closing(schema.connect(brain.index_dir, read_only=False)) as conn:
        before, damage = rows(conn), health.damage(conn)
    indexing.rebuild(brain)
    with closing(schema.connect(brain.index_dir)) as conn:
        after = rows(conn)
    found = [f"the index is damaged: {damage}"] if damage else []
    for name, expected in after.items():
        if before[name] != expected:
            odd = sorted(set(before[name]) ^ set(expected), key=repr)[:4]
            found.append(f"the index differs from a new one in {name}: {odd}")
    return found


def rows(conn: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """What an index says, free of row numbers and times of files."""
    queries = {
        "files": "SELECT path, size FROM files ORDER BY 1",
        "problems": "SELECT f.path, p.line, p.cause, p.fatal FROM problems p JOIN files f ON f.id = p.file"
        " ORDER BY 1, 2, 3",
        "notes": "SELECT f.path, n.id, n.short, n.kind, n.type, n.status, n.confidence, n.title_key, n.created,"
        " n.observed, n.updated, n.starts, n.until, n.closed, t.rest, t.body FROM notes n"
        " JOIN files f ON f.id = n.rowid"
        " JOIN texts t ON t.rowid = n.rowid ORDER BY 1",
        "links": "SELECT f.path, l.field, l.value FROM links l JOIN files f ON f.id = l.note ORDER BY 1, 2, 3",
    }
    return {name: conn.execute(query).fetchall() for name, query in queries.items()}
