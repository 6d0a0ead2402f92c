"""What the brain said then: by instant and by commit, through search, read, recall and history, from git alone."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth import faults
from commonwealth.errors import Refused, Usage
from commonwealth.flows import brains, history, indexing, past, pastindex, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import update
from commonwealth.index import schema
from commonwealth.index.query import Query
from commonwealth.model import Note
from commonwealth.notes import codec
from tests.index.test_truth_laws import IDS, INSTANTS, notes, true_at

from .conftest import NOW, Teammate, note_text, recorded, spawn, together, write

PlainGit = Callable[..., str]
BEFORE, LATER, LATEST, AFTER = "2026-07-01T09:59:59Z", "2026-07-02T10:00:00Z", "2026-07-03T10:00:00Z", "2026-08-01"


def titles(brain: Brain, as_of: str | None, text: str = "", now: str = AFTER, **filters: object) -> list[str]:
    wanted = Query(text=text, kind=("memory", "decision"), limit=100, now=f"{now[:10]}T00:00:00Z", **filters)  # type: ignore[arg-type]
    return sorted(hit.note.title for hit in recall.search(brain, wanted, as_of=as_of).hits)


def dated(brain: Brain, at: str, *args: str) -> str:
    """What git says by a clock that says `at`."""
    env = {**os.environ, "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
    done = subprocess.run(
        ["git", "-C", str(brain.root), *args], env=env, capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode("utf-8").strip()


def commit(brain: Brain, git: PlainGit, at: str, message: str = "by hand") -> str:
    """What a person did with files and git, by a clock that says `at`."""
    git(brain.root, "add", "-A")
    dated(brain, at, "commit", "-q", "--allow-empty", "-m", message)
    return head(brain, git)


def head(brain: Brain, git: PlainGit, name: str = "HEAD") -> str:
    return git(brain.root, "rev-parse", name).strip()


def kept(brain: Brain) -> set[str]:
    folder = brain.index_dir / pastindex.SHELF
    return set(os.listdir(folder)) if folder.exists() else set()


@pytest.fixture
def story(brain: Brain) -> tuple[Brain, str]:
    """A note that was changed the day after, and one that came with the change."""
    note_id = recorded(brain, "Payments are synchronous", summary="One request, one answer.")
    update(brain, note_id, {"title": "Payments are queued", "summary": "Through Kafka."}, session=Session(), now=LATER)
    recorded(brain, "Workers retry", LATEST, relates=(note_id,))
    return brain, note_id


def test_an_instant_means_the_newest_commit_up_to_it(story: tuple[Brain, str]) -> None:
    brain, _ = story
    assert titles(brain, None) == ["Payments are queued", "Workers retry"]
    assert titles(brain, LATEST) == ["Payments are queued", "Workers retry"]
    assert titles(brain, LATER) == titles(brain, "2026-07-03T09:59:59Z") == ["Payments are queued"]
    assert titles(brain, "2026-07-02T09:59:59Z") == titles(brain, NOW) == ["Payments are synchronous"]
    assert titles(brain, "2026-07-02T12:00:00+02:00", "kafka") == ["Payments are queued"]
    assert titles(brain, NOW, "kafka") == []


def test_a_commit_is_named_in_full_in_short_and_by_a_ref(story: tuple[Brain, str], git: PlainGit) -> None:
    brain, _ = story
    full = head(brain, git, "HEAD~1")
    for name in (full, full[:9], "HEAD~1", "main~1", " main^ "):
        found = recall.search(brain, Query(kind=("memory",), now=f"{AFTER}T00:00:00Z"), as_of=name)
        assert found.then == past.Moment(full, LATER)
        assert [hit.note.title for hit in found.hits] == ["Payments are queued"]


def test_what_was_true_then_is_judged_by_what_was_known_then(brain: Brain) -> None:
    note_id = recorded(brain, "Payments are synchronous", valid_from="2026-01-01T00:00:00Z")
    update(brain, note_id, {"valid_until": "2026-04-17T00:00:00Z"}, session=Session(), now=LATER)
    recorded(brain, "Payments are queued", LATER, valid_from="2026-04-17T00:00:00Z")
    assert titles(brain, NOW) == ["Payments are synchronous"]
    assert titles(brain, LATER) == titles(brain, None) == ["Payments are queued"]
    assert titles(brain, NOW, valid_at="2026-05-01T00:00:00Z") == ["Payments are synchronous"]
    assert titles(brain, None, valid_at="2026-02-01T00:00:00Z") == ["Payments are synchronous"]
    assert titles(brain, NOW, valid_at="2025-12-31T23:59:59Z") == []


def test_the_instant_counts_as_now_for_what_ends_or_begins(brain: Brain) -> None:
    recorded(brain, "Ends", valid_until="2026-07-05T00:00:00Z")
    recorded(brain, "Begins", valid_from="2026-07-05T00:00:00Z")
    assert titles(brain, "2026-07-04T23:59:59Z") == ["Ends"]
    assert titles(brain, "2026-07-05") == ["Begins"]
    assert titles(brain, "HEAD") == ["Ends"]


def test_a_note_is_read_as_it_was_with_the_links_and_versions_of_then(story: tuple[Brain, str]) -> None:
    brain, note_id = story
    first, second = recall.read(brain, note_id, as_of=NOW), recall.read(brain, note_id, as_of=LATEST)
    assert (first.note.title, first.note.summary) == ("Payments are synchronous", "One request, one answer.")
    assert (len(first.history), first.backlinks) == (1, ())
    assert (second.note.title, len(second.history)) == ("Payments are queued", 2)
    assert [(link.relation, link.title) for link in second.backlinks] == [("relates", "Workers retry")]
    other = second.backlinks[0].id
    assert [link.title for link in recall.read(brain, other, as_of=LATEST).links] == ["Payments are queued"]
    with pytest.raises(Refused, match=r"No note had the id .* as of [0-9a-f]{12} \(2026-07-02T10:00:00Z\)"):
        recall.read(brain, other, as_of=LATER)


def test_history_lists_the_versions_there_were(story: tuple[Brain, str]) -> None:
    brain, note_id = story
    told = history.history(brain, note_id, as_of=LATEST)
    assert [version.at for version in told.versions] == [LATER, NOW]
    assert [version.at for version in history.history(brain, note_id, as_of=NOW).versions] == [NOW]
    assert history.history(brain, note_id, as_of=NOW).then == past.Moment(told.versions[1].commit, NOW)


def test_history_says_why_with_the_trailers_of_the_message(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/n.md": note_text("N")})
    message = "Found it\n\nLong text: not a trailer.\n\nAgent: Codex\nSession: s-1"
    commit(brain, git, NOW, message)
    write(brain, {"memory/n.md": note_text("N", "Again.\n")})
    commit(brain, git, LATER, "No trailers")
    newest, first = history.history(brain, "n").versions
    assert (newest.subject, newest.trailers) == ("No trailers", ())
    assert (first.subject, first.trailers) == ("Found it", ("Agent: Codex", "Session: s-1"))


def test_context_says_of_when_it_is(story: tuple[Brain, str]) -> None:
    brain, _ = story
    found = recall.recall(brain, "payments", budget=500, now=f"{AFTER}T00:00:00Z", as_of=NOW)
    assert "as they were at 2026-07-01T10:00:00Z" in found.text
    assert "Payments are synchronous" in found.text
    assert "queued" not in found.text


def test_a_note_is_found_by_its_id_of_now_under_other_names_and_in_other_folders(brain: Brain, git: PlainGit) -> None:
    body = "".join(f"line {number}\n" for number in range(30))
    write(brain, {"memory/old-name.md": note_text("N", body), "memory/stays.md": note_text("S", id="stays")})
    commit(brain, git, NOW)
    (brain.root / "memory/2026-07").mkdir(exist_ok=True)
    git(brain.root, "mv", "memory/old-name.md", "memory/new-name.md")
    git(brain.root, "mv", "memory/stays.md", "memory/2026-07/elsewhere.md")
    commit(brain, git, LATER)
    assert recall.read(brain, "new-name", as_of=NOW).path == "memory/old-name.md"
    assert recall.read(brain, "old-name", as_of=NOW).path == "memory/old-name.md"
    assert recall.read(brain, "stays", as_of=NOW).path == "memory/stays.md"
    assert recall.read(brain, "stays", as_of=LATER).path == "memory/2026-07/elsewhere.md"
    told = history.history(brain, "new-name", as_of=NOW)
    assert (told.id, len(told.versions)) == ("old-name", 1)
    assert len(history.history(brain, "new-name", as_of=LATER).versions) == 2


def test_a_note_that_is_deleted_now_is_there_as_of_then(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/gone.md": note_text("Gone")})
    commit(brain, git, NOW)
    (brain.root / "memory/gone.md").unlink()
    commit(brain, git, LATER)
    assert recall.read(brain, "gone", as_of=NOW).note.title == "Gone"
    with pytest.raises(Refused, match="No note had the id 'gone'"):
        recall.read(brain, "gone", as_of=LATER)
    assert history.history(brain, "gone", as_of=LATER).deleted
    assert not history.history(brain, "gone", as_of=NOW).deleted


def test_the_folders_of_then_are_those_of_its_own_config(brain: Brain, git: PlainGit) -> None:
    config = brain.root / ".commonwealth/config.yaml"
    write(brain, {"adr/n.md": note_text("Decided")})
    plain = config.read_text(encoding="utf-8")
    config.write_text(plain + "\nfolders:\n  decision: adr\n", encoding="utf-8")
    commit(brain, git, NOW)
    config.write_text(plain, encoding="utf-8")
    commit(brain, git, LATER)
    assert titles(brains.open_brain(brain.root), NOW) == ["Decided"]
    assert titles(brains.open_brain(brain.root), LATER) == []


def test_edits_that_are_not_committed_and_the_ordinary_index_play_no_part(story: tuple[Brain, str]) -> None:
    brain, note_id = story
    place = brain.root / recall.locate(brain, note_id).path
    place.write_text(place.read_text(encoding="utf-8").replace("queued", "edited"), encoding="utf-8")
    before = place.stat().st_mtime_ns, place.read_bytes()
    assert titles(brain, LATEST) == ["Payments are queued", "Workers retry"]
    assert titles(brain, None) == ["Payments are edited", "Workers retry"]
    assert (place.stat().st_mtime_ns, place.read_bytes()) == before


def test_what_cannot_be_read_disturbs_nothing_and_is_said(brain: Brain, git: PlainGit) -> None:
    write(
        brain,
        {
            "memory/bad.md": "---\ntitle: [\n---\n",
            "memory/large.md": note_text("L", "x" * 2_000_000),
            "memory/fine.md": note_text("Fine"),
            "memory/INDEX.md": "no note",
            "memory/.hidden/a.md": note_text("Hidden"),
        },
    )
    (brain.root / "memory/link.md").symlink_to("fine.md")
    commit(brain, git, NOW)
    assert titles(brain, NOW) == ["Fine"]
    then = past.moment(brain, NOW)
    problems = past.ask(brain, then, lambda conn: [tuple(row) for row in conn.execute("SELECT cause FROM problems")])
    assert len(problems) == 3
    with pytest.raises(Refused, match=r"memory/bad.md was no note that can be read at"):
        recall.read(brain, "bad", as_of=NOW)


steps = st.lists(st.lists(notes() | st.sampled_from(IDS), min_size=1, max_size=4), min_size=1, max_size=3)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_files_and_the_index_and_every_commit_say_the_same_at_any_instant(
    brain: Brain, git: PlainGit, steps: list[list[Note | str]]
) -> None:
    there: dict[str, Note] = {}
    for place in (brain.root / "memory").glob("*.md"):
        place.unlink()
    said = []
    for number, changes in enumerate(steps):
        for change in changes:
            if isinstance(change, str):
                there.pop(change, None)
                (brain.root / f"memory/{change}.md").unlink(missing_ok=True)
            else:
                there[change.id] = change
                write(brain, {f"memory/{change.id}.md": codec.render(change)})
        said.append((commit(brain, git, LATEST, str(number)), dict(there)))
    for at in (INSTANTS[0], INSTANTS[3], INSTANTS[8]):
        now = Query(kind=("memory",), now=at)
        then = Query(kind=("memory",), now=LATEST, valid_at=at)
        expected = [true_at(there.values(), at, now=wanted) for wanted in (None, LATEST)]
        assert [found(brain, query) for query in (now, then)] == expected
        for name, notes_then in said:
            assert found(brain, then, as_of=name) == true_at(notes_then.values(), at, now=LATEST)


def found(brain: Brain, wanted: Query, as_of: str | None = None) -> list[str]:
    return sorted(hit.note.id for hit in recall.search(brain, wanted, as_of=as_of).hits)


# Which commit


def test_before_the_first_commit_nothing_was_said(story: tuple[Brain, str]) -> None:
    for instant in (BEFORE, "1969-12-31", "0001-01-01"):
        with pytest.raises(Refused, match=r"lies before the first commit of main \([0-9a-f]{12} of 2026-07-01") as told:
            titles(story[0], instant)
        assert "main says nothing older" in str(told.value.hint)


def test_the_future_is_now_with_a_warning(story: tuple[Brain, str]) -> None:
    for instant in ("2026-08-02", "2126-01-01", "9999-12-31T23:59:59Z"):
        found = recall.search(story[0], Query(kind=("memory",), now=f"{AFTER}T00:00:00Z"), as_of=instant)
        assert found.then is not None
        assert found.then.at == f"{AFTER}T00:00:00Z"
        assert "is in the future; this is what the brain says now" in found.warnings[0]
        assert len(found.hits) == 2


def test_a_far_instant_is_one_where_nobody_says_what_now_is(story: tuple[Brain, str]) -> None:
    assert past.moment(story[0], "9999-12-31T23:59:59Z").warnings == ()


def test_a_commit_that_is_not_there_is_refused(story: tuple[Brain, str]) -> None:
    for name in ("0123abcd", "f" * 40, "no-such-branch", "HEAD~99"):
        with pytest.raises(Refused, match="as_of: there is no commit"):
            past.moment(story[0], name)


NEITHER = ["", " ", "-1", "--all", "a..b", "HEAD:memory", "HEAD@{1}", ":/fix", "^HEAD", "2026-13-01", "noon today"]
NEITHER += ["2026-06-02T24:00:00Z", "٢٠٢٦-٠٦-٠٢", "x" * 500, "main\n--all", "a\0b", "2026-W23-2", "0000-01-01"]


def test_what_is_neither_time_nor_commit_is_refused_in_one_sentence(story: tuple[Brain, str]) -> None:
    for text in NEITHER:
        with pytest.raises(Usage, match=r"^as_of: .*(not an ISO 8601|not a possible time).*nor a commit\.$") as told:
            past.moment(story[0], text)
        assert len(told.value.message) < 300


def test_a_commit_of_another_branch_or_of_a_rewritten_history_is_refused(
    story: tuple[Brain, str], git: PlainGit
) -> None:
    brain, _ = story
    old = head(brain, git)
    git(brain.root, "commit", "-q", "--amend", "-m", "rewritten")
    assert head(brain, git) != old
    with pytest.raises(Refused, match=f"as_of: {old[:12]} is not in the history of main") as told:
        past.moment(brain, old)
    assert "rewritten" in str(told.value.hint)


def test_a_brain_without_a_commit_says_so(story: tuple[Brain, str], git: PlainGit) -> None:
    brain, _ = story
    shutil.rmtree(brain.root / ".git")
    git(brain.root, "init", "-q", "-b", "main")
    with pytest.raises(Refused, match="has no commit yet"):
        past.moment(brain, NOW)


def test_a_shallow_clone_says_what_brings_the_older_history(
    story: tuple[Brain, str], tmp_path: Path, git: PlainGit
) -> None:
    brain, _ = story
    other = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "2", brain.root.as_uri(), str(other))
    clone = brains.open_brain(other)
    assert titles(clone, LATER) == ["Payments are queued"]
    for as_of, what in ((NOW, "before the first commit"), (head(brain, git, "HEAD~2"), "no commit")):
        with pytest.raises(Refused, match=what) as told:
            titles(clone, as_of)
        assert "fetch --unshallow" in str(told.value.hint)


def test_where_clocks_were_wrong_the_order_of_the_commits_counts(brain: Brain, git: PlainGit) -> None:
    for number, date in enumerate(("2026-07-02", "2026-07-10", "2026-07-04", "2026-07-05")):
        write(brain, {f"memory/n{number}.md": note_text(f"N{number}")})
        commit(brain, git, f"{date}T00:00:00Z", str(number))
    assert titles(brain, "2026-07-03") == ["N0"]
    assert titles(brain, "2026-07-04") == ["N0", "N1", "N2"]
    assert titles(brain, "2026-07-06") == titles(brain, "2026-07-11") == ["N0", "N1", "N2", "N3"]
    assert past.moment(brain, "2026-07-03").warnings == past.moment(brain, "2026-07-11").warnings == ()
    (warning,) = past.moment(brain, "2026-07-04").warnings
    assert "a clock was wrong" in warning
    assert "the order of the commits counts" in warning


def test_only_the_first_parent_line_dates_what_the_brain_said(brain: Brain, git: PlainGit) -> None:
    write(brain, {"memory/base.md": note_text("Base")})
    commit(brain, git, LATER)
    git(brain.root, "switch", "-q", "-c", "side")
    write(brain, {"memory/side.md": note_text("Side")})
    side = commit(brain, git, "2026-07-03T00:00:00Z")
    git(brain.root, "switch", "-q", "main")
    dated(brain, "2026-07-09T00:00:00Z", "merge", "-q", "--no-ff", "side", "-m", "merged")
    assert titles(brain, "2026-07-04") == ["Base"]
    assert titles(brain, "2026-07-09") == ["Base", "Side"]
    assert titles(brain, side) == ["Base", "Side"]


def test_an_empty_tree_answers_with_nothing(brain: Brain, git: PlainGit) -> None:
    tree = dated(brain, LATER, "hash-object", "-t", "tree", "-w", "--stdin")
    empty = dated(brain, LATER, "commit-tree", tree, "-p", "HEAD", "-m", "all gone")
    git(brain.root, "update-ref", "refs/heads/main", empty)
    assert titles(brain, LATER) == []
    with pytest.raises(Refused, match="No note had the id"):
        recall.read(brain, "x", as_of=empty)


# Its index


def everything(brain: Brain, as_of: str) -> list[tuple[object, ...]]:
    """All rows of the index of a commit, without their numbers."""

    def rows(conn: sqlite3.Connection) -> list[tuple[object, ...]]:
        path = dict(conn.execute("SELECT id, path FROM files").fetchall())
        found: list[tuple[object, ...]] = [("files", *row[1:]) for row in conn.execute("SELECT * FROM files")]
        for table in ("notes", "texts", "problems"):
            found += [(table, path[number], *rest) for number, *rest in conn.execute(f"SELECT * FROM {table}")]
        found += [("links", field, value, path[note]) for field, value, note in conn.execute("SELECT * FROM links")]
        return sorted(found, key=repr)

    return past.ask(brain, past.moment(brain, as_of), rows)


def test_an_index_that_is_made_of_a_near_one_says_the_same_as_a_new_one(brain: Brain, git: PlainGit) -> None:
    write(brain, {f"memory/n{n}.md": note_text(f"N{n}", f"About [[n{n + 1}]].\n") for n in range(60)})
    commit(brain, git, LATER)
    write(brain, {"memory/n1.md": note_text("Other", supersedes="[n2]"), "memory/new.md": note_text("New")})
    write(brain, {"memory/bad.md": "---\ntitle: [\n---\n"})
    (brain.root / "memory/n3.md").unlink()
    git(brain.root, "mv", "memory/n4.md", "memory/moved.md")
    (brain.root / "memory/n5.md").unlink()
    (brain.root / "memory/n5.md").symlink_to("n6.md")
    commit(brain, git, LATEST)
    for first, second in (("HEAD~1", "HEAD"), ("HEAD", "HEAD~1")):
        shutil.rmtree(brain.index_dir / pastindex.SHELF, ignore_errors=True)
        new = everything(brain, second)
        shutil.rmtree(brain.index_dir / pastindex.SHELF)
        everything(brain, first)
        assert everything(brain, second) == new


def test_few_objects_are_read_for_a_commit_that_is_near(brain: Brain, git: PlainGit) -> None:
    write(brain, {f"memory/n{n}.md": note_text(f"N{n}") for n in range(60)})
    commit(brain, git, LATER)
    write(brain, {"memory/n1.md": note_text("Other")})
    commit(brain, git, LATEST)
    titles(brain, "HEAD~1")
    shas = git(brain.root, "ls-tree", "HEAD", "memory/").split()[2::4]
    for sha in shas:  # what is not read need not be there
        if sha != git(brain.root, "rev-parse", "HEAD:memory/n1.md").strip():
            (brain.root / ".git/objects" / sha[:2] / sha[2:]).unlink()
    assert len(titles(brain, "HEAD")) == 60


@pytest.mark.parametrize("table", ["texts", "files"])
def test_damage_of_a_near_index_does_no_harm(story: tuple[Brain, str], git: PlainGit, table: str) -> None:
    brain, _ = story
    write(brain, {f"memory/n{n}.md": note_text(f"N{n}") for n in range(60)})
    base = commit(brain, git, "2026-07-05T00:00:00Z")
    write(brain, {"memory/n1.md": note_text("Other")})
    commit(brain, git, "2026-07-06T00:00:00Z")
    titles(brain, base)
    place = schema.current(brain.index_dir / pastindex.SHELF / base)
    assert place is not None
    with closing(sqlite3.connect(place, isolation_level=None)) as conn:
        conn.execute(f"DELETE FROM {table} WHERE {'rowid' if table == 'texts' else 'id'} > 5")
    for _ in range(2):
        assert len(titles(brain, "HEAD")) == 62


def test_at_most_two_are_kept_those_used_last(story: tuple[Brain, str], git: PlainGit) -> None:
    brain, _ = story
    first, second, third = (head(brain, git, f"HEAD~{back}") for back in (2, 1, 0))
    for as_of in (first, second, first):
        titles(brain, as_of)
    place = brain.index_dir / pastindex.SHELF
    os.utime(place / second / schema.POINTER, ns=(1, 1))
    titles(brain, third)
    assert kept(brain) == {first, third}
    assert git(brain.root, "status", "--porcelain") == ""


def test_what_is_kept_is_asked_again_and_not_made_again(story: tuple[Brain, str]) -> None:
    brain, _ = story
    titles(brain, NOW)
    generation = schema.current(brain.index_dir / pastindex.SHELF / past.moment(brain, NOW).commit)
    assert generation is not None
    titles(brain, NOW, "payments")
    assert schema.current(generation.parent) == generation


@pytest.mark.parametrize("harm", ["truncated", "garbled", "deleted", "pointer", "rows", "folder is a file"])
def test_an_index_that_is_damaged_is_made_again(story: tuple[Brain, str], harm: str) -> None:
    brain, _ = story
    titles(brain, NOW)
    folder = brain.index_dir / pastindex.SHELF / past.moment(brain, NOW).commit
    place = schema.current(folder)
    assert place is not None
    if harm == "truncated":
        os.truncate(place, place.stat().st_size // 2)
    elif harm == "garbled":
        place.write_bytes(b"\0" * 20_000)
    elif harm == "deleted":
        place.unlink()
    elif harm == "pointer":
        (folder / schema.POINTER).write_text("nonsense", encoding="utf-8")
    elif harm == "rows":
        with closing(sqlite3.connect(place, isolation_level=None)) as conn:
            conn.execute("DELETE FROM texts")
    else:
        shutil.rmtree(folder)
        folder.write_text("in the way", encoding="utf-8")
    assert titles(brain, NOW) == ["Payments are synchronous"]
    assert titles(brain, NOW) == ["Payments are synchronous"]


def test_a_link_in_its_place_is_not_followed(story: tuple[Brain, str], tmp_path: Path) -> None:
    brain, _ = story
    outside = tmp_path / "outside"
    outside.mkdir()
    brain.index_dir.mkdir(exist_ok=True)
    (brain.index_dir / pastindex.SHELF).symlink_to(outside)
    assert titles(brain, NOW) == ["Payments are synchronous"]
    assert list(outside.iterdir()) == []


def test_removing_one_leaves_alone_who_reads_it_and_what_is_not_ours(story: tuple[Brain, str], git: PlainGit) -> None:
    brain, _ = story
    first, *others = (head(brain, git, f"HEAD~{back}") for back in (2, 1, 0))
    then = past.moment(brain, first)
    (brain.index_dir / pastindex.SHELF / "mine").mkdir(parents=True)

    def slowly(conn: sqlite3.Connection) -> int:
        for other in others:
            titles(brain, other)
        assert first not in kept(brain)
        count: int = conn.execute("SELECT count(*) FROM notes WHERE kind = 'memory'").fetchone()[0]
        return count

    assert past.ask(brain, then, slowly) == 1
    assert kept(brain) == {*others, "mine"}


def test_where_it_cannot_be_written_the_answer_is_right_all_the_same(
    story: tuple[Brain, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brain, _ = story
    shutil.rmtree(brain.index_dir, ignore_errors=True)
    brain.index_dir.write_text("in the way", encoding="utf-8")
    assert titles(brain, NOW) == ["Payments are synchronous"]
    monkeypatch.setattr("tempfile.tempdir", str(brain.root / "missing"))
    with pytest.raises(Refused, match="cannot be made"):
        titles(brain, NOW)


FULL_DISK = """
import resource, signal, sys
from commonwealth.flows import brains, past, recall
from commonwealth.index.query import Query
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
brain = brains.open_brain(sys.argv[1])
try:
    recall.search(brain, Query(), as_of=sys.argv[2])
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_full_disk_is_said_and_leaves_nothing(story: tuple[Brain, str]) -> None:
    brain, _ = story
    titles(brain, LATER)
    said, errors = spawn(FULL_DISK, str(brain.root), NOW).communicate(timeout=60)
    assert said.startswith("Refused The index of what the brain said at"), said + errors
    assert len(kept(brain)) == 1
    assert titles(brain, LATER) == ["Payments are queued"]
    assert titles(brain, NOW) == ["Payments are synchronous"]


