"""A fake Anthropic Messages API, enough for the real Claude Code: `ANTHROPIC_BASE_URL` is its `url`."""

from __future__ import annotations

import json
from typing import Any

from .fake_base import Body, FakeServer, ModelHandler, Turn, texts


def text_of(body: Body) -> str:
    """What the model reads in a request: system prompt and messages, tool results included."""
    parts = [body.get("system"), *(message.get("content") for message in body.get("messages", []))]
    return "\n".join(texts(parts, ("text", "content", "thinking")))


def tool_names(body: Body) -> list[str]:
    """The tools that a request offers to the model."""
    return [tool.get("name", "") for tool in body.get("tools", [])]


def _message(body: Body, turn: Turn, number: int, tokens: int) -> Body:
    content: list[Body] = [{"type": "text", "text": turn.text}] if turn.text else []
    for position, call in enumerate(turn.calls):
        use = {"type": "tool_use", "id": f"toolu_{number:04d}_{position}", "name": call.tool}
        content.append({**use, "input": call.input})
    return {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "fake"),
        "content": content or [{"type": "text", "text": ""}],
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "output_tokens": 12},
    }


def _events(message: Body) -> list[Body]:
    events: list[Body] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(message["content"]):
        begun, delta = _block(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": message["usage"]})
    return [*events, {"type": "message_stop"}]


def _block(block: dict[str, Any]) -> tuple[Body, Body]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    pieces = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, pieces


class _Handler(ModelHandler):
    endpoint = "/v1/messages"

    def other(self, size: int) -> Body:
        return {"input_tokens": max(1, size // 4)}

    def failure(self, turn: Turn) -> Body:
        return {"type": "error", "error": {"type": "api_error", "message": turn.error}}

    def reply(self, body: Body, turn: Turn, number: int, tokens: int) -> None:
        message = _message(body, turn, number, tokens)
        if body.get("stream"):
            self.send_events(_events(message))
        else:
            self.send_json(200, message)


class FakeAnthropic(FakeServer):
    """The server."""

    handler = _Handler
