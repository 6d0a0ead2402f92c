"""The one place that starts git: hardened arguments, scrubbed environment, deadlines, typed failures.

What a repository's content or a remote can say must not choose what runs here: no hooks, no file-system
monitor, no pager, editor or prompt, no replace refs, no helper transports, no discovery of a bare repository
or of a repository above the root. The person's own git configuration (identity, credential helpers, ssh,
proxies, signing) stays in force.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Self

from commonwealth.errors import BrainError, Damaged, Refused
from commonwealth.repo import common
from commonwealth.repo.failures import Done, GitError, NoAccess, failure, redact, too_late
from commonwealth.safetext import clean

__all__ = ["Done", "Git", "GitError", "NoAccess", "Pipe", "decode", "encode", "fields", "redact"]

_ENCODING = sys.getfilesystemencoding()
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.fsync=committed",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.alternateRefsCommand=",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.bareRepository=explicit",
    # `user` is git's word for: typed by a person, not followed from a redirect or a submodule.
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.http.allow=user",
    "protocol.file.allow=user",
    "transfer.credentialsInUrl=die",
    # A transfer that stands still ends by itself, even if whoever started it was killed.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=90",
    "fetch.fsckObjects=true",
    # Old but harmless: tools of ten years ago wrote such trees and commits, and fsck would refuse them.
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "submodule.recurse=false",
    "log.showSignature=false",
    "color.ui=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)
_PREFIX = ("git", "--no-pager", *(word for setting in _SETTINGS for word in ("-c", setting)))

_KEPT = frozenset(
    {
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_EXEC_PATH",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_HTTP_PROXY_AUTHMETHOD",
    }
)
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "LC_ALL": "C" if os.name == "nt" else "C.UTF-8",
    "LANGUAGE": "C",  # with C.UTF-8, translations would still follow LANGUAGE
}
_UNATTENDED = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"}


_LONG_ANSWER = 1 << 20
"""Bytes."""

_running: set[int] = set()


def stop_all() -> None:
    """End every git that this process has running, with its helpers: for a signal handler or a watchdog.

    The calls that wait for them then raise as for any git that failed.
    """
    if os.name == "posix":
        for group in tuple(_running):
            _signal_group(group, signal.SIGKILL)


class Git:
    """Runs git in the repository whose work tree is exactly `root`.

    `interactive` lets the person's own askpass programs show up; hooks, servers and workers leave it off.
    Pathspecs are literal.
    """

    def __init__(self, root: str | os.PathLike[str], *, interactive: bool = False) -> None:
        self.root = os.path.realpath(root)
        self.interactive = interactive
        self.remotes: str | None = None
        """What `git remote -v` said, once `repo.remote` has asked."""
        self.facts: dict[tuple[str, ...], bytes] | None = None
        """Answers that never change, kept within `objects.reading`; None outside."""
        self.reader: Pipe | None = None
        """The process that reads objects there, once it was needed."""

    @property
    def git_dir(self) -> str:
        """This work tree's own git folder. Raises Damaged where there is none."""
        return common.git_dir(self.root)

    @property
    def common_dir(self) -> str:
        """The git folder that this repository's worktrees share."""
        return common.common_dir(self.git_dir)

    def run(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - the word that subprocess uses
        timeout: float | None = 60,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> bytes:
        """What `git *args` prints. `timeout` in seconds; `env` is added to the scrubbed environment.

        Raises what `failure` describes unless `check` is off; Offline (or GitError for a local verb) when
        the time is over; Refused where there is no git. Either way no process of it is left.
        """
        done = self.call(*args, input=input, timeout=timeout, env=env)
        if check and done.code:
            raise self.failure(done)
        return done.out

    def fact(self, *args: str) -> bytes:
        """`run` for a question that names objects in full, so that its answer never changes: within
        `objects.reading` it is asked once, unless the answer is long."""
        known = self.facts.get(args) if self.facts is not None else None
        if known is None:
            known = self.run(*args)
            if self.facts is not None and len(known) <= _LONG_ANSWER:
                self.facts[args] = known
        return known

    def text(self, *args: str, timeout: float | None = 60) -> str:
        """What `git *args` prints, as text without the line end."""
        return decode(self.run(*args, timeout=timeout)).rstrip("\n")

    def holds(self, *args: str) -> bool:
        """Whether a yes-or-no command (`merge-base --is-ancestor`, `diff --quiet`) exits 0 rather than 1."""
        done = self.call(*args)
        if done.code not in (0, 1) or "Could not read" in done.err:  # "no" because of what it could not read
            raise self.failure(done)
        return done.code == 0

    def resolve(self, ref: str) -> str | None:
        """The commit that `ref` names, or None where there is no such commit."""
        done = self.call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return done.out.decode("ascii").strip() or None if done.code == 0 else None

    def signing(self) -> tuple[str, ...]:
        """The words that `commit-tree` needs to sign, if the person's own configuration asks for signed
        commits: plumbing does not look at `commit.gpgSign` itself."""
        done = self.call("config", "--type=bool", "--get", "commit.gpgSign")
        return ("-S",) if done.out.strip() == b"true" else ()

    def call(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - the word that subprocess uses
        timeout: float | None = 60,
        env: Mapping[str, str] | None = None,
    ) -> Done:
        """Run `git *args` whatever its exit code. Raises as `run` does for time-outs and a missing git."""
        with _scratch_file() as log:
            process = _start(self, args, log, env, stdin=input is not None)
            try:
                out, _ = process.communicate(input, timeout)
            except subprocess.TimeoutExpired:
                raise too_late(args, timeout) from None
            finally:
                _finish(process)
            return Done(args, process.returncode, out, _messages(log))

    def open(self, *args: str) -> Pipe:
        """Start a git that is spoken to over its standard input and output, as a context manager."""
        return Pipe(self, args)

    def environment(self) -> dict[str, str]:
        """The environment that git gets: the person's own, without what could redirect or prompt."""
        kept = _KEPT | {"GIT_ASKPASS"} if self.interactive else _KEPT
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith("GIT_") or name.upper() in kept
        }
        env.update(_FIXED)
        if not self.interactive:
            env.update(_UNATTENDED)
        # Never a repository above the root: a brain without its .git may lie inside somebody's code.
        env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(self.root)
        return env

    def failure(self, done: Done) -> BrainError:
        """The typed error for a command that `call` saw fail (see `failures`)."""
        return failure(done, self.root)


