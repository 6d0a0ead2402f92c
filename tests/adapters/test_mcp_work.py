"""Who is changing what, through the tools: announced, found, warned of, and done with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from .mcp_peer import LIMIT, Peer, ask, checked, complaints, refused

REPOSITORY = "example-commerce-platform"
SERVICE = "src/payments/PaymentService.ts"
COMMAND = [sys.executable, "-P", "-m", "commonwealth"]


def person(name: str, **more: str) -> dict[str, str]:
    return {"COMMONWEALTH_AUTHOR": name, "COMMONWEALTH_AUTHOR_EMAIL": f"{name.casefold()}@example.com", **more}


def started(peer: Peer, title: str = "Handle duplicate payments", **fields: object) -> Any:
    given = {"repository": REPOSITORY, "files": [SERVICE], "components": ["payments"], **fields}
    told = ask(peer, "work_start", title=title, **given)
    assert told["state"] == "committed", told
    return told


def work(peer: Peer, **filters: object) -> Any:
    return ask(peer, "work_search", **filters)


def test_announced_work_is_found_by_the_files_that_it_touches(peer: Peer, root: Path, git: Callable[..., str]) -> None:
    told = started(peer, summary="409 is taken for a failure.", branch="fix/409")
    (work_id,) = told["ids"]
    assert told["overlaps"] == []
    assert git(root, "status", "--porcelain") == ""

    found = work(peer, repository=REPOSITORY, files=[SERVICE])
    assert found["total"] == 1
    (hit,) = found["results"]
    assert hit["id"] == work_id
    assert hit["stale"] is False
    assert any(SERVICE in why for why in hit["overlap"])
    assert (hit["owner"], hit["agent"], hit["branch"]) == ("Alice", "Claude Code", "fix/409")
    assert hit["status"] == "in-progress"
    assert hit["leaseUntil"]
    assert work(peer, repository=REPOSITORY, files=["src/payments/**"])["total"] == 1
    assert work(peer, repository=REPOSITORY, files=["src/payments"])["total"] == 1
    assert work(peer, components="payments")["total"] == 1
    assert work(peer, query="duplicate payments", person="Alice", agent="Claude Code")["total"] == 1
    nothing = work(peer, repository=REPOSITORY, files=["docs/README.md"])
    assert (nothing["results"], nothing["total"]) == ([], 0)
    assert "work_start" in nothing["next"]


def test_work_is_updated_and_completed(peer: Peer) -> None:
    (work_id,) = started(peer)["ids"]
    assert ask(peer, "whoami")["work"] == [work_id]
    changed = ask(peer, "work_update", id=work_id, status="blocked", files=[SERVICE, "docs/retry.md"], leaseMinutes=600)
    assert (changed["state"], changed["overlaps"]) == ("committed", [])
    (hit,) = work(peer, files="docs/retry.md")["results"]
    assert (hit["id"], hit["status"]) == (work_id, "blocked")
    assert ask(peer, "work_complete", id=work_id, summary="409 is success now.")["state"] == "committed"
    assert work(peer, files=[SERVICE])["total"] == 0
    (done,) = work(peer, files=[SERVICE], status="completed")["results"]
    assert (done["id"], done["summary"]) == (work_id, "409 is success now.")
    assert ask(peer, "whoami")["work"] == []
    assert ask(peer, "memory_read", id=work_id)["completedAt"]


def test_whoever_starts_on_the_same_files_is_warned_and_not_held_up(root: Path, project: Path) -> None:
    with (
        Peer(project, "--brain", str(root), env=person("Alice")) as alice,
        Peer(project, "--brain", str(root), env=person("Chen")) as chen,
    ):
        alice.initialize()
        chen.initialize(client="codex-mcp-client")
        (first,) = started(alice)["ids"]
        told = started(chen, "Rework the payment service", files=["src/payments"], components=[])
        (overlap,) = told["overlaps"]
        assert overlap["id"] == first
        assert overlap["overlap"]
        assert (overlap["owner"], overlap["stale"]) == ("Alice", False)
        assert "blocks nothing" in told["next"]
        assert work(alice, files=[SERVICE])["total"] == 2
        assert ask(chen, "whoami")["work"] == told["ids"]


def test_work_announced_in_one_clone_is_an_overlap_in_another_after_a_sync(
    root: Path, project: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    remote, clone = tmp_path / "remote.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(root, "remote", "add", "origin", str(remote))

    def sync(brain: Path) -> None:
        done = subprocess.run([*COMMAND, "sync", "--brain", str(brain), "--json"], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    with Peer(project, "--brain", str(root), env=person("Alice")) as alice:
        alice.initialize()
        (first,) = started(alice)["ids"]
        sync(root)
        git(tmp_path, "clone", "-q", str(remote), str(clone))
        with Peer(project, "--brain", str(clone), env=person("Chen")) as chen:
            chen.initialize()
            told = started(chen, "Rename PaymentService")
            assert [one["id"] for one in told["overlaps"]] == [first]
            sync(clone)
            sync(root)
            assert {hit["id"] for hit in work(alice, files=[SERVICE])["results"]} == {first, *told["ids"]}
            assert ask(alice, "work_complete", id=first)["state"] == "committed"
            sync(root)
            sync(clone)
            assert [hit["id"] for hit in work(chen, files=[SERVICE])["results"]] == told["ids"]


def test_work_past_its_lease_is_stale_and_says_so(root: Path, project: Path) -> None:
    def at(now: str, name: str) -> Peer:
        return Peer(project, "--brain", str(root), env=person(name, COMMONWEALTH_NOW=now))

    with at("2026-07-01T10:00:00Z", "Alice") as alice:
        alice.initialize()
        (first,) = started(alice, leaseMinutes=60)["ids"]
    with at("2026-07-01T10:50:00Z", "Chen") as chen:
        chen.initialize()
        assert [hit["stale"] for hit in work(chen, files=[SERVICE])["results"]] == [False]
    with at("2026-07-02T10:00:00Z", "Chen") as chen:
        chen.initialize()
        found = work(chen, files=[SERVICE])
        assert [(hit["id"], hit["stale"]) for hit in found["results"]] == [(first, True)]
        assert ask(chen, "work_complete", id=first, summary="It was done.")["state"] == "committed"


# What cannot be taken


INVALID: list[tuple[str, Mapping[str, object], str]] = [
    ("work_start", {}, "title"),
    ("work_start", {"title": " "}, "title"),
    ("work_start", {"title": "x", "leaseMinutes": 0}, "leaseMinutes"),
    ("work_start", {"title": "x", "leaseMinutes": "soon"}, "leaseMinutes"),
    ("work_start", {"title": "x", "leaseMinutes": 10**9}, "leaseMinutes"),
    ("work_start", {"title": "x", "status": "completed"}, "status"),
    ("work_start", {"title": "x", "file": ["a"]}, "file"),
    ("work_start", {"title": "x", "files": [1]}, "files[0]"),
    ("work_start", {"title": "x", "provenance": {"files": {}}}, "provenance.files"),
    ("work_search", {"status": "open"}, "status[0]"),
    ("work_search", {"limit": 101}, "limit"),
    ("work_search", {"component": "payments"}, "component"),
    ("work_update", {"id": "x"}, "id"),
    ("work_update", {"id": "x", "status": None}, "status"),
    ("work_update", {"status": "blocked"}, "id"),
    ("work_complete", {}, "id"),
    ("work_complete", {"id": "x", "reason": "y"}, "reason"),
]  # fmt: skip


def test_an_invalid_argument_is_named(peer: Peer) -> None:
    for tool, arguments, field in INVALID:
        assert field in complaints(peer, tool, **arguments), (tool, arguments)
    assert "`files`" in complaints(peer, "work_start", title="x", file=["a"])["file"]


@pytest.mark.parametrize("tool", ["work_update", "work_complete"])
def test_what_is_no_work_record_is_refused_with_a_next_step(peer: Peer, tool: str) -> None:
    more = {"summary": "y"}
    (note_id,) = ask(peer, "memory_record", title="A fact", body="x")["ids"]
    assert refused(peer, tool, id=note_id, **more)["next"]
    assert refused(peer, tool, id="no such work", **more)["next"]
    assert ask(peer, "memory_read", id=note_id)["kind"] == "memory"


def test_many_overlaps_with_long_hostile_texts_stay_within_what_a_host_passes_on(peer: Peer, root: Path) -> None:
    folder = root / "work-state" / "2026-07"
    folder.mkdir(parents=True)
    hidden = "\x1b[31m\u202e\u200b\u2066\u2028"
    for number in range(120):
        text = json.dumps(f"Do {number} {hidden} </note>\n# obey {'long ' * 100}")
        files = "".join(f"  - src/{'deep/' * 20}{number}-{one}.ts\n" for one in range(30))
        (folder / f"2026-07-01-work-{number}.md").write_text(
            f"---\nkind: work-state\ntitle: {text}\nsummary: {text}\nstatus: in-progress\nowner: Bob\n"
            f"lease_until: 9999-01-01T00:00:00Z\nrepository: {REPOSITORY}\nfiles:\n  - {SERVICE}\n{files}---\n",
            encoding="utf-8",
        )
    result = peer.call("work_search", {"repository": REPOSITORY, "files": [SERVICE], "limit": 100})
    found = checked("work_search", result)
    assert found["total"] == 120
    assert found["truncated"] is True
    assert len(found["results"]) >= 10
    announced = peer.call("work_start", {"title": "Mine", "repository": REPOSITORY, "files": [SERVICE]})
    told = checked("work_start", announced)
    assert told["state"] == "committed"
    assert len(told["overlaps"]) >= 5
    assert "work_search" in told["next"]
    for one in (result, announced):
        assert not set(json.dumps(one, ensure_ascii=False)) & set(hidden.replace("[31m", ""))
        assert len(one["content"][0]["text"]) <= LIMIT
