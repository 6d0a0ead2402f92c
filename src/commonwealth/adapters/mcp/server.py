"""`brain mcp`: the methods of the protocol, and the life of the process that answers them.

Nothing here imports more than the standard library before the client has its list of tools; pydantic and
the flows follow in the background, or with the first call. That is why some imports stand in functions.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, cast

from commonwealth import __version__
from commonwealth.adapters.mcp.instructions import INSTRUCTIONS
from commonwealth.adapters.mcp.prompts import PROMPTS
from commonwealth.adapters.mcp.protocol import (
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    Loop,
    Methods,
    RpcError,
)
from commonwealth.adapters.mcp.session import Client, Place, agent_of
from commonwealth.adapters.mcp.stdio import claim
from commonwealth.errors import BrainError
from commonwealth.safetext import clean

if TYPE_CHECKING:
    from commonwealth.adapters.wire import Json, JsonObject

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that are spoken, oldest first. Any other is answered with the newest."""

_WITH_BATCHES = ("2025-03-26",)
_LAST_CALL = 2.0


class Server:
    """The methods that a client may call, for one session."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._client = Client()
        self._loading = False
        self._afterwards: list[Callable[[], object]] = []

    def methods(self) -> Methods:
        """What the loop is to serve."""
        return Methods(
            quick={
                "initialize": self._initialize,
                "ping": lambda _: {},
                "tools/list": self._tools,
                "prompts/list": self._prompts,
                "prompts/get": self._prompt,
                "resources/templates/list": self._templates,
            },
            slow={
                "tools/call": self._call,
                "resources/list": self._resources,
                "resources/read": self._resource,
            },
            batches=lambda: self._client.version in _WITH_BATCHES,
            answered=self._answered,
            crashed=_crashed,
        )

    def _initialize(self, params: JsonObject) -> JsonObject:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise RpcError(INVALID_PARAMS, "`protocolVersion` is text such as 2025-11-25.")
        self._client.version = asked if asked in VERSIONS else VERSIONS[-1]
        self._client.agent = agent_of(params.get("clientInfo"))
        return {
            "protocolVersion": self._client.version,
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "brain", "title": "Commonwealth", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _tools(self, params: JsonObject) -> JsonObject:
        _one_page(params)
        with open(os.path.join(os.path.dirname(__file__), "tools.json"), encoding="utf-8") as file:
            return {"tools": cast("Json", json.load(file))}

    def _prompts(self, params: JsonObject) -> JsonObject:
        _one_page(params)
        return {"prompts": [prompt.described() for prompt in PROMPTS.values()]}

    def _prompt(self, params: JsonObject) -> JsonObject:
        name = params.get("name")
        prompt = PROMPTS.get(name) if isinstance(name, str) else None
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"No such prompt; there are {', '.join(PROMPTS)}.")
        given = params.get("arguments") or {}
        value = given.get(prompt.argument) if isinstance(given, dict) and prompt.argument else None
        if not (value is None or isinstance(value, str)) or (prompt.required and not value):
            raise RpcError(INVALID_PARAMS, f"The prompt {prompt.name} needs `{prompt.argument}` as text.")
        return prompt.filled(value)

    def _call(self, params: JsonObject) -> JsonObject:
        from commonwealth.adapters.mcp import answers, calling, handlers, tools  # noqa: PLC0415

        name, given = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or name not in tools.TOOLS:
            raise RpcError(INVALID_PARAMS, f"No such tool; there are {', '.join(tools.TOOLS)}.")
        if not (given is None or isinstance(given, dict)):
            raise RpcError(INVALID_PARAMS, "`arguments` is an object.")
        one = calling.Call(self._place, self._client, _meta(params))
        try:
            return handlers.call(name, given or {}, one)
        except Exception as error:  # noqa: BLE001 - the caller is told of a fault of ours as of any other failure
            return answers.failure(_crashed(f"tools/call {name}", error), _REPORT)
        finally:
            self._afterwards += one.afterwards

    def _answered(self, method: str) -> None:
        """What can wait until an answer is out: loading after the list of tools, publishing after a write."""
        if method == "tools/list" and not self._loading:
            self._loading = True
            threading.Thread(target=_load, name="load", daemon=True).start()
        while method == "tools/call" and self._afterwards:
            self._afterwards.pop(0)()

    def _templates(self, params: JsonObject) -> JsonObject:
        _one_page(params)
        template: JsonObject = {
            "uriTemplate": "commonwealth://note/{id}",
            "name": "note",
            "title": "A note of the brain",
            "description": "One note in full, by its id.",
            "mimeType": "text/markdown",
        }
        return {"resourceTemplates": [template]}

    def _resources(self, params: JsonObject) -> JsonObject:
        from commonwealth.adapters.mcp import calling, resources  # noqa: PLC0415

        _one_page(params)
        try:
            entries = resources.listing(calling.Call(self._place, self._client, _meta(params)).brain())
        except BrainError:  # a list has no place for a sentence; every call and every read says it
            entries = []
        return {"resources": entries}

    def _resource(self, params: JsonObject) -> JsonObject:
        from commonwealth.adapters.mcp import calling, resources  # noqa: PLC0415

        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "`uri` is text.")
        try:
            text = resources.read(calling.Call(self._place, self._client, _meta(params)).brain(), uri)
        except BrainError as error:
            told = clean(f"{error.message} {error.hint or ''}".strip())
            raise RpcError(RESOURCE_NOT_FOUND, told, {"uri": uri}) from None
        if text is None:
            raise RpcError(RESOURCE_NOT_FOUND, "There is no such resource.", {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}


def _meta(params: JsonObject) -> JsonObject:
    given = params.get("_meta")
    return given if isinstance(given, dict) else {}


def _one_page(params: JsonObject) -> None:
    """Our lists are whole: a cursor cannot be one of ours."""
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "There is no further page: this list is whole without a cursor.")


def _load() -> None:
    """Have ready what the first call needs, while the client reads the list of tools."""
    from commonwealth.adapters.mcp import handlers  # noqa: F401, PLC0415


_REPORT = "Please report it with that file; it holds no text of yours."


def _crashed(method: str, error: Exception) -> str:
    """A sentence about a fault of ours; its details go into a file, without anybody's text."""
    from commonwealth.adapters import faultlog  # noqa: PLC0415

    try:
        kept = f"the details are in {faultlog.write(error, ['mcp', method])}"
    except OSError:
        kept = "and the log file could not be written"
    return f"`brain mcp` met a fault of its own ({type(error).__name__}) in {method}; {kept}."


class _Stopped(BaseException):
    """The host asks the process to end."""


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    for one in _SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    raise _Stopped


_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def plain_options(words: list[str]) -> tuple[str | None, str | None] | None:
    """`--brain` and `-C` of a command line that has nothing else: a host waits for us, and a parser takes as long
    to load as everything that it waits for. None for any other command line."""
    given = dict(zip(words[::2], words[1::2], strict=False))
    plain = 2 * len(given) == len(words) and set(given) <= {"--brain", "-C"}
    if not plain or any(value.startswith("-") for value in given.values()):
        return None
    return given.get("--brain"), os.path.abspath(given["-C"]) if "-C" in given else None


def serve(selector: str | None = None, folder: str | None = None) -> int:
    """Serve a brain on standard input and output until the client closes them or ends the process.

    `selector` is `--brain` as given; without it the brain is found from `folder` and the user's rules, anew
    with every call. There need be none: the server starts all the same, and each call says what to do.
    """
    wire = claim()
    place = Place(selector) if folder is None else Place(selector, folder)
    loop = Loop(wire, Server(place).methods())
    for number in _SIGNALS:
        signal.signal(number, _stop)
    try:
        loop.run()
    except _Stopped:
        loop.stop(_LAST_CALL)
    return 0
