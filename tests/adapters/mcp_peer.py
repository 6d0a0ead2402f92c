"""A client of `brain mcp` that speaks bytes: what a host would send, and what no host should."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import jsonschema

from commonwealth.adapters.mcp import generate, tools

SECONDS = 60
LIMIT = 10_000
FACT: dict[str, Any] = {
    "title": "HTTP 409 means an idempotent payment already succeeded",
    "summary": "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
    "type": "gotcha",
    "tags": ["idempotency"],
    "components": ["payments"],
    "provenance": {"files": ["src/payments/RetryPolicy.ts"], "evidence": ["An integration test reproduced it."]},
}
SCHEMAS = {tool["name"]: tool["outputSchema"] for tool in json.loads(generate.PATH.read_text(encoding="utf-8"))}


class Peer:
    """One server process. Every wait for an answer ends: the process is killed when the time is up."""

    def __init__(
        self, folder: Path, *arguments: str, env: dict[str, str] | None = None, code: str | None = None
    ) -> None:
        command = ["-c", code] if code else ["-m", "commonwealth", "mcp", *arguments]
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **(env or {})},
        )
        self._timer = threading.Timer(SECONDS, self.process.kill)
        self._timer.start()
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):  # what was written to a process that is gone
                if stream is not None:
                    stream.close()

    def raw(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.raw(json.dumps(message).encode())

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server closed its end"
        return json.loads(line)

    def request(self, method: str, params: object = None) -> Any:
        """The whole answer to a request, which must be the next line."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send(message if params is None else {**message, "params": params})
        answer = self.read()
        assert answer["id"] == self._number
        return answer

    def initialize(self, version: str = "2025-11-25", client: str = "claude-code") -> Any:
        answer = self.request(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": client, "version": "1"}},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool: str, arguments: Mapping[str, object] | None = None, **params: object) -> Any:
        """The result of a tool's call."""
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}, **params})["result"]

    def close(self) -> int:
        """Close the pipe, as a client does, and return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait()


def checked(tool: str, result: Any) -> Any:
    """The structured content of a result that keeps every promise which holds for all of them."""
    structured = result["structuredContent"]
    jsonschema.validate(structured, SCHEMAS[tool])
    text = result["content"][0]["text"]
    assert len(text) <= LIMIT
    assert len(json.dumps(structured, ensure_ascii=False, separators=(",", ":"))) <= LIMIT
    assert "Traceback" not in text
    if "error" not in structured:
        assert json.loads(text) == structured
        tools.TOOLS[tool].result.model_validate(structured)
    return structured


def ask(peer: Peer, tool: str, /, **arguments: object) -> Any:
    """The structured content of a call that succeeds."""
    result = peer.call(tool, arguments)
    assert result["isError"] is False, result
    return checked(tool, result)


def refused(peer: Peer, tool: str, /, **arguments: object) -> Any:
    """The structured content of a call that fails."""
    result = peer.call(tool, arguments)
    assert result["isError"] is True, result
    return checked(tool, result)


def complaints(peer: Peer, tool: str, /, **arguments: object) -> dict[str, str]:
    """The fields of an invalid call, each with what is wrong."""
    told = refused(peer, tool, **arguments)
    assert told["next"]
    return {one["field"]: one["message"] for one in told["fields"]}
