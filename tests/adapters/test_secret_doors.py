"""A planted token at every place where one can get in: nothing that we write, say, commit or push ever holds it."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from commonwealth.__main__ import main
from commonwealth.flows import setup
from tests.curate import tokens
from tests.flows.conftest import NOW, note_text, search_all

PlainGit = Callable[..., str]
Said = tuple[int, str]

WRITES: dict[str, Sequence[str]] = {
    "title": ("remember", "T"),
    "body": ("remember", "x", "-m", "T"),
    "summary": ("remember", "x", "-m", "y", "--summary", "T"),
    "type": ("remember", "x", "-m", "y", "--type", "T"),
    "observed at": ("remember", "x", "-m", "y", "--observed-at", "T"),
    "repository": ("remember", "x", "-m", "y", "--repository", "acme/T"),
    "component": ("remember", "x", "-m", "y", "--component", "T"),
    "tag": ("remember", "x", "-m", "y", "--tag", "T"),
    "relates": ("remember", "x", "-m", "y", "--relates", "T"),
    "branch scope": ("remember", "x", "-m", "y", "--branch-scope", "T"),
    "file": ("remember", "x", "-m", "y", "--file", "src/T.py"),
    "evidence": ("remember", "x", "-m", "y", "--evidence", "saw T"),
    "url": ("remember", "x", "-m", "y", "--url", "https://example.com/?k=T"),
    "issue": ("remember", "x", "-m", "y", "--issue", "T"),
    "pull request": ("remember", "x", "-m", "y", "--pull-request", "T"),
    "commit": ("remember", "x", "-m", "y", "--commit", "T"),
    "branch": ("remember", "x", "-m", "y", "--branch", "fix/T"),
    "human": ("remember", "x", "-m", "y", "--human", "T"),
    "agent": ("remember", "x", "-m", "y", "--agent", "T"),
    "session": ("remember", "x", "-m", "y", "--session", "T"),
    "idempotency key": ("remember", "x", "-m", "y", "--idempotency-key", "T"),
    "decider": ("decide", "x", "-m", "y", "--decider", "T"),
    "body of a decision": ("decide", "x", "-m", "## Decision\n\nT\n"),
    "update of the title": ("update", "N", "--title", "T"),
    "update of a section": ("update", "N", "--section", "Log", "--append", "T"),
    "name of a section": ("update", "N", "--section", "T", "--append", "y", "--create"),
    "id of an update": ("update", "T", "--title", "y"),
    "replacement": ("supersede", "N", "T", "-m", "y"),
    "time of a replacement": ("supersede", "N", "x", "-m", "y", "--at", "T"),
    "another that is replaced": ("supersede", "N", "x", "-m", "y", "--also", "T"),
    "reason of a withdrawal": ("retract", "N", "--reason", "T"),
    "title of work": ("work", "start", "T", "--file", "a"),
    "summary of work": ("work", "start", "x", "--file", "a", "--summary", "T"),
    "file of work": ("work", "start", "x", "--file", "T/**"),
    "branch of work": ("work", "start", "x", "--file", "a", "--branch", "T"),
    "key of work": ("work", "start", "x", "--file", "a", "--idempotency-key", "T"),
    "update of work": ("work", "update", "W", "--summary", "T"),
    "end of work": ("work", "complete", "W", "--summary", "T"),
    "search": ("search", "T"),
    "recall": ("recall", "T"),
    "read": ("read", "T"),
    "history": ("history", "T"),
    "rule": ("rules", "add", "github.com/acme/T", "none"),
    "brain of a call": ("status", "--brain", "T"),
    "allowed reason": ("secrets", "allow", "0123456789abcdef0123", "--reason", "T"),
    "allowed value": ("secrets", "allow", "T", "--reason", "it is a test"),
}
SILENT = {
    "idempotency key",
    "key of work",
    "search",
    "recall",
    "read",
    "history",
    "brain of a call",
    "id of an update",
    "another that is replaced",
}
"""What may be taken, since it is written nowhere as it is: questions, and keys, which are kept as hashes."""


@pytest.fixture
def call(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Run a command in this process, in the code repository: its exit code and all it said."""
    monkeypatch.setenv("COMMONWEALTH_NOW", NOW)
    monkeypatch.chdir(project)

    def act(*args: str, stdin: str = "") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["brain", *args])
        code = main()
        said = capsys.readouterr()
        return code, said.out + said.err

    return act


