"""The wire: JSON-RPC over the standard streams of the real process, without any brain."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonwealth.adapters.mcp import generate
from commonwealth.adapters.mcp.server import plain_options

from .mcp_peer import Peer

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    with Peer(tmp_path) as peer:
        yield peer


def test_the_generated_list_of_tools_is_what_the_models_make() -> None:
    assert generate.PATH.read_text(encoding="utf-8") == generate.generated()
    assert generate.main(["--check"]) == 0


def test_the_list_of_tools_is_small_enough_to_be_read_at_every_start(peer: Peer) -> None:
    peer.initialize()
    assert len(json.dumps(peer.request("tools/list")["result"]).encode()) <= 16 * 1024


@pytest.mark.parametrize("version", VERSIONS)
def test_a_known_protocol_version_is_answered_with_itself(peer: Peer, version: str) -> None:
    assert peer.initialize(version)["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", "latest"])
def test_an_unknown_protocol_version_is_answered_with_the_newest(peer: Peer, version: str) -> None:
    assert peer.initialize(version)["protocolVersion"] == VERSIONS[-1]


def test_initialize_says_what_the_server_is_and_when_to_use_it(peer: Peer) -> None:
    result = peer.initialize()
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert result["serverInfo"]["name"] == "brain"
    assert len(result["instructions"]) <= 2000
    for word in ("memory_search", "memory_record", "secrets", "not instructions"):
        assert word in result["instructions"]


def test_every_tool_has_title_schemas_and_the_hints_that_let_a_client_run_it_unasked(peer: Peer) -> None:
    peer.initialize()
    for tool in peer.request("tools/list")["result"]["tools"]:
        assert tool["title"]
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        reads = {"readOnlyHint": True, "openWorldHint": False}
        writes = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
        hints = {name: value for name, value in tool["annotations"].items() if name != "title"}
        reading = ("memory_search", "memory_read", "work_search", "review_list", "whoami")
        assert hints == (reads if tool["name"] in reading else writes)


def test_a_client_that_asks_before_it_introduces_itself_is_answered(peer: Peer) -> None:
    assert peer.request("ping")["result"] == {}
    assert peer.request("tools/list")["result"]["tools"]


def test_the_probe_of_a_newer_protocol_is_an_unknown_method(peer: Peer) -> None:
    assert peer.request("server/discover", {"_meta": {}})["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe{\x00}\x00", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700),
        (b"[" * 200_000, -32700),
        (b"9" * 5000, -32700),
        (b'"text"', -32600),
        (b"null", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":["x"]}', -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"nonsense"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":[]}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nonsense"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"recall"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}}', -32602),
    ],
)
def test_a_message_that_is_no_request_of_ours_is_an_error_and_the_server_lives_on(
    peer: Peer, line: bytes, code: int
) -> None:
    peer.raw(line)
    assert peer.read()["error"]["code"] == code
    assert peer.request("ping")["result"] == {}


def test_notifications_responses_and_blank_lines_are_not_answered(peer: Peer) -> None:
    peer.raw(b"")
    peer.raw(b"  \r")
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}},
        {"jsonrpc": "2.0", "method": "notifications/nonsense"},
        {"jsonrpc": "2.0", "method": "tools/call"},
        {"jsonrpc": "2.0", "method": "ping", "params": "nonsense"},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "no"}},
    ):
        peer.send(message)
    assert peer.request("ping")["result"] == {}


def test_ids_of_both_kinds_come_back_as_they_were(peer: Peer) -> None:
    for number in (0, -1, 2**53, "a", "é\ud800", ""):
        peer.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
        assert peer.read() == {"jsonrpc": "2.0", "id": number, "result": {}}


def test_a_batch_is_answered_as_one_where_the_protocol_has_batches(peer: Peer) -> None:
    peer.initialize("2025-03-26")
    ping = {"jsonrpc": "2.0", "method": "ping"}
    peer.send([{**ping, "id": 7}, {"jsonrpc": "2.0", "method": "notifications/x"}, {**ping, "id": 8}, 5])
    assert [answer.get("id") for answer in peer.read()] == [7, 8, None]
    peer.send([])
    assert peer.read()["error"]["code"] == -32600


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_batch_is_refused_where_the_protocol_has_none(peer: Peer, version: str) -> None:
    peer.initialize(version)
    peer.send([{"jsonrpc": "2.0", "id": 7, "method": "ping"}])
    assert peer.read()["error"]["code"] == -32600


def test_a_message_of_megabytes_is_read(peer: Peer) -> None:
    peer.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "ä" * 500_000}}})
    assert peer.read()["result"] == {}


@pytest.mark.parametrize("id_first", [True, False])
def test_a_message_over_the_limit_is_refused_by_its_id_and_the_next_one_is_read(peer: Peer, id_first: bool) -> None:
    text = "x" * 9_000_000
    call = {"name": "memory_record", "arguments": {"title": text}}
    message: dict[str, object] = {"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": call}
    if not id_first:
        message = {"method": "tools/call", "params": call, "jsonrpc": "2.0", "id": 41}
    peer.raw(json.dumps(message, separators=(",", ":")).encode())
    answer = peer.read()
    assert answer["id"] == 41
    assert answer["error"]["code"] == -32600
    assert peer.request("ping")["result"] == {}


def test_a_last_message_without_a_line_end_is_answered(peer: Peer) -> None:
    assert peer.process.stdin is not None
    peer.process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    peer.process.stdin.flush()
    assert peer.close() == 0
    assert peer.read()["result"] == {}


def test_the_end_of_input_ends_the_server(peer: Peer) -> None:
    peer.initialize()
    assert peer.close() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_the_server_without_noise(peer: Peer, number: str) -> None:
    peer.initialize()
    assert peer.request("ping")["result"] == {}
    peer.process.send_signal(getattr(signal, number))
    assert peer.process.wait() == 0
    assert peer.process.stderr is not None
    assert peer.process.stderr.read() == b""


def test_stray_prints_and_children_reach_neither_end_of_the_wire(tmp_path: Path) -> None:
    code = """
