"""Derived files: what a change touches gives the same bytes as everything made anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonwealth.flows import contents
from commonwealth.model import Note, Provenance
from commonwealth.notes import codec, derived

FOLDERS = {"memory": "memory", "decision": "docs/adr", "work-state": "docs", "person": "people"}
OURS = b"<!-- Made from the notes by `brain sync`; changes here are overwritten. -->\n"
NOTE = Note("x", "memory", "A title", "Body.\n", provenance=Provenance(human="Alice"))


class Files:
    """A snapshot in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.reads: list[str] = []
        self.warnings: list[str] = []

    def read(self, path: str) -> bytes | None:
        self.reads.append(path)
        return self.files.get(path)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def list(self, folder: str) -> dict[str, bool]:
        inside = [path[len(folder) + 1 :] for path in self.files if path.startswith(f"{folder}/")]
        return {path.split("/")[0]: "/" in path for path in inside}


def derive(files: Mapping[str, bytes], paths: frozenset[str] | None = None) -> dict[str, bytes]:
    """The files with their derived ones brought up to date."""
    made = contents.derive("acme", FOLDERS, paths, Files(files))
    kept = {path: data for path, data in files.items() if path not in made}
    return kept | {path: data for path, data in made.items() if data is not None}


def notes_only(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not is_derived(path)}


def is_derived(path: str) -> bool:
    return path.rpartition("/")[2] == derived.INDEX or path == derived.ROUTER


FOLDER = st.sampled_from(
    ["memory", "memory/2026-06", "memory/2026-07", "memory/team/x", "docs", "docs/adr", "docs/adr/2026-07", "people",
     "memory/.hidden", "elsewhere"]
)  # fmt: skip
NAME = st.sampled_from(
    ["a.md", "2026-06-01-b-12345678.md", "ü c.md", "myINDEX.md", "README.md", "notes.txt", "x](y).md", "d%2F.md"]
)
TITLES = st.one_of(
    st.sampled_from(["A", "a](b) (retracted", "x (superseded by y)", "[link](INDEX.md)", "- item", "1. x", "\\"]),
    st.text(max_size=20),
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    if draw(st.integers(0, 7)) == 0:
        return draw(st.sampled_from([b"---\nbroken: [\n---\n", b"\xff\xfe", b"", b"plain\n"]))
    title = draw(TITLES).encode("utf-8", "replace").decode().replace("\0", "")
    note = replace(
        NOTE,
        title=title or "x",
        status=draw(st.sampled_from(["observed", "superseded", "retracted", "hypothesis"])),
        conflict_of=draw(st.sampled_from([None, None, "other"])),
        summary=draw(st.sampled_from([None, "S", "(retracted"])),
    )
    return codec.render(note).encode()


CHANGE = st.tuples(FOLDER, NAME, st.one_of(st.none(), bodies()))
STEP = st.tuples(st.lists(CHANGE, min_size=1, max_size=3), st.booleans())


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=8))
def test_step_by_step_is_the_same_as_all_at_once(steps: list[tuple[list[tuple[str, str, bytes | None]], bool]]) -> None:
    files = derive({})
    for changes, move in steps:
        before = dict(files)
        for folder, name, data in changes:
            path = f"{folder}/{name}"
            if data is None:
                files.pop(path, None)
            elif move and before:
                source = min(before)
                if not is_derived(source):
                    files[path] = files.pop(source, data)
            else:
                files[path] = data
        touched = {path for path in before.keys() | files.keys() if before.get(path) != files.get(path)}
        files = derive(files, frozenset(touched))
        assert files == derive(notes_only(files))
        check_links(files)


def check_links(files: Mapping[str, bytes]) -> None:
    """Every link of a derived file leads to a file."""
    for path, data in files.items():
        if not is_derived(path):
            continue
        folder = path.rpartition("/")[0]
        assert path != derived.ROUTER or len(data) <= derived.MAX_ROUTER
        for target in re.findall(r"(?<!\\)\]\(([^()\s]+)\)", data.decode()):
            where = f"{folder}/{unquote(target)}".lstrip("/")
            assert where in files, (path, target)


def test_a_derived_file_that_was_edited_or_removed_is_made_anew() -> None:
    files = derive({"memory/2026-07/a.md": codec.render(NOTE).encode(), "people/p.md": b"# P\n"})
    spoiled = files | dict.fromkeys(("memory/2026-07/INDEX.md", "COMMONWEALTH.md"), OURS + b"mine")
    assert derive(spoiled, frozenset({"memory/2026-07/INDEX.md", "COMMONWEALTH.md"})) == files
    without = {path: data for path, data in files.items() if path != "memory/INDEX.md"}
    assert derive(without, frozenset({"memory/INDEX.md"})) == files


def test_the_router_names_the_open_notes_newest_first_and_is_bounded() -> None:
    files = {
        f"memory/2026-{month:02}/2026-{month:02}-{day:02}-n-x.md": codec.render(
            replace(NOTE, title=f"Note {month} {day} " + "long " * 30, status="retracted" if day == 2 else "observed")
        ).encode()
        for month in range(1, 10)
        for day in range(1, 10)
    }
    router = derive(files)["COMMONWEALTH.md"].decode()
    assert len(router.encode()) <= derived.MAX_ROUTER
    assert router.index("Note 9 9") < router.index("Note 9 8") < router.index("Note 8 9")
    assert "Note 9 2" not in router
    assert "| 81 |" in router
    assert "people/INDEX.md" not in router


@pytest.mark.parametrize("beside", [{}, {"memory/2026-07/other.md": codec.render(NOTE).encode()}])
def test_one_change_reads_the_tables_and_one_note(beside: dict[str, bytes]) -> None:
    files = derive({f"memory/n{n}.md": codec.render(NOTE).encode() for n in range(200)} | beside)
    files["memory/new.md"] = codec.render(NOTE).encode()
    snapshot = Files(files)
    contents.derive("acme", FOLDERS, frozenset({"memory/new.md"}), snapshot)
    assert [path for path in snapshot.reads if not is_derived(path)] == ["memory/new.md"]
