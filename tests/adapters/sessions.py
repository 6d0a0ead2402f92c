"""A person's machine with a project, a brain for it and a remote, and hooks run on it as a host runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 60
TITLE = "HTTP 409 means an idempotent payment already succeeded"
NOTE = f"""---
id: 2026-06-02-http-409-9f3d7k2m
kind: memory
type: gotcha
title: {TITLE}
summary: Treat it as success.
status: confirmed
confidence: high
created_at: 2026-06-02T12:20:00Z
updated_at: 2026-06-02T12:20:00Z
observed_at: 2026-06-02T12:15:00Z
repository: acme/shop
author: Alice
provenance:
  human: Alice
---
A retry would do the work twice.
"""
NOTE_PATH = "memory/2026-06/2026-06-02-http-409-9f3d7k2m.md"
GATE = """#!/bin/sh
# Stands in for ssh: tells of each call, waits while the gate is shut, then runs git's own command here.
echo "$$ $2" >> "{log}"
while [ -e "{shut}" ]; do sleep 0.02; done
echo "$$ end" >> "{log}"
eval exec "$2"
"""


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def until(condition: Callable[[], object], what: str = "it") -> None:
    """Wait until `condition` holds, for as long as a slow machine needs."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"{what} did not come to pass"
        time.sleep(0.02)


@dataclass(frozen=True)
class Done:
    """How a hook ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def answer(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        answer = json.loads(self.out)
        assert isinstance(answer, dict)
        return answer

    @property
    def context(self) -> str:
        """The text for the model."""
        return str(self.answer["hookSpecificOutput"]["additionalContext"])


@dataclass
class Machine:
    """One person's machine below `root`; the test's own HOME is the person's."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return Path(os.environ["COMMONWEALTH_HOME"])

    @property
    def brain(self) -> Path:
        return self.root / "brain"

    @property
    def remote(self) -> Path:
        return self.root / "remote.git"

    @property
    def project(self) -> Path:
        return self.root / "shop"

    @property
    def shut(self) -> Path:
        """While this file exists, every call of the remote hangs."""
        return self.root / "shut"

    def build(self) -> Machine:
        self.root.mkdir(parents=True, exist_ok=True)
        git(self.root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        self._build_brain()
        git(self.root, "init", "-q", "-b", "main", str(self.project))
        git(self.project, "remote", "add", "origin", "https://github.com/acme/shop.git")
        self.home.mkdir(parents=True)
        rules = f"rules:\n- match: github.com/acme/shop\n  brain: {self.brain}\n"
        (self.home / "registry.yaml").write_text(rules, encoding="utf-8")
        gate = self.root / "gate"
        gate.write_text(GATE.format(log=self.root / "calls", shut=self.shut), encoding="utf-8")
        gate.chmod(0o755)
        self.env |= {"GIT_SSH_COMMAND": str(gate), "GIT_SSH_VARIANT": "simple"}
        return self

    def _build_brain(self) -> None:
        git(self.root, "init", "-q", "-b", "main", str(self.brain))
        files = {
            ".commonwealth/config.yaml": "schema_version: 1\nname: acme\nkey: abc\n",
            ".gitignore": "/index/\n/staging/\n",
            NOTE_PATH: NOTE,
        }
        for path, text in files.items():
            (self.brain / path).parent.mkdir(parents=True, exist_ok=True)
            (self.brain / path).write_text(text, encoding="utf-8")
        (self.brain / ".git" / "commonwealth").mkdir()
        git(self.brain, "add", "-A")
        git(self.brain, "commit", "-q", "-m", "Start")
        git(self.brain, "remote", "add", "origin", f"ssh://git.test{self.remote}")
        git(self.brain, "push", "-q", str(self.remote), "main")
        git(self.brain, "fetch", "-q", str(self.remote), "main:refs/remotes/origin/main")

    def stdin(self, **fields: object) -> bytes:
        """What a host says, with the project as folder unless `fields` say otherwise."""
        said = {"session_id": "86044ae1", "cwd": str(self.project), "source": "startup", "reason": "other"}
        return json.dumps(said | fields).encode()

    def start_hook(
        self,
        event: str,
        *,
        host: str = "claude",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a hook in a process group of its own, with its streams on pipes, as a host does."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "commonwealth", "hook", event, "--host", host],
            cwd=cwd or self.project,
            env=os.environ | self.env | dict(env or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def hook(self, event: str, stdin: bytes | None = None, **how: Any) -> Done:
        """Run a hook to its end: until it is gone and nobody holds its streams."""
        process = self.start_hook(event, **how)
        out, err = process.communicate(self.stdin() if stdin is None else stdin, timeout=SECONDS)
        return Done(process.returncode, out, err)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the hooks' log."""
        path = self.home / "logs" / "hooks.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def calls(self) -> list[str]:
        """What the remote was asked for, and when each call was over, in order."""
        path = self.root / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def published(self, path: str) -> bool:
        """Whether the remote's main branch has a file."""
        done = subprocess.run(
            ["git", "-C", str(self.remote), "cat-file", "-e", f"main:{path}"],
            capture_output=True,
            check=False,
        )
        return done.returncode == 0

    def write(self, name: str) -> str:
        """A note that a person wrote by hand and did not commit; its path."""
        path = NOTE_PATH.replace("http-409", name)
        text = NOTE.replace("http-409-9f3d7k2m", f"{name}-9f3d7k2m").replace(TITLE, name)
        (self.brain / path).write_text(text, encoding="utf-8")
        return path

    def processes(self) -> Sequence[int]:
        """Processes, ours excepted, that live in this person's home, the dead and unreaped left out."""
        mark = f"HOME={os.environ['HOME']}\0".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                alive = place.joinpath("stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
                if alive and mark in place.joinpath("environ").read_bytes() and int(place.name) != os.getpid():
                    found.append(int(place.name))
            except OSError:
                continue
        return found

    def clear(self) -> None:
        """Open the gate and end what a test may have left."""
        self.shut.unlink(missing_ok=True)
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
