"""Every command is helped, documented, quick to find, and loads only itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from commonwealth.adapters.cli import reference, root
from commonwealth.adapters.cli.frame import Command

Brain = Callable[..., "subprocess.CompletedProcess[bytes]"]
REPOSITORY = Path(__file__).parents[2]


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from leaves(found, (*path, name))
        else:
            yield (*path, name), found


COMMANDS = dict(leaves(root))
MODULES = {place for part in root.tree.values() for place, _ in part.values()}


def test_the_commands_of_the_design_are_there() -> None:
    assert {" ".join(words) for words in COMMANDS} == {
        "init", "join", "remember", "decide", "search", "recall", "read", "update", "supersede", "retract", "sync",
        "status",
        "rebuild-index", "rules list", "rules add", "rules remove", "rules check", "whoami", "import", "mcp",
        "hook", "plugin install", "plugin status", "plugin uninstall", "demo", "doctor", "brief",
        "conflicts list", "conflicts resolve", "history", "daemon run", "daemon status", "daemon unit",
        "capture", "curate", "verify", "consolidate",
        "check", "secrets check", "secrets allow", "secrets list", "secrets revoke",
        "review list", "review show", "review approve", "review reject", "review edit", "review pr",
        "config list", "config get", "config set", "config unset", "config consent",
        "work start", "work search", "work update", "work complete", "work abandon", "work list",
    }  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_explained_in_sentences_with_an_example(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]

    assert command.help
    assert all(re.search(r"[.:]$", part.strip()) for part in command.help.split("\n\n"))
    assert isinstance(command, Command)
    assert command.examples
    assert all(" ".join(words) in example for example in command.examples)
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.help.endswith("."), option.name


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_takes_the_three_common_options(words: tuple[str, ...]) -> None:
    names = {name for option in COMMANDS[words].params for name in option.opts}

    assert {"--brain", "-C", "--json"} <= names


@pytest.mark.parametrize("words", [(), ("rules",), ("plugin",), *COMMANDS], ids=" ".join)
def test_help_is_printed_in_ascii_and_exits_0(words: tuple[str, ...], brain: Brain) -> None:
    done = brain(*words, "--help", env={"PYTHONIOENCODING": "ascii"})

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("ascii").startswith(f"Usage: {' '.join(('brain', *words))} ")


@pytest.mark.parametrize("words", [(), ("rules",), ("plugin",)], ids=" ".join)
def test_a_group_called_alone_prints_its_help(words: tuple[str, ...], brain: Brain) -> None:
    alone, asked = brain(*words), brain(*words, "--help")

    assert (alone.returncode, alone.stdout) == (0, asked.stdout)


def test_the_summaries_in_the_list_are_those_of_the_commands() -> None:
    context = click.Context(root)
    for part in root.tree.values():
        for name, (_, summary) in part.items():
            found = root.get_command(context, name)
            assert found is not None
            first = " ".join((found.help or "").split("\n\n")[0].split())
            assert first.startswith(summary.rstrip(".")), name


LOADED = (
    "import sys, atexit, commonwealth.__main__ as entry\n"
    "ours = lambda: sorted(name for name in sys.modules if name.startswith('commonwealth.'))\n"
    "atexit.register(lambda: print(*ours(), file=sys.stderr))\n"
    "sys.exit(entry.main())"
)


def loaded_by(*arguments: str) -> set[str]:
    """The modules of ours that a call has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        encoding="utf-8",
    )
    return set(done.stderr.split())


def test_the_list_of_commands_loads_no_command() -> None:
    assert {name for name in loaded_by("--help") if name.startswith("commonwealth.adapters.cli.")} == {
        "commonwealth.adapters.cli.frame"
    }


def test_a_command_loads_only_its_own_module() -> None:
    for words, command in COMMANDS.items():
        own = {name.rpartition(".")[2] for name in loaded_by(*words, "--help") if ".adapters.cli." in name}
        callback = command.callback
        assert callback is not None
        assert own & MODULES == {callback.__module__.rpartition(".")[2]}, words


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rember", "remember"),
        ("find", None),
        ("statsu", "status"),
        ("re", "remember"),
        ("SEARCH", "search"),
        ("", None),
    ],
)
def test_a_mistyped_command_names_the_near_one(typed: str, meant: str | None, brain: Brain) -> None:
    done = brain(typed)

    assert done.returncode == 2
    hint = done.stderr.decode().splitlines()[1]
    assert (f"`brain {meant}`" in hint) if meant else ("`brain --help`" in hint)


def test_a_mistyped_command_of_a_group_names_the_near_one(brain: Brain) -> None:
    done = brain("rules", "lst")

    assert done.returncode == 2
    assert "`brain rules list`" in done.stderr.decode()


def test_a_mistyped_option_names_the_near_one(brain: Brain) -> None:
    done = brain("remember", "T", "--sumary", "x")

    assert done.returncode == 2
    error, hint = done.stderr.decode().splitlines()
    assert "--summary" in error
    assert hint.startswith("hint: `brain remember --help` shows how it is called.")


def test_a_wrong_value_names_the_right_ones(brain: Brain) -> None:
    done = brain("remember", "T", "--status", "sure")

    assert done.returncode == 2
    assert "confirmed" in done.stderr.decode()


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", "2026-02-30T00:00:00Z"])
def test_a_wrong_time_is_a_wrong_call(time: str, brain: Brain) -> None:
    done = brain("remember", "T", "--valid-from", time)

    assert done.returncode == 2
    assert time in done.stderr.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str, brain: Brain) -> None:
    if shell == "bash" and not Path("/bin/bash").exists():
        pytest.skip("no bash here")
    done = brain(env={"_BRAIN_COMPLETE": f"{shell}_source"})

    assert done.returncode == 0
    assert b"_BRAIN_COMPLETE" in done.stdout


def test_completion_offers_commands_and_options(brain: Brain) -> None:
    words = {"_BRAIN_COMPLETE": "bash_complete", "COMP_WORDS": "brain re", "COMP_CWORD": "1"}
    assert brain(env=words).stdout.decode().split() == [
        "plain,remember",
        "plain,retract",
        "plain,recall",
        "plain,read",
        "plain,review",
        "plain,rebuild-index",
    ]

    words = {"_BRAIN_COMPLETE": "bash_complete", "COMP_WORDS": "brain remember --conf", "COMP_CWORD": "2"}
    assert brain(env=words).stdout.decode().split() == ["plain,--confidence"]

    words = {
        "_BRAIN_COMPLETE": "bash_complete",
        "COMP_WORDS": "brain remember --confidence h",
        "COMP_CWORD": "3",
    }
    assert brain(env=words).stdout.decode().split() == ["plain,high"]


def test_the_reference_page_is_what_the_commands_make() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "commonwealth.adapters.cli.reference", "--check"],
        cwd=REPOSITORY,
        env=os.environ,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, "run `python -m commonwealth.adapters.cli.reference` in the checkout"


def test_the_reference_page_has_every_command_and_option() -> None:
    page = reference.generated()

    for words, command in COMMANDS.items():
        section = page.partition(f"### brain {' '.join(words)}\n")[2].partition("\n### ")[0]
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[-1] in section, (words, option.name)
