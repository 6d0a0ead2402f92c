"""Status and doctor: everything that is not right is named, and nothing is changed."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commonwealth.flows import doctor, mending, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.index import schema

from .conftest import note_text, record, recorded, settle, write

PlainGit = Callable[..., str]


def told(brain: Brain, name: str) -> dict[str, str]:
    """What the doctor says under one name: message and state."""
    return {check.message: check.state for check in doctor.doctor(str(brain.root), "/") if check.name == name}


def bytes_of(brain: Brain) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in brain.root.rglob("*")
        if path.is_file() and "index" not in path.relative_to(brain.root).parts and ".git" not in path.parts
    }


def test_a_healthy_brain_has_nothing_to_mend(brain: Brain) -> None:
    recorded(brain)
    checks = doctor.doctor(str(brain.root), "/")
    assert {check.state for check in checks} <= {"ok", "note"}
    assert all(check.hint for check in checks if check.state not in ("ok", "note"))
    assert told(brain, "notes") == {"2 notes, all readable": "ok"}
    status = upkeep.status(brain)
    assert (status.counts, status.edited, status.held, status.strays) == ({"memory": 1, "person": 1}, (), (), ())
    assert (status.name, status.person, status.remote, status.unpublished) == ("acme", "Alice", False, 0)
    assert status.repository == "git.example.com/acme/shop"


BAD: dict[str, str | bytes] = {
    "yaml.md": "---\ntitle: [\n---\n",
    "double.md": "---\ntitle: a\ntitle: b\n---\n",
    "utf16.md": "---\ntitle: x\n---\n".encode("utf-16"),
    "nul.md": b"a\0b",
    "latin.md": b"caf\xe9",
    "huge.md": b"x" * (10 << 20),
    "anchor.md": "---\ntitle: &a x\n---\n",
}


def test_every_unreadable_file_is_named_with_its_cause_and_left_alone(brain: Brain) -> None:
    write(brain, {f"memory/{name}": content for name, content in BAD.items()})
    write(brain, {"memory/good.md": note_text("Good")})
    (brain.root / "memory/link.md").symlink_to("/etc/passwd")
    before = bytes_of(brain)
    found = told(brain, "notes")
    for name in (*BAD, "link.md"):
        assert [state for message, state in found.items() if message.startswith(f"memory/{name}")] == ["fail"], name
    assert not any("good.md" in message for message in found)
    status = upkeep.status(brain)
    assert len(status.problems) == len(BAD) + 1
    assert len(status.held) == len(BAD) + 1
    assert status.edited == ("memory/good.md",)
    assert bytes_of(brain) == before


def test_a_doubt_is_a_note_and_no_failure(brain: Brain) -> None:
    odd = note_text("Odd", status="rumour", created_at="soon")
    write(brain, {"memory/plain.md": "# Plain\n", "memory/odd.md": odd})
    found = told(brain, "notes")
    assert "memory/plain.md, line 1: the file has no frontmatter; it was read with defaults" in found
    assert any("status" in message for message in found)
    assert any("created_at" in message for message in found)
    assert set(found.values()) == {"note"}
    assert upkeep.status(brain).problems == ()


def test_twins_and_doubled_ids_are_named(brain: Brain) -> None:
    write(
        brain,
        {
            "memory/Note.md": note_text("A", id="one"),
            "memory/note.md": note_text("B", id="two"),
            "memory/cafe\u0301.md": note_text("C", id="three"),
            "memory/caf\u00e9.md": note_text("D", id="four"),
            "memory/a/x.md": note_text("E", id="same"),
            "memory/b/y.md": note_text("F", id="same"),
            "memory/Team/z.md": note_text("G"),
            "memory/team/w.md": note_text("H"),
        },
    )
    names = told(brain, "names")
    assert any("memory/Note.md and memory/note.md" in message for message in names)
    assert any("memory/Team and memory/team" in message for message in names)
    assert len(names) == 3
    assert told(brain, "notes")["The id same is in memory/a/x.md and in memory/b/y.md."] == "warn"


def test_strays_held_edits_and_a_nested_repository_are_named(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/.env": "x", "memory/pic.png": b"\x89PNG", "memory/nested/a.md": note_text("Theirs")})
    git(brain.root / "memory/nested", "init", "-q")
    write(brain, {"memory/conflict.md": "---\ntitle: x\n---\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"})
    status = upkeep.status(brain)
    assert status.strays == ("memory/.env", "memory/nested/", "memory/pic.png")
    assert status.held == ("memory/conflict.md: line 4: it holds git's conflict markers",)
    assert len(told(brain, "strays")) == 3
    assert told(brain, "edits") == {
        "memory/conflict.md is not committed: line 4: it holds git's conflict markers.": "warn"
    }


def test_candidates_and_conflicts_are_counted(brain: Brain, tmp_path: Path) -> None:
    write(
        brain,
        {
            "memory/x.md": note_text("X"),
            "memory/y.md": note_text("Y", supersedes="[x]"),
            "memory/z.md": note_text("Z", supersedes="[x]"),
            "memory/s.md": note_text("S", conflict_of="y"),
        },
    )
    own = tmp_path / "home" / ".commonwealth" / "config.yaml"
    own.parent.mkdir(exist_ok=True)
    own.write_text("review: queue\n", encoding="utf-8")
    staged = record(brain, "Maybe").ids
    status = upkeep.status(brain)
    assert status.staged == staged
    assert status.conflicts == ("x", "y")


def test_a_link_in_the_place_of_a_folder_is_named_and_the_rest_is_looked_at(brain: Brain) -> None:
    (brain.root / "work-state").symlink_to("/etc")
    checks = doctor.doctor(str(brain.root), "/")
    named = {check.name for check in checks if check.state != "ok" and "work-state" in check.message}
    assert {"notes", "folders"} <= named
    assert any(check.state == "fail" and "work-state" in check.message for check in checks)
    assert all("work-state" in check.message for check in checks if check.state == "fail")
    assert any(check.name == "git" and check.state == "ok" for check in checks)


def test_a_rotten_index_is_named(brain: Brain) -> None:
    write(brain, {f"memory/n{n}.md": note_text(f"Note {n}", f"Queue {n}.\n" * 100) for n in range(30)})
    settle(brain)
    path = schema.current(brain.index_dir)
    assert path is not None
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("DELETE FROM words_data WHERE id > 10")
    [(message, state)] = told(brain, "index").items()
    assert state == "fail"
    assert message.startswith("The search index is damaged")


def test_without_a_brain_the_machine_is_looked_at(tmp_path: Path) -> None:
    checks = doctor.doctor(None, str(tmp_path))
    assert [check.state for check in checks if check.name == "git"] == ["ok"]
    [brain] = [check for check in checks if check.name == "brain"]
    assert brain.state == "fail"
    assert "brain init" in (brain.hint or "")


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "", '{"rules": 1}', '{"a":1,}x'])
def test_a_registry_that_cannot_be_read_is_loud(tmp_path: Path, text: str) -> None:
    path = tmp_path / "home" / ".commonwealth" / "registry.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    checks = doctor.doctor(None, str(tmp_path))
    assert any(check.name == "rules" and check.state == "fail" and str(path) in check.message for check in checks)


def test_without_git_the_doctor_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    [check] = [check for check in doctor.doctor(None, str(tmp_path)) if check.name == "git"]
    assert check.state == "fail"
    assert os.linesep not in check.message


def test_fix_mends_says_so_and_changes_nothing_where_nothing_is_wrong(brain: Brain) -> None:
    recorded(brain)
    settle(brain)
    before = bytes_of(brain) | {"HEAD": (brain.root / ".git/HEAD").read_text(encoding="utf-8")}
    assert list(mending.fix(str(brain.root), "/")) == []
    (brain.root / ".git/HEAD").write_bytes(b"")
    [first, *_] = mending.fix(str(brain.root), "/")
    assert (first.done, "HEAD" in first.what) == (True, True)
    assert list(mending.fix(str(brain.root), "/")) == []
    assert bytes_of(brain) | {"HEAD": (brain.root / ".git/HEAD").read_text(encoding="utf-8")} == before


def test_one_who_has_no_address_is_told(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(told(brain, "person").values()) == {"ok"}
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert set(told(brain, "person").values()) == {"note"}


def test_what_is_kept_for_a_person_is_named(brain: Brain, git: PlainGit) -> None:
    head = git(brain.root, "rev-parse", "HEAD").strip()
    git(brain.root, "update-ref", "refs/commonwealth/rescue/1", head)
    git(brain.root, "update-ref", f"refs/commonwealth/kept/{head}", head)
    kept = told(brain, "kept")
    assert "refs/commonwealth/rescue/1 keeps commits that are not on the branch." in kept
    assert set(kept.values()) == {"note"}
    assert len(kept) == 2
