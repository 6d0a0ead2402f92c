"""Messages of the flows in the words of the tools: fields as the wire spells them, tools instead of commands.

Only what a person alone can do stays a command of the command line; where it settles a conflict, the model is told to
pass it on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from pydantic import BaseModel

from commonwealth.adapters.mcp.tools import TOOLS
from commonwealth.adapters.wire import Json, JsonObject, camel
from commonwealth.model import Note

_TOOL_OF = {
    "remember": "memory_record", "decide": "memory_record", "update": "memory_update", "supersede": "memory_supersede",
    "retract": "memory_retract", "search": "memory_search", "recall": "memory_search", "read": "memory_read",
    "history": "memory_read", "whoami": "whoami", "work start": "work_start", "work update": "work_update",
    "work complete": "work_complete", "work search": "work_search", "work list": "work_search",
    "work abandon": "work_update",
}  # fmt: skip
_ARGUMENT_OF = {"lease": "leaseMinutes", "at": "effectiveAt", "also": "id", "branch-scope": "branch"}
_DELETED = ("`brain history ID` shows a note that was deleted", "memory_read with asOf shows a note that was deleted")
_COMMAND = re.compile(r"`brain ((?:work )?[a-z-]+)([^`]*)`")
_OPTION = re.compile(r"`--([a-z-]+)([^`]*)`")
_GIVEN = re.compile(r"--([a-z-]+)(?:[ =]([^-\s]\S*))?")
_FOR_A_PERSON = re.compile(r"(^|[.;:] )(?=`brain conflicts )")


def _names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        for one in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(one, type) and issubclass(one, BaseModel):
                yield from _names(one)


_ARGUMENTS = {name for tool in TOOLS.values() for name in _names(tool.arguments)}
_FIELDS = sorted({name for name in (*_ARGUMENTS, *(field.name for field in fields(Note))) if "_" in name})
_FIELD = re.compile(rf"(?<![\w'\"`/-])({'|'.join(_FIELDS)})(?![\w'\"`/-])")


def reworded(text: str) -> str:
    """A message of the flows as a caller of the tools understands it."""
    text = _COMMAND.sub(_tool, text.replace(*_DELETED))
    text = _OPTION.sub(_argument, text)
    text = _FIELD.sub(lambda found: camel(found[1]), text)
    return _FOR_A_PERSON.sub(_passed_on, text)


def of_receipt(receipt: JsonObject) -> JsonObject:
    """A receipt as it goes over the wire, with its sentences reworded."""
    shown = with_warnings(receipt)
    for name in ("reason", "next"):
        shown[name] = _sentences(shown.get(name))
    items = shown.get("items")
    if isinstance(items, list):
        shown["items"] = [
            {**item, "reason": _sentences(item.get("reason"))} if isinstance(item, dict) else item for item in items
        ]
    return shown


def with_warnings(answer: JsonObject) -> JsonObject:
    """An answer with its warnings reworded; everything else is a note's or ours already."""
    return {**answer, "warnings": _sentences(answer["warnings"])} if "warnings" in answer else answer


def _sentences(value: Json) -> Json:
    if isinstance(value, list):
        return [_sentences(one) for one in value]
    return reworded(value) if isinstance(value, str) else value


def _passed_on(found: re.Match[str]) -> str:
    return f"{found[1]}{'t' if found[1] in ('; ', ': ') else 'T'}ell the user: "


def _tool(found: re.Match[str]) -> str:
    command, rest = found[1], found[2]
    tool = _TOOL_OF.get(command)
    if tool is None:
        return found[0]
    given = [_said(option, value, then=command == "history") for option, value in _GIVEN.findall(rest)]
    given += ["status abandoned"] if command == "work abandon" else []
    about = [word for word in _GIVEN.sub("", rest).split() if word not in ("…", "...", "TITLE", "WORDS")]
    return tool + (f" of {' '.join(about)}" if about else "") + (f" with {' and '.join(given)}" if given else "")


def _argument(found: re.Match[str]) -> str:
    name = _ARGUMENT_OF.get(found[1], camel(found[1].replace("-", "_")))
    known = found[1] in _ARGUMENT_OF or found[1].replace("-", "_") in _ARGUMENTS
    return f"`{name}{found[2]}`" if known else found[0]


def _said(option: str, value: str, *, then: bool) -> str:
    """An option of a command as the argument of its tool. `history --at` asks for what was there then."""
    name = "asOf" if then and option == "at" else _ARGUMENT_OF.get(option, camel(option.replace("-", "_")))
    return f"{name} {value}".strip()
