"""Facts in time through the tools: replaced, withdrawn, true once, and what the brain said then."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .mcp_peer import FACT, Peer, ask, complaints, refused
from .sessions import until
from .test_mcp_writers import at_once, found

QUEUED = {"title": "Payments are processed by a queue", "summary": "Orders wait in a queue."}
SYNCHRONOUS = {"title": "Payments are processed synchronously", "summary": "The order waits for the payment."}
CHANGED = "2026-04-17T00:00:00Z"


NO_MOMENT = ("yesterday", "2099-02-30", "0123456789abcdef", "--all", "main; rm", "2099-01-01T00:00:00+25:00")
WHOLE = """
{"type": "gotcha", "title": "HTTP 409 means an idempotent payment already succeeded",
 "summary": "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
 "repository": "example-commerce-platform", "components": ["payments", "retry-policy"],
 "tags": ["idempotency", "http-409"], "status": "confirmed", "confidence": "high",
 "observedAt": "2026-06-02T12:15:00Z",
 "provenance": {"human": "Alice", "agent": "Codex", "repository": "example-commerce-platform",
  "branch": "investigate/duplicate-payments", "commit": "4f8c2ab", "issue": "PAY-1842",
  "files": ["src/payments/PaymentService.ts", "src/payments/RetryPolicy.ts"],
  "evidence": ["An integration test reproduced 409 after a completed idempotency key."]}}
