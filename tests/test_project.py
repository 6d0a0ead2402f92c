"""The project keeps its own promises about itself: generated pages, its own brain, and what the tree may say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonwealth import config, userconfig
from commonwealth.config import CONFIG_PATH, brain_config
from commonwealth.flows.contents import derive

ROOT = Path(__file__).resolve().parent.parent


class WorkTree:
    """The files of this checkout, as a snapshot."""

    def read(self, path: str) -> bytes | None:
        place = ROOT / path
        return place.read_bytes() if place.is_file() else None

    def list(self, folder: str) -> Mapping[str, bool]:
        place = ROOT / folder
        return {entry.name: entry.is_dir() for entry in place.iterdir()} if place.is_dir() else {}

    def warn(self, text: str) -> None:
        pytest.fail(text)


def test_the_derived_files_of_the_project_are_what_brain_makes_of_its_decisions() -> None:
    own = brain_config((ROOT / CONFIG_PATH).read_text(encoding="utf-8"), CONFIG_PATH)
    made = derive(own.name, own.folders, None, WorkTree())
    assert made["COMMONWEALTH.md"]
    for path, data in made.items():
        assert WorkTree().read(path) == data, f"{path} is stale: run `brain sync` in the project's folder"


@pytest.mark.parametrize("module", ["cli.reference", "mcp.reference", "mcp.generate"])
def test_generated_pages_are_current(module: str) -> None:
    command = [sys.executable, "-m", f"commonwealth.adapters.{module}"]
    done = subprocess.run([*command, "--check"], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 0, f"run `python -m commonwealth.adapters.{module}`"


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_every_test_that_the_readme_names_exists() -> None:
    named = re.findall(r"`(tests/[^`*]*)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    for path in named:
        assert (ROOT / path.split(" ")[0]).exists(), path


def test_the_documentation_names_every_setting() -> None:
    page = (ROOT / "docs/concepts.md").read_text(encoding="utf-8").partition("## Settings")[2]
    yours, _, team = page.partition("The team's")
    for name in (*userconfig.SETTINGS, userconfig.CONSENTS, userconfig.FORGES):
        assert f"`{name}`" in yours, name
    for name in config._BRAIN_KEYS:
        assert f"`{name}`" in team, name


def test_no_source_file_holds_more_than_one_idea() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path