def token(seed: object) -> str:
    return tokens.make("glpat-{20:b36}", random.Random(f"20261201 {seed}"))  # in lower case, as tags and paths are


def planted(args: Sequence[str], value: str, note: str, work: str) -> list[str]:
    names = {"N": note, "W": work}
    return [names.get(arg, re.sub(r"\bT\b", value, arg)) for arg in args]


def ids(said: Said) -> str:
    assert said[0] == 0, said
    return str(json.loads(said[1])["ids"][0])


def test_no_command_takes_a_secret_at_any_place(
    call: Callable[..., Said], root: Path, tmp_path: Path, git: PlainGit
) -> None:
    here = ("--brain", str(root))
    note = ids(call("remember", "Retries are safe", "-m", "Said.\n\n## Log\n\nOne.", "--json", *here))
    work = ids(call("work", "start", "Payments", "--file", "src/pay", "--json", *here))
    held = []
    for place, args in WRITES.items():
        value = token(place)
        target = () if "--brain" in args or args[0] == "secrets" else here
        for as_json in ((), ("--json",)):
            code, said = call(*planted(args, value, note, work), *target, *as_json)
            if place not in SILENT:
                assert code != 0, (place, said)
                assert value not in said, place
        if search_all(tmp_path, value):
            held.append((place, search_all(tmp_path, value)))
    assert not held
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("review", ["auto", "queue"])
def test_neither_canon_nor_staging_takes_one_that_comes_wrapped(
    call: Callable[..., Said], root: Path, tmp_path: Path, review: str
) -> None:
    config = root / ".commonwealth" / "config.yaml"
    config.write_text(re.sub(r"review: \w+", f"review: {review}", config.read_text(encoding="utf-8")), encoding="utf-8")
    value = token(review)
    for body in (f'"{value[:12]}" +\n"{value[12:]}"', f"> {value}", f"`{value}`", f"https://x.example/?t={value}"):
        code, said = call("remember", "x", "-m", body, "--brain", str(root))
        assert code == 1, said
        assert "secret: body" in said
    assert not list((root / "staging").rglob("*.md")) if (root / "staging").exists() else True
    assert search_all(tmp_path, value) == []
    assert search_all(tmp_path, value[12:]) == []


# A secret that a person committed by hand


@pytest.fixture
def shared(tmp_path: Path, project: Path, git: PlainGit, call: Callable[..., Said]) -> tuple[Path, Path]:
    """A clone with one published note, and its remote."""
    remote = tmp_path / "remote.git"
    remote.mkdir()
    git(remote, "init", "-q", "--bare", "-b", "main")
    made = setup.init(tmp_path / "shared", name="acme", remote=str(remote), cwd=str(project), now=NOW)
    assert call("remember", "First", "-m", "One.", "--brain", str(made.brain.root))[0] == 0
    assert call("sync", "--brain", str(made.brain.root))[0] == 0
    return made.brain.root, remote


