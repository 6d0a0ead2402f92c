"""What is kept of a fault of ours: a file ready for a bug report, without the user's text."""

from __future__ import annotations

import os
import platform
import re
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from commonwealth import __version__, config, timeline

KEPT = 20
_MESSAGE_LIMIT = 300
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_OPTION = re.compile(r"(-[A-Za-z]$|--[a-z][a-z-]{1,20})(?:=|$)")
_LONG = re.compile(r"[^\s/\\]{24,}")


def write(error: BaseException, arguments: list[str]) -> str:
    """Write a markdown file about `error` below `COMMONWEALTH_HOME/logs` and return its path.

    The file names versions, the command with its options but not their values, and the stack; quoted parts
    and long words of messages are left out, since they may come from a note. The newest 20 files are kept.
    Raises OSError where the folder cannot be written.
    """
    folder = config.home() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"fault-{_stamp()}-{os.getpid()}.md"
    path.write_text(report(error, arguments), encoding="utf-8", newline="\n")
    for old in sorted(folder.glob("fault-*.md"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return str(path)


def _stamp() -> str:
    try:
        now = timeline.now()
    except ValueError:  # a clock that was set wrongly hides no fault
        now = timeline.render(datetime.now(UTC))
    return re.sub(r"[^0-9TZ]", "", now)


def report(error: BaseException, arguments: list[str]) -> str:
    """The text of a fault file."""
    versions = (
        f"- commonwealth {__version__}, Python {platform.python_version()}\n- {platform.system()} {platform.release()}"
    )
    return (
        f"# `brain` met a {type(error).__name__}\n\n{versions}\n- command: `{_command(arguments)}`\n\n"
        f"```\n{_home_hidden(_stack(error))}```\n"
    )


def _command(arguments: list[str]) -> str:
    """The words of a command without anything that a person typed as content."""
    words = [word for word in arguments[:2] if re.fullmatch(r"[a-z]+(-[a-z]+)?", word)]
    options = [match[1] for word in arguments if (match := _OPTION.match(word))]
    return " ".join(["brain", *words[: 2 if words[:1] in (["rules"], ["plugin"]) else 1], *options])


def _stack(error: BaseException) -> str:
    """The stack of `error` and of what led to it, innermost cause first."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = f"{_stack(cause)}\nwhich led to\n\n" if cause is not None else ""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{before}{frames}{type(error).__name__}: {_message(error)}\n"


def _message(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0][:_MESSAGE_LIMIT]
    return _LONG.sub("…", _QUOTED.sub("'…'", first))


def _home_hidden(text: str) -> str:
    home = str(Path.home())
    shown = text.replace(sys.prefix, "<python>")
    return shown.replace(home, "~") if len(home) > 1 else shown


def without_secrets(text: str) -> str:
    """What may be told of a failure: a command repeats what it was given, and that may hold a secret."""
    from commonwealth.curate import secrets  # noqa: PLC0415  # for failures only

    return secrets.mask(text)