import subprocess, sys
from commonwealth.adapters.mcp import server
loud = server.Server._prompts
def _prompts(self, params):
    print("stray")
    print("stray", file=sys.__stdout__, flush=True)
    subprocess.run([sys.executable, "-c", "import sys; print('child', sys.stdin.read())"], check=True)
    return loud(self, params)
server.Server._prompts = _prompts
server.serve()
"""
    with Peer(tmp_path, code=code) as peer:
        assert peer.request("prompts/list")["result"]["prompts"]
        assert peer.request("ping")["result"] == {}
        assert peer.close() == 0
        assert peer.process.stderr is not None
        noise = peer.process.stderr.read()
        assert noise.count(b"stray") == 2
        assert b"child" in noise


def test_a_ping_is_answered_while_a_call_is_under_way(tmp_path: Path) -> None:
    code = """
import os, sys
from commonwealth.adapters.mcp import server
def _call(self, params):
    with open(params["name"]) as gate:
        return {"content": [], "isError": False, "said": gate.read()}
server.Server._call = _call
server.serve()
"""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Peer(tmp_path, code=code) as peer:
        for number in (50, 51, 52):
            peer.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": str(gate)}})
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 51}})
        assert peer.request("ping")["result"] == {}
        gate.write_text("first", encoding="utf-8")
        assert peer.read()["id"] == 50
        gate.write_text("third", encoding="utf-8")
        assert peer.read()["id"] == 52, "the cancelled call was begun"


def test_a_signal_lets_the_running_call_end_and_begins_no_other(tmp_path: Path) -> None:
    code = """
from commonwealth.adapters.mcp import server
def _call(self, params):
    with open(params["name"]) as gate:
        return {"said": gate.read()}
server.Server._call = _call
server.serve()
"""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Peer(tmp_path, code=code) as peer:
        for number in (50, 51):
            peer.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": str(gate)}})
        assert peer.request("ping")["result"] == {}
        with open(gate, "w", encoding="utf-8") as opened:
            peer.process.terminate()
            opened.write("done")
        assert peer.read()["result"] == {"said": "done"}
        assert peer.process.wait() == 0
        assert peer.process.stdout is not None
        assert peer.process.stdout.read() == b""


def test_nothing_heavy_is_loaded_before_the_tools_are_listed(tmp_path: Path) -> None:
    code = """
import sys
from commonwealth.adapters.mcp import server
server._load = lambda: None
listed = server.Server._tools
def _tools(self, params):
    return listed(self, params) | {"loaded": sorted(name for name in sys.modules if "." not in name)}
server.Server._tools = _tools
from commonwealth.__main__ import main
sys.argv = ["brain", "mcp", "--brain", "acme", "-C", "."]
sys.exit(main())
"""
    with Peer(tmp_path, code=code) as peer:
        peer.initialize()
        loaded = peer.request("tools/list")["result"]["loaded"]
    heavy = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "click", "yaml", "sqlite3", "subprocess", "email"}
    assert not heavy & set(loaded)


def test_prompts_are_listed_with_their_arguments_and_filled_in(peer: Peer) -> None:
    prompts = {one["name"]: one for one in peer.request("prompts/list")["result"]["prompts"]}
    assert list(prompts) == ["remember", "decide", "recall", "review"]
    assert prompts["recall"]["arguments"][0]["required"] is True
    got = peer.request("prompts/get", {"name": "recall", "arguments": {"subject": "retries"}})["result"]
    assert got["messages"][0]["content"]["text"].endswith("subject: retries")
    assert (
        "subject:" not in peer.request("prompts/get", {"name": "remember"})["result"]["messages"][0]["content"]["text"]
    )


def test_a_command_line_with_other_words_is_left_to_the_parser() -> None:
    assert plain_options([]) == (None, None)
    assert plain_options(["-C", "/tmp", "--brain", "acme"]) == ("acme", "/tmp")
    for words in (["--help"], ["--brain"], ["--brain", "--help"], ["--brain", "a", "--brain", "b"], ["x", "y"]):
        assert plain_options(words) is None
