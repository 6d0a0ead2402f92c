"""Messages in the words of the surface: arguments and tools over MCP, options on the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.adapters.mcp.wording import of_receipt, reworded

from .mcp_peer import FACT, Peer, ask, refused

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAID = {
    "effective_at: x is before valid_from y of z.": "effectiveAt: x is before validFrom y of z.",
    "lease_minutes: 1 is not between 5 and 9": "leaseMinutes: 1 is not between 5 and 9",
    "No note has the id 'valid_from'.": "No note has the id 'valid_from'.",
    "`brain supersede abc …`. Nothing was written.": "memory_supersede of abc. Nothing was written.",
    "`brain search` finds ids.": "memory_search finds ids.",
    "`brain history ID` lists its versions.": "memory_read of ID lists its versions.",
    "`brain history ID --at COMMIT` prints it.": "memory_read of ID with asOf COMMIT prints it.",
    "`brain work update ab --status in-progress` reopens it": "work_update of ab with status in-progress reopens it",
    "`brain work abandon ab` ends it": "work_update of ab with status abandoned ends it",
    "renew it (`--lease`), not `--brain`": "renew it (`leaseMinutes`), not `--brain`",
    "`brain conflicts list` shows them.": "Tell the user: `brain conflicts list` shows them.",
    "disputed; `brain conflicts list` shows it": "disputed; tell the user: `brain conflicts list` shows it",
    "`brain sync` tries again.": "`brain sync` tries again.",
}


@pytest.mark.parametrize("said", SAID)
def test_a_message_names_arguments_and_tools_over_mcp(said: str) -> None:
    assert reworded(said) == SAID[said]
    told = of_receipt({"state": "committed", "reason": said, "next": None, "warnings": [said], "ids": [said]})
    assert told == {"state": "committed", "reason": SAID[said], "next": None, "warnings": [SAID[said]], "ids": [said]}


def test_errors_of_tools_name_no_field_of_ours_and_no_command(peer: Peer) -> None:
    another = {"title": "Another", "summary": "Now."}
    note = ask(peer, "memory_record", **FACT, validFrom="2026-01-01")["ids"][0]
    told = [
        refused(peer, "memory_search", asOf="main; rm"),
        refused(peer, "memory_read", id="nothing-like-it"),
        refused(
            peer,
            "memory_supersede",
            id=note,
            effectiveAt="2025-01-01",
            replacement=another,
        ),
        refused(peer, "work_complete", id="nothing-like-it"),
        refused(peer, "work_start", title="Much", leaseMinutes=10_000_000),
    ]
    text = "\n".join(str(one) for one in told)
    for ours in ("as_of", "effective_at", "valid_from", "lease_minutes", "brain search", "brain history"):
        assert ours not in text
    for theirs in ("asOf: ", "effectiveAt: ", "memory_search finds ids", "leaseMinutes"):
        assert theirs in text


def test_errors_of_commands_name_the_option_that_was_given(brain: Run, root: Path) -> None:
    def run(*words: str) -> str:
        done = brain(*words, "--brain", str(root))
        assert done.returncode in (1, 2), done
        return done.stderr.decode()

    assert brain("remember", "Retries are safe", "--valid-from", "2026-01-01", "--brain", str(root)).returncode == 0
    assert "error: --at: 2025" in run("supersede", "2", "Retries are not", "--at", "2025-01-01")
    assert "error: --lease: " in run("work", "start", "Much", "--lease", "99999999")
    assert "error: --as-of: " in run("search", "x", "--as-of", "yesterday")
    assert "error: --branch-scope: " in run("remember", "One more", "--branch-scope", "a..b")
    assert "error: --valid-until: " in run(
        "remember", "On", "--valid-from", "2026-02-01", "--valid-until", "2026-01-01"
    )
