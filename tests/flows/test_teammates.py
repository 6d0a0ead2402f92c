"""Work records on colleagues' branches for requests are read before they are merged, and nothing else comes of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commonwealth.flows import branch_records, indexing, recall, syncing, teammates
from commonwealth.flows.brains import Brain
from commonwealth.index.query import Query
from commonwealth.model import Note
from commonwealth.notes import codec
from commonwealth.repo import teambranches
from commonwealth.repo.git import Git

from .conftest import PlainGit, Teammate, write

TODAY = "2026-07-01T10:00:00Z"
PLACE = "work-state/2026-07/2026-07-01-retries-9f3d7k2m.md"
PROTECTED = """#!/bin/sh
[ "$1" = refs/heads/main ] || exit 0
echo "error: GH006: Protected branch update failed for refs/heads/main." >&2
exit 1
"""


def work_text(title: str = "Retries of payments", **fields: str) -> str:
    given = {
        "id": "2026-07-01-retries-9f3d7k2m", "kind": "work-state", "title": title, "status": "in-progress",
        "created_at": TODAY, "updated_at": TODAY, "started_at": TODAY, "lease_until": "2026-07-01T14:00:00Z",
        "repository": "git.example.com/acme/shop", "owner": "Alice", "author": "Alice",
    } | fields  # fmt: skip
    lines = "".join(f"{key}: {value}\n" for key, value in given.items())
    return f"---\n{lines}---\nWhat I am at.\n"


def protect(remote: Path) -> None:
    """Let the remote's main branch take requests only."""
    hook = remote / "hooks/update"
    hook.write_text(PROTECTED, encoding="utf-8")
    hook.chmod(0o755)


def offer(person: Teammate, text: str | None = None) -> Brain:
    """Let somebody write a work record by hand, which a protected remote takes on their branch only."""
    brain = person.act()
    write(brain, {PLACE: text or work_text()})
    assert syncing.sync(brain).state == "committed"
    return brain


def look(person: Teammate, *, by_request: bool = True) -> tuple[str, ...]:
    """What a worker of this person's does after a sync, however short a while ago it looked."""
    brain = person.act()
    if os.path.exists(teammates.place(brain)):
        os.utime(teammates.place(brain), (0, 0))
    return branch_records.look(brain, "brain/bob", 30, by_request=by_request)


def titles(brain: Brain) -> list[str]:
    return [record.note.title for record in teammates.records(brain)]


@pytest.fixture
def people(team: tuple[Teammate, Teammate], remote: Path) -> tuple[Teammate, Teammate]:
    """Alice and Bob, whose main branch is protected by now."""
    protect(remote)
    return team


