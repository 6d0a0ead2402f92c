"""No line ends the server, whatever JSON stands in whatever member."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.adapters.mcp import tools
from commonwealth.adapters.mcp.protocol import Loop
from commonwealth.adapters.mcp.server import Server
from commonwealth.adapters.mcp.session import Place
from commonwealth.adapters.mcp.stdio import Wire

METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "notifications/cancelled",
    "notifications/initialized",
]
MEMBERS = ["name", "arguments", "uri", "cursor", "_meta", "protocolVersion", "clientInfo", "requestId", "query", "id"]
TOOLS = [*tools.TOOLS, "memory_recall", "brain_status"]
VERSIONS = ["2025-03-26", "2025-11-25"]

text = st.text(st.characters(), max_size=12) | st.sampled_from([*METHODS, *TOOLS, *VERSIONS, "recall", "\ud800", "\0"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS) | text, inner, max_size=4),
    max_leaves=12,
)
params = st.dictionaries(st.sampled_from(MEMBERS), values, max_size=5) | values
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | st.just("2.0") | values,
        "id": st.integers(0, 9) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": params,
        "result": values,
        "error": values,
    },
)
lines = st.lists(messages | st.lists(messages | values, max_size=3) | values, min_size=1, max_size=6)


def served(said: list[Any]) -> list[Any]:
    """What a server answers to these messages and a last ping, until its stdin ends."""
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    loop = Loop(Wire(their_in, their_out), Server(Place(None, os.sep)).methods())
    failures: list[BaseException] = []

    def run() -> None:
        try:
            loop.run()
        except BaseException as error:  # noqa: BLE001 - whatever ends a server
            failures.append(error)
        finally:
            os.close(their_out)

    server = threading.Thread(target=run)
    server.start()
    last = {"jsonrpc": "2.0", "id": "last", "method": "ping"}
    with open(our_out, "wb", closefd=True) as out:
        out.write(b"".join(json.dumps(one).encode() + b"\n" for one in [*said, last]))
    with open(our_in, "rb", closefd=True) as answers:
        found = [json.loads(line) for line in answers.read().splitlines()]
    server.join()
    os.close(their_in)
    assert not failures, failures
    return found


@pytest.fixture(autouse=True)
def no_brain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(lines)
def test_a_server_outlives_every_line(said: list[Any]) -> None:
    found = served(said)
    assert {"jsonrpc": "2.0", "id": "last", "result": {}} in found
    for answer in found:
        for one in answer if isinstance(answer, list) else [answer]:
            assert one["jsonrpc"] == "2.0"
            assert ("result" in one) != ("error" in one)
            assert not isinstance(one["id"], bool)
            assert one.get("error", {}).get("code") != -32603, (said, one)


@pytest.mark.parametrize("method", [["x"], {}, {"a": []}, None, True, 1.5])
def test_a_method_that_is_no_text_is_an_invalid_request(method: object) -> None:
    (error, last) = served([{"jsonrpc": "2.0", "id": 5, "method": method}])
    assert (error["id"], error["error"]["code"]) == (5, -32600)
    assert last["id"] == "last"