"""


def recorded(peer: Peer, **fact: object) -> str:
    receipt = ask(peer, "memory_record", **{**FACT, **fact})
    assert receipt["state"] == "committed", receipt
    return str(receipt["ids"][0])


def ids(peer: Peer, **filters: object) -> set[str]:
    return {hit["id"] for hit in ask(peer, "memory_search", **filters)["results"]}


def test_a_fact_of_the_whole_schema_is_recorded_and_found_by_repository_and_confidence(peer: Peer) -> None:
    receipt = ask(peer, "memory_record", **json.loads(WHOLE))
    assert receipt["state"] == "committed"
    (note_id,) = receipt["ids"]
    asked = {"repository": "example-commerce-platform", "query": "payment retry idempotency", "confidence": "high"}
    assert ids(peer, **asked) == {note_id}
    assert ids(peer, **asked | {"confidence": "low"}) == set()
    read = ask(peer, "memory_read", id=note_id)
    assert read["provenance"]["branch"] == "investigate/duplicate-payments"
    assert read["observedAt"] == "2026-06-02T12:15:00Z"
    assert read["status"] == "confirmed"


def test_a_replacement_closes_the_old_fact_at_the_instant_of_the_change_in_one_commit(
    peer: Peer, root: Path, git: Callable[..., str]
) -> None:
    old = recorded(peer, **SYNCHRONOUS, validFrom="2025-01-01")
    before = git(root, "rev-list", "--count", "HEAD")
    receipt = ask(peer, "memory_supersede", id=old, effectiveAt="2026-04-17", replacement=QUEUED)
    assert receipt["state"] == "committed", receipt
    new = receipt["ids"][0]
    assert receipt["ids"] == [new, old]
    assert int(git(root, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert git(root, "status", "--porcelain") == ""

    closed, fresh = ask(peer, "memory_read", id=old), ask(peer, "memory_read", id=new)
    assert (closed["status"], closed["validUntil"], closed["supersededBy"]) == ("superseded", CHANGED, new)
    assert (fresh["validFrom"], fresh["supersedes"]) == (CHANGED, [old])
    payments: dict[str, Any] = {"query": "payments processed"}
    assert ids(peer, **payments) == {new}
    assert ids(peer, **payments, includeSuperseded=True) == {new, old}
    assert ids(peer, **payments, validAt="2026-02-01") == {old}
    assert ids(peer, **payments, validAt="2026-04-16T23:59:59Z") == {old}
    assert ids(peer, **payments, validAt=CHANGED) == {new}
    assert ids(peer, **payments, validAt="2026-04-17T02:00:00+02:00") == {new}
    assert ids(peer, **payments, validAt="2024-12-31T23:59:59Z") == set()
    assert ids(peer, **payments, validAt="2026-08-01") == {new}


def test_what_is_true_until_a_planned_replacement_is_told_with_its_end(peer: Peer) -> None:
    old = recorded(peer, **SYNCHRONOUS)
    planned = ask(peer, "memory_supersede", id=old, effectiveAt="2999-01-01", replacement=QUEUED)["ids"][0]
    until_then = f"until 2999-01-01T00:00:00Z, then {planned}"
    for asked in ({}, {"asOf": "HEAD"}, {"includeSuperseded": True}):
        hits = {hit["id"]: hit for hit in ask(peer, "memory_search", query="payments processed", **asked)["results"]}
        assert hits[old]["status"] == until_then, asked
        assert (hits[old]["validUntil"], hits[old]["supersededBy"]) == ("2999-01-01T00:00:00Z", planned)
    for given in ({}, {"asOf": "HEAD"}):
        assert f"it is still true: {until_then}" in ask(peer, "memory_read", id=old, **given)["warnings"]
    now = ask(peer, "memory_supersede", id=recorded(peer), replacement={"title": "Another", "summary": "Now."})["ids"]
    hits = {hit["id"]: hit for hit in ask(peer, "memory_search", includeSuperseded=True)["results"]}
    assert hits[now[1]]["status"] == "superseded"
    assert "warnings" not in ask(peer, "memory_read", id=now[1])


def test_a_replacement_is_of_the_kind_of_what_it_replaces_unless_it_says_otherwise(peer: Peer) -> None:
    decided = recorded(peer, kind="decision", title="Sessions live on the server")
    plain = recorded(peer, title="A session takes a megabyte")
    told: list[Any] = []
    for olds, fact in (
        ([decided], {}),
        ([plain], {}),
        ([recorded(peer, kind="decision", title="One region"), recorded(peer, title="Two regions")], {}),
        ([recorded(peer, kind="decision", title="Three regions")], {"kind": "memory", "type": "gotcha"}),
    ):
        new = {"title": f"What stands for {olds[0]}", "summary": "Now.", **fact}
        made = ask(peer, "memory_supersede", id=olds, replacement=new)["ids"][0]
        told.append(ask(peer, "memory_read", id=made)["kind"])
    assert told == ["decision", "memory", "memory", "memory"]


def test_a_branch_filters_a_search(peer: Peer) -> None:
    one = recorded(peer, title="Found on one", provenance={"branch": "fix/one"})
    recorded(peer, title="Found on two", provenance={"branch": "fix/two"})
    assert ids(peer, query="found", branch="fix/one") == {one}
    assert len(ids(peer, query="found", branch=["fix/one", "fix/two"])) == 2


def test_one_fact_replaces_several(peer: Peer) -> None:
    olds = [recorded(peer, title=f"Region {name} has its own ledger") for name in ("north", "south")]
    receipt = ask(peer, "memory_supersede", id=olds, replacement={"title": "There is one ledger", "body": "For all."})
    assert receipt["state"] == "committed", receipt
    assert set(receipt["ids"][1:]) == set(olds)
    assert ids(peer, query="ledger") == {receipt["ids"][0]}


def test_a_retracted_fact_does_not_come_back_and_keeps_the_reason(peer: Peer) -> None:
    old = recorded(peer)
    receipt = ask(peer, "memory_retract", id=old, reason="The test had a wrong fixture.")
    assert receipt["state"] == "committed", receipt
    assert ids(peer, query="payment 409") == set()
    assert ids(peer, query="payment 409", includeSuperseded=True) == {old}
    read = ask(peer, "memory_read", id=old)
    assert (read["status"], read["retractReason"]) == ("retracted", "The test had a wrong fixture.")
    assert ask(peer, "memory_retract", id=old, reason="The test had a wrong fixture.")["state"] == "unchanged"


def test_as_of_a_time_or_a_commit_the_brain_says_what_it_said_then(root: Path, project: Path) -> None:
    def at(now: str) -> Peer:
        return Peer(project, "--brain", str(root), env={"COMMONWEALTH_NOW": now})

    with at("2099-02-01T10:00:00Z") as peer:
        peer.initialize()
        receipt = ask(peer, "memory_record", **SYNCHRONOUS)
        (old,) = receipt["ids"]
    with at("2099-04-17T10:00:00Z") as peer:
        peer.initialize()
        new = ask(peer, "memory_supersede", id=old, replacement=QUEUED)["ids"][0]
    with at("2099-08-01T10:00:00Z") as peer:
        peer.initialize()
        assert ids(peer, query="payments processed") == {new}
        for then in ("2099-03-01", receipt["commit"]):
            assert ids(peer, query="payments processed", asOf=then) == {old}
            read = ask(peer, "memory_read", id=old, asOf=then)
            assert read["status"] == "observed"
            assert "supersededBy" not in read
            assert refused(peer, "memory_read", id=new, asOf=then)["next"]
        assert ids(peer, query="payments processed", asOf="2099-05-01") == {new}
        assert ask(peer, "memory_read", id=old, asOf="2099-05-01")["supersededBy"] == new
        for tool, given in (("memory_search", {"query": "x"}), ("memory_read", {"id": old})):
            for wrong in (
                "yesterday",
                "2099-02-30",
                "0123456789abcdef",
                "--all",
                "main; rm",
                "2099-01-01T00:00:00+25:00",
            ):
                told = refused(peer, tool, **given, asOf=wrong)
                assert told["next"], (tool, wrong)
                assert "Traceback" not in told["error"]


GATED = """
import os, pathlib, time
from commonwealth.adapters.mcp import server
from commonwealth.flows import saving
gate, whole = pathlib.Path({gate!r}), saving.save
def save(*given, **named):
    (gate / str(os.getpid())).touch()
    end = time.monotonic() + 60
    while not (gate / "open").exists() and time.monotonic() < end:
        time.sleep(0.01)
    return whole(*given, **named)
