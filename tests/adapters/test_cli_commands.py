"""The commands as people and tools run them: real processes, real repositories."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

Done = subprocess.CompletedProcess[bytes]
Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    """A code repository with a remote's address, a branch and one commit."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", "https://git.example/acme/shop.git")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "Start")
    return folder


@pytest.fixture
def run(brain: Callable[..., Done], shop: Path, tmp_path: Path) -> Callable[..., Done]:
    """Run `brain` in the code repository of a person who has made a brain for it."""
    made = brain("init", str(tmp_path / "acme"), "--name", "acme", cwd=shop)
    assert made.returncode == 0, made.stderr

    def run(*args: str, cwd: Path = shop, **more: object) -> Done:
        return brain(*args, cwd=cwd, **more)

    return run


Run = Callable[..., Done]


def document(done: Done) -> dict[str, object]:
    """The one document on stdout."""
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def remember(run: Run, *args: str, **more: object) -> str:
    """Write a note and return its id."""
    done = run("remember", "--json", *args, **more)
    assert done.returncode == 0, done.stderr
    ids = document(done)["ids"]
    assert isinstance(ids, list)
    return str(ids[0])


def read(run: Run, note: str) -> dict[str, object]:
    return document(run("read", note, "--json"))


# Writing


def test_remember_takes_an_option_for_every_field(run: Run) -> None:
    note = remember(
        run, "HTTP 409 means paid", "-m", "Do not retry.", "--summary", "Treat 409 as success.",
        "--type", "gotcha", "--status", "confirmed", "--confidence", "high",
        "--observed-at", "2026-06-02T12:15:00Z", "--valid-from", "2026-01-10", "--valid-until", "2027-01-10",
        "--repository", "acme/commerce", "--component", "payments", "--component", "retry-policy",
        "--tag", "http-409", "--file", "src/a.ts", "--file", "src/b.ts", "--evidence", "A test showed it.",
        "--url", "https://example.org/409", "--issue", "PAY-1842", "--pull-request", "17", "--commit", "4f8c2ab",
        "--branch", "investigate/409", "--human", "Bob", "--agent", "Codex", "--session", "s-1",
    )  # fmt: skip

    found = read(run, note)
    assert found["title"] == "HTTP 409 means paid"
    assert str(found["body"]).strip() == "Do not retry."
    assert {name: found[name] for name in ("summary", "type", "status", "confidence", "repository")} == {
        "summary": "Treat 409 as success.",
        "type": "gotcha",
        "status": "confirmed",
        "confidence": "high",
        "repository": "acme/commerce",
    }
    assert [found[name] for name in ("observedAt", "validFrom", "validUntil")] == [
        "2026-06-02T12:15:00Z",
        "2026-01-10T00:00:00Z",
        "2027-01-10T00:00:00Z",
    ]
    assert (found["components"], found["tags"]) == (["payments", "retry-policy"], ["http-409"])
    assert found["provenance"] == {
        "human": "Bob",
        "agent": "Codex",
        "repository": "git.example/acme/shop",
        "branch": "investigate/409",
        "commit": "4f8c2ab",
        "pullRequest": "17",
        "issue": "PAY-1842",
        "files": ["src/a.ts", "src/b.ts"],
        "urls": ["https://example.org/409"],
        "evidence": ["A test showed it."],
        "session": "s-1",
    }


def test_decide_makes_a_decision(run: Run) -> None:
    done = run("decide", "JWT over sessions", "--decider", "Alice", "--decider", "Bob", "-m", "## Context\n", "--json")

    found = read(run, str(document(done)["ids"][0]))  # type: ignore[index]
    assert (found["kind"], found["type"], found["status"]) == ("decision", "decision", "decision")
    assert found["deciders"] == ["Alice", "Bob"]


def test_a_body_comes_from_a_pipe_a_file_or_an_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "body.md").write_bytes("\ufefffrom a file é\r\n".encode())

    piped = remember(run, "One", stdin="from a pipe é\n".encode())
    asked = remember(run, "Two", "--body-file", "-", stdin=b"asked for\n")
    filed = remember(run, "Three", "--body-file", str(tmp_path / "body.md"), stdin=b"not read")
    given = remember(run, "Four", "-m", "given", stdin=b"not read")

    bodies = [str(read(run, note)["body"]).strip() for note in (piped, asked, filed, given)]
    assert bodies == ["from a pipe é", "asked for", "from a file é", "given"]


