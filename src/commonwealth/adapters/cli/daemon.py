"""`brain daemon`: one brain kept in sync by a process in the foreground, for those who want one."""

from __future__ import annotations

import os
import plistlib
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from commonwealth.adapters import show, show_past
from commonwealth.adapters.cli import documents
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.errors import Refused
from commonwealth.flows import heartbeat
from commonwealth.flows.brains import Brain
from commonwealth.flows.daemon import INTERVAL, SHORTEST, Daemon, Stopped
from commonwealth.model import Receipt

daemon_command = Group(
    "daemon",
    help="Keep a brain in sync without waiting for a session or a command.\n\n"
    "Nobody needs a daemon: every session and every write syncs by itself. It is for a machine that should always be "
    "up to date. Hooks leave their work to it, and do it themselves when it has missed two polls.",
)

interval_option = click.option(
    "--interval",
    type=click.FloatRange(min=SHORTEST),
    default=INTERVAL,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between two looks at the remote.",
)


@command("run", "brain daemon run", "brain daemon run --brain acme --interval 30")
@interval_option
@with_call
def run_command(call: Call, interval: float) -> int:
    """Poll, sync and index in the foreground until it is ended (Ctrl-C, or SIGTERM).

    One line is printed for each change. A brain has one daemon: a second one says so and ends with exit code 6.
    """
    brain = call.brain()
    daemon = Daemon(brain.root, interval)
    if not call.screen.as_json:
        teller = _Teller(call)
        daemon.begun = partial(teller.begun, f"Serving {brain.name} at {brain.root} every {interval:g} s")
        daemon.say = teller.say
    _until_signalled(daemon)
    if call.screen.as_json:
        call.screen.document({"rounds": daemon.rounds})
    return 0


class _Teller:
    """Says what a round did where it did something, or ended otherwise than the one before."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._last: tuple[str, str | None] | None = None

    def begun(self, text: str) -> None:
        self._call.screen.line(text)
        self._call.screen.out.flush()

    def say(self, receipt: Receipt) -> None:
        told = (receipt.state, receipt.reason)
        if receipt.pulled or receipt.pushed or receipt.conflicts or (told != self._last and receipt.reason):
            show.receipt(self._call.screen, receipt)
            self._call.screen.out.flush()
        self._last = told


def _until_signalled(daemon: Daemon) -> None:
    """Run `daemon` until it ends or a signal asks it to: wherever it is then, its git and its locks go with it."""
    asked: list[int] = []

    def ring(number: int, _frame: object) -> None:
        for other in (signal.SIGTERM, signal.SIGINT):
            signal.signal(other, signal.SIG_IGN)
        asked.append(number)
        raise Stopped

    daemon.stopping = lambda: bool(asked)
    before = {number: signal.signal(number, ring) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        daemon.run()
    except Stopped:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@command("status", "brain daemon status --json")
@with_call
def status_command(call: Call) -> int:
    """Show whether a daemon serves the brain, and what its last sync came to."""
    found = heartbeat.pulse(call.brain().root)
    if call.screen.as_json:
        call.screen.document(documents.daemon(found))
    else:
        show_past.daemon(call.screen, found)
    return 0


@command("unit", "brain daemon unit --kind systemd > ~/.config/systemd/user/brain.service")
@click.option("--kind", type=click.Choice(("systemd", "launchd")), required=True, help="What starts services here.")
@interval_option
@with_call
def unit_command(call: Call, kind: str, interval: float) -> int:
    """Print the text that makes systemd or launchd keep the daemon running. Nothing is written or started."""
    brain = call.brain()
    text = _UNITS[kind](brain, _words(brain, interval), _environment())
    if call.screen.as_json:
        call.screen.document({"kind": kind, "text": text})
    else:
        call.screen.exactly(text)
    return 0


def _words(brain: Brain, interval: float) -> list[str]:
    """The command of the daemon, by full paths. Raises Refused for a path that no unit can name."""
    words = [
        sys.executable, "-P", "-m", "commonwealth", "daemon", "run",
        "--brain", str(brain.root), "--interval", f"{interval:g}",
    ]  # fmt: skip
    for word in words:
        if not word.isprintable():
            raise Refused(f"{word!r} holds a character that a unit cannot name.", hint="Move it to another path.")
    return words


def _environment() -> dict[str, str]:
    """What of the environment the daemon needs to find git, ssh and our own folder."""
    kept = {name: os.environ.get(name) for name in ("COMMONWEALTH_HOME", "PATH")}
    return {name: value for name, value in kept.items() if value and value.isprintable()}


def _systemd(brain: Brain, words: list[str], environment: dict[str, str]) -> str:
    """See systemd.service(5) and systemd.syntax(7) for the quoting."""
    settings = "".join(f"Environment={_quoted(f'{name}={value}', '')}\n" for name, value in environment.items())
    return (
        "[Unit]\n"
        f"Description=Commonwealth brain {_plain(brain)}\n"
        "\n"
        "[Service]\n"
        f"ExecStart={' '.join(_quoted(word) for word in words)}\n"
        f"{settings}"
        "Restart=on-failure\n"
        "RestartSec=30\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _quoted(word: str, variable: str = "$") -> str:
    """One word of a command line in a unit: quoted, without specifiers and, in commands, without variables."""
    for char in ("\\", '"'):
        word = word.replace(char, f"\\{char}")
    word = word.replace("%", "%%")
    return f'"{word.replace("$", "$$") if variable else word}"'


def _plain(brain: Brain) -> str:
    """The brain's name in the letters that every unit may hold."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", brain.name).strip("-") or "brain"


def _launchd(brain: Brain, words: list[str], environment: dict[str, str]) -> str:
    """See launchd.plist(5)."""
    settings = {
        "Label": f"commonwealth.brain.{_plain(brain)}",
        "ProgramArguments": words,
        "EnvironmentVariables": environment,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "WorkingDirectory": str(Path(brain.root).anchor),
    }
    return plistlib.dumps(settings, sort_keys=False).decode("utf-8")


_UNITS: dict[str, Callable[[Brain, list[str], dict[str, str]], str]] = {"systemd": _systemd, "launchd": _launchd}


for made in (run_command, status_command, unit_command):
    daemon_command.add_command(made)
