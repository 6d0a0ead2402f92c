"""What a push would make public is looked through first: names, files, commits, in bounded memory and time."""

from __future__ import annotations

import random
import resource
from pathlib import Path

import pytest

from commonwealth.repo.git import Git
from commonwealth.repo.outcome import read_debt

from .brains import plain, put, team
from .linenotes import remember, run_sync

FIRST = "memory/2026-07/first.md"


def refused(clone: Path, remote: Path, start: str) -> None:
    before = plain(remote, "rev-parse", "main")
    for _ in range(2):
        outcome = run_sync(clone)
        assert outcome.state == "refused", outcome
        assert outcome.trouble is not None
        assert outcome.trouble.message.startswith(start)
        assert "SECRET" not in str(outcome)
    assert plain(remote, "rev-parse", "main") == before


def test_a_secret_in_the_new_name_of_a_known_file_stops_the_push(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    plain(clone, "mv", "README.md", "SECRET.txt")
    plain(clone, "commit", "-qm", "rename")
    refused(clone, remote, "secret: ./(a file with a secret in its name): file name")


def test_a_secret_in_the_second_name_of_a_new_file_stops_the_push(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    put(clone, "memory/2026-07/a.md", "text: same\n")
    put(clone, "memory/2026-07/b-SECRET.md", "text: same\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "copies")
    refused(clone, remote, "secret: memory/2026-07/(a file with a secret in its name): file name")


def test_a_secret_in_the_name_of_a_nested_repository_stops_the_push(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    tip = plain(clone, "rev-parse", "HEAD").strip()
    plain(clone, "update-index", "--add", "--cacheinfo", f"160000,{tip},lib/SECRET")
    plain(clone, "commit", "-qm", "gitlink")
    refused(clone, remote, "secret: lib/(a file with a secret in its name): file name")


def test_a_name_that_was_removed_again_is_still_in_the_commits(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    plain(clone, "mv", "README.md", "SECRET.txt")
    plain(clone, "commit", "-qm", "rename")
    plain(clone, "mv", "SECRET.txt", "README.md")
    plain(clone, "commit", "-qm", "and back")
    refused(clone, remote, "secret: ./(a file with a secret in its name)")


def test_a_name_that_is_public_already_keeps_nobody_from_publishing(tmp_path: Path) -> None:
    _, (clone, other) = team(tmp_path, 2)
    run_sync(clone)
    plain(other, "mv", "README.md", "SECRET.txt")
    plain(other, "commit", "-qm", "rename")
    plain(other, "push", "-q", "origin", "HEAD:main", check=False)
    plain(other, "pull", "-q", "--no-rebase", "--no-edit", check=False)
    plain(other, "push", "-q", "origin", "HEAD:main")
    remember(clone, "a", "text: a\n")
    assert run_sync(clone).state == "published"
    plain(clone, "rm", "-q", "SECRET.txt")
    plain(clone, "commit", "-qm", "gone")
    assert run_sync(clone).state == "published"


@pytest.mark.parametrize("who", ["author", "committer", "message"])
def test_a_secret_in_what_a_commit_says_stops_the_push(tmp_path: Path, who: str) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    before = plain(remote, "rev-parse", "main")
    words = {"author": "A", "committer": "A", "message": "m", who: "SECRET"}
    plain(clone, "config", "user.email", f"{words['committer']}@example.com")
    author = f"A <{words['author']}@example.com>"
    plain(clone, "commit", "-q", "--allow-empty", "-m", words["message"], "--author", author)
    assert run_sync(clone).state == "refused"
    assert plain(remote, "rev-parse", "main") == before


def test_a_big_raw_file_costs_bounded_memory(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    with (clone / "big.bin").open("wb") as file:
        block = random.Random(1).randbytes(1 << 20)
        for _ in range(150):
            file.write(block)
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "big")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = run_sync(clone)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert outcome.state == "published"
    assert any("big.bin" in warning for warning in outcome.warnings)
    assert plain(remote, "rev-parse", "main") == plain(clone, "rev-parse", "main")


def committed(clone: Path, path: str, data: bytes) -> None:
    (clone / path).write_bytes(data)
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "raw")


TEXT = b"a line of words\n"
NOISE = random.Random(2).randbytes(1 << 20)


@pytest.mark.parametrize(
    "data",
    [
        TEXT * (6 << 16) + b"SECRET\n",
        b"\0\0\0" + TEXT * (6 << 16) + b"SECRET\n",
        NOISE[: 1 << 19] + b"SECRET\n",
        NOISE * 5 + TEXT * (1 << 15) + b"SECRET\n",
    ],
    ids=["text of 6 MiB", "text that begins with NUL", "noise", "text in a large binary file"],
)
def test_a_secret_far_from_the_beginning_stops_the_push(tmp_path: Path, data: bytes) -> None:
    remote, (clone,) = team(tmp_path, 1)
    committed(clone, "raw.dat", data)
    refused(clone, remote, "secret: raw.dat")


def test_a_text_too_large_to_be_looked_through_is_not_pushed_and_the_step_is_named(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    committed(clone, "huge.txt", TEXT * ((64 << 16) + 1))
    refused(clone, remote, "huge.txt has 64.0 MiB of text")
    hint = str(run_sync(clone).trouble.hint)  # type: ignore[union-attr]
    assert "reset --soft" in hint
    assert "push" in hint


def test_a_look_through_a_large_text_goes_on_within_it(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    committed(clone, "log.txt", TEXT * (1 << 16))
    states = [run_sync(clone, timeout=0).state for _ in range(4)]
    assert states == ["deferred"] * 4
    assert reached(clone) > 0
    assert run_sync(clone).state == "published"


def reached(clone: Path) -> int:
    lines = (clone / ".git/commonwealth/clean").read_text(encoding="utf-8").split()
    return max((int(line.split(":")[1]) for line in lines if ":" in line), default=0)


SIGNED = "-----BEGIN PGP SIGNATURE-----\n\n{}\n-----END PGP SIGNATURE-----"


def test_what_looks_like_a_signature_in_a_message_is_looked_through(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    plain(clone, "commit", "-q", "--allow-empty", "-m", "m\n\n" + SIGNED.format("SECRET"))
    refused(clone, remote, "secret: the commit")


@pytest.mark.parametrize("field", ["gpgsig", "gpgsig-sha256", "mergetag"])
def test_a_signature_in_the_header_of_a_commit_is_no_secret(tmp_path: Path, field: str) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    tip, tree = plain(clone, "rev-parse", "HEAD", "HEAD^{tree}").split()
    who = "A <a@example.com> 1700000000 +0000"
    begin = f"object {tip}\ntype commit\ntag t\ntagger {who}\n\nwords\n" if field == "mergetag" else ""
    value = (begin + SIGNED.format("iQSECRETiQ")).replace("\n", "\n ")
    text = f"tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n{field} {value}\n\nm\n"
    (tmp_path / "commit").write_text(text, encoding="utf-8")
    name = plain(clone, "hash-object", "-t", "commit", "-w", str(tmp_path / "commit")).strip()
    plain(clone, "reset", "-q", "--hard", name)
    assert run_sync(clone).state == "published"
    assert plain(remote, "rev-parse", "main").strip() == name


def test_a_secret_deep_in_a_big_text_stops_the_push(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    put(clone, "log.txt", "a line of words\n" * 150_000 + "SECRET\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "big")
    refused(clone, remote, "secret: log.txt")


def test_a_look_that_takes_too_long_is_deferred_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    remote, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    for number in range(3):
        put(clone, f"more/{number}.txt", f"{number}\n")
    plain(clone, "add", "-A")
    plain(clone, "commit", "-qm", "raw")
    states = []
    for _ in range(20):
        outcome = run_sync(clone, timeout=0)
        states.append(outcome.state)
        if outcome.state == "deferred" and outcome.trouble and "secrets" in outcome.trouble.message:
            assert read_debt(Git(clone)) is not None
    assert set(states) <= {"deferred", "published", "unchanged"}
    assert run_sync(clone).state in ("published", "unchanged")
    assert plain(remote, "rev-parse", "main") == plain(clone, "rev-parse", "main")
    assert not (clone / ".git/commonwealth/clean").exists()


def test_publishing_a_commit_without_notes_says_so(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    plain(clone, "commit", "-q", "--allow-empty", "-m", "nothing")
    assert run_sync(clone).state == "published"
    assert run_sync(clone).state == "unchanged"