def test_a_relative_body_file_is_taken_from_the_folder_of_the_call(run: Run, tmp_path: Path, shop: Path) -> None:
    (shop / "body.md").write_text("from the folder\n", encoding="utf-8")

    note = remember(run, "One", "--body-file", "body.md", "-C", str(shop), cwd=tmp_path)

    assert str(read(run, note)["body"]).strip() == "from the folder"


def test_a_silent_pipe_holds_nothing_up_and_is_told(run: Run, shop: Path) -> None:
    """Hosts leave the standard input of their commands open without ever writing to it."""
    ours, theirs = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", "remember", "One", "--json"],
            stdin=ours,
            capture_output=True,
            cwd=shop,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)

    assert done.returncode == 0
    assert document(done)["state"] == "committed"
    assert b"--body-file -" in done.stderr


@pytest.mark.parametrize(
    ("args", "stdin", "code", "told"),
    [
        (["-m", "x", "--body-file", "y"], b"", 2, "together"),
        (["--body-file", "missing.md"], b"", 1, "missing.md"),
        ([], b"\xff\xfeb\x00", 2, "UTF-8"),
        ([], b"a\x00b", 2, "NUL"),
        ([], b"x" * (300 * 1024), 1, "256 KiB"),
        (["--status", "superseded"], b"", 2, "superseded"),
        (["--valid-from", "2026-02-01", "--valid-until", "2026-01-01"], b"", 2, "valid"),
    ],
)
def test_what_cannot_be_recorded_is_a_sentence(args: list[str], stdin: bytes, code: int, told: str, run: Run) -> None:
    done = run("remember", "One", *args, stdin=stdin)

    assert (done.returncode, done.stdout) == (code, b"")
    assert told in done.stderr.decode().splitlines()[0]


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_is_refused_with_its_receipt_and_never_shown(run: Run) -> None:
    people, tools = (run("remember", "Token", "-m", f"token {SECRET}", *args) for args in ([], ["--json"]))

    assert people.returncode == tools.returncode == 1
    assert people.stdout == b""
    assert people.stderr.startswith(b"error: secret:")
    assert document(tools)["state"] == "refused"
    assert str(document(tools)["reason"]).startswith("secret:")
    assert SECRET.encode() not in people.stderr + tools.stdout + tools.stderr


def test_repeating_with_one_key_changes_nothing(run: Run) -> None:
    first = remember(run, "One", "-m", "a", "--idempotency-key", "k1")

    again = run("remember", "One", "-m", "a", "--idempotency-key", "k1", "--json")

    assert again.returncode == 0
    assert document(again)["state"] == "unchanged"
    assert document(again)["ids"] == [first]


def test_a_note_that_waits_for_review_exits_4(run: Run, tmp_path: Path, git: Git) -> None:
    config = tmp_path / "acme" / ".commonwealth" / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("review: auto", "review: queue"), encoding="utf-8")

    done = run("remember", "One", "-m", "a")

    assert done.returncode == 4
    assert done.stdout.startswith(b"staged")


def test_update_changes_what_is_given_and_clears_what_is_named(run: Run) -> None:
    note = remember(
        run, "One", "-m", "## A\n\nfirst\n\n## B\n\nsecond\n", "--summary", "s", "--tag", "x", "--issue", "I-1"
    )

    done = run(
        "update", note[:-2], "--status", "confirmed", "--tag", "y", "--clear", "summary", "--file", "a.py", "--json"
    )
    section = run("update", note, "--section", "A", "--append", "more")

    assert done.returncode == section.returncode == 0, (done.stderr, section.stderr)
    found = read(run, note)
    assert (found["status"], found["tags"], found.get("summary")) == ("confirmed", ["y"], None)
    assert found["provenance"]["issue"] == "I-1"  # type: ignore[index]
    assert found["provenance"]["files"] == ["a.py"]  # type: ignore[index]
    assert re.search(r"first\s+more\s+## B\s+second", str(found["body"]))


