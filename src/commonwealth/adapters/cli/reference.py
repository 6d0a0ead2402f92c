"""Writes `docs/reference/cli.md` from the commands: `python -m commonwealth.adapters.cli.reference`.

It is run in the folder of a checkout. With `--check` nothing is written; the exit code says whether the page
is what the commands make.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from commonwealth.adapters.cli import root
from commonwealth.adapters.cli.frame import Command

PATH = Path("docs", "reference", "cli.md")

_INTRO = """\
# The command line

<!-- Made from the code by `python -m commonwealth.adapters.cli.reference`; edit the commands, not this page. -->

Which brain a command works on: `--brain`, else the variable `COMMONWEALTH_BRAIN`, else a joined brain around the
current folder, else your rule for the repository or folder. The options `--brain`, `-C` and `--json` stand after the
command's name.

With `--json` a command prints one JSON document on stdout and nothing else. Values are exact; everything but ASCII
is escaped. Errors are two lines on stderr: `error:` says what happened, `hint:` what to do next. A command that fails
before it has an answer prints the receipt `{"state": "refused", "reason": …, "next": …, …}` instead (`deferred` where
the remote was not reached); the exit code is that of the error.

On a terminal results come in columns and colour (`NO_COLOR` turns colour off); in a pipe a list is one line an entry,
its cells parted by tabs. Text of notes is shown without control characters, and characters that the console's encoding
lacks are replaced.

| exit code | means |
|---|---|
| 0 | done; a note is committed, even if sharing it waits |
| 1 | refused; nothing was changed |
| 2 | the call was wrong |
| 3 | a fault of `brain` itself; a log file below `COMMONWEALTH_HOME/logs` has the details |
| 4 | a person has to decide: a note waits for review, or a conflict came up with this call |
| 5 | offline: `sync` was deferred |
| 6 | busy: another process holds the brain |
| 7 | damaged: a file or repository cannot be worked with, and was left as it is |
| 130 | interrupted |

| variable | means |
|---|---|
| `COMMONWEALTH_HOME` | your folder: brains, rules, config, logs; `~/.commonwealth` |
| `COMMONWEALTH_BRAIN` | the brain to use, a name or a path |
| `COMMONWEALTH_AUTHOR`, `COMMONWEALTH_AUTHOR_EMAIL` | who you are, instead of git's `user.name` and `user.email` |
| `COMMONWEALTH_DISABLE=1` | hooks do nothing |
| `COMMONWEALTH_NOW` | an ISO 8601 instant that stands for the clock |

Completion in the shell: put the line of yours into its start-up file.

| shell | line |
|---|---|
| bash | `eval "$(_BRAIN_COMPLETE=bash_source brain)"` |
| zsh | `eval "$(_BRAIN_COMPLETE=zsh_source brain)"` |
| fish | `_BRAIN_COMPLETE=fish_source brain \\| source` |
"""


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is current (0) or not (1)."""
    text = generated()
    if "--check" in arguments:
        return 0 if PATH.is_file() and PATH.read_text(encoding="utf-8") == text else 1
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(text, encoding="utf-8", newline="\n")
    return 0


def generated() -> str:
    """The text of the page."""
    context = click.Context(root, info_name="brain")
    parts = [_INTRO]
    for heading, commands in root.tree.items():
        parts.append(f"\n## {heading}\n")
        for name in commands:
            found = root.get_command(context, name)
            if found is not None:
                parts.extend(_pages(found, click.Context(found, info_name=name, parent=context)))
    return "".join(parts)


def _pages(command: click.Command, context: click.Context) -> Iterator[str]:
    """The sections of a command, and of those below it."""
    help_text = inspect.cleandoc(command.help or "")
    yield f"\n### {context.command_path}\n\n{help_text}\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from _pages(found, click.Context(found, info_name=name, parent=context))
        return
    usage = command.get_usage(context).removeprefix("Usage: ")
    yield f"\n```\n{' '.join(usage.split())}\n```\n"
    yield from _options(command, context)
    if isinstance(command, Command):
        yield "\n```sh\n" + "\n".join(command.examples) + "\n```\n"


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
    told = [record for record in records if record is not None]
    if told:
        yield "\n| option | means |\n|---|---|\n"
    for names, meaning in told:
        yield f"| `{_cell(names)}` | {_cell(meaning)} |\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
