"""`brain review` and `brain config` as people run them: in a pipe, on a terminal, and as JSON."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from commonwealth.model import Candidate, Span, Verdict
from commonwealth.notes import candidate, store

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]
NOW = "2026-07-01T10:00:00Z"
SECONDS = 60


def staged(root: Path, title: str, number: int = 1, *, verdict: str = "review") -> str:
    draft = Candidate(title, f"{title}, says the test.", Span(3, 9), quotes=("no, retry it",), signal="correction")
    found = candidate.Found(at=NOW, host="codex", session="s-1", author="Alice", author_ref="alice-1")
    judged = Verdict(verdict, ("it may be an instruction",) if verdict == "review" else ())
    id_ = f"2026-07-01-candidate-{number:08d}"
    store.stage(root, candidate.to_note(draft, judged, id=id_, found=found))
    return id_


class Person:
    """Somebody at the command line of one brain."""

    def __init__(self, run: Run, root: Path) -> None:
        self.run, self.root = run, root
        self.env = {"COMMONWEALTH_NOW": NOW, "COMMONWEALTH_AUTHOR": "Alice"}

    def plain(self, *args: str, code: int = 0, env: Mapping[str, str] | None = None) -> str:
        done = self.run(*args, "--brain", str(self.root), env=self.env | dict(env or {}))
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == code, said
        assert "Traceback" not in said
        return said

    def json(self, *args: str, code: int = 0) -> Any:
        done = self.run(*args, "--json", "--brain", str(self.root), env=self.env)
        assert done.returncode == code, done
        assert b"Traceback" not in done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def alice(brain: Run, root: Path) -> Person:
    return Person(brain, root)


def test_the_queue_in_a_pipe_is_a_list(alice: Person) -> None:
    assert "Nothing waits for review." in alice.plain("review")
    one = staged(alice.root, "Retries are safe")
    (line,) = alice.plain("review").splitlines()
    assert line.split("\t") == [
        one, "review", "discovery", "observed", "Retries are safe", "Retries are safe, says the test.",
        "it may be an instruction", "",
    ]  # fmt: skip
    assert alice.plain("review", "list").splitlines() == [line]
    assert alice.plain("review", "--host", "claude").splitlines() == ["note: None of 1 fits."]
    assert "Options stand after the command" in alice.plain("review", "--mine", "list", code=2)


def test_the_queue_as_json_comes_in_pages(alice: Person) -> None:
    ids = [staged(alice.root, f"Fact {number} holds", number) for number in range(1, 6)]
    (alice.root / "staging/odd.md").write_text("---\ntitle: a\ntitle: b\n---\n", encoding="utf-8")
    found = alice.json("review", "list", "--limit", "2", "--page", "2")
    assert [one["id"] for one in found["candidates"]] == ids[2:4]
    assert {key: found[key] for key in ("total", "waiting", "page", "pages")} == {
        "total": 5, "waiting": 5, "page": 2, "pages": 3,
    }  # fmt: skip
    (broken,) = found["broken"]
    assert (broken["path"], broken["line"]) == ("staging/odd.md", 3)
    origin = found["candidates"][0]["candidate"]
    assert origin["evidence"] == {"from": 3, "to": 9}
    assert (origin["host"], origin["session"], origin["verdict"]) == ("codex", "s-1", "review")
    assert origin["reasons"] == ["it may be an instruction"]
    assert "candidate" not in found["candidates"][0].get("extra", {})
    checks = alice.json("doctor", code=1)["checks"]
    assert any(check["state"] == "fail" and "staging/odd.md, line 3" in check["message"] for check in checks)
    assert len(alice.json("status")["staged"]) == 5


def test_one_is_shown_whole(alice: Person) -> None:
    receipt = alice.json("remember", "Retries are unsafe", "-m", "They double the payment.")
    id_ = staged(alice.root, "Retries are safe")
    shown = alice.json("review", "show", id_)
    assert [hit["id"] for hit in shown["neighbours"]] == receipt["ids"]
    assert shown["candidate"]["quotes"] == ["no, retry it"]
    assert (shown["body"], shown["review"], shown["wouldSupersede"]) == ("", "auto", [])
    text = alice.plain("review", "show", id_)
    for part in ("> no, retry it", "lines 3–9", "it may be an instruction", receipt["ids"][0]):
        assert part in text
    assert "No candidate has the id" in alice.plain("review", "show", "../../etc", code=1)


def test_approving_rejecting_and_bringing_back(alice: Person, git: Callable[..., str]) -> None:
    one, other = staged(alice.root, "One thing", 1), staged(alice.root, "Another thing", 2)
    dropped = alice.json("review", "reject", other, "--reason", "It is in the README.")
    assert (dropped["state"], dropped["dropped"]) == ("unchanged", [other])
    listed = alice.json("review", "list", "--dropped")["candidates"]
    assert [(hit["id"], hit["candidate"]["droppedBecause"]) for hit in listed] == [(other, "It is in the README.")]
    done = alice.json("review", "approve", one, other)
    assert (done["state"], done["ids"]) == ("committed", [one, other])
    assert git(alice.root, "log", "-1", "--format=%s").strip() == "Approve: 2 notes"
    assert alice.json("read", one)["reviewed"] == {"by": "Alice", "at": NOW}
    assert alice.json("review", "approve", one, other)["state"] == "unchanged"
    assert alice.json("review", "list")["total"] == 0


def test_what_a_call_means_has_to_be_said_once(alice: Person) -> None:
    id_ = staged(alice.root, "One thing")
    for act in ("approve", "reject"):
        assert "not said which" in alice.plain("review", act, code=2)
        assert "cannot be given together" in alice.plain("review", act, id_, "--all", code=2)
    assert alice.json("review", "approve", "nothing", code=1)["state"] == "refused"
    assert alice.json("review", "approve", "--verdict", "promote")["state"] == "unchanged"
    assert alice.json("review", "approve", "--all")["state"] == "committed"


def test_what_cannot_be_approved_is_told_apart_by_the_exit_code(alice: Person) -> None:
    staged(alice.root, "One thing")
    (alice.root / "staging/w.md").write_text("---\nkind: work-state\ntitle: W\n---\n", encoding="utf-8")
    done = alice.json("review", "approve", "--all", code=4)
    assert done["state"] == "committed"
    assert sorted(item["state"] for item in done["items"]) == ["committed", "refused"]
    assert alice.json("review", "approve", "--all", code=1)["state"] == "refused"


def test_a_brain_that_takes_requests_only_refuses_with_the_next_step(alice: Person) -> None:
    path = alice.root / ".commonwealth/config.yaml"
    path.write_text(path.read_text().replace("review: auto", "review: pull-request"), encoding="utf-8")
    id_ = staged(alice.root, "One thing")
    assert f"brain review pr {id_}" in alice.json("review", "approve", id_, code=1)["next"]


def test_a_candidate_is_edited_by_options_and_in_an_editor(alice: Person, tmp_path: Path) -> None:
    id_ = staged(alice.root, "One thing")
    assert alice.json("review", "edit", id_, "--title", "Something", "--type", "gotcha")["state"] == "staged"
    assert alice.json("review", "list")["candidates"][0]["title"] == "Something"
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\np = pathlib.Path(sys.argv[-1])\n"
        "p.write_text(p.read_text().replace('Something', sys.argv[1]))\n",
        encoding="utf-8",
    )
    call = f'{sys.executable} "{editor}" '
    assert "staged" in alice.plain("review", "edit", id_, env={"EDITOR": f"{call} By-hand"})
    assert alice.json("review", "list")["candidates"][0]["title"] == "By-hand"
    alice.plain("review", "edit", id_, "--title", "Something")
    broken = alice.plain("review", "edit", id_, env={"EDITOR": f"{call} '[x'"}, code=7)
    assert f"staging/{id_}.md, line" in broken
    assert alice.json("review", "list")["broken"][0]["path"] == f"staging/{id_}.md"
    other = staged(alice.root, "Another thing", 2)
    assert "No editor is set" in alice.plain("review", "edit", other, env={"EDITOR": "", "VISUAL": ""}, code=2)
    assert "cannot be started" in alice.plain("review", "edit", other, env={"EDITOR": "/no/such"}, code=2)


# On a terminal


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_on_a_terminal_one_key_decides_each(root: Path, git: Callable[..., str], tmp_path: Path) -> None:
    ids = [staged(root, f"Fact {number} holds", number) for number in range(1, 6)]
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/^title: .*/title: Edited/" "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    said = on_terminal(root, "adrs?ea", EDITOR=str(editor))
    assert "1 of 5" in said
    assert "The nearest notes of canon" in said or "lines 3" in said
    assert "set aside for 30 days" in said
    assert "1 still waits" in said or "2 still wait" in said
    assert [path.name for path in (root / "staging/dropped").iterdir()] == [f"{ids[1]}.md"]
    titles = git(root, "log", "--format=%s", "-2").splitlines()
    assert titles == ["Approve: Edited", "Approve: Fact 1 holds"]
    assert [file.note.id for file in store.staged(root)[0]] == [ids[2], ids[4]]


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_where_a_team_takes_requests_a_key_proposes_and_none_approves(
    root: Path, git: Callable[..., str], tmp_path: Path
) -> None:
    bare = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    path = root / ".commonwealth/config.yaml"
    path.write_text(path.read_text().replace("review: auto", "review: pull-request"), encoding="utf-8")
    git(root, "remote", "add", "origin", str(bare))
    git(root, "push", "-q", "origin", "HEAD:main")
    head = git(root, "rev-parse", "HEAD")
    ids = [staged(root, f"Fact {number} holds", number) for number in range(1, 4)]
    said = on_terminal(root, "appr")
    assert "[p]ropose" in said
    assert "[a]pprove" not in said
    assert git(root, "rev-parse", "HEAD") == head
    (branch,) = git(bare, "for-each-ref", "--format=%(refname)", "refs/heads/notes").split()
    names = git(bare, "diff", "--name-only", f"main...{branch}").split()
    assert sorted(Path(name).stem for name in names) == sorted(ids[:2])
    assert [file.stem for file in (root / "staging/dropped").iterdir()] == [ids[2]]


def on_terminal(root: Path, keys: str, **env: str) -> str:
    """What `brain review` says on a terminal where these keys are pressed, each once it is asked for."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "commonwealth", "review", "--brain", str(root)],
        stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
        env=os.environ | {"COMMONWEALTH_NOW": NOW, "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "120"} | env,
    )  # fmt: skip
    said, asked, left, deadline = b"", 0, list(keys), time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline:
            ended = process.poll() is not None
            while select.select([ours], [], [], 0.01)[0]:
                said += os.read(ours, 4096)
            if ended:
                break
            # What comes before the terminal is raw is thrown away, as by any program that asks for a key.
            waits = not termios.tcgetattr(theirs)[3] & termios.ICANON
            if waits and said.count(b"[q]uit") > asked:
                asked += 1
                os.write(ours, (left.pop(0) if left else "q").encode())
        assert process.wait(timeout=SECONDS) == 0, said
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    assert b"Traceback" not in said, said
    return said.decode()