KILLED = """
import sys
from commonwealth.flows import brains, recall
from commonwealth.index.query import Query
recall.search(brains.open_brain(sys.argv[1]), Query(), as_of=sys.argv[2])
"""


@pytest.mark.parametrize("point", ["index-built", "index-switched", "index-swept"])
def test_a_killed_build_leaves_nothing_broken(
    story: tuple[Brain, str], point: str, monkeypatch: pytest.MonkeyPatch, git: PlainGit
) -> None:
    brain, _ = story
    monkeypatch.setenv(faults.VARIABLE, f"{point}=kill")
    process = spawn(KILLED, str(brain.root), NOW)
    process.communicate(timeout=60)
    assert process.returncode not in (0, 1)
    monkeypatch.delenv(faults.VARIABLE)
    assert titles(brain, NOW) == ["Payments are synchronous"]
    folder = brain.index_dir / pastindex.SHELF / past.moment(brain, NOW).commit
    assert len(list(folder.glob("*.db"))) == 1
    for as_of in ("HEAD", "HEAD~1"):
        titles(brain, as_of)
    assert kept(brain) == {head(brain, git), head(brain, git, "HEAD~1")}


TOGETHER = """
import sys
from commonwealth.flows import brains, recall
from commonwealth.index.query import Query
brain = brains.open_brain(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for round in range(4):
    for as_of in sys.argv[2:]:
        print(len(recall.search(brain, Query(kind=("memory",)), as_of=as_of).hits), end=" ")
"""


