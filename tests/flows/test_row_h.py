"""Row H of what went wrong elsewhere: a secret that lies about while other work goes on, and one in a transcript."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from commonwealth.flows import conflicts, syncing
from commonwealth.flows.identity import Session
from commonwealth.flows.update import update
from tests.curate import tokens

from .conftest import PlainGit, Teammate, note_text, recorded, search_all, write

LATER = "2026-07-04T10:00:00Z"


def token(seed: object) -> str:
    return tokens.make("ghp_{36:b62}", random.Random(f"20261207 {seed}"))


@pytest.mark.parametrize("staged", [False, True])
def test_a_refused_note_is_in_no_commit_while_a_conflict_is_resolved(
    team: tuple[Teammate, Teammate], remote: Path, git: PlainGit, *, staged: bool
) -> None:
    alice, bob = team
    value = token(staged)
    note = recorded(alice.act(), "Shared", body="## Rule\n\nFirst.\n")
    for person in (alice, bob):
        syncing.sync(person.act())
    brain = alice.act()
    write(brain, {"memory/leak.md": note_text("Leak", f"{value}\n"), f"memory/x-{value}.md": note_text("Named")})
    if staged:
        git(brain.root, "add", "-f", "memory/leak.md")
    for person, now in ((alice, "2026-07-02T10:00:00Z"), (bob, "2026-07-03T10:00:00Z")):
        update(person.act(), note, {}, body=f"## Rule\n\nBy {person.name}.\n", session=Session(), now=now)
    told = [syncing.sync(person.act()) for person in (bob, alice)]
    assert any("memory/leak.md" in warning for warning in told[-1].warnings)
    brain = alice.act()
    (open_one,) = conflicts.conflicts(brain)
    ended = conflicts.resolve(brain, open_one.id, keep=(open_one.id,), session=Session(), now=LATER)
    assert ended.state in ("committed", "published")
    last = syncing.sync(brain)
    assert last.state == "published"
    assert syncing.sync(bob.act()).state in ("published", "unchanged")
    assert value not in repr((told, ended, last))
    assert search_all(remote, value) == []
    assert search_all(bob.root, value) == []
    assert git(brain.root, "log", "--all", "--format=%h", f"-S{value}").strip() == ""
    assert search_all(Path(os.environ["COMMONWEALTH_HOME"]), value) == []
    if not staged:  # git itself keeps what a person adds
        assert [path for path in search_all(brain.root, value) if "objects" in path] == []
    assert value in (brain.root / "memory" / "leak.md").read_text(encoding="utf-8")


def test_a_secret_in_a_transcript_is_in_no_note_log_or_receipt(
    team: tuple[Teammate, Teammate], code: Path, tmp_path: Path
) -> None:
    alice, _ = team
    brain = alice.act()
    value = token("transcript")
    said = [
        ("user", f"Please remember: the deploy job needs the token {value}, because the CI has none."),
        ("assistant", f"I will use {value}. The root cause was that the variable was empty."),
        ("user", f"No, never write {value} into a file. We always read it from the vault, since the audit."),
        ("assistant", "Understood: the token is read from the vault."),
    ]
    at = "2026-07-01T10:00:0{}.000Z"
    lines = []
    for number, (role, text) in enumerate(said):
        content: object = text if role == "user" else [{"type": "text", "text": text}]
        lines.append(
            {
                "type": role,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": "5f2f5c0e-0000-4000-8000-000000000001",
                "cwd": str(code),
                "timestamp": at.format(number),
                "isSidechain": False,
                "userType": "external",
                "version": "2.0.0",
                "message": {"role": role, "content": content},
            }
        )
    transcript = tmp_path / f"{value[:3]}-session.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    command = ["capture", "--host", "claude", "--transcript", str(transcript), "--brain", str(brain.root)]
    outputs = []
    for more in (["--dry-run", "--json"], ["--json"], []):
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", *command, *more],
            cwd=code, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode in (0, 4), done.stdout + done.stderr
        outputs.append(done.stdout + done.stderr)
    assert value not in "".join(outputs)
    assert search_all(Path(os.environ["COMMONWEALTH_HOME"]), value) == []
    assert search_all(brain.root, value) == []
    assert search_all(code, value) == []
