"""Importing folders: every file accounted for, bodies kept, repeats without change, no edit lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from commonwealth import config
from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import Refused, Usage
from commonwealth.flows import brains, import_source, importing, setup
from commonwealth.flows.import_shelf import BrainShelf
from commonwealth.flows.import_writing import BATCH, Left
from commonwealth.flows.importing import ImportReport, Settings
from commonwealth.model import Note
from commonwealth.notes import codec, foreign, naming
from commonwealth.repo.commit import Change

NOW = "2026-07-01T10:00:00Z"
LATER = "2026-07-09T10:00:00Z"
KEY = "0123456789abcdef"


@dataclass
class Brain:
    """A brain's files in a folder, written as a commit would write them."""

    root: Path
    messages: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def write(self, changes: Sequence[Change], message: str) -> Left:
        for change in changes:
            path = self.root / change.path
            assert (path.read_bytes() if path.exists() else None) == change.expect
            assert change.data is not None
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change.data)
        self.messages.append(message)
        self.sizes.append(len(changes))
        return Left()

    def take(self, source: Path, kind: str | None = None, now: str = NOW) -> ImportReport:
        settings = Settings(kind, DEFAULT_FOLDERS, KEY, now)
        return importing.run(source, settings, shelf=BrainShelf(self.root, DEFAULT_FOLDERS), write=self.write)

    def all(self) -> list[tuple[str, Note]]:
        """Path and note of every note."""
        found = []
        for path in BrainShelf(self.root, DEFAULT_FOLDERS).paths():
            kind = naming.kind_of(path, DEFAULT_FOLDERS) or ""
            note, problems = codec.parse(codec.decode((self.root / path).read_bytes(), path), path, kind)
            assert not problems
            assert path == naming.note_path(kind, note.id, note.id, DEFAULT_FOLDERS)
            found.append((path, note))
        return found

    def notes(self) -> dict[str, tuple[str, Note]]:
        """Path and note by the path of the source, which no two share."""
        every = self.all()
        found = {note.source.path: (path, note) for path, note in every if note.source}
        assert len(found) == len(every)
        return found

    def state(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*.md")}


@pytest.fixture
def brain(tmp_path: Path) -> Brain:
    (tmp_path / "brain").mkdir()
    return Brain(tmp_path / "brain")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def record(
    number: int, title: str, status: str = "Accepted", *, date: str | None = "2020-01-01", text: str = "So."
) -> str:
    """A decision record in Nygard's form."""
    dated = f"Date: {date}\n\n" if date else ""
    return f"# {number}. {title}\n\n{dated}## Status\n\n{status}\n\n## Decision\n\n{text}\n"


def files_of(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


CORPORA = (
    ("til-jbranchaud", "markdown", 967, 0),
    ("adr-govuk-aws", "adr", 38, 0),
    ("adr-madr", "adr", 19, 2),
    ("memory-mnemonic", "markdown", 42, 0),
    ("memory-recommendarr", "markdown", 15, 0),
    ("obsidian-kepano", "markdown", 72, 28),
)


@pytest.mark.parametrize(("name", "kind", "imported", "skipped"), CORPORA)
def test_every_file_of_a_corpus_is_accounted_for_and_a_repeat_changes_nothing(
    brain: Brain, shared: Path, name: str, kind: str, imported: int, skipped: int
) -> None:
    folder = shared / "corpora" / name
    report = brain.take(folder)
    notes = brain.notes()
    assert (report.imported, report.unchanged, len(report.skipped)) == (imported, 0, skipped)
    assert sorted([*notes, *(item.path for item in report.skipped)]) == files_of(folder)
    assert all(item.reason for item in report.skipped)
    for path, (_, note) in notes.items():
        assert note.source is not None
        assert note.source.kind == kind
        text = (folder / path).read_bytes().decode()
        assert note.body == foreign.read(text, path).body
        assert text.endswith(note.body)
        assert text.startswith("---\n") or text == note.body
    before = brain.state()
    again = brain.take(folder)
    assert (again.imported, again.unchanged, len(again.skipped)) == (0, imported, skipped)
    assert brain.state() == before
    assert brain.sizes == [min(BATCH, imported - start) for start in range(0, imported, BATCH)]


def test_the_decisions_of_a_corpus_keep_number_status_and_supersession(brain: Brain, shared: Path) -> None:
    brain.take(shared / "corpora" / "adr-govuk-aws", "adr")
    by_number = {note.number: note for _, note in brain.notes().values()}
    assert len(by_number) == 38
    old, new = by_number["0004"], by_number["0015"]
    assert (old.status, old.superseded_by, old.valid_until) == ("superseded", new.id, "2018-03-06T00:00:00Z")
    assert new.supersedes == (old.id,)
    assert by_number["0003"].status == "decision"
    assert by_number["0003"].superseded_by is None
    assert by_number["0003"].relates == (by_number["0033"].id,)
    assert by_number["0033"].relates == (by_number["0003"].id,)
    assert by_number["0010"].relates == (by_number["0017"].id,)
    assert by_number["0006"].status == "hypothesis"
    assert by_number["0038"].status == "decision"
    assert by_number["0012"].title == "Security Groups in Terraform"


def test_folders_are_told_apart_one_by_one(brain: Brain, source: Path) -> None:
    sections = "## Status\n\nAccepted\n\n## Decision\n\nSo.\n"
    for number in (1, 2):
        put(
            source,
            f"docs/adr/000{number}-x{number}.md",
            f"# {number}. X{number}\n\n{sections}",
        )
    put(source, "docs/guide.md", "# Guide\n\n## Context\n")
    put(source, "notes/2024-05-06 call.md", "text\n")
    brain.take(source)
    kinds = {path: note.kind for path, (_, note) in brain.notes().items()}
    assert kinds == {
        "docs/adr/0001-x1.md": "decision",
        "docs/adr/0002-x2.md": "decision",
        "docs/guide.md": "memory",
        "notes/2024-05-06 call.md": "memory",
    }


def test_awkward_names_are_imported_and_foreign_files_named(brain: Brain, source: Path) -> None:
    good = ["a b/c #1.md", "café/é.md", "x%20y.md", "<!-- z -->.md", ":memory:.md", "CAPS.MD", "trailing-dots...md"]
    for name in good:
        put(source, name, f"# About {name}\n")
    put(source, "empty.md", "")
    put(source, "broken.md", "---\na: [\n---\nx\n")
    put(source, "latin.md", b"# caf\xe9\n")
    put(source, "wide.md", "# x\n".encode("utf-16"))
    put(source, "big.md", b"x" * 300_000)
    put(source, "picture.png", b"\x89PNG")
    put(source, ".hidden/x.md", "# x\n")
    put(source, ".git/config", "")
    put(source, ".env", "A=b\n")
    (source / "link.md").symlink_to(source / "CAPS.MD")
    (source / "linked").symlink_to(source / "café")
    report = brain.take(source)
    assert sorted(brain.notes()) == sorted(good)
    reasons = {item.path: item.reason for item in report.skipped}
    left_out = ".env .hidden/ big.md broken.md empty.md latin.md link.md linked picture.png wide.md"
    assert sorted(reasons) == left_out.split()
    assert reasons["empty.md"] == "the file is empty"
    assert reasons["latin.md"].startswith("line 1: ")
    assert reasons["broken.md"].startswith("line ")
    assert reasons["link.md"] == "a symbolic link, which is not followed"
    assert reasons["picture.png"] == "not a markdown file"


def test_a_folder_or_file_that_cannot_be_read_is_named(brain: Brain, source: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    put(source, "good.md", "# x\n")
    put(source, "shut.md", "# x\n").chmod(0)
    put(source, "closed/x.md", "# x\n").parent.chmod(0)
    report = brain.take(source)
    (source / "closed").chmod(0o700)
    assert report.imported == 1
    assert {item.path for item in report.skipped} == {"shut.md", "closed/"}


def test_a_secret_is_left_out_and_its_value_named_nowhere(brain: Brain, source: Path) -> None:
    token = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
    put(source, "good.md", "# Fine\n")
    put(source, "bad.md", f"# Deploy\n\nUse {token} for it.\n")
    put(source, f"{token}.md", "# Named badly\n")
    put(source, "matter.md", f"---\ntags: [{token}]\n---\nx\n")
    put(source, f"{token}.png", "no text")
    put(source, f".{token}/x.md", "hidden")
    (source / f"link-{token}").symlink_to(source)
    report = brain.take(source)
    reasons = {item.path: item.reason for item in report.skipped}
    assert reasons["bad.md"] == "secret: github-token in the file, line 3"
    assert reasons["matter.md"] == "secret: github-token in the file, line 2"
    assert reasons["[secret].md"] == "secret: github-token in its path"
    assert token not in repr(report)
    assert list(brain.notes()) == ["good.md"]


def test_an_edit_at_the_source_reaches_a_note_that_nobody_edited(brain: Brain, source: Path) -> None:
    put(source, "git/undo.md", "# Undo\n\nUse reset.\n")
    put(source, "git/other.md", "# Other\n")
    brain.take(source)
    (path, before) = brain.notes()["git/undo.md"]
    put(source, "git/undo.md", "# Undo a commit\n\nUse reset.\n\nOr revert.\n")
    report = brain.take(source)
    assert (report.imported, report.unchanged, report.skipped) == (1, 1, ())
    (same_path, after) = brain.notes()["git/undo.md"]
    assert (same_path, after.id) == (path, before.id)
    assert after.title == "Undo a commit"
    assert after.body.endswith("Or revert.\n")
    assert brain.take(source).unchanged == 2


def test_an_edit_here_is_never_overwritten(brain: Brain, source: Path) -> None:
    put(source, "a.md", "# A\n\none\n")
    brain.take(source)
    path, _ = brain.notes()["a.md"]
    file = brain.root / path
    file.write_text(file.read_text(encoding="utf-8").replace("one", "one, corrected"), encoding="utf-8")
    assert brain.take(source).unchanged == 1
    put(source, "a.md", "# A\n\none\n\ntwo\n")
    mine = file.read_bytes()
    report = brain.take(source)
    assert (report.imported, report.unchanged) == (0, 0)
    assert "edited here" in report.skipped[0].reason
    assert file.read_bytes() == mine


def test_a_note_that_cannot_be_read_is_left_as_it_is(brain: Brain, source: Path) -> None:
    put(source, "a.md", "# A\n")
    brain.take(source)
    file = brain.root / brain.notes()["a.md"][0]
    file.write_bytes(b"---\nbroken: [\n")
    report = brain.take(source)
    assert report.skipped[0].path == "a.md"
    assert file.read_bytes() == b"---\nbroken: [\n"


def test_the_same_path_of_two_folders_makes_two_notes_that_live_on_apart(brain: Brain, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    name = "0001-record-architecture-decisions.md"
    for folder, subject in ((one, "Kafka"), (two, "Cats")):
        put(folder, name, record(1, "Record decisions", text=f"We write down what we decide about {subject}."))
    assert brain.take(one).imported == 1
    first = brain.state()
    report = brain.take(two)
    assert (report.imported, report.updated, report.skipped) == (1, 0, ())
    assert first.items() <= brain.state().items()
    assert len({note.id[-8:] for _, note in brain.all()}) == 2
    assert (brain.take(one).unchanged, brain.take(two).unchanged) == (1, 1)
    put(two, name, record(1, "Record decisions", text="We write down what we decide about dogs."))
    assert brain.take(two).updated == 1
    assert first.items() <= brain.state().items()
    put(one, name, record(1, "Record decisions", text="We write down nothing."))
    assert brain.take(one).updated == 1
    assert sorted("dogs" in note.body for _, note in brain.all()) == [False, True]
    assert not any(str(tmp_path) in text.decode() for text in brain.state().values())


def test_a_third_folder_with_the_same_path_is_imported_as_well(brain: Brain, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        put(tmp_path / name, "a.md", f"# About {name}\n")
        assert brain.take(tmp_path / name).imported == 1
    assert sorted(note.title for _, note in brain.all()) == ["About one", "About three", "About two"]


def test_the_same_text_from_another_folder_is_there_already(brain: Brain, tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path / name, "a.md", "# Same\n\ntext\n")
    brain.take(tmp_path / "one")
    report = brain.take(tmp_path / "two", now=LATER)
    assert (report.imported, report.unchanged, report.skipped) == (0, 1, ())
    put(tmp_path / "two", "a.md", "# Same\n\nother text\n")
    assert (brain.take(tmp_path / "two").updated, len(brain.all())) == (0, 2)
    assert brain.take(tmp_path / "one").unchanged == 1


def test_two_services_of_one_repository_keep_their_own_notes(
    brain: Brain, tmp_path: Path, git: Callable[..., str]
) -> None:
    folder = tmp_path / "mono"
    for service in ("pay", "ship"):
        put(folder, f"{service}/docs/0001-x.md", record(1, "Use it", text=f"We use it to {service}."))
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://git.acme.test/acme/mono.git")
    for service in ("pay", "ship"):
        assert brain.take(folder / service / "docs").imported == 1
        assert brain.take(folder / service / "docs").unchanged == 1
    assert {note.extra["source_root"] for _, note in brain.all()} == {
        "git.acme.test/acme/mono#pay/docs",
        "git.acme.test/acme/mono#ship/docs",
    }


def test_repositories_without_a_remote_are_known_by_their_first_commit(
    brain: Brain, tmp_path: Path, git: Callable[..., str]
) -> None:
    for name in ("shop", "desk"):
        put(tmp_path / name, "a.md", f"# About {name}\n")
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "add", ".")
        git(tmp_path / name, "commit", "-qm", f"start {name}")
        assert brain.take(tmp_path / name).imported == 1
    git(tmp_path, "clone", "-q", str(tmp_path / "shop"), "again")
    put(tmp_path / "again", "a.md", "# About shop\n\nMore.\n")
    report = brain.take(tmp_path / "again")
    assert (report.imported, report.updated, len(brain.all())) == (1, 1, 2)


def test_a_folder_that_becomes_a_repository_and_gets_a_remote_keeps_its_notes(
    brain: Brain, source: Path, git: Callable[..., str]
) -> None:
    put(source, "a.md", "# A\n\none\n")
    brain.take(source)
    steps = (
        ("init", "-q"),
        ("add", "."),
        ("commit", "-qm", "start"),
        ("remote", "add", "origin", "https://git.acme.test/acme/shop.git"),
    )
    for number, step in enumerate(steps):
        git(source, *step)
        put(source, "a.md", f"# A\n\none {number}\n")
        assert brain.take(source, now=LATER).updated == 1
        assert brain.take(source, now=LATER).unchanged == 1
    (_, note) = brain.notes()["a.md"]
    assert (note.repository, note.extra["source_root"]) == ("git.acme.test/acme/shop", "git.acme.test/acme/shop")


def test_the_same_path_of_two_repositories_makes_two_notes(
    brain: Brain, tmp_path: Path, git: Callable[..., str]
) -> None:
    for name in ("shop", "desk"):
        folder = tmp_path / name
        put(folder, "docs/a b é.md", f"# About {name}\n")
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", f"https://git.acme.test/acme/{name}.git")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "x", "--date", "2021-03-04T23:30:00-02:00")
        assert brain.take(folder / "docs").imported == 1
        assert brain.take(folder / "docs").unchanged == 1
    paths = list(BrainShelf(brain.root, DEFAULT_FOLDERS).paths())
    notes = [codec.parse((brain.root / path).read_text(encoding="utf-8"), path, "memory")[0] for path in paths]
    assert {note.repository for note in notes} == {"git.acme.test/acme/shop", "git.acme.test/acme/desk"}
    assert {note.created_at for note in notes} == {"2021-03-05T01:30:00Z"}


def test_a_history_that_is_cut_short_gives_no_dates(tmp_path: Path, git: Callable[..., str]) -> None:
    full = tmp_path / "full"
    put(full, "a.md", "# A\n")
    git(full, "init", "-q")
    git(full, "add", ".")
    git(full, "commit", "-qm", "one")
    git(full, "commit", "-qm", "two", "--allow-empty")
    git(tmp_path, "clone", "-q", "--depth", "1", full.as_uri(), "cut")
    seen = [gathered(tmp_path / name)[0].seen for name in ("full", "cut")]
    assert [list(paths) for paths in seen] == [["a.md"], []]


def gathered(folder: Path) -> list[import_source.Gathered]:
    return import_source.gather(folder, key=KEY, is_known=lambda roots, path: False)


def test_one_file_can_be_imported(brain: Brain, source: Path) -> None:
    put(source, "b.md", "# B\n")
    put(source, "c.png", b"x")
    report = brain.take(put(source, "a.md", "# A\n"))
    assert (report.imported, report.skipped) == (1, ())
    assert list(brain.notes()) == ["a.md"]
    assert brain.messages == ["Import 1 note"]
    assert brain.take(source / "c.png").skipped[0].path == "c.png"


ADRS = (
    ("0001-use-a.md", "Use A", "Superseded by [2. Use B](0002-use-b.md)"),
    ("0002-use-b.md", "Use B", "Accepted"),
    ("old/0003-use-c.md", "Use C", "Superseded by [1. Use A](../0001-use-a.md)"),
)


@pytest.fixture
def adrs(source: Path) -> Path:
    for number, (name, title, status) in enumerate(ADRS, 1):
        put(source, f"docs/adr/{name}", record(number, title, status))
    return source


@pytest.mark.parametrize("first", ["docs", "docs/adr", ""])
def test_one_file_of_a_folder_is_imported_as_a_part_of_it(brain: Brain, adrs: Path, first: str) -> None:
    brain.take(adrs / first)
    before = brain.state()
    for name, _, _ in ADRS:
        report = brain.take(adrs / "docs/adr" / name, now=LATER)
        assert (report.imported, report.unchanged, report.skipped) == (0, 1, ())
    assert brain.state() == before
    put(adrs, "docs/adr/0001-use-a.md", record(1, "Use A", ADRS[0][2], text="So, and more."))
    put(adrs, "docs/adr/0002-use-b.md", record(2, "Use B", text="So, and more."))
    report = brain.take(adrs / "docs/adr/0001-use-a.md")
    assert (report.imported, report.updated, report.unchanged) == (1, 1, 0)
    notes = {note.number: note for _, note in brain.all()}
    assert len(notes) == 3
    assert (notes["0001"].status, notes["0001"].superseded_by) == ("superseded", notes["0002"].id)
    assert notes["0001"].supersedes == (notes["0003"].id,)
    assert ["more" in notes[number].body for number in ("0001", "0002")] == [True, False]


def test_parts_of_a_folder_and_the_whole_make_the_same_notes(brain: Brain, adrs: Path) -> None:
    assert brain.take(adrs / "docs/adr").imported == 3
    put(adrs, "docs/guide.md", "# Guide\n")
    put(adrs, "docs/adr/later/0004-use-d.md", record(4, "Use D"))
    report = brain.take(adrs / "docs")
    assert (report.imported, report.updated, report.unchanged) == (2, 0, 3)
    for part in ("docs/adr", "docs/adr/old", "docs/guide.md", "docs", ""):
        report = brain.take(adrs / part)
        assert (report.imported, report.skipped) == (0, ())
    assert len(brain.all()) == 5


def test_paths_are_shown_as_seen_from_the_folder_that_is_imported(brain: Brain, adrs: Path) -> None:
    brain.take(adrs / "docs/adr")
    put(adrs, "docs/adr/old/empty.md", "")
    put(adrs, "docs/adr/old/x.png", b"x")
    for part, shown in (
        ("docs", ["adr/old/empty.md", "adr/old/x.png"]),
        ("docs/adr/old", ["empty.md", "x.png"]),
        ("docs/adr/old/empty.md", ["empty.md"]),
    ):
        assert [item.path for item in brain.take(adrs / part).skipped] == shown


def test_one_file_among_very_many_is_imported(brain: Brain, adrs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_source, "_NEIGHBOURS", 1)
    assert brain.take(adrs / "docs/adr/0001-use-a.md").imported == 1
    (_, note) = brain.notes()["0001-use-a.md"]
    assert note.superseded_by is not None
    assert "use-b" in note.superseded_by


def test_a_source_without_a_date_gets_the_day_of_its_first_import(brain: Brain, source: Path) -> None:
    put(source, "a.md", "# A\n")
    put(source, "0001-x.md", record(1, "X", date=None))
    put(source, "0002-y.md", record(2, "Y", "Accepted\n\nSupersedes [1. X](0001-x.md)", date=None))
    brain.take(source)
    before = brain.state()
    for _, note in brain.all():
        assert note.created_at == note.observed_at == NOW
        assert note.id.startswith(NOW[:10])
        assert note.valid_from is None  # nobody said since when it holds
    report = brain.take(source, now=LATER)
    assert (report.imported, report.unchanged) == (0, 3)
    assert brain.state() == before
    put(source, "a.md", "# A, renamed\n")
    assert brain.take(source, now=LATER).updated == 1
    assert brain.notes()["a.md"][1].created_at == NOW


def test_a_stray_file_beside_records_changes_nothing_for_them(brain: Brain, source: Path) -> None:
    put(source, "0001-x.md", record(1, "X"))
    put(source, "guide.md", "# Guide\n\n## Context\n\nProse.\n")
    put(source, "2024-05-06 call.md", "text\n")
    report = brain.take(source)
    assert report.kinds == {"adr": 1, "markdown": 2}
    brain.take(source)
    for number in range(9):
        put(source, f"stray {number}x.md", "text\n")
    assert brain.take(source).unchanged == 3
    assert {path: note.kind for path, (_, note) in brain.notes().items() if "stray" not in path} == {
        "0001-x.md": "decision",
        "guide.md": "memory",
        "2024-05-06 call.md": "memory",
    }


def test_what_a_file_was_taken_for_once_it_stays(brain: Brain, source: Path) -> None:
    put(source, "plans.md", "# Plans\n\n## Decision\n\nSo.\n")
    assert brain.take(source, "adr").kinds == {"adr": 1}
    report = brain.take(source)
    assert (report.unchanged, report.kinds) == (1, {"adr": 1})


def test_updates_and_progress_are_counted(brain: Brain, source: Path) -> None:
    for number in range(450):
        put(source, f"{number}.md", f"# Tip {number}\n")
    told: list[tuple[int, int]] = []
    settings = Settings(None, DEFAULT_FOLDERS, KEY, NOW)
    shelf = BrainShelf(brain.root, DEFAULT_FOLDERS)
    importing.run(source, settings, shelf=shelf, write=brain.write, progress=lambda *step: told.append(step))
    assert told == [(done, 450) for done in range(0, 450, BATCH)]
    put(source, "7.md", "# Tip seven\n")
    put(source, "new.md", "# New\n")
    report = brain.take(source)
    assert (report.imported, report.updated, report.unchanged) == (2, 1, 449)


def test_what_is_not_there_or_not_known_is_refused(brain: Brain, source: Path) -> None:
    with pytest.raises(Refused, match="no folder or file"):
        brain.take(source / "nothing")
    with pytest.raises(Usage, match="no kind of source"):
        brain.take(source, "wiki")


def test_a_note_that_the_brain_would_not_commit_is_named(brain: Brain, source: Path) -> None:
    put(source, "a.md", "# A\n")
    put(source, "b.md", "# B\n\n<<<<<<< ours\n")

    def check(path: str, data: bytes) -> str | None:
        return "it holds a conflict marker" if b"<<<<<<<" in data else None

    settings = Settings(None, DEFAULT_FOLDERS, KEY, NOW, check)
    plan = importing.plan(source, settings, shelf=BrainShelf(brain.root, DEFAULT_FOLDERS))
    assert plan.report.imported == len(plan.changes) == 1
    assert plan.report.skipped[0].reason == "it holds a conflict marker"


@pytest.fixture
def real(tmp_path: Path) -> brains.Brain:
    return setup.init(tmp_path / "acme", name="acme", remote=None, cwd=str(tmp_path), now=NOW).brain


def test_an_import_is_committed_in_batches_and_leaves_the_work_tree_clean(
    real: brains.Brain, source: Path, git: Callable[..., str]
) -> None:
    for number in range(250):
        put(source, f"git/{number}.md", f"# Tip {number}\n\nDate: 2024-05-{number % 28 + 1:02}\n")
    report = importing.import_folder(real, source, kind=None, now=NOW)
    assert (report.imported, report.unchanged, report.skipped) == (250, 0, ())
    subjects = git(real.root, "log", "--format=%s").splitlines()
    assert subjects[:2] == ["Import 50 notes (201-250 of 250)", "Import 100 notes (101-200 of 250)"]
    assert git(real.root, "status", "--porcelain") == ""
    tip = git(real.root, "rev-parse", "HEAD")
    assert importing.import_folder(real, source, kind=None, now=NOW).unchanged == 250
    assert git(real.root, "rev-parse", "HEAD") == tip


def test_two_clones_make_the_same_files_of_one_source(
    real: brains.Brain, tmp_path: Path, source: Path, git: Callable[..., str]
) -> None:
    put(source, "a/b c.md", "---\nmood: happy\n---\n# B\r\n\r\ntext")
    put(source, "0001-x.md", "# 1. X\n\n## Status\n\nAccepted\n\n## Decision\n\nSo.\n")
    git(tmp_path, "clone", "-q", str(real.root), "other")
    other = brains.open_brain(tmp_path / "other", cwd=str(tmp_path))
    trees = set()
    for brain in (real, other):
        assert importing.import_folder(brain, source, kind=None, now=NOW).imported == 2
        trees.add(git(brain.root, "ls-tree", "-r", "HEAD", "memory", "decisions"))
    assert len(trees) == 1


def test_line_ends_that_git_changed_are_no_edit(brain: Brain, source: Path) -> None:
    put(source, "a.md", "# A\n\ntext\n")
    brain.take(source)
    put(source, "a.md", "# A\r\n\r\ntext\r\n")
    assert brain.take(source).unchanged == 1


def test_the_notes_of_the_brain_itself_are_not_imported(real: brains.Brain) -> None:
    for folder in (real.root, real.root / "memory", real.root / "memory" / "2024-05"):
        with pytest.raises(Refused, match="own notes"):
            importing.import_folder(real, folder, kind=None, now=NOW)


def test_a_brain_that_reviews_first_takes_no_import(real: brains.Brain, source: Path) -> None:
    strict = replace(real, config=replace(real.config, review="queue"))
    with pytest.raises(Refused, match="reviews notes first"):
        importing.import_folder(strict, source, kind=None, now=NOW)


def test_a_person_who_reviews_first_imports_nothing(real: brains.Brain, source: Path) -> None:
    put(config.home(), "config.yaml", "review: pull-request\n")
    assert brains.review_mode(real) == "pull-request"
    assert brains.review_mode(replace(real, config=replace(real.config, review="queue"))) == "pull-request"
    with pytest.raises(Refused, match="review: pull-request"):
        importing.import_folder(real, source, kind=None, now=NOW)
