"""A team's old notes and decisions in one brain: nothing is lost, and an engineer's questions find the right one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonwealth.flows import brains, importing, recall, setup
from commonwealth.flows.brains import Brain
from commonwealth.flows.importing import ImportReport
from commonwealth.index.query import Query
from commonwealth.model import Note
from commonwealth.notes import codec, foreign, naming, store

NOW = "2026-07-01T10:00:00Z"
CORPORA = {"til-jbranchaud": (967, 0), "adr-govuk-aws": (38, 0), "adr-madr": (19, 2)}
"""Files that become notes, and files that do not."""


@dataclass(frozen=True)
class Filled:
    """A brain with the corpora in it, and what the import said of each."""

    brain: Brain
    corpora: Path
    reports: dict[str, ImportReport]


@pytest.fixture(scope="module")
def filled(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("COMMONWEALTH_HOME", str(folder / ".commonwealth"))
        patch.setenv("COMMONWEALTH_AUTHOR", "Alice")
        patch.setenv("COMMONWEALTH_AUTHOR_EMAIL", "alice@example.com")
        for name in ("COMMONWEALTH_BRAIN", "GIT_DIR", "GIT_WORK_TREE"):
            patch.delenv(name, raising=False)
        brain = setup.init(folder / "brain", name="acme", remote=None, cwd=str(folder), now=NOW).brain
        reports = {name: take(brain, shared / "corpora" / name) for name in CORPORA}
    return Filled(brains.open_brain(brain.root, cwd=str(folder)), shared / "corpora", reports)


def take(brain: Brain, source: Path) -> ImportReport:
    return importing.import_folder(brain, source, kind=None, now=NOW)


def notes_of(brain: Brain) -> Iterator[tuple[str, Note]]:
    for path, kind, _ in store.walk(brain.root, brain.folders):
        if kind != "person":
            yield path, codec.parse(codec.decode((brain.root / path).read_bytes(), path), path, kind)[0]


# Asked by someone who does not know what the notes are called.
QUESTIONS = (
    ("search the whole git history for commits whose message mentions a word", "git/grep-over-commit-messages.md"),
    (
        "make a long running postgres query give up after some seconds",
        "postgres/prevent-a-query-from-running-too-long.md",
    ),
    ("python count how often each element occurs in a list", "python/keep-a-tally-with-collections-counter.md"),
    ("tmux split pane should keep the working directory", "tmux/open-new-splits-to-the-current-directory.md"),
    ("keep a command out of my shell history", "zsh/use-a-space-to-exclude-command-from-history.md"),
    ("sed pattern full of slashes, avoid escaping them", "sed/use-an-alternative-delimiter-in-a-substitution.md"),
    ("mongo backup into one compressed archive", "mongodb/dump-and-restore-with-a-single-gzip-file.md"),
    (
        "where do we terminate TLS and who issues our certificates",
        "0021-use-acm-for-ssl-purchases-and-terminate-certificates-on-elbs.md",
    ),
    ("why are asterisks better than hyphens for bullets", "0011-use-asterisk-as-list-marker.md"),
    ("which license may others use the templates under", "0001-use-CC0-or-MIT-as-license.md"),
)


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_a_question_in_own_words_finds_the_note_first(filled: Filled, question: str, answer: str) -> None:
    found = recall.search(filled.brain, Query(text=question, now=NOW))
    first = found.hits[0].note
    assert first.source is not None
    assert first.source.path == answer
    assert first.summary
    assert not first.summary.startswith(("#", "Date:", "```"))


def test_every_file_is_a_note_or_named(filled: Filled) -> None:
    for name, (imported, skipped) in CORPORA.items():
        report = filled.reports[name]
        assert (report.imported, report.updated, len(report.skipped)) == (imported, 0, skipped)
        assert imported + skipped == sum(path.is_file() for path in (filled.corpora / name).rglob("*"))
    assert filled.reports["til-jbranchaud"].kinds == {"markdown": 967}
    assert filled.reports["adr-govuk-aws"].kinds == {"adr": 38}
    assert filled.reports["adr-madr"].kinds == {"adr": 19}


def test_every_body_is_there_byte_for_byte(filled: Filled) -> None:
    sources = {
        (path.relative_to(filled.corpora / name).as_posix(), foreign.read(path.read_bytes().decode(), "").body)
        for name in CORPORA
        for path in (filled.corpora / name).rglob("*.md")
        if path.name not in ("index.md", "adr-template.md")
    }
    found = [(note.source.path, note.body) for _, note in notes_of(filled.brain) if note.source]
    assert len(found) == sum(imported for imported, _ in CORPORA.values())
    assert set(found) == sources


def test_decisions_keep_number_status_and_supersession(filled: Filled) -> None:
    decisions = {
        note.source.path: note for _, note in notes_of(filled.brain) if note.kind == "decision" and note.source
    }
    assert len(decisions) == 57
    for path, note in decisions.items():
        assert note.number == path[:4]
        assert note.summary
    old, new = decisions["0004-dns-definitions-for-hosts-and-services.md"], decisions["0015-dns-infrastructure.md"]
    assert (old.status, old.superseded_by, old.valid_until) == ("superseded", new.id, new.valid_from)
    assert (new.status, new.supersedes) == ("decision", (old.id,))
    assert decisions["0006-puppet-architecture.md"].status == "hypothesis"
    kept = [note.id for note in (hit.note for hit in recall.search(filled.brain, Query(text="dns", now=NOW)).hits)]
    assert new.id in kept
    assert old.id not in kept


def test_importing_again_changes_nothing(filled: Filled) -> None:
    def state() -> tuple[str, dict[str, bytes]]:
        root = filled.brain.root
        head = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True, encoding="utf-8"
        )
        kinds = [root / folder for folder in filled.brain.folders.values()]
        return head.stdout, {str(p): p.read_bytes() for folder in kinds for p in folder.rglob("*") if p.is_file()}

    before = state()
    for name, (imported, skipped) in CORPORA.items():
        report = take(filled.brain, filled.corpora / name)
        assert (report.imported, report.unchanged, len(report.skipped)) == (0, imported, skipped)
    one = take(filled.brain, filled.corpora / "adr-govuk-aws" / "0004-dns-definitions-for-hosts-and-services.md")
    assert (one.imported, one.unchanged, one.skipped) == (0, 1, ())
    assert state() == before
    ids = [naming.stem(path)[-8:] for path, _ in notes_of(filled.brain)]
    assert len(ids) == len(set(ids))
