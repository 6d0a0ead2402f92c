"""A team as it is: people with homes and clones of their own around one remote, some with plain git only.

One process plays them all: `acting` makes it theirs. What must die by a signal runs in the `Actor`, a helper
process that forks a child for each call.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from commonwealth import timeline
from commonwealth.flows import brains, setup, syncing
from commonwealth.flows.brains import Brain

NAMES = ("Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi", "Ivan", "Judy", "Mallory", "Niaj")
START = datetime.fromisoformat("2026-07-01T10:00:00Z")
KEY = "0123456789abcdef0123456789abcdef"
UNREACHABLE = "http://127.0.0.1:9/brain.git"
"""Nobody listens there: the connection is refused at once."""


@dataclass
class Person:
    """One teammate. `tool` is whether they use ours; `skew` is by how many hours their clock is wrong."""

    name: str
    home: Path
    tool: bool = True
    skew: float = 0
    linked: bool = True
    away: str = ""
    """Where HEAD is, if not on the brain's branch."""
    adopted: int = 0
    """How many rewritten histories of the remote they have agreed to."""
    broken: set[str] = field(default_factory=set)
    """Files that they left unreadable, to be mended by them later."""

    @property
    def root(self) -> Path:
        return self.home / "brain"


@dataclass
class World:
    """The team, its remote, and the clock."""

    folder: Path
    people: list[Person]
    object_format: str = "sha1"
    minutes: int = 0
    rewrites: int = 0

    @property
    def remote(self) -> Path:
        return self.folder / "remote.git"

    @property
    def users(self) -> list[Person]:
        """Those who use our tool."""
        return [person for person in self.people if person.tool]

    def now(self, person: Person) -> str:
        """The time as this person's clock tells it."""
        return timeline.render(START + timedelta(minutes=self.minutes, hours=person.skew))

    def environment(self, person: Person) -> dict[str, str]:
        """What makes a process this person's."""
        return {
            "HOME": str(person.home),
            "COMMONWEALTH_HOME": str(person.home / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": person.name,
            "COMMONWEALTH_AUTHOR_EMAIL": f"{person.name.lower()}@example.com",
            "COMMONWEALTH_NOW": self.now(person),
        }

    @contextmanager
    def acting(self, person: Person) -> Iterator[None]:
        """This process is theirs inside the block."""
        with environment(self.environment(person)):
            yield

    def brain(self, person: Person) -> Brain:
        """Their clone; call it while acting."""
        return brains.open_brain(person.root, cwd=str(self.folder / "shop"))

    def git(self, person: Person, *args: str) -> str:
        """What plain git in their clone prints, as they would run it. Raises AssertionError where it fails."""
        code, out = self.tried(person, *args)
        if code:
            raise AssertionError(f"git {' '.join(args)} of {person.name}: {out}")
        return out

    def tried(self, person: Person, *args: str) -> tuple[int, str]:
        """The exit code of plain git in their clone, and what it prints: on both streams where it fails."""
        dated = {"GIT_AUTHOR_DATE": self.now(person), "GIT_COMMITTER_DATE": self.now(person), "GIT_EDITOR": "true"}
        env = {**os.environ, **self.environment(person), **dated}
        done = subprocess.run(
            ["git", "-C", str(person.root), *args], capture_output=True, check=False, env=env, stdin=subprocess.DEVNULL
        )
        said = done.stdout + done.stderr if done.returncode else done.stdout
        return done.returncode, said.decode("utf-8", "replace")

    def link(self, person: Person, *, whole: bool) -> None:
        """Cut a person off the remote, or join them to it again."""
        if person.linked != whole:
            person.linked = whole
            self.git(person, "remote", "set-url", "origin", str(self.remote) if whole else UNREACHABLE)

    def read(self, person: Person, path: str) -> bytes | None:
        try:
            return (person.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, person: Person, path: str, data: bytes) -> None:
        place = person.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def isolated(folder: Path) -> dict[str, str | None]:
    """The variables of a process that must see nothing of the machine's user."""
    own: dict[str, str | None] = {
        name: None for name in os.environ if name.startswith(("GIT_", "COMMONWEALTH_", "XDG_", "CLAUDE_"))
    }
    home = str(folder / "home")
    os.makedirs(home, exist_ok=True)
    return {**own, "HOME": home, "COMMONWEALTH_HOME": f"{home}/.commonwealth", "GIT_CONFIG_NOSYSTEM": "1"}


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """This process with other variables; None takes one away."""
    before = {name: os.environ.get(name) for name in values}
    _put(values)
    try:
        yield
    finally:
        _put(before)


def _put(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def make(folder: Path, count: int, *, without_tool: int = 1, object_format: str = "sha1") -> World:
    """A brain, its remote, and `count` clones of it; the last `without_tool` people have plain git only."""
    people = [
        Person(name, folder / name.lower(), tool=n < count - without_tool) for n, name in enumerate(NAMES[:count])
    ]
    world = World(folder, people, object_format)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shop").mkdir()
    _run("init", "-q", "-b", "main", str(folder / "shop"))
    _run("init", "-q", "--bare", "-b", "main", f"--object-format={object_format}", str(world.remote))
    for person in people:
        _furnish(person)
    _run("init", "-q", "-b", "main", f"--object-format={object_format}", str(people[0].root))
    with world.acting(people[0]):
        _found(world, people[0])
    for person in people[1:]:
        _join(world, person)
    return world


def _furnish(person: Person) -> None:
    person.home.mkdir(parents=True)
    mail = f"{person.name.lower()}@example.com"
    text = f"[user]\n\tname = {person.name}\n\temail = {mail}\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    (person.home / ".gitconfig").write_text(text + os.environ.get("RELIABILITY_GITCONFIG", ""), encoding="utf-8")


def _found(world: World, person: Person) -> None:
    """The first clone; the brain's key is the same in every run, so that a seed makes the same names again."""
    setup.init(person.root, name="acme", remote=None, cwd=str(person.home), now=world.now(person))
    config = person.root / ".commonwealth/config.yaml"
    lines = config.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(f"key: {KEY}\n" if line.startswith("key:") else line for line in lines)
    config.write_text(text, encoding="utf-8")
    world.git(person, "remote", "add", "origin", str(world.remote))
    receipt = syncing.sync(world.brain(person))
    assert receipt.state == "published", receipt


def _join(world: World, person: Person) -> None:
    with world.acting(person):
        if person.tool:
            setup.join(str(world.remote), person.root, cwd=str(person.home))
        else:
            _run("clone", "-q", str(world.remote), str(person.root))


def _run(*args: str) -> None:
    subprocess.run(["git", *args], check=True, stdin=subprocess.DEVNULL)
