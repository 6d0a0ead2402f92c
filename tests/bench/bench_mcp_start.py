"""How soon a client has its tools: our stdio loop against the official SDK, measured the way a client sees it.

    python tests/bench/bench_mcp_start.py [--rounds 9] [--load 0]

Three servers answer the same `tools.json`, in turn, so that they share the machine's moods:

- loop: `brain mcp` as it is;
- front: the same loop answers the handshake while the SDK is imported behind it, and calls wait for the SDK;
- sdk: the SDK's low-level server, imported first.

Milliseconds from process start to the answer of `tools/list`, and to the answer of a first `tools/call` that is
invalid and so needs the argument models; CPU of the process at its end; peak resident memory. Medians.
`--load N` keeps N other processes busy meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SDK = """
import anyio, json, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import commonwealth.adapters.mcp.generate as generate
from commonwealth.adapters.mcp import arguments, models

TOOLS = types.ListToolsResult.model_validate({"tools": json.loads(generate.PATH.read_text(encoding="utf-8"))})

async def listed(ctx, params):
    return TOOLS

async def called(ctx, params):
    try:
        arguments.check(models.ReadArguments, params.arguments or {})
    except arguments.InvalidArguments as error:
        return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

server = Server("brain", on_list_tools=listed, on_call_tool=called)

async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
"""

COMMANDS = {
    "loop": ["-m", "commonwealth", "mcp"],
    "front": [
        "-c",
        """
import threading
from commonwealth.adapters.mcp import server as ours

def load():
    import mcp.server.lowlevel, mcp.server.stdio
    from commonwealth.adapters.mcp import handlers

loading = threading.Thread(target=load, daemon=True)
call = ours.Server._call
def _call(self, params):
    if loading.ident is None: loading.start()
    loading.join()
    return call(self, params)
def _answered(self, method):
    if method == "tools/list" and loading.ident is None: loading.start()
ours.Server._call, ours.Server._answered = _call, _answered
ours.serve()
""",
    ],
    "sdk": ["-c", SDK + "\nanyio.run(main)\n"],
}

INITIALIZE: dict[str, object] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "b", "version": "1"},
}


class Client:
    """A client that waits for each answer before it asks on."""

    def __init__(self, command: Sequence[str]) -> None:
        self._begun = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, object]) -> float:
        """Milliseconds since the process was started, when the answer is there."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._write(message)
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._number
        assert "result" in answer, answer
        return (time.perf_counter() - self._begun) * 1000

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method})

    def _write(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def peak(self) -> float:
        """Peak resident memory in MB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024

    def close(self) -> None:
        """End the server as a client does that closes its pipe."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def measure(command: Sequence[str]) -> dict[str, float]:
    """One start, from nothing to the first answered call."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = Client(command)
    client.ask("initialize", INITIALIZE)
    client.tell("notifications/initialized")
    listed = client.ask("tools/list", {})
    listing = client.peak()
    called = client.ask("tools/call", {"name": "memory_read", "arguments": {"nonsense": 1}})
    peak = client.peak()
    client.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
    return {"list ms": listed, "first call ms": called, "CPU ms": cpu, "MB at list": listing, "MB": peak}


def bare() -> float:
    """Milliseconds of an interpreter that does nothing."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--load", type=int, default=0)
    given = options.parse_args()
    os.environ["COMMONWEALTH_HOME"] = tempfile.mkdtemp()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.load)]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in COMMANDS}
    floor: list[float] = []
    try:
        for command in COMMANDS.values():  # once for the byte code caches
            measure(command)
        for _ in range(given.rounds):
            floor.append(bare())
            for name, command in COMMANDS.items():
                found[name].append(measure(command))
    finally:
        for process in busy:
            process.kill()
    sys.stdout.write(f"rounds {given.rounds}, load {given.load}, bare python {statistics.median(floor):.0f} ms\n")
    for name, rounds in found.items():
        cells = [f"{key} {statistics.median(one[key] for one in rounds):7.1f}" for key in rounds[0]]
        worst = max(one["list ms"] for one in rounds)
        sys.stdout.write(f"{name:6} {'   '.join(cells)}   (slowest list {worst:.0f} ms)\n")


if __name__ == "__main__":
    main()
