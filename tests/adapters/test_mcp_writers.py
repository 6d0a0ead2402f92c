"""Servers, commands and workers on one brain at once: every write is one note, and nobody waits for a reader."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commonwealth.adapters.mcp import generate

from .mcp_peer import FACT, Peer, ask

COMMAND = [sys.executable, "-P", "-m", "commonwealth"]


def at_once(*jobs: Callable[[], object]) -> None:
    """Run jobs in threads that begin together; the first fault is ours."""
    gate = threading.Barrier(len(jobs))
    faults: list[BaseException] = []

    def run(job: Callable[[], object]) -> None:
        try:
            gate.wait()
            job()
        except BaseException as fault:  # noqa: BLE001  # told to the test
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def found(root: Path, *words: str) -> Any:
    done = subprocess.run([*COMMAND, *words, "--brain", str(root), "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)


def test_two_servers_with_twenty_notes_each_and_a_searching_command_leave_forty(
    root: Path, project: Path, git: Callable[..., str]
) -> None:
    with Peer(project, "--brain", str(root)) as one, Peer(project, "--brain", str(root)) as other:
        for peer in (one, other):
            peer.initialize()

        def write(peer: Peer, name: str) -> None:
            for number in range(20):
                receipt = ask(peer, "memory_record", title=f"Fact {number} of {name}", summary=f"mark-{name}-{number}")
                assert receipt["state"] == "committed", receipt

        at_once(lambda: write(one, "one"), lambda: write(other, "other"), lambda: found(root, "search", "fact"))
        assert ask(one, "memory_search", query="fact", kind="memory", limit=100)["total"] == 40
    assert len(list(root.glob("memory/*/*fact*.md"))) == 40
    assert found(root, "search", "fact", "--kind", "memory", "--limit", "100")["total"] == 40
    assert git(root, "status", "--porcelain") == ""
    assert len(git(root, "log", "--format=%s", "--grep=^Remember").splitlines()) == 40


def test_the_same_call_through_two_servers_and_a_command_is_one_note(root: Path, project: Path) -> None:
    told: list[Any] = []
    with Peer(project, "--brain", str(root)) as one, Peer(project, "--brain", str(root)) as other:
        for peer in (one, other):
            peer.initialize()
        words = (
            "remember",
            str(FACT["title"]),
            "--idempotency-key",
            "k",
            "-m",
            "Said by a command.",
            "-C",
            str(project),
        )
        at_once(
            lambda: told.append(ask(one, "memory_record", **FACT, idempotencyKey="k")),
            lambda: told.append(ask(other, "memory_record", **FACT, idempotencyKey="k")),
            lambda: told.append(found(root, *words)),
        )
    assert sorted(receipt["state"] for receipt in told) == ["committed", "unchanged", "unchanged"]
    assert len({receipt["ids"][0] for receipt in told}) == 1
    assert len(list(root.glob("memory/*/*http-409*.md"))) == 1


def test_text_is_inserted_below_a_heading_and_a_missing_heading_is_answered_with_those_there_are(peer: Peer) -> None:
    (note_id,) = ask(peer, "memory_record", title="Log", body="## Log\n\n- old\n")["ids"]
    assert ask(peer, "memory_update", id=note_id, section="Log", insert="- new")["state"] == "committed"
    assert ask(peer, "memory_read", id=note_id)["body"] == "## Log\n\n- new\n- old\n"
    result = peer.call("memory_update", {"id": note_id, "section": "Nowhere", "insert": "x"})
    assert result["isError"] is True
    assert "Its sections: Log." in json.dumps(result["structuredContent"])
    (tool,) = (
        tool for tool in json.loads(generate.PATH.read_text(encoding="utf-8")) if tool["name"] == "memory_update"
    )
    assert {"section", "append", "insert", "replace"} <= set(tool["inputSchema"]["properties"])