def commit(git: PlainGit, root: Path, path: str, text: str, *said: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    git(root, "add", "-f", path)
    git(root, "commit", "-q", "-m", *(said or ("by hand",)))


def leak(place: str, value: str, git: PlainGit, root: Path) -> None:
    """A commit by hand that holds `value` at a place."""
    match place:
        case "a note":
            commit(git, root, "memory/leak.md", note_text("Leak", f"{value}\n"))
        case "a file that is no note":
            commit(git, root, "src/deploy.sh", f"export X={value}\n")
        case "a derived file":
            commit(git, root, "memory/INDEX.md", f"- {value}\n")
        case "a name":
            commit(git, root, f"memory/{value}.md", note_text("Leak"))
        case "a message":
            commit(git, root, "memory/a.md", note_text("A"), f"by hand {value}")
        case "the author":
            git(root, "-c", f"user.name={value}", "commit", "-q", "--allow-empty", "-m", "by hand")
        case _:
            commit(git, root, "memory/leak.md", note_text("Leak", f"{value}\n"))
            commit(git, root, "memory/leak.md", note_text("Leak", "gone\n"))


PLACES = (
    "a note", "a file that is no note", "a derived file", "a name", "a message", "the author",
    "a commit that was put right",
)  # fmt: skip


def follow(said: str, git: PlainGit, root: Path) -> None:
    """Do what the steps say: the command in them, then take the secret out wherever a file holds it."""
    for command in re.findall(r"`(git [^`]+)`", said):
        assert "update-ref" not in command
        if " commit " not in command:
            subprocess.run(shlex.split(command), check=True, capture_output=True, stdin=subprocess.DEVNULL)


def take_out(root: Path, value: str) -> None:
    for path in sorted(root.rglob("*")):
        if ".git" in path.relative_to(root).parts or not path.is_file():
            continue
        if value.encode() in (data := path.read_bytes()):
            path.write_bytes(data.replace(value.encode(), b"gone"))
        if value in path.name:
            path.rename(path.with_name("renamed.md"))


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_committed_by_hand_stops_every_push_until_the_steps_are_done(
    call: Callable[..., Said], shared: tuple[Path, Path], tmp_path: Path, git: PlainGit, place: str
) -> None:
    root, remote = shared
    here = ("--brain", str(root))
    value = token(place)
    assert call("remember", "Second", "-m", "Two.", *here)[0] == 0
    leak(place, value, git, root)
    assert call("remember", "Third", "-m", "Three.", *here)[0] == 0
    published = git(remote, "rev-parse", "main")
    said = ""
    for _ in range(2):
        code, said = call("sync", *here)
        assert code == 1, said
        assert said.strip().startswith(("secret:", "refused", "error: secret:")), said
        assert value not in said
    assert git(remote, "rev-parse", "main") == published
    assert value not in call("status", *here)[1]
    assert value not in call("doctor", *here)[1]
    follow(said, git, root)
    take_out(root, value)
    code, said = call("sync", *here)
    assert code == 0, said
    titles = git(remote, "grep", "-h", "^title:", "main", "--", "memory")
    assert {"title: First", "title: Second", "title: Third"} <= set(titles.splitlines())
    assert search_all(remote, value) == []
    assert search_all(tmp_path / "outside", value) == []
    assert search_all(Path(os.environ["COMMONWEALTH_HOME"]), value) == []


def test_the_answer_of_a_sync_repeats_no_name_that_is_a_secret(
    call: Callable[..., Said], shared: tuple[Path, Path], git: PlainGit
) -> None:
    root, _ = shared
    value = token("renamed")
    commit(git, root, f"memory/{value}.md", note_text("Leak"))
    git(root, "mv", f"memory/{value}.md", "memory/other.md")
    for as_json in ((), ("--json",)):
        assert value not in call("sync", "--brain", str(root), *as_json)[1]


def test_a_history_that_nobody_has_yet_is_begun_anew_by_the_steps(
    call: Callable[..., Said], root: Path, tmp_path: Path, git: PlainGit
) -> None:
    value = token("unborn")
    commit(git, root, "memory/leak.md", note_text("Leak", f"{value}\n"))
    remote = tmp_path / "late.git"
    remote.mkdir()
    git(remote, "init", "-q", "--bare", "-b", "main")
    git(root, "remote", "add", "origin", str(remote))
    code, said = call("sync", "--brain", str(root))
    assert code == 1, said
    take_back, again = (shlex.split(found) for found in re.findall(r"`(git [^`]+)`", said))
    subprocess.run(take_back, check=True, capture_output=True)
    take_out(root, value)
    subprocess.run(again, check=True, capture_output=True)
    assert call("sync", "--brain", str(root))[0] == 0
    assert search_all(remote, value) == []
    assert {".gitattributes", "README.md", "memory/leak.md"} <= set(
        git(remote, "ls-tree", "-r", "--name-only", "main").splitlines()
    )


# What a person knows to be none


def test_a_value_is_allowed_by_its_fingerprint_and_a_reason_at_all_three_doors(
    call: Callable[..., Said], shared: tuple[Path, Path], git: PlainGit
) -> None:
    root, remote = shared
    here = ("--brain", str(root))
    value = token("sample")
    code, said = call("remember", "The sample", "-m", f"It is {value}.", *here)
    assert code == 1
    (name,) = re.findall(r"`brain secrets allow ([0-9a-f]{20}) --reason WHY`", said)
    assert name in call("remember", "The sample", "-m", f"In another text: {value}", *here)[1]
    assert call("secrets", "allow", name)[0] == 2
    assert call("secrets", "allow", name, "--reason", " ")[0] == 2
    assert call("secrets", "allow", value, "--reason", "a sample")[0] == 1
    assert call("secrets", "allow", name, "--reason", "the sample of the manual")[0] == 0
    assert call("remember", "The sample", "-m", f"It is {value}.", *here)[0] == 0
    (root / "memory" / "hand.md").write_text(note_text("Hand", f"{value}\n"), encoding="utf-8")
    assert call("sync", *here)[0] == 0
    assert value in git(remote, "show", "main:memory/hand.md")
    home = Path(os.environ["COMMONWEALTH_HOME"])
    assert value not in (home / "allow.yaml").read_text(encoding="utf-8")
    assert (home / "fingerprint.key").stat().st_mode & 0o077 == 0
    assert "the sample of the manual" in call("secrets", "list")[1]
    assert call("remember", "Another", "-m", f"It is {token('other')}.", *here)[0] == 1
    assert call("secrets", "revoke", name)[0] == 0
    assert call("remember", "Once more", "-m", f"It is {value}.", *here)[0] == 1


def test_one_rule_is_allowed_in_one_note(call: Callable[..., Said], root: Path) -> None:
    (root / "memory").mkdir(exist_ok=True)
    for name in ("one", "two"):
        (root / "memory" / f"{name}.md").write_text(note_text(name, f"{token(name)}\n"), encoding="utf-8")
    assert call("secrets", "allow", "one", "--rule", "gitlab-token", "--reason", "samples")[0] == 0
    said = call("sync", "--brain", str(root))[1]
    assert "memory/two.md" in said
    assert "memory/one.md" not in said


@pytest.mark.parametrize(
    "text", ["allow: 3\n", "allow:\n- fingerprint: {name}\n", "allow:\n- reason: x\n", "x: [\n", "allow: [{name}]\n"]
)
def test_a_list_that_cannot_be_read_allows_nothing(call: Callable[..., Said], root: Path, text: str) -> None:
    value = token("broken")
    said = call("remember", "x", "-m", value, "--brain", str(root))[1]
    (name,) = re.findall(r"allow ([0-9a-f]{20})", said)
    place = Path(os.environ["COMMONWEALTH_HOME"]) / "allow.yaml"
    place.write_text(text.replace("{name}", name), encoding="utf-8")
    assert call("remember", "x", "-m", value, "--brain", str(root))[0] == 1
    assert call("secrets", "list")[0] == 7
    assert call("secrets", "allow", name, "--reason", "x")[0] == 7
    assert place.read_text(encoding="utf-8") == text.replace("{name}", name)


def test_no_brain_allows_anything(call: Callable[..., Said], root: Path) -> None:
    value = token("config")
    said = call("remember", "x", "-m", value, "--brain", str(root))[1]
    (name,) = re.findall(r"allow ([0-9a-f]{20})", said)
    for place in ("allow.yaml", ".commonwealth/allow.yaml"):
        (root / place).write_text(f"allow:\n- fingerprint: {name}\n  reason: x\n", encoding="utf-8")
    config = root / ".commonwealth" / "config.yaml"
    config.write_text(
        config.read_text(encoding="utf-8") + f"allow:\n- fingerprint: {name}\n  reason: x\n", encoding="utf-8"
    )
    assert call("remember", "x", "-m", value, "--brain", str(root))[0] == 1


def test_a_comment_in_the_list_survives(call: Callable[..., Said], root: Path) -> None:
    place = Path(os.environ["COMMONWEALTH_HOME"]) / "allow.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("# mine\nallow:\n# why\n- fingerprint: " + "a" * 20 + "\n  reason: x\n", encoding="utf-8")
    assert call("secrets", "allow", "b" * 20, "--reason", "y")[0] == 0
    assert call("secrets", "revoke", "a" * 20)[0] == 0
    assert place.read_text(encoding="utf-8").startswith("# mine\nallow:\n# why\n")
    assert call("secrets", "check", "-", stdin="nothing here")[0] == 0
    assert call("secrets", "check", "-", stdin=token("x"))[0] == 1
