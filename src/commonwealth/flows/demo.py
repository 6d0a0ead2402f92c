"""Three teammates share a brain through git: a story told with the real commands on real repositories.

No network and no account: the team's remote is a bare repository in a temporary folder, and each person has a
home, a configuration and a clone of the code of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commonwealth.errors import BrainError, Refused
from commonwealth.repo.common import git_dir
from commonwealth.repo.git import Git
from commonwealth.repo.lock import FOLDER, FileLock
from commonwealth.safetext import clean

Say = Callable[[str], None]

CODE = "https://git.example.com/acme/commerce-platform.git"
_COMMAND_SECONDS = 60
_WORKER_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Teammate:
    """One person of the story on a machine of their own."""

    name: str
    machine: Path
    say: Say

    @property
    def code(self) -> Path:
        """Their clone of the code repository."""
        return self.machine / "commerce-platform"

    @property
    def clone(self) -> Path:
        """Their clone of the brain."""
        return self.machine / "brain"

    def environment(self) -> dict[str, str]:
        """Theirs alone: nothing of the user's configuration takes part."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "COMMONWEALTH_"))}
        return kept | {
            "HOME": str(self.machine),
            "USERPROFILE": str(self.machine),
            "COMMONWEALTH_HOME": str(self.machine / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": self.name,
            "COMMONWEALTH_AUTHOR_EMAIL": f"{self.name.lower()}@example.com",
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
        }

    def brain(self, *words: str, feed: str = "", show: bool = True) -> str:
        """Run `brain *words` in their code repository, and tell what was typed and what came back."""
        if show:
            self.say(f"  {self.name}$ brain {' '.join(map(_quoted, words))}")
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", *words],
            cwd=self.code,
            env=self.environment(),
            input=feed,
            capture_output=True,
            encoding="utf-8",
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if done.returncode:
            raise Refused(f"`brain {words[0]}` failed in the demo: {clean(done.stderr).strip()}")
        if show:
            for line in done.stdout.rstrip().splitlines():
                self.say(f"      {line}")
        return done.stdout


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word or not word else word


def run(folder: Path | None, say: Say, *, keep: bool = False) -> Path:
    """Tell the story in `folder` (a new temporary one by default); it is removed at the end unless `keep`.

    Raises Refused where the folder is not empty or a command fails.
    """
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is no empty folder.", hint="Name a new folder for the demo.")
    place = folder or Path(tempfile.mkdtemp(prefix="commonwealth-demo-"))
    place.mkdir(parents=True, exist_ok=True)
    team = tuple(Teammate(name, place / name.lower(), say) for name in ("Alice", "Bob", "Chen"))
    try:
        _prepare(place, team)
        _story(place, team, say)
    finally:
        for person in team:
            _let_finish(person)
        if keep:
            say(f"\nKept in {place}.")
        else:
            shutil.rmtree(place, ignore_errors=True)
    return place


def _prepare(place: Path, team: tuple[Teammate, ...]) -> None:
    git = Git(place)
    git.run("init", "--quiet", "--bare", "--initial-branch=main", "--", str(place / "brain.git"))
    for person in team:
        person.machine.mkdir()
        git.run("init", "--quiet", "--initial-branch=main", "--", str(person.code))
        Git(person.code).run("remote", "add", "origin", CODE)


def _let_finish(person: Teammate) -> None:
    """Wait for the background process of a clone, so that nothing writes into a folder that goes away."""
    with suppress(BrainError, OSError):
        lock = FileLock(os.path.join(git_dir(str(person.clone)), FOLDER, "worker.lock"), "demo")
        deadline = time.monotonic() + _WORKER_SECONDS
        while not lock.try_acquire() and time.monotonic() < deadline:
            time.sleep(0.05)
        lock.release()


def _story(place: Path, team: tuple[Teammate, ...], say: Say) -> None:
    alice, bob, chen = team
    remote = str(place / "brain.git")
    say("Alice makes the team's brain. Its remote is an ordinary git repository.\n")
    alice.brain("init", str(alice.clone), "--name", "acme", "--remote", remote)
    alice.brain("search", "payment retry 409")
    say("\nNobody knows. She finds out the hard way, and records it.\n")
    alice.brain(
        *("remember", "HTTP 409 means an idempotent payment already succeeded"),
        *("--type", "gotcha", "--status", "confirmed", "--confidence", "high", "--component", "payments"),
        *("--file", "src/payments/PaymentService.ts"),
        *("--evidence", "An integration test reproduced 409 after a completed idempotency key."),
        *("-m", "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing."),
    )
    alice.brain("sync")
    note = next((alice.clone / "memory").rglob("2*.md"))
    say(f"\nWhat git now holds, as one file ({note.relative_to(alice.clone).as_posix()}):\n")
    for line in note.read_text(encoding="utf-8").splitlines():
        say(f"      {line}")

    say("\nBob joins. This is all that his next Claude Code session is told, before its first word:\n")
    bob.brain("join", remote, str(bob.clone))
    _session(bob, say)

    say("\nChen and Bob write at the same time, neither having seen the other's note.\n")
    chen.brain("join", remote, str(chen.clone), show=False)
    bob.brain("remember", "Refunds are booked a day later than payments", "--component", "ledger", "-m", _REFUNDS)
    chen.brain("decide", "Payments go through the queue", "--component", "payments", "-m", _QUEUE)
    for person in (bob, chen, bob, alice):
        person.brain("sync", show=person is not alice)
    chen.brain("search", "refunds ledger")
    _compare(team, say)


_REFUNDS = "The ledger closes at midnight UTC, and refunds are written by the nightly run."
_QUEUE = "A payment request is put on the queue and answered at once; a call that waits was rejected."


def _session(person: Teammate, say: Say) -> None:
    call = {"session_id": "demo", "cwd": str(person.code), "hook_event_name": "SessionStart", "source": "startup"}
    answer = person.brain("hook", "SessionStart", "--host", "claude", feed=json.dumps(call), show=False)
    told = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer.strip() else "(nothing)"
    for line in told.splitlines():
        say(f"      {line}")


def _compare(team: tuple[Teammate, ...], say: Say) -> None:
    say("\nThe history that everybody shares:\n")
    for line in Git(team[0].clone).text("log", "--graph", "--format=%h %an: %s", "origin/main").splitlines():
        say(f"      {clean(line)}")
    trees = {Git(person.clone).text("rev-parse", "HEAD^{tree}") for person in team}
    same = "the same bytes" if len(trees) == 1 else "DIFFERENT bytes"
    say(f"\nAlice's, Bob's and Chen's clones hold {same}: tree {' '.join(sorted(tree[:12] for tree in trees))}.")
    if len(trees) != 1:
        raise Refused("The three clones differ, which must not happen.")
