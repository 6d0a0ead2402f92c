"""Writes `docs/reference/mcp.md` from the server: `python -m commonwealth.adapters.mcp.reference`.

It is run in the folder of a checkout. With `--check` nothing is written; the exit code says whether the page is what
the server says of itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commonwealth.adapters.mcp import generate, prompts
from commonwealth.adapters.mcp.instructions import INSTRUCTIONS
from commonwealth.adapters.mcp.server import VERSIONS
from commonwealth.adapters.mcp.tools import TOOLS
from commonwealth.adapters.wire import camel

PATH = Path("docs", "reference", "mcp.md")

_INTRO = """\
# The MCP server

<!-- Made from the code by `python -m commonwealth.adapters.mcp.reference`; edit the server, not this page. -->

`brain mcp` speaks the Model Context Protocol over stdio (versions {versions}).
It serves the brain that the rules give for its folder; `--brain` or `COMMONWEALTH_BRAIN` names another.
No argument of a tool can name a path or a remote.

Answers stay within 10,000 characters: a search gives compact hits and says `truncated` and `next`, `memory_read` gives
long notes page by page. Every write is committed before it is answered, and its receipt says what happened. Invalid
arguments are all named at once. An error has `isError: true` and says what to do next.

Resources: `commonwealth://router` is the brain's overview, `commonwealth://note/ID` one note; both are fenced as data.

What a model is told about the server:

{instructions}
"""


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is current (0) or not (1)."""
    text = page()
    if "--check" in arguments:
        return 0 if PATH.read_text(encoding="utf-8") == text else 1
    PATH.write_text(text, encoding="utf-8", newline="\n")
    return 0


def page() -> str:
    """The text of the reference page."""
    quoted = "\n".join(f"> {line}".rstrip() for line in INSTRUCTIONS.splitlines())
    parts = [_INTRO.format(versions=", ".join(VERSIONS), instructions=quoted)]
    parts += map(_tool, json.loads(generate.PATH.read_text(encoding="utf-8")))
    parts.append("## Prompts\n\n" + "".join(map(_prompt, prompts.PROMPTS.values())))
    return "\n".join(parts)


def _tool(tool: Mapping[str, Any]) -> str:
    hints = tool["annotations"]
    lines = [f"## `{tool['name']}`: {tool['title']}", "", tool["description"], ""]
    lines += ["It only reads." if hints["readOnlyHint"] else "It writes to the brain, and destroys nothing.", ""]
    arguments = list(_arguments(tool["inputSchema"]))
    if arguments:
        lines += ["| argument | takes | |", "|---|---|---|", *arguments, ""]
    told = (*map(camel, TOOLS[tool["name"]].result.model_fields), "error")
    lines += [f"Answers with {', '.join(f'`{name}`' for name in told)}.", ""]
    return "\n".join(lines)


def _arguments(schema: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    required = schema.get("required", ())
    for name, about in schema.get("properties", {}).items():
        need = " (required)" if name in required and not prefix else ""
        yield f"| `{prefix}{name}`{need} | {_kind(about)} | {about.get('description', '')} |"
        yield from _arguments(about, f"{prefix}{name}.")


def _kind(about: Mapping[str, Any]) -> str:
    kinds = about.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else kinds
    shown = " or ".join("list" if name == "array" else str(name) for name in names)
    return f"{shown}: {', '.join(f'`{value}`' for value in about['enum'])}" if "enum" in about else shown


def _prompt(prompt: prompts.Prompt) -> str:
    asks = f" Argument `{prompt.argument}`: {prompt.asks}" if prompt.argument else ""
    return f"- `{prompt.name}`: {prompt.description}{asks}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
