"""What goes wrong around people: slow links, careless merges, work on other branches, a rewritten remote.

Links that are cut, clocks that are wrong, kills and full disks are in `clones` and `run`.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from . import texts
from .checker import plain, tree
from .clones import Person, World
from .run import Run

SLOW = """#!/bin/sh
sleep {seconds}
exec git {service} "$@"
"""


def slow_down(world: World, person: Person, seconds: float) -> None:
    """Every transfer of this person's begins so much later; 0 takes it away."""
    for service, key in (("upload-pack", "uploadpack"), ("receive-pack", "receivepack")):
        script = person.home / f"slow-{service}"
        if seconds:
            script.write_text(SLOW.format(seconds=seconds, service=service), encoding="utf-8")
            script.chmod(0o755)
            world.git(person, "config", f"remote.origin.{key}", str(script))
        else:
            world.tried(person, "config", "--unset", f"remote.origin.{key}")


def review_first(world: World, person: Person) -> None:
    """This person has all their notes staged, by their own settings."""
    folder = person.home / ".commonwealth"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text("review: queue\n", encoding="utf-8")


def wander(run: Run, person: Person, rng: random.Random) -> str | None:
    """HEAD goes elsewhere: to a branch of the person's own, or to a commit."""
    if run.busy(person) or person.away:
        return None
    side = f"side-{run.number}"
    words = ("switch", "-q", "-c", side) if rng.random() < 0.6 else ("switch", "-q", "--detach")
    run.world.git(person, *words)
    run.causes.muddled(person.name)
    person.away = side if "-c" in words else "HEAD"
    return f"git {' '.join(words)}"


def come_back(run: Run, person: Person, rng: random.Random) -> str | None:
    """Back to the brain's branch, with everything that was done elsewhere."""
    if run.busy(person) or not person.away:
        return None
    world, away = run.world, person.away
    run.causes.muddled(person.name)
    world.git(person, "add", "-A")
    world.tried(person, "commit", "-q", "-m", f"Elsewhere {run.number}")
    at = world.git(person, "rev-parse", "HEAD").strip()
    world.git(person, "switch", "-q", "main")
    person.away = ""
    world.tried(person, "merge", "-q", "--no-edit", at)
    ended = f": {run.go_on(person, 'merge', rng)}" if run.busy(person) else ""
    return f"git switch main, from {away}{ended}"


def rewrite(run: Run, rng: random.Random) -> str:
    """An admin takes a note out of the remote for good: one root commit of all the others, pushed by force."""
    world = run.world
    clone = world.folder / "admin"
    shutil.rmtree(clone, ignore_errors=True)
    plain(world.folder, "clone", "-q", str(world.remote), str(clone))
    notes = [name for name in plain(clone, "ls-files", "memory").decode().split() if not name.endswith("INDEX.md")]
    before = _facts(clone)
    if rng.random() < 0.5:
        what = rng.choice(sorted(notes))
        plain(clone, "checkout", "-q", "--orphan", "anew")
        plain(clone, "rm", "-q", "-f", "--", what)
        plain(clone, "-c", "user.name=Admin", "-c", "user.email=admin@example.com", "commit", "-q", "-m", "Anew")
    else:
        what = "its last three commits"
        plain(clone, "checkout", "-q", "-b", "anew", "HEAD~3")
    run.facts.gone |= before - _facts(clone)
    run.causes.doubted(fact for edit in run.causes.edits for fact in edit.touched)
    plain(clone, "push", "-q", "--force", "origin", "anew:main")
    world.rewrites += 1
    return f"an admin rewrites the remote without {what}"


def _facts(clone: Path) -> set[str]:
    return texts.tokens(b"\n".join(tree(clone).values()))