saving.save = save
server.serve({root!r})
"""


def test_two_servers_that_replace_one_fact_at_once_keep_both_and_list_the_conflict(
    peer: Peer, root: Path, project: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    """Both have read the fact when the first of them writes."""
    old = recorded(peer)
    gate = tmp_path / "gate"
    gate.mkdir()
    code = GATED.format(gate=str(gate), root=str(root))
    told: list[Any] = []
    with Peer(project, code=code) as one, Peer(project, code=code) as other:
        for server in (one, other):
            server.initialize()

        def replace(server: Peer, name: str) -> None:
            fact = {"title": f"The {name} answer", "summary": f"By {name}."}
            told.append(ask(server, "memory_supersede", id=old, replacement=fact))

        def open_gate() -> None:
            until(lambda: len(list(gate.iterdir())) == 2, "that both have read")
            (gate / "open").touch()

        at_once(lambda: replace(one, "first"), lambda: replace(other, "second"), open_gate)
    assert [receipt["state"] for receipt in told] == ["committed", "committed"], told
    news = {receipt["ids"][0] for receipt in told}
    assert len(news) == 2
    (later,) = (receipt for receipt in told if receipt.get("conflicts"))
    assert set(later["conflicts"]) == news - {later["ids"][0]}
    closed = ask(peer, "memory_read", id=old)
    assert closed["status"] == "superseded"
    assert closed["supersededBy"] in news
    assert ids(peer, query="answer") == news
    listed = str(found(root, "conflicts", "list"))
    assert all(note_id in listed for note_id in news)
    assert git(root, "status", "--porcelain") == ""


def test_what_was_replaced_already_is_refused_and_the_end_of_the_chain_is_named(peer: Peer) -> None:
    old = recorded(peer)
    new = ask(peer, "memory_supersede", id=old, replacement=QUEUED)["ids"][0]
    told = refused(peer, "memory_supersede", id=old, replacement=SYNCHRONOUS)
    assert new in told["next"]
    assert ask(peer, "memory_supersede", id=old, replacement=QUEUED)["state"] == "unchanged"
    assert "chain" in told["next"]


# What cannot be taken


def test_everything_that_is_wrong_with_a_replacement_is_named_in_its_place(peer: Peer) -> None:
    told = complaints(
        peer,
        "memory_supersede",
        id=[],
        effectiveAt="the day before",
        replacement={
            "title": " ",
            "confidence": "sure",
            "validFrom": "2026-13-01",
            "sumary": "x",
            "provenance": {"file": "x"},
        },
        title="x",
        asOf="2026",
    )
    assert set(told) == {
        "id", "effectiveAt", "replacement.title", "replacement.confidence", "replacement.validFrom",
        "replacement.summary", "replacement.sumary", "replacement.provenance.file", "title", "asOf",
    }  # fmt: skip
    assert "replacement.title" in told["title"]
    assert "replacement.summary" in told["replacement.sumary"]
    assert "replacement.provenance.files" in told["replacement.provenance.file"]


INVALID: list[tuple[str, Mapping[str, object], str]] = [
    ("memory_supersede", {"id": "x"}, "replacement"),
    ("memory_supersede", {"replacement": QUEUED}, "id"),
    ("memory_supersede", {"id": "x", "replacement": "Queues"}, "replacement"),
    ("memory_supersede", {"id": ["x", 5], "replacement": QUEUED}, "id[1]"),
    ("memory_supersede", {"id": "x", "replacement": {"title": "y"}}, "replacement.summary"),
    ("memory_supersede", {"id": "x", "effectiveAt": "2026-01-01T00:00:00+25:00", "replacement": QUEUED}, "effectiveAt"),
    ("memory_supersede", {"id": "x", "effectiveAt": "2026-01-01 10:00 CET", "replacement": QUEUED}, "effectiveAt"),
    ("memory_supersede", {"id": "x", "effectiveAt": "9999-12-31T23:59:60Z", "replacement": QUEUED}, "effectiveAt"),
    (
        "memory_supersede",
        {"id": "x", "effectiveAt": "2026-02-01", "replacement": {**QUEUED, "validUntil": "2026-02-01"}},
        "replacement.validUntil",
    ),
    (
        "memory_supersede",
        {"id": "x", "effectiveAt": "2026-02-01", "replacement": {**QUEUED, "validFrom": "2026-02-02"}},
        "effectiveAt",
    ),
    ("memory_retract", {"id": "x"}, "reason"),
    ("memory_retract", {"id": "x", "reason": " "}, "reason"),
    ("memory_retract", {"id": "x", "reason": "y", "replacement": QUEUED}, "replacement"),
    ("memory_read", {"id": "x", "asOf": 5}, "asOf"),
]  # fmt: skip


def test_an_invalid_argument_is_named(peer: Peer) -> None:
    for tool, arguments, field in INVALID:
        assert field in complaints(peer, tool, **arguments), (tool, arguments)


def test_what_cannot_be_replaced_is_refused_with_a_next_step_and_nothing_is_written(
    peer: Peer, root: Path, git: Callable[..., str]
) -> None:
    old = recorded(peer, validFrom="2026-03-01")
    twin = recorded(peer, title="HTTP 409 means something else")
    head = git(root, "rev-parse", "HEAD")
    for tool, rest in (("memory_supersede", {"replacement": QUEUED}), ("memory_retract", {"reason": "y"})):
        told = refused(peer, tool, id="http-409-means", **rest)
        assert told["next"]
        assert old in refused(peer, tool, id="409 idempotent payment", **rest)["next"]
        both = old[:18]
        assert twin[:18] == both
        assert twin in refused(peer, tool, id=both, **rest)["error"]
    told = refused(peer, "memory_supersede", id=old, effectiveAt="2026-02-01", replacement=QUEUED)
    assert "2026-03-01" in told["error"]
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "status", "--porcelain") == ""


def test_a_time_without_a_zone_is_utc_and_empty_fields_are_left_to_the_session(peer: Peer) -> None:
    origin = {"human": "", "agent": " ", "branch": "", "files": [""], "evidence": [" "], "issue": "PAY-1"}
    old = recorded(peer, provenance=origin, branch="", tags=[""], observedAt="2026-06-02 12:15")
    read = ask(peer, "memory_read", id=old)
    assert read["observedAt"] == "2026-06-02T12:15:00Z"
    assert read["provenance"]["human"] == "Alice"
    assert read["provenance"]["agent"] == "Claude Code"
    assert read["provenance"]["branch"].strip()
    assert read["provenance"]["issue"] == "PAY-1"
    assert not {"files", "evidence"} & set(read["provenance"])
    assert not {"branch", "tags"} & set(read)


def test_a_secret_in_a_replacement_or_a_reason_is_refused_and_not_told(peer: Peer, root: Path) -> None:
    token = "ghp_" + "a8Kd93LmQz71XvBn26TyHw45RcJp08UeSf1D"
    old = recorded(peer)
    for tool, rest in (
        ("memory_supersede", {"replacement": {**QUEUED, "body": f"token {token}"}}),
        ("memory_retract", {"reason": f"the token {token} was wrong"}),
    ):
        receipt = refused(peer, tool, id=old, **rest)
        assert receipt["reason"].startswith("secret:")
        assert token not in str(receipt)
    assert ask(peer, "memory_read", id=old)["status"] == "observed"
    assert not [path for path in root.rglob("*.md") if token in path.read_text(encoding="utf-8")]
