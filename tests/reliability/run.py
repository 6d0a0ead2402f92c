"""One run: a team, a model of what they know, and a random source that a seed makes again."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commonwealth.faults import POINTS

from . import texts
from .actor import Actor
from .calls import perform
from .causes import Causes
from .checker import Facts, plain
from .clones import Person, World

FINE = ("committed", "published", "unchanged", "staged", "deferred", "elsewhere")


FAILING = tuple(point for point in POINTS if point.startswith(("commit-", "move-", "merge-", "recover-", "derived")))
"""Points at which a file of the brain is being written, so that the disk may refuse it."""


class Failed(AssertionError):
    """Something that a person would have seen as a failure of ours."""


@dataclass(frozen=True)
class Level:
    """How hard the nemesis is: shares of operations, 0 to 1."""

    cut: float = 0.3
    kill: float = 0.0
    full: float = 0.0
    random_kill: bool = False
    slow: float = 0.0
    careless: float = 0.0
    wander: bool = False
    rewrite: bool = False
    review: bool = False
    skew: float = 48


GATE = Level(kill=0.06, full=0.03)
NIGHT = Level(cut=0.8, kill=0.1, full=0.03, random_kill=True, slow=0.02, careless=0.3, wander=True, review=True)
RELEASE = replace(NIGHT, full=0.06, rewrite=True)


@dataclass
class Run:
    """The state that operations work on. `number` is that of the operation at hand."""

    world: World
    level: Level
    actor: Actor | None = None
    facts: Facts = field(default_factory=Facts)
    causes: Causes = field(default_factory=Causes)
    number: int = 0
    trace: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    # Reading

    def notes(self, person: Person, under: str = "") -> list[str]:
        """The notes that lie in a clone, but for those that their owner left unreadable."""
        found = []
        for top in ("memory", "decisions", "work-state"):
            found += [path.relative_to(person.root).as_posix() for path in person.root.glob(f"{top}/**/*.md")]
        mine = (path for path in found if not path.endswith("INDEX.md") and path not in person.broken)
        return sorted(path for path in mine if path.startswith(under))

    def pick(self, person: Person, rng: random.Random, under: str = "") -> str | None:
        """A note to work on: most often one of a few, so that people meet. None where a merge is under way."""
        paths = self.notes(person, under)
        if not paths or self.busy(person):
            return None
        hot = [path for path in paths if "/first-" in path or "/shared-" in path]
        return rng.choice(hot) if hot and rng.random() < 0.6 else rng.choice(paths)

    def id_of(self, person: Person, path: str) -> str:
        front, _ = texts.split((self.world.read(person, path) or b"").decode("utf-8", "replace").replace("\r\n", "\n"))
        start, stop = texts.block(front, "id")
        return front[start].partition(":")[2].strip() if start < stop else path.rpartition("/")[2][:-3]

    def busy(self, person: Person) -> str | None:
        """The operation of git's that this person has not ended: merge or rebase."""
        folder = person.root / ".git"
        if (folder / "MERGE_HEAD").exists():
            return "merge"
        return "rebase" if (folder / "rebase-merge").exists() or (folder / "rebase-apply").exists() else None

    def what(self, person: Person, said: str) -> str:
        return f"#{self.number} {person.name}: {said}"

    @staticmethod
    def shown(answer: Mapping[str, Any]) -> str:
        return " ".join(
            str(answer[key]) for key in ("state", "error", "message", "reason", "killed") if answer.get(key)
        )

    # Working

    def save(self, person: Person, path: str, data: bytes | None) -> None:
        """A file as a person leaves it; None removes it."""
        before = self.world.read(person, path)
        after = data
        if data is None:
            (person.root / path).unlink()
            # A sibling repeats its note: who removes it has not taken out what the note says too.
            others = (texts.tokens(self.world.read(person, other)) for other in self.notes(person))
            after = " ".join(texts.tokens(before) & set[str]().union(*others)).encode()
        else:
            self.world.write(person, path, data)
        self.facts.edited(before, after, self.what(person, path))
        self.causes.edited(person.name, texts.tokens(before), texts.tokens(after), certain=path not in person.broken)

    def mend(self, person: Person, path: str) -> None:
        """Make a file readable again that this person broke."""
        person.broken.discard(path)
        data = self.world.read(person, path)
        if data is not None:
            lines = [line.rstrip(b"\r") + b"]" if texts.is_half_written(line) else line for line in data.split(b"\n")]
            self.save(person, path, b"\n".join(lines))

    def call(self, person: Person, call: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """A call of the product in this person's clone; sometimes it is killed, or has no room on the disk."""
        call = {**call, "root": str(person.root), "cwd": str(self.world.folder / "shop")}
        self.counts[str(call["call"])] += 1
        answer = self.done(person, call, rng)
        if call["call"] in ("sync", "worker") and answer.get("state") in ("published", "unchanged") and person.linked:
            self.causes.met(person.name)
        return answer

    def done(self, person: Person, call: dict[str, Any], rng: random.Random) -> dict[str, Any]:
        """What came of a call, which the nemesis may have got hold of."""
        chance = rng.random()
        if self.actor is None or call["call"] == "status" or chance >= self.level.kill + self.level.full:
            with self.world.acting(person):
                answer = perform(call)
            self.judge(person, call, answer)
            return answer
        environment = self.world.environment(person)
        if chance < self.level.full:
            return self.starved(person, call, environment, rng)
        return self.killed(person, call, environment, rng)

    def killed(
        self, person: Person, call: Mapping[str, Any], environment: dict[str, str], rng: random.Random
    ) -> dict[str, Any]:
        """The call dies at a point that is named, or at any moment."""
        assert self.actor is not None
        self.counts["kills tried"] += 1
        if self.level.random_kill and rng.random() < 0.5:
            pid = self.actor.start(call, environment)
            time.sleep(rng.uniform(0, 0.15))
            _kill(pid, group=rng.random() < 0.5)
            code, answer = self.actor.finish()
            where = "any moment"
        else:
            where = rng.choice(POINTS)
            turn = rng.choice(("", "", ":2"))
            code, answer = self.actor.play(call, {**environment, "COMMONWEALTH_FAULT": f"{where}{turn}=kill"})
        if code == 0:
            self.judge(person, call, answer)
            return answer
        if code != -9:
            raise Failed(self.what(person, f"{call} ended with {code}, not by the kill at {where}"))
        self.counts["kills"] += 1
        self.unlock(person)
        return {"killed": f"killed at {where}"}

    def starved(
        self, person: Person, call: Mapping[str, Any], environment: dict[str, str], rng: random.Random
    ) -> dict[str, Any]:
        """The call finds no room for larger files, or an error of the disk at a point."""
        assert self.actor is not None
        self.counts["full disks"] += 1
        if rng.random() < 0.5:
            code, answer = self.actor.play(call, environment, room=rng.choice((1, 200, 700, 2000)))
        else:
            error = f"{rng.choice(FAILING)}={rng.choice(('ENOSPC', 'EIO', 'EACCES'))}"
            code, answer = self.actor.play(call, {**environment, "COMMONWEALTH_FAULT": error})
        if code:
            raise Failed(self.what(person, f"{call} on a full disk ended with {code}"))
        self.unlock(person)
        return answer

    def judge(self, person: Person, call: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """A call that nobody disturbed must not fail, unless the person's own git operation is in the way."""
        if answer.get("state") in FINE:
            return
        if self.busy(person) or person.away:
            return
        if person.adopted < self.world.rewrites and answer.get("state") == "refused":
            return
        told = f"{call} said {answer}"
        if answer.get("error") in ("Refused", "Usage") and call["call"] == "update":
            return  # the note is ambiguous or gone: an answer, and nothing was written
        if answer.get("error") == "BadNote" and self.is_broken(person, str(answer["message"])):
            return  # somebody left it unreadable: an answer, and nothing was written
        raise Failed(self.what(person, told))

    def is_broken(self, person: Person, told: str) -> bool:
        """Whether the file that a message names at its start is one that a person left half written."""
        data = self.world.read(person, told.partition(", line")[0]) or b""
        return any(map(texts.is_half_written, data.split(b"\n")))

    def update(
        self, person: Person, path: str, call: Mapping[str, Any], said: str, rng: random.Random,
        replaced: Callable[[str], str],
    ) -> str:  # fmt: skip
        """An edit by the tool, which replaces what `replaced` finds in the version that it edits."""
        before = [self.world.read(person, path)]
        answer = self.call(person, call, rng)
        if answer.get("state") == "committed":
            before.append(plain(person.root, "show", f"HEAD~:{path}", check=False))
            self.facts.edited(None, said.encode(), self.what(person, f"update {path}"))
        if answer.get("state") != "unchanged":  # what died or failed may have come as far as the commit
            seen = {fact for data in before for fact in texts.tokens(replaced(_text(data)).encode())}
            self.facts.gone |= seen
            old, certain = texts.tokens(before[0]), answer.get("state") == "committed"
            self.causes.edited(person.name, old, (old - seen) | {said}, certain=certain)
        return f"update {path} {call.get('section') or call.get('fields')}: {self.shown(answer)}"

    # git by hand

    def give_up(self, person: Person, what: str) -> str:
        """Undo what was begun: the person's own commits stay."""
        self.world.tried(person, what, "--abort")
        if self.busy(person):
            return f"{what} cannot be undone: {self.go_on(person, what, random.Random(0))}"
        return f"{what} undone"

    def go_on(self, person: Person, what: str, rng: random.Random) -> str:
        """Take one side of each conflict, having seen both; or none, and leave git's marks in the files."""
        if what == "merge" and rng.random() < self.level.careless:
            for path in self.world.git(person, "diff", "--name-only", "--diff-filter=U", "-z").split("\0"):
                self.causes.doubted(texts.tokens(self.world.read(person, path) if path else None))
            self.world.git(person, "add", "-A")
            self.world.git(person, "commit", "-q", "--no-edit")
            return "merge ended with git's marks left in"
        for _ in range(60):
            self.choose_sides(person, rng)
            if what == "merge":
                self.world.git(person, "commit", "-q", "--no-edit")
                return "merge ended"
            code, said = self.world.tried(person, "rebase", "--continue")
            if code and ("No changes" in said or "nothing to commit" in said):
                self.world.tried(person, "rebase", "--skip")
            elif code and "CONFLICT" not in said:
                self.world.git(person, "rebase", "--abort")
                return f"rebase undone, as {said!r}"
            if not self.busy(person):
                self.choose_sides(person, rng)  # an automatic stash may have met a conflict of its own
                return "rebase ended"
        raise AssertionError(f"the {what} of {person.name} does not end")

    def choose_sides(self, person: Person, rng: random.Random) -> None:
        """One side of every file that git could not unite."""
        sides: dict[str, dict[str, str]] = {}
        for record in filter(None, self.world.git(person, "ls-files", "-u", "-z").split("\0")):
            words, _, path = record.partition("\t")
            _, name, stage = words.split()
            sides.setdefault(path, {})[stage] = name
        for path, stages in sorted(sides.items()):
            self._resolve(person, path, stages, rng)

    def _resolve(self, person: Person, path: str, stages: Mapping[str, str], rng: random.Random) -> None:
        data = {stage: plain(person.root, "cat-file", "blob", name) for stage, name in stages.items()}
        choices = [data[stage] for stage in ("2", "3") if stage in data]
        seen = self.world.read(person, path)
        chosen = rng.choice(choices) if choices else None
        if chosen is None:
            self.world.git(person, "rm", "-q", "-f", "--", path)
        else:
            self.world.write(person, path, chosen)
            self.world.git(person, "add", "--", path)
        self.causes.doubted(fact for found in data.values() for fact in texts.tokens(found))
        for other in (*choices, seen):
            self.facts.gone |= texts.tokens(other) - texts.tokens(chosen)

    def unlock(self, person: Person) -> None:
        """Locks of git's and unfinished files of ours that a kill left behind are as old as if an hour had passed."""
        git_dir = person.root / ".git"
        for lock in (*git_dir.rglob("*.lock"), *(git_dir / "commonwealth").glob(".commonwealth-*")):
            if lock.is_file() and (lock.suffix == ".tmp" or "commonwealth" not in lock.parts):
                old = time.time() - 3600
                os.utime(lock, (old, old))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def _kill(pid: int, *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if group:
            os.killpg(pid, 9)
        else:
            os.kill(pid, 9)
