"""The frame of every command: loaded when called, helped by examples, near ones named for a wrong call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import ParamSpec

import click
from click.shell_completion import CompletionItem

from commonwealth import __version__, timeline
from commonwealth.errors import BrainError, Usage

P = ParamSpec("P")
Tree = Mapping[str, Mapping[str, tuple[str, str]]]
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A click command whose help ends with examples."""

    examples: tuple[str, ...] = ()

    def invoke(self, ctx: click.Context) -> int:
        """Run the command. What the flows say of a field is told of the option that gave it."""
        try:
            return int(super().invoke(ctx) or 0)
        except BrainError as error:
            from commonwealth.adapters.cli.wording import reworded  # only a call that failed needs it

            error.message = reworded(error.message, self)
            error.hint = reworded(error.hint, self) if error.hint else None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they are typed."""
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for example in self.examples:
                formatter.write(f"  {example}\n")


def command(name: str, *examples: str) -> Callable[[Callable[P, int]], Command]:
    """Make a command of a function that returns the exit code; its docstring is the help."""

    def make(function: Callable[P, int]) -> Command:
        made = click.command(name, cls=Command, context_settings=_SETTINGS)(function)
        made.examples = examples
        return made

    return make


class Group(click.Group):
    """A group that, called alone, prints its help, and that knows the command which was meant."""

    def __init__(self, name: str, *, help: str) -> None:  # noqa: A002  # click's own word
        super().__init__(
            name, help=help, invoke_without_command=True, callback=self._show_help, context_settings=_SETTINGS
        )

    def _show_help(self) -> int:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            click.echo(context.get_help())
        return 0

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command named first in `args`. Raises Usage that names near ones."""
        found = self.get_command(ctx, args[0])
        if found is None and not ctx.resilient_parsing and not args[0].startswith("-"):
            raise _unknown(args[0], self.list_commands(ctx), ctx.command_path)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and return its exit code."""
        return int(super().invoke(ctx) or 0)


class LazyGroup(Group):
    """A group that knows names and summaries of its commands, and imports a command's module to run it."""

    def __init__(
        self,
        name: str,
        *,
        package: str,
        tree: Tree,
        help: str,  # noqa: A002 - click's own word
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, help=help)
        self._package = package
        self.tree = tree
        self._places = {command: place for part in tree.values() for command, place in part.items()}
        self._hidden = hidden or {}
        self.params.append(
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_version,
                help="Print the version.",
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the help."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        place = self._places[cmd_name][0] if cmd_name in self._places else self._hidden.get(cmd_name)
        if place is None:
            return None
        module = import_module(f"{self._package}.{place}")
        found = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        if not isinstance(found, click.Command):
            raise TypeError(f"{cmd_name} is no command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write names and summaries under their headings, importing nothing."""
        for heading, part in self.tree.items():
            with formatter.section(heading):
                formatter.write_dl([(name, summary) for name, (_, summary) in part.items()], col_max=16)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin with `incomplete`, importing none of them."""
        options = [] if incomplete.isalnum() else click.Command.shell_complete(self, ctx, incomplete)
        return options + [
            CompletionItem(name, help=summary)
            for name, (_, summary) in self._places.items()
            if name.startswith(incomplete)
        ]


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"brain {__version__}")
        ctx.exit()


def run_group(group: Group, arguments: Sequence[str]) -> int:
    """Run `group` with `arguments`, and put what click finds wrong into the words of this product.

    Raises Usage for a wrong call; every other error passes through.
    """
    if os.environ.get("_BRAIN_COMPLETE"):
        group.main(list(arguments), prog_name="brain")
    timeline.now()
    for argument in arguments:
        _require_text(argument)
    try:
        with group.make_context("brain", list(arguments)) as context:
            return group.invoke(context)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        raise _in_our_words(error) from None


def _in_our_words(error: click.ClickException) -> Usage:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "brain"
    hint = f"`{path} --help` shows how it is called."
    if isinstance(error, click.NoSuchOption):
        hint += " Text that begins with a dash stands after `--`."
    return Usage(error.format_message(), hint=hint)


def _unknown(name: str, names: Sequence[str], path: str) -> Usage:
    from difflib import get_close_matches

    near = [other for other in names if name and other.startswith(name.lower())]
    alike = get_close_matches(name.lower(), names, cutoff=0.8) or get_close_matches(name.lower(), names, cutoff=0.55)
    near += [other for other in alike if other not in near]
    meant = " or ".join(f"`{path} {other}`" for other in near[:3])
    return Usage(
        f"There is no command {name!r}.",
        hint=f"Did you mean {meant}?" if near else f"`{path} --help` lists the commands.",
    )


def _require_text(argument: str) -> None:
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        shown = argument.encode("utf-8", "backslashreplace").decode("utf-8")
        raise Usage(
            f"The argument {shown!r} is not valid text in this terminal's encoding.",
            hint="Use a UTF-8 locale, or put the text into a UTF-8 file and name it with `--body-file`.",
        ) from None
