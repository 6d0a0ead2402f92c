"""The settings that docs/clients.md gives to any client start a server that answers."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tomllib
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from commonwealth.flows import indexing
from tests.e2e.documented import block, blocks

SUMMARY = "Dropping it breaks billing."


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the command `brain`, as an installation gives it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    source = Path(indexing.__file__).parents[2]
    run = f"PYTHONPATH={shlex.quote(str(source))} exec {shlex.quote(sys.executable)} -P -m commonwealth"
    brain = folder / "brain"
    brain.write_text(f'#!/bin/sh\n{run} "$@"\n', encoding="utf-8")
    brain.chmod(brain.stat().st_mode | stat.S_IXUSR)
    return folder


def test_the_json_for_any_client_starts_a_server_that_records_and_searches(
    root: Path, installed: Path, tmp_path: Path
) -> None:
    entry = json.loads(block("json", '"env": {}'))["mcpServers"]["brain"]
    env = {**os.environ, **entry["env"], "COMMONWEALTH_BRAIN": str(root)}
    command = str(installed / entry["command"])
    server = StdioServerParameters(command=command, args=entry["args"], env=env, cwd=str(tmp_path))

    async def use() -> None:
        with anyio.fail_after(60):
            async with Client(stdio_client(server)) as client:
                fact = {"title": "The nightly job needs the old schema", "summary": SUMMARY}
                receipt = await client.call_tool("memory_record", fact)
                assert receipt.structured_content["state"] == "committed"
                found = await client.call_tool("memory_search", {"query": "nightly schema"})
                assert found.structured_content["results"][0]["summary"] == SUMMARY

    anyio.run(use)


def test_every_setting_on_the_page_is_well_formed_and_starts_the_same_server() -> None:
    entries = []
    for kind, text in blocks():
        if kind == "json" and "mcpServers" in text:
            entries.append(json.loads(text)["mcpServers"]["brain"])
        if kind == "toml":
            entries.append(tomllib.loads(text)["mcp_servers"]["brain"])
    assert [(entry["command"], entry["args"]) for entry in entries] == [("brain", ["mcp"])] * 3
