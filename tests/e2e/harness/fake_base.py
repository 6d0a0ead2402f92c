"""What both fake model servers share: the script of turns, the log of requests, the HTTP plumbing.

A script is a list of turns; a turn is what the model says in one reply:

    "hello"                                              plain text
    {"tool": "Bash", "input": {"command": "ls"}}         one tool call
    {"text": "Let me look", "tool": "Bash", "input": {}} text, then a tool call
    {"tools": [{"tool": "A", "input": {}}, ...]}         several calls in one reply
    {"tool": "apply_patch", "free": "*** Begin Patch …"} a call of a tool that takes text as it is (Codex)
    {"status": 529, "error": "overloaded"}               an HTTP error for this request
    {"delay": 2.0, "text": "slow"}                       wait, then answer
    {"when": "some text", "text": "..."}                 only for a request that contains the text

Turns without `when` go in order to requests of the main conversation (those that offer tools). When the
script is used up, every further request gets `TAIL`, so that a client can never hang on us.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

TAIL = "(script finished)"
SIDE_ANSWER = "Fake side answer"

Body = dict[str, Any]
Say = str | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a turn; `free` is its input where that is plain text."""

    tool: str
    input: dict[str, Any]
    free: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the scripted model."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    status: int | None = None
    error: str = "scripted error"
    delay: float = 0
    when: str | None = None

    @classmethod
    def of(cls, say: Say) -> Turn:
        """A turn from its short form."""
        if isinstance(say, str):
            return cls(text=say)
        calls = ([say] if "tool" in say else []) + say.get("tools", [])
        own = {key: say[key] for key in ("text", "status", "error", "delay", "when") if key in say}
        return cls(calls=tuple(Call(call["tool"], call.get("input", {}), call.get("free")) for call in calls), **own)


@dataclass(frozen=True, slots=True)
class Request:
    """One request that a client sent. `kind` is main (the conversation), side, or other (no model call)."""

    kind: str
    path: str
    body: Body


class Script:
    """The turns still to be said; safe to use from several request threads."""

    def __init__(self, turns: Sequence[Say]) -> None:
        self._lock = threading.Lock()
        self._turns = [Turn.of(turn) for turn in turns]

    def answer(self, kind: str, text: str) -> Turn:
        """The reply to a request whose body is `text`."""
        with self._lock:
            bound = [turn for turn in self._turns if turn.when and turn.when in text]
            if not bound and kind != "main":
                return Turn(SIDE_ANSWER)
            ready = bound or [turn for turn in self._turns if not turn.when]
            if not ready:
                return Turn(TAIL)
            self._turns.remove(ready[0])
            return ready[0]


class FakeServer:
    """A threaded HTTP server on a free port of the loopback interface; a context manager."""

    handler: ClassVar[type[ModelHandler]]

    def __init__(self, turns: Sequence[Say] = ()) -> None:
        self.script = Script(turns)
        self.requests: list[Request] = []
        bound = type("Bound", (self.handler,), {"fake": self})
        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), bound)
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(target=self._httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where a client reaches the server."""
        return f"http://127.0.0.1:{self._httpd.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()


class ModelHandler(BaseHTTPRequestHandler):
    """The part of a model API that does not depend on whose it is."""

    protocol_version = "HTTP/1.1"
    fake: FakeServer
    endpoint: ClassVar[str]
    """The end of the path of a model call."""

    def log_message(self, *args: object) -> None:
        """Keep the test's stderr clean."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.fake.requests.append(Request("other", self.path, {}))
        self.send_json(200, {"data": [], "models": [], "has_more": False})

    def do_POST(self) -> None:
        raw = self._read()
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        if not urlsplit(self.path).path.endswith(self.endpoint):
            self.fake.requests.append(Request("other", self.path, {}))
            self.send_json(200, self.other(len(raw)))
            return
        kind = "main" if body.get("tools") else "side"  # titles, topics and probes offer no tools
        self.fake.requests.append(Request(kind, self.path, body))
        turn = self.fake.script.answer(kind, raw.decode("utf-8", "replace"))
        time.sleep(turn.delay)
        if turn.status:
            self.send_json(turn.status, self.failure(turn))
        else:
            self.reply(body, turn, len(self.fake.requests), len(raw) // 4)

    def other(self, size: int) -> Body:
        """The answer to a request that is no model call."""
        return {}

    def failure(self, turn: Turn) -> Body:
        """The body of a scripted HTTP error."""
        raise NotImplementedError

    def reply(self, body: Body, turn: Turn, number: int, tokens: int) -> None:
        """Send the scripted turn as the API would."""
        raise NotImplementedError

    def _read(self) -> bytes:
        if "chunked" not in (self.headers.get("Transfer-Encoding") or "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        raw = b""
        while size := int(self.rfile.readline().strip().split(b";")[0] or b"0", 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def send_json(self, status: int, answer: Body) -> None:
        """Send one JSON document."""
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events: list[Body]) -> None:
        """Send server-sent events, each named by its own `type`, and end the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True


def texts(value: object, keys: tuple[str, ...]) -> list[str]:
    """Every string below `value` that stands in a list or under one of `keys`."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts(item, keys)]
    if isinstance(value, dict):
        return [text for key in keys if key in value for text in texts(value[key], keys)]
    return []