class Pipe:
    """A running git that answers what it is asked (`cat-file --batch`, `mktree --batch`)."""

    def __init__(self, git: Git, args: tuple[str, ...]) -> None:
        self._git = git
        self._args = args

    def __enter__(self) -> Self:
        self._log = _scratch_file()
        try:
            self._process = _start(self._git, self._args, self._log, None, stdin=True)
        except BaseException:
            self._log.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _finish(self._process, patience=2)
        self._log.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether git is gone."""
        return self._process.poll() is not None

    def send(self, data: bytes) -> None:
        """Write `data` to git's standard input. Raises what `Git.failure` says if git has ended."""
        try:
            self._in.write(data)
            self._in.flush()
        except BrokenPipeError:
            raise self.broken() from None

    def line(self) -> bytes:
        """The next line that git prints, with its line end."""
        line = self._out.readline()
        if not line.endswith(b"\n"):
            raise self.broken()
        return line

    def read(self, size: int) -> bytes:
        """The next `size` bytes that git prints."""
        data = self._out.read(size)
        if len(data) != size:
            raise self.broken()
        return data

    def broken(self) -> BrainError:
        """The typed error for a git that ended, or said what nobody asked for."""
        _finish(self._process)
        return self._git.failure(Done(self._args, self._process.returncode, b"", _messages(self._log)))


def decode(data: bytes) -> str:
    """Git's bytes as text, as the file system's names are; foreign bytes survive as surrogates."""
    return data.decode(_ENCODING, "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` made `text` from."""
    return text.encode(_ENCODING, "surrogateescape")


def fields(data: bytes) -> list[str]:
    """NUL-separated output (`-z`) as text, without the last, empty field."""
    parts = decode(data).split("\0")
    if parts[-1] == "":
        parts.pop()
    return parts


def _start(
    git: Git, args: tuple[str, ...], log: IO[bytes], env: Mapping[str, str] | None, *, stdin: bool
) -> subprocess.Popen[bytes]:
    # stderr is a file, not a pipe: a helper that outlives git (an ssh master) would hold a pipe open.
    # The session of its own has no terminal, so that nothing can prompt, and is ended as a whole.
    common.refuse_pipes(git.root)
    try:
        process = subprocess.Popen(
            [*_PREFIX, "-C", git.root, *args],
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=git.environment() | dict(env or {}),
            cwd=git.root,
            start_new_session=True,
        )
    except FileNotFoundError:
        if not os.path.isdir(git.root):
            raise Damaged(f"The folder {git.root} is gone.") from None
        hint = "Install git 2.38 or newer, then try again."
        raise Refused("git was not found on PATH.", hint=hint) from None
    except NotADirectoryError:
        raise Damaged(f"{git.root} is not a folder.") from None
    except ValueError:
        raise Refused("A name that git was to be given contains a NUL character.") from None
    except OSError as error:
        hint = "Make room for processes or memory, then try again; nothing was lost."
        raise Refused(f"git could not be started: {error.strerror or error}.", hint=hint) from None
    _running.add(process.pid)
    return process


def _messages(log: IO[bytes]) -> str:
    log.seek(0)
    text = clean(decode(log.read(1 << 20)))
    # The shell that runs these names them in its complaints, with whatever stands in them.
    for name in ("GIT_SSH_COMMAND", "GIT_SSH"):
        value = clean(os.environ.get(name, "")).strip()
        if " " in value:
            text = text.replace(value, f"${name}")
    return redact(text).strip()


def _scratch_file() -> IO[bytes]:
    """A nameless file for git's messages; `tempfile` would cost a hook more than git itself."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("git-messages"), "w+b")
    folder = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 - O_EXCL below
    path = os.path.join(folder, f"commonwealth-{os.getpid()}-{os.urandom(8).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0)
    file = os.fdopen(os.open(path, flags, 0o600), "w+b")
    if os.name == "posix":
        os.unlink(path)
    return file


def _finish(process: subprocess.Popen[bytes], patience: float = 0) -> None:
    """Close our ends, and end git with its helpers if it has not ended within `patience` seconds."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    if process.poll() is None:
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            _end(process)
    _running.discard(process.pid)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group: asked first, so that git can remove its lock files."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
    else:
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.3)
        _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
