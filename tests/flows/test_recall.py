"""Finding notes again: what people changed by hand is seen, ids are forgiving, and no read fails for one file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.flows import brains, indexing, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.index.query import Query
from commonwealth.model import Provenance

from .conftest import NOW, Teammate, note_text, record, recorded, settle, write

PlainGit = Callable[..., str]


def found(brain: Brain, text: str, *, sweep: bool = True) -> list[str]:
    return [hit.note.title for hit in recall.search(brain, Query(text=text, now=NOW), sweep=sweep).hits]


def test_the_total_counts_what_matches_beyond_the_limit(brain: Brain) -> None:
    write(brain, {f"memory/n{n}.md": note_text(f"Queue {n}") for n in range(7)})
    result = recall.search(brain, Query(text="queue", limit=3, now=NOW))
    assert (len(result.hits), result.total) == (3, 7)
    assert result.took_ms > 0


def test_notes_of_the_sessions_repository_come_first(brain: Brain) -> None:
    mine = recorded(brain, "The queue")
    recorded(brain, "The queue", provenance=Provenance(repository="acme/other"), now="2026-07-02T10:00:00Z")
    assert recall.search(brain, Query(text="queue", now=NOW)).hits[0].note.id == mine


@pytest.mark.parametrize("sweep", [True, False])
def test_an_edit_in_an_editor_is_seen_by_the_next_search(brain: Brain, sweep: bool) -> None:
    note_id = recorded(brain, "Old words", body="Alpha.")
    settle(brain)
    path = brain.root / recall.locate(brain, note_id).path
    path.write_text(path.read_text(encoding="utf-8").replace("Alpha", "Gamma"), encoding="utf-8")
    hits = recall.search(brain, Query(text="old words", now=NOW), sweep=sweep).hits
    assert hits[0].note.body == "Gamma.\n"
    assert found(brain, "gamma", sweep=sweep) == ["Old words"]


def test_a_note_that_no_longer_matches_is_not_returned(brain: Brain) -> None:
    note_id = recorded(brain, "Alpha", body="Beta.")
    settle(brain)
    path = brain.root / recall.locate(brain, note_id).path
    path.write_text(note_text("Gamma", id=note_id), encoding="utf-8")
    assert found(brain, "beta", sweep=False) == []


def test_a_swap_with_an_older_time_and_the_same_size_is_seen(brain: Brain, tmp_path: Path) -> None:
    write(brain, {"memory/a.md": note_text("One note", "alpha")})
    settle(brain)
    new = tmp_path / "new.md"
    new.write_text(note_text("One note", "gamma"), encoding="utf-8")
    os.utime(new, (1_000_000_000, 1_000_000_000))
    new.replace(brain.root / "memory/a.md")
    assert found(brain, "gamma") == ["One note"]


def test_two_files_of_one_size_and_time_that_swap_names_are_seen(brain: Brain) -> None:
    files = [brain.root / "memory" / f"{name}.md" for name in "ab"]
    write(brain, {"memory/a.md": note_text("Note 1", "alpha"), "memory/b.md": note_text("Note 2", "gamma")})
    for path in files:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    settle(brain)
    files[0].rename(files[0].with_suffix(".x"))
    files[1].rename(files[0])
    files[0].with_suffix(".x").rename(files[1])
    assert recall.read(brain, "a").note.title == "Note 2"
    assert recall.search(brain, Query(text="alpha", now=NOW)).hits[0].path == "memory/b.md"


def test_a_copy_that_keeps_size_and_time_is_seen(brain: Brain) -> None:
    path = brain.root / "memory/a.md"
    write(brain, {"memory/a.md": note_text("Note 1", "alpha")})
    os.utime(path, (1_700_000_000, 1_700_000_000))
    settle(brain)
    write(brain, {"memory/a.md": note_text("Note 2", "gamma")})
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert found(brain, "gamma") == ["Note 2"]


def test_notes_pulled_by_plain_git_are_seen(team: tuple[Teammate, Teammate], git: PlainGit) -> None:
    alice, bob = team
    settle(bob.act())
    note_id = recorded(alice.act(), "From afar")
    assert syncing.sync(alice.act()).state == "published"
    git(bob.root, "pull", "-q", "--rebase")
    assert found(bob.act(), "afar", sweep=False) == ["From afar"]
    assert recall.read(bob.act(), note_id).history[0].author == "Alice"
    git(bob.root, "reset", "-q", "--hard", "HEAD~1")
    while list((bob.root / "memory").rglob("2026-*.md")):
        git(bob.root, "reset", "-q", "--hard", "HEAD~1")
    assert found(bob.act(), "afar", sweep=False) == []


@pytest.mark.parametrize("sweep", [True, False])
def test_a_deleted_file_is_gone(brain: Brain, sweep: bool) -> None:
    note_id = recorded(brain, "Short lived")
    settle(brain)
    (brain.root / recall.locate(brain, note_id).path).unlink()
    assert found(brain, "lived", sweep=sweep) == []
    with pytest.raises(Refused, match="No note has the id"):
        recall.read(brain, note_id)


def test_notes_are_found_again_once_nothing_stands_in_the_place_of_their_folder(brain: Brain) -> None:
    recorded(brain, "Still known")
    settle(brain)
    (brain.root / "memory").rename(brain.root / "elsewhere")
    (brain.root / "memory").symlink_to("elsewhere")
    assert found(brain, "known") == []
    assert [problem.path for problem in recall.problems(brain)] == ["memory"]
    (brain.root / "memory").unlink()
    (brain.root / "memory").write_text("a file", encoding="utf-8")
    assert found(brain, "known", sweep=False) == []
    assert [problem.path for problem in recall.problems(brain)] == ["memory"]
    (brain.root / "memory").unlink()
    (brain.root / "elsewhere").rename(brain.root / "memory")
    assert found(brain, "known", sweep=False) == ["Still known"]
    assert recall.problems(brain) == ()


def test_a_brain_that_is_away_for_a_moment_keeps_its_index(brain: Brain, tmp_path: Path) -> None:
    recorded(brain, "Still known")
    settle(brain)
    rows = indexing.ask(brain, lambda conn: conn.execute("SELECT count(*) FROM files").fetchone()[0])
    for folder in ("memory", "people", ".git"):
        (brain.root / folder).rename(tmp_path / folder)
    with pytest.raises(BrainError):
        found(brain, "known")
    for folder in ("memory", "people", ".git"):
        (tmp_path / folder).rename(brain.root / folder)
    assert found(brain, "known") == ["Still known"]
    assert indexing.ask(brain, lambda conn: conn.execute("SELECT count(*) FROM files").fetchone()[0]) == rows


# Ids


def test_ids_may_be_short_and_a_beginning_while_they_are_unique(brain: Brain) -> None:
    note_id = recorded(brain, "A title")
    other = recorded(brain, "Another title")
    assert recall.locate(brain, note_id.rpartition("-")[2]).id == note_id
    assert recall.locate(brain, f" {note_id.upper()} ").id == note_id
    assert recall.locate(brain, other[:14]).id == other
    with pytest.raises(Refused) as caught:
        recall.locate(brain, "2026-07")
    assert "2 notes" in caught.value.message
    assert note_id in caught.value.message
    with pytest.raises(Refused):
        recall.locate(brain, "")


def test_an_unknown_id_names_near_ones(brain: Brain) -> None:
    note_id = recorded(brain, "Payment retries")
    with pytest.raises(Refused) as caught:
        recall.read(brain, "payment-retries-x")
    assert note_id in (caught.value.hint or "")
    for odd in ("../../etc/passwd", "\ud83d", "x" * 5000, "a\0b", "\x1b[31m", "%", "*"):
        with pytest.raises(Refused) as caught:
            recall.read(brain, odd)
        assert "\x1b" not in caught.value.message


def test_two_files_with_one_id_are_one_reading_with_a_warning(brain: Brain) -> None:
    for name in ("b", "a"):
        write(brain, {f"memory/{name}.md": note_text(f"Note {name}", id="same")})
    reading = recall.read(brain, "same")
    assert reading.path == "memory/a.md"
    assert "memory/b.md has the same id as memory/a.md" in reading.warnings


def test_a_file_that_cannot_be_read_says_why_and_disturbs_no_other(brain: Brain) -> None:
    write(brain, {"memory/bad.md": "---\ntitle: [\n---\n", "memory/good.md": note_text("Good")})
    assert found(brain, "good") == ["Good"]
    with pytest.raises(BadNote, match=r"memory/bad\.md"):
        recall.read(brain, "bad")
    assert [problem.path for problem in recall.problems(brain)] == ["memory/bad.md"]


def test_files_with_impossible_names_are_reported_and_disturb_no_other(brain: Brain) -> None:
    folder = os.fsencode(brain.root / "memory")
    os.mkdir(folder)
    for name in (b"back\\slash.md", b"caf\xe9.md", b"new\nline.md", b"sp ace.md"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(note_text("Odd name").encode())
    (brain.root / "memory" / "dir.md").mkdir()
    (brain.root / "memory" / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(brain.root / "memory" / "pipe.md")
    recorded(brain, "A good note")
    for _ in range(2):
        assert found(brain, "good note") == ["A good note"]
        assert found(brain, "odd name") == ["Odd name", "Odd name"]
    fatal = {os.path.basename(problem.path): problem.cause for problem in recall.problems(brain) if problem.fatal}
    assert set(fatal) == {"back\\slash.md", "caf\\udce9.md", "link.md"}


# Links and history


def test_links_go_both_ways_and_mean_whole_ids(brain: Brain) -> None:
    first = recorded(brain, "First")
    short = first.rpartition("-")[2]
    write(brain, {"memory/second.md": note_text("Second", f"See [[{first}]], [[{short}|so]] and [[fir]] [[gone]].\n")})
    third = recorded(brain, "Third", relates=("second", first))
    write(brain, {"memory/fourth.md": note_text("Fourth", supersedes="[second]")})
    links = {(link.relation, link.id, link.title) for link in recall.read(brain, "second").links}
    assert ("wikilink", first, "First") in links
    assert ("wikilink", "gone", None) in links
    assert ("wikilink", "fir", None) in links
    back = {(link.relation, link.id) for link in recall.read(brain, "second").backlinks}
    assert back == {("relates", third), ("supersedes", "fourth")}
    assert ("wikilink", "second") in {(link.relation, link.id) for link in recall.read(brain, first).backlinks}


def test_the_history_is_that_of_the_note(brain: Brain, git: PlainGit) -> None:
    note_id = recorded(brain, "First")
    recorded(brain, "Other")
    path = recall.locate(brain, note_id).path
    (brain.root / path).write_text(note_text("First", id=note_id, summary="edited"), encoding="utf-8")
    git(brain.root, "commit", "-qam", "by hand")
    assert [version.subject for version in recall.read(brain, note_id).history] == ["by hand", "Remember: First"]
    write(brain, {"memory/new.md": note_text("Not committed")})
    assert recall.read(brain, "new").history == ()


# What is not true


def test_what_is_closed_expired_or_not_yet_true_is_left_out(brain: Brain) -> None:
    recorded(brain, "Flag now")
    recorded(brain, "Flag past", valid_until="2026-06-01")
    recorded(brain, "Flag future", valid_from="2027-06-01")
    ends_now = recorded(brain, "Flag ends now", valid_until=NOW)
    write(brain, {"memory/r.md": note_text("Flag retracted", status="retracted")})
    write(brain, {"memory/s.md": note_text("Flag superseded", status="superseded")})
    assert found(brain, "flag") == ["Flag now"]
    assert recall.read(brain, ends_now).note.title == "Flag ends now"
    everything = recall.search(brain, Query(text="flag", include_superseded=True, now=NOW))
    assert everything.total == 6


def test_a_kinds_folder_may_be_another_or_lie_in_another(brain: Brain) -> None:
    config = brain.root / ".commonwealth/config.yaml"
    config.write_text(
        config.read_text(encoding="utf-8") + "folders: {decisions: docs/adr, memory: docs}\n", encoding="utf-8"
    )
    moved = brains.open_brain(brain.root, cwd=brain.cwd)
    write(moved, {"docs/adr/0001-queues.md": "# 1. Use queues\n\nWe do.\n", "docs/note.md": note_text("A note")})
    assert recall.read(moved, "0001-queues").note.kind == "decision"
    assert recall.read(moved, "note").note.kind == "memory"
    assert recall.search(moved, Query(now=NOW)).total == 2
    assert record(moved, "Third").state == "committed"
    write(moved, {"docs/adr/0002.md": "# 2. More\n"})
    assert recall.search(moved, Query(kind=("decision",), now=NOW)).total == 2
    indexing.rebuild(moved)
    assert recall.search(moved, Query(kind=("memory", "decision"), now=NOW)).total == 4