def test_a_colleague_reads_a_work_record_that_waits_on_a_branch(
    people: tuple[Teammate, Teammate], git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    assert look(bob) == ()
    (record,) = teammates.records(bob.act())
    assert (record.note.title, record.note.status, record.path) == ("Retries of payments", "in-progress", PLACE)
    assert record.branch.startswith("brain/alice-")
    assert record.note.body == ""


def test_what_is_read_from_a_branch_becomes_no_file_no_row_and_no_commit(
    people: tuple[Teammate, Teammate], git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    brain = bob.act()
    before = git(bob.root, "rev-parse", "HEAD")
    look(bob)
    assert titles(brain) == ["Retries of payments"]
    assert not (bob.root / PLACE).exists()
    assert git(bob.root, "rev-parse", "HEAD") == before
    assert git(bob.root, "status", "--porcelain") == ""
    assert indexing.ask(
        brain, lambda conn: conn.execute("SELECT count(*) FROM notes WHERE kind = 'work-state'").fetchone()
    ) == (0,)


def test_a_look_that_finds_nothing_new_reads_nothing_anew(people: tuple[Teammate, Teammate]) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    brain = bob.act()
    kept = Path(teammates.place(brain)).read_bytes()
    look(bob)
    assert Path(teammates.place(brain)).read_bytes() == kept
    assert os.stat(teammates.place(brain)).st_mtime > 1


def test_a_look_right_after_another_asks_nobody(people: tuple[Teammate, Teammate], remote: Path) -> None:
    alice, bob = people
    look(bob)
    offer(alice)
    remote.rename(remote.with_name("away"))
    assert branch_records.look(bob.act(), "brain/bob", 30, by_request=True) == ()
    assert titles(bob.act()) == []


def test_our_own_branch_is_not_read(people: tuple[Teammate, Teammate]) -> None:
    alice, _ = people
    brain = offer(alice)
    names = teambranches.fetch(Git(brain.root), "origin", 30, skip=lambda name: False).tips
    (own,) = names
    branch_records.look(brain, own, 30, by_request=True)
    assert titles(brain) == []


def test_a_branch_that_is_gone_takes_its_records_along(
    people: tuple[Teammate, Teammate], remote: Path, git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    (branch,) = teambranches.known(Git(bob.root), "origin")
    git(remote, "branch", "-D", branch)
    look(bob)
    assert titles(bob.act()) == []
    assert teambranches.known(Git(bob.root), "origin") == {}


def test_a_record_that_was_merged_is_read_from_the_branch_only_where_it_says_more(
    people: tuple[Teammate, Teammate],
) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    (record,) = teammates.records(bob.act())

    def merged(**fields: str) -> Note:
        return codec.parse(work_text(**fields), PLACE, "work-state")[0]

    assert teammates.is_news(record.note, None)
    assert not teammates.is_news(record.note, merged())
    assert not teammates.is_news(record.note, merged(updated_at="2026-07-01T11:00:00Z", status="completed"))
    assert teammates.is_news(record.note, merged(lease_until="2026-07-01T13:00:00Z"))


def test_the_state_of_main_is_left_out(people: tuple[Teammate, Teammate], remote: Path, git: PlainGit) -> None:
    alice, bob = people
    (remote / "hooks/update").unlink()
    brain = alice.act()
    write(brain, {PLACE: work_text("Known to all")})
    assert syncing.sync(brain).state == "published"
    protect(remote)
    write(brain, {PLACE.replace("retries", "new"): work_text("New", id="2026-07-01-new-9f3d7k2m")})
    syncing.sync(brain)
    syncing.sync(bob.act())
    look(bob)
    assert titles(bob.act()) == ["New"]


@pytest.fixture
def hostile(tmp_path: Path, remote: Path, git: PlainGit) -> Path:
    """Somebody's clone that may push branches."""
    folder = tmp_path / "hostile"
    git(tmp_path, "clone", "-q", str(remote), str(folder))
    git(folder, "checkout", "-q", "-b", "brain/mallory")
    (folder / PLACE).parent.mkdir(parents=True)
    return folder


def push(folder: Path, git: PlainGit, branch: str = "brain/mallory") -> None:
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=M", "-c", "user.email=m@example.com", "commit", "-q", "-m", "x")
    git(folder, "push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")


def test_files_that_are_huge_or_no_notes_are_passed_over_and_named(
    people: tuple[Teammate, Teammate], hostile: Path, git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    folder = (hostile / PLACE).parent
    (folder / "huge.md").write_text(work_text("Huge") + "x" * teambranches.FILE_LIMIT, encoding="utf-8")
    (folder / "broken.md").write_bytes(b"\xff\xfe\x00broken")
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "fine.md").write_text(work_text("Fine", id="fine"), encoding="utf-8")
    push(hostile, git)
    warnings = look(bob)
    assert sorted(titles(bob.act())) == ["Fine", "Retries of payments"]
    assert any("huge.md" in warning for warning in warnings)
    assert any("broken.md" in warning for warning in warnings)


def test_a_branch_with_too_many_files_gives_some_and_says_so(
    people: tuple[Teammate, Teammate], hostile: Path, git: PlainGit
) -> None:
    _, bob = people
    for number in range(teambranches.MOST_FILES + 5):
        place = (hostile / PLACE).parent / f"2026-07-01-w{number:04}.md"
        place.write_text(work_text(f"w{number:04}", id=f"2026-07-01-w{number:04}"), encoding="utf-8")
    push(hostile, git)
    warnings = look(bob)
    assert titles(bob.act())[0] == f"w{teambranches.MOST_FILES + 4:04}"
    assert len(titles(bob.act())) == branch_records.MOST_RECORDS
    assert any("5 more files" in warning for warning in warnings)


def test_a_branch_without_a_common_history_is_passed_over(
    people: tuple[Teammate, Teammate], hostile: Path, git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    git(hostile, "checkout", "-q", "--orphan", "other")
    (hostile / PLACE).parent.mkdir(parents=True, exist_ok=True)
    (hostile / PLACE).write_text(work_text("Foreign"), encoding="utf-8")
    push(hostile, git)
    warnings = look(bob)
    assert titles(bob.act()) == ["Retries of payments"]
    assert any("brain/mallory" in warning and "in common" in warning for warning in warnings)


def test_a_branch_that_git_refuses_stands_in_no_others_way(
    people: tuple[Teammate, Teammate], remote: Path, hostile: Path, git: PlainGit
) -> None:
    alice, bob = people
    offer(alice)
    tree = git(hostile, "rev-parse", "HEAD^{tree}").strip()
    bad = f"tree {tree}\nauthor no address 1 +0000\ncommitter no address 1 +0000\n\nbad\n"
    place = hostile / "bad"
    place.write_text(bad, encoding="utf-8")
    commit = git(remote, "hash-object", "-t", "commit", "-w", "--literally", str(place)).strip()
    git(remote, "update-ref", "refs/heads/brain/a-bad", commit)
    warnings = look(bob)
    assert titles(bob.act()) == ["Retries of payments"]
    assert any("brain/a-bad" in warning for warning in warnings)


def test_more_branches_than_are_read_are_said(people: tuple[Teammate, Teammate], remote: Path, git: PlainGit) -> None:
    alice, bob = people
    offer(alice)
    main = git(remote, "rev-parse", "main").strip()
    for number in range(40):
        (remote / f"refs/heads/brain/z{number:03}").write_text(f"{main}\n", encoding="utf-8")
    warnings = look(bob)
    assert titles(bob.act()) == ["Retries of payments"]
    assert any("41 branches" in warning for warning in warnings)
    assert len(teambranches.known(Git(bob.root), "origin")) == teambranches.MOST_BRANCHES


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"records": 1}', b'{"records": [1, ["a", "b", "[]", 1]]}'])
def test_what_was_kept_may_be_damaged_and_is_read_anew(people: tuple[Teammate, Teammate], damage: bytes) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    place = Path(teammates.place(bob.act()))
    place.write_bytes(damage)
    assert titles(bob.act()) == []
    look(bob)
    assert titles(bob.act()) == ["Retries of payments"]


def test_records_kept_by_another_version_are_read_anew(people: tuple[Teammate, Teammate]) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    place = Path(teammates.place(bob.act()))
    kept = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(kept | {"form": 1, "records": []}), encoding="utf-8")
    look(bob)
    assert titles(bob.act()) == ["Retries of payments"]


def test_a_remote_that_cannot_be_reached_leaves_what_was_read(people: tuple[Teammate, Teammate], remote: Path) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    remote.rename(remote.with_name("away"))
    with pytest.raises(Exception, match=r"."):
        look(bob)
    assert titles(bob.act()) == ["Retries of payments"]


def test_a_search_of_notes_does_not_see_what_is_not_merged(people: tuple[Teammate, Teammate]) -> None:
    alice, bob = people
    offer(alice)
    look(bob)
    assert recall.search(bob.act(), Query(text="retries payments", now=TODAY)).total == 0
