"""Writes `tools.json`, the answer to `tools/list`: `python -m commonwealth.adapters.mcp.generate`.

With `--check` nothing is written; the exit code says whether the file is what the models make.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from commonwealth.adapters.mcp.models import Arguments
from commonwealth.adapters.mcp.results import Result
from commonwealth.adapters.mcp.tools import TOOLS, Tool
from commonwealth.adapters.wire import Json, JsonObject, camel

PATH = Path(__file__).with_name("tools.json")

_UNSAID = ("title", "maxLength", "minLength", "maxItems", "minimum", "pattern", "additionalProperties")
"""Generous bounds, repeated names, and that an unknown one is refused: an error says it to whoever needs it, every
session need not."""


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` say whether it is current (0) or not (1)."""
    text = generated()
    if "--check" in arguments:
        return 0 if PATH.read_text(encoding="utf-8") == text else 1
    PATH.write_text(text, encoding="utf-8", newline="\n")
    return 0


def generated() -> str:
    """The text of `tools.json`: one tool a line, so that a change shows as the line of its tool."""
    lines = ",\n".join(
        json.dumps(described(tool), ensure_ascii=False, separators=(",", ":")) for tool in TOOLS.values()
    )
    return f"[\n{lines}\n]\n"


def described(tool: Tool) -> JsonObject:
    """One entry of `tools/list`."""
    hints: JsonObject = {"readOnlyHint": tool.read_only, "openWorldHint": False}
    if not tool.read_only:
        hints |= {"destructiveHint": False}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(tool.arguments),
        "outputSchema": output_schema(tool.result),
        "annotations": hints,
    }


def input_schema(model: type[Arguments]) -> JsonObject:
    """The JSON Schema of a tool's arguments, without what tells a model nothing."""
    return _compact(_schema(model), model.removable)


def output_schema(model: type[Result]) -> JsonObject:
    """The JSON Schema of a tool's structured content: of a success, or of a failure with its `error`.

    Clients may check failures against it too, and would hide an error that does not fit.
    """
    schema = _compact(_schema(model), tuple(camel(name) for name in model.model_fields))
    properties = schema["properties"]
    assert isinstance(properties, dict)
    shapes = {name: _shape(field) for name, field in properties.items()}
    properties = schema["properties"] = {name: shape for name, shape in shapes.items() if _is_told(model, name, shape)}
    properties["error"] = {"type": "string"}
    schema.pop("required", None)
    schema["anyOf"] = [{"required": list(model.needs)}, {"required": ["error"]}]
    return schema


def _is_told(model: type[Result], name: str, shape: Json) -> bool:
    """Whether every session is told of a field: what a success always has, and lists of objects. The page of the
    reference tells the rest."""
    return name in model.needs or (isinstance(shape, dict) and "items" in shape)


def _shape(field: Json) -> Json:
    """What a client needs to check a result: its type, and that of what is in it where those are objects of ours."""
    if not isinstance(field, dict):
        return field
    items = field.get("items")
    shape: JsonObject = {"type": field["type"]}
    if isinstance(items, dict) and "properties" in items:
        shape["items"] = {"type": "object", "required": items["required"]}
    return shape


def _schema(model: type[BaseModel]) -> JsonObject:
    schema: JsonObject = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    resolved = _inlined(schema, definitions if isinstance(definitions, dict) else {})
    assert isinstance(resolved, dict)
    resolved.pop("description", None)
    return resolved


def _inlined(schema: Json, definitions: JsonObject) -> Json:
    """`schema` with each reference replaced by what it refers to: not every client follows them."""
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = definitions[reference.rsplit("/", 1)[-1]]
        assert isinstance(target, dict)
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        plain = {name: value for name, value in target.items() if name != "description"}
        return _inlined({**plain, **rest}, definitions)
    return {name: _inlined(value, definitions) for name, value in schema.items()}


def _compact(schema: JsonObject, nullable: Sequence[str]) -> JsonObject:
    """`schema` without what need not be said; only fields named in `nullable` may be null."""
    kept: JsonObject = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, dict):
            kept[name] = {key: _property(field, key in nullable) for key, field in value.items()}
        elif name == "items" and isinstance(value, dict):
            kept[name] = _compact(value, ())
        elif name not in _UNSAID and not (name == "default" and not (isinstance(value, int) and value)):
            kept[name] = value
    return kept


def _property(field: Json, nullable: bool) -> Json:
    if not isinstance(field, dict):
        return field
    options = field.get("anyOf")
    if isinstance(options, list):
        only = next(one for one in options if one != {"type": "null"})
        assert isinstance(only, dict)
        field = {**only, **{name: value for name, value in field.items() if name != "anyOf"}}
        if nullable:
            field["type"] = [field["type"], "null"]
    return _compact(field, ())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
