"""Proof that the tests bite: take out what holds a guarantee, and the tests that guard it must fail.

`python -m tests.reliability.sabotage [NAME ...]` tries the edits of `sabotage.toml`, each on a copy of its own, and
prints what came of them; the exit code is the number of those that no test, or not every named test, has noticed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("sabotage.toml")
_PARTS = ("src", "tests", "plugin", "docs", "pyproject.toml", "README.md")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Edit:
    """One act of sabotage: `old` in `file` becomes `new`, and the tests `red` must fail."""

    name: str
    guarantee: str
    file: str
    old: str
    new: str
    red: tuple[str, ...]

    def fault(self, root: Path = ROOT) -> str | None:
        """Why the edit does not apply below `root` any more; None if it does."""
        try:
            found = (root / self.file).read_text(encoding="utf-8").count(self.old)
        except OSError as error:
            return f"{self.file} cannot be read ({error.strerror})"
        return None if found == 1 else f"its old text stands {found} times in {self.file}"


def edits() -> list[Edit]:
    """The list."""
    found = tomllib.loads(LIST.read_text(encoding="utf-8"))["edit"]
    return [Edit(**{**one, "red": tuple(one["red"])}) for one in found]


def attempt(edit: Edit, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Apply one edit to a copy in `folder` and run its tests; the tests that failed, and those named that did not."""
    for part in _PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, target)
    place = folder / edit.file
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *edit.red],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    failed = tuple(_FAILED.findall(done.stdout))
    return failed, tuple(name for name in edit.red if not any(one.startswith(name) for one in failed))


def main(names: list[str]) -> int:
    """Try the edits with these names, or all; how many went unnoticed."""
    chosen = [edit for edit in edits() if not names or edit.name in names]
    unnoticed = 0
    for edit in chosen:
        fault = edit.fault()
        if fault is not None:
            print(f"{edit.name:32} does not apply: {fault}", flush=True)
            unnoticed += 1
            continue
        with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
            failed, missed = attempt(edit, Path(folder))
        unnoticed += bool(missed)
        verdict = f"NOT NOTICED by {', '.join(missed)}" if missed else f"{len(failed)} failed"
        print(f"{edit.name:32} {edit.guarantee}  {verdict}", flush=True)
        for name in failed:
            print(f"    {name}", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} acts of sabotage were noticed.")
    return unnoticed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
