"""Scratch machines for the real clients: a home, a project, a session, and what the model received.

    box = ClaudeBox(tmp_path)
    result = box.run("hello", ["hi"], plugin_dirs=[PLUGIN])
    assert "my context" in result.context(0)

The only network address that a client is given is the fake server's, on the loopback interface.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import commonwealth

from . import fake_anthropic, fake_openai
from .fake_base import Body, Request, Say

FAKE_KEY = "sk-fake-key-for-tests-0000000000"
PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class ClientMissing(RuntimeError):
    """The real client is not installed here; the message says how to get it."""


def find_client(name: str, env: Mapping[str, str] = os.environ) -> str:
    """The path of `claude` or `codex`: below `AI_CLIENTS_DIR`, else on PATH. Raises ClientMissing."""
    folder = env.get("AI_CLIENTS_DIR")
    places = [str(Path(folder, "node_modules", ".bin"))] if folder else []
    found = shutil.which(name, path=os.pathsep.join([*places, env.get("PATH", os.defpath)]))
    if found is None:
        how = "sh tests/e2e/install_clients.sh DIR, then AI_CLIENTS_DIR=DIR"
        raise ClientMissing(f"{name} ({PACKAGES[name]}) is not installed: {how}")
    return found


@dataclass(frozen=True, slots=True)
class Result:
    """What one session did. `returncode` is None when it had to be ended after its time."""

    returncode: int | None
    stdout: str
    stderr: str
    requests: tuple[Request, ...]
    contexts: tuple[str, ...]

    @property
    def main(self) -> list[Body]:
        """The requests of the main conversation."""
        return [request.body for request in self.requests if request.kind == "main"]

    def context(self, number: int = -1) -> str:
        """All text that the model received in one request of the main conversation."""
        return self.contexts[number]


class Box:
    """A scratch machine: a home with `brain` on its PATH, and a project folder."""

    client: ClassVar[str]

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        self.executable = find_client(self.client)
        self.root = root.resolve()
        self.home = self.root / "home"
        self.cwd = self.root / "project"
        self.bin = self.root / "bin"
        for folder in (self.home, self.cwd, self.bin):
            folder.mkdir(parents=True, exist_ok=True)
        self.extra = dict(env or {})
        self._put_brain_on_path()

    def _put_brain_on_path(self) -> None:
        source = Path(commonwealth.__file__).parent.parent
        brain = self.bin / "brain"
        brain.write_text(
            f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -P -m commonwealth "$@"\n',
            encoding="utf-8",
        )
        brain.chmod(0o755)

    def env(self) -> dict[str, str]:
        """The environment of everything that runs on this machine."""
        env = {name: os.environ[name] for name in KEPT if name in os.environ}
        env["PATH"] = os.pathsep.join([str(self.bin), str(Path(self.executable).parent), env["PATH"]])
        env |= {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb"}
        env |= {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
        return env | self.extra

    def shell(self, *command: str, cwd: Path | None = None, stdin: str | None = None) -> str:
        """Run a command on this machine, as its user would; its output. Fails the test where it fails."""
        done = subprocess.run(
            command,
            cwd=cwd or self.cwd,
            env=self.env(),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def _session(self, command: Sequence[str], env: Mapping[str, str], seconds: float) -> tuple[int | None, str, str]:
        """Run one client in a process group of its own; after `seconds` end that group only."""
        process = subprocess.Popen(
            command,
            cwd=self.cwd,
            env=env,
            encoding="utf-8",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return None, out, err
        return process.returncode, out, err


class ClaudeBox(Box):
    """A scratch machine with Claude Code."""

    client = "claude"

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        super().__init__(root, env)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        state = {
            "hasCompletedOnboarding": True,
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [FAKE_KEY[-20:]], "rejected": []},
            "projects": {str(self.cwd): trusted},
        }
        (self.home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")

    def env(self) -> dict[str, str]:
        quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
        own = dict.fromkeys((*quiet, "DISABLE_AUTOUPDATER", "IS_SANDBOX"), "1")
        # Port 9 answers nothing: a sub-command that should need no model cannot reach one.
        return super().env() | own | {"ANTHROPIC_API_KEY": FAKE_KEY, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}

    def run(
        self,
        prompt: str,
        turns: Sequence[Say] = (),
        *,
        plugin_dirs: Iterable[Path] = (),
        args: Sequence[str] = (),
        bypass: bool = True,
        seconds: float = 90,
    ) -> Result:
        """One headless session, `claude -p PROMPT`; without `bypass` each tool needs its permission."""
        command = [self.executable, "-p", prompt, "--output-format", "json"]
        if bypass:
            command.append("--dangerously-skip-permissions")
        for folder in plugin_dirs:
            command += ["--plugin-dir", str(folder)]
        with fake_anthropic.FakeAnthropic(turns) as fake:
            env = self.env() | {"ANTHROPIC_BASE_URL": fake.url}
            code, out, err = self._session([*command, *args], env, seconds)
            seen = [fake_anthropic.text_of(r.body) for r in fake.requests if r.kind == "main"]
            return Result(code, out, err, tuple(fake.requests), tuple(seen))


class CodexBox(Box):
    """A scratch machine with Codex."""

    client = "codex"

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        super().__init__(root, env)
        self.config_dir = self.home / ".codex"
        self.config_dir.mkdir()
        config = "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
        config += f'[projects."{self.cwd}"]\ntrust_level = "trusted"\n'
        (self.config_dir / "config.toml").write_text(config, encoding="utf-8")

    def env(self) -> dict[str, str]:
        return super().env() | {"CODEX_HOME": str(self.config_dir), "FAKE_OPENAI_KEY": FAKE_KEY}

    def run(
        self,
        prompt: str,
        turns: Sequence[Say] = (),
        *,
        args: Sequence[str] = (),
        trust_hooks: bool = True,
        bypass: bool = True,
        seconds: float = 90,
        model: str = "scripted",
    ) -> Result:
        """One headless session, `codex exec PROMPT`; without `bypass` a tool that needs a person is refused. The tools
        that Codex offers depend on the `model`: to one that it does not know it offers no patches."""
        with fake_openai.FakeOpenAI(turns) as fake:
            command = [self.executable, "exec", *_provider(fake.url, model), "--skip-git-repo-check"]
            if bypass:
                command.append("--dangerously-bypass-approvals-and-sandbox")
            if trust_hooks:
                command.append("--dangerously-bypass-hook-trust")
            code, out, err = self._session([*command, *args, prompt], self.env(), seconds)
            seen = [fake_openai.text_of(r.body) for r in fake.requests if r.kind == "main"]
            return Result(code, out, err, tuple(fake.requests), tuple(seen))


def _provider(url: str, model: str) -> list[str]:
    """The options that point Codex at the fake server; the user's own config stays as it is."""
    settings = {
        "model": f'"{model}"',
        "model_provider": '"fake"',
        "model_providers.fake.name": '"fake"',
        "model_providers.fake.base_url": f'"{url}/v1"',
        "model_providers.fake.wire_api": '"responses"',
        "model_providers.fake.env_key": '"FAKE_OPENAI_KEY"',
        "model_providers.fake.request_max_retries": "0",
        "model_providers.fake.stream_max_retries": "0",
    }
    return [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
