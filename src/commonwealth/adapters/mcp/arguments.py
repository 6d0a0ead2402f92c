"""Checking the arguments of a call: every fault is named at once, with what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from commonwealth.adapters.mcp.models import Arguments
from commonwealth.adapters.wire import JsonObject, camel
from commonwealth.safetext import one_line

A = TypeVar("A", bound=Arguments)

_SAID_INSTEAD: Mapping[str, str] = {
    "content": "body",
    "text": "body",
    "details": "body",
    "description": "summary",
    "q": "query",
    "search": "query",
    "max_results": "limit",
    "repo": "repository",
    "author": "person",
    "path": "file",
    "paths": "files",
    "pr": "pullRequest",
    "noteId": "id",
    "ids": "id",
    "at": "effectiveAt",
    "new": "replacement",
    "owner": "person",
}
"""Names that callers tend to use, and ours for the same thing."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong with a call: the field by its name on the wire, and why."""

    field: str
    message: str


class InvalidArguments(Exception):
    """The arguments of a call cannot be taken."""

    def __init__(self, complaints: list[Complaint]) -> None:
        super().__init__("; ".join(f"{one.field} {one.message}" for one in complaints))
        self.complaints = complaints


def check(model: type[A], given: JsonObject) -> A:
    """`given` as the model. Field names in snake_case are taken for their camelCase.

    Raises InvalidArguments with every complaint, in the order of the model's fields.
    """
    given = _respelt(model, given)
    complaints = [Complaint(field, message) for field, message in model.complaints(given)]
    checked: A | None = None
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        complaints = [*(_complaint(model, one) for one in details), *complaints]
    if checked is None or complaints:
        raise InvalidArguments(_first_of_each(complaints))
    return checked


def _respelt(model: type[BaseModel], given: JsonObject) -> JsonObject:
    """`given` with snake_case names of known fields in camelCase, unless both spellings were given."""
    known = _fields(model)
    spelt: JsonObject = {}
    for name, value in given.items():
        camelled = camel(name)
        own = camelled if name not in known and camelled in known and camelled not in given else name
        nested = known.get(own)
        spelt[own] = _respelt(nested, value) if nested is not None and isinstance(value, dict) else value
    return spelt


def _fields(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """The model's field names on the wire, each with the model of its own fields where it has some."""
    return {camel(name): _nested(field.annotation) for name, field in model.model_fields.items()}


def _nested(annotation: object) -> type[BaseModel] | None:
    options = (annotation, *getattr(annotation, "__args__", ()))
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _complaint(model: type[Arguments], error: ErrorDetails) -> Complaint:
    field = _place(error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        return Complaint(field, "is required")
    if kind == "extra_forbidden":
        return Complaint(field, _unknown(model, error["loc"]))
    if kind == "literal_error":
        return Complaint(field, f"must be one of {context['expected']}".replace("'", ""))
    if kind == "string_pattern_mismatch":
        return Complaint(field, "must not be blank")
    if kind == "value_error":
        return Complaint(field, one_line(str(context["error"])))
    message = error["msg"]
    return Complaint(field, one_line(message.replace("Input should", "must").replace("a valid ", "a ")))


def _place(location: tuple[int | str, ...]) -> str:
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else one_line(part, 60)
    return place


def _unknown(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    asked = str(location[-1])
    around: type[BaseModel] | None = model
    for part in location[:-1]:
        around = _fields(around).get(str(part)) if around else None
    if around and camel(asked) in _fields(around):
        return f"is `{camel(asked)}` in another spelling, which was given too"
    places = {place.rpartition(".")[2]: place for place in reversed([*_places(model)])}
    wanted = camel(_SAID_INSTEAD.get(asked, asked))
    near = difflib.get_close_matches(wanted, places, n=1, cutoff=0.7)
    if near:
        return f"is not known; did you mean `{places[near[0]]}`?"
    return f"is not known; the arguments are {', '.join(_fields(model)) or 'none'}"


def _places(model: type[BaseModel]) -> Iterator[str]:
    """Where fields stand, outer ones first: `title`, `provenance.files`."""
    known = _fields(model)
    yield from known
    for outer, nested in known.items():
        yield from (f"{outer}.{inner}" for inner in _places(nested)) if nested else ()


def _first_of_each(complaints: list[Complaint]) -> list[Complaint]:
    """One complaint a field: the first is the cause, the others mostly follow from it."""
    first: dict[str, Complaint] = {}
    for one in complaints:
        first.setdefault(one.field, one)
    return list(first.values())


def listed(complaints: list[Complaint]) -> list[JsonObject]:
    """The complaints as they stand in an answer."""
    return [{"field": one.field, "message": one.message} for one in complaints]
