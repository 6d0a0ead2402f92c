"""Asking a host's own model: a process in an empty folder, with an end, whose output is bounded.

Only what `hosts.headless.Asked` holds as the prompt reaches its stdin; nothing of a session stands in its arguments or
its environment.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import IO

from commonwealth.errors import BrainError
from commonwealth.hosts import claude_model, codex_model
from commonwealth.hosts.headless import EXITED, NOT_INSTALLED, TIMED_OUT, UNPARSABLE, Asked, Call, Ended, Reply

MOST = 2 << 20
"""Bytes of each stream and file that are read of a host."""

_CONFIG = 4 << 20
_FAREWELL = 1.0
_running: set[int] = set()


def stop_all() -> None:
    """End every host that this process has asked, with its helpers: for a signal handler or a watchdog."""
    if os.name == "posix":
        for group in tuple(_running):
            _signal(group)


def ask(host: str, asked: Asked, *, seconds: float, env: Mapping[str, str]) -> Reply:
    """What the model of `host` answers within `seconds`. A failure is a reply with its reason, never an error.

    `env` is the environment around us: where the host's program and login are found.
    """
    adapter = claude_model if host == "claude" else codex_model
    inner = adapter.environment(env)
    program = shutil.which(adapter.PROGRAM, path=inner.get("PATH"))
    if program is None:
        return Reply(why=NOT_INSTALLED, detail=f"{adapter.PROGRAM} is not on PATH")
    try:
        with tempfile.TemporaryDirectory(prefix="commonwealth-", ignore_cleanup_errors=True) as scratch:
            empty, folder = os.path.join(scratch, "empty"), os.path.join(scratch, "files")
            os.mkdir(empty)
            os.mkdir(folder)
            call = _call(host, program, asked, folder, inner)
            for path, text in call.files.items():
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            ended = _run(call, asked.prompt, empty, inner, seconds)
    except BrainError as error:
        return Reply(why=EXITED, detail=error.message)
    except OSError as error:
        return Reply(why=EXITED, detail=f"it could not be started ({error.strerror or type(error).__name__})")
    return ended if isinstance(ended, Reply) else adapter.reply(ended)


def _call(host: str, program: str, asked: Asked, folder: str, env: Mapping[str, str]) -> Call:
    if host == "claude":
        return claude_model.call(program, asked, folder)
    config = _read(os.path.join(codex_model.home(env), "config.toml"), _CONFIG)
    return codex_model.call(program, asked, folder, config=config)


def _run(call: Call, prompt: str, folder: str, env: Mapping[str, str], seconds: float) -> Ended | Reply:
    """Start the process and wait for its end, or see to it; nothing that it started is left behind."""
    process = subprocess.Popen(
        call.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(env),
        start_new_session=True,
    )
    _running.add(process.pid)
    out, err = _Heard(process, process.stdout), _Heard(process, process.stderr)
    writer = threading.Thread(target=_tell, args=(process.stdin, prompt.encode("utf-8", "replace")), daemon=True)
    try:
        for thread in (out, err, writer):
            thread.start()
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return Reply(why=TIMED_OUT, detail=f"after {seconds:.0f} s")
    finally:
        _end(process)
        for thread in (out, err, writer):
            thread.join(_FAREWELL)
    if out.over or err.over:
        return Reply(why=UNPARSABLE, detail="it wrote more than an answer can be")
    answer = _read(call.answer, MOST) if call.answer else ""
    return Ended(process.returncode, out.text, err.text, answer)


class _Heard(threading.Thread):
    """Reads one stream of a process up to a bound, and ends the process where it writes more."""

    def __init__(self, process: subprocess.Popen[bytes], stream: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.stream = stream
        self.parts: list[bytes] = []
        self.over = False

    def run(self) -> None:
        assert self.stream is not None
        size = 0
        with self.stream, contextlib.suppress(OSError, ValueError):
            while part := self.stream.read1(1 << 16):  # type: ignore[attr-defined]
                size += len(part)
                if size > MOST:
                    self.over = True
                    _signal(self.process.pid)
                    return
                self.parts.append(part)

    @property
    def text(self) -> str:
        """What was read."""
        return b"".join(self.parts).decode("utf-8", "replace")


def _tell(stream: IO[bytes] | None, data: bytes) -> None:
    assert stream is not None
    with contextlib.suppress(OSError, ValueError):  # it may not want to hear all
        try:
            stream.write(data)
        finally:
            stream.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group, also what a process left behind that has ended itself."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
    else:
        _signal(process.pid)
    process.wait()
    _running.discard(process.pid)


def _signal(group: int) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _read(path: str, most: int) -> str:
    """The beginning of a file; nothing where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
