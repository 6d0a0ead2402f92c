"""A file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonwealth import atomic


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def test_a_file_is_replaced_with_the_folders_it_needs_and_nothing_else_is_left(folder: Path) -> None:
    place = folder / "a" / "b" / "x"
    atomic.replace(place, b"one\r\n")
    atomic.replace(place, b"two")
    assert place.read_bytes() == b"two"
    assert os.listdir(place.parent) == ["x"]


def test_a_file_without_a_folder_in_its_name_lies_in_the_current_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    atomic.replace("x", b"one")
    assert os.listdir(folder) == ["x"]


@pytest.mark.skipif(os.name != "posix", reason="permissions as on POSIX")
def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual(folder: Path) -> None:
    usual, kept = folder / "usual", folder / "kept"
    usual.touch()
    kept.touch(0o640)
    for place in (kept, folder / "new"):
        atomic.replace(place, b"x")
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"usual": modes["usual"], "kept": 0o640, "new": modes["usual"]}


@pytest.mark.skipif(os.name != "posix", reason="links as on POSIX")
def test_a_link_is_replaced_and_not_written_through(folder: Path) -> None:
    (folder / "outside").write_bytes(b"theirs")
    (folder / "x").symlink_to(folder / "outside")
    atomic.replace(folder / "x", b"new")
    assert (folder / "outside").read_bytes() == b"theirs"
    assert not (folder / "x").is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="needs a limit on the size of files")
def test_where_the_disk_refuses_the_old_file_is_whole_and_alone(folder: Path) -> None:
    place = folder / "x"
    place.write_bytes(b"old")
    code = (
        "import resource, sys\nfrom commonwealth import atomic\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: atomic.replace(sys.argv[1], b'x' * 100_000)\n"
        "except OSError: sys.exit(9)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(atomic.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code, str(place)], check=False, env=environment, timeout=60)
    assert done.returncode == 9
    assert place.read_bytes() == b"old"
    assert os.listdir(folder) == ["x"]


def test_a_folder_in_the_place_of_a_file_stays(folder: Path) -> None:
    (folder / "x").mkdir()
    with pytest.raises(OSError, match="x"):
        atomic.replace(folder / "x", b"new")
    assert os.listdir(folder) == ["x"]


def test_the_folder_at_the_top_is_never_made(folder: Path) -> None:
    top = folder / "gone"
    with pytest.raises(FileNotFoundError):
        atomic.make_folders(str(top / "a" / "b"), str(top))
    assert not top.exists()
