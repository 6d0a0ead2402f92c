"""Three teammates share a brain through git: a story told with the real commands on real repositories.

No network and no account: the remotes are bare repositories in a temporary folder, and each person has a home, a
configuration, a clone of the code and a clone of the brain of their own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from commonwealth.errors import BrainError, Refused
from commonwealth.flows import demo_story
from commonwealth.flows.demo_people import Say, Teammate
from commonwealth.flows.demo_story import Days
from commonwealth.repo.common import git_dir
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER, FileLock

_WORKER_SECONDS = 15
_DAYS = Days()
_PEOPLE = (("Alice", "Codex"), ("Bob", "Claude Code"), ("Chen", "Codex"))
_BRANCHES = {"Alice": demo_story.BRANCH, "Bob": "fix/retry-once", "Chen": "log-answers"}


def run(folder: Path | None, say: Say, *, keep: bool = False, days: Days = _DAYS) -> Path:
    """Tell the story in `folder` (a new temporary one by default); it is removed at the end unless `keep`.

    It happens on `days`, whatever the clock says. Raises Refused where the folder is not empty or a command fails.
    """
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is no empty folder.", hint="Name a new folder for the demo.")
    place = folder or Path(tempfile.mkdtemp(prefix="commonwealth-demo-"))
    place.mkdir(parents=True, exist_ok=True)
    alice, bob, chen = team = tuple(Teammate(name, agent, place / name.lower(), say) for name, agent in _PEOPLE)
    try:
        demo_story.tell(_prepare(place, team), (alice, bob, chen), say, days)
    finally:
        for person in team:
            _let_finish(person)
        if keep:
            say(f"\nKept in {place}.")
        else:
            shutil.rmtree(place, ignore_errors=True)
    return place


def _prepare(place: Path, team: tuple[Teammate, ...]) -> Path:
    """The remote of the brain, still empty, and everybody's clone of the code."""
    git = Git(place)
    remote, code = place / "brain.git", place / "code.git"
    for bare in (remote, code):
        git.run("init", "--quiet", "--bare", "--initial-branch=main", "--", str(bare))
    first, *others = team
    git.run("clone", "--quiet", "--", str(code), str(first.code))
    for path in (demo_story.SERVICE, demo_story.POLICY):
        file = first.code / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("export {};\n", encoding="utf-8")
    own = Git(first.code)
    own.run("add", "--all")
    who = ("-c", f"user.name={first.name}", "-c", f"user.email={first.name.lower()}@example.com")
    own.run(*who, "commit", "--quiet", "--no-gpg-sign", "--message=Payments")
    own.run("push", "--quiet", "origin", "HEAD:refs/heads/main")
    for person in others:
        git.run("clone", "--quiet", "--", str(code), str(person.code))
    for person in team:
        own = Git(person.code)
        own.run("remote", "set-url", "origin", demo_story.CODE)
        own.run("checkout", "--quiet", "-b", _BRANCHES[person.name])
    return remote


def _let_finish(person: Teammate) -> None:
    """Wait for the background process of a clone, so that nothing writes into a folder that goes away."""
    with suppress(BrainError, OSError):
        lock = FileLock(os.path.join(git_dir(str(person.clone)), FOLDER, "worker.lock"), "demo")
        deadline = time.monotonic() + _WORKER_SECONDS
        while not lock.try_acquire() and time.monotonic() < deadline:
            time.sleep(0.05)
        lock.release()
