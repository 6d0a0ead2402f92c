"""JSON-RPC 2.0 over a wire: which message is what, what an error looks like, and who answers when.

Methods that are at hand answer at once in the reading thread; the others take their turn in one worker
thread, so that a ping is answered while a write waits for a lock, and calls are done in the order in which
they came.
"""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from commonwealth.adapters.mcp.stdio import TooLong, Wire

if TYPE_CHECKING:  # nothing of a note is loaded for it
    from commonwealth.adapters.wire import Json, JsonObject

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002

Method: TypeAlias = "Callable[[JsonObject], JsonObject]"
"""Params in, result out. Raises RpcError for what is no answer of the method's own."""

_WAITING_LIMIT = 1024


class RpcError(Exception):
    """A JSON-RPC error: what the peer asked cannot be taken as a request of ours."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class Methods:
    """What a server can do: `quick` methods answer in the reading thread, `slow` ones in the worker.

    `batches` says whether arrays of messages are allowed now; `answered` is told the method of each request
    whose answer is out; `crashed` makes the message for an exception that nobody foresaw.
    """

    quick: Mapping[str, Method]
    slow: Mapping[str, Method]
    batches: Callable[[], bool]
    answered: Callable[[str], None]
    crashed: Callable[[str, Exception], str]


class Loop:
    """Reads requests until the peer closes its end, and answers them."""

    def __init__(self, wire: Wire, methods: Methods) -> None:
        self._wire = wire
        self._methods = methods
        self._waiting: queue.Queue[Json] = queue.Queue(_WAITING_LIMIT)
        self._cancelled: set[int | str] = set()
        self._stopping = threading.Event()
        self._running = threading.Lock()
        self._worker = threading.Thread(target=self._work, name="calls", daemon=True)

    def run(self) -> None:
        """Serve until end of file, then finish what was asked."""
        self._worker.start()
        for line in self._wire.lines():
            if isinstance(line, TooLong) or line.strip():
                self._receive(line)
        self._waiting.put(None)
        self._worker.join()

    def stop(self, seconds: float) -> None:
        """Begin no further call, and give the one that is running `seconds` to end and to be answered."""
        self._stopping.set()
        self._running.acquire(timeout=seconds)

    def _receive(self, line: bytes | TooLong) -> None:
        try:
            message = _parse(line)
        except RpcError as error:
            number = _id_in(line) if isinstance(line, TooLong) else None
            self._send(_failure(number, error))
            return
        if isinstance(message, list):
            self._batch(message)
        elif isinstance(message, dict) and self._is_slow(message.get("method")):
            self._waiting.put(message)
        else:
            self._reply(message)

    def _is_slow(self, method: Json) -> bool:
        return isinstance(method, str) and method in self._methods.slow

    def _batch(self, messages: list[Json]) -> None:
        if not self._methods.batches():
            error = RpcError(INVALID_REQUEST, "This protocol version has no batches: send one message a line.")
            self._send(_failure(None, error))
        elif not messages:
            self._send(_failure(None, RpcError(INVALID_REQUEST, "The batch is empty.")))
        else:
            self._waiting.put(messages)

    def _work(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            with self._running:
                if self._stopping.is_set():
                    return
                if isinstance(waiting, list):
                    answers: list[Json] = [one for message in waiting if (one := self._answer(message))]
                    if answers:
                        self._wire.send(_encode(answers))
                        self._methods.answered("tools/call")
                else:
                    self._reply(waiting)

    def _reply(self, message: Json) -> None:
        answer = self._answer(message)
        if answer is not None:
            self._send(answer)
            method = message.get("method") if isinstance(message, dict) else None
            self._methods.answered(str(method))

    def _answer(self, message: Json) -> JsonObject | None:
        """The response to one message; None for a notification, a response, or a cancelled request."""
        try:
            method, params, number = _request(message)
            if method is None:
                return None
            if number is None:
                self._notified(method, params)
                return None
            if number in self._cancelled:
                self._cancelled.discard(number)
                return None
            result = self._call(method, params)
        except RpcError as error:
            notification = isinstance(message, dict) and "method" in message and "id" not in message
            return None if notification else _failure(_id_of(message), error)
        return {"jsonrpc": "2.0", "id": number, "result": result}

    def _call(self, method: str, params: JsonObject) -> JsonObject:
        known = self._methods.quick.get(method) or self._methods.slow.get(method)
        if known is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
        try:
            return known(params)
        except RpcError:
            raise
        except Exception as error:  # noqa: BLE001 - the last stop: a server lives on, and tells no traceback
            raise RpcError(INTERNAL_ERROR, self._methods.crashed(method, error)) from None

    def _notified(self, method: str, params: JsonObject) -> None:
        number = params.get("requestId")
        if method == "notifications/cancelled" and isinstance(number, (int, str)):
            self._cancel(number)

    def _cancel(self, number: int | str) -> None:
        """A request that still waits is dropped; one that runs is finished and answered."""
        with self._waiting.mutex:
            if any(isinstance(one, dict) and one.get("id") == number for one in self._waiting.queue):
                self._cancelled.add(number)

    def _send(self, answer: JsonObject) -> None:
        self._wire.send(_encode(answer))


def _parse(line: bytes | TooLong) -> Json:
    if isinstance(line, TooLong):
        raise RpcError(INVALID_REQUEST, "The message is too long: at most 4 MiB are read.")
    try:
        message: Json = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        cause = "nested too deeply" if isinstance(error, RecursionError) else _cause(error)
        raise RpcError(PARSE_ERROR, f"The line is not JSON: {cause}.") from None
    return message


def _cause(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "a number that JSON does not have"


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _request(message: Json) -> tuple[str | None, JsonObject, int | str | None]:
    """Method, params and id of a message; method None for a response. Raises RpcError for anything else."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message is an object with "jsonrpc": "2.0".')
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None and ("result" in message or "error" in message):
        return None, {}, None
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "A request has a `method`, which is text.")
    if "id" in message and (isinstance(number, bool) or not isinstance(number, (int, str))):
        raise RpcError(INVALID_REQUEST, "The `id` of a request is an integer or text.")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "`params` is an object.")
    return method, params or {}, number if isinstance(number, (int, str)) else None


def _id_of(message: Json) -> int | str | None:
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, (int, str)) and not isinstance(number, bool) else None


_FIRST = re.compile(rb'\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18}|"[\w.:-]{1,100}")\s*,')
_LAST = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18}|"[\w.:-]{1,100}")\s*\}\s*\Z')


def _id_in(line: TooLong) -> int | str | None:
    """The id of a message that was too long to read, where it stands at either end as clients put it."""
    found = _FIRST.match(line.head) or _LAST.search(line.tail)
    number: int | str | None = json.loads(found[1]) if found else None
    return number


def _failure(number: int | str | None, error: RpcError) -> JsonObject:
    shown: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        shown["data"] = error.data
    return {"jsonrpc": "2.0", "id": number, "error": shown}


def _encode(answer: Json) -> bytes:
    try:
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair, echoed from the peer
        return json.dumps(answer, separators=(",", ":"), allow_nan=False).encode("utf-8")