@pytest.mark.parametrize(
    "args",
    [
        ["--section", "A"],
        ["--append", "x"],
        ["--section", "A", "--append", "x", "--replace", "y"],
        ["--summary", "x", "--clear", "summary"],
        ["--clear", "title"],
    ],
)
def test_an_update_that_contradicts_itself_is_a_wrong_call(args: list[str], run: Run) -> None:
    done = run("update", "anything", *args)

    assert (done.returncode, done.stdout) == (2, b"")


# Finding


def test_search_as_a_document(run: Run) -> None:
    note = remember(run, "Deadlock in the queue", "-m", "Two workers lock rows in different order.")

    done = run("search", "deadlock", "queue", "--json")

    found = document(done)
    assert set(found) >= {"results", "total", "tookMs"}
    assert found["total"] == 1
    hit = found["results"][0]  # type: ignore[index]
    assert hit["id"] == note
    assert "body" not in hit
    assert set(hit) >= {"score", "why", "snippet", "title", "path", "createdAt", "authorRef"}


def test_search_in_a_pipe_is_one_line_a_hit(run: Run) -> None:
    note = remember(run, "A title\twith a tab", "--summary", "and\na summary")

    done = run("search", "title")

    assert done.stdout.decode() == f"{note}\tdiscovery\tobserved\tA title with a tab\tand a summary\n"


def test_what_is_disputed_is_marked_for_people_with_how_to_settle_it(run: Run, tmp_path: Path) -> None:
    note = remember(run, "Retries are safe")
    rival = tmp_path / "acme" / "memory" / "rival.md"
    rival.write_text(f"---\ntitle: Retries are not safe\nconflict_of: {note}\n---\nx\n", encoding="utf-8")

    done = run("search", "retries")

    assert {line.split("\t")[2] for line in done.stdout.decode().splitlines()} == {"observed (disputed)"}
    assert b"brain conflicts resolve" in done.stderr


@pytest.mark.parametrize("command", ["remember", "decide", "update"])
def test_no_command_offers_a_status_that_it_refuses(command: str, run: Run) -> None:
    shown = run(command, "--help").stdout.decode()
    assert "hypothesis" in shown
    assert "superseded" not in shown
    assert "retracted" not in shown


def test_init_and_join_take_no_brain(run: Run, tmp_path: Path) -> None:
    for command in (["init", str(tmp_path / "new")], ["join", str(tmp_path / "acme")]):
        done = run(*command, "--brain", "acme")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"--brain" in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_search_without_hits_says_so_and_exits_0(run: Run) -> None:
    done = run("search", "nothing-of-the-kind")

    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"hint: Nothing was found.")


def test_filters_take_one_value_or_several(run: Run) -> None:
    one = remember(run, "Fact one", "--tag", "a", "--type", "gotcha")
    two = remember(run, "Fact two", "--tag", "b", "--type", "domain-rule")
    remember(run, "Fact three", "--tag", "c")

    found = document(run("search", "fact", "--tag", "a", "--tag", "b", "--json"))
    narrow = document(run("search", "fact", "--tag", "a", "--tag", "b", "--type", "gotcha", "--json"))
    none = document(run("search", "fact", "--created-before", "2001-01-01", "--json"))

    assert {hit["id"] for hit in found["results"]} == {one, two}  # type: ignore[attr-defined]
    assert [hit["id"] for hit in narrow["results"]] == [one]  # type: ignore[attr-defined]
    assert none["total"] == 0


def test_recall_prints_exactly_the_text_of_its_document(run: Run) -> None:
    remember(run, "Deadlock in the queue", "-m", "Two workers lock rows in different order.")

    text, found = run("recall", "deadlock"), document(run("recall", "deadlock", "--json"))

    assert set(found) == {"text", "tokens", "notes", "left"}
    token = re.search(r"<<<notes (\w+)", str(found["text"]))
    assert token
    fresh = re.search(r"<<<notes (\w+)", text.stdout.decode())
    assert fresh
    assert text.stdout.decode().replace(fresh[1], token[1]) == found["text"]
    assert text.stderr == b""