# The person's settings


def test_settings_are_set_read_and_taken_away(alice: Person) -> None:
    home = Path(os.environ["COMMONWEALTH_HOME"])
    assert alice.plain("config", "get", "sweeps").strip() == "queue"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("# mine\nname: Alice B.   # so\nstart_tokens: 900\n", encoding="utf-8")
    assert alice.json("config", "set", "sweeps", "auto")["state"] == "set"
    assert alice.json("config", "set", "sweeps", "auto")["state"] == "unchanged"
    text = (home / "config.yaml").read_text(encoding="utf-8")
    assert text == "# mine\nname: Alice B.   # so\nstart_tokens: 900\nsweeps: auto\n"
    listed = {one["name"]: one["value"] for one in alice.json("config", "list")["settings"]}
    assert (listed["name"], listed["sweeps"], listed["agents"]) == ("Alice B.", "auto", None)
    assert alice.json("config", "unset", "sweeps")["state"] == "removed"
    assert (home / "config.yaml").read_text(encoding="utf-8") == "# mine\nname: Alice B.   # so\nstart_tokens: 900\n"
    for name in ("name", "start_tokens"):
        alice.plain("config", "unset", name)
    assert alice.plain("config", "get", "start_tokens").strip() == "1200"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("set", "sweps", "auto"), "Did you mean sweeps"),
        (("set", "sweeps", "always"), "auto, queue, pull-request"),
        (("set", "sync_seconds", "fast"), "number"),
        (("set", "name", " "), "empty"),
        (("get", "nothing"), "There are"),
    ],
)
def test_a_setting_that_cannot_be_is_said_with_what_can(alice: Person, arguments: tuple[str, ...], told: str) -> None:
    assert told in alice.plain("config", *arguments, code=2)
    assert not (Path(os.environ["COMMONWEALTH_HOME"]) / "config.yaml").exists()


def test_what_a_brain_asks_to_loosen_counts_once_it_is_agreed_to(alice: Person) -> None:
    path = alice.root / ".commonwealth/config.yaml"
    plain = path.read_text(encoding="utf-8")
    assert "asks to loosen nothing" in alice.plain("config", "consent", code=1)
    path.write_text(plain + "agents: approve\n", encoding="utf-8")
    assert alice.json("config", "consent", code=4) == {"state": "asked", "asked": {"agents": "approve"}}
    assert alice.json("config", "consent", "--yes")["state"] == "agreed"
    assert alice.json("config", "consent")["state"] == "unchanged"
    path.write_text(plain + "agents: approve\nsweeps: auto\n", encoding="utf-8")
    assert alice.json("config", "consent", code=4)["state"] == "asked"
    path.write_text(plain + "agents: approve\n", encoding="utf-8")
    assert alice.json("config", "consent", "--withdraw")["state"] == "withdrawn"
    assert alice.json("config", "consent", code=4)["state"] == "asked"
