"""Messages of the flows in the words of the command line: options instead of the names of fields."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import click

from commonwealth.model import Receipt

if TYPE_CHECKING:
    from commonwealth.flows.history import History
    from commonwealth.flows.recall import Reading, SearchResult

A = TypeVar("A", Receipt, "SearchResult", "Reading", "History")

_OPTION_OF = {"effective_at": ("at",), "branch": ("branch_scope", "branch"), "provenance.branch": ("branch",)}
"""The parameters that a field is given by, where they have another name than the field; the first that there is."""

_AT_A_START = re.compile(r"(^|; )((?:provenance\.)?[a-z]+(?:_[a-z]+)*)(?=: )")
_ONLY_GIVEN = re.compile(r"(?<![\w'\"`/-])(effective_at|lease_minutes|as_of)(?![\w'\"`/-])")
"""Fields that no note has: wherever they are named, what was given is meant."""


def reworded(text: str, command: click.Command) -> str:
    """`text` with fields that `command` has an option for named by that option, at the start of a clause."""
    options = {
        param.name: max(param.opts, key=len)
        for param in command.params
        if isinstance(param, click.Option) and param.name
    }

    def option(field: str) -> str:
        names = _OPTION_OF.get(field, (field.removeprefix("provenance."),))
        return next((options[name] for name in names if name in options), field)

    text = _AT_A_START.sub(lambda found: found[1] + option(found[2]), text)
    return _ONLY_GIVEN.sub(lambda found: option(found[1]), text)


def warned(answer: A) -> A:
    """An answer of the flows with its warnings in the words of the command that runs."""
    if not answer.warnings:
        return answer
    command = click.get_current_context().command
    return replace(answer, warnings=tuple(reworded(warning, command) for warning in answer.warnings))
