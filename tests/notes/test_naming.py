"""Names are safe on every file system, and no path leads outside the brain."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.config import DEFAULT_FOLDERS
from commonwealth.errors import Refused
from commonwealth.notes import naming

from .examples import TITLES

SAFE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


@given(st.one_of(st.text(), st.sampled_from(TITLES), st.sampled_from(sorted(DEVICES))))
def test_a_slug_is_lower_ascii_words_and_no_device(title: str) -> None:
    made = naming.slug(title)
    assert SAFE.fullmatch(made)
    assert len(made) <= 80
    assert made not in DEVICES
    assert len(naming.new_id(title, "2026-06-02T00:00:00Z", naming.short_id())) <= naming.MAX_ID


@pytest.mark.parametrize(
    ("title", "slug"),
    [("HTTP 409 means: done", "http-409-means-done"), ("Ünïcödé Straße", "unicode-strasse"), ("漢字", "note"),
    ("", "note"),
     ("🎉", "note"), ("...", "note"), ("CON", "con-note"), ("don't", "dont"), ("ﬁ ①", "fi-1"),
     ("Cafe\u0301 Łódź", "cafe-lodz")],
)  # fmt: skip
def test_slugs_keep_what_can_be_written_in_ascii(title: str, slug: str) -> None:
    assert naming.slug(title) == slug


def test_a_long_title_is_cut_at_a_word() -> None:
    made = naming.slug("wordy " * 60)
    assert len(made) <= 72
    assert made.endswith("wordy")


def test_short_ids_have_forty_bits_and_repeat_for_a_seed() -> None:
    assert naming.short_id(b"x") == naming.short_id(b"x") != naming.short_id(b"y")
    made = {naming.short_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"[0-9a-hjkmnp-tv-z]{8}", short) for short in made)


def test_notes_are_written_by_month_and_people_are_not() -> None:
    assert naming.note_path("decision", "x", "2026-06-30", DEFAULT_FOLDERS) == "decisions/2026-06/x.md"
    assert naming.note_path("person", "alice-4b1d90c2", "2026-06-30", DEFAULT_FOLDERS) == "people/alice-4b1d90c2.md"
    with pytest.raises(ValueError, match="begin with a date"):
        naming.new_id("x", "soon", "aaaaaaaa")


@pytest.mark.parametrize(
    ("path", "kind"),
    [("memory/x.md", "memory"), ("memory/2026-07/x.md", "memory"), ("memory/a/b/c/x.md", "memory"),
    ("memory/X.MD", "memory"),
     ("docs/adr/0001-x.md", "decision"), ("docs/x.md", "person"), ("memory/INDEX.md", None),
     ("memory/2026-07/INDEX.md", None),
     ("memory/README.md", None), ("memory/sub/README.md", "memory"), ("memory/COMMONWEALTH.md", None),
     ("memory/.x.md", None),
     ("memory/.obsidian/x.md", None), ("memoryx/y.md", None), ("memory.md", None), ("memory/x.txt", None),
     ("x.md", None),
     ("staging/x.md", None)],
)  # fmt: skip
def test_the_folder_says_the_kind(path: str, kind: str | None) -> None:
    folders = {**DEFAULT_FOLDERS, "person": "docs", "decision": "docs/adr"}
    assert naming.kind_of(path, folders) == kind


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "memory/../../x", "memory//x", "./x", "", "memory/", "C:/x", "c:x", "a\\b",
    "..\\x", "x\x00y",
     ".git/config", "memory/.GIT/x", ".git./x", ".git /x", "GIT~1/x", "git~2/x", ".g\u200cit/config",
     ".git:x/y", "\\\\host\\x"],
)  # fmt: skip
def test_a_path_that_could_lead_outside_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refused):
        naming.safe_join(tmp_path, path)


def test_a_linked_parent_that_leads_outside_is_refused(tmp_path: Path) -> None:
    brain = tmp_path / "brain"
    (brain / "memory").mkdir(parents=True)
    os.symlink(tmp_path, brain / "memory" / "out")
    with pytest.raises(Refused, match="symbolic link"):
        naming.safe_join(brain, "memory/out/x.md")
    assert naming.safe_join(brain, "memory/new/x.md") == brain / "memory" / "new" / "x.md"


def test_names_that_only_begin_like_git_are_fine(tmp_path: Path) -> None:
    for path in (".gitattributes", "memory/github.md", ".github/x.md", "git.md"):
        assert naming.safe_join(tmp_path, path) == tmp_path / path


@pytest.mark.parametrize(
    ("tag", "normal"),
    [("Auth", "auth"), ("auth ", "auth"), ("auth: uses JWT", "auth-uses-jwt"), ("#Auth", "auth"), ("a\tb  c", "a-b-c"),
     ("50%", "50%"), ("a_b", "a_b"), ("a\\b", "a\\b"), ("Cafe\u0301", "café"), ("team:payments", "team:payments")],
)  # fmt: skip
def test_tags_are_normalised(tag: str, normal: str) -> None:
    assert naming.normal_tag(tag) == normal
    assert naming.normal_tag(normal) == normal
