"""A fake OpenAI Responses API, enough for the real Codex: a provider's `base_url` is `url` + `/v1`.

Codex offers the tools of an MCP server in a namespace (`mcp__<server>`, name `<tool>`). A script names them
flat, `mcp__brain__memory_search`; the namespace is looked up among the tools of the request at hand.
"""

from __future__ import annotations

import json

from .fake_base import Body, Call, FakeServer, ModelHandler, Turn, texts


def text_of(body: Body) -> str:
    """What the model reads in a request: instructions, messages and tool outputs."""
    keys = ("text", "content", "output", "arguments")
    return "\n".join(texts([body.get("instructions"), body.get("input")], keys))


def tool_names(body: Body) -> list[str]:
    """The tools that a request offers to the model, those in a namespace as `namespace__name`."""
    names: list[str] = []
    for tool in body.get("tools", []):
        inner = tool.get("tools", []) if tool.get("type") == "namespace" else None
        names += [tool.get("name", "")] if inner is None else [f"{tool['name']}__{t['name']}" for t in inner]
    return names


def _call_item(body: Body, call: Call, number: int, position: int) -> Body:
    item = {
        "type": "function_call",
        "id": f"fc_{number:04d}_{position}",
        "call_id": f"call_{number:04d}_{position}",
        "status": "completed",
        "name": call.tool,
        "arguments": json.dumps(call.input),
    }
    if call.free is not None:
        given = {key: value for key, value in item.items() if key != "arguments"}
        return given | {"type": "custom_tool_call", "id": f"ctc_{number:04d}_{position}", "input": call.free}
    for tool in body.get("tools", []):
        prefix = f"{tool.get('name')}__"
        if tool.get("type") == "namespace" and call.tool.startswith(prefix):
            return {**item, "namespace": tool["name"], "name": call.tool.removeprefix(prefix)}
    return item


def _items(body: Body, turn: Turn, number: int) -> list[Body]:
    items = [_call_item(body, call, number, position) for position, call in enumerate(turn.calls)]
    if turn.text is None:
        return items
    content = [{"type": "output_text", "text": turn.text, "annotations": []}]
    message = {"type": "message", "id": f"msg_{number:04d}", "role": "assistant", "status": "completed"}
    return [{**message, "content": content}, *items]


def _events(body: Body, items: list[Body], number: int, tokens: int) -> list[Body]:
    response: Body = {
        "id": f"resp_{number:04d}",
        "object": "response",
        "model": body.get("model"),
        "output": [],
    }
    usage = {"input_tokens": tokens, "output_tokens": 12, "total_tokens": tokens + 12}
    events: list[Body] = [{"type": "response.created", "response": {**response, "status": "in_progress"}}]
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    done = {**response, "status": "completed", "output": items, "usage": usage}
    return [*events, {"type": "response.completed", "response": done}]


class _Handler(ModelHandler):
    endpoint = "/responses"

    def failure(self, turn: Turn) -> Body:
        return {"error": {"message": turn.error, "type": "server_error", "code": None}}

    def reply(self, body: Body, turn: Turn, number: int, tokens: int) -> None:
        self.send_events(_events(body, _items(body, turn, number), number, tokens))


class FakeOpenAI(FakeServer):
    """The server."""

    handler = _Handler