def test_many_may_ask_about_more_commits_than_are_kept_at_once(brain: Brain, git: PlainGit) -> None:
    commits = []
    for number in range(4):
        write(brain, {f"memory/n{number}.md": note_text(f"N{number}")})
        commits.append(commit(brain, git, f"2026-07-0{number + 2}T00:00:00Z"))
    said = together([spawn(TOGETHER, str(brain.root), *commits[at:], *commits[:at]) for at in range(4)])
    for at, line in enumerate(said):
        assert line.split() == [str((at + step) % 4 + 1) for step in range(4)] * 4
    assert len(kept(brain)) <= pastindex.KEPT


def test_what_a_rewritten_history_has_taken_out_is_in_no_index_that_is_kept(
    team: tuple[Teammate, Teammate], git: PlainGit
) -> None:
    alice, bob = team
    brain = bob.act()
    old = head(brain, git)
    assert titles(brain, old) == []
    assert kept(brain) == {old}
    root = alice.act().root
    person = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")
    git(root, *person, "commit", "-q", "--amend", "-m", "rewritten")
    git(root, "push", "-q", "--force", "origin", "main")
    brain = bob.act()
    assert syncing.sync(brain, adopt_remote=True).state in ("published", "unchanged")
    assert kept(brain) == set()
    with pytest.raises(Refused, match="is not in the history of main"):
        titles(brain, old)