def test_brief_says_why_each_note_was_taken_beside_the_text(run: Run) -> None:
    note = remember(run, "Deadlock in the queue", "-m", "Two workers lock rows in different order.")

    done, found = run("brief"), document(run("brief", "--json"))

    assert note in done.stdout.decode()
    assert f"taken: {note}: " in done.stderr.decode()
    assert [entry["id"] for entry in found["notes"]] == [note]  # type: ignore[attr-defined]


def test_read_shows_the_whole_note_to_people(run: Run) -> None:
    note = remember(run, "Deadlock in the queue", "-m", "Two workers.\n\n- a\n- b", "--tag", "db", "--issue", "Q-7")

    shown = run("read", note[:-1]).stdout.decode()

    for part in ("Deadlock in the queue", note, "Two workers.\n\n- a\n- b", "db", "Q-7", "Alice", "Versions"):
        assert part in shown


def test_an_unknown_id_names_near_ones_and_an_ambiguous_one_its_candidates(run: Run) -> None:
    one, two = remember(run, "Queue one"), remember(run, "Queue two")

    unknown, ambiguous = run("read", one[:-3] + "zzz"), run("read", one[:10])

    assert unknown.returncode == ambiguous.returncode == 1
    assert one in unknown.stderr.decode()
    assert one in ambiguous.stderr.decode()
    assert two in ambiguous.stderr.decode()


NASTY = [
    "2026-05-26",
    "yes",
    "0x10",
    "a: b",
    "../../x",
    "CON",
    "🎉",
    "日本語の題名",
    "x" * 300,
    "\"quoted\" 'title'",
    "null",
    "- a",
    "#",
    "[x]",
    "-x",
    "--help",
    "--json",
]


def test_every_title_comes_back_exactly(run: Run) -> None:
    ids = {remember(run, "--", title): title for title in NASTY}

    assert {note: read(run, note)["title"] for note in ids} == ids
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}", note) for note in ids)


def test_a_title_that_looks_like_an_option_is_told_to_stand_after_two_dashes(brain: Run) -> None:
    done = brain("remember", "- a")

    assert done.returncode == 2
    assert "`--`" in done.stderr.decode().splitlines()[1]


HOSTILE = "red \x1b[31m bell \x07 bidi \u202e zero \u200b end"


