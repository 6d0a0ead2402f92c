"""What options are made of: instants, options that may be repeated, and their values by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import click

from commonwealth import timeline

F = TypeVar("F", bound=Callable[..., object])


class Instant(click.ParamType[str]):
    """An ISO 8601 date or time, taken as UTC where it names no zone."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Canonical UTC text."""
        try:
            return timeline.canonical(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


TIME = Instant()


def options(*made: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help."""

    def decorate(function: F) -> F:
        for option in reversed(made):
            function = option(function)
        return function

    return decorate


def many(
    *names: str,
    help: str,  # noqa: A002  # click's own word
    metavar: str | None = None,
    type: click.ParamType[str] | None = None,  # noqa: A002
) -> Callable[[F], F]:
    """An option that may be given several times."""
    return click.option(*names, multiple=True, metavar=metavar, type=type, help=f"{help} May be repeated.")


class Given(Mapping[str, object]):
    """The values of a command's options by parameter name; what was not given reads as nothing."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str | None:
        """The value of an option that was given once."""
        value = self._values.get(name)
        return None if value is None else str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of an option that may be repeated."""
        values = self._values.get(name)
        return tuple(map(str, values)) if isinstance(values, tuple) else ()