def test_the_ordinary_index_and_the_kept_ones_live_side_by_side(story: tuple[Brain, str]) -> None:
    brain, _ = story
    titles(brain, NOW)
    before = kept(brain)
    indexing.rebuild(brain)
    assert kept(brain) == before
    assert titles(brain, NOW) == ["Payments are synchronous"]
    shutil.rmtree(brain.index_dir)
    assert titles(brain, NOW) == ["Payments are synchronous"]


def test_every_object_is_read_once_by_one_process(brain: Brain, monkeypatch: pytest.MonkeyPatch, git: PlainGit) -> None:
    write(brain, {f"memory/n{number}.md": note_text(f"N{number}", f"{number}\n") for number in range(300)})
    commit(brain, git, NOW)
    then = past.moment(brain, NOW)
    started: list[list[str]] = []
    real = subprocess.Popen

    def counting(args: list[str], *rest: object, **named: object) -> subprocess.Popen[bytes]:
        started.append(args)
        return real(args, *rest, **named)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(subprocess, "Popen", counting)
    assert past.ask(brain, then, lambda conn: conn.execute("SELECT count(*) FROM notes").fetchone()[0]) == 300
    assert [next(word for word in args if word in ("ls-tree", "cat-file")) for args in started] == [
        "cat-file",
        "ls-tree",
    ]