def test_what_a_note_says_controls_no_terminal(run: Run) -> None:
    note = remember(run, HOSTILE, "-m", HOSTILE, "--summary", HOSTILE, "--tag", "t", "--evidence", HOSTILE)

    for command in (["search", "red"], ["read", note], ["recall", "red"], ["brief"], ["status"]):
        done = run(*command)
        shown = (done.stdout + done.stderr).decode()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e]", shown), command


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "ascii"])
def test_no_console_is_crashed_by_a_note(encoding: str, run: Run, tmp_path: Path) -> None:
    """E05: a check mark in a title crashed other tools on consoles that are not UTF-8."""
    note = remember(run, "Fixed ✓ 🎉 日本語", "-m", "It is ✓ — done…")

    for command in (["search", "fixed"], ["read", note], ["recall", "fixed"], ["search", "fixed", "--json"]):
        done = run(*command, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        assert "Fixed" in done.stdout.decode(encoding)


def on_a_terminal(command: list[str], cwd: Path, columns: int) -> tuple[int, str]:
    """Run `brain` on a pseudo-terminal; its exit code and what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "commonwealth", *command],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm", "PYTHONUTF8": "1"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(60), shown.decode().replace("\r\n", "\n")


def test_on_a_terminal_results_are_coloured_blocks(run: Run, shop: Path) -> None:
    note = remember(run, "長い題名" * 40, "--summary", "s " * 200)

    code, shown = on_a_terminal(["search"], shop, 60)

    assert code == 0
    assert f"\x1b[36m  {note}\x1b[0m" in shown
    assert "\x1b[1m長い題名" in shown


def test_on_a_terminal_nothing_waits_for_a_body(run: Run, shop: Path) -> None:
    code, shown = on_a_terminal(["remember", "Typed at a prompt"], shop, 80)

    assert code == 0
    assert "committed" in shown


# Wiring


def test_init_and_join_share_a_brain_between_two_people(
    brain: Run, git: Git, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", str(remote))
    made = brain("init", str(tmp_path / "acme"), "--remote", str(remote), "--json", cwd=shop)
    assert document(made)["ruleAdded"] is True
    note = document(brain("remember", "Shared fact", "--json", cwd=shop))["ids"][0]  # type: ignore[index]
    assert document(brain("sync", "--json", cwd=shop))["state"] in ("published", "unchanged")

    monkeypatch.setenv("COMMONWEALTH_HOME", str(tmp_path / "bob"))
    joined = brain("join", str(remote), cwd=shop)

    assert joined.returncode == 0, joined.stderr
    assert brain("join", str(remote), cwd=shop).returncode == 0
    assert document(brain("search", "shared", "--json", cwd=shop))["results"][0]["id"] == note  # type: ignore[index]
    assert document(brain("whoami", "--json", cwd=shop))["rule"]["match"] == "git.example/acme/shop"  # type: ignore[index]


def test_a_write_leaves_a_worker_that_publishes(run: Run, git: Git, shop: Path, tmp_path: Path) -> None:
    """The receipt does not wait for the network: state `committed`, and the remote has it soon after."""
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", str(remote))
    git(tmp_path / "acme", "remote", "add", "origin", str(remote))

    note = remember(run, "Shared fact")
    waited = run("sync", "--json")

    assert waited.returncode == 0, waited.stderr
    assert note in git(remote, "ls-tree", "-r", "--name-only", "main")


def test_rules_are_listed_added_checked_and_removed(run: Run, tmp_path: Path, shop: Path) -> None:
    added = run("rules", "add", "git.example/acme/*", str(tmp_path / "acme"), "--json")
    denied = run("rules", "add", str(tmp_path / "private"), "--none")
    assert (added.returncode, denied.returncode) == (0, 0), (added.stderr, denied.stderr)

    rules = document(run("rules", "list", "--json"))["rules"]
    assert [set(rule) for rule in rules] == [{"match", "brain", "source"}] * 3  # type: ignore[attr-defined]
    assert [rule["brain"] for rule in rules] == [str(tmp_path / "acme")] * 2 + [None]  # type: ignore[attr-defined]

    checked = document(run("rules", "check", "--json"))
    assert checked["rule"]["match"] == "git.example/acme/shop"  # type: ignore[index]
    assert checked["problem"] is None

    assert run("rules", "remove", "git.example/acme/shop").returncode == 0
    assert document(run("rules", "check", "--json"))["rule"]["match"] == "git.example/acme/*"  # type: ignore[index]
    assert run("rules", "remove", "git.example/acme/shop").returncode == 1


@pytest.mark.parametrize("args", [["m"], ["m", "b", "--none"]])
def test_a_rule_names_a_brain_or_says_none(args: list[str], run: Run) -> None:
    assert run("rules", "add", *args).returncode == 2


COMMANDS = [
    ["remember", "x"], ["decide", "x"], ["search", "x"], ["recall", "x"], ["read", "x"], ["update", "x"],
    ["sync"], ["status"], ["whoami"], ["rebuild-index"], ["brief"], ["import", "."],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_without_a_brain_every_command_says_how_to_get_one(command: list[str], brain: Run) -> None:
    done = brain(*command, "--json")

    assert done.returncode == 1
    error, hint = done.stderr.decode().splitlines()
    assert error.startswith("error: No brain is set up for ")
    told = document(done)
    assert (told["state"], f"error: {told['reason']}", f"hint: {told['next']}") == ("refused", error, hint)
    assert all(step in hint for step in ("`brain init", "`brain join", "`brain rules add"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_registry_that_cannot_be_read_is_damage_and_never_no_brain(command: list[str], brain: Run) -> None:
    registry = Path(os.environ["COMMONWEALTH_HOME"]) / "registry.yaml"
    registry.parent.mkdir()
    registry.write_text("rules: [", encoding="utf-8")

    done = brain(*command)

    assert done.returncode == 7
    assert str(registry) in done.stderr.decode()
    assert registry.read_text(encoding="utf-8") == "rules: ["


def test_a_brain_can_be_named_by_path_by_name_and_by_variable(
    run: Run, tmp_path: Path, brain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(run, "Known fact")
    outside = tmp_path / "outside"

    by_path = brain("search", "known", "--brain", "../acme", "--json", cwd=outside)
    by_folder = brain("search", "known", "-C", str(tmp_path / "acme" / "memory"), "--json", cwd=outside)
    by_variable = brain("search", "known", "--json", cwd=outside, env={"COMMONWEALTH_BRAIN": str(tmp_path / "acme")})
    wrong = brain("search", "known", "--brain", "no-such-brain", cwd=outside)

    assert [document(done)["total"] for done in (by_path, by_folder, by_variable)] == [1, 1, 1]
    assert wrong.returncode == 1
    assert "no-such-brain" in wrong.stderr.decode()


def test_status_and_doctor_name_a_file_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    remember(run, "Fact")
    bad = next((tmp_path / "acme" / "memory").iterdir()) / "bad.md"
    bad.write_bytes(b"---\ntitle: [unclosed\n---\n")

    status, doctor = run("status"), run("doctor", "--json")

    assert status.returncode == 0
    assert "bad.md" in status.stdout.decode()
    assert doctor.returncode == 1
    checks = document(doctor)["checks"]
    assert any(check["state"] == "fail" and "bad.md" in check["message"] for check in checks)  # type: ignore[attr-defined]
    assert bad.read_bytes() == b"---\ntitle: [unclosed\n---\n"


def test_status_of_a_quiet_brain_as_a_document(run: Run) -> None:
    found = document(run("status", "--json"))

    assert found["brain"] == "acme"
    assert [found[name] for name in ("unpublished", "debt", "edited", "held", "staged", "problems", "conflicts")] == [
        0, None, [], [], [], [], [],
    ]  # fmt: skip


def test_sync_without_a_network_is_deferred_with_5(run: Run, git: Git, tmp_path: Path) -> None:
    git(tmp_path / "acme", "remote", "add", "origin", str(tmp_path / "gone.git"))
    remember(run, "Fact")

    done = run("sync", "--json")

    assert done.returncode == 5, (done.stdout, done.stderr)
    assert document(done)["state"] == "deferred"


def test_a_folder_that_is_gone_is_a_sentence(brain: Run, tmp_path: Path) -> None:
    script = (
        "import os, sys; os.mkdir('x'); os.chdir('x'); os.rmdir('../x');"
        "import commonwealth.__main__ as entry; sys.argv = ['brain', 'status']; sys.exit(entry.main())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, timeout=60, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith(b"error: The current folder does not exist any more.")


def test_rebuilding_the_index_says_how_many_files(run: Run) -> None:
    remember(run, "Fact")

    assert document(run("rebuild-index", "--json"))["files"] == 2  # the note and its author


def test_importing_a_folder_accounts_for_every_file(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "til"
    source.mkdir()
    (source / "one.md").write_text("# One\n\nBody.\n", encoding="utf-8")
    (source / "bad.md").write_bytes(b"\xff\xfe\x00")

    first, again = run("import", str(source), "--json"), run("import", str(source), "--json")

    assert first.returncode == again.returncode == 0, first.stderr
    assert document(first)["imported"] == 1
    assert [file["path"] for file in document(first)["skipped"]] == ["bad.md"]  # type: ignore[attr-defined]
    assert (document(again)["imported"], document(again)["unchanged"]) == (0, 1)


def test_people_read_what_became_of_an_import_and_as_what_files_were_taken(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    (source / "0001-x.md").write_text("# 1. X\n\n## Status\n\nAccepted\n\n## Decision\n\nSo.\n", encoding="utf-8")
    (source / "guide.md").write_text("# Guide\n", encoding="utf-8")

    first = run("import", str(source)).stdout.decode()
    (source / "guide.md").write_text("# Guide\n\nMore.\n", encoding="utf-8")
    again, as_json = run("import", str(source)).stdout.decode(), run("import", str(source), "--json")

    assert first == "2 imported, 0 updated, 0 unchanged, 0 skipped (1 as decision records, 1 as markdown)\n"
    assert again == "0 imported, 1 updated, 1 unchanged, 0 skipped (1 as decision records, 1 as markdown)\n"
    assert document(as_json) == {"imported": 0, "unchanged": 2, "skipped": []}


def test_importing_a_memory_database_accounts_for_every_row(run: Run, git: Git, tmp_path: Path) -> None:
    source = tmp_path / "memory.db"
    with closing(sqlite3.connect(source)) as conn, conn:
        conn.execute("CREATE TABLE memories (id TEXT, title TEXT, status TEXT, content TEXT)")
        rows = [("m1", "Retries double payments", "confirmed", "They do."), ("m2", "Odd", "weird", "Text.")]
        rows.append(("m3", "Secret", "confirmed", "token ghp_" + "a8Zk3QpX91LmVt7RcB2nYw5HsJ0dUeGf4iTo"))
        conn.executemany("INSERT INTO memories VALUES (?, ?, ?, ?)", rows)

    first = run("import", str(source), "--json")
    head = git(tmp_path / "acme", "rev-parse", "HEAD")
    again, told = run("import", str(source), "--from", "sqlite", "--json"), run("import", str(source)).stdout.decode()

    assert document(first)["imported"] == 2, first.stderr
    assert [row["path"] for row in document(first)["skipped"]] == ["memories/m3"]  # type: ignore[attr-defined]
    assert [row["path"] for row in document(first)["warnings"]] == ["memories/m2"]  # type: ignore[attr-defined]
    assert (document(again)["imported"], document(again)["unchanged"]) == (0, 2)
    assert git(tmp_path / "acme", "rev-parse", "HEAD") == head
    assert told.startswith(
        "0 imported, 0 updated, 2 unchanged, 1 skipped (2 as rows of a database)\n  memories/m3: secret:"
    )
    found = document(run("search", "Retries", "--json"))["results"]
    assert [note["source"]["path"] for note in found] == ["memories/m1"]  # type: ignore[attr-defined]


def test_the_plugin_of_a_tool_that_is_not_here_is_told(brain: Run, tmp_path: Path) -> None:
    done = brain("plugin", "status", "--host", "codex", "--json", env={"PATH": str(tmp_path)})

    assert done.returncode == 1
    assert document(done)["plugins"][0]["works"] is False  # type: ignore[index]


# Failures under --json


def test_every_failure_under_json_is_one_document_with_the_exit_code_of_the_error(
    run: Run, tmp_path: Path, git: Git
) -> None:
    note = remember(run, "A fact", "-m", "## Two\n\n1\n\n## Two\n\n2\n")
    calls: list[tuple[list[str], int, str]] = [
        (["read", "nobody"], 1, "No note has the id"),
        (["recall", "x", "--budget", "many"], 2, "--budget"),
        (["serach", "x"], 2, "There is no command"),
        (["sync", "--wrong"], 2, "--wrong"),
        (["search", "x", "-C", str(tmp_path / "none")], 2, "none"),
        (["update", note, "--section", "Two", "--replace", "x"], 2, "2 sections 'Two'"),
        (["update", note, "--section", "One", "--append", "q", "-m", "whole"], 2, "cannot be given together"),
        (["update", note, "--section", "One", "--append", "q", "--body-file", "-"], 2, "cannot be given together"),
        (["update", note, "--section", "One"], 2, "`--section`"),
    ]
    for args, code, said in calls:
        done = run(*args, "--json")
        assert (done.returncode, done.stdout.count(b"\n")) == (code, 1), (args, done)
        told = document(done)
        assert (told["state"], said in str(told["reason"])) == ("refused", True), told
        assert done.stderr.decode().splitlines()[0] == f"error: {told['reason']}"
        assert run(*args).stdout == b""
    (tmp_path / "acme/.git/MERGE_HEAD").write_text(git(tmp_path / "acme", "rev-parse", "HEAD"), encoding="utf-8")
    (tmp_path / "acme/.git/refs/heads/main").write_text("nonsense\n", encoding="utf-8")
    done = run("sync", "--json")
    assert (done.returncode, document(done)["state"]) == (7, "refused")


def test_what_only_reads_like_the_option_gets_no_document(run: Run) -> None:
    assert run("read", "nobody", "--", "--json").stdout == b""
    assert run("update", "nobody", "--summary", "--json").stdout == b""


def test_a_remote_that_cannot_be_reached_is_deferred_under_json(brain: Run, shop: Path, tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/brain.git"
    done = brain("join", url, str(tmp_path / "joined"), "--json", cwd=shop)
    assert (done.returncode, document(done)["state"]) == (5, "deferred"), done


def test_a_note_that_is_gone_is_named_by_sync_and_found_by_history(run: Run, tmp_path: Path) -> None:
    note = remember(run, "Gone soon")
    next((tmp_path / "acme/memory").rglob(f"{note}.md")).unlink()
    assert f"  removed {note}\n" in run("sync").stdout.decode()
    assert "`brain history ID` shows a note that was deleted" in run("read", note).stderr.decode()
    assert run("history", note).returncode == 0


def test_whoami_has_one_line_of_each_name(run: Run) -> None:
    lines = run("whoami").stdout.decode().splitlines()
    labels = [line[:18].strip() for line in lines]
    assert len(labels) == len(set(labels)), lines
    assert {"brain", "rule brain"} <= set(labels)


def test_a_hint_about_git_works_from_the_code_repository(run: Run, git: Git, shop: Path, tmp_path: Path) -> None:
    root = tmp_path / "acme"
    remember(run, "A fact")
    git(root, "checkout", "-q", "-b", "aside")
    hint = run("remember", "Another", "-m", "x").stderr.decode()
    (words,) = re.findall(r"`(git -C [^`]* switch main)`", hint)
    subprocess.run(["sh", "-c", words], cwd=shop, check=True, capture_output=True)
    assert run("remember", "Another", "-m", "x").returncode == 0
    git(root, "checkout", "-q", "--detach")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "aside")
    hint = run("remember", "Third", "-m", "x").stderr.decode()
    assert hint.index("`brain sync` brings HEAD and its commits back to main") < hint.index(f"git -C {root} switch")
    assert run("sync").returncode == 0
    assert git(root, "symbolic-ref", "--short", "HEAD").strip() == "main"
    assert "aside" in git(root, "log", "--format=%s")


def test_an_update_without_anything_to_change_is_a_wrong_call(run: Run) -> None:
    done = run("update", remember(run, "Retries are safe"))
    assert done.returncode == 2
    assert b"nothing to change" in done.stderr


def test_ids_that_are_named_where_too_many_are_meant_end_with_a_mark(run: Run) -> None:
    made = [remember(run, f"Fact {number}", "-m", f"Body {number}.") for number in range(6)]
    start = made[0][:10]
    assert b", \xe2\x80\xa6." in run("read", start).stderr
    run("sync")
    assert b", \xe2\x80\xa6." in run("read", start, "--as-of", "2099-01-01").stderr


def test_a_sync_that_only_pulled_says_that_it_is_up_to_date(run: Run, brain: Run, tmp_path: Path, git: Git) -> None:
    remote, mine, theirs = tmp_path / "r.git", tmp_path / "acme", tmp_path / "theirs"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(mine, "remote", "add", "origin", str(remote))
    assert run("sync").returncode == 0
    git(tmp_path, "clone", "-q", str(remote), str(theirs))
    for title in ("First", "Second"):
        assert brain("remember", title, "--brain", str(theirs)).returncode == 0
        assert brain("sync", "--brain", str(theirs)).returncode == 0
        done = run("sync", *([] if title == "First" else ["--json"]))
        if title == "First":
            assert done.stdout.startswith(b"up to date (")
            assert b" pulled" in done.stdout
            assert b"published" not in done.stdout
        else:
            assert document(done)["state"] == "published"


def test_a_brief_on_a_terminal_ends_with_a_newline(run: Run, shop: Path) -> None:
    note = remember(run, "Retries are safe")
    code, shown = on_a_terminal(["brief"], shop, 80)
    assert code == 0
    assert f"\ntaken: {note}: " in shown
