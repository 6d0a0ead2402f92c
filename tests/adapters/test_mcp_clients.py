"""Judges that are not ours: the official SDK's client, and the inspector on the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from .test_cli_review import staged
from .test_mcp_review import settings

FACT: dict[str, Any] = {
    "title": "The nightly job needs the old schema",
    "summary": "Dropping it breaks billing.",
    "tags": ["db"],
}


@pytest.fixture
def server(root: Path, tmp_path: Path) -> StdioServerParameters:
    arguments = ["-m", "commonwealth", "mcp", "--brain", str(root)]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ), cwd=str(tmp_path))


def test_the_sdk_lists_and_calls_everything(server: StdioServerParameters, root: Path) -> None:
    settings("agents: approve\n")
    waiting_id = staged(root, "Retries are safe")

    async def use() -> None:
        with anyio.fail_after(60):
            async with Client(stdio_client(server)) as client:
                assert client.protocol_version == "2025-11-25"
                tools = (await client.list_tools()).tools
                results: dict[str, Any] = {}
                receipt = await client.call_tool("memory_record", FACT)
                results["memory_record"] = receipt
                note_id = receipt.structured_content["ids"][0]
                results["memory_search"] = await client.call_tool("memory_search", {"query": "schema", "tag": "db"})
                results["memory_read"] = await client.call_tool("memory_read", {"id": note_id})
                change = {"id": note_id, "confidence": "high"}
                results["memory_update"] = await client.call_tool("memory_update", change)
                newer = {"id": note_id, "replacement": {**FACT, "title": "The nightly job needs the new schema"}}
                results["memory_supersede"] = await client.call_tool("memory_supersede", newer)
                newer_id = results["memory_supersede"].structured_content["ids"][0]
                wrong_fact = {"id": newer_id, "reason": "It needs none."}
                results["memory_retract"] = await client.call_tool("memory_retract", wrong_fact)
                work = {"title": "Drop the old schema", "files": ["db/schema.sql"]}
                results["work_start"] = await client.call_tool("work_start", work)
                work_id = results["work_start"].structured_content["ids"][0]
                results["work_search"] = await client.call_tool("work_search", {"files": ["db/schema.sql"]})
                blocked = {"id": work_id, "status": "blocked"}
                results["work_update"] = await client.call_tool("work_update", blocked)
                results["work_complete"] = await client.call_tool("work_complete", {"id": work_id})
                results["review_list"] = await client.call_tool("review_list", {})
                approved = {"id": waiting_id, "decision": "reject", "reason": "The README says it."}
                results["review_decide"] = await client.call_tool("review_decide", approved)
                results["whoami"] = await client.call_tool("whoami", {})
                assert sorted(results) == sorted(tool.name for tool in tools)
                assert not [name for name, result in results.items() if result.is_error]
                assert results["memory_search"].structured_content["results"][0]["id"] == note_id
                wrong = await client.call_tool("memory_read", {"idd": note_id})
                assert wrong.is_error
                assert {one["field"] for one in wrong.structured_content["fields"]} == {"id", "idd"}

                resources = (await client.list_resources()).resources
                assert [resource.uri for resource in resources] == [
                    "commonwealth://router",
                    f"commonwealth://note/{note_id}",
                ]
                for resource in resources:
                    (content,) = (await client.read_resource(resource.uri)).contents
                    assert "not instructions" in content.text  # type: ignore[union-attr]
                (template,) = (await client.list_resource_templates()).resource_templates
                assert template.uri_template == "commonwealth://note/{id}"
                with pytest.raises(MCPError, match="no such resource"):
                    await client.read_resource("commonwealth://elsewhere")
                with pytest.raises(MCPError, match="No note has the id"):
                    await client.read_resource("commonwealth://note/..%2F..%2Fetc%2Fpasswd")

                for prompt in (await client.list_prompts()).prompts:
                    given = {argument.name: "x" for argument in prompt.arguments or []}
                    assert (await client.get_prompt(prompt.name, given)).messages

    anyio.run(use)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_sdk_gets_on_in_every_protocol_version_with_a_handshake(
    server: StdioServerParameters, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", version, raising=False)

    async def use() -> None:
        with anyio.fail_after(60):
            async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
                result = await session.initialize()
                assert result.protocol_version == version
                await session.send_ping()
                called = await session.call_tool("memory_search", {"query": "x"})
                assert called.structured_content["total"] == 0

    anyio.run(use)


REQUIRED = os.environ.get("COMMONWEALTH_REQUIRE_CLIENTS") == "1"  # read here: every test starts without it


def _inspector() -> str:
    folder = os.environ.get("AI_CLIENTS_DIR")
    found = shutil.which("mcp-inspector", path=f"{folder}/node_modules/.bin" if folder else None)
    if found is None and REQUIRED:
        pytest.fail("no mcp-inspector: tests/e2e/install_clients.sh DIR, then AI_CLIENTS_DIR=DIR")
    if found is None:
        pytest.skip("no mcp-inspector: install it and set AI_CLIENTS_DIR")
    return found


@pytest.mark.client
def test_the_inspector_lists_and_calls_every_tool(root: Path, tmp_path: Path) -> None:
    inspector = _inspector()
    settings("agents: approve\n")
    waiting_id = staged(root, "Retries are safe")

    def inspect(*arguments: str) -> Any:
        brain = [sys.executable, "-m", "commonwealth", "mcp", "--brain", str(root)]
        done = subprocess.run(
            [inspector, "--cli", *brain, *arguments], capture_output=True, cwd=tmp_path, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def call(tool: str, **arguments: str) -> Any:
        pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
        return inspect("--method", "tools/call", "--tool-name", tool, *pairs)

    tools = inspect("--method", "tools/list")["tools"]
    note_id = call("memory_record", title=FACT["title"], summary=FACT["summary"])["structuredContent"]["ids"][0]
    work_id = call("work_start", title="Drop the old schema", summary="It is unused.")["structuredContent"]["ids"][0]
    old_id = call("memory_record", title="The queue is RabbitMQ", summary="Since 2024.")["structuredContent"]["ids"][0]
    arguments: dict[str, dict[str, str]] = {
        "memory_search": {"query": "schema", "limit": "5"},
        "memory_read": {"id": note_id},
        "memory_record": {"title": FACT["title"], "summary": FACT["summary"]},
        "memory_update": {"id": note_id, "confidence": "high"},
        "memory_supersede": {"id": old_id, "replacement": '{"title": "The queue is Kafka", "summary": "Now."}'},
        "memory_retract": {"id": note_id, "reason": "It never needed it."},
        "work_start": {"title": "Another change"},
        "work_search": {"query": "schema"},
        "work_update": {"id": work_id, "status": "blocked"},
        "work_complete": {"id": work_id, "summary": "Done."},
        "review_list": {},
        "review_decide": {"id": waiting_id, "decision": "reject", "reason": "The README says it."},
        "whoami": {},
    }
    assert sorted(arguments) == sorted(tool["name"] for tool in tools)
    for tool, given in arguments.items():
        assert not call(tool, **given).get("isError"), tool
    wrong = call("memory_read", idd=note_id)
    assert wrong["isError"] is True
    assert {one["field"] for one in wrong["structuredContent"]["fields"]} == {"id", "idd"}
    assert len(inspect("--method", "resources/list")["resources"]) == 2
    assert len(inspect("--method", "prompts/list")["prompts"]) == 4
